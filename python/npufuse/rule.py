"""What a rule file imports, and what loads one.

A rule file holds ``reference`` (the code to find), ``replacement`` (the fused
form), ``requires`` (asserts) and ``sample`` (inputs by parameter name). Here
they are ordinary functions on tensors, run on the CPU through the emulated
operators or on an NPU; the command reads the same text as syntax.

``requires`` may test: dtype, shape, dim(), numel(), size(), is_contiguous(),
device of a parameter, ``is None``, isinstance, constants, and combinations.
"""
import ast
import copy
import inspect
import itertools
from collections import namedtuple
from pathlib import Path

import torch

from . import emulate

_real = emulate.working()
#: The operators: the real module if it works here, else the emulated one.
torch_npu = _real if _real is not None else emulate.module()
#: Where values of ``torch_npu`` come from; shown with every result.
LABEL = "device" if _real is not None else emulate.LABEL

REQUIRED = ("id", "family", "operator", "priority", "gain")
OPTIONAL = ("risks", "risks_of", "part", "title", "title_zh", "gain_zh", "risks_zh", "constants",
            "eager_only", "within", "caution", "reused",
            "weights")
PRIORITIES = ("high", "medium", "low")

_announced = []  # what rule() said while a file runs


def rule(**meta):
    """Says what a rule is about; called once, at the top of its file.

    id: unique name; family: of the findings; operator: a name in ``ops``;
    priority: high, medium or low; gain: one sentence; risks: sentences;
    risks_of: "PARAMETERS: sentence", where one of those parameters is present;
    part: the parameter of which the finding says whether it is the whole of
    its last axis, the beginning (prefix) or the end (suffix);
    constants: names of parameters that take no gradient, such as masks;
    eager_only: why the operator does not go into a compiled graph;
    within: families whose matches hold this computation already;
    caution: why a match is never a recommendation;
    weights: parameters that are never a computed value;
    reused: what to say where an inner value is used elsewhere.
    """
    missing = [name for name in REQUIRED if not meta.get(name)]
    unknown = [name for name in meta if name not in REQUIRED + OPTIONAL]
    if missing or unknown:
        raise ValueError("rule: missing %s, unknown %s" % (missing, unknown))
    if meta["priority"] not in PRIORITIES:
        raise ValueError("rule: priority '%s'" % meta["priority"])
    _announced.append(meta)


def rand(*shape, dtype=torch.float32, scale=1.0, shift=0.25):
    """Normal values about `shift`: without symmetry an error has no place to
    hide. Uses PyTorch's generator; seed it for repeatable samples."""
    return (torch.randn(*shape) * scale + shift).to(dtype)


def contiguous(x):
    """x without gaps; emitted only where contiguity is not proven."""
    return x.contiguous()


def cast_like(y, ref):
    """y in the dtype of ref; emitted only where equality is not proven."""
    return y.to(ref.dtype)


def widened(x, *others):
    """x in the promoted dtype of all; emitted only where that is not x's own."""
    dtype = x.dtype
    for other in others:
        dtype = torch.promote_types(dtype, other.dtype)
    return x.to(dtype)


def ranked(table, x, of=None):
    """table with leading axes of length one, as many as x has more dimensions;
    emitted only where the source does not show that there are none. of: the
    parameter that decides what is emitted, where table is made of it."""
    return table[(None,) * (x.dim() - table.dim())]


def unclamped(x):
    """Whether x is no output of a clamp or soft-cap. Read from the source by
    the command; here there is only a tensor, so it always holds."""
    return True


def uncentred(x):
    """Whether no mean was subtracted from x; see unclamped()."""
    return True


Rule = namedtuple("Rule", "id meta path reference replacement requires sample edges")
Rule.__doc__ = "A loaded rule; `meta` is what rule() was given, `edges` may be None."


def constants(rule_):
    """Names of the rule's parameters that take no gradient, such as masks."""
    return tuple(rule_.meta.get("constants", ()))


def operator_file(rule_):
    """The Path of the operator's file: beside the rule's folder, else bundled."""
    name = rule_.meta["operator"] + ".py"
    own = Path(rule_.path).resolve().parent.parent / "ops" / name
    return own if own.is_file() else emulate.folder("ops") / name


def label(rule_):
    """Where the values of the rule's operator come from: "native" for one of
    torch itself, which needs no stand-in, else LABEL."""
    spec = emulate.execute(operator_file(rule_), "npufuse_op")
    return emulate.NATIVE if emulate.is_native(spec) else LABEL


def has_backward(rule_):
    """Whether the operator's gradients are those of its formula. Where not, the
    replacement is written for code without gradients only."""
    from npufuse import emulate

    spec = emulate.execute(operator_file(rule_), "npufuse_op")
    return emulate.is_native(spec) or spec.autograd == "differentiable"


def load(path):
    """Runs a rule file and returns its Rule."""
    del _announced[:]
    place = Path(path).resolve().parent.parent / "ops"
    if place.is_dir():
        emulate.add_folder(place)
    module = emulate.execute(path, "npufuse_rule_" + Path(path).stem)
    if len(_announced) != 1:
        raise ValueError("'%s' must call rule() once" % path)
    parts = []
    for name in ("reference", "replacement", "requires", "sample"):
        if not callable(getattr(module, name, None)):
            raise ValueError("'%s' has no function '%s'" % (path, name))
        parts.append(getattr(module, name))
    edges = getattr(module, "edges", None)
    return Rule(_announced[0]["id"], _announced[0], str(path), *parts, edges)


def load_all(*folders):
    """Every rule of the given folders, or of the bundled one; by file name."""
    places = [Path(f) for f in folders] or [emulate.folder("rules")]
    return [load(p) for f in places for p in sorted(f.glob("*.py"))]


def call(function, values):
    """Calls `function` with those of `values` that it has parameters for."""
    names = inspect.signature(function).parameters
    return function(**{k: v for k, v in values.items() if k in names})


# A variant is one way through the alternatives of a reference.
#   name      the alternatives taken, joined by "+", or "plain"
#   settings  parameter -> bool for a flag, None for an absent optional; an
#             optional that is present is not mentioned
#   function  the reference as a tree (ast.FunctionDef) without alternatives
Variant = namedtuple("Variant", "name settings function")


def variants(rule_):
    """The distinct variants of a rule: ``if p is not None`` on a parameter
    that defaults to None, ``if FLAG`` on a keyword-only bool."""
    tree = ast.parse(Path(rule_.path).read_text(encoding="utf-8"))
    function = find_function(tree, "reference")
    parameters = inspect.signature(rule_.reference).parameters
    choices = {}
    for name in sorted(tested_names(function)):
        default = parameters[name].default
        if isinstance(default, bool):
            choices[name] = (False, True)
        elif default is None:
            choices[name] = ("present", None)
    seen, result = set(), []
    for values in itertools.product(*choices.values()):
        settings = dict(zip(choices, values))
        folded = fold(function, settings)
        key = ast.dump(folded)
        if key not in seen:
            seen.add(key)
            result.append(make_variant(settings, folded))
    return result


def make_variant(settings, function):
    body = ast.Module(body=function.body, type_ignores=[])
    used = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)}
    taken = [k for k, v in settings.items() if v is True]
    taken += [k for k, v in settings.items() if v == "present" and k in used]
    kept = {k: v for k, v in settings.items() if v != "present"}
    return Variant("+".join(sorted(taken)) or "plain", kept, function)


def find_function(tree, name):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise LookupError("no function '%s'" % name)


def tested_names(function):
    """Parameters that stand alone or against None in an ``if``."""
    arguments = function.args
    names = {a.arg for a in arguments.args + arguments.kwonlyargs}
    found = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.If, ast.IfExp)):
            subject, _ = subject_of(node.test)
            found.add(subject)
    return found & names


def subject_of(test):
    """(name, sense) of ``f``, ``not f``, ``p is None``, ``p is not None``.

    sense: whether the test is true when the alternative is taken.
    """
    if isinstance(test, ast.Name):
        return test.id, True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        name, sense = subject_of(test.operand)
        return name, not sense
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
        other = test.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None:
            return test.left.id, isinstance(test.ops[0], ast.IsNot)
    return None, False


class Fold(ast.NodeTransformer):
    """Removes the ``if`` statements that `settings` decide."""

    def __init__(self, settings):
        self.settings = settings

    def decide(self, test):
        name, sense = subject_of(test)
        if name not in self.settings:
            return None
        return bool(self.settings[name]) == sense

    def visit_If(self, node):
        self.generic_visit(node)
        taken = self.decide(node.test)
        if taken is None:
            return node
        return node.body if taken else node.orelse

    def visit_IfExp(self, node):
        self.generic_visit(node)
        taken = self.decide(node.test)
        if taken is None:
            return node
        return node.body if taken else node.orelse


def fold(function, settings):
    """A copy of `function` (ast.FunctionDef) without the decided branches and
    without what follows a return."""
    result = copy.deepcopy(function)
    Fold(settings).visit(result)
    for i, node in enumerate(result.body):
        if isinstance(node, ast.Return):
            del result.body[i + 1 :]
            break
    return result

