"""Where an absolute import leads: beside the package, then to the folders around it."""
import json
import subprocess

import pytest

import generated

BINARY = generated.binary()
pytestmark = pytest.mark.skipif(BINARY is None, reason="no npufuse: set NPUFUSE_BIN or build it")

MODEL = '''\
import torch
from mypkg.tools import scale


def norm(x, weight):
    return weight * scale(x)
'''
TOOLS = '''\
import torch


def scale(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
'''


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scan(root, *where, cwd=None):
    """The verdict of the finding in model.py, or None."""
    subprocess.run([BINARY, "scan", *where, "-q", "--no-cache", "-o", str(root / "out")],
                   cwd=str(cwd or root), check=True, capture_output=True, timeout=60)
    found = json.loads((root / "out" / "findings.json").read_text())["findings"]
    return [f["verdict"] for f in found if f["file"].endswith("model.py")]


@pytest.mark.parametrize("package", ["mypkg", "src/mypkg"])
@pytest.mark.parametrize("where", ["relative", "absolute", "below"])
def test_a_package_of_the_repository(tmp_path, package, where):
    write(tmp_path, {"examples/chat/model.py": MODEL, f"{package}/__init__.py": "",
                     f"{package}/tools.py": TOOLS})
    given = {"relative": ".", "absolute": str(tmp_path), "below": "examples"}[where]
    assert scan(tmp_path, given) == ["recommend"]


def test_the_nearest_one_counts(tmp_path):
    near = TOOLS.replace("mean(-1", "mean(1")
    write(tmp_path, {"examples/model.py": MODEL, "examples/mypkg/__init__.py": "",
                     "examples/mypkg/tools.py": near, "mypkg/__init__.py": "",
                     "mypkg/tools.py": TOOLS})
    assert "recommend" not in scan(tmp_path, ".")


def test_not_from_outside_of_what_is_scanned(tmp_path):
    write(tmp_path, {"project/examples/model.py": MODEL, "mypkg/__init__.py": "",
                     "mypkg/tools.py": TOOLS})
    assert scan(tmp_path, str(tmp_path / "project"), cwd="/") == []
    assert scan(tmp_path, ".", cwd=tmp_path / "project") == []
