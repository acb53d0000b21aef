"""What a finding's variant is called: decided by the values, not by a name."""
import json
import os
import subprocess

import pytest

NPUFUSE = os.environ["NPUFUSE"]
HEAD = """import torch
import torch.nn.functional as F


def f(x, w, g):
"""
NORM = "    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n"
CASES = {
    "weight": NORM + "    return w * h.to(x.dtype)\n",
    "weight+cast_last": NORM + "    return (w * h).to(x.dtype)\n",
    "weight+one_plus": NORM + "    return (1 + w) * h.to(x.dtype)\n",
    "weight+one_plus+cast_last": NORM + "    h = h * (1.0 + w.float())\n    return h.type_as(x)\n",
    "plain": NORM + "    return h.to(x.dtype)\n",
    "weight+gate_last": NORM + "    h = w * h.to(x.dtype)\n    return (h * F.silu(g.float())).to(x.dtype)\n",
    "weight+cast_last+gate_last": NORM + "    h = (w * h).to(x.dtype)\n    return torch.sigmoid(g) * h\n",
    "weight+gate_first": "    x = x * (g * torch.sigmoid(g))\n" + NORM + "    return w * h.to(x.dtype)\n",
    # A product with something else is no gate, and a gate of something else is not its.
    "weight ": NORM + "    return (w * h.to(x.dtype)) * g, F.silu(g) * x\n",
}


@pytest.mark.parametrize("variant", CASES)
def test_variant_of_a_norm(tmp_path, variant):
    (tmp_path / "m.py").write_text(HEAD + CASES[variant])
    out = subprocess.run([NPUFUSE, "scan", "-q", "--format", "json", "m.py"], cwd=tmp_path,
                         check=True, capture_output=True).stdout
    found = [f["variant"] for f in json.loads(out)["findings"] if f["family"] == "rms_norm"]
    assert found == [variant.strip()]


def test_a_constant_is_shown_where_it_is_written(tmp_path):
    """Equal constants are one value: the place that a fact cites is the finding's own."""
    (tmp_path / "m.py").write_text(
        "import torch\nimport torch.nn.functional as F\n\n\n"
        "def first(x):\n    return x - 1\n\n\n"
        "class Norm(torch.nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
        "        self.s, self.g = d ** 0.5, torch.nn.Parameter(torch.ones(d))\n\n"
        "    def forward(self, x):\n        return F.normalize(x, dim=1) * self.g * self.s\n\n\n"
        "def last(x):\n    return x.sum(1)\n")
    for option in ([], ["--no-filter"]):
        out = subprocess.run([NPUFUSE, "scan", "-q", "--format", "json", *option, "m.py"],
                             cwd=tmp_path, check=True, capture_output=True).stdout
        (finding,) = [f for f in json.loads(out)["findings"] if f["family"] == "rms_norm"]
        (form,) = [f for f in finding["facts"] if f["name"] == "form"]
        assert "along axis 1" in form["claim"]
        assert [(c["start_line"], c["end_line"]) for c in form["chain"]] == [
            (finding["start_line"], finding["end_line"])]
        assert finding["start_line"] == 15
