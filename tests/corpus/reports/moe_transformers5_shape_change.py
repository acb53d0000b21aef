import torch

def patched_block(self, hidden_states):
    # written for transformers 4: block owns hidden_size/top_k, gate returns raw logits
    b = hidden_states.shape[0]
    flat = hidden_states.reshape(-1, self.hidden_size)
    logits = self.gate(flat)
    p = torch.softmax(logits, dim=-1, dtype=torch.float)  # expect: moe caution
    p, i = torch.topk(p, self.top_k, dim=-1)
    out = self.experts(flat, p.to(flat.dtype), i)
    return out.reshape(b, -1, self.hidden_size)
