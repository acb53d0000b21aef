"""The limits of the chip as the profile tells them, and bytes as counters count them."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "prof"))

import kernels  # noqa: E402

BIN = os.environ.get("NPUFUSE_BIN") or str(ROOT / "build" / "dev" / "npufuse")
SWIGLU = kernels.parse_all("""
    Slice 128,1024 bf16 -> 128,512 bf16
    Slice 128,1024 bf16 -> 128,512 bf16
    Swish 128,512 bf16 -> 128,512 bf16
    Mul 128,512 bf16; 128,512 bf16 -> 128,512 bf16
    Exp 9 fp32 -> 9 fp32
    Exp 9 fp32 -> 9 fp32""")


WITH_GAPS = (4 * 20 + 3 * 1) / (4 * 20)  # of the time of the kernels


def mine(path, *options):
    done = subprocess.run([BIN, "profile", str(path), "--format", "json", "-q", *options],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def profile_of(tmp_path, device):
    folder = tmp_path / "host_1_20260101000000000_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text(kernels.table(SWIGLU), encoding="utf-8")
    info = folder / "PROF_000001_20260101000000000_ABCDEFGH" / "device_0"
    info.mkdir(parents=True)
    (info / "info.json.0").write_text(json.dumps({"DeviceInfo": [device]}), encoding="utf-8")
    return folder


@pytest.mark.parametrize("device, name, bandwidth, peak", [
    ({"ai_core_num": 24, "aic_frequency": "1800"}, "910B2", 1600, 353.8944),
    ({"ai_core_num": 20, "aic_frequency": 1500}, "910B4", 800, 245.76),
    ({"ai_core_num": 20, "aic_frequency": "777"}, None, None, 127.30368),
    ({"name": "Ascend910_9382", "ai_core_num": 7}, "910_93", 1600, 353.8944),
    ({"name": "Ascend910B4-1"}, "910B4", 800, 245.76),
    ({"name": "Ascend910B9"}, None, None, None),
])
def test_limits_from_the_profile(tmp_path, device, name, bandwidth, peak):
    chip = mine(profile_of(tmp_path, device))["chip"]
    assert (chip["name"], chip["gb_per_s"]) == (name, bandwidth)
    assert chip["tflop_per_s"] == (pytest.approx(peak) if peak else None)


def test_options_come_before_the_profile(tmp_path):
    folder = profile_of(tmp_path, {"ai_core_num": 24, "aic_frequency": "1800"})
    chip = mine(folder, "--bandwidth", "1000")["chip"]
    assert chip["gb_per_s"] == 1000
    assert chip["tflop_per_s"] == pytest.approx(353.8944)
    chip = mine(folder, "--chip", "910A")["chip"]
    assert (chip["name"], chip["gb_per_s"]) == ("910A", 1200)


def counted(tmp_path, prefix, values):
    """The kernels with two more columns: KB read and written."""
    header, *lines = kernels.table(SWIGLU).splitlines()
    names = [f"{prefix}read_main_memory_datas(KB)", f"{prefix}write_main_memory_datas(KB)"]
    path = tmp_path / "kernel_details.csv"
    rows = [line + "," + value for line, value in zip(lines, values)]
    path.write_text("\n".join([",".join([header] + names)] + rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("prefix", ["", "aic_", "aiv_"])
def test_bytes_that_were_counted(tmp_path, prefix):
    path = counted(tmp_path, prefix, ["128,128"] * 2 + ["16,128"] * 2 + ["1,1"] * 2)
    run = mine(path)["runs"][0]
    assert run["pattern"] == "swiglu"
    assert run["counted_bytes"] == (2 * 256 + 2 * 144) * 1024
    assert run["cap_is_relative"] is True
    assert run["cap"] == pytest.approx(run["counted_bytes"] / run["external_bytes"] * WITH_GAPS)


def test_a_kernel_without_a_count_leaves_the_shapes(tmp_path):
    path = counted(tmp_path, "", ["128,128"] * 3 + ["N/A,N/A"] + ["1,1"] * 2)
    run = mine(path)["runs"][0]
    assert run["counted_bytes"] is None
    assert run["cap"] == pytest.approx(run["bytes"] / run["external_bytes"] * WITH_GAPS)


def with_trace(tmp_path, names):
    """The kernels with a trace of the host that has spans of these names."""
    folder = profile_of(tmp_path, {})
    events = [{"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": 1,
               "ts": f"{100 + i}.5", "dur": 0.25} for i, name in enumerate(names)]
    (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text(
        json.dumps(events), encoding="utf-8")
    return mine(folder)["notes"]


def test_the_optimizer_of_the_trace(tmp_path):
    notes = with_trace(tmp_path, ["Optimizer.step#Lamb.step"] * 3 + ["Optimizer.step#Mine.step"])
    assert [n for n in notes if "optimizer" in n] == [
        "the optimizer is Lamb (3 steps): torch_npu.optim.NpuFusedLamb updates all tensors of a "
        "group in one"]


@pytest.mark.parametrize("count, told", [(19, False), (20, True)])
def test_kernels_compiled_on_the_way(tmp_path, count, told):
    notes = with_trace(tmp_path, ["AscendCL@aclopCompileAndExecute"] * count)
    said = [n for n in notes if n.startswith(f"kernels were compiled while the program ran, {count}")]
    assert bool(said) == told
