"""What a shared helper gave one file is nothing that the next file can see.

Results of helpers are kept from file to file. So files are scanned together, and each
in a scan of its own: what is found must not differ.
"""
import json
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
