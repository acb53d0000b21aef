#!/usr/bin/env python3
"""Scans the installed transformers and scores the findings by labels.

    tests/accuracy/check.py --bin build/dev/npufuse [--show]

The labels (one JSON object a line: file, qualname, start, end, family,
variant, replaceable, why, related) were made by reading every distinct
implementation. A finding meets a label of its family when their lines
overlap; one that is longer than three times the label plus 20 lines meets
nothing. `replaceable` is yes, conditional, no, either (any verdict is right) or
not_recommend (all but a recommend are).

  recall       labelled yes or conditional and found (recommend or caution)
  recommended  of the yes sites, those with a recommend
  false        a recommend on a no site: must be none
  soft         a caution on a no site
  extra        findings not rejected, in labelled files, that meet no label
  variant      found sites whose variant is the label's (VARIANTS)
  conditional  recommends on conditional sites: each has the line that holds the
               condition, and conditional.md lists them (conditional.py)

Closes with `N passed, N failed`.
"""
import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import conditional

LABELS = Path(__file__).resolve().parent / "transformers-5.23.0.jsonl"
VERSION = "5.23.0"

# family: (recall, recommended, soft, extra), at least or at most
BARS = {
    "rms_norm": (0.97, 0.90, 0.05, 0.05),
    "swiglu": (0.97, 0.90, 0.05, 0.05),
    "geglu": (0.92, 0.0, 0.05, 0.05),
    "moe": (0.96, 0.0, 0.03, 0.03),
    "rope": (0.97, 0.98, 0.03, 0.03),
    "attention": (0.97, 0.75, 0.03, 0.03),
}

# What a label calls a variant, and what the finding calls it, where the two
# can be compared: at least 95 % of the found sites agree. A label's name that
# is not here is not compared.
VARIANTS = {
    # `cast_last`: the weight is multiplied before the cast back; `one_plus`:
    # 1 + weight; a gate before or after the norm.
    "rms_norm": {
        "plain": ("+weight -cast_last -one_plus",),
        "plain_cast_after_weight": ("+weight +cast_last -one_plus",),
        "plain_named_layernorm": ("+weight -cast_last",),
        "plain_div_sqrt_named_layernorm": ("+weight -cast_last",),
        "plain_no_upcast": ("+weight -cast_last",),
        "t5_layernorm": ("+weight -cast_last",),
        "gemma_one_plus_weight": ("+weight +one_plus +cast_last",),
        "no_weight": ("-weight -one_plus",),
        "gated_after_norm": ("+weight +gate_last",),
        "gated_after_norm_sigmoid": ("+weight +gate_last",),
        "gated_before_norm_grouped": ("+gate_first",),
        "builtin": ("+eps",),
    },
    # One tensor cut in two, in the order gate, up or swapped, or two tensors.
    "swiglu": {
        "act_fn_separate": ("gate+up",),
        "direct_separate": ("gate+up",),
        "mamba_output_gate": ("gate+up",),
        "gate_inside_gated_norm": ("gate+up",),
        "act_fn_chunk": ("x",),
        "act_fn_chunk_view": ("x",),
        "direct_chunk": ("x",),
        "act_fn_chunk_swapped": ("x+swapped",),
        "direct_chunk_swapped": ("x+swapped",),
    },
    # `tanh`: the kind of GELU is not in the label's name.
    "geglu": {
        "act_fn_separate": ("gate+up", "gate+up+tanh"),
        "act_fn_two_step": ("gate+up", "gate+up+tanh"),
        "act_fn_two_step_sparsity": ("gate+up", "gate+up+tanh"),
        "direct_two_step": ("gate+up", "gate+up+tanh"),
        "per_layer_input_gate": ("gate+up", "gate+up+tanh"),
        "act_fn_chunk": ("x", "x+tanh"),
        "act_fn_chunk_swapped": ("x+swapped", "x+swapped+tanh"),
    },
    # Words that the name has (+) and has not (-): what masks there are, and
    # whether heads are grouped, may stand beside each other.
    "attention": {
        "gqa_repeat_kv": ("+grouped -choice",),
        "softcap_gqa": ("+grouped +choice",),
        "sinks_gqa": ("+grouped +choice",),
        "plain": ("-grouped -choice -drop",),
        "plain_weights_returned": ("-grouped",),
        "plain_causal_fill_weights_returned": ("+drop -grouped +weights",),
        "plain_bool_mask_weights_returned": ("+drop -grouped",),
        "plain_mask_unconditional": ("+bias -drop",),
        "plain_no_mask": ("-bias -drop",),
        "plain_einsum": ("-bias -drop -grouped",),
        "plain_window_5d": ("-bias -drop",),
        "fp32_baddbmm": ("+bias -grouped",),
        "position_bias": ("+bias",),
        "perceiver_mask": ("+drop",),
        "rel_pos_decomposed": ("+bias",),
        "rel_pos_dynamic": ("+bias",),
        "rel_pos_shift": ("+bias",),
        "rel_pos_table": ("+bias",),
        "rel_pos_table_window": ("+bias",),
        "rel_pos_table_vdim": ("+bias",),
        "alibi": ("+bias",),
        "alibi_baddbmm": ("+bias",),
        "pair_scores_layout": ("+bias",),
        "pair_scores_text": ("+bias",),
        "disentangled": ("+bias",),
    },
    "rope": {
        "half": ("rope_half plain",),
        "half_single": ("rope_half plain",),
        "half_fp32": ("rope_half plain",),
        "vision_half_fp32": ("rope_half plain",),
        "vision_prefix_tokens_half": ("rope_half plain",),
        "half_mixed_dtype_cast_back": ("rope_half plain",),
        "half_position_gather_qkv": ("rope_half plain",),
        "half_inline_seq_first": ("rope_half plain",),
        "half_reversed_sign": ("rope_half reverse",),
        "half_chunk_halfwidth_table": ("rope_half_narrow plain",),
        "interleaved_in_half_out": ("rope_half_narrow regrouped",),
        "partial_half": ("rope_half prefix",),
        "partial_half_optional_k": ("rope_half prefix",),
        "vision_partial_half": ("rope_half prefix",),
        "interleaved": ("rope_interleaved plain",),
        "interleaved_fp32": ("rope_interleaved plain",),
        "interleaved_inline": ("rope_interleaved plain",),
        "interleaved_sin_cos_order": ("rope_interleaved plain",),
        "vision_2d_pairwise": ("rope_interleaved plain",),
        "vision_2d_pairwise_cross": ("rope_interleaved plain",),
        "vision_3d_pairwise_halftable": ("rope_interleaved plain",),
        "vision_interleaved_fp32": ("rope_interleaved plain",),
        "interleaved_halfwidth_table": ("rope_interleaved_narrow plain",),
        "partial_interleaved": ("rope_interleaved prefix",),
        "partial_trailing_interleaved_fp32": ("rope_interleaved suffix",),
        "complex": ("rope_complex counted", "rope_complex plain"),
        "matrix2x2_interleaved": ("rope_matrix summed+counted",),
        "complex_vision_2d": ("rope_complex counted", "rope_complex plain"),
    },
    "moe": {
        "loop_packed_gate_up": ("packed+gate_up+down+out_in",),
        "loop_apply_gate_hook": ("packed+gate_up+down+out_in",),
        "loop_fp32_accumulate": ("packed+gate_up+down+out_in",),
        "loop_packed_transposed": ("packed+gate_up+down+in_out",),
        "loop_bias_clamped": ("packed+gate_up+down+in_out+bias",),
        "loop_bias_fp32": ("packed+gate_up+down+in_out+bias",),
        "loop_no_gate": ("packed+up+down+out_in",),
        "loop_post_expert_norm": ("packed+gate_up+down+out_in+norm",),
        "sorted_index_add": ("sorted",),
        "moa_scatter": ("sorted",),
        "router_softmax_topk": ("softmax+topk",),
        "router_softmax_bias_topk": ("softmax+bias+topk",),
        "router_softmax_group_topk": ("softmax+groups+topk", "softmax+bias+groups+topk"),
        "router_sigmoid_topk": ("sigmoid+topk", "sigmoid+bias+topk"),
        "router_sigmoid_group_topk": ("sigmoid+groups+topk", "sigmoid+bias+groups+topk"),
        "router_topk_softmax": ("topk+softmax",),
    },
}


def package_folder():
    spec = importlib.util.find_spec("transformers")
    return Path(spec.submodule_search_locations[0]) if spec else None


def installed_version(folder):
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("__version__"):
            return line.split("=")[1].strip().strip('"')
    return None


def read_labels():
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def scan(binary, folder):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([binary, "scan", str(folder), "-o", out + "/f", "-q"],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(Path(out, "f", "findings.json").read_text("utf-8"))


def meets(finding, label):
    length = finding["end_line"] - finding["start_line"]
    if length > 3 * (label["end"] - label["start"] + 1) + 20:
        return False
    ranges = [(label["start"], label["end"]), *label.get("related", [])]
    return any(finding["start_line"] <= end and finding["end_line"] >= start
               for start, end in ranges)


def has_words(name, wanted):
    """Whether "bias+grouped" has the words of "+grouped -drop"."""
    words = set(name.split("+"))
    return all((word[1:] in words) == (word[0] == "+") for word in wanted.split())


def compare_variant(totals, label, hits, show):
    """Counts whether what was found is called as VARIANTS has it."""
    wanted = VARIANTS.get(label["family"], {}).get(label["variant"])
    hits = [f for f in hits if f["verdict"] != "reject"]
    names = {f["variant"] for f in hits}
    if any(re.match("[+-]", name) for name in wanted or ()):
        names = {want for want in wanted for name in names if has_words(name, want)} or names
    elif any(" " in name for name in wanted or ()):  # of several rules
        names = {"%(rule)s %(variant)s" % f for f in hits}
    if not wanted or not names:
        return
    totals["named"] += 1
    totals["equal"] += bool(names & set(wanted))
    if show and not names & set(wanted):
        print("variant %s:%d %s: %s" % (label["file"], label["start"], label["variant"],
                                        ", ".join(sorted(names))))


def score(family, labels, findings, show):
    labels = [l for l in labels if l["family"] == family]
    found = [f for f in findings if f["family"] == family]
    by_file = {}
    for finding in found:
        by_file.setdefault(finding["file"], []).append(finding)
    met, totals = set(), dict.fromkeys(
        ("sites", "found", "yes", "recommended", "no", "false", "soft", "named", "equal"), 0)
    for label in labels:
        hits = [f for f in by_file.get(label["file"], ()) if meets(f, label)]
        met.update(f["id"] for f in hits)
        verdicts = {f["verdict"] for f in hits} - {"reject"}
        where = "%(file)s:%(start)d %(family)s/%(variant)s" % label
        if label["replaceable"] == "either":
            continue
        if label["replaceable"] in ("no", "not_recommend"):
            totals["no"] += 1
            totals["false"] += "recommend" in verdicts
            if label["replaceable"] == "not_recommend":
                continue
            totals["soft"] += verdicts == {"caution"}
            if verdicts and show:
                print("false" if "recommend" in verdicts else "soft", where)
            continue
        totals["sites"] += 1
        totals["found"] += bool(verdicts)
        if label["replaceable"] == "yes":
            totals["yes"] += 1
            totals["recommended"] += "recommend" in verdicts
        if not verdicts and show:
            print("miss", where)
        compare_variant(totals, label, hits, show)
    files = {l["file"] for l in labels}
    written = [f for f in found
               if f["verdict"] != "reject" and f["file"] in files]
    extra = [f for f in written if f["id"] not in met]
    if show:
        for f in extra:
            print("extra", f["file"], f["start_line"], f["verdict"])
    totals["extra"], totals["written"] = len(extra), len(written)
    return totals


def share(part, whole):
    return part / whole if whole else 0.0


def judge(family, t):
    recall, recommended, soft, extra = BARS[family]
    checks = {
        "recall": share(t["found"], t["sites"]) >= recall,
        "recommended": share(t["recommended"], t["yes"]) >= recommended,
        "false": t["false"] == 0,
        "soft": share(t["soft"], t["no"]) <= soft,
        "extra": share(t["extra"], t["written"]) <= extra,
        "variant": not t["named"] or share(t["equal"], t["named"]) >= 0.95,
    }
    print("%-9s found %d of %d, recommended %d of %d yes, "
          "false %d and soft %d of %d no, extra %d of %d, variant %d of %d" % (
              family, t["found"], t["sites"], t["recommended"], t["yes"],
              t["false"], t["soft"], t["no"], t["extra"], t["written"], t["equal"], t["named"]))
    for name, fine in checks.items():
        if not fine:
            print("  %s is off its bar" % name)
    return checks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    folder = package_folder()
    if folder is None or installed_version(folder) != VERSION:
        print("transformers %s is not installed here: the labels speak of it "
              "(pip install --no-deps transformers==%s)" % (VERSION, VERSION))
        print("0 passed, 0 failed, %d skipped" % len(BARS))
        return 0
    labels = read_labels()
    findings = scan(args.bin, folder)["findings"]
    results = []
    for family in BARS:
        totals = score(family, labels, findings, args.show)
        results += judge(family, totals).values()
    results.append(conditional.judge(labels, findings, folder, meets))
    results.append(conditional.is_current(
        conditional.gather(labels, findings, folder, meets), False))
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
