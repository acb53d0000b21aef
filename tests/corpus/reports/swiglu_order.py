import torch
import torch.nn.functional as F

class M1(torch.nn.Module):
    def forward(self, g, u):
        return F.silu(g) * u  # expect: swiglu recommend

class M2(torch.nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)  # expect: swiglu recommend
        return a * F.silu(b)             # SECOND half is gated

class M3(torch.nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)  # expect: geglu recommend
        return F.gelu(a) * b             # GEGLU, not SwiGLU

class M4(torch.nn.Module):
    def forward(self, g, u):
        return g * torch.sigmoid(g) * u  # silu spelled out  # expect: swiglu recommend
