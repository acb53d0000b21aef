"""Products of pairs with columns of matrices that are none."""
import torch


def one_column(x, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 2)
    out = freqs[..., 0] * rows[..., 0] + freqs[..., 0] * rows[..., 1]
    return out.reshape(*x.shape)  # clean: one column twice


def columns_crossed(x, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 2)
    out = freqs[..., 1] * rows[..., 0] + freqs[..., 0] * rows[..., 1]
    return out.reshape(*x.shape)  # clean: the columns are exchanged


def difference(x, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 2)
    out = freqs[..., 0] * rows[..., 0] - freqs[..., 1] * rows[..., 1]
    return out.reshape(*x.shape)  # clean: a difference


def of_two(x, y, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 2)
    other = y.reshape(*y.shape[:-1], -1, 1, 2)
    out = freqs[..., 0] * rows[..., 0] + freqs[..., 1] * other[..., 1]
    return out.reshape(*x.shape)  # clean: of two tensors


def threes(x, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 3)
    out = freqs[..., 0] * rows[..., 0] + freqs[..., 1] * rows[..., 1]
    return out.reshape(*x.shape)  # clean: two of three


def conjugated_halves(x, table):
    a, b = x.float().chunk(2, dim=-1)
    z = torch.complex(b, a) * table
    return torch.cat([z.real, z.imag], dim=-1)  # clean: the halves are exchanged


def imaginary_first(x, table):
    a, b = x.float().chunk(2, dim=-1)
    z = torch.complex(a, b) * table
    return torch.cat([z.imag, z.real], dim=-1)  # clean: the halves come out exchanged


def halves_to_pairs(x, table):
    a, b = x.float().chunk(2, dim=-1)
    z = torch.complex(a, b) * table
    return torch.stack([z.real, z.imag], dim=-1).flatten(-2)  # clean: halves in, pairs out


def kept_axis(x, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 2)
    return (rows * freqs).sum(-1, keepdim=True).flatten(-2)  # clean: a row of ones is joined


def other_sum(x, freqs):
    rows = x.reshape(*x.shape[:-1], -1, 1, 2)
    return (rows * freqs).sum(-2).flatten(-2)  # clean: a sum over the rows of the matrices


def rows_of_halves(x, freqs):
    halves = x.view(*x.shape[:-1], 2, -1)
    return (halves.unsqueeze(-2) * freqs).sum(-1).flatten(-2)  # clean: halves, not pairs


def columns(x, freqs):
    pairs = x.view(*x.shape[:-1], -1, 2)
    return (pairs.unsqueeze(-1) * freqs).sum(-1).flatten(-2)  # clean: pairs as columns


def of_another_part(x, y, freqs, cut):
    head = x[..., :4] if cut else y
    pairs = head.view(*x.shape[:-1], -1, 2)
    return (pairs.unsqueeze(-2) * freqs).sum(-1).flatten(-2)  # clean: of two tensors


def turned_once(x, table):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], 2, -1).transpose(-2, -1).contiguous())
    return torch.view_as_real(z * table).flatten(-2)  # clean: halves in, pairs out


def turned_pairs(x, table):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(z * table).transpose(-2, -1).flatten(-2)  # clean: pairs in, halves out
