"""Close to GELU, and none."""
import math

import torch


def wrong_width(gate, up):
    return gate * 0.5 * (1.0 + torch.erf(gate / 2.0)) * up


def square(gate, up):
    return 0.5 * gate * (1.0 + torch.tanh(0.7978845608 * (gate + 0.044715 * gate ** 2))) * up


def without_half(gate, up):
    return gate * (1.0 + torch.erf(gate / math.sqrt(2.0))) * up  # allow: geglu reject


def minus(gate, up):
    return 0.5 * gate * (1.0 - torch.erf(gate / math.sqrt(2.0))) * up


def other_argument(gate, up, x):
    return 0.5 * gate * (1.0 + torch.erf(x / math.sqrt(2.0))) * up


def the_other_way_round(gate, up):
    return 0.5 * gate * (1.0 + torch.erf(up / math.sqrt(2.0))) * up  # expect: geglu recommend


def shifted(gate, up):
    return 0.5 * gate * (1.0 + torch.tanh(0.7978845608 * (gate + 0.044715 * gate ** 3) + 0.1)) * up
