from npufuse.rule import rule, torch_npu

rule(id="mix_fast_by_position", family="mix", operator="npu_mix", priority="low", gain="one kernel")


def reference(x, y):
    return x.tanh() * y.sigmoid()


def replacement(x, y):
    return torch_npu.npu_mix(x, y, 1.0, True)


def requires(x, y):
    assert x.dim() == y.dim(), "equal ranks"
