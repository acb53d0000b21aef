"""Inputs on which two implementations are compared.

A case is inputs by the names of a rule's parameters: those that were seen in
a run (capture), or the rule's sample(), and edges made from it. All values
come from one seed.
"""
from collections import namedtuple

import torch

HALF = (torch.bfloat16, torch.float16)
MODES = ("float32", "bfloat16", "float16", "autocast_npu", "autocast_cpu")
LARGEST_CASE = 1 << 21  # elements of a captured tensor; more rows tell no more
SIGNATURES = 6  # captured ones that are used, the most frequent first

#: values: by parameter name, tensors of float32 or of the captured dtype.
#: exact: the dtypes are part of the case and no mode changes them.
#: local: plain values of the function by name, from a capture.
#: always: {name: dtype} of the inputs that the source gives one dtype.
Case = namedtuple("Case", "name source values exact autocast local always")
Case.__new__.__defaults__ = ({},)


def is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def normal(shape, generator, weight):
    """Normal values without symmetry; a weight is spread around 1."""
    values = torch.randn(*shape, generator=generator)
    return values * 0.5 + 1.0 if weight else values + 0.25


def leading(values):
    """The shape before the last axis of the tensors that vary together: those
    of the largest number of axes. Others are weights."""
    tensors = [v for v in values.values() if is_float(v)]
    most = max(tensors, key=lambda t: t.dim())
    return tuple(most.shape[:-1])


def varying(values):
    shape = leading(values)
    return [
        k
        for k, v in values.items()
        if is_float(v) and v.dim() > 1 and tuple(v.shape[:-1]) == shape
    ]


def resized(values, shape, generator):
    """With another leading shape."""
    made = dict(values)
    for name in varying(values):
        made[name] = normal((*shape, values[name].shape[-1]), generator, False)
    return made


def scaled(values, factor):
    made = dict(values)
    for name in varying(values):
        rows = factor
        if isinstance(factor, torch.Tensor):
            rows = factor.reshape(*values[name].shape[:-1], 1)
        made[name] = values[name] * rows
    return made


def strided(values, transposed, solid):
    """The same values with gaps: an end of a longer axis, or axes swapped."""
    made = dict(values)
    for name in set(varying(values)) - set(solid):
        value = values[name]
        if transposed and value.dim() > 2:
            made[name] = value.transpose(0, 1).contiguous().transpose(0, 1)
        else:
            wide = torch.cat([torch.ones_like(value), value], dim=-1)
            made[name] = wide[..., value.shape[-1] :]
    return made


def other_numbers(values):
    """Numbers such as an epsilon three times as large: one that is written
    into the code shows."""
    return {k: 3 * v if isinstance(v, float) else v for k, v in values.items()}


def halved(values):
    """What varies in bfloat16, weights in float32: as after a linear layer
    under autocast."""
    made = dict(values)
    for name in varying(values):
        made[name] = values[name].bfloat16()
    return made


def edges(values, generator, solid):
    """(name, values) of the edges of a set of inputs. `solid`: names of those
    that never have gaps, because the source makes them so."""
    if not varying(values):
        return
    rank = len(leading(values))
    count = 1
    for size in leading(values):
        count *= size
    # Rows of 1e-4 to 1: there a wrong epsilon is the largest part.
    small = 10.0 ** torch.linspace(-4, 0, count)
    yield "small rows", other_numbers(scaled(values, small))
    yield "one row", resized(values, (1,) * rank, generator)
    yield "odd sizes", resized(values, (3, 5, 7)[:rank] + (1,) * (rank - 3), generator)
    if set(varying(values)) - set(solid):
        yield "a slice", strided(values, False, solid)
        yield "axes swapped", strided(values, True, solid)
    yield "large values", scaled(values, 100.0)


def from_sample(sample, names, generator, solid=(), own=None):
    """The sample's values of the parameters `names`, and its edges: those that
    the rule has of its `own` ((name, values), ...), else the general ones."""
    values = {k: sample[k] for k in names if k in sample}
    if not any(is_float(v) for v in values.values()):
        return
    yield Case("sample", "sample", values, False, None, {})
    if own is not None:
        for name, made in own:
            made = {k: made.get(k, v) for k, v in values.items()}
            yield Case(name, "edge", made, False, None, {})
        return
    for name, made in edges(values, generator, solid):
        yield Case(name, "edge", made, False, None, {})
    yield Case("half activations", "edge", halved(values), True, True, {})


# --------------------------------------------------------------------- captured


def tensor_like(seen, generator, weight):
    """A random tensor of a captured shape, dtype and stride."""
    shape = shortened(seen["shape"])
    dtype = getattr(torch, seen["dtype"])
    if not dtype.is_floating_point:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    made = normal(shape, generator, weight).to(dtype)
    order = sorted(range(len(shape)), key=lambda i: -seen["stride"][i])
    if seen.get("contiguous") or len(shape) != len(seen["stride"]):
        return made
    if order != list(range(len(shape))):  # axes in another order in memory
        back = sorted(range(len(order)), key=order.__getitem__)
        return made.permute(order).contiguous().permute(back)
    return torch.cat([torch.ones_like(made), made], dim=-1)[..., made.shape[-1] :]


def shortened(shape):
    """At most LARGEST_CASE elements: fewer along the first axes."""
    shape = [int(n) for n in shape]
    for axis in range(len(shape) - 1):
        total = 1
        for size in shape:
            total *= size
        if total <= LARGEST_CASE:
            break
        shape[axis] = max(1, shape[axis] * LARGEST_CASE // total)
    return shape


def plain(value):
    """A captured plain value as Python has it."""
    if isinstance(value, dict) and "dtype" in value:
        return getattr(torch, value["dtype"])
    if isinstance(value, dict) and "size" in value:
        return torch.Size(value["size"])
    return value


def from_captured(captured, names, generator, solid=()):
    """Cases of the most frequent signatures, with the edges of the first."""
    most = sorted(captured, key=lambda c: -c.get("count", 0))[:SIGNATURES]
    for place, seen in enumerate(most):
        values = {}
        for name in names:
            found = seen["inputs"].get(name)
            if found is None:
                continue
            if "shape" in found:
                weight = len(found["shape"]) < 2
                values[name] = tensor_like(found, generator, weight)
            else:
                values[name] = plain(found["value"])
        local = {k: plain(v) for k, v in (seen.get("locals") or {}).items()}
        autocast = (seen.get("autocast") or {}).get("enabled")
        title = "captured %d" % (place + 1)
        yield Case(title, "captured", values, True, bool(autocast), local)
        yield Case(title, "captured", values, False, None, local)
        if place == 0 and any(is_float(v) for v in values.values()):
            wide = {k: v.float() if is_float(v) else v for k, v in values.items()}
            for name, made in edges(wide, generator, solid):
                yield Case(name, "edge", made, False, None, local)


# ------------------------------------------------------------------------ modes


def modes_of(case):
    """The modes in which a case is run."""
    if not case.exact:
        return MODES
    if case.autocast:
        return ("autocast_npu", "autocast_cpu")
    dtypes = [v.dtype for v in case.values.values() if is_float(v)]
    named = str(dtypes[0]).replace("torch.", "") if dtypes else ""
    return (named,) if named in MODES else ()


def in_mode(case, mode):
    """The case's values in the dtypes of a mode; tensors are detached."""
    wanted = getattr(torch, mode) if mode in MODES[:3] else torch.float32
    made = {}
    for name, value in case.values.items():
        if is_float(value):
            kept = value.dtype if case.exact else wanted
            value = value.detach().to(case.always.get(name, kept))
        made[name] = value
    return made


def describe(values):
    """"x 2x16x64 float32, eps 1e-06"."""
    parts = []
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            shape = "x".join(map(str, value.shape)) or "scalar"
            gaps = "" if value.is_contiguous() else " with gaps"
            kind = str(value.dtype).replace("torch.", "")
            parts.append("%s %s %s%s" % (name, shape, kind, gaps))
        else:
            parts.append("%s %r" % (name, value))
    return ", ".join(parts)
