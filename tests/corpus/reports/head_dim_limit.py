import torch

class BigHead(torch.nn.Module):
    HEAD_DIM = 256
    def forward(self, q, k, v, cu):
        # packed rows (T, N, 256); documents given by cu = [0, 7, 19, ...]
        out = []
        for a, b in zip(cu[:-1], cu[1:]):
            s = torch.einsum("qhd,khd->hqk", q[a:b], k[a:b]) * self.HEAD_DIM ** -0.5
            s = s + torch.full_like(s, float("-inf")).triu(1)
            out.append(torch.einsum("hqk,khd->qhd", s.softmax(-1), v[a:b]))  # expect: attention caution
        return torch.cat(out)
