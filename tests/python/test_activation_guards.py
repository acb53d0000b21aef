"""The guard on an activation that a default names: true of that object, false of others."""
import json
import os
import subprocess

import pytest
import torch
from torch import nn
from torch.nn import functional as F

NPUFUSE = os.environ["NPUFUSE"]
HEAD = """import functools
import torch
from torch import nn
from torch.nn import functional as F

"""
MODEL = """
TABLE = {table}


class Model(nn.Module):
    def __init__(self, act="default"):
        super().__init__()
        self.act = TABLE[act]

    def forward(self, gate, up):
        return self.act(gate) * up
"""
# The class, the object of the default, another of the table, and the verdict.
CASES = {
    "function_by_flag": ("""
class Act(nn.Module):
    def __init__(self, other=False):
        super().__init__()
        self.act = torch.tanh if other else F.gelu

    def forward(self, x):
        return self.act(x)
""", "Act()", "Act(True)", "recommend"),
    "method_by_flag": ("""
class Act(nn.Module):
    def __init__(self, other=False):
        super().__init__()
        if other:
            self.fn = self.by_hand
        else:
            self.fn = F.gelu

    def by_hand(self, x):
        return x

    def forward(self, x):
        '''The activation.'''
        return self.fn(x)
""", "Act()", "Act(other=True)", "recommend"),
    "partial_by_flag": ("""
class Act(nn.Module):
    def __init__(self, exact=False):
        super().__init__()
        if exact:
            self.act = F.gelu
        else:
            self.act = functools.partial(F.gelu, approximate="tanh")

    def forward(self, x):
        return self.act(x)
""", "Act()", "Act(exact=True)", "recommend"),
    "another_type": ("""
class Act(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = F.gelu

    def forward(self, x):
        return self.act(x)
""", "Act()", "nn.ReLU()", "recommend"),
    # What the constructor was given cannot be read off the object.
    "kind_of_the_object": ("""
class Act(nn.Module):
    def __init__(self, other=False):
        super().__init__()
        kind = "tanh" if other else "none"
        self.run = lambda x: F.gelu(x, approximate=kind)

    def forward(self, x):
        return self.run(x)
""", "Act()", "Act(True)", None),
    "swish_with_beta": ("""
class Act(nn.Module):
    def __init__(self, beta=1.0):
        super().__init__()
        self.beta = beta

    def forward(self, x):
        return x * torch.sigmoid(self.beta * x)
""", "Act()", "Act(1.702)", None),
    "scaled": ("""
class Act(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.act, self.scale = F.gelu, scale

    def forward(self, x):
        if self.scale == 1.0:
            return self.act(x)
        return self.act(x) * self.scale
""", "Act()", "Act(2.0)", None),
}


def scan(folder, text):
    (folder / "model.py").write_text(text)
    out = subprocess.run([NPUFUSE, "scan", "-q", "--format", "json", "model.py"], cwd=folder,
                         check=True, capture_output=True).stdout
    return [f for f in json.loads(out)["findings"] if f["qualname"] == "Model.forward"]


@pytest.mark.parametrize("name", CASES)
def test_guard(tmp_path, name):
    body, default, other, verdict = CASES[name]
    text = HEAD + body + MODEL.format(table='{"default": %s, "other": %s}' % (default, other))
    found = scan(tmp_path, text)
    if verdict is None:
        assert [f["verdict"] for f in found] in ([], ["caution"], ["reject"])
        return
    (finding,) = found
    assert finding["verdict"] == verdict
    guards = [f["guard"] for f in finding["facts"] if f["name"] == "activation" and f["guard"]]
    assert len(guards) == 1 and guards[0] in " ".join(finding["replacement"].split())
    space = {}
    exec(text, space)  # our own text above
    assert eval(guards[0], {"self": space["Model"]()})
    assert not eval(guards[0], {"self": space["Model"]("other")})
    x = torch.linspace(-3, 3, 7)
    assert torch.equal(space["Model"]()(x, x), F.gelu(x, approximate="tanh" if "partial" in body
                                                      else "none") * x)
    assert isinstance(space["Model"](), nn.Module)
