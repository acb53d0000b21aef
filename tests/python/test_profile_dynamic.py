"""Shapes that change from step to step, by call site; kernels of the AI CPU, by name."""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "prof"))

import kernels  # noqa: E402

BIN = os.environ.get("NPUFUSE_BIN") or str(ROOT / "build" / "dev" / "npufuse")


def step(number, length, state="dynamic", more=""):
    """Four kernels: only the second and the third have the length in their shapes."""
    return kernels.parse_all(f"""
        Exp 8,8 fp32 -> 8,8 fp32
        Tanh {length},32 bf16 -> {length},32 bf16
        Exp {length},32 bf16 -> {length},32 bf16
        Tanh 8,8 fp32 -> 8,8 fp32
        {more}""", step=number, state=state)


def report(tmp_path, rows):
    path = tmp_path / "kernel_details.csv"
    path.write_text(kernels.table(rows), encoding="utf-8")
    done = subprocess.run([BIN, "profile", str(path), "--format", "json", "-q"],
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_places_of_a_step(tmp_path):
    result = report(tmp_path, step(1, 64) + step(2, 80) + step(3, 64) + step(4, 96))
    dynamic = result["dynamic"]
    assert (dynamic["steps_alike"], dynamic["places"], dynamic["changing"]) == (4, 4, 2)
    assert [(s["type"], s["shapes"], s["rows"]) for s in dynamic["sites"]] == [
        ("Tanh", 3, [1, 5, 13]), ("Exp", 3, [2, 6, 14])]
    assert dynamic["sites"][0]["inputs"] == ["64,32", "80,32", "96,32"]
    assert dynamic["sites"][0]["device_us"] == 80.0
    note = [n for n in result["notes"] if "at 2 of 4 places" in n]
    assert "Tanh at rows 1 and 5: 64,32 and 80,32" in note[0]


def test_equal_steps_have_no_such_place(tmp_path):
    result = report(tmp_path, step(1, 64) + step(2, 64) + step(3, 64))
    assert result["dynamic"]["changing"] == 0
    assert result["dynamic"]["places"] == 4
    assert not [n for n in result["notes"] if "shapes change" in n]


def test_a_step_with_other_kernels_is_not_compared(tmp_path):
    other = kernels.parse_all("Exp 9,9 fp32 -> 9,9 fp32", step=3)
    result = report(tmp_path, step(1, 64) + step(2, 64) + other)
    assert result["dynamic"]["steps_alike"] == 2
    assert result["dynamic"]["changing"] == 0


def test_by_name_where_no_two_steps_are_alike(tmp_path):
    rows = []
    for number in range(1, 6):
        more = "Log 8,8 fp32 -> 8,8 fp32\n" * number
        rows += step(number, 64 + 8 * (number % 2), more=more)
    dynamic = report(tmp_path, rows)["dynamic"]
    assert dynamic["steps_alike"] == 1
    assert {(s["name"], s["by"], s["steps"], s["shapes"]) for s in dynamic["sites"]} == {
        ("aclnnTanh", "name", 3, 3), ("aclnnExp", "name", 3, 3)}


def test_static_kernels_are_compiled_for_each_shape(tmp_path):
    rows = [row for n in range(1, 5) for row in step(n, 64 + 8 * n, state="static")]
    result = report(tmp_path, rows)
    assert result["dynamic"]["static_kinds"] == 10
    assert [n for n in result["notes"] if n.startswith("10 of 10 kinds of kernels are static")]


def test_kernels_of_the_ai_cpu_are_named(tmp_path):
    slow = kernels.parse_all("""
        Cast 8 int32 -> 8 int64
        NonZero 99 bool -> 99 int64""", core="AI_CPU")
    result = report(tmp_path, slow + step(1, 64) + slow[:1])
    note = [n for n in result["notes"] if n.startswith("on the AI CPU")]
    assert note == ["on the AI CPU: Cast (2 calls, 0.040 ms, first at row 0), "
                    "NonZero (1 call, 0.020 ms, first at row 1)"]
