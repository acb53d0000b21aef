#!/usr/bin/env python3
"""Each recommend on a site labelled `conditional`, with what holds the condition.

    tests/accuracy/conditional.py --bin build/dev/npufuse [--write]

Such a label says in `variant` and `why` what a replacement has to take care of.
ASPECTS says of each such thing how code looks that takes care of it: a line of
the replacement that is not a line of the original, or a line of the labelled
function that is left in place. check.py and others.py fail where a
recommend on a conditional site lacks one of them, and where no aspect speaks of a
label. conditional.md lists the sites of the pinned transformers; --write makes it
anew after a change of what is written.
"""
import argparse
import ast
import functools
import re
import sys
from pathlib import Path

LIST = Path(__file__).resolve().parent / "conditional.md"

# (family, of which labels ("variant: why"), where to look, what is looked for).
# `emitted`: a line that the replacement adds. `stays`: a line of the labelled
# functions, outside of the replaced ones. `either`: one of both. `any`: a line that
# one of the label's replacements adds.
ASPECTS = [
    ("rms_norm", "no_weight|gamma=ones|weight outside|with_scale|without a? ?weight",
     "emitted", r"gamma = torch\.ones\("),
    ("rms_norm", r"^gated_after_norm", "emitted", r"gamma = .*weight"),
    ("rms_norm", r"^gated_after_norm", "stays", r"\*.*(gate|act)"),
    ("rms_norm", r"multiplied in before the norm", "stays", r"\*.*silu\(.*gate"),
    ("rms_norm", r"weight outside", "stays", r"weight.*\*|\*.*weight"),
    ("rms_norm", r"reshape to groups", "stays", r"\.(view|reshape|unflatten)\("),
    ("rms_norm", r"^gemma_one_plus_weight:", "emitted", r"gamma = 1 \+ "),
    ("rms_norm", r"multiplies the INPUT", "stays", r"\*.*\(1(\.0)? \+ .*weight"),
    ("rms_norm", r"eps is a function argument", "emitted", r"epsilon=[a-z_]+\)"),
    ("rms_norm", r"eps added inside|inverse rms", "emitted", r"npu_rms_norm\(.*epsilon="),
    ("rms_norm", r"inverse rms is cast", "emitted", r"gamma = .*dtype=torch\.float32"),
    ("rms_norm", r"modulate stays outside", "stays", r"modulate\(|\* \(1 \+ scale\)"),
    ("rms_norm", r"keep fp32 input", "emitted", r"= \w+\.to\(torch\.float32\)$"),
    ("swiglu", r"SECOND half", "emitted", r"up, npu_gate = .*\.chunk\(2, dim=-1\)"),
    ("swiglu", r"SECOND half", "emitted", r"npu_swiglu\(torch\.cat\(\[npu_gate, up\]"),
    ("swiglu", r"fp32 gate", "emitted", r"npu_gate = gate\.to\(torch\.float32\)"),
    ("geglu", r"approximate=0", "emitted", r"approximate = 0$"),
    ("geglu", r"approximate=1", "emitted", r"approximate = 1$"),
    ("geglu", r"^act_fn.*activation", "emitted", r"act\w*(\.act)?(, |\)\.)_*\"?_*name__\"?"),
    ("geglu", r"_swapped:.*activate_left", "emitted", r"activate_left=False"),
    ("geglu", r"_(chunk|separate|two_step):.*activate_left", "emitted", r"activate_left=True"),
    ("geglu", r"_(separate|two_step):", "emitted", r"npu_geglu\(torch\.cat\(\["),
    ("attention", r"must go to pse", "emitted", r"and npu_is_mask\("),
    ("attention", r"0/1 mask|finite", "emitted", r"drop = \(1 - \w+\)\.bool\(\)"),
    ("attention", r"fully masked rows|finite", "emitted", r"npu_drop_mask\(.*inner_precise=2"),
    ("rope", r"(interleaved|pairwise|complex|matrix2x2)(?!.*half layout out)",
     "emitted", r"npu_rotary_mul\(.*rotary_mode=\"interleave\""),
    ("rope", r"half layout out", "emitted",
     r"torch\.cat\(\[(\w+)\[\.\.\., 0::2\], \1\[\.\.\., 1::2\]\], dim=-1\)"),
    ("rope", r"^half|^vision_\w*half_fp32|half layout out", "emitted",
     r"npu_rotary_mul\((?!.*rotary_mode)"),
    ("rope", r"^half.*half-width cos/sin", "emitted", r"torch\.cat\(\[sin, sin\]"),
    ("rope", r"pairwise form with half-width", "emitted", r"sin\.repeat_interleave\(2"),
    ("rope", r"tables repeat_interleaved|half repeated pairwise|tiled as halves|one tensor",
     "emitted", r"\w+\.shape\[-1\] == \w+\.shape\[-1\]"),
    ("rope", r"(?<!may be )fp32|float32", "either", r"\.to\((torch\.promote_types\()*torch\.float32|float\(\)"),
    ("rope", r"cast back", "either", r"\.to\(|\.type_as\("),
    ("rope", r"opposite rotation", "emitted", r"npu_rotary_mul\(.*, -sin\)"),
    ("rope", r"slice|^partial", "either", r"torch\.cat\("),
    ("rope", r"LAST dims", "stays", r"\[\.\.\., .*-\w"),
    ("rope", r"3-D q/k|add a batch dim", "emitted", r"\.dim\(\) in \(3, 4\)"),
    ("rope", r"may be None|optional [kv]", "stays", r"is (not )?None"),
    ("rope", r"recovered from freqs|complex multiply", "emitted",
     r"sin = \w+\.imag\.repeat_interleave\(2"),
    ("rope", r"2x2", "emitted", r"npu_sin = torch\.stack\(\[-"),
    ("rope", r"dtypes agree", "emitted", r"npu_rotary_mul\(\w+\.to\(torch\.promote_types\("),
    ("rope", r"indexed by position_ids", "stays", r"\[position_ids\]"),
    ("rope", r"rotates v|optional v", "any", r"npu_rotary_mul\(v"),
    ("rope", r"layout|mrope|2-D vision", "emitted", r"all\(c in \(1, n\) for c, n in zip"),
    ("rope", r"ordered \(tensor, sin, cos\)", "emitted", r"npu_rotary_mul\(.*, cos, sin,"),
    ("rope", r"prefix tokens", "stays", r"torch\.cat\("),
]


def text_of(label):
    return "%s: %s" % (label["variant"], label["why"])


def lines_of(text):
    return [line.strip() for line in text.split("\n") if line.strip()]


def emitted(finding):
    """The lines of the replacement that are none of the original's."""
    original = set(lines_of(finding["original"]))
    return [line for line in lines_of(finding["replacement"]) if line not in original]


def functions_at(tree, ranges):
    """The innermost functions that hold one of the ranges, or lie in one."""
    found = set()
    for start, end in ranges:
        holders = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)
                   and n.lineno <= end and n.end_lineno >= start]
        inner = [n for n in holders if n.lineno >= start] or holders[-1:]
        found.update(inner)
    return found


def code_lines(function):
    """The numbers of a function's lines with code: no docstring, no comment."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return {line for statement in body
            for line in range(statement.lineno, statement.end_lineno + 1)}


@functools.lru_cache(maxsize=None)
def parsed(path):
    text = path.read_text(encoding="utf-8")
    return ast.parse(text), text.split("\n")


def left_in_place(finding, label, folder):
    """The lines of the labelled functions that are not replaced."""
    tree, source = parsed(folder / finding["file"])
    ranges = [(label["start"], label["end"]), *label.get("related", []),
              (finding["start_line"], finding["end_line"])]
    numbers = set()
    for function in functions_at(tree, map(tuple, ranges)):
        numbers.update(code_lines(function))
    numbers.difference_update(range(finding["start_line"], finding["end_line"] + 1))
    lines = [source[n - 1].strip() for n in sorted(numbers)]
    return [line for line in lines if not line.startswith("#")]


def pools(finding, hits, label, folder):
    """Where an aspect looks: its lines."""
    added, stays = emitted(finding), left_in_place(finding, label, folder)
    return {"emitted": added, "stays": stays, "either": added + stays,
            "any": [line for hit in hits for line in emitted(hit)]}


def holding(label, finding, hits, folder):
    """(lines that hold the condition, what is missing) of one recommend."""
    places = pools(finding, hits, label, folder)
    held, missing = [], []
    for family, words, where, pattern in ASPECTS:
        if family != label["family"] or not re.search(words, text_of(label)):
            continue
        line = next((l for l in places[where] if re.search(pattern, l)), None)
        if line is None:
            missing.append("%s: %s" % (where, pattern))
        elif line not in [text for _, text in held]:
            held.append(("stays" if line in places["stays"] else "emitted", line))
    return held, missing if held or missing else ["an aspect that speaks of it"]


def gather(labels, findings, folder, meets):
    """[label, finding, lines, what is missing], in the order of the labels."""
    by_file = {}
    for finding in findings:
        if finding["verdict"] == "recommend":
            by_file.setdefault(finding["file"], []).append(finding)
    found = []
    for label in labels:
        if label["replaceable"] != "conditional":
            continue
        hits = [f for f in by_file.get(label["file"], ())
                if f["family"] == label["family"] and meets(f, label)]
        for hit in hits:
            found.append((label, hit, *holding(label, hit, hits, Path(folder))))
    return found


def complain(found):
    """Prints what lacks; the number of recommends without a line."""
    lacking = [entry for entry in found if entry[3]]
    for label, finding, _, missing in lacking:
        print("  condition not held: %s:%d %s: %s" % (
            finding["file"], finding["start_line"], text_of(label), "; ".join(missing)))
    return len(lacking)


def judge(labels, findings, folder, meets):
    """Prints one line; whether every condition is held by a line."""
    found = gather(labels, findings, folder, meets)
    sites = {(l["file"], l["start"], l["family"]) for l, *_ in found}
    lacking = complain(found)
    print("recommends on conditional sites: %d on %d sites, %d without the line that "
          "holds the condition" % (len(found), len(sites), lacking))
    return lacking == 0


# ---- the list -----------------------------------------------------------------


def page(found):
    """conditional.md: kinds of condition, their lines, their sites."""
    kinds = {}
    for label, finding, held, _ in found:
        kind = kinds.setdefault((label["family"], text_of(label)), ({}, {}))
        for line in held:
            kind[0][line] = None
        kind[1]["%s:%d" % (label["file"], label["start"])] = None
    sites = sum(len(places) for _, places in kinds.values())
    yield "# Recommended under a condition"
    yield ""
    yield "Made by `tests/accuracy/conditional.py --write`; the part `accuracy` compares it."
    yield "Sites of the pinned transformers whose label is `conditional` and whose finding"
    yield "is a recommend: %d sites, %d kinds of condition. Under each stand the lines that" % (
        sites, len(kinds))
    yield "hold it: `+` is a line of the replacement, `=` a line that stays as it was."
    for (family, text), (lines, places) in sorted(kinds.items()):
        yield from section(family, text, lines, places)


def section(family, text, lines, places):
    yield ""
    yield "## %s, %s" % (family, text)
    yield ""
    yield "```python"
    for where, line in lines:
        yield "%s %s" % ("=" if where == "stays" else "+", line)
    yield "```"
    yield ""
    yield "\n".join("- %s" % place for place in places)


def is_current(found, write):
    """Whether conditional.md is what is found; --write makes it so."""
    text = "\n".join(page(found)) + "\n"
    if write:
        LIST.write_text(text, encoding="utf-8")
    if LIST.is_file() and LIST.read_text(encoding="utf-8") == text:
        return True
    print("  conditional.md is not what is written now: conditional.py --write, "
          "and read the diff")
    return False


def main():
    import check  # it imports this module
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    folder = check.package_folder()
    findings = check.scan(args.bin, folder)["findings"]
    found = gather(check.read_labels(), findings, folder, check.meets)
    return 0 if is_current(found, args.write) and not complain(found) else 1


if __name__ == "__main__":
    sys.exit(main())
