"""Findings follow the meaning of code, not its spelling.

From each rule's reference, mutate.py makes files that mean the same and files
that do not. The first must keep the finding; the second must lose or change
it. That the mutants are what they claim to be is tested by running them.
"""
import ast
import textwrap

import pytest
import torch

import generated
import mutate
from npufuse import rule

torch.manual_seed(7)
# Of attention the smallest and the largest variant of each rule: the others
# repeat their statements.
ATTENTION = {("plain", "function"), ("dropout", "module"), ("bias+drop+dropout", "module")}
HOSTS = [
    h for h in mutate.hosts()
    if not h.rule.startswith("fusion_attention") or (h.variant, h.kind) in ATTENTION
]
DTYPES = [
    (torch.float32, torch.float32),
    (torch.bfloat16, torch.bfloat16),
    (torch.bfloat16, torch.float32),
    (torch.float32, torch.bfloat16),
]
needs_binary = pytest.mark.skipif(
    generated.binary() is None, reason="npufuse is not built"
)
each_host = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)

# ------------------------------------------------------------- by their values


def outcomes(source, host):
    """The outputs for each pair of dtypes; an exception stands for itself."""
    run, result = mutate.prepare(source, host), []
    for dtypes in DTYPES:
        torch.manual_seed(3)
        try:
            result.append(run(mutate.arguments(host, *dtypes)))
        except Exception as error:
            result.append(type(error))
    return result


def distance(got, wanted):
    """The largest difference relative to the largest value; infinite where
    dtype, shape or number of outputs differ."""
    if isinstance(got, type) or isinstance(wanted, type):
        return 0.0 if got is wanted else float("inf")
    got = [torch.as_tensor(y) for y in got]  # a mutant may return a number
    if [(y.dtype, y.shape) for y in got] != [(y.dtype, y.shape) for y in wanted]:
        return float("inf")
    if not all(torch.isfinite(y).all() for y in got):
        return float("inf")
    return max(
        ((a.double() - b.double()).abs().max() / b.double().abs().max()).item()
        for a, b in zip(got, wanted)
    )


def rounding(dtypes):
    """What a few roundings to the inputs' dtypes may move."""
    return 2e-2 if torch.bfloat16 in dtypes else 2e-6


@each_host
def test_host_is_the_reference(host):
    r = next(r for r in rule.load_all() if r.id == host.rule)
    settings = next(v for v in rule.variants(r) if v.name == host.variant).settings
    for dtypes, got in zip(DTYPES, outcomes(host.source, host)):
        values = mutate.arguments(host, *dtypes)
        torch.manual_seed(3)
        try:
            wanted = [rule.call(r.reference, dict(values, **settings))]
        except Exception as error:  # a product of two dtypes
            wanted = type(error)
        assert distance(got, wanted) == 0.0


@each_host
def test_preserving_mutants_keep_the_values(host):
    wanted, wrong = outcomes(host.source, host), []
    for mutant in mutate.mutants(host, preserving=True):
        got = outcomes(mutant.source, host)
        for a, b, dtypes in zip(got, wanted, DTYPES):
            if not distance(a, b) <= rounding(dtypes):
                wrong.append((mutant.name, a, mutant.source))
    assert not wrong, wrong[0]


@each_host
def test_breaking_mutants_change_the_values(host):
    wanted, wrong = outcomes(host.source, host), []
    for mutant in mutate.mutants(host, preserving=False):
        got = outcomes(mutant.source, host)
        if max(distance(a, b) for a, b in zip(got, wanted)) < 1e-4:
            wrong.append((mutant.name, mutant.source))
    assert not wrong, wrong[0]


def test_there_are_enough_of_them():
    for host in HOSTS:
        # A reference that is one call has few other spellings.
        few = ("add_layer_norm", "group_norm_silu")
        least = 5 if host.rule.endswith("_builtin") or host.rule in few else 10
        assert len(mutate.mutants(host, preserving=True)) >= least, host.name
        assert len(mutate.mutants(host, preserving=False)) >= least + 2, host.name
    tried = {
        mutant.name.rpartition(" #")[0]
        for host in HOSTS
        for kind in (True, False)
        for mutant in mutate.mutants(host, kind)
    }
    # A change that applies to nothing, or repeats another, tests nothing.
    unused = set(mutate.PRESERVING) | set(mutate.BREAKING)
    assert unused - tried == set()


# ----------------------------------------------------------- by their findings


def file_name(host, kind, number):
    return "%s__%s%03d.py" % (host.name, kind, number)


def files(host):
    """(file name, mutant or None for the host itself)."""
    yield file_name(host, "host", 0), None
    for kind, preserving in (("same", True), ("other", False)):
        for number, mutant in enumerate(mutate.mutants(host, preserving)):
            yield file_name(host, kind, number), mutant


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """The findings of every host's own family, by file; one scan. The rules of
    other families may find a part of it, or the same (1 + weight)."""
    families = {r.id: r.meta["family"] for r in rule.load_all()}
    folder = tmp_path_factory.mktemp("mutants")
    (folder / "in").mkdir()
    by_file, own = {}, {}
    for host in HOSTS:
        for name, mutant in files(host):
            source = host.source if mutant is None else mutant.source
            (folder / "in" / name).write_text(source, encoding="utf-8")
            by_file[name] = []
            own[name] = families[host.rule]
    scanned = generated.scan(folder / "in", folder / "out")
    for finding in scanned["findings"]:
        if finding["family"] == own[finding["file"]]:
            by_file[finding["file"]].append(finding)
    return by_file


def kept(found):
    """What a preserving change may not touch."""
    return sorted(
        (f["family"], f["verdict"], f["rule"], f["variant"])
        for f in found
        if f["verdict"] in generated.WRITTEN
    )


def meaning(found):
    """What at least in part a breaking change has to touch."""
    return sorted(
        (
            f["family"],
            f["verdict"],
            f["rule"],
            f["variant"],
            fused_statements(f["replacement"]),
            str(sorted((a["name"], a["state"], a["guard"]) for a in f["facts"])),
        )
        for f in found
        if f["verdict"] in generated.WRITTEN
    )


def fused_statements(replacement):
    """The guarded block alone, without its layout."""
    if not replacement:  # a caution that has no place to be written
        return ""
    body = textwrap.indent(textwrap.dedent(replacement), "    ")
    tree = ast.parse("def replaced():\n" + body)
    blocks = [
        "\n".join(ast.unparse(s) for s in node.body)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "npu_fused_ready" in ast.unparse(node.test)
    ]
    return "\n".join(blocks)


def listing(wrong):
    """The names of all, and the first one in full."""
    names = "\n".join("  " + mutant.name for mutant, _ in wrong)
    mutant, found = wrong[0]
    return "%d mutants:\n%s\n%s\n%s" % (
        len(wrong),
        names,
        mutant.source,
        [(f["family"], f["verdict"], f["variant"], f["reasons"]) for f in found],
    )


@needs_binary
@each_host
def test_a_rule_finds_its_own_reference(host, findings):
    found = [
        f for f in findings[file_name(host, "host", 0)]
        if f["verdict"] in generated.WRITTEN
    ]
    assert found, host.source
    # Another rule, perhaps of another family, may hold for a part of it: then
    # one of the two says so.
    told = [f for f in found if f["reasons"][0].endswith("replace one of the two")]
    assert len(found) - len(told) <= 1, found
    assert host.rule in [f["rule"] for f in found], found


@needs_binary
@each_host
def test_spelling_does_not_matter(host, findings):
    wanted = kept(findings[file_name(host, "host", 0)])
    wrong = [
        (mutant, findings[name])
        for name, mutant in files(host)
        if mutant and mutant.preserving and kept(findings[name]) != wanted
    ]
    assert not wrong, listing(wrong)


def is_held(mutant):
    """Whether the rule's condition holds what the mutant changes: with inputs of
    one dtype a cast to that of one of them does nothing."""
    return mutant.name.startswith("cast to input") and (
        mutant.host.rule in ("add_rms_norm",)
    )


@needs_binary
@each_host
def test_meaning_matters(host, findings):
    before = meaning(findings[file_name(host, "host", 0)])
    wrong = [
        (mutant, findings[name])
        for name, mutant in files(host)
        if mutant and not mutant.preserving and meaning(findings[name]) == before
        and not is_held(mutant)
    ]
    assert not wrong, listing(wrong)
