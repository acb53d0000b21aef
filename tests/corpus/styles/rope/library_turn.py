"""rotate_half of a model of transformers."""
import torch
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.llama.modeling_llama import rotate_half


def single(x, cos, sin, position_ids):
    cos = cos[position_ids].unsqueeze(1)
    sin = sin[position_ids].unsqueeze(1)
    return (x * cos) + (rotate_half(x) * sin)  # expect: rope recommend


def by_module(x, cos, sin):
    return x * cos + modeling_gpt_neox.rotate_half(x) * sin  # expect: rope recommend


def in_a_generator(q, k, cos, sin, positions):
    cos, sin = (torch.gather(x.transpose(1, 2), 1, positions) for x in (cos, sin))
    q, k = ((x * cos) + (rotate_half(x) * sin) for x in (q, k))  # expect: rope caution
    return q, k
