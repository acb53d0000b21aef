"""Whether a fused result is as good as the original's.

Three tensors are compared: the fused one, the original one, and the same
computation in float64. The gate that people know (cosine > 0.999 or largest
error < 1e-4) is reported as such. It passes real bugs: an epsilon that is
lost in a few small rows, a scale that is off. So the verdict asks for more:

- equal dtype and shape, and finite where the original is;
- a norm within 1 %, or within two steps of the dtype where these are coarser,
  of the original's or of the truth's (an original that overflows inside is no
  measure);
- a largest error against the truth of at most twice the original's own plus a
  tolerance of the dtype, and the same for the root of the mean square, which
  sees a shift that is the same everywhere.

The tolerance, in steps (eps) of the tensor's dtype, times the largest value of
the truth:

float16, bfloat16   1   half a step is the rounding of the result; the other
                        half that of one value inside which the original
                        happens to keep (x * 1.0, or a sum of exact terms)
float32, float64   16   sums have another order; of 16 terms that are rounded
                        one after the other the last may be off by 16 steps

A float32 tensor that the original computed through half precision (a gradient
under autocast) is known by the original's own error: above ROUGH of the
largest value it is judged with the steps of bfloat16.
"""
import math

import torch

COSINE = 0.999
LARGEST = 1e-4
NORM = 0.01
FACTOR = 2.0
ROUGH = 1e-3
STEPS = {torch.float16: 1, torch.bfloat16: 1, torch.float32: 16, torch.float64: 16}


def tolerance_of(dtype, own, truth):
    """The tolerance relative to the largest value of the truth; `own` is the
    largest error of the original."""
    found = STEPS[dtype] * torch.finfo(dtype).eps if dtype in STEPS else 0.0
    if own > ROUGH * truth:
        found = max(found, torch.finfo(torch.bfloat16).eps)
    return found


def name_of(dtype):
    return str(dtype).replace("torch.", "")


def number(value):
    """A float for JSON, None if it is not finite."""
    return value if value is not None and math.isfinite(value) else None


def size_of(tensor):
    """(largest absolute value, root of the mean square)."""
    if tensor.numel() == 0:
        return 0.0, 0.0
    tensor = tensor.abs()
    return tensor.max().item(), tensor.square().mean().sqrt().item()


def cosine(a, b):
    a, b = a.flatten(), b.flatten()
    length = (a.norm() * b.norm()).item()
    if length == 0.0:
        return 1.0 if a.norm().item() == b.norm().item() else 0.0
    return (a @ b).item() / length


def ratio(a, b):
    a, b = a.norm().item(), b.norm().item()
    return a / b if b else (1.0 if a == b else math.inf)


def compare(fused, original, truth):
    """One row of the result for three tensors; see docs/formats.md.

    truth: float64, of the same shape.
    """
    row = {
        "dtype_original": name_of(original.dtype),
        "dtype_fused": name_of(fused.dtype),
        "cosine": None,
        "max_abs_err": None,
        "norm_ratio": None,
        "original_error": None,
        "fused_error": None,
        "limit": None,
        "original_gate": False,
        "status": "fail",
        "reason": "",
    }
    if fused.shape != original.shape:
        shapes = tuple(fused.shape), tuple(original.shape)
        row["reason"] = "has shape %s where the original has %s" % shapes
        return row
    measures = measure(row, *(t.detach().double() for t in (fused, original, truth)))
    row["reason"] = reason_of(row, measures, fused, original)
    row["status"] = "fail" if row["reason"] else "pass"
    return row


def measure(row, fused, original, truth):
    """Fills in the numbers; returns those that only the verdict needs."""
    difference = size_of(fused - original)[0]
    row["cosine"] = number(cosine(fused, original))
    row["max_abs_err"] = number(difference)
    row["norm_ratio"] = number(ratio(fused, original))
    row["original_gate"] = (row["cosine"] or 0.0) > COSINE or difference < LARGEST
    own, error = size_of(original - truth), size_of(fused - truth)
    row["original_error"], row["fused_error"] = number(own[0]), number(error[0])
    return {
        "own": own,
        "error": error,
        "truth": size_of(truth),
        "ratios": (ratio(fused, original), ratio(fused, truth)),
    }


def reason_of(row, measures, fused, original):
    """Why it fails, or ""."""
    if fused.dtype != original.dtype:
        kinds = row["dtype_fused"], row["dtype_original"]
        return "is %s where the original gives %s" % kinds
    if not torch.isfinite(fused).all():
        return "is not finite" if torch.isfinite(original).all() else ""
    if not torch.isfinite(original).all():
        return ""  # nothing to compare with; the fused one is better
    own, error, truth = measures["own"], measures["error"], measures["truth"]
    tolerance = tolerance_of(original.dtype, own[0], truth[0])
    limits = [FACTOR * o + tolerance * t for o, t in zip(own, truth)]
    row["limit"] = number(limits[0])
    if error[0] > limits[0]:
        numbers = error[0], own[0], limits[0]
        return "is off by %.3g where the original is by %.3g (limit %.3g)" % numbers
    if error[1] > limits[1]:
        numbers = error[1], own[1], limits[1]
        text = "is off by %.3g in the mean where the original is by %.3g (limit %.3g)"
        return text % numbers
    allowed = max(NORM, 2 * tolerance)
    if all(abs(r - 1.0) > allowed for r in measures["ratios"]):
        return "has %.4g times the norm of the original" % measures["ratios"][0]
    return ""


def missing(fused, original):
    """A row for a gradient that only one side has."""
    row = compare(torch.zeros(0), torch.zeros(0), torch.zeros(0))
    row.update(status="fail", original_gate=False, cosine=None, norm_ratio=None)
    row["dtype_fused"] = name_of(fused.dtype) if fused is not None else ""
    row["dtype_original"] = name_of(original.dtype) if original is not None else ""
    row["reason"] = (
        "is missing: the original has one"
        if fused is None
        else "is there: the original has none"
    )
    return row
