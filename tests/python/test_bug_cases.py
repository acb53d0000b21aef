"""Faults that people met with fused operators on an NPU: what a scan says of the
code that leads to each.

The code stands in tests/corpus/reports, or below. A case names the line, the rule,
the verdict, and what the fused branch must and must not have.
"""
import re

import pytest

import generated

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

REPORTS = generated.ROOT / "tests" / "corpus" / "reports"

OWN = {
    "causal_by_flag.py": """\
import torch.nn.functional as F

def causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)

def either(q, k, v, flag, mask=None):
    return F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=flag and mask is None)
""",
    "untouched_first.py": """\
import torch

def turn(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)

def untouched_first(x, cos, sin):
    d = cos.shape[-1]
    rest, turned = x[..., :-d], x[..., -d:]
    return torch.cat((rest, turned * cos + turn(turned) * sin), dim=-1)
""",
}

# file, line, rule, verdict, part of a reason, in the fused branch, not in it.
CASES = [
    # A mask of keys to keep is turned into one of keys to drop.
    ("mask_polarity_bool.py", 13, "fusion_attention", "recommend", "",
     ["drop = ~keep[:, None]", "atten_mask=npu_drop_mask(q, k, None, drop)", ")[0]"],
     ["atten_mask=keep"]),
    # What is added may be a bias: tested for its values, never made a mask unseen.
    ("mask_additive_bias.py", 5, "fusion_attention", "caution",
     "an additive bias would be lost by a bool mask", ["and npu_is_mask(rel_bias)"], []),
    # Causal by a flag alone: nothing is won, and the flag is not lost.
    ("causal_by_flag.py", 4, "fusion_attention", "reject",
     "torch_npu fuses scaled_dot_product_attention already", [], []),
    ("causal_by_flag.py", 7, "fusion_attention_builtin", "caution", "cannot prove it is a 0/-inf",
     ["and mask is not None", "and npu_is_mask(mask)", "atten_mask="], ["next_tockens"]),
    # A window is a whole mask: no mode, so no alignment to get wrong.
    ("sliding_window_alignment.py", 11, "fusion_attention", "recommend", "",
     ["drop = ~ok", "atten_mask="], ["sparse_mode", "pre_tockens", "next_tockens"]),
    # Packed rows of three axes.
    ("head_dim_limit.py", 11, "fusion_attention", "caution",
     "its axes are not those of a layout", [], []),
    # The weight's dtype decides the result's; epsilon is named; the first result.
    ("rms_fp32_input_bf16_weight.py", 11, "rms_norm", "recommend", "",
     ["torch.promote_types(kind, self.weight.dtype)", "self.weight.float()",
      "epsilon=self.variance_epsilon)[0]"], []),
    ("rms_gemma_one_plus_weight.py", 13, "rms_norm", "recommend", "",
     ["gamma = 1 + self.weight.float()", ")[0]"], ["mean()", "std()"]),
    ("rms_gemma_one_plus_weight.py", 13, "gemma_rms_norm", "caution", "has no gradient",
     ["and not torch.is_grad_enabled()"], []),
    # Without a weight the operator gets ones.
    ("rms_without_weight.py", 10, "rms_norm", "recommend", "",
     ["gamma = torch.ones(npu_x.shape[-1], dtype=torch.float32"], ["None"]),
    # A part of each row is turned; the other statements stay.
    ("rope_partial.py", 11, "rope_half", "recommend", "", ["q1 = torch_npu.npu_rotary_mul(q1"],
     ["cat"]),
    ("untouched_first.py", 10, "rope_half", "recommend", "",
     ["torch.cat((rest, torch_npu.npu_rotary_mul("], []),
    # Heads before the sequence, rows of no whole 32 bytes.
    ("rope_bnsd_unaligned.py", 11, "rope_half", "recommend", "",
     ["element_size() % 32 == 0", "n < 1000"], []),
    ("rope_interleaved.py", 8, "rope_interleaved", "recommend", "",
     ['rotary_mode="interleave")'], ["rotate="]),
    ("rope_interleaved.py", 11, "rope_complex", "recommend", "",
     ['rotary_mode="interleave")', "freqs.real.repeat_interleave(2", ".to(x.dtype)"], []),
    ("attention_graph_or_inference_only.py", 5, "fusion_attention", "caution",
     "does not take part in graph mode", [], ["os.environ", "print", "import"]),
    # Order of gate and up.
    ("swiglu_order.py", 6, "swiglu", "recommend", "", ["torch.cat([g, u]"], []),
    ("swiglu_order.py", 10, "swiglu", "recommend", "",
     ["up, gate = x.chunk(2", "torch.cat([gate, up]"], []),
    ("swiglu_order.py", 15, "geglu", "recommend", "", ["activate_left=True"], ["npu_swiglu"]),
    ("swiglu_order.py", 20, "swiglu", "recommend", "", ["torch.cat([g, u]"], []),
    # Clamped: another operator, for inference alone.
    ("swiglu_clamped.py", 4, "clipped_swiglu", "recommend", "",
     ["npu_clipped_swiglu", "and not torch.is_grad_enabled()", "alpha=alpha, limit=limit",
      "bias=1.0, interleaved=True"], ["npu_swiglu"]),
    # What is joined is what was clamped.
    ("swiglu_clamped.py", 13, "swiglu", "caution", "", ["torch.cat([g, u]"], ["x.chunk"]),
    ("moe_empty_expert_grads.py", 5, "moe_experts", "caution", "has no backward", [], []),
    ("moe_weight_layout_slow.py", 11, "swiglu", "recommend", "", ["@ self.down_proj[i].T"], []),
    ("moe_transformers5_shape_change.py", 8, "moe_router", "caution", "raises in backward", [],
     []),
    # The copy is made where the operator is called, and there only.
    ("non_contiguous_input.py", 12, "swiglu", "recommend", "", ["npu_swiglu(y.contiguous()"], []),
    ("autocast_gate.py", 15, "rms_norm", "recommend", "", [], []),
    ("dynamic_shape_recompile.py", 10, "swiglu", "reject", "both factors are one tensor", [], []),
]

FACTS = [
    ("attention_graph_or_inference_only.py", 5, "graph_mode", "proven", 9),
    ("non_contiguous_input.py", 12, "contiguity", "proven", 10),
    ("autocast_gate.py", 15, "autocast", "proven", 14),
    ("mask_polarity_bool.py", 13, "layout", "proven", None),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    made = tmp_path_factory.mktemp("bugs")
    (made / "in").mkdir()
    for path in REPORTS.glob("*.py"):
        (made / "in" / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    for name, text in OWN.items():
        (made / "in" / name).write_text(text, encoding="utf-8")
    return generated.scan(made / "in", made / "out")["findings"]


def at(found, file, line, rule=None):
    here = [f for f in found if f["file"] == file and f["start_line"] <= line <= f["end_line"] and
            (rule is None or f["rule"] == rule)]
    assert here, [(f["file"], f["start_line"], f["rule"]) for f in found if f["file"] == file]
    return here


def fused_branch(finding):
    """Guard and body: what stands before the `else` with the original."""
    return re.split(r"\n\s*else:\n", finding["replacement"])[0]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[1]}-{c[2]}")
def test_verdict_and_fused_branch(found, case):
    file, line, rule, verdict, reason, present, absent = case
    for finding in at(found, file, line, rule):
        assert finding["verdict"] == verdict, finding["reasons"]
        assert any(reason in text for text in finding["reasons"]), finding["reasons"]
        fused = fused_branch(finding)
        for part in present:
            assert part in fused, fused
        for part in absent:
            assert part not in fused, fused


@pytest.mark.parametrize("file,line,name,state,shown", FACTS)
def test_evidence(found, file, line, name, state, shown):
    fact = [f for f in at(found, file, line)[0]["facts"] if f["name"] == name][0]
    assert fact["state"] == state, fact
    if shown:
        assert [span["start_line"] for span in fact["chain"]] == [shown], fact


def test_original_is_the_other_branch(found):
    """Nothing is added to the code that runs without an NPU."""
    for finding in found:
        if not finding["replacement"]:
            continue
        rest = re.split(r"\n\s*else:\n", finding["replacement"], maxsplit=1)
        if len(rest) == 2:
            assert ".contiguous()" not in rest[1].replace(finding["original"], "") or \
                ".contiguous()" in finding["original"]


def test_import_guard(found):
    """A driver that is missing raises more than ImportError, once, at the top of the
    file; which device a tensor is on is asked of the tensor."""
    for finding in found:
        if finding["verdict"] == "reject" or not finding["api"].startswith("torch_npu."):
            continue
        texts = [i["text"] for i in finding["inserts"]]
        if not finding["replacement"]:
            assert texts == []
            continue
        guard = "".join(t for t in texts if "import torch_npu" in t)
        assert "\ntry:" in guard and "except Exception:\n    torch_npu = None" in guard
        ready = "".join(t for t in texts if "def npu_fused_ready" in t)
        assert 't.device.type == "npu"' in ready
        assert "import torch_npu" not in finding["replacement"]
