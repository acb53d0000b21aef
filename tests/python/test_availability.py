"""The emitted file runs wherever the original did: names that a module binds only on some
paths are bound for it, with and without torch_npu."""
import json
import subprocess
import sys
import types

import pytest
import torch

import generated

BINARY = generated.binary()
pytestmark = pytest.mark.skipif(BINARY is None, reason="no npufuse: set NPUFUSE_BIN or build it")

NORM = '''

class Norm(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)
'''
NO = "def no():\n    return False\n"
# What stands above the class; whether that binds torch_npu on every path.
HEADS = {
    "nothing": ("", False),
    "branch": (f"{NO}if no():\n    import torch_npu\n", False),
    "pass": ("try:\n    import torch_npu\nexcept ImportError:\n    pass\n", False),
    "typing": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch_npu\n", False),
    "suppress": ("from contextlib import suppress\n"
                 "with suppress(ImportError):\n    import torch_npu\n", False),
    "loop": ("for _ in ():\n    import torch_npu\n", False),
    "while": (f"{NO}while no():\n    import torch_npu\n    break\n", False),
    "broken_off": ("for i in (0, 1):\n    if i:\n        break\nelse:\n"
                   "    import torch_npu\n", False),
    "one_handler": ("try:\n    import torch_npu\nexcept ValueError:\n    torch_npu = None\n"
                    "except ImportError:\n    other = None\n", False),
    "deleted": ("torch_npu = None\ndel torch_npu\nimport math\n", False),
    "handler_name": ("torch_npu = None\ntry:\n    raise ValueError\n"
                     "except ValueError as torch_npu:\n    pass\nimport math\n", False),
    "case": ("match 1:\n    case 2:\n        import torch_npu\n", False),
    "none": ("try:\n    import torch_npu\nexcept ImportError:\n    torch_npu = None\n", True),
    "both": (f"{NO}if no():\n    import torch_npu\nelse:\n    torch_npu = None\n", True),
    "before": ("torch_npu = None\ntry:\n    import torch_npu\nexcept ImportError:\n"
               "    pass\n", True),
    "finally": ("try:\n    no\nexcept NameError:\n    pass\nfinally:\n    torch_npu = None\n", True),
    "loop_else": ("for _ in ():\n    pass\nelse:\n    torch_npu = None\n", True),
    "all_cases": ("match 1:\n    case 2:\n        import torch_npu\n    case _:\n"
                  "        torch_npu = None\n", True),
    "warnings": ("import warnings\nwith warnings.catch_warnings():\n    torch_npu = None\n", True),
    "leaves": (f"import sys\n{NO}if no():\n    sys.exit(3)\nelse:\n    torch_npu = None\n", True),
}


def scan(folder):
    subprocess.run([BINARY, "scan", ".", "-q", "--no-cache", "-o", str(folder / "out")],
                   cwd=str(folder), check=True, capture_output=True, timeout=60)
    found = json.loads((folder / "out" / "findings.json").read_text())["findings"]
    return [f for f in found if f["family"] == "rms_norm"]


def emitted(folder, source):
    """The text of model.py with its rewrite."""
    (folder / "model.py").write_bytes(source.encode())
    found = scan(folder)
    assert [f["verdict"] for f in found] == ["recommend"], found
    return generated.apply(source, found)


@pytest.fixture
def torch_npu(monkeypatch):
    """Installs a fake one whose operator says that it ran; None: there is none."""
    def install(there):
        calls = []
        fake = types.ModuleType("torch_npu") if there else None
        if fake:
            fake.npu_rms_norm = lambda *a, **k: calls.append(a) or (a[0], None)
        monkeypatch.setitem(sys.modules, "torch_npu", fake)
        return calls
    return install


def run(text):
    """The module, and the norm of numbers on the CPU as it computes it."""
    module = types.ModuleType("emitted")
    module.__file__ = "emitted.py"
    exec(compile(text, "emitted.py", "exec"), module.__dict__)
    x = torch.arange(1.0, 9.0).reshape(2, 4)
    expected = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    torch.testing.assert_close(module.Norm(4)(x), expected)
    return module


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("head", HEADS)
def test_no_path_leaves_torch_npu_unbound(tmp_path, torch_npu, head, there):
    above, always = HEADS[head]
    text = emitted(tmp_path, f"import os\nimport torch\n{above}{NORM}")
    assert ("# npufuse: absent" in text) != always, text
    calls = torch_npu(there)
    run(text)
    assert calls == []  # tensors on the CPU


@pytest.mark.parametrize("above", [
    "from contextlib import suppress\nwith suppress(ImportError):\n    import os\n",
    "if torch.cuda.is_available():\n    import os\n",
    "import os\ndel os\n",
    "",
], ids=["suppress", "branch", "deleted", "below"])
def test_the_switch_has_os(tmp_path, torch_npu, above):
    text = emitted(tmp_path, f"import torch\n{above}{NORM}\n\nimport os\n")
    torch_npu(False)
    run(text)


def test_what_is_deleted_again_is_no_place(tmp_path):
    source = f"import torch\nimport torch_npu{NORM}\n\ndel torch_npu\n"
    (tmp_path / "model.py").write_text(source)
    found, = scan(tmp_path)
    assert (found["verdict"], found["replacement"]) == ("caution", "")
    assert "deletes" in found["reasons"][0]


def test_what_runs_without_torch_still_does(tmp_path):
    """torch that is imported on a condition is not imported without it."""
    source = ("from helper import has_torch\nif has_torch():\n    import torch\n\n\n"
              "def norm(x, weight):\n    h = x.float()\n"
              "    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n"
              "    return weight * h.to(x.dtype)\n")
    text = emitted(tmp_path, source)
    assert "\nimport torch\n" not in text
