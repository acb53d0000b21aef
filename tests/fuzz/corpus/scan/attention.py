import math
import torch
from torch import nn

def attend(q, k, v, mask=None, dropout=0.0, training=False):
    k = k[:, :, None].expand(-1, -1, 2, -1, -1).reshape(q.shape)
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores + mask[:, :, :, : k.shape[-2]]
    weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    weights = nn.functional.dropout(weights, p=dropout, training=training)
    return (weights @ v).transpose(1, 2).contiguous(), weights
