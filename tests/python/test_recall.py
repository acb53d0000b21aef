"""What a shared helper gave one file is nothing that the next file can see.

Results of helpers are kept from file to file. So files are scanned together, and each
in a scan of its own: what is found must not differ.
"""
import json
import random
import subprocess

import pytest

import generated

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

HELPERS = """import importlib.util
import torch
import torch.nn.functional as F

_handlers = None
SEEN = []


def has_kernels(name="kernels"):
    return importlib.util.find_spec(name) is not None


def epsilon(small=False):
    return 1e-6 if small else 1e-5


def pick(name):
    if name == "silu":
        return F.silu
    return F.gelu


def table(key):
    return {"a": 1e-6, "b": 1e-5}.get(key), [key, has_kernels()]


def once():
    global _handlers
    if _handlers:
        return _handlers
    _handlers = torch.device("cpu")
    _handlers.tag = 1
    return _handlers


def note(x):
    SEEN.append(x)
    return len(SEEN)
"""

BODIES = [
    "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon()) * w",
    "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon(True)) * w",
    "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon(small=note(1))) * w",
    "pick('silu')(x) * w",
    "pick('gelu')(x) * w",
    "(pick('silu')(x) * w) if has_kernels() else (pick('silu')(w) * x)",
    "F.silu(x) * w * (1 if has_kernels('a') == has_kernels('a') else 2)",
    "F.silu(x) * w + table('a')[0] + table(once())[0]",
]


def write(folder):
    folder.mkdir()
    (folder / "helpers.py").write_text(HELPERS)
    for i in range(16):
        body = BODIES[i % len(BODIES)]
        lines = ["import torch", "import torch.nn.functional as F",
                 "from helpers import epsilon, has_kernels, note, once, pick, table", "",
                 f"READY = has_kernels() and has_kernels('n{i % 3}')", "", "",
                 "def f(x, w):", "    if READY:", "        note(x)",
                 f"    return {body}"]
        (folder / f"user{i:02}.py").write_text("\n".join(lines) + "\n")


def scan(tmp_path, folder, target, name):
    out = tmp_path / name
    done = subprocess.run([generated.binary(), "scan", target, "--no-cache", "--jobs", "1",
                           "-o", str(out)], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads((out / "findings.json").read_text())["findings"]


def test_together_as_alone(tmp_path):
    folder = tmp_path / "code"
    write(folder)
    together = scan(tmp_path, folder, ".", "all")
    by_file = {}
    for finding in together:
        by_file.setdefault(finding["file"], []).append(finding)
    users = sorted(path.name for path in folder.glob("user*.py"))
    alone = {name: scan(tmp_path, folder, name, name) for name in users}
    assert sum(map(len, alone.values())) >= 12  # most bodies hold something
    for name in users:
        assert by_file.get(name, []) == alone[name], name


ARRAY = """import numpy as np


def rows():
    table = np.zeros([4, 7])
    for i in range(4):
        table[i, 1] = 1
    return table


ROWS = rows()
"""

SEEDS = (3, 8, 14, 18, 22)
FORMS = ["({} * {})", "({} + {})", "torch.cat([{}, {}], dim=-1)", "({} @ {})",
         "torch.where({} > 0, {}, x)", "torch.softmax({}, dim=-1) - {}"]


def expression(r, depth):
    if depth == 0:
        return r.choice(["x", "w", "x[..., :2]", "x[:, None]", "w.t()", "2.5", "x.shape[0]"])
    return r.choice(FORMS).format(expression(r, depth - 1), expression(r, depth - 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_array_that_its_maker_fills(tmp_path, seed):
    """What was filled stays known, whatever the memory of earlier files holds by now."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "arrays.py").write_text(ARRAY)
    r = random.Random(seed)
    for i in range(100):
        lines = ["import torch", "import arrays", ""]
        for j in range(r.randrange(1, 7)):
            lines += [f"def f{j}(x, w):", f"    y = {expression(r, r.randrange(1, 4))}",
                      "    return torch.softmax(y, dim=-1) @ x"]
        lines += ["def start(q, k, v):", f"    rows = arrays.ROWS[{i}]", "    rows[..., 3] = 0",
                  "    return torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1) @ v"]
        (folder / f"user{i:02}.py").write_text("\n".join(lines) + "\n")
    assert len(scan(tmp_path, folder, ".", "all")) >= 100
