import torch

class PackedExperts(torch.nn.Module):
    def __init__(self, e, h, m):
        super().__init__()
        # nn.Linear order: [E, out, in]
        self.gate_up_proj = torch.nn.Parameter(torch.empty(e, 2 * m, h).normal_(std=.02))
        self.down_proj = torch.nn.Parameter(torch.empty(e, h, m).normal_(std=.02))

    def one(self, i, x):
        g, u = (x @ self.gate_up_proj[i].T).chunk(2, -1)  # expect: swiglu recommend
        return (torch.nn.functional.silu(g) * u) @ self.down_proj[i].T
