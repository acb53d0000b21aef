"""Products by torch.einsum and einops.einsum: words, ellipsis, f-strings, axes in any order."""
import torch, einops
from torch import nn, einsum
import torch.nn.functional as F
from einops import rearrange
from math import sqrt

def default(v, d):
    return v if v is not None else d
def exists(v):
    return v is not None

class FormatString(nn.Module):
    def __init__(self, dropout=0., scale=None):
        super().__init__()
        self.scale = scale
        self.attn_dropout = nn.Dropout(dropout)
    def forward(self, q, k, v):
        scale = default(self.scale, q.shape[-1] ** -0.5)
        sim = einsum(f"b h i d, b h j d -> b h i j", q, k) * scale
        attn = sim.softmax(dim=-1)
        attn = self.attn_dropout(attn)
        return einsum(f"b h i j, b h j d -> b h i d", attn, v)  # expect: attention recommend

class Words(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64):
        super().__init__()
        self.heads = heads
        self.scale = dim_head ** -0.5
        self.to_q = nn.Linear(dim, heads * dim_head, bias=False)
        self.to_kv = nn.Linear(dim, heads * dim_head * 2, bias=False)
        self.to_out = nn.Linear(heads * dim_head, dim)
    def forward(self, x, mask=None):
        q, k, v = (self.to_q(x), *self.to_kv(x).chunk(2, dim=-1))
        q, k, v = (rearrange(t, 'b n (h d) -> b h n d', h=self.heads) for t in (q, k, v))
        sim = einops.einsum(q, k, 'b h i d, b h j d -> b h i j') * self.scale
        if exists(mask):
            sim = sim.masked_fill(~mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = einops.einsum(attn, v, 'b h i j, b h j d -> b h i d')  # expect: attention recommend
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))

class LongWords(nn.Module):
    def forward(self, q, k, v):
        scores = einops.einsum(q, k, 'batch head seq_q dim, batch head seq_k dim -> batch head seq_q seq_k')
        w = torch.softmax(scores / sqrt(q.shape[-1]), dim=-1)
        return einops.einsum(w, v, 'batch head seq_q seq_k, batch head seq_k dim -> batch head seq_q dim')  # expect: attention recommend

def ellipsis(q, k, v, mask=None):
    w = torch.einsum("...qhd,...khd->...hqk", q, k)
    if mask is not None:
        w = torch.where(mask, w, -torch.finfo(w.dtype).max / 2)
    w = F.softmax(w, dim=-1)
    return torch.einsum("...hqk,...khd->...qhd", w, v)  # expect: attention recommend

def ellipsis2(q, k, v):
    w = torch.einsum("... i d, ... j d -> ... i j", q, k) * q.shape[-1] ** -0.5
    return torch.einsum("... i j, ... j d -> ... i d", w.softmax(-1), v)  # expect: attention recommend

class Mla(nn.Module):
    def forward(self, q, x, mask):
        scores = torch.einsum("bshd,bthd->bsht", q, self.k_cache[:2, :5]) * self.softmax_scale
        if mask is not None:
            scores += mask.unsqueeze(1)
        scores = scores.softmax(dim=-1, dtype=torch.float32).type_as(x)
        return torch.einsum("bsht,bthd->bshd", scores, self.v_cache[:2, :5])  # expect: attention caution


def turned_mask(q, k, v, mask):
    scores = torch.einsum("bshd,bthd->bsht", q, k) * 0.125
    scores = scores.masked_fill(mask.view(2, 16, 1, 16), float("-inf"))
    weights = scores.softmax(dim=-1)
    return torch.einsum("bsht,bthd->bshd", weights, v)  # expect: attention recommend

class ValuesFirst(nn.Module):
    def forward(self, q, k, v):
        attn = torch.einsum("bhid,bhjd->bhij", q, k).div(8).softmax(-1)
        return torch.einsum("bhjd,bhij->bhid", v, attn)  # expect: attention recommend

def one_head(q, k, v):
    """Channels first: the weights are turned before the values are multiplied by them."""
    w = torch.einsum('bij,bjk->bik', q, k) * (int(q.shape[-1]) ** -0.5)
    w = F.softmax(w, dim=2)
    w = w.permute(0, 2, 1)
    return torch.einsum('bij,bjk->bik', v, w)  # expect: attention caution
