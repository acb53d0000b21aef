"""Which names of a project are switches of a fusion, and what becomes of them.

A switch decides only when the fused branch runs; a name that means something else
must not be taken for one.
"""
import json
import subprocess

import pytest

import generated

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

MODEL = '''\
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Config:
    dim: int = 16
    {name}: bool = False


class Norm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.ones(config.dim))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)


class MLP(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.gate = nn.Linear(config.dim, 32)
        self.up = nn.Linear(config.dim, 32)

    def forward(self, x):
        return F.silu(self.gate(x)) * self.up(x)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Rotary(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config

    def forward(self, x, cos, sin):
        return x * cos + rotate_half(x) * sin
'''

# field, family, the condition (empty: an environment variable).
NAMES = [
    ("use_fused_rmsnorm", "rms_norm", "self.config.use_fused_rmsnorm"),
    ("useFusedNorm", "rms_norm", "self.config.useFusedNorm"),
    ("npu_norm", "rms_norm", "self.config.npu_norm"),
    ("use_fused_swiglu", "rms_norm", ""),
    ("norm_input", "rms_norm", ""),        # holds "npu"
    ("use_diffusion_norm", "rms_norm", ""),  # holds "fusion"
    ("refuse_norm", "rms_norm", ""),
    ("fused_layer_norm", "rms_norm", ""),
    ("disable_fused_norm", "rms_norm", "not self.config.disable_fused_norm"),
    ("no_rms_norm_fusion", "rms_norm", "not self.config.no_rms_norm_fusion"),
    ("bias_swiglu_fusion", "swiglu", "self.config.bias_swiglu_fusion"),
    ("mlp_input_layer", "swiglu", ""),
    ("use_fused_rotary_pos_emb", "rope", "self.config.use_fused_rotary_pos_emb"),
    ("apply_rope_fusion", "rope", "self.config.apply_rope_fusion"),
]


def conditions(folder):
    """family: expression of the switch, by the findings of the folder."""
    out = folder / "out"
    subprocess.run([generated.binary(), "scan", "--no-cache", "-o", out, folder / "code"],
                   check=True, capture_output=True)
    found = json.loads((out / "findings.json").read_text())["findings"]
    return {f["family"]: f["switch"] for f in found if f["switch"]}


def write(folder, files):
    for name, text in files.items():
        path = folder / "code" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("name, family, expected", NAMES, ids=[f"{n}-{f}" for n, f, _ in NAMES])
def test_names(tmp_path, name, family, expected):
    write(tmp_path, {"model.py": MODEL.replace("{name}", name)})
    switch = conditions(tmp_path)[family]
    assert switch["expr"] == (expected or f"NPUFUSE_{family.upper()}")
    assert switch["kind"] == ("existing" if expected else "environment")


OPTION_MODEL = '''\
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.options = args
        self.weight = nn.Parameter(torch.ones(args.hidden_size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)
'''

# the declaration, the condition (empty: an environment variable)
OPTIONS = [
    ('"--use-fused-rmsnorm", action="store_true"',
     'getattr(self.options, "use_fused_rmsnorm", False)'),
    ('"--no-norm-fusion", action="store_false", dest="apply_norm_fusion"',
     'getattr(self.options, "apply_norm_fusion", False)'),
    ('"-f", "--no-norm-fusion", action="store_true"',
     'not getattr(self.options, "no_norm_fusion", True)'),
    ('"--fused-norm", action=argparse.BooleanOptionalAction',
     'getattr(self.options, "fused_norm", False)'),
    ('"--fused-norm", type=str, default="auto"', ""),
    ('"--norm-input", action="store_true"', ""),
]


@pytest.mark.parametrize("option, expected", OPTIONS, ids=[o.split('"')[-2] + str(i)
                                                           for i, (o, _) in enumerate(OPTIONS)])
def test_options(tmp_path, option, expected):
    write(tmp_path, {"pkg/__init__.py": "", "pkg/model.py": OPTION_MODEL, "run/train.py": f'''\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--hidden-size", type=int, default=16)
parser.add_argument({option})
'''})
    switch = conditions(tmp_path)["rms_norm"]
    assert switch["expr"] == (expected or "NPUFUSE_RMS_NORM")
    if expected:
        assert switch["where"]["file"].endswith("run/train.py")
        assert switch["where"]["start_line"] == 5


def test_options_of_another_parser(tmp_path):
    """Nothing shows that the object is of the parser that has the option."""
    write(tmp_path, {"pkg/model.py": OPTION_MODEL, "train.py": '''\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--use-fused-rmsnorm", action="store_true")
'''})
    assert conditions(tmp_path)["rms_norm"]["kind"] == "environment"
