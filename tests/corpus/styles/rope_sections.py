"""Tables whose sections are taken from several axes before the rotation."""
import torch


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def doubled(q, k, cos, sin, sections, unsqueeze_dim=1):
    sections = sections * 2
    cos = torch.cat([m[i % 3] for i, m in enumerate(cos.split(sections, dim=-1))], dim=-1)
    sin = torch.cat([m[i % 3] for i, m in enumerate(sin.split(sections, dim=-1))], dim=-1)
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    q = q * cos + rotate_half(q) * sin  # expect: rope recommend
    k = k * cos + rotate_half(k) * sin  # expect: rope recommend
    return q, k


def of_other_sections(q, cos, sin, sections, others):
    cos = torch.cat([m[i % 3] for i, m in enumerate(cos.split(sections, dim=-1))], dim=-1)
    sin = torch.cat([m[i % 3] for i, m in enumerate(sin.split(others, dim=-1))], dim=-1)
    return q * cos + rotate_half(q) * sin  # expect: rope caution


def every_third(q, cos, sin, sections):
    cos = torch.cat([m[i % 3] for i, m in enumerate(cos.split(sections, dim=-1))], dim=-1)
    sin = torch.cat([m[i % 2] for i, m in enumerate(sin.split(sections, dim=-1))], dim=-1)
    return q * cos + rotate_half(q) * sin  # expect: rope caution
