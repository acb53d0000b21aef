"""`scan --format sarif`: its fixes, applied as SARIF 2.1.0 says, give the text that
`npufuse apply` writes, whatever ends the lines of the file."""
import json
import re
import subprocess
import urllib.parse

import generated
import pytest

BINARY = generated.binary()
pytestmark = pytest.mark.skipif(
    BINARY is None, reason="no npufuse: set NPUFUSE_BIN or build it")

MODEL = '''\
# \u2028 \x0c is no end of a line of Python
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (h * self.weight).type_as(x)
'''
FORMS = {
    "plain.py": MODEL,
    "no end.py": MODEL.rstrip("\n"),
    "crlf.py": MODEL.replace("\n", "\r\n"),
    "crlf%no,end.py": MODEL.rstrip("\n").replace("\n", "\r\n"),
    "cr.py": MODEL.replace("\n", "\r"),
    "b\u00fc#m:.py": "\ufeff" + MODEL,
}


def npufuse(*words, cwd):
    done = subprocess.run([str(BINARY), *words], cwd=cwd, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def applied(text, replacements, ends):
    """The text with the replacements, whose regions count in lines and columns."""
    ends = sorted(ends, key=len, reverse=True)
    starts = [0] + [m.end() for m in re.finditer("|".join(map(re.escape, ends)), text)]
    edits = []
    for place, replacement in enumerate(replacements):
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        if "endColumn" in region:
            end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        else:
            end = len((text + "\n")[:(starts + [len(text)])[region["endLine"]]])
        edits.append((start, place, end, replacement["insertedContent"]["text"]))
    for start, _, end, inserted in sorted(edits, reverse=True):
        text = text[:start] + inserted + text[end:]
    return text


def test_fixes_are_what_apply_writes(tmp_path):
    for name, text in FORMS.items():
        (tmp_path / name).write_bytes(text.encode())
    run = json.loads(npufuse("scan", ".", "--format", "sarif", "-q", cwd=tmp_path))["runs"][0]
    fixed = {}
    for result in run["results"]:
        change = result["fixes"][0]["artifactChanges"][0]
        name = urllib.parse.unquote(change["artifactLocation"]["uri"])
        fixed[name] = applied(FORMS[name], change["replacements"], run["newlineSequences"])
        identity = result["partialFingerprints"]["npufuse/v1"]
        npufuse("confirm", identity, "--statement", "yes", cwd=tmp_path)
    npufuse("apply", "--unverified", cwd=tmp_path)
    assert sorted(fixed) == sorted(FORMS)
    for name, text in fixed.items():
        assert (tmp_path / name).read_bytes() == text.encode(), name
        assert "npu_rms_norm" in text


def test_regions_lie_in_the_file(tmp_path):
    (tmp_path / "m.py").write_text(MODEL.rstrip("\n"))
    run = json.loads(npufuse("scan", "m.py", "--format", "sarif", "-q", cwd=tmp_path))["runs"][0]
    (result,) = run["results"]
    last = MODEL.count("\n")
    for replacement in result["fixes"][0]["artifactChanges"][0]["replacements"]:
        assert replacement["deletedRegion"]["endLine"] <= last
