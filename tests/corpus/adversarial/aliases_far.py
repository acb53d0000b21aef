"""Between the mean and the product x changes under another name, or inside a call."""
import operator

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn

from kernels import rotate_


class Box:
    def __init__(self, t):
        self.t = t

    def bump(self):
        self.t.add_(1)


def chosen(a, b, flag):
    if flag:
        return a
    return b


def way_1(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.data.mul_(2)
    return x * scale * weight  # clean: x changed


def way_2(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.T.zero_()
    return x * scale * weight  # clean: x changed


def way_3(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.t().zero_()
    return x * scale * weight  # clean: x changed


def way_4(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.movedim(0, 1).zero_()
    return x * scale * weight  # clean: x changed


def way_5(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.ravel().zero_()
    return x * scale * weight  # clean: x changed


def way_6(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.expand_as(x).zero_()
    return x * scale * weight  # clean: x changed


def way_7(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.diagonal().zero_()
    return x * scale * weight  # clean: x changed


def way_8(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.as_strided((1,), (1,)).zero_()
    return x * scale * weight  # clean: x changed


def way_9(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.hsplit(2)[0].zero_()
    return x * scale * weight  # clean: x changed


def way_10(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.requires_grad_(False).zero_()
    return x * scale * weight  # clean: x changed


def way_11(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.numpy().fill(0)
    return x * scale * weight  # clean: x changed


def way_12(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    np.asarray(x)[0] = 0
    return x * scale * weight  # clean: x changed


def way_13(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.cpu().zero_()
    return x * scale * weight  # clean: x changed


def way_14(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.real.zero_()
    return x * scale * weight  # clean: x changed


def way_15(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.untyped_storage().fill_(0)
    return x * scale * weight  # clean: x changed


def way_16(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    nn.Dropout(0.1, inplace=True)(x)
    return x * scale * weight  # clean: x changed


def way_17(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    nn.ReLU6(True)(x)
    return x * scale * weight  # clean: x changed


def way_18(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    F.elu(x, 1.0, True)
    return x * scale * weight  # clean: x changed


def way_19(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    F.hardswish(x, inplace=True)
    return x * scale * weight  # clean: x changed


def way_20(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    torch._foreach_add_([x], 1)
    return x * scale * weight  # clean: x changed


def way_21(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    torch.add(y, 1, out=x[0])
    return x * scale * weight  # clean: x changed


def way_22(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    rotate_(x)
    return x * scale * weight  # clean: x changed


def way_23(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    operator.setitem(x, 0, 0)
    return x * scale * weight  # clean: x changed


def way_24(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.__setitem__(0, 0)
    return x * scale * weight  # clean: x changed


def way_25(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    [t.add_(1) for t in (x, y)]
    return x * scale * weight  # clean: x changed


def way_26(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    [t.zero_() for t in x]
    return x * scale * weight  # clean: x changed


def way_27(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x.data
    z += 1
    return x * scale * weight  # clean: x changed


def way_28(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z, *rest = x
    z.zero_()
    return x * scale * weight  # clean: x changed


def way_29(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z, *rest = x.unbind(0)
    rest[0].zero_()
    return x * scale * weight  # clean: x changed


def way_30(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x if flag else y
    z.add_(1)
    return x * scale * weight  # clean: x changed


def way_31(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = (x, y)[i]
    z.add_(1)
    return x * scale * weight  # clean: x changed


def way_32(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x or y
    z.add_(1)
    return x * scale * weight  # clean: x changed


def way_33(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = max(x, y)
    z.add_(1)
    return x * scale * weight  # clean: x changed


def way_34(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = dict(a=x)
    z["a"] += 1
    return x * scale * weight  # clean: x changed


def way_35(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = next(iter(x))
    z.zero_()
    return x * scale * weight  # clean: x changed


def way_36(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = chosen(x, y, flag)
    z.add_(1)
    return x * scale * weight  # clean: x changed


def way_37(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = torch.as_tensor(x)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_38(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = torch.broadcast_to(x, y.shape)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_39(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = torch.real(x)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_40(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = F.dropout(x, 0.0, False)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_41(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = nn.Flatten()(x)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_42(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = rearrange(x, "a b c -> (a b) c")
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_43(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = [t for t in (x, y)]
    z[0].add_(1)
    return x * scale * weight  # clean: x changed


def way_44(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = Box(x)
    z.t.add_(1)
    return x * scale * weight  # clean: x changed


def way_45(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = Box(x)
    z.bump()
    return x * scale * weight  # clean: x changed


def way_46(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = nn.Parameter(x)
    z.data.add_(1)
    return x * scale * weight  # clean: x changed


def way_47(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    for t in (x, y):
        t.add_(1)
    return x * scale * weight  # clean: x changed


def way_48(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    for t in [x]:
        t.zero_()
    return x * scale * weight  # clean: x changed


def way_49(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    for k, t in enumerate(x):
        t.zero_()
    return x * scale * weight  # clean: x changed


def way_50(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    for t, u in zip(x, y):
        t.mul_(u)
    return x * scale * weight  # clean: x changed


def way_51(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    if flag:
        x.data.add_(1)
    return x * scale * weight  # clean: x changed


def way_52(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    for k in range(2):
        x[k] = 0
    return x * scale * weight  # clean: x changed


def way_53(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    while flag:
        x.add_(1)
        flag = False
    return x * scale * weight  # clean: x changed


def way_54(x, y, weight, flag, i):
    z = x.view(-1)
    x.add_(1)
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_55(x, y, weight, flag, i):
    z = x[0]
    x *= 3
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z *= 2
    return x * scale * weight  # clean: x changed


def way_56(x, y, weight, flag, i):
    z = x
    for k in range(3):
        x = x.view(x.shape)
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z.mul_(2)
    return x * scale * weight  # clean: x changed


def way_57(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x.clone()
    z.add_(1)
    return x * scale * weight  # expect: rms_norm recommend


def way_58(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x + y
    z.add_(1)
    return x * scale * weight  # expect: rms_norm recommend


def way_59(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = torch.zeros_like(x)
    z += y
    return x * scale * weight  # expect: rms_norm recommend


def way_60(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = [x, y]
    z.append(y)
    return x * scale * weight  # expect: rms_norm recommend


def way_61(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    y.add_(x)
    return x * scale * weight  # expect: rms_norm recommend


def way_62(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x.abs()
    z.mul_(y)
    return x * scale * weight  # expect: rms_norm recommend


def way_63(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = y.view(-1)
    z.zero_()
    return x * scale * weight  # expect: rms_norm recommend


def way_64(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = x.shape
    flag += 1
    return x * scale * weight  # expect: rms_norm recommend


def way_65(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = [t * 2 for t in (x, y)]
    z[0].add_(1)
    return x * scale * weight  # expect: rms_norm recommend


def way_66(x, y, weight, flag, i):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    z = torch.empty(3)
    torch.add(x, y, out=z)
    return x * scale * weight  # expect: rms_norm recommend


def later_key(q, k, v):
    """The keys are named before the loop: they are the tensor that it changes."""
    scores = (q @ k.mT * 0.125).softmax(-1)
    for i in range(2):
        k[i] = 0
    return scores @ k  # expect: attention caution
