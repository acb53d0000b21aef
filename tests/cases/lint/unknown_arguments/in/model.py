import functools

import torch
import torch_npu
from torch_npu import npu_rms_norm as fused

OUT = torch_npu.npu_swiglu(torch.ones(2, 4), axis=-1)


def misspelt(x, w):
    return fused(x, w, epsilom=1e-6)[0]


def cut_short(x, w):
    return torch_npu.npu_rms_norm(x, w, eps=1e-6)[0]


def two_at_once(x, w, bias):
    return torch_npu.npu_rms_norm(x, w, bias=bias, mode=1)[0]


def too_many(x, w):
    return torch.ops.npu.npu_rms_norm.default(x, w, 1e-6, True)[0]


def too_few(x):
    return getattr(torch_npu, "npu_rms_norm")(x)[0]


def in_a_function(x, w):
    import torch_npu as npu
    return npu.npu_rms_norm(x, w, eps=1e-6)[0]


# ---- these are right ----

def either_name(x, w):
    return torch_npu.npu_rms_norm(self=x, gamma=w)[0]


def open_call(x, args, kwargs):
    return torch_npu.npu_rms_norm(*args, **kwargs)[0] + torch_npu.npu_rms_norm(x, *args)[0]


def given_by_partial(x, w):
    norm = functools.partial(torch_npu.npu_rms_norm, epsilon=1e-6)
    return norm(x, w)[0]


def an_overload(x, w, ends):
    return torch_npu.npu_grouped_matmul([x], [w], group_list=ends, split_item=2)


class Own:
    def npu_rms_norm(self, x, w, eps):
        return x * w * eps

    def forward(self, x, w):
        return self.npu_rms_norm(x, w, eps=1e-6)


def not_ours(torch_npu, x, w):
    return torch_npu.npu_rms_norm(x, w, eps=1e-6)


def npu_swiglu(x, axis):
    return x.sum(axis)


def own_function(x):
    return npu_swiglu(x, axis=1)


def an_overload_by_name(x, w):
    return torch.ops.npu.npu_rms_norm.default(x, w, 1e-6)[0], torch.ops.npu.npu_rms_norm.out(x, w, out=x)


def merged(x, w):
    options = {"epsilon": 1e-6, "training": False}
    return torch_npu.npu_rms_norm(x, w, **options)[0]


def by_partial(x, w):
    norm = functools.partial(torch_npu.npu_rms_norm, eps=1e-6)
    return norm(x, w)[0]


def grown(x, w):
    options = {"epsilon": 1e-6, "training": False}
    options.pop("training")
    first = torch_npu.npu_rms_norm(x, w, **options)[0]
    rest = {"input": x}
    rest.update({"gamma": w})
    return first + torch_npu.npu_rms_norm(**rest)[0]


def handed_around(x, w, fill):
    options = {"mode": 1}
    fill(options)
    return torch_npu.npu_rms_norm(x, w, **options)[0] + torch_npu.npu_rms_norm(x, w, **{"mode": 1})[0]
