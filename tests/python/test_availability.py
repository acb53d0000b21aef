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


# ---- the project's own opinion --------------------------------------------------

HELPERS = {
    "find_spec": "import importlib.util\n\ndef is_npu_ok():\n"
                 "    return importlib.util.find_spec('torch_npu') is not None\n",
    "spec": "from importlib.util import find_spec\n\ndef is_npu_ok():\n"
            "    spec = find_spec('torch_npu')\n    if spec is None:\n"
            "        return False\n    return True\n",
    "hasattr": "import torch\n\ndef is_npu_ok():\n"
               "    return hasattr(torch, 'npu') and torch.npu.is_available()\n",
    "import": "from functools import lru_cache\n\n@lru_cache(maxsize=None)\n"
              "def is_npu_ok(check=False):\n    try:\n        import torch_npu\n"
              "    except ImportError:\n        return False\n    return True\n",
    "flag": "def is_npu_ok():\n    ok = False\n    try:\n        import torch_npu\n"
            "        ok = True\n    except Exception:\n        pass\n    return ok\n",
    "installed": "import importlib.util\n\ndef _there(name):\n"
                 "    return importlib.util.find_spec(name) is not None\n\n"
                 "def is_npu_ok():\n    return _there('torch_npu')\n",
    "constant_of": "import importlib.util\n_HAS = importlib.util.find_spec('torch_npu') is not None\n"
                   "\ndef is_npu_ok():\n    return _HAS\n",
}
NOT_HELPERS = {
    "other_package": "import importlib.util\n\ndef is_npu_ok():\n"
                     "    return importlib.util.find_spec('triton') is not None\n",
    "missing": "import importlib.util\n\ndef is_npu_ok():\n"
               "    return importlib.util.find_spec('torch_npu') is None\n",
    "or_gpu": "import torch\n\ndef is_npu_ok():\n"
              "    return hasattr(torch, 'npu') or torch.cuda.is_available()\n",
    "handler": "def is_npu_ok():\n    try:\n        import torch_npu\n"
               "    except ImportError:\n        return True\n    return True\n",
    "environment": "import os\n\ndef is_npu_ok():\n    return bool(os.getenv('USE_NPU'))\n",
    "never": "def is_npu_ok():\n    return False\n",
    "argument": "import torch\n\ndef is_npu_ok(device):\n"
                "    return hasattr(torch, 'npu') and device == 'npu'\n",
    "generator": "import torch\n\ndef is_npu_ok():\n    yield hasattr(torch, 'npu')\n"
                 "    return hasattr(torch, 'npu')\n",
}
CONSTANTS = {
    "find_spec": "import importlib.util\nHAS_NPU = importlib.util.find_spec('torch_npu') is not None\n",
    "import": "try:\n    import torch_npu\n    HAS_NPU = True\n"
              "except ImportError:\n    HAS_NPU = False\n",
    "else": "try:\n    import torch_npu\nexcept ImportError:\n    HAS_NPU = False\n"
            "else:\n    HAS_NPU = True\n",
}
ASKS = '    if not {}:\n        raise ImportError("torch_npu")\n    import torch_npu\n'
USES = "from ops import is_npu_ok\nimport torch\n"


def availability(folder, source, ops):
    (folder / "ops.py").write_text(ops)
    (folder / "model.py").write_text(source)
    found = [f for f in scan(folder) if f["file"] == "model.py"]
    facts = [fact for fact in found[0]["facts"] if fact["name"] == "availability"]
    return generated.apply(source, found), facts


@pytest.mark.parametrize("helper", HELPERS)
def test_a_helper_by_what_it_computes(tmp_path, helper):
    text, (fact,) = availability(tmp_path, USES + NORM, HELPERS[helper])
    assert ASKS.format("is_npu_ok()") in text
    line = HELPERS[helper].split("def is_npu_ok")[0].count("\n") + 1
    place, = fact["chain"]
    assert (fact["state"], place["file"]) == ("proven", "ops.py")
    assert line - 1 <= place["start_line"] <= line


@pytest.mark.parametrize("helper", NOT_HELPERS)
def test_a_name_alone_is_none(tmp_path, helper):
    text, facts = availability(tmp_path, USES + NORM, NOT_HELPERS[helper])
    assert "if not" not in text.split("import torch_npu")[0] and not facts


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant(tmp_path, constant):
    source = "from ops import HAS_NPU\nimport torch\n" + NORM
    text, (fact,) = availability(tmp_path, source, CONSTANTS[constant])
    assert ASKS.format("HAS_NPU") in text and fact["chain"][0]["file"] == "ops.py"


def test_a_constant_of_the_file_itself(tmp_path):
    source = "import importlib.util\n" + CONSTANTS["find_spec"].split("\n")[1] + "\nimport torch\n"
    text, _ = availability(tmp_path, source + NORM, "")
    assert ASKS.format("HAS_NPU") in text


@pytest.mark.parametrize("above", [
    "from ops import is_npu_ok\nimport torch\nif is_npu_ok():\n    import torch_npu\n",
    "from outside import is_npu_ok\nimport torch\nif True and is_npu_ok():\n    import torch_npu\n",
    "from transformers.utils import is_torch_npu_available as is_npu_ok\nimport torch\n",
], ids=["project", "outside", "known"])
def test_a_helper_by_its_use(tmp_path, above):
    ops = "import os\n\ndef is_npu_ok():\n    return os.path.exists('/dev/davinci0')\n"
    text, (fact,) = availability(tmp_path, above + NORM, ops)
    assert ASKS.format("is_npu_ok()") in text and fact["state"] == "proven"


@pytest.mark.parametrize("source", [
    "import torch\n" + NORM,
    "import torch\nif torch.cuda.is_available():\n    from ops import is_npu_ok\n" + NORM,
    "import torch\n" + NORM + "\n\nfrom ops import is_npu_ok\n",
    "from ops import is_npu_ok\ndel is_npu_ok\nimport torch\n" + NORM,
], ids=["not_imported", "on_a_condition", "below", "deleted"])
def test_one_elsewhere_is_shown(tmp_path, source):
    text, (fact,) = availability(tmp_path, source, HELPERS["find_spec"])
    assert "if not" not in text.split("import torch_npu")[0]
    assert (fact["state"], fact["chain"][0]["file"], fact["chain"][0]["start_line"]) == \
        ("unknown", "ops.py", 3)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("answer", [False, True, "raise"])
def test_the_helper_is_asked(tmp_path, torch_npu, monkeypatch, there, answer):
    text, _ = availability(tmp_path, USES + NORM, HELPERS["hasattr"])
    torch_npu(there)
    asked = []

    def is_npu_ok():
        asked.append(1)
        if answer == "raise":
            raise RuntimeError("no driver")
        return answer

    ops = types.ModuleType("ops")
    ops.is_npu_ok = is_npu_ok
    monkeypatch.setitem(sys.modules, "ops", ops)
    module = run(text)
    assert asked and (module.torch_npu is not None) == (there and answer is True)
    assert module.npu_fused_ready("npu_rms_norm") == (there and answer is True)


def test_kept_findings_follow_the_helper(tmp_path, monkeypatch):
    """A scan that is kept rests on the helper's file too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "model.py").write_text(USES + NORM)
    for name, asks in (("find_spec", True), ("missing", False), ("find_spec", True)):
        (project / "ops.py").write_text({**HELPERS, **NOT_HELPERS}[name])
        subprocess.run([BINARY, "scan", "model.py", "-q", "-o", "out"], cwd=str(project),
                       check=True, capture_output=True, timeout=60)
        found = json.loads((project / "out" / "findings.json").read_text())["findings"]
        assert any("is_npu_ok()" in i["text"] for i in found[0]["inserts"]) == asks


# ---- other names, and TorchScript ------------------------------------------------

@pytest.mark.parametrize("above", [
    "from torch import *\n", "from numpy import *\n", "\n\ndef all(x):\n    return x.foo\n",
    "from os import path as os\n", "import os.path\n", "import os.path as os\n",
], ids=["torch", "numpy", "own", "path", "part", "path_as"])
def test_names_of_another_meaning(tmp_path, torch_npu, above):
    """`all` of torch or numpy, an `os` that is something else."""
    text = emitted(tmp_path, f"import torch\n{above}{NORM}")
    calls = torch_npu(True)
    run(text)
    assert calls == []


SCRIPTED = {
    "decorated": ("@torch.jit.script\n", "", "caution"),
    "traced": ("@torch.jit.script_if_tracing\n", "", "caution"),
    "handed": ("", "fast = torch.jit.script(norm)\n", "caution"),
    "called": ("", "@torch.jit.script\ndef twice(x, w):\n    return norm(norm(x, w), w)\n",
               "caution"),
    "handed_caller": ("", "def twice(x, w):\n    return norm(x, w)\n\n\n"
                          "fast = torch.jit.script(twice)\n", "caution"),
    "called_between": ("", "def twice(x, w):\n    return norm(norm(x, w), w)\n\n\n"
                           "def often(x, w):\n    return twice(twice(x, w), w)\n\n\n"
                           "@torch.jit.script\ndef most(x, w):\n    return often(x, w)\n",
                       "caution"),
    "object": ("", "def build(kind):\n    return torch.jit.script(kind())\n", "caution"),
    "other": ("", "def plus(x, y):\n    return x + y\n\n\nfast = torch.jit.script(plus)\n",
              "recommend"),
    "beside": ("", "def twice(x, w):\n    return norm(norm(x, w), w)\n\n\n"
                   "def half(x):\n    return x / 2\n\n\n"
                   "@torch.jit.script\ndef quarter(x):\n    return half(half(x))\n", "recommend"),
    "loaded": ("", "def load(path):\n    return torch.jit.load(path)\n", "recommend"),
}


@pytest.mark.parametrize("form", SCRIPTED)
def test_what_torchscript_compiles_stays(tmp_path, form):
    above, below, verdict = SCRIPTED[form]
    (tmp_path / "model.py").write_text(
        f"import torch\n\n\n{above}def norm(x, weight):\n    h = x.float()\n"
        "    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n"
        f"    return weight * h.to(x.dtype)\n\n\n{below}")
    found, = scan(tmp_path)
    assert (found["verdict"], bool(found["replacement"])) == (verdict, verdict == "recommend")
    if verdict == "caution":
        assert any("TorchScript" in reason for reason in found["reasons"])
