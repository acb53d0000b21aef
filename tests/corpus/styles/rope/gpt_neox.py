"""Part of the head is rotated; tables are gathered by position."""
import torch


class RotaryAttention(torch.nn.Module):
    def __init__(self, rotary_ndims):
        super().__init__()
        self.rotary_ndims = rotary_ndims

    def rotate_half(self, x):
        x1 = x[..., : x.shape[-1] // 2]
        x2 = x[..., x.shape[-1] // 2 :]
        return torch.cat((-x2, x1), dim=-1)

    def forward(self, query, key, cos, sin, position_ids):
        query_rot = query[..., : self.rotary_ndims]
        query_pass = query[..., self.rotary_ndims :]
        key_rot = key[..., : self.rotary_ndims]
        key_pass = key[..., self.rotary_ndims :]
        cos = cos[position_ids].unsqueeze(1)
        sin = sin[position_ids].unsqueeze(1)
        query = (query_rot * cos) + (self.rotate_half(query_rot) * sin)  # expect: rope recommend
        key = (key_rot * cos) + (self.rotate_half(key_rot) * sin)  # expect: rope recommend
        query = torch.cat((query, query_pass), dim=-1)
        key = torch.cat((key, key_pass), dim=-1)
        return query, key
