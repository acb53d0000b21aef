"""One candidate alone: spans as functions, the float64 reference, the verdict.

SPECs are made from real findings; wrong replacements are the right ones with
one fault put in, or come from the wrong rules under tests/rules.
"""
import json
import math
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch

import generated
from npufuse import cases, judge, rule, unit
from npufuse.compare import Comparison
from npufuse.float64 import Float64

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "tiny_decoder"
EXEC = ROOT / "tests" / "python" / "exec"
WRONG = ROOT / "tests" / "rules" / "wrong"
needs_binary = pytest.mark.skipif(
    generated.binary() is None, reason="npufuse is not built"
)


def scan(source, output, *words):
    command = [generated.binary(), "scan", str(source), "-o", str(output), "-q", *words]
    subprocess.run([str(w) for w in command], check=True, capture_output=True)
    found = json.loads((output / "findings.json").read_text())["findings"]
    return [f for f in found if f["replacement"]]


def spec_of(finding, root, **changes):
    module, _, operator = finding["api"].rpartition(".")
    name = finding["rule"]
    places = [ROOT / "rules", WRONG, ROOT / "tests" / "rules" / "rules"]
    files = [p / (n + ".py") for p in places for n in (name, name[len("wrong_"):])]
    keys = "id qualname start_line end_line original replacement rule inputs outputs"
    spec = {k: finding[k] for k in keys.split()}
    spec.update(
        schema=1,
        file=str(root / finding["file"]),
        inserts=[i["text"] for i in finding["inserts"]],
        rule_file=str(next(f for f in files if f.is_file())),
        ops=[str(ROOT / "ops"), str(ROOT / "tests" / "rules" / "ops")],
        module=module,
        operator=operator,
        predicate="npu_fused_ready",
        captured=[],
        device="auto",
        emulate=True,
        seed=1,
    )
    return dict(spec, **changes)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """{"file:line rule": (finding, root)} of the example and of exec/, with
    the bundled rules and with the wrong ones."""
    if generated.binary() is None:
        pytest.skip("npufuse is not built")
    result, place = {}, tmp_path_factory.mktemp("unit")
    for root in (EXAMPLE, EXEC):
        for words in ((), ("--rules", WRONG)):
            for f in scan(root, place / ("%s%d" % (root.name, len(words))), *words):
                key = "%s %s" % (f["file"], f["rule"])
                result.setdefault(key, (f, root))
    return result


def result_of(found, key, right="", wrong="", **changes):
    finding, root = found[key]
    assert right in finding["replacement"]
    if right:
        text = finding["replacement"].replace(right, wrong)
        changes["replacement"] = text
    return unit.Unit(spec_of(finding, root, **changes)).result()


# ------------------------------------------------------------------ what is right


def test_the_example(found):
    for key in ("decoder/norm.py rms_norm", "decoder/mlp.py swiglu",
                "decoder/moe.py swiglu"):
        result = result_of(found, key)
        assert (result["status"], result["reason"]) == ("pass", ""), key
        assert result["label"] == "emulated" and result["emulated"]
        assert result["fp64_reference_error"] < 1e-12
        modes = {c["mode"] for c in result["cases"]}
        assert modes == set(cases.MODES), key
        tensors = {c["tensor"] for c in result["cases"]}
        assert "output" in tensors and any(t.startswith("grad ") for t in tensors)
        assert all(c["original_gate"] for c in result["cases"] if c["name"] == "sample")


# What a span needs besides its inputs, and no constructor gives.
UNKNOWN = {
    "rms_by_length": "self.scale",  # d ** 0.5
    "rms_entries": "like.dtype",  # an entry of a tuple, of which the guard asks nothing
    "attention_folded": "x",  # sizes of a view
    "attention_one_head": "k.unsqueeze",  # keys of three axes, made from an input of four
    "attention_llama": "attention_mask",  # cut to the length of the keys
    "geglu_partial": "self.act",  # a partial function that a caller gives
    "rope_complex_halves": "x.dtype",  # of the transposed input
    "rope_cut": "self.half",
    "rope_pairs_cut": "heads",
    "swiglu_sequential": "x",  # the layer and the activation are one module
}
# An input that the span itself gives more axes: the sample has them already. A module that
# keeps the width it was made with: the sample has another.
OTHER_SHAPE = {
    "rope_complex": "not true: freqs.dim() == x.dim()",
}


@needs_binary
@pytest.mark.parametrize("path", sorted(EXEC.glob("*.py")), ids=lambda p: p.stem)
def test_every_style_of_author(path, found):
    keys = [k for k in found if k.startswith(path.name + " ") and "wrong_" not in k]
    assert keys
    for key in keys:
        result = result_of(found, key, seed=2)
        if path.stem in UNKNOWN:
            assert result["status"] == "blocked"
            text = "'%s' is not known; run npufuse capture" % UNKNOWN[path.stem]
            assert text in result["reason"]
        elif path.stem in OTHER_SHAPE:
            assert result["status"] == "blocked"
            assert OTHER_SHAPE[path.stem] in result["reason"]
        else:
            assert (result["status"], result["reason"]) == ("pass", ""), key


def compare_under(mode, original, fused):
    case = cases.Case("sample", "sample", {"x": torch.randn(4, 8)}, False, None, {}, {})
    comparison = Comparison(*(lambda v, f=f: [f(v["x"])] for f in (original, fused)))
    comparison.add(case, mode)
    return comparison


def test_where_the_tables_of_autocast_differ():
    """pow is float32 by the NPU's table, and left alone by the CPU's: what is written
    for the NPU is not held against the CPU."""
    def original(x):
        x = x.bfloat16()
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def fused(x):
        x = x.bfloat16().float()
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)

    there = compare_under("autocast_npu", original, fused)
    assert [r["dtype_original"] for r in there.rows if r["tensor"] == "output"] == ["float32"]
    assert there.first_failure() == ""
    here = compare_under("autocast_cpu", original, fused)
    assert here.rows == []
    assert here.unfit == [
        "sample, autocast_cpu: the NPU's autocast gives another dtype"]


def test_where_the_tables_of_autocast_agree():
    def original(x):
        return torch.matmul(x, x.T)

    here = compare_under("autocast_cpu", original, lambda x: original(x).float())
    assert "is float32 where the original gives bfloat16" in here.first_failure()


def test_an_attribute_that_was_captured(found):
    seen = {
        "id": "x",
        "count": 3,
        "inputs": {
            "x": {"shape": [2, 5, 16], "dtype": "float32", "stride": [80, 16, 1],
                  "contiguous": True},
            "weight": {"shape": [16], "dtype": "float32", "stride": [1],
                       "contiguous": True},
            "eps": {"value": 1e-24},
        },
        "locals": {"self.scale": 4.0},
        "autocast": {"enabled": False, "dtype": None},
    }
    key = "rms_by_length.py rms_norm_by_length"
    result = result_of(found, key, captured=[seen])
    assert (result["status"], result["reason"]) == ("pass", "")
    assert {c["source"] for c in result["cases"]} == {"captured", "edge"}
    assert any("x 2x5x16 float32" in c["inputs"] for c in result["cases"])
    seen["locals"]["self.scale"] = 5.0  # not the root of 16: another function
    assert result_of(found, key, captured=[seen])["status"] == "fail"


def test_captured_layouts_are_made():
    generator = torch.Generator().manual_seed(1)
    seen = {"shape": [3, 4, 8], "dtype": "bfloat16", "contiguous": False}
    swapped = cases.tensor_like(dict(seen, stride=[8, 24, 1]), generator, False)
    assert swapped.stride() == (8, 24, 1) and swapped.dtype == torch.bfloat16
    gaps = cases.tensor_like(dict(seen, stride=[64, 16, 1]), generator, False)
    assert gaps.shape == (3, 4, 8) and not gaps.is_contiguous()
    long = cases.tensor_like(
        dict(seen, shape=[64, 4096, 4096], stride=[1 << 24, 4096, 1], contiguous=True),
        generator, False)
    assert long.shape[-1] == 4096 and long.numel() <= cases.LARGEST_CASE


# ------------------------------------------------------------------ what is wrong


@pytest.mark.parametrize("key, reason", [
    ("decoder/norm.py wrong_one_plus", "float32, sample: output is off by"),
    ("decoder/norm.py wrong_dropped_epsilon", "float32, small rows: output is off by"),
    ("swiglu_swapped.py wrong_swapped_halves", "float32, sample: output is off by"),
    ("quick_gelu.py wrong_lost_cast",
     "bfloat16, sample: output is float32 where the original gives bfloat16"),
    ("quick_gelu.py wrong_missing_gradient",
     "float32, sample: grad x is missing: the original has one"),
])
def test_wrong_rules_are_vetoed(found, key, reason):
    result = result_of(found, key)
    assert result["status"] == "fail" and result["reason"].startswith(reason), result["reason"]


# name, what a faulty text has, instead of
FAULTS = [
    ("rms_llama.py rms_norm", "epsilon=self.variance_epsilon", "epsilon=0.0"),
    ("rms_llama.py rms_norm", "epsilon=self.variance_epsilon", "epsilon=1e-6"),
    ("rms_gemma.py rms_norm", "1 + self.weight.float()", "self.weight.float()"),
    ("rms_gemma.py rms_norm", "self.weight.float()", "self.weight.detach().float()"),
    ("rms_wide_result.py rms_norm", "x.to(torch.float32)", "x"),
    ("rms_t5.py rms_norm", "npu_x = x.to(torch.float32)", "npu_x = x"),
    ("swiglu_swapped.py swiglu", "[npu_gate, up]", "[up, npu_gate]"),
    ("decoder/mlp.py swiglu", "torch.cat([gate, up]", "torch.cat([up, gate]"),
    ("decoder/mlp.py swiglu", "torch.cat([gate, up]", "torch.cat([gate.detach(), up]"),
    ("decoder/moe.py swiglu", "npu_swiglu(packed,", "npu_swiglu(packed.float(),"),
    ("geglu_swapped.py geglu", "activate_left=False", "activate_left=True"),
    ("geglu_erf.py geglu", "approximate = 0", "approximate = 1"),
    ("swiglu_split.py swiglu", "packed.contiguous()", "packed"),
    ("quick_gelu.py quick_gelu", "npu_fast_gelu(x)", "npu_fast_gelu(x * 1.001)"),
    ("quick_gelu.py quick_gelu", "npu_fast_gelu(x)", "npu_fast_gelu(x) / (x * 0)"),
    ("quick_gelu.py quick_gelu", "npu_fast_gelu(x)", "npu_fast_gelu(x)[..., :1]"),
]


@needs_binary
@pytest.mark.parametrize("key, right, wrong", FAULTS)
def test_faults_are_vetoed(found, key, right, wrong):
    result = result_of(found, key, right, wrong)
    if "1e-6" in wrong and "1e-6" in (EXEC / key.split()[0]).read_text():
        pytest.skip("that is its epsilon")
    assert result["status"] == "fail" and result["reason"], result["status"]


def test_a_fault_by_state_is_left_to_the_loss(found):
    assert result_of(found, "quick_gelu.py wrong_state_dependent")["status"] == "pass"


# ----------------------------------------------------------------- what is blocked


def test_a_guard_that_says_no_is_named(found):
    result = result_of(
        found, "decoder/norm.py rms_norm", "hidden_states.dim() <= 8",
        "hidden_states.dim() <= 1")
    assert result["status"] == "blocked" and result["cases"] == []
    assert result["reason"] == (
        "the fused branch did not run: not true: hidden_states.dim() <= 1")


def test_an_inner_guard_is_named(found):
    result = result_of(
        found, "decoder/mlp.py swiglu", "gate.numel() > 0", "gate.numel() > 1e9")
    assert result["reason"].endswith("not true: gate.numel() > 1000000000.0")


def test_a_switch_that_is_off_is_named(found, monkeypatch):
    monkeypatch.setenv("NPUFUSE_RMS_NORM", "0")
    result = result_of(found, "rms_llama.py rms_norm")
    assert result["reason"].endswith("not true: NPUFUSE_RMS_NORM")


def test_without_the_emulator(found):
    result = result_of(found, "rms_llama.py rms_norm", emulate=False)
    assert (result["status"], result["emulated"]) == ("blocked", False)
    assert "emulation is switched off" in result["reason"]
    result = result_of(found, "rms_llama.py rms_norm", device="npu")
    assert result["reason"] == "no NPU works here"


@pytest.mark.parametrize("text, reason", [
    ("raise RuntimeError('no data')", "cannot be imported: RuntimeError: no data"),
    ("import absent_package", "ModuleNotFoundError: No module named 'absent_package'"),
    ("import sys; sys.exit('usage')", "cannot be imported: SystemExit: usage"),
])
def test_a_module_that_does_not_import(found, tmp_path, text, reason):
    finding, _ = found["quick_gelu.py quick_gelu"]
    source = (EXEC / "quick_gelu.py").read_text()
    (tmp_path / "broken.py").write_text(source + text + "\n")
    spec = spec_of(finding, tmp_path, file=str(tmp_path / "broken.py"))
    result = unit.Unit(spec).result()
    assert result["status"] == "blocked" and reason in result["reason"], result["reason"]


@pytest.mark.parametrize("before, text, blocked", [
    ("n = x.shape[-1]", "x * torch.sigmoid(1.702 * x) + 0 * n", ""),
    ("n = x\n    n = n.float()", "x * torch.sigmoid(1.702 * x) + 0 * n.sum()", ""),
    ("n = int(config)", "x * torch.sigmoid(1.702 * x) + 0 * n", "'config'"),
    ("n = x.shape[0]\n    x = x[0]", "x * torch.sigmoid(1.702 * x) + 0 * n", "'n'"),
    ("if config:\n        n = 1\n    else:\n        n = 2",
     "x * torch.sigmoid(1.702 * x) + 0 * n", "'n'"),
    ("for n in range(3):\n        pass", "x * torch.sigmoid(1.702 * x) + 0 * n", "'n'"),
    ("pass", "x * torch.sigmoid(1.702 * x) + 0 * (1 if flag else 2)", ""),
])
def test_names_that_are_no_inputs(tmp_path, before, text, blocked):
    """They are computed again from what came before, or named."""
    body = "    %s\n    return %s\n" % (before, text)
    source = "import torch\n\n\ndef f(x, config, flag=True):\n" + body
    name = "names_%d.py" % abs(hash((before, text)))
    (tmp_path / name).write_text(source)
    line = len(source.splitlines())
    original = "    return %s\n" % text
    spec = dict(
        schema=1, id="x", file=str(tmp_path / name), qualname="f", start_line=line,
        end_line=line, original=original,
        replacement='    if npu_fused_ready("npu_fast_gelu", x):\n'
        "        return torch_npu.npu_fast_gelu(x)\n    else:\n    " + original,
        inserts=["npu_fused_ready = torch_npu = None\n"],
        rule_file=str(ROOT / "rules" / "quick_gelu.py"), rule="quick_gelu", ops=[],
        module="torch_npu", operator="npu_fast_gelu", predicate="npu_fused_ready",
        inputs=[{"name": "x", "expr": "x"}], outputs=[{"name": "y", "expr": ""}],
        captured=[], seed=1)
    result = unit.Unit(spec).result()
    if blocked:
        assert result["status"] == "blocked" and blocked in result["reason"], result
    else:
        assert (result["status"], result["reason"]) == ("pass", "")


def test_names_that_are_used_later_are_outputs(found, tmp_path):
    source = '''import torch
import torch.nn.functional as F


def f(x):
    gate, up = x.chunk(2, dim=-1)
    y = F.silu(gate) * up
    return y + up
'''
    (tmp_path / "later.py").write_text(source)
    original = "".join(source.splitlines(True)[5:7])
    replacement = '''    if npu_fused_ready("npu_swiglu", x):
        up = x.chunk(2, dim=-1)[%d]
        y = torch_npu.npu_swiglu(x.contiguous(), dim=-1)
    else:
        gate, up = x.chunk(2, dim=-1)
        y = F.silu(gate) * up
'''
    finding, _ = found["swiglu_split.py swiglu"]
    for half, status in ((1, "pass"), (0, "fail")):
        spec = spec_of(
            finding, tmp_path, file=str(tmp_path / "later.py"), qualname="f",
            start_line=6, end_line=7, original=original, replacement=replacement % half,
            inputs=[{"name": "x", "expr": "x"}],
            outputs=[{"name": "result", "expr": "F.silu(gate) * up"}])
        result = unit.Unit(spec).result()
        assert result["status"] == status, result["reason"]
        assert {"output 1", "output 2", "grad x"} <= {c["tensor"] for c in result["cases"]}


# ------------------------------------------------------------------- plain torch


@needs_binary
@pytest.mark.parametrize("name", ["faster_product", "equal_product", "slower_gate"])
def test_an_operator_of_torch_is_native(name, tmp_path):
    script = ROOT / "tests" / "trial"
    rules = ROOT / "tests" / "rules" / "rules"
    (finding,) = [
        f for f in scan(script / "train_cpu.py", tmp_path, "--rules", rules, "--rule", name)
    ]
    result = unit.Unit(spec_of(finding, script, file=str(script / "train_cpu.py"))).result()
    assert (result["status"], result["reason"]) == ("pass", "")
    assert (result["label"], result["emulated"]) == ("native", False)


# ---------------------------------------------------------------------- the file


def test_the_result_is_a_file(found, tmp_path):
    """A process, as the command starts it: SPEC in, RESULT out, exit 0."""
    finding, root = found["decoder/norm.py rms_norm"]
    (tmp_path / "spec.json").write_text(json.dumps(spec_of(finding, root)))
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
    words = [sys.executable, "-B", "-m", "npufuse.unit", "spec.json", "result.json"]
    done = subprocess.run(words, cwd=str(tmp_path), env=environment,
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

    def refuse(text):
        raise AssertionError(text)  # NaN and Infinity are no JSON

    text = (tmp_path / "result.json").read_text()
    result = json.loads(text, parse_constant=refuse)
    assert result["status"] == "pass" and result["schema"] == 1
    assert set(result) == set(
        "schema status reason emulated label device fp64_reference_error cases "
        "environment".split())
    assert set(result["cases"][0]) == set(
        "name mode source inputs tensor dtype_original dtype_fused cosine max_abs_err "
        "norm_ratio original_error fused_error limit original_gate status reason".split())
    assert result["environment"]["torch"] == torch.__version__
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.json", "spec.json"]
    words[-2] = "absent.json"
    assert subprocess.run(words, cwd=str(tmp_path), env=environment,
                          capture_output=True).returncode != 0


# ----------------------------------------------------------------- float64, judge


def rms64(x, w, eps):
    """RMSNorm by another formula, in numbers of Python."""
    rows = []
    for row in x.double().reshape(-1, x.shape[-1]).tolist():
        root = math.sqrt(math.fsum(v * v for v in row) / len(row) + eps)
        rows.append([v / root * g for v, g in zip(row, w.double().tolist())])
    return torch.tensor(rows, dtype=torch.float64).reshape(x.shape)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_reference_is_float64(dtype):
    """Its own error on an RMSNorm that names float32 everywhere."""

    def norm(x, w):
        kind = x.dtype
        h = x.to(torch.float32)
        v = h.pow(2).mean(-1, keepdim=True, dtype=torch.float32)
        one = torch.ones(h.shape[-1], dtype=torch.float32)
        h = h.float() * torch.rsqrt(v + torch.tensor(1e-6)).type_as(h.half())
        return (w.type(torch.FloatTensor) * one * h.to(kind)).to(torch.bfloat16)

    x, w = torch.randn(5, 64).to(dtype), torch.rand(64).to(dtype)
    with Float64():
        y = norm(x.double(), w.double())
    assert y.dtype == torch.float64
    truth = rms64(x, w, 1e-6)
    assert ((y - truth).abs().max() / truth.abs().max()).item() < 1e-12
    assert torch.get_default_dtype() == torch.float32
    assert norm(x, w).dtype == torch.bfloat16  # outside it is as ever


def row(fused, original, truth):
    return judge.compare(*(torch.as_tensor(t) for t in (fused, original, truth)))


def test_the_known_gate_passes_what_the_verdict_does_not():
    """A scale of 1.02 has a cosine of 1; a lost row hides in ten thousand."""
    truth = torch.randn(100, 100, dtype=torch.float64)
    original = truth.float()
    assert row(original.clone(), original, truth)["status"] == "pass"
    scaled = row(1.02 * original, original, truth)
    assert scaled["original_gate"] and scaled["status"] == "fail"
    lost = original.clone()
    lost[3, :5] = 0.0
    lost = row(lost, original, truth)
    assert lost["original_gate"] and lost["status"] == "fail"
    tiny = row(torch.full((4,), 9e-5), torch.full((4,), 1e-8), torch.full((4,), 1e-8).double())
    assert tiny["original_gate"] and tiny["status"] == "fail"


def test_what_rounds_once_is_no_worse_than_what_rounds_twice():
    for dtype in (torch.bfloat16, torch.float16):
        a, b = torch.randn(2, 4096).to(dtype)
        truth = a.double() * b.double() * a.double()
        twice, once = a * b * a, (a.float() * b.float() * a.float()).to(dtype)
        assert row(once, twice, truth)["status"] == "pass"
        assert row(twice, twice, truth)["status"] == "pass"


def test_numbers_that_are_not_finite():
    truth = torch.ones(3).double()
    bad = torch.tensor([1.0, math.nan, 1.0])
    made = row(bad, torch.ones(3), truth)
    assert made["status"] == "fail" and made["reason"] == "is not finite"
    assert made["cosine"] is None and made["fused_error"] is None
    assert row(torch.ones(3), bad, truth)["status"] == "pass"


def test_an_original_that_overflows_is_no_measure():
    """x ** 2 in float16 is infinite, rsqrt of it 0: the fused form is right."""
    x = torch.full((2, 8), 600.0).half()
    original = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))
    assert original.abs().max() == 0
    made = row(torch.ones(2, 8).half(), original, torch.ones(2, 8).double())
    assert made["status"] == "pass"


@pytest.mark.parametrize("seed", range(3, 8))
@pytest.mark.parametrize("r", rule.load_all(), ids=lambda r: r.id)
def test_bundled_rules_have_room_below_the_limit(r, seed):
    """No false veto is near: the worst error is below 3/4 of its limit."""
    from npufuse import rule_check

    for variant in rule.variants(r):
        rows = rule_check.compare_variant(r, variant, seed).rows
        assert rows
        for made in rows:
            assert made["status"] == "pass", made
            if made["limit"]:
                assert made["fused_error"] <= 0.75 * made["limit"], made


def test_the_seed_decides():
    def values(seed):
        generator = torch.Generator().manual_seed(seed)
        sample = {"x": torch.ones(2, 4, 8)}
        return [c.values["x"] for c in cases.from_sample(sample, ["x"], generator)]

    same = zip(values(1), values(1))
    assert all(torch.equal(a, b) for a, b in same)
    assert not all(torch.equal(a, b) for a, b in zip(values(1), values(2)))


def test_a_class_of_another_module_of_the_package(monkeypatch):
    """A guard names the class alone; it may be imported by nobody here."""
    from npufuse import spans

    class Quiet(torch.nn.Module):
        pass

    sibling = types.ModuleType("tidy.activations")
    sibling.Quiet = Quiet
    again = types.ModuleType("tidy.reexports")
    again.Quiet = Quiet
    monkeypatch.setitem(sys.modules, "tidy.activations", sibling)
    monkeypatch.setitem(sys.modules, "tidy.reexports", again)
    names = {"__name__": "tidy.models.mlp"}
    assert type(spans.made_by_name("Quiet", names)) is Quiet
    assert spans.made_by_name("Quiet", {"__name__": "other.mlp"}) is None
    # Two classes of that name: nobody knows which one is meant.
    again.Quiet = type("Quiet", (torch.nn.Module,), {})
    assert spans.made_by_name("Quiet", names) is None
