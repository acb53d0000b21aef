"""The whole path with PyTorch: the bundled example through the emulator, rules
about plain torch through real processes, and a fault that only a run shows."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse")).resolve()
pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary")

GELU = '''\
import torch


class QuickGELU(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x * torch.sigmoid(1.702 * x)
'''

TRAIN = '''\
import torch
from net import QuickGELU

torch.manual_seed(1)
torch.set_num_threads(1)
first, last = torch.nn.Linear(16, 64), torch.nn.Linear(64, 1)
layer = QuickGELU()
parameters = [*first.parameters(), *last.parameters()]
for step in range(60):
    x = torch.randn(64, 16)
    loss = (last(layer(first(x))) - x.sum(-1, keepdim=True).sin()).pow(2).mean()
    gradients = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        for p, g in zip(parameters, gradients):
            p -= 0.1 * g
    print(f"step {step} | loss {loss.item():.6f}", flush=True)
'''


def npufuse(folder, *words):
    environment = dict(os.environ, LC_ALL="C", PATH=os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ["PATH"]]))
    return subprocess.run([BINARY, *map(str, words)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def begin(folder, *options):
    """Scans and confirms; returns the ids of the candidates."""
    done = npufuse(folder, "scan", "-q", *options, ".")
    assert done.returncode == 0, done.stderr
    findings = json.loads((folder / "fusion_verify/findings.json").read_text())["findings"]
    ids = [f["id"] for f in findings if f["replacement"]]
    done = npufuse(folder, "confirm", *ids, "--statement", "a test")
    assert done.returncode == 0, done.stderr
    return ids


def task_of(folder, id_):
    tasks = json.loads((folder / "fusion_verify/tasks.json").read_text())["tasks"]
    return next(t for t in tasks if t["id"] == id_)


def stages(task):
    return [(s["status"], s["emulated"]) for s in task["stages"]]


def report_of(folder, task):
    return json.loads((folder / f"fusion_verify/{task['slug']}.report.json").read_text())


def test_the_example_through_the_emulator(tmp_path):
    project = tmp_path / "tiny_decoder"
    shutil.copytree(ROOT / "examples/tiny_decoder", project,
                    ignore=shutil.ignore_patterns("fusion_verify", "__pycache__"))
    id_ = next(i for i in begin(project) if i.startswith("swiglu:decoder/mlp.py:"))
    command = ["--", "python", "train.py", "--steps", "60"]

    done = npufuse(project, "verify", id_, *command)
    assert done.returncode == 3, done.stderr
    task = task_of(project, id_)
    assert stages(task) == [("pass", True), ("pass", True), ("blocked", False)]
    assert (task["speed"], task["answer"]) == ("not_measured", "undecided")
    assert task["reason"].startswith("precision passed, blocked: needs an NPU")
    report = report_of(project, task)
    assert len(report["metrics"]) == 60
    assert report["thresholds"]["repeat_rel_diff"] == 0
    assert 0 <= report["thresholds"]["worst_rel_diff"] < 1e-4
    assert report["performance"] is None
    fused = [c for c in report["counts"] if c["arm"] == "fused"]
    # Two layers, 60 steps; the process is ended somewhere behind the last one.
    assert [c["else"] for c in fused] == [0] and fused[0]["fused"] >= 60
    assert fused[0]["fused"] == fused[0]["emulated"]
    assert report["unit"]["fp64_reference_error"] < 1e-12
    assert (project / "fusion_verify" / f"{task['slug']}.html").exists()

    done = npufuse(project, "verify", "--no-emulate", id_, *command)
    assert done.returncode == 3, done.stderr
    assert "(kept from before)" in done.stderr  # the unchanged code was not run again
    task = task_of(project, id_)
    assert task["reason"].startswith("blocked: fused branch never ran in rank 0, the original ")
    assert "npu_fused_ready" in task["reason"]
    assert not any(emulated for _, emulated in stages(task))


def test_a_fault_that_comes_with_time_is_vetoed_by_the_loss(tmp_path):
    (tmp_path / "net.py").write_text(GELU)
    (tmp_path / "train.py").write_text(TRAIN)
    (id_,) = begin(tmp_path, "--rules", ROOT / "tests/rules/wrong",
                   "--rule", "wrong_state_dependent")
    done = npufuse(tmp_path, "verify", "--", "python", "train.py")
    assert done.returncode == 1, done.stderr
    task = task_of(tmp_path, id_)
    assert stages(task) == [("pass", True), ("fail", True), ("skipped", False)]
    assert (task["state"], task["answer"]) == ("precision_failed", "do_not")
    report = report_of(tmp_path, task)
    assert report["thresholds"]["first_fail_step"] == 20
    assert report["performance"] is None
    steps = (tmp_path / "fusion_verify" / f"{task['slug']}.jsonl").read_text().splitlines()
    assert len(steps) == 25  # ended a few steps after it left
    assert not list((tmp_path / "fusion_verify/runs").glob("*/time-*"))


@pytest.mark.parametrize("rule, layer, code, answer, speeds", [
    ("faster_product", "product", 0, "replace", {"faster"}),
    ("slower_gate", "gate", 1, "do_not", {"slower"}),
    # Equal: whatever the noise of this machine says, it is never faster.
    ("equal_product", "product", None, None, {"no_gain", "undecided", "slower"}),
])
def test_step_time_of_rules_about_plain_torch(tmp_path, rule, layer, code, answer, speeds):
    shutil.copy(ROOT / "tests/trial/train_cpu.py", tmp_path)
    (id_,) = begin(tmp_path, "--rules", ROOT / "tests/rules/rules", "--rule", rule)
    done = npufuse(tmp_path, "verify", "--steps", "50", "--", "python", "train_cpu.py",
                   "--layer", layer)
    task = task_of(tmp_path, id_)
    assert stages(task)[:2] == [("pass", False), ("pass", False)], done.stderr
    assert task["speed"] in speeds
    assert code is None or (done.returncode, task["answer"]) == (code, answer)
    performance = report_of(tmp_path, task)["performance"]
    assert [run["name"] for run in performance["runs"]][:6] == ["A1", "B1", "B2", "A2", "A3", "B3"]
    assert performance["low"] <= performance["ratio"] <= performance["high"]
