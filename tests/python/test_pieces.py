"""Candidates in files with odd heads, ends and encodings: the result parses,
computes, and has the additions where they belong."""
import ast
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

import generated

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse"))
pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary, see NPUFUSE_BIN")

BODY = '''\
class Norm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (h * self.weight).to(x.dtype)


class Activation(torch.nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)
'''
HEADS = {
    "imports": "import torch\n\n\n",
    "blank_lines": "import torch\n\n\n\n\n",
    "no_blank_line": "import torch\n",
    "docstring": '"""Of a model."""\nimport torch\n\n\n',
    "docstring_only": '"""Of a model."""\n',
    "long_docstring_only": '"""Of a model.\n\nIt is long.\n"""\n\n\n',
    "future": "from __future__ import annotations\n\nimport torch\n\n\n",
    "future_only": '"""A."""\n\nfrom __future__ import annotations\n\n\n',
    "guarded": "try:\n    import torch\nexcept ImportError:\n    torch = None\n\n\n",
    "code_first": "SIZE = 16\n\n\n",
    "nothing": "",
    "script": "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\nimport torch\n\n\n",
    "script_only": "#!/usr/bin/env python3\n# coding: utf-8\n",
    "licence_only": "# Some licence.\n# All rights.\n\n\n",
    "comment_of_code": "# What follows is a norm.\n",
    "shared_line": "import torch; SIZES = (\n    1,\n)\n\n\n",
    "continued": "import os; import torch, \\\n    math\n\n\n",
    "all_there": "import os\nimport torch\n\n\n",
    "late_import": "X = 1\nimport torch\n# of the norm\n",
}


def scan(folder, name="model.py"):
    done = subprocess.run([BINARY.resolve(), "scan", "-q", "--format", "json", name],
                          cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return [f for f in json.loads(done.stdout)["findings"] if f["replacement"]]



def run(text):
    module = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), module)
    return module


def check_blank_lines(text, written):
    """Two blank lines around what was written; never more than the file had."""
    assert not re.search(r"\n\n\n\n", text) or "\n\n\n\n" in written
    for match in re.finditer(r"^(def npu_fused_ready|class )", text, re.M):
        before = text[: match.start()]
        comment = re.search(r"(^#.*\n)+\Z", before, re.M)
        if comment:
            before = before[: comment.start()]
        assert not before or before.endswith("\n\n\n"), text


@pytest.mark.parametrize("family", ["both", "rms_norm", "quick_gelu"])
@pytest.mark.parametrize("head", sorted(HEADS))
def test_heads(tmp_path, head, family):
    source = HEADS[head] + BODY
    (tmp_path / "model.py").write_text(source)
    findings = [f for f in scan(tmp_path) if family in ("both", f["family"])]
    assert len(findings) == (2 if family == "both" else 1)
    text = generated.apply(source, findings)
    module = run(text)
    x = torch.randn(2, 16)
    assert module["Norm"](16)(x).shape == x.shape
    assert module["npu_fused_ready"]("npu_rms_norm", x) is False
    assert ast.get_docstring(ast.parse(text)) == ast.get_docstring(ast.parse(source))
    for line in ("import torch_npu", "def npu_fused_ready", "import os"):
        assert len(re.findall(r"^ *%s\b" % line, text, re.M)) == 1, text
    check_blank_lines(text, source)
    lines = source.splitlines()
    for number, line in enumerate(lines[:2]):
        if line.startswith("#!") or "coding" in line:
            assert text.splitlines()[number] == line


def test_the_additions_of_two_families(tmp_path):
    """As they read in the file."""
    source = HEADS["imports"] + BODY
    (tmp_path / "model.py").write_text(source)
    text = generated.apply(source, scan(tmp_path))
    assert text[: text.index("class Norm")] == '''\
import torch
import os

try:  # npufuse: absent, or present without a working driver
    import torch_npu
except Exception:
    torch_npu = None

NPUFUSE_QUICK_GELU = os.environ.get("NPUFUSE_QUICK_GELU", "1") != "0"

NPUFUSE_RMS_NORM = os.environ.get("NPUFUSE_RMS_NORM", "1") != "0"


def npu_fused_ready(operator, *tensors):
    """Whether torch_npu has `operator` and every tensor is on an NPU."""
    return hasattr(torch_npu, operator) and all(
        t.device.type == "npu" for t in tensors
    )


'''


FORMS = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "no_last_line_end": lambda text: text.rstrip("\n").encode(),
    "latin": lambda text: b"# coding: latin-1\n" + text.encode() + b"NAME = '\xe9'\n",
    "gb18030": lambda text: b"# coding: gb18030\n" + text.encode()
    + "NAME = '融合'\n".encode("gb18030"),
    "all_at_once": lambda text: b"\xef\xbb\xbf"
    + text.rstrip("\n").replace("    ", "\t").replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_forms(tmp_path, form):
    data = FORMS[form](HEADS["imports"] + BODY)
    (tmp_path / "model.py").write_bytes(data)
    findings = scan(tmp_path)
    assert len(findings) == 2
    end = {"crlf": "\r\n", "all_at_once": "\r\n", "cr": "\r"}.get(form, "\n")
    for finding in findings:
        texts = [finding["replacement"], *(i["text"] for i in finding["inserts"])]
        for text in texts:
            assert set(re.findall(r"\r\n|\r|\n", text)) == {end}
        assert finding["replacement"].endswith(("\n", "\r")) == finding["original"].endswith(
            ("\n", "\r"))
