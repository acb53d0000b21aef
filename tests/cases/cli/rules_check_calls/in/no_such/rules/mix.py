from npufuse.rule import rule, torch_npu

rule(id="mix_no_such", family="mix", operator="npu_mix", priority="low", gain="one kernel")


def reference(x, y):
    return x.tanh() * y.sigmoid()


def replacement(x, y):
    return torch_npu.npu_mix(x, y, eps=1.0, fast=True)


def requires(x, y):
    assert x.dim() == y.dim(), "equal ranks"
