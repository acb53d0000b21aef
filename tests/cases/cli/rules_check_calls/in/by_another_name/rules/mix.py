from npufuse.rule import rule, torch_npu

rule(id="mix_by_another_name", family="mix", operator="npu_mix", priority="low", gain="one kernel")


def reference(x, y):
    return x.tanh() * y.sigmoid()


def replacement(x, y):
    mix = torch_npu.npu_mix
    return mix(x, y, fast=True)


def requires(x, y):
    assert x.dim() == y.dim(), "equal ranks"
