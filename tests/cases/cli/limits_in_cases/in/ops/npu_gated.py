"""npu_gated: it does not exist."""
import torch

operator = "npu_gated"
schema = (
    "npu_gated(Tensor x, Tensor y, int a=0, int b=0, int c=0, int d=0, int e=0, "
    "int f=0, int g=0, int h=0, int i=0, *, int j=0, int k=0, int last=0, "
    "Tensor? bias=None, Tensor? extra=None, str mode=\"\") -> Tensor"
)
summary = "a gate"
source = "made for the tests"
autograd = "differentiable"
output_differentiability = (True,)
products = ()
versions = ""


def limits(x, y, a, b, c, d, e, f, g, h, i, j, k, last, bias, extra, mode):
    assert x.dim() <= 8, "asked: x has at most 8 axes"
    assert last == 0, "not asked: the 14th parameter is 0"
    assert last == 1 or x.dim() == 7, "not asked: of a parameter that is left out"
    if bias is None:
        assert x.dim() >= 1, "asked: x has an axis where there is no bias"
    else:
        assert x.dim() == 3, "not asked: a bias is given"
    if extra is not None:
        assert extra.dim() >= 2, "asked: extra has two axes"
    else:
        assert x.dim() == 4, "not asked: extra is given"
    if mode == "other":
        assert x.dim() == 5, "not asked: it depends on more than None"
    else:
        assert x.dim() == 6, "not asked: it depends on more than None"


def golden(x, y, extra=None, mode=""):
    return torch.sigmoid(x) * torch.tanh(y)
