"""Code of odd sizes: a scan ends, finds what is there, and says what it left out.

What is compared are counts; the memory of the process is bounded, with room.
"""
import json
import os
import sys

import pytest

import generated

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

HEAD = "import torch\nimport torch.nn.functional as F\n\n"
NORM = "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w"
BIG = "too much code that is joined: dtypes are known in part"


def norm(*lines, arguments="x, w, n, eps=1e-6"):
    body = "".join(f"    {line}\n" for line in lines)
    return f"{HEAD}def f({arguments}):\n{body}    return {NORM}\n"


def nested(open_, inner, close, depth):
    return norm("y = " + open_ * depth + inner + close * depth)


def functions(count, line):
    return HEAD + "\n".join(f"def f{i}(x, w, eps=1e-6):\n    return {line.format(i + 1)}\n"
                            for i in range(count))


def branches(word, count, line):
    return [f"if n == -1:\n        x = x + 1"] + [
        f"{word} n == {i}:\n        {line.format(i)}" for i in range(count)]


def doubling(count):
    rest = "".join(f"def g{i}(x):\n    return g{i - 1}(x) * g{i - 1}(x + 1)\n\n"
                   for i in range(1, count))
    return (HEAD + "def g0(x):\n    a, b = x.chunk(2, -1)\n    return F.silu(a) * b\n\n" + rest)


def methods(count):
    return HEAD + "class A(torch.nn.Module):\n" + "\n".join(
        f"    def m{i}(self, x):\n"
        f"        return self.m{(i * 7 + 3) % count}(x) * F.silu(self.m{(i * 11 + 5) % count}(x))\n"
        for i in range(count))


def layers(count, line):
    return (HEAD + "def f(x, q, k, v):\n" + "".join(f"    {line.format(i)}\n"
                                                    for i in range(1, count)) + "    return x, q\n")


def subclasses(count):
    return (HEAD + "class C0(torch.nn.Module):\n    def forward(self, x):\n"
            "        return F.silu(self.p(x)) * self.q(x)\n\n" + "".join(
                f"class C{i}(C{i - 1}):\n    def forward(self, x):\n"
                "        return super().forward(x) * F.silu(x)\n\n" for i in range(1, count)))


ATTENTION = "q = (q @ k.transpose(-1, -2) * 0.1).softmax(-1) @ v"

# name: source, findings that are no reject, what is skipped: (line, reason).
CASES = {
    "5000 ifs": (norm(*branches("if", 5000, "x = x * {}")), 1, []),
    "5000 elifs": (norm(*branches("elif", 5000, "x = x * {}")), 1,
                   [(4007, "too many branches")]),
    "5000 ifs, a norm in each": (
        norm(*branches("if", 5000, "x = " + NORM)), 5001, [(1, BIG)]),
    "1000 brackets": (nested("(", "x", " + 1)", 1000), 1, [(5, "too deeply nested")]),
    "1000 calls": (nested("torch.sin(", "x", ")", 1000), 1, [(5, "too deeply nested")]),
    "1000 lists": (nested("[", "x", "]", 1000), 1, [(5, "too deeply nested")]),
    "300 brackets": (nested("(", "x", " + 1)", 300), 1, []),
    "5000 attributes": (norm("y = x" + ".a" * 5000), 1, [(5, "expression too long")]),
    "20000 terms": (norm("y = " + " + ".join(["x"] * 20000)), 1,
                    [(5, "expression too long")]),
    "a tuple of 200000": (
        "T = (" + ", ".join(map(str, range(200000))) + ",)\n" + norm(), 1, []),
    "a dict of 50000": (
        "import torch\nT = {" + ", ".join(f"'k{i}': torch.nn.SiLU" for i in range(50000)) +
        "}\n" + norm(), 1, []),
    "10000 functions": (functions(10000, NORM), 10000, []),
    "3000 functions, each calls the next": (
        # The last one calls what is not there.
        functions(3000, "f{}(x, w) * F.silu(x)"), 2999, []),
    "helpers that call twice": (doubling(60), 1, []),
    "300 methods that call each other": (methods(300), 300, []),
    "1000 classes, each of the one before": (subclasses(1000), 1000, []),
    "3000 layers": (layers(3000, "x = torch.cat((x, x[..., :{}]), -1) * F.silu(x)"), 2999,
                    [(1, BIG)]),
    "1000 attentions": (layers(1000, ATTENTION), 999, []),
    "5000 parameters": (
        HEAD + "def f(" + ", ".join(f"p{i}=None" for i in range(5000)) +
        "):\n    return F.silu(p0) * p1\n", 1, []),
}

MEGABYTES = 700  # 10,000 candidates of one file hold 410
SANITIZED = generated.binary() is not None and b"__asan_init" in open(
    generated.binary(), "rb").read()


def scan(folder):
    """findings.json, and the most memory that the process had, in MB."""
    command = [generated.binary(), "scan", str(folder / "in"), "-o", str(folder / "out"), "-q",
               "--no-cache"]
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return json.loads((folder / "out" / "findings.json").read_text()), usage.ru_maxrss / scale


def write(folder, files):
    (folder / "in").mkdir()
    for name, text in files.items():
        (folder / "in" / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_one_file(tmp_path, name):
    text, count, skipped = CASES[name]
    write(tmp_path, {"m.py": text})
    found, megabytes = scan(tmp_path)
    assert sum(f["verdict"] != "reject" for f in found["findings"]) == count
    assert [(s["line"], s["reason"]) for s in found["skipped"]] == skipped
    assert SANITIZED or megabytes < MEGABYTES


def test_names_through_500_files(tmp_path):
    """A name is followed through many modules, or it stays unknown: no more."""
    files = {f"m{i}.py": f"from m{i + 1} import norm\n" for i in range(500)}
    files["m500.py"] = norm().replace("def f(", "def norm(")
    files["use.py"] = ("import torch\nfrom m0 import norm\n\ndef f(x, w):\n"
                       "    return norm(x, w, 1) * torch.nn.functional.silu(x)\n")
    write(tmp_path, files)
    found, _ = scan(tmp_path)
    assert found["counts"]["files"] == 502
    assert ("m500.py", "rms_norm") in {(f["file"], f["family"]) for f in found["findings"]}


def test_files_that_import_each_other(tmp_path):
    files = {f"m{i}.py": f"from m{(i + 1) % 100} import *\nfrom m{(i + 7) % 100} import norm\n"
             f"import m{(i + 3) % 100}\n" for i in range(100)}
    files["use.py"] = norm() + "\nfrom m0 import norm, act\n"
    write(tmp_path, files)
    found, _ = scan(tmp_path)
    assert found["counts"]["files"] == 101
    assert [f["family"] for f in found["findings"]] == ["rms_norm"]
    assert found["skipped"] == []


LONG_BLOCK = '''import torch
from torch import nn

ACTIVATIONS = {"silu": nn.SiLU(), "gelu": nn.GELU()}


class Heads(nn.Module):
    def probabilities(self, q, k):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.125, dim=-1)


class Model(nn.Module):
    def __init__(self, size, act="silu", dim=-1):
        super().__init__()
        self.act = ACTIVATIONS[act]
        self.dim = dim
        self.gate, self.up = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x, heads: Heads, q, k, v):
%s
        y = x * torch.rsqrt(x.pow(2).mean(self.dim, keepdim=True) + 1e-6)
        z = self.act(self.gate(y)) * self.up(y)
        return z, torch.matmul(heads.probabilities(q, k), v)
'''


def test_what_is_tested_of_code_in_a_long_block(tmp_path):
    """Defaults, activations and annotations are no guards where nothing can be written."""
    lines = "\n".join(f"        a{i} = x + {i}" for i in range(230))
    write(tmp_path, {"model.py": LONG_BLOCK % lines})
    found = scan(tmp_path)[0]["findings"]
    assert sorted(f["family"] for f in found) == ["attention", "rms_norm", "swiglu"]
    for finding in found:
        assert finding["verdict"] == "caution" and not finding["replacement"]
        assert finding["reasons"][0] == "no place to write it: its block is too long"
