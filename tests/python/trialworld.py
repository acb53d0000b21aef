"""A small project for verification without PyTorch.

The launch command (``fake_train.py``) and the unit runtime are scripts of the
standard library that do what a test tells them: they print steps, count
branches as the hook in a real run does, fail, hang. A ledger says what was run.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse")).resolve()

NORM = '''\
import torch


def norm(x: torch.Tensor, weight, eps):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return (h * weight).to(x.dtype)
'''

TRAIN = '''\
import json, os, sys, time

settings = json.load(open(os.environ["WORLD"]))
arm = json.load(open(os.environ["NPUFUSE_ARM"]))
role = arm["role"]
run = os.path.dirname(arm["counts"])
with open(settings["ledger"], "a") as ledger:
    ledger.write("%s %s\\n" % (role, os.path.relpath(run, settings["runs"])))
mine = settings.get(role, {})
if os.path.basename(os.path.dirname(run)) == "together":
    mine = dict(mine, **settings.get("together", {}))
if os.path.basename(run) == "loss-2":
    mine = dict(mine, **settings.get("repeat", {}))
if "stderr" in mine:
    sys.stderr.write(mine["stderr"])
keys = ("loaded", "elsewhere", "fused", "else", "emulated")
for rank, counts in enumerate(mine.get("counts", [{}])):
    if counts is None:
        continue
    text = "npufuse %020d\\nrank %020d\\n" % (1, rank)
    for i, candidate in enumerate(arm["candidates"]):
        values = {"loaded": 1, "fused": 60, "else": 0, "emulated": 60}
        if not candidate["edited"]:
            values = {"loaded": 1, "else": 60}
        values.update(counts)
        for key in keys:
            text += "%d.%s %020d\\n" % (i, key, values.get(key, 0))
    with open(os.path.join(arm["counts"], "%d-%d.txt" % (os.getpid(), rank)), "w") as f:
        f.write(text)
out = open(mine["log"], "a") if "log" in mine else sys.stdout
shift = mine.get("shift", {})
before = 9.0
for step in range(mine.get("first", 0), mine.get("first", 0) + mine.get("steps", 60)):
    loss = 4.0 / (step + 1) + 1
    for start, factor in shift.items():
        if step >= int(start):
            loss = float("nan") if factor is None else loss * factor
    time_ms = mine.get("ms", 10.0) * (1 + 0.002 * ((step * 7919) % 10 - 4.5))
    if "digits" in mine:
        loss = round(loss, mine["digits"])
    line = "step %d | loss %r | step_time_ms %.4f\\n" % (step, loss, time_ms)
    if "bar" in mine:  # drawn by update(), with the loss of before, then by set_postfix()
        bar = "\\r%d/60 [00:01<00:09, 9.5it/s, loss=%r]"
        line = bar % (step + 1, before) + bar % (step + 1, loss)
    before = loss
    out.write(line)
    out.flush()
    time.sleep(mine.get("sleep", 0))
if mine.get("hang"):
    time.sleep(600)
sys.exit(mine.get("exit", 0))
'''

UNIT = '''\
#!/usr/bin/env python3
import json, os, sys

settings = json.load(open(os.environ["WORLD"]))
with open(settings["ledger"], "a") as ledger:
    ledger.write("unit\\n")
assert sys.argv[1:3] == ["-m", "npufuse.unit"], sys.argv
spec = json.load(open(sys.argv[3]))
result = dict({"schema": 1, "status": "pass", "reason": "", "emulated": True,
               "cases": [], "environment": {}}, **settings.get("unit", {}))
if result["status"] == "crash":
    sys.exit("no module named torch")
json.dump(result, open(sys.argv[4], "w"))
'''


class World:
    """`folder` is a scanned project; see the module."""

    def __init__(self, folder, files=None):
        self.base = Path(folder)
        self.folder = self.base / "project"
        self.folder.mkdir()
        for name, text in (files or {"norm.py": NORM}).items():
            (self.folder / name).write_text(text)
        (self.folder / "fake_train.py").write_text(TRAIN)
        self.python = self.base / "unit_python"
        self.python.write_text(UNIT)
        self.python.chmod(0o755)
        self.ledger = self.base / "ledger"
        self.work = self.folder / "fusion_verify"
        self.settings = {}
        # Not through a shim: most of a run is the start of its Python.
        path = os.path.join(sys.base_prefix, "bin") + os.pathsep + os.environ["PATH"]
        self.environment = dict(os.environ, PATH=path, WORLD=str(self.base / "world.json"),
                                SOURCE_DATE_EPOCH="1764633600", LC_ALL="C")
        self.run("scan", "-q", ".", check=True)
        self.ids = [f["id"] for f in self.findings()["findings"]]

    def findings(self):
        return json.loads((self.work / "findings.json").read_text())

    def tell(self, **settings):
        """What the fakes do: baseline, candidate, repeat (dicts), unit."""
        self.settings.update(settings)
        world = dict(self.settings, ledger=str(self.ledger), runs=str(self.work / "runs"))
        (self.base / "world.json").write_text(json.dumps(world))

    def start(self, *words, **more):
        environment = dict(self.environment, **more)
        return subprocess.Popen([str(BINARY), *map(str, words)], cwd=self.folder,
                                env=environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, check=False, **more):
        """(exit code, stdout, stderr)"""
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=120)
        assert not check or process.returncode == 0, err
        return process.returncode, out, err

    def confirm(self, *ids):
        self.run("confirm", *(ids or self.ids), "--statement", "a test", check=True)

    def verify(self, *options, command=("python3", "fake_train.py"), **more):
        self.tell()
        return self.run("verify", "--python", self.python, *options, "--", *command, **more)

    def task(self, id_=None):
        tasks = json.loads((self.work / "tasks.json").read_text())["tasks"]
        return next(t for t in tasks if t["id"] == (id_ or self.ids[0]))

    def stages(self, id_=None):
        return [s["status"] for s in self.task(id_)["stages"]]

    def ran(self):
        """What was run so far, in order."""
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []

    def tree(self):
        """{path: bytes} of the project without the work folder."""
        return {str(p.relative_to(self.folder)): p.read_bytes()
                for p in sorted(self.folder.rglob("*"))
                if p.is_file() and self.work not in p.parents}
