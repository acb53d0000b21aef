"""``python -m npufuse.rules_test``: whether rules compute what they replace.

Of each rule and each of its variants, reference and replacement run on
sample() and its edges, and are judged as a candidate is (judge.py). The
operators are emulated where no NPU works; an operator of torch itself runs as
it is. A row of tab-separated text a variant; exit code 1 if one fails.
"""
import sys
from pathlib import Path

import torch

from npufuse import cases, emulate, rule
from npufuse.compare import Comparison


def wanted_dtype(r, values):
    """The dtype that the reference gives for these values."""
    with torch.no_grad():
        plain = {
            k: v.detach() if isinstance(v, torch.Tensor) else v
            for k, v in values.items()
        }
        return rule.call(r.reference, plain).dtype


def as_emitted(r, values):
    """The replacement as the command would write it: the input is widened
    where the reference's result is wider, and the result has its dtype."""
    wanted = wanted_dtype(r, values)
    given = dict(values)
    for name in cases.varying(values):
        narrow = torch.finfo(values[name].dtype).bits < torch.finfo(wanted).bits
        if narrow:
            given[name] = values[name].to(wanted)
    return rule.call(r.replacement, given), wanted


def fused(r):
    """The replacement as a function for a Comparison. A result of another
    dtype than that of the input it was given is left as it is: no operator
    changes it, and the command writes no cast for one that does."""

    def call(values):
        result, wanted = as_emitted(r, values)
        given = torch.promote_types(
            *[t.dtype for t in list(values.values()) if cases.is_float(t)][:1] * 2
        )
        wider = torch.finfo(given).bits > torch.finfo(wanted).bits
        return [result.to(wanted) if wider else result]

    return call


def compare_variant(r, variant, seed=1):
    """The Comparison of one variant of a rule."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    values = dict(r.sample(), **variant.settings)

    def original(given):
        return [rule.call(r.reference, given)]

    comparison = Comparison(original, fused(r), seed=seed)
    for case in cases.from_sample(values, list(values), generator):
        emulate.afresh(r.meta["operator"])
        for mode in cases.modes_of(case):
            given = cases.in_mode(case, mode)
            if holds(r, given):
                comparison.add(case, mode)
    return comparison


def holds(r, values):
    """Whether requires() lets these values through."""
    try:
        rule.call(r.requires, values)
        return True
    except AssertionError:
        return False


def test_rule(r):
    """[(rule, variant, label, cases, reason)]; reason is "" for a pass."""
    rows = []
    for variant in rule.variants(r):
        try:
            comparison = compare_variant(r, variant)
            reason = comparison.first_failure()
            if not comparison.rows and not reason:
                reason = "nothing ran: " + "; ".join(comparison.unfit[:1] or ["sample()"])
            count = len(comparison.rows)
        except Exception as error:
            count, reason = 0, "%s: %s" % (type(error).__name__, error)
        rows.append((r.id, variant.name, rule.label(r), count, reason))
    return rows


def read(words):
    """(ids, folders) of "ID... [--rules DIR]..."; ValueError if they are wrong."""
    ids, folders, words = [], [], list(words)
    while words:
        word = words.pop(0)
        if word == "--rules":
            if not words:
                raise ValueError("--rules takes a folder")
            folders.append(words.pop(0))
        else:
            ids.append(word)
    return ids, folders


def chosen(ids, folders):
    rules = rule.load_all(emulate.folder("rules"), *folders)
    known = {r.id for r in rules}
    for wanted in ids:
        if wanted not in known:
            raise ValueError("no rule '%s' ('npufuse rules list' names them)" % wanted)
    return [r for r in rules if not ids or r.id in ids]


def main(words):
    torch.set_num_threads(1)
    try:
        ids, folders = read(words)
        for folder in folders:
            if not Path(folder).is_dir():
                raise ValueError("no folder '%s'" % folder)
        rules = chosen(ids, folders)
    except (ValueError, OSError, SyntaxError) as error:
        sys.stderr.write("npufuse: %s\n" % error)
        return 2
    failed = 0
    for r in rules:
        for name, variant, label, count, reason in test_rule(r):
            failed += bool(reason)
            verdict = "fail: " + reason if reason else "pass"
            print("%s\t%s\t%s\t%d\t%s" % (name, variant, label, count, verdict))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
