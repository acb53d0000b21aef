"""Complex factors without a batch axis: (tokens, heads, head size)."""
from typing import Tuple

import torch


def apply_rotary_emb(
    xq: torch.Tensor, xk: torch.Tensor, freqs_cis: torch.Tensor
) -> Tuple[torch.Tensor, torch.Tensor]:
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = freqs_cis[:, None, :]
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(-2)  # expect: rope recommend|caution
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(-2)  # expect: rope recommend|caution
    return xq_out.type_as(xq), xk_out.type_as(xk)
