"""Inputs that are no good: a clear message, the right exit code, and the rest
of the scan as if nothing was.

Every folder holds a good file beside the bad one; its RMSNorm must be found.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import generated
import pytest

BINARY = generated.binary()
pytestmark = pytest.mark.skipif(
    BINARY is None, reason="no npufuse: set NPUFUSE_BIN or build it")

GOOD = '''\
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
LIMIT_S = 60


def scan(folder, *words, stdin=None, **options):
    """The finished run of `npufuse scan . words` in the folder."""
    return subprocess.run(
        [str(BINARY), "scan", *(words or (".",))], cwd=str(folder), text=False,
        input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=LIMIT_S, **options)


def findings(folder):
    path = Path(folder, "fusion_verify", "findings.json")
    return json.loads(path.read_text(encoding="utf-8"))


def recommended(folder):
    return sorted(f["file"] for f in findings(folder)["findings"]
                  if f["verdict"] == "recommend")


def reasons(folder, name):
    return [s["reason"] for s in findings(folder)["skipped"]
            if s["file"] == name]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    return tmp_path


WHOLE_FILE = {
    "no UTF-8": (b"x = '\xff\xfe'\n", "UTF-8"),
    "an unknown encoding": (b"# coding: no-such-code\nx = 1\n", "no-such-code"),
    "NUL bytes": (b"x = 1\n\0\n", "null byte|NUL"),
}


@pytest.mark.parametrize("name", WHOLE_FILE)
def test_a_file_that_is_no_text_is_named_and_passed_over(folder, name):
    data, words = WHOLE_FILE[name]
    (folder / "bad.py").write_bytes(data)
    run = scan(folder, "-v", ".")
    assert run.returncode == 0, run.stderr
    assert recommended(folder) == ["good.py"]
    (reason,) = reasons(folder, "bad.py")
    assert any(w.lower() in reason.lower() for w in words.split("|")), reason
    assert b"bad.py" in run.stderr


READABLE = {
    "latin-1": ("# coding: latin-1\n# caf\xe9\n" + GOOD).encode("latin-1"),
    "gbk": ("# coding: gbk\n# \u5f52\u4e00\u5316\n" + GOOD).encode("gbk"),
    "a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "CRLF": GOOD.replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("name", READABLE)
def test_other_encodings_are_read(folder, name):
    (folder / "other.py").write_bytes(READABLE[name])
    assert scan(folder).returncode == 0
    assert recommended(folder) == ["good.py", "other.py"]
    assert reasons(folder, "other.py") == []


def test_a_syntax_error_does_not_hide_the_rest_of_its_file(folder):
    (folder / "bad.py").write_text("def f(:\n    return\n\n\n" + GOOD)
    run = scan(folder)
    assert run.returncode == 0
    assert recommended(folder) == ["bad.py", "good.py"]
    assert b"bad.py:1:" in run.stderr
    assert scan(folder, "--strict", ".").returncode == 1


LARGE = {
    "a line of 10 MB": "x = '" + "a" * 10_000_000 + "'\n",
    "20,000 parentheses": "x = " + "(" * 20000 + "1" + ")" * 20000 + "\n",
    "a function of 100,000 lines":
        "def f(x):\n" + "    x = x * 2\n" * 100_000 + "    return x\n",
    "5,000 branches": "def f(x, k):\n" + "".join(
        "    if k == %d:\n        x = x * %d\n" % (i, i)
        for i in range(5000)) + "    return x.rsqrt()\n",
    "1,000 levels": "def f(x):\n    return " + "-" * 990 + "x * x\n",
    "a product of 1,000": "def f(x):\n    return x.sqrt()"
        + " * x.sqrt()" * 1000 + "\n",
}


@pytest.mark.parametrize("name", LARGE)
def test_large_code_ends_and_the_rest_is_scanned(folder, name):
    (folder / "bad.py").write_text(LARGE[name])
    run = scan(folder)
    assert run.returncode == 0, run.stderr
    assert recommended(folder) == ["good.py"]


def test_20000_parentheses_are_a_fault_with_a_line(folder):
    (folder / "bad.py").write_text(LARGE["20,000 parentheses"])
    assert b"bad.py:1:" in scan(folder).stderr


def test_a_function_read_in_part_is_said(folder):
    (folder / "bad.py").write_text(LARGE["a function of 100,000 lines"]
                                   .replace("x * 2", "x.rsqrt() * 2"))
    assert scan(folder).returncode == 0
    assert len(reasons(folder, "bad.py")) == 1


def test_links_in_a_circle_end(folder):
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "self.py").symlink_to("self.py")
    assert scan(folder).returncode == 0
    assert recommended(folder) == ["good.py"]


def drop_root():
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def scan_as_nobody(folder, *words):
    """A scan without root's rights, of a copy of the program that anyone can
    reach, in a folder that anyone can enter."""
    home = folder / ".program"
    home.mkdir()
    shutil.copy2(str(BINARY), str(home / "npufuse"))
    for name in ("rules", "ops"):
        shutil.copytree(str(generated.ROOT / name), str(home / name))
    for path in (folder, *folder.parents):
        if os.stat(path).st_uid == os.getuid() and path != Path("/"):
            os.chmod(path, os.stat(path).st_mode | 0o055)
    return subprocess.run(
        [str(home / "npufuse"), "scan", *words], cwd=str(folder),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S,
        preexec_fn=drop_root,
        env=dict(os.environ, NPUFUSE_RULES=str(home / "rules")))


def test_an_unreadable_file_is_named(folder):
    (folder / "bad.py").write_text(GOOD)
    (folder / "bad.py").chmod(0)
    folder.chmod(0o777)
    run = scan_as_nobody(folder, "-v", ".")
    assert run.returncode == 0, run.stderr
    assert recommended(folder) == ["good.py"]
    assert "ermission denied" in reasons(folder, "bad.py")[0]


def test_an_output_that_cannot_be_written(folder):
    out = folder / "out"
    out.mkdir()
    out.chmod(0o555)
    run = scan_as_nobody(folder, ".", "-o", "out/deep")
    assert run.returncode == 2
    assert b"out/deep" in run.stderr
    assert list(out.iterdir()) == []


def small_disk():
    """Writing more than 2 kB fails as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


def test_a_full_disk_keeps_what_was_there(folder):
    assert scan(folder).returncode == 0
    before = Path(folder, "fusion_verify", "findings.json").read_bytes()
    (folder / "more.py").write_text(GOOD)
    run = scan(folder, preexec_fn=small_disk)
    assert run.returncode == 2
    assert b"findings.json" in run.stderr
    after = Path(folder, "fusion_verify")
    assert (after / "findings.json").read_bytes() == before
    assert not [p for p in after.iterdir() if p.suffix == ".tmp"]


def test_a_missing_path_and_a_folder_without_python(tmp_path):
    run = scan(tmp_path, "nowhere.py")
    assert run.returncode == 2 and b"nowhere.py" in run.stderr
    (tmp_path / "empty").mkdir()
    run = scan(tmp_path, "empty")
    assert run.returncode == 2 and b"no Python files" in run.stderr
    assert not (tmp_path / "fusion_verify").exists()


def test_standard_input_that_is_garbage(tmp_path):
    run = scan(tmp_path, "-", stdin=bytes(range(256)) * 64)
    assert run.returncode == 0
    assert findings(tmp_path)["findings"] == []
    assert len(findings(tmp_path)["skipped"]) == 1


@pytest.mark.parametrize("text", ("", "# only a comment\n", "\n\n\n", "\f"))
def test_files_without_code(folder, text):
    (folder / "bare.py").write_text(text)
    run = scan(folder)
    assert run.returncode == 0 and recommended(folder) == ["good.py"]
    assert reasons(folder, "bare.py") == []


CYCLES = '''\
class A(B):
    pass


class B(A):
    def forward(self, x):
        return self.act(x) * self.up(x)


def f(x=lambda: f()):
    return g(x) * x.rsqrt()


def g(x):
    return f(x) * x.rsqrt()
'''


def test_definitions_in_circles_end(folder):
    (folder / "bad.py").write_text("from other import *\n" + CYCLES)
    (folder / "other.py").write_text("from bad import *\n" + CYCLES)
    assert scan(folder).returncode == 0
    assert "good.py" in recommended(folder)


def test_the_filter_leaves_nothing_out(folder):
    source = Path(__file__).resolve().parent / "exec"
    for path in source.glob("*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    scan(folder)
    filtered = findings(folder)["findings"]
    scan(folder, "--no-filter", ".")
    assert [f["id"] for f in findings(folder)["findings"]] == \
        [f["id"] for f in filtered]
    assert len(filtered) > 20


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
