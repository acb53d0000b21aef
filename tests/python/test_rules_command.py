"""`npufuse rules test`: the table, the exit codes, rules of the user."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import generated

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "tests" / "rules"
NO_BACKWARD = ("clipped_swiglu", "add_rms_norm", "gemma_rms_norm", "group_norm_silu")

pytestmark = pytest.mark.skipif(generated.binary() is None, reason="not built")


def run(*words, code=0, **environment):
    names = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [generated.binary(), "rules", "test", *map(str, words)],
        env=dict(names, **environment), capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()], done.stderr


def test_every_bundled_rule_passes():
    rows, err = run("--python", sys.executable)
    assert err == ""
    names = {p.stem for p in (ROOT / "rules").glob("*.py")}
    assert {row[0] for row in rows} == names
    assert all(row[2] == "emulated" and row[4] == "pass" for row in rows)
    # An operator without a backward is compared without gradients.
    assert all(int(row[3]) > (25 if row[0] in NO_BACKWARD else 50) for row in rows)


def test_rules_of_the_user_and_one_by_its_id():
    words = ("--python", sys.executable, "--rules", RULES / "rules")
    rows, _ = run(*words, "slower_gate", "equal_product")
    assert [(r[0], r[2], r[4]) for r in rows] == [
        ("equal_product", "native", "pass"), ("slower_gate", "native", "pass")]


def test_wrong_rules_fail():
    ids = ["wrong_one_plus", "wrong_swapped_halves", "wrong_lost_cast",
           "wrong_dropped_epsilon", "wrong_missing_gradient"]
    rows, _ = run("--rules", RULES / "wrong", *ids, code=1,
                  VIRTUAL_ENV=str(Path(sys.executable).parent.parent))
    assert sorted(r[0] for r in rows) == sorted(ids)
    assert all(row[4].startswith("fail: ") for row in rows)


def test_a_rule_file_that_does_not_run(tmp_path):
    (tmp_path / "mine.py").write_text("import sys; sys.exit(0)")  # no pass
    rows, err = run("--python", sys.executable, "--rules", tmp_path, code=2)
    assert rows == [] and "a rule file does not run: SystemExit" in err


def test_a_rule_that_raises_fails(tmp_path):
    text = (ROOT / "rules" / "quick_gelu.py").read_text()
    text = text.replace('id="quick_gelu"', 'id="mine"')
    (tmp_path / "mine.py").write_text(
        text.replace("return torch_npu.npu_fast_gelu(x)", "raise KeyError('x')"))
    words = ("--python", sys.executable, "--rules", tmp_path)
    rows, _ = run(*words, "mine", code=1)
    assert "raises KeyError" in rows[0][4]
    assert "no rule 'nope'" in run(*words, "nope", code=2)[1]


def test_what_is_missing_is_said(tmp_path):
    assert "no Python 'nopython'" in run("--python", "nopython", code=3)[1]
    empty = tmp_path / "empty"  # a Python that finds no torch
    empty.mkdir()
    (empty / "torch.py").write_text("raise ImportError('none here')")
    _, err = run("--python", sys.executable, code=3, PYTHONPATH=str(empty))
    assert "has no torch that works: none here" in err
    words = ("--rules", tmp_path / "absent", "--python", sys.executable, "nope")
    assert "--rules takes a folder" in run(*words, code=2)[1]
