"""Verification with torch: the example, three rules of plain torch, wrong rules.

Each run of a training command costs about a second and a half, so everything
that can be seen in one verification is looked at there.
"""
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from layers import LAYERS

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse")).resolve()
PYTHON = sys.executable
RULES = ROOT / "tests/rules"
pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary")


class Project:
    def __init__(self, folder, *scan):
        self.folder, self.work = folder, folder / "fusion_verify"
        code, _, err = self.run("scan", "-q", ".", *scan)
        assert code == 0, err
        found = json.loads((self.work / "findings.json").read_text())
        self.ids = [f["id"] for f in found["findings"]]
        self.existing = found["existing"]

    def run(self, *words):
        done = subprocess.run([BINARY, *map(str, words)], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def do(self, *words):
        code, out, err = self.run(*words)
        assert code == 0, out + err
        return out + err

    def train(self, *options):
        """The losses that are printed."""
        done = subprocess.run([PYTHON, "train.py", *options], cwd=self.folder, text=True,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        return [line.split(" | ")[1] for line in done.stdout.splitlines()
                if line.startswith("step ")]

    def tasks(self):
        return json.loads((self.work / "tasks.json").read_text())

    def task(self, id_):
        return next(t for t in self.tasks()["tasks"] if t["id"] == id_)

    def report(self, id_):
        return json.loads((self.work / f"{self.task(id_)['slug']}.report.json").read_text())

    def tree(self):
        return {p.relative_to(self.folder): p.read_bytes()
                for p in sorted(self.folder.rglob("*"))
                if p.is_file() and self.work not in p.parents
                and "__pycache__" not in p.parts}


# ---- the example -----------------------------------------------------------------------

LAUNCH = (PYTHON, "train.py", "--steps", 60, "--use-fused-rmsnorm", "--batch-size", 4)
NEEDS_NPU = "precision passed, blocked: needs an NPU"


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    """The example, with two of its candidates verified."""
    folder = tmp_path_factory.mktemp("example") / "tiny_decoder"
    shutil.copytree(ROOT / "examples/tiny_decoder", folder,
                    ignore=shutil.ignore_patterns("__pycache__", "fusion_verify"))
    project = Project(folder)
    project.norm = next(i for i in project.ids if "HeadRMSNorm" in i)
    project.gate = next(i for i in project.ids if "GatedMLP" in i)
    project.before = project.tree()
    project.do("confirm", project.norm, project.gate, "--statement", "a test")
    project.captured = project.do("capture", "--steps", 2, "--", *LAUNCH)
    project.code, project.out, project.err = project.run("verify", "--", *LAUNCH)
    return project


def test_the_example_needs_an_npu_for_its_speed(decoder):
    assert decoder.code == 3, decoder.err
    for id_, calls in ((decoder.norm, 240), (decoder.gate, 60)):
        task = decoder.task(id_)
        assert task["reason"].startswith(NEEDS_NPU), task
        assert [s["status"] for s in task["stages"]] == ["pass", "pass", "blocked"]
        assert task["speed"] == "not_measured"
        counts = [c for c in decoder.report(id_)["counts"] if c["arm"] == "fused"]
        assert counts == [{"arm": "fused", "rank": 0, "fused": calls, "else": 0,
                           "emulated": calls}]
        assert decoder.report(id_)["performance"] is None
        assert (decoder.work / f"{task['slug']}.html").exists()
    assert decoder.tasks()["together"]["status"] == "pass"
    assert decoder.tree() == decoder.before


def test_captured_inputs_are_compared(decoder):
    captures = json.loads((decoder.work / "capture.json").read_text())["captures"]
    shapes = [c["inputs"]["x"]["shape"] for c in captures if c["id"] == decoder.norm]
    assert len(shapes) == 2 and all(len(s) == 4 for s in shapes), shapes
    sources = {c["source"] for c in decoder.report(decoder.norm)["unit"]["cases"]}
    assert "captured" in sources
    assert decoder.report(decoder.norm)["unit"]["fp64_reference_error"] < 1e-12


def test_the_loss_is_that_of_the_original(decoder):
    report = decoder.report(decoder.norm)
    assert report["thresholds"]["repeat_rel_diff"] == 0
    assert 0 < report["thresholds"]["worst_rel_diff"] < 1e-5
    assert len(report["metrics"]) == 60


def test_without_the_emulator_the_fused_branch_never_runs(decoder):
    kept = (decoder.work / "tasks.json").read_bytes()
    code, _, err = decoder.run("verify", "--no-emulate", "--", *LAUNCH)
    norm, gate = decoder.task(decoder.norm), decoder.task(decoder.gate)
    (decoder.work / "tasks.json").write_bytes(kept)
    assert code == 3
    assert norm["reason"].startswith(
        "blocked: fused branch never ran in rank 0, the original 240 times (guard: "
        'self.config.use_fused_rmsnorm and npu_fused_ready("npu_rms_norm", x)'), norm
    assert gate["reason"].startswith("blocked: fused branch never ran in rank 0"), gate
    assert err.count("(kept from before)") == 2  # the unchanged code is not run again


def test_applied_found_again_and_taken_back(decoder):
    losses = decoder.train("--steps", "3", "--batch-size", "4")
    decoder.do("apply", "--unverified", decoder.norm, decoder.gate)
    assert decoder.tree() != decoder.before
    assert decoder.train("--steps", "3", "--batch-size", "4") == losses and len(losses) == 3
    found = json.loads(decoder.do("scan", "-q", ".", "--format", "json"))
    assert len(found["findings"]) == len(decoder.ids) - 2
    places = {(e["file"], e["api"]) for e in found["existing"]}
    assert {("decoder/norm.py", "torch_npu.npu_rms_norm"),
            ("decoder/mlp.py", "torch_npu.npu_swiglu")} <= places
    decoder.do("apply", "--revert", decoder.norm, decoder.gate)
    assert decoder.tree() == decoder.before


# ---- rules of plain torch: they are timed -------------------------------------------------


def plain(folder, rule, *options):
    """One rule through verify; (exit code, task)."""
    folder.mkdir()
    shutil.copy(ROOT / "tests/trial/train_cpu.py", folder)
    project = Project(folder, "--rules", RULES / "rules", "--rule", rule)
    project.do("confirm", *project.ids, "--statement", "a test")
    code, _, _ = project.run("verify", "--", PYTHON, "train_cpu.py", *options)
    (id_,) = project.ids
    performance = project.report(id_)["performance"]
    names = [run["name"] for run in performance["runs"]]
    assert names[:6] == ["A1", "B1", "B2", "A2", "A3", "B3"]
    assert performance["low"] <= performance["ratio"] <= performance["high"]
    return code, project.task(id_)


def test_faster_slower_and_equal(tmp_path):
    """The effects of the first two are so great that they may disturb each other."""
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(plain, tmp_path / rule, rule, "--layer", layer, "--width", width)
                for rule, layer, width in (("faster_product", "product", 192),
                                           ("slower_gate", "gate", 128))]
        (faster_code, faster), (slower_code, slower) = [job.result() for job in jobs]
    assert (faster["speed"], faster["answer"], faster_code) == ("faster", "replace", 0), faster
    assert (slower["speed"], slower["answer"], slower_code) == ("slower", "do_not", 1), slower
    code, equal = plain(tmp_path / "equal", "equal_product", "--layer", "product", "--width", 96)
    assert equal["stages"][1]["status"] == "pass", equal
    assert equal["speed"] in ("no_gain", "undecided", "slower") and code in (1, 3), equal


# ---- wrong rules ----------------------------------------------------------------------------


TRAIN = '''\
import sys

import torch

from layers import Activation

torch.set_num_threads(1)
torch.manual_seed(1)
inner, outer, activation = torch.nn.Linear(8, 16), torch.nn.Linear(16, 1), Activation()
parameters = [*inner.parameters(), *outer.parameters()]
for step in range(int(sys.argv[1])):
    x = torch.randn(32, 8)
    loss = (outer(activation(inner(x))).squeeze(-1) - x.sum(-1)).pow(2).mean()
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters)):
        p.data -= 0.05 * g
    print("step %d | loss %.6f" % (step, loss.item()), flush=True)
'''


def wrong(folder, rule):
    folder.mkdir()
    (folder / "layers.py").write_text(LAYERS)
    (folder / "train.py").write_text(TRAIN)
    project = Project(folder, "--rules", RULES / "wrong", "--rule", "wrong_" + rule)
    project.do("confirm", *project.ids, "--statement", "a test")
    return project


WORDS = {
    "one_plus": "float32, sample: output is off by",
    "swapped_halves": "float32, sample: output is off by",
    "lost_cast": "bfloat16, sample: output is float32 where the original gives bfloat16",
    "dropped_epsilon": "float32, small rows: output is off by",
    "missing_gradient": "float32, sample: grad x is missing: the original has one",
}


def test_unit_vetoes(tmp_path):
    def check(rule):
        return wrong(tmp_path / rule, rule).run("unit", "--python", PYTHON)

    with ThreadPoolExecutor(2) as pool:
        for rule, (code, out, err) in zip(WORDS, pool.map(check, WORDS)):
            assert code == 1, out + err
            assert WORDS[rule] in out, out + err


def test_the_loss_vetoes_what_wears_out(tmp_path):
    """Right in each call of the unit check, wrong later in the run."""
    project = wrong(tmp_path / "wears", "state_dependent")
    code, _, err = project.run("verify", "--", PYTHON, "train.py", 60)
    task = project.task(project.ids[0])
    assert [s["status"] for s in task["stages"]] == ["pass", "fail", "skipped"], err
    assert (task["answer"], task["state"], code) == ("do_not", "precision_failed", 1)
    assert "the loss differs by" in task["reason"]
    report = project.report(project.ids[0])
    assert report["thresholds"]["first_fail_step"] == 20 and report["performance"] is None
    steps = (project.work / f"{task['slug']}.jsonl").read_text().splitlines()
    # Ended a few steps after it left; how many more are said meanwhile depends on
    # how the output comes.
    assert 24 <= len(steps) <= 40
    assert not list((project.work / "runs").glob("*/time-*"))
