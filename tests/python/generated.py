"""What the tests of emitted code share: scan, apply, check, import, run.

Findings are read as they are written (docs/formats.md); nothing here knows a
rule.
"""
import ast
import contextlib
import copy
import importlib.util
import io
import itertools
import json
import os
import subprocess
import sys
import textwrap
import tokenize
from pathlib import Path

import torch

from npufuse import emulate

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ("recommend", "caution")
ENV_ON = "1"


# ---------------------------------------------------------------- the command


def binary():
    """The command under test, or None where it is not built."""
    named = os.environ.get("NPUFUSE_BIN")
    places = [named] if named else []
    places += [ROOT / "build" / kind / "npufuse" for kind in ("dev", "release")]
    for place in places:
        if os.access(str(place), os.X_OK):
            return str(place)
    return None


def scan(source, output):
    """Scans the folder or file `source`; returns findings.json as a dict."""
    command = [binary(), "scan", str(source), "-o", str(output), "-q"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.returncode, result.stderr)
    with open(Path(output) / "findings.json", encoding="utf-8") as file:
        return json.load(file)


def written(findings, file=None):
    """The findings that come with a replacement, of those that overlap one.

    A user takes one of two that overlap: the recommended one, else the first.
    """
    taken = []
    for f in sorted(findings["findings"], key=lambda f: WRITTEN.index(f["verdict"])
                    if f["verdict"] in WRITTEN else len(WRITTEN)):
        if (
            f["verdict"] in WRITTEN
            and f["replacement"]
            and (file is None or f["file"] == file)
            and not any(overlap(f, other) for other in taken)
        ):
            taken.append(f)
    return taken


def overlap(one, other):
    """Whether two findings share a line of the same file."""
    return (
        one["file"] == other["file"]
        and one["start_line"] <= other["end_line"]
        and other["start_line"] <= one["end_line"]
    )


def operator_of(finding):
    """"npu_rms_norm" from "torch_npu.npu_rms_norm"."""
    return finding["api"].rpartition(".")[2]


# ------------------------------------------------------------------- applying


def apply(text, findings):
    """The text with every finding's lines replaced and its inserts made.

    Line numbers are those of `text`. Equal inserts are made once.
    """
    lines = text.splitlines(keepends=True)
    spans = sorted((f["start_line"], f["end_line"], f) for f in findings)
    for before, after in zip(spans, spans[1:]):
        assert before[1] < after[0], "replaced lines overlap"
    wanted = {(i["line"], i["order"], i["text"]) for f in findings for i in f["inserts"]}
    for line, _, _ in wanted:
        for start, end, _ in spans:
            assert not start < line <= end, "an insert inside replaced lines"
    by_line = {}
    for line, _, inserted in sorted(wanted):
        by_line.setdefault(line, []).append(whole(inserted))
    replaced = {start: (end, f) for start, end, f in spans}
    result, number = [], 1
    while number <= len(lines):
        result += by_line.pop(number, [])
        if number in replaced:
            end, finding = replaced[number]
            kept = "".join(lines[number - 1 : end])
            assert whole(kept) == whole(finding["original"])
            result.append(whole(finding["replacement"]))
            number = end + 1
        else:
            result.append(lines[number - 1])
            number += 1
    result += itertools.chain(*by_line.values())
    return "".join(result)


def whole(text):
    return text if text.endswith("\n") else text + "\n"


# ------------------------------------------------------------ checks of a text


LAYOUT = (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.ENDMARKER)


def raw_tokens(text):
    """(type, string) of each token; a line's end has no string."""
    reader = io.StringIO(textwrap.dedent(whole(text))).readline
    return [
        (t.type, t.string if t.type != tokenize.NEWLINE else "")
        for t in tokenize.generate_tokens(reader)
    ]


def code_tokens(tokens):
    """Without layout; comments stay."""
    return [t for t in tokens if t[0] not in LAYOUT]


def else_bodies(tokens):
    """The tokens of each ``else`` block of statements."""
    for i, (_, string) in enumerate(tokens):
        if string != "else" or tokens[i + 1][1] != ":":
            continue
        start = i + 2 + (tokens[i + 2][0] == tokenize.COMMENT)
        if tokens[start][0] != tokenize.NEWLINE:
            continue
        depth, end = 0, start + 1
        while end < len(tokens):
            depth += tokens[end][0] == tokenize.INDENT
            depth -= tokens[end][0] == tokenize.DEDENT
            if tokens[end][0] == tokenize.DEDENT and depth == 0:
                break
            end += 1
        yield code_tokens(tokens[start + 1 : end])


def check_original_kept(finding):
    """An else block holds the original statements, token for token, and
    nothing else but comments above them."""
    original = code_tokens(raw_tokens(finding["original"]))
    for body in else_bodies(raw_tokens(finding["replacement"])):
        extra = len(body) - len(original)
        if extra >= 0 and body[extra:] == original:
            if all(kind == tokenize.COMMENT for kind, _ in body[:extra]):
                return check_lines_kept(finding)
    raise AssertionError("no else block holds the original")


def check_lines_kept(finding):
    """Byte for byte, but for one indentation put before every line."""
    if multiline_strings(finding["original"]):
        return  # re-indenting such a string would change it; tokens decide
    wanted = textwrap.dedent(whole(finding["original"])).splitlines()
    have = finding["replacement"].splitlines()
    for i in range(len(have) - len(wanted) + 1):
        part = have[i : i + len(wanted)]
        indent = part[0][: len(part[0]) - len(part[0].lstrip())]
        first = wanted[0][: len(wanted[0]) - len(wanted[0].lstrip())]
        indent = indent[: len(indent) - len(first)]
        if all(a == indent + b or a == b == "" for a, b in zip(part, wanted)):
            return
    raise AssertionError("the original's lines are changed")


def multiline_strings(text):
    reader = io.StringIO(textwrap.dedent(whole(text))).readline
    kinds = [tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)]
    return any(
        t.type in kinds and t.start[0] != t.end[0]
        for t in tokenize.generate_tokens(reader)
    )


def check_guarded(text):
    """torch_npu is imported inside a try that catches any Exception, and every
    call of a fused operator stands in the body of an ``if`` that asks for
    that operator."""
    tree = ast.parse(text)
    assert guarded_import(tree), "no guarded import of torch_npu"
    parents = {c: p for p in ast.walk(tree) for c in ast.iter_child_nodes(p)}
    calls = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == emulate.NAME
        and n.attr.startswith("npu_")
    ]
    assert calls, "no fused operator"
    for call in calls:
        assert asked_for(call, parents), "unguarded torch_npu." + call.attr


def guarded_import(tree):
    for node in tree.body:
        if isinstance(node, ast.Try) and any(
            isinstance(n, ast.Import) and n.names[0].name == emulate.NAME
            for n in node.body
        ):
            kinds = [getattr(h.type, "id", None) for h in node.handlers]
            return "Exception" in kinds
    return False


def asked_for(call, parents):
    child, node = call, parents.get(call)
    while node is not None:
        inside = isinstance(node, ast.If) and child in node.body
        chosen = isinstance(node, ast.IfExp) and child is node.body
        if (inside or chosen) and asks(node.test, call.attr):
            return True
        child, node = node, parents.get(node)
    return False


def asks(test, operator):
    """Whether `test` cannot be true without the predicate's yes."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(asks(value, operator) for value in test.values)
    return (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == emulate.PREDICATE
        and len(test.args) > 1
        and getattr(test.args[0], "value", None) == operator
    )


def check_applied(text, findings):
    """Every property that can be seen without running; returns the new text."""
    changed = apply(text, findings)
    compile(changed, "applied", "exec", dont_inherit=True)
    for finding in findings:
        check_original_kept(finding)
    check_guarded(changed)
    return changed


# -------------------------------------------------------------------- running

_numbers = itertools.count()


def load(path):
    """Imports a file under a name of its own."""
    name = "npufuse_exec_%d_%s" % (next(_numbers), Path(path).stem)
    spec = importlib.util.spec_from_file_location(name, str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


class Pair:
    """An original and a rewritten exec module with equal parameters."""

    def __init__(self, original, rewritten, findings):
        self.findings = findings
        self.operators = sorted({operator_of(f) for f in findings})
        with self.environment():
            self.original, self.rewritten = load(original), load(rewritten)

    def environment(self):
        """Environment switches of the findings, on."""
        names = [
            f["switch"]["name"]
            for f in self.findings
            if f["switch"]["kind"] == "environment"
        ]
        return environment({name: ENV_ON for name in names})

    def make(self, on=True):
        made = self.original.make()
        twin = self.rewritten.make()
        if isinstance(made, torch.nn.Module):
            twin.load_state_dict(made.state_dict())
        if on and hasattr(self.rewritten, "enable"):
            self.rewritten.enable(twin)
        return made, twin

    def fused(self, function, *args):
        """Calls `function` with the device predicate answering yes.

        Returns its result and how many fused calls it made.
        """
        calls = emulate.module().calls
        calls.clear()
        with self.environment(), emulate.answering(self.rewritten):
            result = function(*args)
        return result, sum(calls[name] for name in self.operators)


@contextlib.contextmanager
def environment(values):
    saved = {k: os.environ.get(k) for k in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def leaf(value, dtype=None):
    """A copy that collects a gradient; the strides stay."""
    if not isinstance(value, torch.Tensor):
        return value
    if not value.is_floating_point():
        return value.clone()
    base = value.detach().clone(memory_format=torch.preserve_format)
    return (base if dtype is None else base.to(dtype)).requires_grad_()


# Autocast to bfloat16 with the lists of a device.
AUTOCAST = {
    None: contextlib.nullcontext,
    "cpu": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "npu": lambda: emulate.NpuAutocast(torch.bfloat16),
}


def run(made, arguments, autocast=None, dtype=None):
    """Forward and backward; returns outputs and gradients by name.

    `arguments` are copied. `dtype`: all of it in that dtype, for a reference.
    """
    made = copy.deepcopy(made)
    arguments = [leaf(a, dtype) for a in arguments]
    named = []
    if isinstance(made, torch.nn.Module):
        made = made if dtype is None else made.to(dtype)
        named = list(made.named_parameters())
    with AUTOCAST[autocast]():
        result = made(*arguments)
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    torch.manual_seed(11)
    total = sum((y.float() * torch.randn(y.shape)).sum() for y in outputs)
    total.backward()
    named += [("argument %d" % i, a) for i, a in enumerate(arguments)]
    gradients = {
        name: t.grad for name, t in named if isinstance(t, torch.Tensor)
    }
    return [y.detach() for y in outputs], gradients


STEP = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}


def compare(got, wanted, truth, where):
    """Equal dtype, shape and finiteness; no worse than the original.

    The largest error against `truth` may be twice the original's own, plus a
    rounding step of the result's dtype. The mean error (root of the mean of
    squares) may be twice the original's, plus a step of float32: a shift
    that is the same everywhere hides in single values, not here.
    """
    assert (got is None) == (wanted is None), where + ": gradient or none"
    if got is None:
        return
    assert got.dtype == wanted.dtype, (where, got.dtype, wanted.dtype)
    assert got.shape == wanted.shape, (where, got.shape, wanted.shape)
    assert torch.isfinite(got).all(), where + ": not finite"
    if got.numel() == 0:
        return
    truth = truth.double()
    error, own = got.double() - truth, wanted.double() - truth
    largest = max(1e-3, truth.abs().max().item())
    step = STEP[got.dtype]
    if own.abs().max().item() > 1e-3 * largest:
        # A float32 gradient of an autocast run comes from products in half
        # precision: its rounding is theirs.
        step = max(step, STEP[torch.bfloat16])
    sizes = (
        ("largest", lambda t: t.abs().max().item(), step),
        ("mean", lambda t: t.square().mean().sqrt().item(), STEP[torch.float32]),
    )
    for name, size, step in sizes:
        allowed = 2 * size(own) + step * largest
        assert size(error) <= allowed, "%s: %s error %.3g, original %.3g" % (
            where,
            name,
            size(error),
            size(own),
        )


def compare_runs(got, wanted, truth):
    assert len(got[0]) == len(wanted[0])
    for i, triple in enumerate(zip(got[0], wanted[0], truth[0])):
        compare(*triple, where="output %d" % i)
    for name in wanted[1]:
        compare(got[1][name], wanted[1][name], truth[1][name], "grad " + name)


def identical(got, wanted):
    for a, b in zip(got[0], wanted[0]):
        assert a.dtype == b.dtype and torch.equal(a, b)
        assert a.stride() == b.stride()
    for name, b in wanted[1].items():
        a = got[1][name]
        assert (a is None) == (b is None), name
        assert b is None or torch.equal(a, b), name


# A mode: dtype of parameters, of inputs, whose autocast.
MODES = {
    "fp32": (torch.float32, torch.float32, None),
    "bf16": (torch.bfloat16, torch.bfloat16, None),
    "fp16": (torch.float16, torch.float16, None),
    "bf16-input": (torch.float32, torch.bfloat16, None),
    "bf16-weight": (torch.bfloat16, torch.float32, None),
    "autocast": (torch.float32, torch.float32, "cpu"),
    "autocast-bf16-input": (torch.float32, torch.bfloat16, "cpu"),
    "npu-autocast": (torch.float32, torch.float32, "npu"),
    "npu-autocast-bf16-input": (torch.float32, torch.bfloat16, "npu"),
    "npu-autocast-bf16": (torch.bfloat16, torch.bfloat16, "npu"),
}


def cases(pair, mode, which="inputs"):
    """(original, rewritten, arguments, autocast) of each input of a mode;
    none where the original itself refuses the mix of dtypes."""
    weights, given, autocast = MODES[mode]
    made, twin = pair.make()
    if isinstance(made, torch.nn.Module):
        made, twin = made.to(weights), twin.to(weights)
    for arguments in getattr(pair.original, which, lambda dtype: [])(given):
        try:
            run(made, arguments, autocast)
        except RuntimeError:
            continue
        yield made, twin, arguments, autocast


def check_fused(pair, mode):
    """Runs every input of a mode; returns how many were run.

    A file's LEFT_ALONE names modes in which its guard keeps the original, its
    CALLS says how often an operator has to run.
    """
    count = 0
    for made, twin, arguments, autocast in cases(pair, mode):
        wanted = run(made, arguments, autocast)
        truth = run(made, arguments, dtype=torch.float32)
        got, calls = pair.fused(run, twin, arguments, autocast)
        if mode in getattr(pair.original, "LEFT_ALONE", ()):
            assert calls == 0, "the guard keeps the original in this mode"
        else:
            assert calls > 0, "the fused branch did not run"
            assert calls == getattr(pair.original, "CALLS", calls), "not all of them ran"
        compare_runs(got, wanted, truth)
        count += 1
    return count


def check_excluded(pair, mode):
    """Inputs outside the operator's limits take the else branch by the guard,
    with the device ready."""
    for made, twin, arguments, autocast in cases(pair, mode, "excluded"):
        wanted = run(made, arguments, autocast)
        got, calls = pair.fused(run, twin, arguments, autocast)
        assert calls == 0, "the guard let it through"
        identical(got, wanted)


def check_others(pair):
    """Objects for which the replacement would be wrong stay eager."""
    if not hasattr(pair.original, "others"):
        return
    for made, twin in zip(pair.original.others(), pair.rewritten.others()):
        twin.load_state_dict(made.state_dict())
        arguments = pair.original.inputs(torch.float32)[0]
        got, calls = pair.fused(run, twin, arguments)
        assert calls == 0, "fused where another activation is configured"
        identical(got, run(made, arguments))


def check_eager(pair, mode):
    """Without a device the result is that of the original, bit for bit; the
    operators may be there or not."""
    for which in ("inputs", "excluded"):
        for made, twin, arguments, autocast in cases(pair, mode, which):
            wanted = run(made, arguments, autocast)
            identical(run(twin, arguments, autocast), wanted)
            with emulate.answering(pair.rewritten, ready=False):
                identical(run(twin, arguments, autocast), wanted)


def check_switched_off(pair):
    """With the switch off nothing is fused, device or not."""
    kinds = {f["switch"]["kind"] for f in pair.findings}
    if kinds != {"existing"}:
        return
    made, twin = pair.make(on=False)
    arguments = pair.original.inputs(torch.float32)[0]
    got, calls = pair.fused(run, twin, arguments)
    assert calls == 0
    identical(got, run(made, arguments))
