"""Products by einsum that are no attention."""
import einops
import torch
import torch.nn.functional as F


def wrong_axis(q, k, v):
    w = torch.einsum("...qhd,...khd->...hqk", q, k)
    w = F.softmax(w, dim=-2)
    return torch.einsum("...hqk,...khd->...qhd", w, v)  # clean: softmax over the queries


def wrong_words(q, k, v):
    sim = einops.einsum(q, k, 'b h i d, b h j d -> b h j i')
    w = sim.softmax(-1)
    return einops.einsum(w, v, 'b h i j, b h j d -> b h i d')  # clean: softmax over the queries


def five_axes(q, k, v):
    w = torch.einsum("...abhd,...cbhd->...bhac", q, k)
    w = F.softmax(w, dim=-1)
    return torch.einsum("...bhac,...cbhd->...abhd", w, v)  # clean: more axes than the operator has


def one_without_dots(q, k, v):
    w = torch.einsum("...qhd,khd->...hqk", q, k)
    w = F.softmax(w, dim=-1)
    return torch.einsum("...hqk,khd->...qhd", w, v)  # clean: keys without a batch


def keys_of_one_head(q, k, v):
    w = einops.einsum(q, k, "b h i d, b j d -> b h i j").softmax(-1)
    return einops.einsum(w, v, "b h i j, b h j d -> b h i d")  # clean: values of many heads


def over_heads(q, k, v):
    w = torch.einsum("bhid,bjd->bhij", q, k).softmax(1)
    return torch.einsum("bhij,bjd->bhid", w, v)  # clean: softmax over the heads


def over_queries(q, k, v):
    w = torch.einsum("bhid,bjd->bhij", q, k).softmax(-2)
    return torch.einsum("bhij,bjd->bhid", w, v)  # clean: softmax over the queries


def one_batch(q, k, v):
    w = torch.einsum("bhid,jhd->bhij", q, k).softmax(-1)
    return torch.einsum("bhij,jhd->bhid", w, v)  # clean: keys without a batch


def heads_added(q, k, v):
    w = torch.einsum("bhid,bjd->bhij", q, k).softmax(-1)
    return torch.einsum("bhij,bjd->bid", w, v)  # clean: the heads are added up


def other_contract(contract, q, k, v):
    w = contract("bhid,bhjd->bhij", q, k).softmax(-1)
    return contract("bhij,bhjd->bhid", w, v)  # clean: whatever was handed in


def field(q, k, v, axes):
    w = torch.einsum(f"{axes}, bjhd -> bhij", q, k).softmax(-1)
    return torch.einsum(f"bhij, bjhd -> {axes}", w, v)  # clean: axes not known


def not_v(q, k, v):
    w = torch.einsum("bihd,bjhd->bhij", q, k).softmax(-1)
    return torch.einsum("bhij,bihd->bjhd", w, v)  # clean: the weights' queries are summed


def values_first_over_queries(q, k, v):
    """The weights are normalised over the keys and summed over the queries."""
    attn = torch.einsum("bhid,bhjd->bhij", q, k).softmax(-1)
    return torch.einsum("bhid,bhij->bhjd", v, attn)


def weights_twice(q, k, v):
    """The square of the weights is no weight."""
    attn = torch.einsum("bhid,bhjd->bhij", q, k).softmax(-1)
    return torch.einsum("bhjd,bhij->bhid", v, attn * attn)
