from npufuse.rule import rule, torch_npu

rule(id="mix_inside_an_if", family="mix", operator="npu_mix", priority="low", gain="one kernel")


def reference(x, y):
    return x.tanh() * y.sigmoid()


def replacement(x, y):
    if y is None:
        return torch_npu.npu_mix(x, x, fast=True)
    return torch_npu.npu_mix(x, y) + 1


def requires(x, y):
    assert x.dim() == y.dim(), "equal ranks"
