"""The profiler's database, as a table of kernels and a trace."""
import csv
import json
import os
import sqlite3
import subprocess
import sys

import pytest

from npufuse import profile_db

START = 1750000000000000702

TABLES = """
create table STRING_IDS (id integer, value text);
create table NPU_INFO (id integer, name text);
create table STEP_TIME (id integer, startNs integer, endNs integer);
create table TASK (startNs integer, endNs integer, deviceId integer, connectionId integer,
  globalTaskId integer, globalPid integer, taskType integer, contextId integer,
  streamId integer, taskId integer, modelId integer);
create table COMPUTE_TASK_INFO (name integer, globalTaskId integer, blockNum integer,
  taskType integer, opType integer, opState integer, inputShapes integer,
  inputDataTypes integer, outputShapes integer, outputDataTypes integer);
create table TASK_PMU_INFO (globalTaskId integer, name integer, value real);
create table COMMUNICATION_OP (opName integer, startNs integer, endNs integer, deviceId integer);
create table PYTORCH_API (startNs integer, endNs integer, globalTid integer, connectionId integer,
  name integer, sequenceNumber integer, callchainId integer);
create table PYTORCH_CALLCHAINS (id integer, stack integer, stackDepth integer);
create table CONNECTION_IDS (id integer, connectionId integer);
"""
TEXTS = ["aclnnMul_Mul", "Mul", "dynamic", "AI_VECTOR_CORE", '"4,8;4,8"', "FLOAT;FLOAT",
         '"4,8"', "FLOAT", "aiv_mte2_ratio", "hcom_allReduce", "aten::mul", "net.py(7): forward",
         "train.py(3): main"]
NUMBER = {text: n for n, text in enumerate(TEXTS, 1)}


def make(path, without=()):
    db = sqlite3.connect(path)
    db.executescript(TABLES)
    db.executemany("insert into STRING_IDS values (?, ?)", [(n, t) for t, n in NUMBER.items()])
    n = NUMBER.__getitem__
    db.execute("insert into NPU_INFO values (0, 'Ascend910B3')")
    db.execute("insert into STEP_TIME values (4, ?, ?)", (START, START + 10000))
    for k in (1, 0):  # not by start
        start = START + 5000 * k
        db.execute("insert into TASK values (?,?,0,?,?,1,0,0,2,?,-1)",
                   (start, start + 2500, 77 + k, 900 + k, 30 + k))
        db.execute("insert into COMPUTE_TASK_INFO values (?,?,48,?,?,?,?,?,?,?)",
                   (n("aclnnMul_Mul"), 900 + k, n("AI_VECTOR_CORE"), n("Mul"), n("dynamic"),
                    n('"4,8;4,8"'), n("FLOAT;FLOAT"), n('"4,8"'), n("FLOAT")))
    db.execute("insert into TASK_PMU_INFO values (900, ?, 0.75)", (n("aiv_mte2_ratio"),))
    db.execute("insert into COMMUNICATION_OP values (?, ?, ?, 0)",
               (n("hcom_allReduce"), START + 1, START + 9))
    db.execute("insert into PYTORCH_API values (?, ?, 5, 1, ?, 12, 3)",
               (START - 9000, START - 8000, n("aten::mul")))
    db.executemany("insert into PYTORCH_CALLCHAINS values (3, ?, ?)",
                   [(n("train.py(3): main"), 1), (n("net.py(7): forward"), 0)])
    db.execute("insert into CONNECTION_IDS values (1, 77)")
    for table in without:
        db.execute("drop table %s" % table)
    db.commit()
    db.close()
    return str(path)


def kernels(folder):
    with open(folder / "kernel_details.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_rows_of_kernels(tmp_path):
    told = profile_db.convert(make(tmp_path / "p.db"), str(tmp_path))
    assert told == {"kernels": 2, "ops": 1, "arrows": 1,
                    "missing": ["no column hf32Eligible in COMPUTE_TASK_INFO",
                                "no column inputFormats in COMPUTE_TASK_INFO",
                                "no column outputFormats in COMPUTE_TASK_INFO"]}
    first, second, comm = kernels(tmp_path)
    assert first["Start Time(us)"] == "1750000000000000.702"  # not a double
    assert first["Duration(us)"] == "2.500" and first["Step Id"] == "4"
    assert first["Type"] == "Mul" and first["Input Shapes"] == '"4,8;4,8"'
    assert first["Stream ID"] == "2" and first["Block Num"] == "48"
    assert first["aiv_mte2_ratio"] == "0.75" and second["aiv_mte2_ratio"] == "N/A"
    assert second["Task ID"] == "31"
    assert comm["Accelerator Core"] == "COMMUNICATION" and comm["Type"] == "hcom_allReduce"
    info = json.loads((tmp_path / "info.json").read_text())
    assert info == {"DeviceInfo": [{"name": "Ascend910B3"}]}


def test_trace_of_the_host(tmp_path):
    profile_db.convert(make(tmp_path / "p.db"), str(tmp_path))
    events = json.loads((tmp_path / "trace_view.json").read_text())
    assert [e["ph"] for e in events] == ["X", "s", "f", "X"]
    operator, start, end, lane = events
    assert operator["args"]["Call stack"] == "net.py(7): forward;\r\ntrain.py(3): main"
    assert operator["args"]["Sequence number"] == 12
    assert start["ts"] == operator["ts"] and start["id"] == end["id"]
    assert end["ts"] == "1750000000000000.702"
    assert lane["args"]["Stream Id"] == 2 and lane["tid"] == end["tid"]


def test_what_is_missing_is_said(tmp_path):
    gone = ("PYTORCH_API", "TASK_PMU_INFO", "NPU_INFO", "STEP_TIME", "COMMUNICATION_OP")
    told = profile_db.convert(make(tmp_path / "p.db", gone), str(tmp_path))
    assert told["kernels"] == 2 and told["ops"] == 0
    text = " ".join(told["missing"])
    assert "no PYTORCH_API" in text and "no TASK_PMU_INFO" in text and "no NPU_INFO" in text
    assert not (tmp_path / "trace_view.json").exists()
    assert [row["Step Id"] for row in kernels(tmp_path)] == ["", ""]


@pytest.mark.parametrize("kind", ["analysis", "text", "none"])
def test_no_profile(tmp_path, kind):
    path = tmp_path / "p.db"
    if kind == "analysis":
        make(path, ("TASK",))
    elif kind == "text":
        path.write_text("this is no database, whatever its name says")
    package = os.path.dirname(os.path.dirname(profile_db.__file__))
    run = subprocess.run([sys.executable, "-m", "npufuse.profile_db", str(path), str(tmp_path)],
                         capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=package))
    assert run.returncode == 2 and run.stderr.startswith("npufuse: cannot read '")
    assert run.stderr.count("\n") == 1 and not run.stdout
    assert kind != "none" or not path.exists()
