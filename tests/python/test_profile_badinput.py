"""`profile` on files that are broken, foreign or in a hurry: what is said, what is
kept, and the exit code."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "prof"))

import profgen  # noqa: E402

BIN = os.environ.get("NPUFUSE_BIN") or str(ROOT / "build" / "dev" / "npufuse")
HEADER = "Step Id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us)"
ROW = "1,2,aclnnMul_Mul,Mul,AI_VECTOR_CORE,{},{}"


def profile(path, *options):
    done = subprocess.run([BIN, "profile", str(path), *options], capture_output=True,
                          text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def write(tmp_path, text, name="kernel_details.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows_of(path):
    code, out, err = profile(path, "--format", "json", "-q")
    assert code in (0, 1), err
    return code, json.loads(out)


@pytest.mark.parametrize("data, said", [
    (b"", "is empty"),
    (b"\x7fELF\0\0\0\0\0\0", "is no profile"),
    (b"x" * 70000, "no line end in its first 64 KB"),
    (b"a,b,c\n1,2,3\n", "no column 'Name'"),
    (b"Name,Type,Duration(us)\nx,y,1\n", "no column 'Start Time(us)'"),
    (b"Name,Type,Start Time(us)\nx,y,1\n", "no column 'Duration(us)'"),
])
def test_refused_with_the_reason(tmp_path, data, said):
    code, out, err = profile(write(tmp_path, data))
    assert code == 2
    assert said in err
    assert out == ""


def test_missing_file_and_folder(tmp_path):
    code, _, err = profile(tmp_path / "none.csv")
    assert code == 2 and "none.csv" in err
    code, _, err = profile(tmp_path)
    assert code == 2 and err


@pytest.mark.parametrize("start, duration, what", [
    ("1.5", "-4.1", "a negative time"), ("-1.5", "4.1", "a negative time"),
    ("1" + "0" * 30, "4.1", "a time out of range"), ("1.5", "9" * 17, "a time out of range"),
    ("", "4.1", "no time"), ("N/A", "4.1", "no time"), ("12x", "4.1", "no time"),
])
def test_bad_times_cost_their_row_alone(tmp_path, start, duration, what):
    lines = [HEADER, ROW.format("1.000", "2.5"), ROW.format(start, duration),
             ROW.format("9.000", "3.5")]
    code, result = rows_of(write(tmp_path, "\n".join(lines) + "\n"))
    assert code == 1
    assert result["rows"] == 3
    assert result["kernel_us"] == 6.0
    assert result["bad_rows"] == [{"what": what, "count": 1, "first_row": 1}]


def test_quote_that_never_ends_costs_one_row(tmp_path):
    header = HEADER + ",Input Shapes"
    lines = [header, ROW.format("1.0", "2.5") + ',"""4,4"""',
             ROW.format("5.0", "2.5") + ',"""4,', ROW.format("9.0", "2.5") + ',"""4,4"""']
    code, result = rows_of(write(tmp_path, "\n".join(lines) + "\n"))
    assert code == 1
    assert result["kernel_us"] == 5.0
    assert result["bad_rows"] == [
        {"what": "cut inside a quoted cell", "count": 1, "first_row": 1}]


def test_last_line_cut(tmp_path):
    text, _ = profgen.generate(*profgen.settings(["rows=30"]), 1)
    whole = text.rstrip("\n").rsplit("\n", 1)
    code, result = rows_of(write(tmp_path, whole[0] + "\n" + whole[1][:60]))
    assert code == 1
    assert result["bad_rows"][0]["first_row"] == 29
    assert result["rows"] == 30


def test_nanoseconds_are_kept(tmp_path):
    lines = [HEADER, ROW.format("1716000000000123.456\t", "0.001"),
             ROW.format("1716000000000123.459\t", "0.002")]
    _, result = rows_of(write(tmp_path, "\n".join(lines) + "\n"))
    assert result["kernel_us"] == 0.003
    assert result["span_us"] == 0.005


def test_spreadsheet_times_are_said_to_be_rounded(tmp_path):
    lines = [HEADER, ROW.format("1.716E+15", "2.5"), ROW.format("1.716E+15", "2.5")]
    code, out, _ = profile(write(tmp_path, "\ufeff" + "\r\n".join(lines) + "\r\n"))
    assert code == 0
    assert "a spreadsheet dropped digits" in out and "steps 0.005 ms" in out


def test_slices_with_their_headers_in_between(tmp_path):
    lines = [HEADER, ROW.format("9.0", "2.0"), HEADER, ROW.format("1.0", "3.0")]
    code, result = rows_of(write(tmp_path, "\n".join(lines) + "\n"))
    assert code == 0
    assert result["kernel_us"] == 5.0
    assert result["bad_rows"] == []


def test_no_shapes_prove_nothing(tmp_path):
    spelling, dialect = profgen.settings(["rows=200"])
    text, _ = profgen.generate(spelling, dialect, 1)
    keep = [line.split(",")[:12] for line in text.splitlines()]
    path = write(tmp_path, "\n".join(",".join(cells[:12]) for cells in keep) + "\n")
    code, out, _ = profile(path)
    assert code == 0
    assert "no shapes: a run cannot be proven" in out
    assert "fusion_attention" not in out and "rms_norm" not in out


def test_what_is_absent_is_unknown_and_not_0(tmp_path):
    lines = [HEADER, ROW.format("1.0", "200.0"), ROW.format("201.5", "2.0")]
    path = write(tmp_path, "\n".join(lines) + "\n")
    _, result = rows_of(path)
    kernel = result["kernels"][0]
    assert kernel["bound"] == "unknown"
    assert kernel["bytes"] is None
    _, out, _ = profile(path)
    assert "without aic_metrics=PipeUtilization" in out


def test_reshaped_names_do_not_prove(tmp_path):
    """The types of a norm, on shapes that do not flow: no run."""
    text, truth = profgen.generate(*profgen.settings(["layers=1", "steps=1"]), 1)
    assert truth["occurrences"]["rms_norm"]
    broken = text.replace('"""1,64,1"""', '"""1,63,1"""')
    assert broken != text
    _, result = rows_of(write(tmp_path, broken))
    names = {run["pattern"] for run in result["runs"] if run["kind"] == "fusion"}
    assert "rms_norm" not in names and "rms_norm_bwd" not in names
    assert "fusion_attention" in names


@pytest.mark.parametrize("option, value", [
    ("--bandwidth", "0"), ("--bandwidth", "fast"), ("--peak", "-1"), ("--launch", "nan"),
    ("--chip", "H100"), ("--jobs", "0"), ("--format", "xml"),
])
def test_bad_options(tmp_path, option, value):
    path = write(tmp_path, HEADER + "\n" + ROW.format("1.0", "2.0") + "\n")
    code, out, err = profile(path, option, value)
    assert code == 2
    assert option in err or value in err
    assert out == ""


def test_threads_leave_no_trace(tmp_path):
    spelling, dialect = profgen.settings(["layers=6", "steps=12", "comm=0.02"])
    path = write(tmp_path, profgen.generate(spelling, dialect, 5)[0])
    assert path.stat().st_size > 2 * 1024 * 1024  # of blocks of 1 MB
    one = profile(path, "--format", "json", "-q", "-j", "1")
    for jobs in ("2", "7"):
        assert profile(path, "--format", "json", "-q", "-j", jobs) == one


def test_threads_put_slices_back_in_order(tmp_path):
    """Slices in the order 2, 1: every lane is out of order from one thread's share of the
    rows to the next, and a file with whole lines in disorder within each."""
    spelling, dialect = profgen.settings(["layers=6", "steps=12", "comm=0.02"])
    text = profgen.generate(spelling, dialect, 5)[0]
    header, *lines = text.splitlines()
    half = len(lines) // 2
    whole = profile(write(tmp_path, text), "--format", "json", "-q", "-j", "1")
    runs = {run["pattern"]: run["count"] for run in json.loads(whole[1])["runs"]
            if run["kind"] == "fusion"}
    assert runs["rms_norm"] == 72  # 6 layers, 12 steps
    slices = [header, *lines[half:], header, *lines[:half]]
    mixed = [header, *(line for i in range(0, len(lines), 2)
                       for line in reversed(lines[i:i + 2]))]
    for name, rows in (("slices.csv", slices), ("mixed.csv", mixed)):
        path = write(tmp_path, "\n".join(rows) + "\n", name)
        one = profile(path, "--format", "json", "-q", "-j", "1")
        found = {run["pattern"]: run["count"] for run in json.loads(one[1])["runs"]
                 if run["kind"] == "fusion"}
        assert found == runs
        for jobs in ("2", "3", "7"):
            assert profile(path, "--format", "json", "-q", "-j", jobs) == one
