"""A method of an object that is handed in is read by its annotation: the guard holds for an
object of that class, and for none of another."""
import json
import os
import subprocess

import torch
from torch import nn

NPUFUSE = os.environ["NPUFUSE"]
MODEL = '''
import torch
from torch import nn


class Heads(nn.Module):
    factor = 0.125

    def probabilities(self, q, k):
        return torch.softmax(q @ k.transpose(-1, -2) * self.factor, dim=-1)


class Model(nn.Module):
    def forward(self, heads: "Heads", q, k, v):
        return heads.probabilities(q, k) @ v
'''


def test_guard(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    out = subprocess.run([NPUFUSE, "scan", "-q", "--format", "json", "model.py"], cwd=tmp_path,
                         check=True, capture_output=True).stdout
    (finding,) = [f for f in json.loads(out)["findings"] if f["family"] == "attention"]
    assert finding["verdict"] == "recommend"
    (fact,) = [f for f in finding["facts"] if f["name"] == "annotation"]
    assert fact["state"] == "unknown"
    assert fact["claim"] == "heads is of class Heads by its annotation: tested at run time"
    assert fact["guard"] in " ".join(finding["replacement"].split())
    space = {}
    exec(MODEL, space)  # our own text above

    class Linear(space["Heads"]):  # one that nobody saw
        def probabilities(self, q, k):
            return q @ k.transpose(-1, -2)

    assert eval(fact["guard"], {"heads": space["Heads"]()})
    assert not eval(fact["guard"], {"heads": Linear()})
    assert not eval(fact["guard"], {"heads": nn.Identity()})
    q = torch.linspace(-1, 1, 64).reshape(1, 1, 4, 16)
    assert torch.allclose(space["Model"]()(space["Heads"](), q, q, q),
                          torch.nn.functional.scaled_dot_product_attention(q, q, q, scale=0.125),
                          atol=1e-6)
