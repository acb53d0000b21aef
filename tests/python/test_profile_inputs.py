"""npufuse profile on whatever the profiler left: folder, trace, database, slices."""
import csv
import json
import os
import shutil
import subprocess
import sys

import pytest
import test_profile_db

HERE = os.path.dirname(os.path.abspath(__file__))
NPUFUSE = os.environ.get("NPUFUSE_BIN") or os.path.join(HERE, "..", "..", "build/dev/npufuse")

HEADER = ["Step Id", "Device_id", "Stream ID", "Name", "Type", "Accelerator Core",
          "Start Time(us)", "Duration(us)", "Input Shapes", "Input Data Types",
          "Output Shapes", "Output Data Types"]
START = 1750000000000000


def norm_rows(number, start):
    """RMSNorm in eight kernels on [2048, 4096], 30 us apart."""
    x, r, w = "2048,4096", "2048,1", "4096"
    table = [
        ("Cast", [(x, "DT_BF16")], (x, "FLOAT")), ("Pow", [(x, "FLOAT"), ("", "FLOAT")], (x, "FLOAT")),
        ("ReduceMean", [(x, "FLOAT"), ("1", "INT64")], (r, "FLOAT")),
        ("Add", [(r, "FLOAT"), ("", "FLOAT")], (r, "FLOAT")),
        ("Rsqrt", [(r, "FLOAT")], (r, "FLOAT")),
        ("Mul", [(x, "FLOAT"), (r, "FLOAT")], (x, "FLOAT")),
        ("Cast", [(x, "FLOAT")], (x, "DT_BF16")),
        ("Mul", [(w, "DT_BF16"), (x, "DT_BF16")], (x, "DT_BF16")),
    ]
    for k, (kind, ins, out) in enumerate(table):
        yield [number, 0, 2, "aclnn%s_%s" % (kind, kind), kind, "AI_VECTOR_CORE",
               "%d.250\t" % (start + 30 * k), "25.5", '"%s"' % ";".join(s for s, _ in ins),
               ";".join(t for _, t in ins), '"%s"' % out[0], out[1]]


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([HEADER] + list(rows))


def norm_trace(count):
    """The host of the kernels: each norm in a module and a line of its own."""
    events = []
    for n in range(count):
        start = START + 1000 * n
        frame = {"ph": "X", "pid": 1, "tid": 1, "cat": "python_function", "args": {}}
        events += [dict(frame, name="nn.Module: Norm_%d" % n, ts="%d.0" % start, dur=300),
                   dict(frame, name="net/norm.py(17): forward", ts="%d.1" % start, dur=290)]
        for k in range(8):
            ts, own = "%d.250" % (start + 30 * k), 8 * n + k
            events += [
                {"ph": "X", "cat": "cpu_op", "name": "aten::x", "pid": 1, "tid": 1, "ts": ts,
                 "dur": 5, "args": {"Sequence number": own, "Fwd thread id": 0}},
                {"ph": "s", "cat": "async_npu", "id": own, "pid": 1, "tid": 1, "ts": ts},
                {"ph": "f", "cat": "async_npu", "id": own, "pid": 64, "tid": 2, "ts": ts},
                {"ph": "X", "name": "aclnnMul_Mul", "pid": 64, "tid": 2, "ts": ts, "dur": 25.5,
                 "args": {"Task Type": "AI_VECTOR_CORE", "Stream Id": 2}}]
    return events


@pytest.fixture
def folder(tmp_path):
    """A *_ascend_pt folder with three norms."""
    root = tmp_path / "host_1_ascend_pt"
    rows = [r for n in range(3) for r in norm_rows(n, START + 1000 * n)]
    output = root / "ASCEND_PROFILER_OUTPUT"
    write_table(output / "kernel_details.csv", rows)
    (output / "trace_view.json").write_text(json.dumps(norm_trace(3)))
    return root


def profile(path, *options, code=0):
    run = subprocess.run([NPUFUSE, "profile", "--format", "json", *options, str(path)],
                         capture_output=True, text=True)
    assert run.returncode == code, run.stderr
    return json.loads(run.stdout) if run.stdout else run.stderr


def norms(told):
    return [r for r in told["runs"] if r["pattern"] == "rms_norm"]


def test_folder_with_a_trace(folder):
    told = profile(folder)
    (run,) = norms(told)
    assert run["occurrences"] == [[0, 7], [8, 15], [16, 23]]
    assert run["site"] == "net/norm.py:17" and run["module"] == "Norm_0"
    assert run["module_by"] == "trace"
    assert told["source"].endswith("ASCEND_PROFILER_OUTPUT/kernel_details.csv")


def test_trace_without_its_end(folder):
    trace = folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    text = trace.read_text()
    trace.write_text(text[:-1])
    told = profile(folder)
    assert norms(told)[0]["site"] == "net/norm.py:17"
    assert any("the trace has no end" in note for note in told["notes"])


def test_broken_trace_costs_the_lines_alone(folder):
    (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text("oops")
    told = profile(folder)
    assert norms(told)[0]["count"] == 3 and norms(told)[0]["site"] is None
    assert any("no list of events" in note for note in told["notes"])


def test_trace_alone(folder):
    told = profile(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    assert told["rows"] == 24 and not norms(told)
    assert any("which has no shapes" in note for note in told["notes"])


def test_table_alone(folder):
    told = profile(folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv")
    assert norms(told)[0]["module_by"] == "repetition"
    assert any("no trace_view.json" in note for note in told["notes"])


def test_slices(tmp_path):
    for n in range(2):
        write_table(tmp_path / ("op_summary_0_slice_%d.csv" % n), norm_rows(n, START + 1000 * n))
    told = profile(tmp_path)
    assert norms(told)[0]["occurrences"] == [[0, 7], [8, 15]]
    assert any("2 files of kernels are read as one" in note for note in told["notes"])


def test_database(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))  # another test may use the usual one
    test_profile_db.make(tmp_path / "ascend_pytorch_profiler_0.db")
    told = profile(tmp_path, "--python", sys.executable)
    assert told["rows"] == 3 and told["chip"]["name"] == "910B3"
    assert any("no column hf32Eligible" in note for note in told["notes"])
    assert not os.listdir(tmp_path / "tmp")


@pytest.mark.parametrize("name, text, said", [
    ("kernel_details.csv", b"", "is empty"),
    ("kernel_details.csv", b"\x7fELF\0\0\0", "is no profile"),
    ("kernel_details.csv", b"a,b\n1,2\n", "kernel_details.csv"),
    ("trace_view.json", b"[{}]", "has no kernels of an NPU"),
    ("x.db", b"SQLite format 3\0broken", "cannot read"),
])
def test_wrong_files(tmp_path, name, text, said):
    (tmp_path / name).write_bytes(text)
    told = profile(tmp_path / name, "--python", sys.executable, code=2)
    assert said in told and told.count("\n") == 1


def test_no_profile_in_the_folder(tmp_path):
    assert "there is no profile in" in profile(tmp_path, code=2)


def test_ranks(folder):
    shutil.copytree(folder, folder.parent / "host_2_ascend_pt")
    told = profile(folder.parent)
    assert norms(told)[0]["count"] == 3
    assert any("2 profiles are in this folder; 'host_1_ascend_pt'" in n for n in told["notes"])
