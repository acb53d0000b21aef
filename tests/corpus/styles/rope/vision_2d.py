"""Two axes of an image, each rotates its own part of the head."""
import torch


class Rope2D(torch.nn.Module):
    def rotate_half(self, x):
        x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
        return torch.cat((-x2, x1), dim=-1)

    def apply_rope1d(self, tokens, pos1d, cos, sin):
        cos = torch.nn.functional.embedding(pos1d, cos)[:, None, :, :]
        sin = torch.nn.functional.embedding(pos1d, sin)[:, None, :, :]
        return (tokens * cos) + (self.rotate_half(tokens) * sin)  # expect: rope recommend|caution

    def forward(self, tokens, positions, cos, sin):
        y, x = tokens.chunk(2, dim=-1)
        y = self.apply_rope1d(y, positions[:, :, 0], cos, sin)
        x = self.apply_rope1d(x, positions[:, :, 1], cos, sin)
        return torch.cat((y, x), dim=-1)


def axial(q, freqs_x, freqs_y):
    qx, qy = q.chunk(2, dim=-1)
    ax, bx = qx[..., 0::2], qx[..., 1::2]
    out_x = torch.stack(  # expect: rope recommend|caution
        (ax * freqs_x.cos() - bx * freqs_x.sin(), ax * freqs_x.sin() + bx * freqs_x.cos()), dim=-1
    ).flatten(-2)
    return torch.cat((out_x, qy), dim=-1)
