"""Whether rules compute what they replace.

Of each rule and each of its variants, reference and replacement run on
sample() and its edges, and are judged as a candidate is (judge.py). The
operators are emulated where no NPU works; an operator of torch itself runs as
it is.
"""
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
    """The replacement as a function for a Comparison.

    The command casts what it knows to be of another dtype: anything of torch
    itself; of torch_npu, whose operators keep the dtype of what they are
    given, a result that had to be wide on the way.
    """
    native = rule.label(r) == emulate.NATIVE

    def call(values):
        result, wanted = as_emitted(r, values)
        given = next(t.dtype for t in values.values() if cases.is_float(t))
        wider = torch.finfo(given).bits > torch.finfo(wanted).bits
        return [result.to(wanted) if wider or native else result]

    return call


def compare_variant(r, variant, seed=1):
    """The Comparison of one variant of a rule."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    values = dict(r.sample(), **variant.settings)
    own = [(n, dict(v, **variant.settings)) for n, v in r.edges()] if r.edges else None

    def original(given):
        return [rule.call(r.reference, given)]

    comparison = Comparison(original, fused(r), seed=seed, constants=rule.constants(r))
    comparison.grad = rule.has_backward(r)
    for case in cases.from_sample(values, list(values), generator, own=own):
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


def check_rule(r):
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
