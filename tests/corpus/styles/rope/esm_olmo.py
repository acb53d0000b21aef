"""Float32 inside, and the input's dtype outside; a class of its own."""
import torch


class RotaryEmbedding(torch.nn.Module):
    def rotate_half(self, x: torch.Tensor) -> torch.Tensor:
        B, nh, T, hs = x.size()
        x = x.view(B, nh, T, 2, hs // 2)
        x1, x2 = x.unbind(dim=-2)
        return torch.cat((-x2, x1), dim=-1)

    def apply_rotary_pos_emb(self, pos_sin, pos_cos, t):
        return ((t * pos_cos) + (self.rotate_half(t) * pos_sin)).to(t.dtype)  # expect: rope recommend

    def forward(self, q, k, pos_sin, pos_cos):
        q_, k_ = q.float(), k.float()
        pos_sin = pos_sin.type_as(q_)
        pos_cos = pos_cos.type_as(q_)
        return self.apply_rotary_pos_emb(pos_sin, pos_cos, q_).type_as(q), self.apply_rotary_pos_emb(
            pos_sin, pos_cos, k_
        ).type_as(k)
