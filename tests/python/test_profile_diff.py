"""profile --diff: did the fused kernel come, and what went."""
import json
import os
import subprocess
import sys

import test_profile_inputs as inputs

sys.path.insert(0, os.path.join(inputs.HERE, "..", "prof"))

import profgen  # noqa: E402

X = '"2048,4096"'


def fused_row(step, start, kind="RmsNorm"):
    return [step, 0, 2, "aclnn%s_%s" % (kind, kind), kind, "AI_VECTOR_CORE",
            "%d.500\t" % start, "40.25", '"2048,4096;4096"', "DT_BF16;DT_BF16", X, "DT_BF16"]


def write(path, steps, make):
    rows = [r for n in range(steps) for r in make(n + 1, inputs.START + 1000 * n)]
    inputs.write_table(path, rows)
    return str(path)


def diff(*paths, code=0, options=("--format", "json")):
    run = subprocess.run([inputs.NPUFUSE, "profile", *options, "--diff", *paths],
                         capture_output=True, text=True)
    assert run.returncode == code, run.stderr
    return json.loads(run.stdout) if "json" in options and run.stdout else run.stdout + run.stderr


def test_fused_kernel_came(tmp_path):
    base = write(tmp_path / "base.csv", 3, inputs.norm_rows)
    fused = write(tmp_path / "fused.csv", 2, lambda n, at: [fused_row(n, at)])
    told = diff(base, fused)
    (run,) = told["runs"]
    assert (run["pattern"], run["fate"], run["kernel"]) == ("rms_norm", "fused", "RmsNorm")
    assert (run["base_calls"], run["calls"], run["fused"]["calls"]) == (1, 0, 1)
    assert run["fused"]["us"] == 40.25
    assert (told["base_steps"], told["steps"]) == (3, 2)
    kernels = {k["name"]: k for k in told["kernels"]}
    assert kernels["Pow"]["base_calls"] == 1 and kernels["Pow"]["calls"] == 0
    assert kernels["Pow"]["first_row"] is None and kernels["Pow"]["base_first_row"] == 1
    assert kernels["Cast"]["base_us"] == 51  # two a step, in steps of equal length
    text = diff(base, fused, options=())
    assert "fused: RmsNorm runs 1.00 times a step (0.00 in the base)" in text
    assert "vanished, first row" in text and "new, first row - -> " in text
    assert "no time by module" in text


def test_fused_kernel_is_absent(tmp_path):
    base = write(tmp_path / "base.csv", 3, inputs.norm_rows)
    again = write(tmp_path / "again.csv", 2, inputs.norm_rows)
    (run,) = diff(base, again, code=1)["runs"]
    assert (run["fate"], run["calls"], run["kernel"]) == ("absent", 1, "RmsNorm")
    assert "still there; the fused kernel RmsNorm is absent" in diff(base, again, code=1,
                                                                     options=())
    gone = write(tmp_path / "gone.csv", 1, lambda n, at: [fused_row(n, at, "Mul")])
    (run,) = diff(base, gone, code=1)["runs"]
    assert run["fate"] == "gone"


def test_versions_of_the_kernel(tmp_path):
    base = write(tmp_path / "base.csv", 2, inputs.norm_rows)
    for kind, fate in (("RmsNormV2", "fused"), ("RmsNormQuant", "gone"), ("AddRmsNorm", "fused")):
        other = write(tmp_path / "other.csv", 1, lambda n, at: [fused_row(n, at, kind)])
        (run,) = diff(base, other, code=0 if fate == "fused" else 1)["runs"]
        assert run["fate"] == fate, kind


def test_modules(tmp_path):
    paths = []
    for name, count in (("a", 2), ("b", 3)):
        output = tmp_path / (name + "_ascend_pt") / "ASCEND_PROFILER_OUTPUT"
        write(output / "kernel_details.csv", count, lambda n, at: inputs.norm_rows(1, at))
        (output / "trace_view.json").write_text(json.dumps(inputs.norm_trace(count)))
        paths.append(str(output))
    told = diff(*paths, code=1)
    (module,) = told["modules"]
    assert (module["name"], module["base_calls"], module["calls"]) == ("Norm", 16, 24)
    assert module["us"] == 24 * 25.5


def test_usage(tmp_path):
    base = write(tmp_path / "base.csv", 2, inputs.norm_rows)
    assert "takes one PATH, or --diff and two" in diff(base, code=2, options=())
    assert "there is no '" in diff(base, str(tmp_path / "x"), code=2, options=())
    assert "goes with neither" in diff(base, base, code=2, options=("--html", "x"))


def test_a_norm_that_is_fused_without_its_sum(tmp_path):
    text, _ = profgen.generate(*profgen.settings(["layers=1", "steps=2"]), 1)
    base = tmp_path / "base.csv"
    base.write_text(text)
    fused = write(tmp_path / "fused.csv", 2, lambda n, at: [fused_row(n, at)])
    runs = {run["pattern"]: run for run in diff(str(base), fused)["runs"]}
    assert (runs["add_rms_norm"]["fate"], runs["add_rms_norm"]["kernel"]) == ("fused", "RmsNorm")
    assert (runs["swiglu"]["fate"], runs["swiglu"]["kernel"]) == ("gone", "SwiGlu")
