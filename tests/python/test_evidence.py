"""Evidence facts of candidates: what is said, how sure, and at which lines.

Each case is a project of small files; the first holds the candidate. A fact is
written as (state, part of the claim, lines of its places).
"""
import textwrap

import pytest

import generated

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

NORM = """\
import torch
from torch import nn

class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    {decorator}
    def forward(self, x):
        {around}
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
"""


def norm(around="if True:", decorator="# plain"):
    """A norm whose result stands in a block that begins with `around` (line 11)."""
    return NORM.format(around=around, decorator=decorator)


def scan(folder, files):
    """The findings of a scan of the files, name: text."""
    for name, text in files.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return generated.scan(folder / "in", folder / "out")["findings"]


def fact(finding, name):
    found = [f for f in finding["facts"] if f["name"] == name]
    assert len(found) == 1, (name, [f["name"] for f in finding["facts"]])
    return found[0]


def check(finding, name, expected):
    state, part, lines = expected
    got = fact(finding, name)
    assert got["state"] == state, got
    assert part in got["claim"], got
    assert [span["start_line"] for span in got["chain"]] == lines, got


TRAIN = """\
import torch

def fit(model, data):
    opt = torch.optim.AdamW(model.parameters())
    for x in data:
        model(x).sum().backward()
        opt.step()
"""

SURROUNDINGS = {
    "nothing": (
        {"m.py": norm()},
        {"graph_mode": ("unknown", "no torch.compile", []),
         "autocast": ("unknown", "no region of autocast", []),
         "gradient": ("unknown", "no backward() and no optimizer", [])}),
    "the repository trains": (
        {"m.py": norm(), "train.py": TRAIN},
        {"gradient": ("unknown", "train elsewhere; the operator has a backward", [4])}),
    "a backward of its own is none": (
        {"m.py": norm(), "f.py": """\
            import torch

            class F(torch.autograd.Function):
                @staticmethod
                def backward(ctx, g):
                    return super().backward(g)
            """},
        {"gradient": ("unknown", "no backward() and no optimizer", [])}),
    "gradients are off": (
        {"m.py": norm("with torch.no_grad():"), "train.py": TRAIN},
        {"gradient": ("proven", "gradients are off", [11])}),
    "inference mode as a decorator": (
        {"m.py": norm(decorator="@torch.inference_mode()")},
        {"gradient": ("proven", "gradients are off", [9])}),
    "where it trains": (
        {"m.py": norm("if self.training:")},
        {"gradient": ("proven", "only where `training` is true", [11])}),
    "where it does not train": (
        {"m.py": norm("if not self.training:")},
        {"gradient": ("proven", "only where `training` is false", [11])}),
    "autocast is on": (
        {"m.py": norm('with torch.autocast("npu", dtype=torch.bfloat16):')},
        {"autocast": ("proven", "autocast is on here", [11])}),
    "autocast is off": (
        {"m.py": norm('with torch.autocast("npu", enabled=False):')},
        {"autocast": ("proven", "autocast is off here", [11])}),
    "autocast by a value": (
        {"m.py": norm('with torch.amp.autocast("npu", enabled=x.is_cuda):')},
        {"autocast": ("unknown", "known at run time", [11])}),
    "autocast elsewhere": (
        {"m.py": norm(), "run.py": """\
            from torch.amp import autocast

            def run(model, x):
                with autocast("npu"):
                    return model(x)
            """},
        {"autocast": ("unknown", "opened elsewhere", [4])}),
    "autocast switched off elsewhere": (
        {"m.py": norm(), "run.py": """\
            import torch

            def run(model, x):
                with torch.autocast("npu", enabled=False):
                    return model(x)
            """},
        {"autocast": ("unknown", "no region of autocast", [])}),
    "compiled itself": (
        {"m.py": norm(decorator="@torch.compile")},
        {"graph_mode": ("proven", "given to torch.compile", [9])}),
    "compiled elsewhere": (
        {"m.py": norm(), "run.py": """\
            import torch

            def prepare(model):
                return torch.compile(model)
            """},
        {"graph_mode": ("unknown", "elsewhere in the scanned files", [4])}),
    "a compiled expression is no graph": (
        {"m.py": norm(), "run.py": 'import re\nP = re.compile("x")\n'},
        {"graph_mode": ("unknown", "no torch.compile", [])}),
    "captured elsewhere": (
        {"m.py": norm(), "run.py": """\
            import torch

            def prepare(model, x):
                return torch.cuda.make_graphed_callables(model, (x,))
            """},
        {"graph_mode": ("unknown", "captured or exported elsewhere", [4])}),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings(tmp_path, name):
    files, expected = SURROUNDINGS[name]
    found = [f for f in scan(tmp_path, files) if f["family"] == "rms_norm"]
    assert len(found) == 1
    for key, value in expected.items():
        check(found[0], key, value)
