"""scan --profile: measured time beside each candidate."""
import json
import os
import subprocess

import jsonschema
import pytest
import test_profile_inputs as inputs
import test_schema

ROOT = os.path.join(inputs.HERE, "..", "..")
NORM = '''import torch


class {name}(torch.nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        h = x.float()
        variance = h.pow(2).mean(-1, keepdim=True)
        h = h * torch.rsqrt(variance + self.eps)
        return self.weight * h.to(x.dtype)
'''


@pytest.fixture
def project(tmp_path):
    """Two norms in two files of a package."""
    for name in ("First", "Second"):
        path = tmp_path / "net" / (name.lower() + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(NORM.format(name=name))
    return tmp_path / "net"


def make_profile(tmp_path, places):
    """A profile with a norm for each (module, frame); None: the trace has none."""
    root = tmp_path / "host_ascend_pt"
    rows = [r for n in range(len(places)) for r in inputs.norm_rows(n, inputs.START + 1000 * n)]
    output = root / "ASCEND_PROFILER_OUTPUT"
    inputs.write_table(output / "kernel_details.csv", rows)
    events = inputs.norm_trace(len(places))
    frames = [e for e in events if e.get("cat") == "python_function"]
    for n, (module, frame) in enumerate(places):
        for event, name in zip(frames[2 * n:2 * n + 2], (module, frame)):
            if name is None:
                events.remove(event)
            else:
                event["name"] = name
    (output / "trace_view.json").write_text(json.dumps(events))
    return root


def scan(project, profile, *options, code=0):
    run = subprocess.run([inputs.NPUFUSE, "scan", ".", "-o", "out", "--lang", "en", "--profile",
                          str(profile), *options], capture_output=True, text=True, cwd=project)
    assert run.returncode == code, run.stderr
    if code:
        return run.stderr
    found = json.loads((project / "out" / "findings.json").read_text())
    jsonschema.Draft202012Validator(test_schema.SCHEMA).validate(found)
    measured = {f["file"]: f.get("measured", []) for f in found["findings"]}
    return found, measured, (project / "out" / "report.md").read_text(), run.stdout


def test_by_source_line(tmp_path, project):
    line = "/home/me/net/%s.py(13): forward"
    profile = make_profile(tmp_path, [(None, line % "first"), (None, line % "second"),
                                      (None, line % "first")])
    found, measured, report, text = scan(project, profile)
    (first,), (second,) = measured["first.py"], measured["second.py"]
    assert (first["joined_by"], first["calls"], first["shared"]) == ("line", 2, 1)
    assert first["device_us"] == pytest.approx(2 * 8 * 25.5)
    assert first["gap_us"] == pytest.approx(2 * 7 * 4.5)
    assert (first["first_row"], first["last_row"]) == (0, 7)
    assert (second["calls"], second["first_row"]) == (1, 8)
    assert first["site"] == "/home/me/net/first.py:13"
    # (8 * 25.5 + 7 * 4.5) us of kernels and gaps over the largest kernel's bound.
    assert first["cap"] == pytest.approx(10.389, abs=0.1) and first["cap_is_relative"]
    assert found["profile"]["unexplained"] == []
    assert "## Measured device time" in report and "| source line | 2 | 0.408 |" in report
    assert "measured: 0.707 ms of " in text.replace("0.706", "0.707")


def test_by_module(tmp_path, project):
    module = "nn.Module: Second_4"
    found, measured, _, _ = scan(project, make_profile(tmp_path, [(module, None)] * 3))
    (second,) = measured["second.py"]
    assert (second["joined_by"], second["calls"], second["module"]) == ("module", 3, "Second_4")
    assert not measured["first.py"] and found["profile"]["unexplained"] == []


def test_a_sum_and_its_norm_in_two_modules(tmp_path, project):
    """The sum is the block's, the norm its child's: the norm's class is the candidate's."""
    profile = make_profile(tmp_path, [("nn.Module: First_0", None)] * 3)
    output = profile / "ASCEND_PROFILER_OUTPUT"
    events = json.loads((output / "trace_view.json").read_text())
    rows = []
    for n in range(3):
        start, x = inputs.START + 1000 * n, '"2048,4096'
        ts = "%d.250" % (start - 30)
        rows.append([n, 0, 2, "aclnnAdd_Add", "Add", "AI_VECTOR_CORE", ts + "\t", "25.5",
                     x + ';2048,4096"', "DT_BF16;DT_BF16", x + '"', "DT_BF16"])
        rows += inputs.norm_rows(n, start)
        host = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            dict(host, name="nn.Module: Block_%d" % n, ts="%d.0" % (start - 50), dur=400,
                 cat="python_function", args={}),
            dict(host, name="aten::add", ts=ts, dur=5, cat="cpu_op",
                 args={"Sequence number": 900 + n, "Fwd thread id": 0}),
            {"ph": "s", "cat": "async_npu", "id": 900 + n, "pid": 1, "tid": 1, "ts": ts},
            {"ph": "f", "cat": "async_npu", "id": 900 + n, "pid": 64, "tid": 2, "ts": ts},
            {"ph": "X", "name": "aclnnAdd_Add", "pid": 64, "tid": 2, "ts": ts, "dur": 25.5,
             "args": {"Task Type": "AI_VECTOR_CORE", "Stream Id": 2}}]
    inputs.write_table(output / "kernel_details.csv", rows)
    (output / "trace_view.json").write_text(json.dumps(events))
    _, measured, _, _ = scan(project, profile)
    (first,) = measured["first.py"]
    assert (first["pattern"], first["joined_by"], first["calls"], first["module"]) == \
        ("add_rms_norm", "module", 3, "Block_0")
    assert not measured["second.py"]


def test_by_operator_alone(tmp_path, project):
    profile = make_profile(tmp_path, [(None, None)] * 3)
    os.remove(profile / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    found, measured, report, text = scan(project, profile)
    for file in ("first.py", "second.py"):
        (one,) = measured[file]
        assert (one["joined_by"], one["shared"], one["calls"]) == ("api", 2, 3)
    assert "operator alone, 2 candidates together" in report
    assert any("no trace_view.json" in note for note in found["profile"]["notes"])
    assert "no trace_view.json" in report
    total = (3 * 8 * 25.5 + 3 * 7 * 4.5) / 1e3
    assert "measured: %.3f ms" % total in text  # not twice


def test_code_that_was_not_scanned(tmp_path, project):
    profile = make_profile(tmp_path, [(None, "other/norm.py(7): forward")] * 3)
    found, measured, report, text = scan(project, profile)
    assert not measured["first.py"] and not measured["second.py"]
    (run,) = found["profile"]["unexplained"]
    assert run["pattern"] == "rms_norm" and run["site"] == "other/norm.py:7"
    assert run["calls"] == 3 and "1 hot runs have no candidate" in text
    assert "### Hot runs that no candidate explains" in report
    assert "`other/norm.py:7`" in report


def test_lines_of_another_file_do_not_join(tmp_path, project):
    profile = make_profile(tmp_path, [(None, "notfirst.py(13): forward")] * 2)
    _, measured, _, _ = scan(project, profile)
    assert not measured["first.py"]


def test_findings_go_on_to_be_used(tmp_path, project):
    profile = make_profile(tmp_path, [(None, "net/first.py(13): forward")])
    found, _, _, _ = scan(project, profile)
    run = subprocess.run([inputs.NPUFUSE, "confirm", found["findings"][0]["id"], "-o", "out",
                          "--statement", "I read it"], capture_output=True, text=True, cwd=project)
    assert run.returncode == 0, run.stderr


def test_faults(tmp_path, project):
    assert "there is no '" in scan(project, tmp_path / "nowhere", code=2)
    profile = make_profile(tmp_path, [(None, None)])
    assert "unknown chip 'x'" in scan(project, profile, "--chip", "x", code=2)
    assert not (project / "out" / "findings.json").exists()
