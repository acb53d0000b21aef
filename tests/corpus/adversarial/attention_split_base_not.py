"""A class whose base is not in sight: what it blends is no attention."""
import torch

from elsewhere.layers import HeadsAndLayers


class OverQueries(HeadsAndLayers):
    def blend(self, value, scores):
        return torch.matmul(self.dropout(torch.softmax(scores, dim=-2)), value)

    def forward(self, q, k, v):
        return self.blend(v, torch.matmul(q, k.transpose(-2, -1)))


class NoProduct(HeadsAndLayers):
    def blend(self, value, scores):
        return torch.matmul(self.dropout(torch.softmax(scores, dim=-1)), value)

    def forward(self, q, k, v):
        return self.blend(v, q + k)


class Capped(HeadsAndLayers):
    def blend(self, value, scores):
        return torch.matmul(self.dropout(torch.softmax(torch.tanh(scores), dim=-1)), value)

    def forward(self, q, k, v):
        return self.blend(v, torch.matmul(q, k.transpose(-2, -1)))
