from npufuse.rule import rule, torch_npu

rule(id="mix_starred", family="mix", operator="npu_mix", priority="low", gain="one kernel")


def reference(x, y):
    return x.tanh() * y.sigmoid()


def replacement(x, y):
    return torch_npu.npu_mix(*(x, y), fast=True)


def requires(x, y):
    assert x.dim() == y.dim(), "equal ranks"
