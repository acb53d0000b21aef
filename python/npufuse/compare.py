"""Runs two implementations on cases and judges each tensor that comes out.

An implementation is a function of the inputs by name that returns a list of
tensors. What happens is one row for each case, mode and tensor.
"""
import contextlib

import torch

from npufuse import cases, emulate, judge
from npufuse.float64 import Float64

REFERENCE = torch.float64


class Unfit(Exception):
    """The original itself does not run on a case."""


def autocast(mode, device):
    """The context of a mode."""
    if mode == "autocast_npu" and device == "npu":
        return torch.autocast("npu", dtype=torch.bfloat16)
    if mode == "autocast_npu":
        return emulate.NpuAutocast(torch.bfloat16)
    if mode == "autocast_cpu":
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return contextlib.nullcontext()


def leaves(values, dtype=None, grad=True, constants=()):
    """Copies that collect gradients, but for `constants`; strides stay."""
    made = {}
    for name, value in values.items():
        if cases.is_float(value):
            value = value.detach().clone(memory_format=torch.preserve_format)
            value = value if dtype is None else value.to(dtype)
            value = value.requires_grad_(grad and name not in constants)
        elif isinstance(value, torch.Tensor):
            value = value.clone()
        made[name] = value
    return made


def run(function, values, context, grad, seed):
    """([output, ...], {input name: gradient or None})."""
    with context, torch.set_grad_enabled(grad):
        outputs = function(dict(values))
    floating = [y for y in outputs if cases.is_float(y) and y.requires_grad]
    inputs = {k: v for k, v in values.items() if cases.is_float(v) and v.requires_grad}
    if not grad or not floating or not inputs:
        return outputs, {}
    # The same directions for every implementation, whatever its dtype.
    generator = torch.Generator().manual_seed(seed)
    directions = [
        torch.randn(y.shape, generator=generator).to(y.device, y.dtype)
        for y in floating
    ]
    gradients = torch.autograd.grad(
        floating, list(inputs.values()), directions, allow_unused=True
    )
    return outputs, dict(zip(inputs, gradients))


def truth_of(function, values, grad, seed, constants=()):
    """The same in float64. The mode also stands over the backward pass: what
    is recorded there is of float64 already."""
    wide = leaves(values, REFERENCE, grad, constants)
    return run(function, wide, Float64(), grad, seed)


class Comparison:
    """Rows of the result; `grad` says whether gradients are compared."""

    def __init__(self, original, fused, device="cpu", seed=1, constants=()):
        self.constants = constants  # names of inputs that take no gradient
        self.original, self.fused = original, fused
        self.device, self.seed, self.grad = device, seed, True
        self.rows, self.unfit = [], []

    def add(self, case, mode):
        """Compares a case in a mode, if the original runs there."""
        values = cases.in_mode(case, mode)
        values = {
            k: v.to(self.device) if isinstance(v, torch.Tensor) else v
            for k, v in values.items()
        }
        try:
            wanted = self.one(self.original, values, mode)
            truth = truth_of(
                self.original, values, self.grad, self.seed, self.constants
            )
        except Unfit as error:
            self.unfit.append("%s, %s: %s" % (case.name, mode, error))
            return
        if mode == "autocast_cpu" and self.differs_by_table(values, wanted):
            self.unfit.append("%s, %s: the NPU's autocast gives another dtype" % (case.name, mode))
            return
        head = {
            "name": case.name,
            "mode": mode,
            "source": case.source,
            "inputs": cases.describe(values),
        }
        try:
            got = self.one(self.fused, values, mode)
        except Unfit as error:
            row = judge.missing(None, torch.zeros(0))
            row.update(head, tensor="output", reason="raises " + str(error))
            self.rows.append(row)
            return
        for name, row in compare_all(got, wanted, truth):
            ordered = dict(head, tensor=name)
            ordered.update(row)
            self.rows.append(ordered)

    def differs_by_table(self, values, wanted):
        """Whether the original's dtypes depend on whose table autocast goes by: that of
        the CPU leaves pow alone, that of the NPU takes it to float32. The fused branch
        runs on NPUs alone, and is written for their table."""
        try:
            there = self.one(self.original, values, "autocast_npu")
        except Unfit:
            return True
        return [o.dtype for o in there[0]] != [o.dtype for o in wanted[0]]

    def one(self, function, values, mode):
        values = leaves(values, grad=self.grad, constants=self.constants)
        context = autocast(mode, self.device)
        try:
            return run(function, values, context, self.grad, self.seed)
        except Exception as error:
            text = str(error).split("\n")[0]
            raise Unfit("%s: %s" % (type(error).__name__, text)) from None

    def first_failure(self):
        """One sentence, or "" if every row passed."""
        for row in self.rows:
            if row["status"] == "fail":
                text = "%s, %s: %s %s"
                return text % (row["mode"], row["name"], row["tensor"], row["reason"])
        return ""


def compare_all(got, wanted, truth):
    """(name, row) of every tensor."""
    outputs = list(zip(got[0], wanted[0], truth[0]))
    for place, triple in enumerate(outputs):
        name = "output" if len(outputs) == 1 else "output %d" % (place + 1)
        yield name, judge.compare(*triple)
    if len(got[0]) != len(wanted[0]):
        yield "output", judge.missing(None, wanted[0][-1])
    for name, original in wanted[1].items():
        fused = got[1].get(name)
        if fused is None and original is None:
            continue
        if fused is None or original is None:
            yield "grad " + name, judge.missing(fused, original)
        else:
            triple = fused, original, truth[1][name]
            yield "grad " + name, judge.compare(*triple)
