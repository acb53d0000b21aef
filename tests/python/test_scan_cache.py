"""A scan of an unchanged project is remembered, and of no other."""
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import generated

BINARY = generated.binary()
pytestmark = pytest.mark.skipif(BINARY is None, reason="no npufuse: set NPUFUSE_BIN or build it")

NORM = '''\
import torch
from torch import nn
from helpers import scale


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.weight * scale(x)
'''
HELPER = '''\
import torch


def scale(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
'''


class World:
    def __init__(self, root):
        self.root = root
        self.project = root / "project"
        (self.project / "model").mkdir(parents=True)
        self.file = self.project / "model" / "norm.py"
        self.file.write_text(NORM)
        self.helper = self.project / "model" / "helpers.py"
        self.helper.write_text(HELPER)
        self.env = dict(os.environ, XDG_CACHE_HOME=str(root / "cache"), HOME=str(root),
                        LANG="C.UTF-8")
        self.env.pop("VIRTUAL_ENV", None)

    def scan(self, *words, cwd=None):
        """The findings, and whether they were remembered."""
        before = self.kept()
        done = subprocess.run([BINARY, "scan", *(words or ("model",)), "-q"],
                              cwd=str(cwd or self.project), env=self.env,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        after = self.kept()
        text = Path(cwd or self.project, "fusion_verify", "findings.json").read_text()
        return json.loads(text), before == after and before != {}

    def kept(self):
        return {p.name: p.stat().st_mtime_ns
                for p in (self.root / "cache" / "npufuse").glob("scan-*")}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_the_same_project(world):
    first, remembered = world.scan()
    assert not remembered and [f["verdict"] for f in first["findings"]] == ["recommend"] * 2
    text = (world.project / "fusion_verify" / "findings.json").read_bytes()
    report = (world.project / "fusion_verify" / "report.md").read_bytes()
    again, remembered = world.scan()
    assert remembered and again == first
    assert (world.project / "fusion_verify" / "findings.json").read_bytes() == text
    assert (world.project / "fusion_verify" / "report.md").read_bytes() == report


@pytest.mark.parametrize("name", ["findings.json", "report.md"])
def test_what_is_there_already_stays(world, name):
    world.scan()
    path = world.project / "fusion_verify" / name
    text, written = path.read_bytes(), path.stat().st_mtime_ns
    world.scan("model", "--jobs", "1")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (text, written)
    path.write_bytes(text[:-2] + b"x\n")  # of the same size
    world.scan()
    assert path.read_bytes() == text


def test_what_is_touched_only(world):
    first, _ = world.scan()
    os.utime(world.file, (time.time() + 100, time.time() + 100))
    assert world.scan() == (first, True)


@pytest.mark.parametrize("change", ["file", "helper"])
def test_a_changed_byte(world, change):
    first, _ = world.scan()
    path = getattr(world, change)
    stat = path.stat()
    path.write_text(path.read_text().replace("weight * scale", "weight + scale")
                    .replace("mean(-1", "mean(-2"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # the date says nothing
    found, remembered = world.scan()
    assert not remembered
    assert [f["verdict"] for f in first["findings"]].count("recommend") == 2
    assert [f["verdict"] for f in found["findings"]].count("recommend") < 2


def test_a_helper_outside_of_what_is_scanned(world):
    world.helper.rename(world.project / "helpers.py")
    world.file.write_text(NORM.replace("from helpers", "from ..helpers"))
    (world.project / "__init__.py").write_text("")
    (world.project / "model" / "__init__.py").write_text("")
    first, _ = world.scan()
    assert [f["verdict"] for f in first["findings"]] == ["recommend"]
    assert world.scan()[1]
    outside = world.project / "helpers.py"
    outside.write_text(HELPER.replace("pow(2)", "pow(3)"))
    found, remembered = world.scan()
    assert not remembered and "recommend" not in [f["verdict"] for f in found["findings"]]


def test_a_module_that_was_missing(world):
    world.helper.unlink()
    first, _ = world.scan()
    assert first["findings"] == [] and world.scan()[1]
    world.helper.write_text(HELPER)
    found, remembered = world.scan()
    assert not remembered and len(found["findings"]) == 2


def test_a_new_and_a_removed_file(world):
    world.scan()
    other = world.project / "model" / "other.py"
    other.write_text(HELPER)
    found, remembered = world.scan()
    assert not remembered and len(found["findings"]) == 3
    other.unlink()
    assert len(world.scan()[0]["findings"]) == 2


def test_other_questions(world):
    world.scan()
    for words in (("model", "--rule", "rms_norm"), ("model", "--no-filter"),
                  ("model/norm.py",), (".",)):
        assert not world.scan(*words)[1], words
    assert world.scan("model", "--jobs", "1")[1]
    assert world.scan("model", "--format", "json")[1]


def test_rules_of_the_user(world):
    rules = world.root / "own"
    shutil.copytree(Path(__file__).resolve().parents[1] / "rules", rules)
    words = ("model", "--rules", str(rules / "rules"))
    world.scan(*words)
    assert world.scan(*words)[1]
    operator = sorted((rules / "ops").glob("*.py"))[0]
    operator.write_text(operator.read_text() + "\n# changed\n")
    assert not world.scan(*words)[1]


def test_without_a_cache(world):
    world.scan()
    kept = world.kept()
    found, _ = world.scan("model", "--no-cache")
    assert len(found["findings"]) == 2 and world.kept() == kept
    world.env["XDG_CACHE_HOME"] = "/dev/null/nowhere"
    assert len(world.scan()[0]["findings"]) == 2


def test_damaged(world):
    first, _ = world.scan()
    for path in sorted((world.root / "cache" / "npufuse").glob("scan-*")):
        whole = path.read_bytes()
        for damaged in (b"", whole[:50], whole[:-5], whole.replace(b"0", b"1", 1)):
            path.write_bytes(damaged)
            assert world.scan()[0] == first
            path.write_bytes(whole)


def test_old_ones_go(world):
    for i in range(20):
        (world.project / "model" / ("f%d.py" % i)).write_text("")
        world.scan()
    assert len([n for n in world.kept() if n.endswith(".rests")]) <= 17


def test_confirm_does_not_rest_on_it(world):
    first, _ = world.scan()
    world.helper.write_text(HELPER.replace("mean(-1", "mean(-2"))
    done = subprocess.run([BINARY, "confirm", first["findings"][0]["id"], "--statement", "x"],
                          cwd=str(world.project), env=world.env, capture_output=True, text=True)
    assert done.returncode == 3 and "scan again" in done.stderr
