"""`profile` against profiles whose runs are known: every spelling and dialect."""
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "prof"))

import profgen  # noqa: E402

BIN = os.environ.get("NPUFUSE_BIN") or str(ROOT / "build" / "dev" / "npufuse")

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "schema" / "profile.schema.json").read_text(encoding="utf-8")))

SPELLINGS = [
    [], ["mlp=merged"], ["slice=StridedSliceD"], ["slice=AsStrided", "mlp=merged"],
    ["slice=SplitVD", "mlp=merged"], ["wide_gate=1"], ["wide_gate=1", "mlp=merged"], ["muls=Muls", "adds=Adds"], ["square=Square"],
    ["square=Mul"], ["mean=ReduceMeanD"], ["sum=ReduceSumOp"], ["silu=Silu"], ["matmul=mixed"],
    ["matmul=MatMulV3"], ["extra_cast=0.3"], ["memset=1"], ["memset=0.5", "extra_cast=0.2"],
    ["bias=1"], ["bias=1", "mlp=merged"], ["dropout=1"], ["dropout=1", "masked_fill=1"],
    ["tiled=1"], ["tiled=1", "bias=1", "matmul=mixed"], ["masked_fill=1"],
    ["rotate_first=1"], ["lerp=1"], ["decay=none"], ["decay=last"], ["decay=last", "lerp=1"],
    ["decay=last", "memset=1", "comm=0.1"], ["addcmul=apart"], ["addcdiv=apart"],
    ["addcmul=apart", "addcdiv=apart", "decay=last", "muls=Muls"], ["square=PowTensorTensor"],
    ["rsqrt=Pow"], ["rsqrt=Sqrt+Reciprocal"], ["extra_cast=0.3", "wide_cast=0.2"],
    ["end_dropout=1"], ["end_dropout=1", "bias=1"], ["end_dropout=1", "bias=1", "mlp=merged"],
    ["weight_cast=1"], ["weight_cast=1", "bias=1"], ["softmax_grad=SoftmaxGradExt"], ["masked_fill=1", "fill=MaskedFillScalar"],
    ["final_norm=0"], ["embedding=0"],
    ["final_norm=0", "embedding=0"], ["comm=0.05"], ["side_stream=0.1"],
    ["comm=0.03", "side_stream=0.05", "mlp=merged"], ["kv_heads=8"], ["kv_heads=1"],
    ["heads=4", "kv_heads=4", "head_dim=64"], ["heads=16", "kv_heads=2", "head_dim=16"],
    ["seq=32"], ["seq=256", "batch=2"], ["low=fp16"], ["layers=1"], ["layers=5", "steps=1"],
    ["layers=1", "final_norm=0", "embedding=0", "steps=3"],
    ["host_bound=0.9"], ["stall=0.05"], ["rows=150"], ["rows=333"], ["inner=256"],
]
DIALECTS = [
    ["old=1"], ["op_summary=1"], ["one_core=1", "low=fp16"], ["pipes=0"], ["step=0"],
    ["stream=0"], ["crlf=1", "bom=1"], ["brackets=1"], ["short_dtypes=1"], ["shuffle=1"],
]


def report(path, *options):
    command = [BIN, "profile", str(path), "--format", "json", "-q", *options]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode in (0, 1), done.stderr.decode()
    result = json.loads(done.stdout)
    SCHEMA.validate(result)
    return result


def found_ranges(runs):
    found = {}
    for run in runs:
        if run["kind"] == "fusion":
            found.setdefault(run["pattern"], []).extend(map(list, run["occurrences"]))
    return {name: sorted(ranges) for name, ranges in found.items()}


def rows_twice(runs):
    """Rows that two runs claim, of which none says that it is part of the other."""
    claimed, twice = set(), set()
    for run in runs:
        if run["part_of"]:
            continue
        for first, last in run["occurrences"]:
            rows = set(range(first, last + 1))
            twice |= claimed & rows
            claimed |= rows
    return twice


def check(tmp_path, pairs, seed):
    spelling, dialect = profgen.settings(pairs)
    text, truth = profgen.generate(spelling, dialect, seed)
    path = tmp_path / "kernel_details.csv"
    path.write_text(text, encoding="utf-8", newline="")
    result = report(path, "--bandwidth", "1600", "--peak", "353.9", "--launch", "0.001")
    expected = {name: ranges for name, ranges in truth["occurrences"].items() if ranges}
    assert found_ranges(result["runs"]) == expected
    assert not rows_twice(result["runs"])
    assert result["attributed_us"] <= result["kernel_us"] + 1e-6
    return result, truth


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("pairs", SPELLINGS, ids=lambda p: ",".join(p) or "plain")
def test_every_spelling(tmp_path, pairs, seed):
    check(tmp_path, pairs, seed)


@pytest.mark.parametrize("pairs", DIALECTS, ids=",".join)
def test_every_dialect(tmp_path, pairs):
    result, truth = check(tmp_path, pairs, 3)
    for run in result["runs"]:
        if run["pattern"] != "fused_adamw" or "shuffle=1" in pairs:
            continue
        sums = truth["sums"]["fused_adamw"]
        assert run["device_us"] == pytest.approx(sums["device_us"], abs=0.001)
        assert run["gap_us"] == pytest.approx(sums["gap_us"], abs=0.001)
        assert run["bytes"] == sums["bytes"]


@pytest.mark.parametrize("name", ["rms_norm", "rotary_mul", "fusion_attention", "swiglu",
                                  "swiglu_bwd", "rms_norm_bwd", "fusion_attention_bwd"])
def test_a_file_that_ends_with_a_run(tmp_path, name):
    pairs = ["layers=1", "seq=32"]
    _, truth = profgen.generate(*profgen.settings(pairs), 1)
    for _, last in truth["occurrences"][name][:2]:
        check(tmp_path, pairs + [f"rows={last + 1}"], 1)
        check(tmp_path, pairs + [f"rows={last}"], 1)
