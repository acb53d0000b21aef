"""Every near miss has the verdict and the sentence that a reader believes.

`near_misses.py` holds the code. None: the code is nothing like the operator's, and
nothing is said of it. Sentences begin with "not the operator's formula: " where
the mark `!` stands.
"""
import subprocess

import pytest

import generated
import near_misses

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

FORMULA = "not the operator's formula: "
INNER = "an inner value is used elsewhere and stays computed: the gain is smaller"
DOUBLE = "the original computes in float64, the operator does not"
PROVEN = "the form is proven;"
AXIS = "! the softmax is over another axis than that of the keys"
BEHIND = "! the weights are multiplied by a tensor behind the softmax"
BROADCAST = ("does not hold: gate and up have the same shape (one of the two is broadcast over "
             "the other)")
NO_ORIGIN = ("unproven: what is added to the scores is a mask: 0 or very negative (cannot prove "
             "it is a 0/-inf mask")

EXPECTED = {
    "rms_norm": {
        "sum": ("reject", "! a sum is taken where the operator takes the mean"),
        "wrong axis": ("reject", "! the mean is taken along axis 1, not along the last one"),
        "two axes": (
            "reject", "! the mean is taken along several axes, not along the last one alone"),
        "whole tensor": (
            "reject", "! the mean is taken over the whole tensor, not along the last axis"),
        "eps outside the root": ("reject", "! epsilon is added outside of the root"),
        "eps by a clamp": (
            "reject", "! epsilon is a lower bound, not a term under the root"),
        "no eps": None,
        "mean subtracted": (
            "reject", "the mean is subtracted first: a layer norm, not an RMS norm"),
        "variance": (
            "reject", "! the variance subtracts the mean first, as a layer norm does"),
        "absolute mean": None,  # no root and no square: nothing to read closer
        "cube": ("reject", "! the power is 3, not 2"),
        "no root": ("reject", "! no root is taken of the mean of squares"),
        "another tensor": ("reject", "! what is scaled is not what the mean is taken of: x"),
        # 2 + w is a weight like any other.
        "two plus weight": ("recommend", PROVEN),
        "bias inside": ("reject", "! what is scaled is not what the mean is taken of: `x + 1`"),
        "the root is used again": ("caution", INNER),
        "changed in place between": (
            "reject", "! what is scaled is not what the mean is taken of: `x.mul_(2)`"),
        "added to in place between": (
            "reject", "! what is scaled is not what the mean is taken of: `x.add_(1)`"),
        "a view is added to between": (
            "reject", "! `x` is changed between its two uses"),
        "double": ("reject", DOUBLE),
    },
    "swiglu": {
        "gate is clamped": ("reject", "gate is clamped, and npu_swiglu clamps nothing"),
        "up is clamped": ("reject", "up is clamped, and npu_swiglu clamps nothing"),
        "alpha": None,  # one of quick_gelu
        "bias inside": ("caution", "unproven: gate and up have the same shape"),
        "relu": None,
        "sigmoid alone": None,
        # g * sigmoid(u) * u is g * silu(u).
        "another's sigmoid": ("recommend", PROVEN),
        "sum": None,
        "no gate": None,
        "one tensor": (
            "reject", "does not hold: gate and up have the same shape (both factors are one tensor)"),
        "gate is used again": ("caution", "no place to write it"),
        "broadcast gate": ("reject", BROADCAST),
        "a parameter": ("reject", BROADCAST),
        "in place on a caller's tensor": None,
        "silu in place on a caller's tensor": (
            "caution", "no place to write it: an in-place operator changes a tensor that others "
            "see"),
        "a view changes between": (
            "caution", "no place to write it: an input changes between its statement and the "
            "result's"),
    },
    "geglu": {
        "gate is clamped": ("recommend", PROVEN),  # npu_geglu of the clamped gate
        "no gate": None,
        "broadcast gate": ("reject", BROADCAST),
    },
    "rope": {
        "the sign of the first half": ("reject", "! neither half changes its sign"),
        "the halves in order": ("reject", "! the halves are joined in the other order"),
        "thirds": ("reject", "! the axis is not cut into halves"),
        "another axis": ("reject", "! it is cut along axis -2, not along the last one"),
        "axis 1": (
            "reject", "does not hold: the input has 3 or 4 dimensions (axis 1, as it is written, "
            "is the last one of 2 alone)"),
        "one table": (
            "reject", "does not hold: sin has the shape of cos (both factors are one tensor)"),
        "another tensor": ("reject", "! the tensor that is turned is another one than q"),
        "a table alone": ("reject", "! expected `x * cos`, found q"),
        "double tables": ("reject", DOUBLE),
        "the turned half is used again": ("caution", INNER),
    },
    "attention": {
        "softmax over queries": ("reject", AXIS),
        "softmax over heads": ("reject", AXIS),
        "sigmoid": None,
        "soft-cap": ("reject", "! the scores are soft-capped by tanh before the softmax"),
        "sinks": (
            "reject", "! an attention sink joins the scores under the softmax; where the "
            "installed operator takes `sink`, it is to be written by hand"),
        "clamped scores": ("reject", "! the scores are clamped before the softmax"),
        # The operator takes any query and key.
        "q and k normalised": ("recommend", PROVEN),
        "scale of each head": (
            "reject", "! the scores are multiplied by a tensor before the softmax"),
        "weights are scaled": ("reject", BEHIND),
        "weights are returned": ("caution", INNER),
        "mask of unknown values": ("caution", NO_ORIGIN),
        # It may be a number, and is tested for that; nothing says so.
        "mask multiplies": (
            "caution", "unproven: the scale is a Python number (nothing in sight shows"),
        "mask after the softmax": ("reject", BEHIND),
        "filled with a small number": (
            "reject", "! masked scores get a value that does not take them out of the softmax"),
        "learned bias": (
            "caution", "unproven: what is added to the scores is a mask: 0 or very negative (a "
            "learned or computed bias goes in: an additive bias would be lost by a bool mask"),
        "computed bias": (
            "caution", "unproven: what is added to the scores is a mask: 0 or very negative (it is "
            "computed, and nothing shows that it has no other values"),
        "gate of unknown values": (
            "caution", "unproven: the scores are multiplied by g and -c * (1 - g) is added: a "
            "mask, if g holds 0 and 1 alone: g"),
        "scores scaled through an alias": ("recommend", PROVEN),  # by 0.375
        "scores changed through a view": None,
        "softmax twice": (
            "reject", "! the weights are normalised again behind the softmax"),
        "values are not multiplied": None,
        "double": ("reject", DOUBLE),
        "built in": ("reject", "torch_npu fuses scaled_dot_product_attention already"),
        "built in with a float mask": ("caution", NO_ORIGIN),
    },
    "moe": {
        "experts of equal shares": None,
        "the best alone is no router": None,
        "argmax router": None,
    },
}

CASES = [(family, name) for family, cases in EXPECTED.items() for name in cases]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every case as a file of its own."""
    made = tmp_path_factory.mktemp("near")
    (made / "in").mkdir()
    for family, cases in near_misses.CASES.items():
        for name, text in cases.items():
            path = made / "in" / near_misses.file_name(family, name)
            path.write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def found(folder):
    by_file = {}
    for finding in generated.scan(folder / "in", folder / "out")["findings"]:
        by_file.setdefault((finding["family"], finding["file"]), []).append(finding)
    return by_file


def spelled(sentence):
    return FORMULA + sentence[2:] if sentence.startswith("! ") else sentence


def test_every_case_is_expected():
    assert {family: set(cases) for family, cases in near_misses.CASES.items()} == {
        family: set(cases) for family, cases in EXPECTED.items()}


@pytest.mark.parametrize("family,name", CASES)
def test_verdict_and_sentence(found, family, name):
    got = found.get((family, near_misses.file_name(family, name)), [])
    if EXPECTED[family][name] is None:
        assert got == []
        return
    verdict, sentence = EXPECTED[family][name]
    assert [f["verdict"] for f in got] == [verdict], got
    assert got[0]["reasons"][0].startswith(spelled(sentence)), got[0]["reasons"]
    assert (got[0]["replacement"] == "") or verdict != "reject"


REFUSED = [(family, name) for family, name in CASES
           if (EXPECTED[family][name] or ("", ""))[1].startswith("! ")]


@pytest.mark.parametrize("family,name", REFUSED)
def test_explain_shows_the_node(folder, found, family, name):
    """--explain says the same of the line, and where the first difference stands."""
    file = near_misses.file_name(family, name)
    finding = found[family, file][0]
    refuted = [f for f in finding["facts"] if f["state"] == "refuted"]
    assert refuted and len(refuted[0]["chain"]) <= 1
    done = subprocess.run(
        [generated.binary(), "scan", str(folder / "in" / file), "-q", "-o",
         str(folder / "explained"), "--explain", f"{file}:{finding['start_line']}"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sentence = EXPECTED[family][name][1][2:]
    if sentence.startswith("expected "):  # it writes both as graphs
        sentence = "expected "
    told = [line for line in (done.stdout + done.stderr).splitlines()
            if line.strip().startswith("stopped: " + sentence)]
    assert told, done.stdout
    if refuted[0]["chain"]:
        line = refuted[0]["chain"][0]["start_line"]
        assert any(text.endswith(f"(line {line})") for text in told), told
