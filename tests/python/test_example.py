"""The bundled example: it trains, it repeats itself, it writes nothing."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tiny_decoder"
LINE = re.compile(r"step (\d+) \| loss (\d+\.\d{6}) \| step_time_ms (\d+\.\d\d)$")


def train(*options, folder):
    """Returns (step, loss text) of each printed line."""
    result = subprocess.run(
        [sys.executable, str(EXAMPLE / "train.py"), *options],
        cwd=folder,
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    matches = [LINE.match(line) for line in result.stdout.splitlines()]
    assert all(matches), result.stdout
    return [(int(m[1]), m[2]) for m in matches]


def files():
    return sorted(p for p in EXAMPLE.rglob("*") if p.suffix != ".pyc")


def test_trains_and_repeats_itself(tmp_path):
    before = files()
    first = train("--steps", "60", folder=tmp_path)
    second = train("--steps", "60", folder=tmp_path)
    assert first == second
    assert [step for step, _ in first] == list(range(1, 61))
    losses = [float(loss) for _, loss in first]
    assert losses[0] > 3.0
    assert sum(losses[-5:]) / 5 < 0.6 * losses[0]
    assert list(tmp_path.iterdir()) == [] and files() == before


def test_log_holds_the_printed_values(tmp_path):
    printed = train("--steps", "3", "--log", "steps.jsonl", folder=tmp_path)
    lines = (tmp_path / "steps.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [(r["step"], "%.6f" % r["loss"]) for r in records] == printed
    assert all(r["step_time_ms"] > 0 for r in records)


@pytest.mark.parametrize(
    "options",
    [
        ["--use-fused-rmsnorm"],
        ["--dtype", "bfloat16"],
        ["--hidden-act", "gelu"],
        ["--hidden-size", "32", "--num-layers", "1", "--seed", "7"],
        ["--num-experts", "2", "--sequence-length", "16"],
    ],
    ids=lambda options: options[0],
)
def test_options(tmp_path, options):
    losses = train("--steps", "4", *options, folder=tmp_path)
    assert float(losses[-1][1]) < float(losses[0][1])


def test_the_switch_changes_only_rounding(tmp_path):
    plain = train("--steps", "4", folder=tmp_path)
    fused = train("--steps", "4", "--use-fused-rmsnorm", folder=tmp_path)
    for (_, a), (_, b) in zip(plain, fused):
        assert abs(float(a) - float(b)) < 1e-3
