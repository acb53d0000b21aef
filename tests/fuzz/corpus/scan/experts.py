import torch
import torch.nn.functional as F

class Experts(torch.nn.Module):
    def forward(self, x, index, weight):
        out = torch.zeros_like(x)
        mask = F.one_hot(index, num_classes=self.count).permute(2, 1, 0)
        for expert in mask.sum(dim=(-1, -2)).nonzero():
            place, token = torch.where(mask[expert[0]])
            gate, up = F.linear(x[token], self.gate_up[expert[0]]).chunk(2, dim=-1)
            h = F.linear(self.act(gate) * up, self.down[expert[0]])
            out.index_add_(0, token, h * weight[token, place, None])
        return out
