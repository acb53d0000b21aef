"""Fused operators of torch_npu on any device, in plain PyTorch.

Each operator comes from one file of the folder ``ops``: its schema decides
what arguments a call may have, ``limits()`` what they may be, ``golden()``
what comes out. Everything produced here is *emulated*: it speaks about
values, shapes, dtypes and gradients, never about speed, and it never stands
in for a torch_npu that works.
"""
import ast
import collections
import contextlib
import importlib
import importlib.machinery
import inspect
import re
import sys
import types
import warnings
from pathlib import Path

import torch
import torch.overrides

LABEL = "emulated"
NATIVE = "native"  # of an operator of torch itself: it runs everywhere as it is
NAME = "torch_npu"
PREDICATE = "npu_fused_ready"


def folder(name):
    """The folder `name` ("ops", "rules") of the package or the source tree."""
    here = Path(__file__).resolve().parent
    for place in (here / name, here.parents[1] / name):
        if place.is_dir():
            return place
    raise FileNotFoundError("no folder '%s' beside the npufuse package" % name)


def execute(path, name):
    """Runs a Python file as a module that is not put into sys.modules.

    Asserts are kept even under ``python -O``: they are the file's content.
    """
    path = Path(path)
    module = types.ModuleType(name)
    module.__file__ = str(path)
    source = path.read_text(encoding="utf-8")
    code = compile(source, str(path), "exec", dont_inherit=True, optimize=0)
    exec(code, module.__dict__)
    return module


class Operator:
    """One operator: a callable with the schema's parameters.

    `spec` is the module of an ``ops`` file. `count` is a Counter of calls
    that passed the limits.
    """

    def __init__(self, spec, count):
        self.spec = spec
        self.name = self.__name__ = spec.operator
        self.__doc__ = spec.__doc__
        self.count = count
        schemas = (spec.schema,) + tuple(getattr(spec, "overloads", ()))
        self.forms = [parse_schema(schema) for schema in schemas]
        self.__signature__ = self.forms[0][1]

    def __call__(self, *args, **kwargs):
        values = self.bind(args, kwargs)
        self.check(values)
        if not hasattr(self.spec, "golden"):
            text = "%s has no golden: what it computes is not emulated"
            raise RuntimeError(text % self.name)
        tensors = tensors_in(values.values())
        device = tensors[0].device.type if tensors else "cpu"
        # No npu operator is on an autocast list: inputs are taken as they are.
        with torch.autocast(device, enabled=False):
            with NpuAutocast.suspended():
                result = self.compute(values, tensors)
        self.count[self.name] += 1
        return result

    def bind(self, args, kwargs):
        """Arguments by parameter name, defaults filled in, types checked.

        The first form that takes the call is meant: the schema, then each of
        `overloads`. What an overload lacks has the schema's default.
        """
        failures = []
        for types_, signature in self.forms:
            try:
                values = self.fit(types_, signature, args, kwargs)
            except TypeError as error:
                failures.append(error)
                continue
            for name, parameter in self.__signature__.parameters.items():
                values.setdefault(name, parameter.default)
            return values
        raise failures[0]

    def fit(self, types_, signature, args, kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError("%s: %s" % (self.name, error)) from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if not accepts(types_[name], value):
                text = "%s: '%s' must be %s, not %s"
                found = type(value).__name__
                raise TypeError(text % (self.name, name, types_[name], found))
            if isinstance(value, tuple) and "[" in types_[name]:
                bound.arguments[name] = list(value)  # as PyTorch hands it on
        return bound.arguments

    def check(self, values):
        """Raises RuntimeError, as the device does, where a limit is broken."""
        try:
            self.spec.limits(**values)
        except AssertionError as error:
            text = "%s (%s): not held: %s" % (self.name, LABEL, error)
            raise RuntimeError(text) from None

    def compute(self, values, tensors):
        kind = self.spec.autograd
        with torch.set_grad_enabled(
            torch.is_grad_enabled() and kind == "differentiable"
        ):
            result = self.spec.golden(**values)
        if result is None:  # all results are arguments, written in place
            return None
        several = isinstance(result, (tuple, list))
        outputs = list(result) if several else [result]
        carries = self.spec.output_differentiability
        if isinstance(result, list):  # "-> Tensor[]": one word for all
            carries = carries * len(outputs)
        for i, y in enumerate(outputs):
            if isinstance(y, torch.Tensor) and not any(y is x for x in tensors):
                outputs[i] = self.output(y, carries[i], tensors)
        return type(result)(outputs) if several else outputs[0]

    def output(self, y, carries, tensors):
        """One result as the device gives it: newly allocated, whatever the
        strides of the input, with the gradient that it carries."""
        y = y.contiguous()
        if not carries:
            return y.detach()
        kind = self.spec.autograd
        if kind == "differentiable":
            return y
        return NoBackward.apply(self.name, kind, y, *tensors)


def tensors_in(values):
    """The tensors among arguments, those of lists too."""
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found.extend(tensors_in(value))
    return found


class NoBackward(torch.autograd.Function):
    """An output whose backward raises, or gives no gradient and a warning."""

    @staticmethod
    def forward(ctx, name, kind, output, *inputs):
        ctx.name, ctx.kind, ctx.inputs = name, kind, len(inputs)
        return output.view_as(output)

    @staticmethod
    def backward(ctx, grad):
        text = "%s (%s) has no backward" % (ctx.name, LABEL)
        if ctx.kind == "raises":
            raise RuntimeError(text)
        warnings.warn(text)
        return (None,) * (3 + ctx.inputs)


# What autocast does to a function on an NPU, by the function's Python name.
# Source: Ascend/pytorch, torch_npu/csrc/aten/AutoCastOps.cpp. The CPU has
# other lists: there `pow` and `rsqrt` of a bfloat16 tensor stay bfloat16.
LOWERED = frozenset(
    "matmul __matmul__ __rmatmul__ mm bmm mv addmm addmv addr addbmm baddbmm "
    "linear einsum chain_matmul multi_dot prelu conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d "
    "scaled_dot_product_attention".split()
)
RAISED = frozenset(
    "pow __pow__ __ipow__ __rpow__ float_power square rsqrt reciprocal __rdiv__ "
    "__rtruediv__ exp expm1 log log10 log2 log1p acos asin cosh erfinv sinh tan "
    "softplus layer_norm group_norm cosine_similarity nll_loss cross_entropy "
    "kl_div l1_loss smooth_l1_loss huber_loss mse_loss dist pdist cdist renorm "
    "logsumexp norm".split()
)
RAISED_BY_DTYPE = frozenset(
    "softmax log_softmax sum prod cumsum cumprod vector_norm matrix_norm".split()
)


class NpuAutocast(torch.overrides.TorchFunctionMode):
    """Autocast as an NPU would do it, for tensors of any device.

    A function is known by its name as Python calls it; one that a listed
    function calls inside is not seen.
    """

    depth = 0  # of fused operators that are running

    def __init__(self, dtype=torch.bfloat16):
        super().__init__()
        self.dtype = dtype
        self.asked = []

    def __enter__(self):
        # What emitted code asks to learn the dtype that eager code has here.
        asked = torch.is_autocast_enabled
        self.asked.append(asked)

        def answer(*args):
            # PyTorch's own contexts save and restore the true state.
            caller = sys._getframe(1).f_globals.get("__name__", "")
            return asked(*args) if caller.split(".")[0] == "torch" else True

        torch.is_autocast_enabled = answer
        return super().__enter__()

    def __exit__(self, *exc):
        torch.is_autocast_enabled = self.asked.pop()
        return super().__exit__(*exc)

    @classmethod
    @contextlib.contextmanager
    def suspended(cls):
        cls.depth += 1
        try:
            yield
        finally:
            cls.depth -= 1

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if self.depth == 0:
            if name in LOWERED:
                args, kwargs = cast_all((args, kwargs), self.dtype)
            elif name in RAISED:
                args, kwargs = cast_all((args, kwargs), torch.float32)
            elif name in RAISED_BY_DTYPE and kwargs.get("dtype") is None:
                args, kwargs = cast_all((args, kwargs), torch.float32)
        return func(*args, **kwargs)


def cast_all(value, dtype):
    """`value` with every floating tensor in it cast; float64 is left."""
    if isinstance(value, torch.Tensor):
        eligible = value.is_floating_point() and value.dtype != torch.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, (tuple, list)):
        return type(value)(cast_all(v, dtype) for v in value)
    if isinstance(value, dict):
        return {k: cast_all(v, dtype) for k, v in value.items()}
    return value


def parse_schema(schema):
    """"f(Tensor a, int b=1, *, bool c=False) -> Tensor" to types, signature."""
    inside = re.match(r"[\w.]+\((.*)\)\s*->", schema).group(1)
    kinds, parameters = {}, []
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in re.split(r",\s*(?![^\[(]*[\])])", inside):
        if not part:
            continue
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        declared, _, default = part.partition("=")
        type_name, name = declared.split()
        value = inspect.Parameter.empty
        if default:
            value = ast.literal_eval(default)
        kinds[name] = type_name
        parameters.append(inspect.Parameter(name, kind, default=value))
    return kinds, inspect.Signature(parameters)


# Python types that each schema type takes. PyTorch takes a number of torch's
# own (a tensor of one element) for a Python one as well; code that is written
# here does not need that.
ACCEPTED = {
    "Tensor": (torch.Tensor,),
    "int": (int, torch.dtype),  # a schema's numbers of dtypes, too
    "SymInt": (int, torch.SymInt),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
    "Scalar": (bool, int, float, complex),
    "ScalarType": (torch.dtype, int),
    "Generator": (torch.Generator,),
    "Device": (torch.device, str),
    "Layout": (torch.layout,),
    "MemoryFormat": (torch.memory_format,),
}
LIST = re.compile(r"(.+)\[(\d*)\]$")


def accepts(type_name, value):
    """Whether a schema type ("Tensor?", "int[]?", "Tensor(a!)", "int[2]")
    takes a Python value. A list of a fixed length takes one number for all."""
    type_name = re.sub(r"\([^)]*\)", "", type_name)  # what it aliases
    if type_name.endswith("?"):
        return value is None or accepts(type_name[:-1], value)
    listed = LIST.match(type_name)
    if listed:
        item, size = listed.groups()
        if size and not isinstance(value, (tuple, list)):
            return accepts(item, value)
        if not isinstance(value, (tuple, list)):
            return False
        return all(accepts(item, v) for v in value)
    kind = ACCEPTED.get(type_name)
    if kind is None:
        raise ValueError("a schema's type '%s' is not known" % type_name)
    return isinstance(value, kind)


def is_native(spec):
    """Whether an ``ops`` file (a module) is about an operator of torch itself."""
    return getattr(spec, "module", NAME) != NAME


def native(spec):
    """The function that such a file is about, of the real module."""
    return getattr(importlib.import_module(spec.module), spec.operator)


class EmulatedModule(types.ModuleType):
    """A stand-in for the module torch_npu.

    `calls`: how often each operator ran, by name; cleared with calls.clear().
    """

    __npufuse_emulated__ = True
    __version__ = "0+emulated"

    def __init__(self, place):
        super().__init__(NAME, __doc__)
        self.__spec__ = importlib.machinery.ModuleSpec(NAME, None)
        self.calls = collections.Counter()
        for path in sorted(Path(place).glob("*.py")):
            self.add(path)

    def add(self, path):
        spec = execute(path, "npufuse_op_" + Path(path).stem)
        if is_native(spec):
            return
        setattr(self, spec.operator, Operator(spec, self.calls))


_module = None


def module():
    """The emulated torch_npu; one for the process."""
    global _module
    if _module is None:
        _module = EmulatedModule(folder("ops"))
    return _module


def add_folder(place):
    """Adds the operators of a user's folder ``ops`` to the emulated module;
    the bundled ones stay what they are. A file of another module than
    torch_npu is left: what is plain torch needs no emulation."""
    fake = module()
    for path in sorted(Path(place).glob("*.py")):
        if not path.name.startswith("_") and not hasattr(fake, path.stem):
            fake.add(path)


def afresh(operator):
    """Loads an emulated operator's file again: it forgets what it may keep
    between calls, so that tests do not depend on their order."""
    found = getattr(module(), operator, None)
    if isinstance(found, Operator):
        module().add(found.spec.__file__)


def is_emulated(candidate):
    return bool(getattr(candidate, "__npufuse_emulated__", False))


def working():
    """The real torch_npu if it imports and sees a device, else None."""
    if is_emulated(sys.modules.get(NAME)):
        return None
    try:  # a broken driver raises more than ImportError
        import torch_npu

        return torch_npu if torch.npu.is_available() else None
    except Exception:
        return None


_displaced = []  # what install() found in sys.modules


def install():
    """Makes ``import torch_npu`` give the emulated module; for tests only.

    Returns the module that imports will find: the real one if it works.
    """
    real = working()
    if real is not None:
        return real
    if not is_emulated(sys.modules.get(NAME)):
        _displaced.append(sys.modules.get(NAME))
        sys.modules[NAME] = module()
    return sys.modules[NAME]


def uninstall():
    """Undoes install()."""
    if is_emulated(sys.modules.get(NAME)):
        del sys.modules[NAME]
        found = _displaced.pop() if _displaced else None
        if found is not None:
            sys.modules[NAME] = found


@contextlib.contextmanager
def installed():
    before = sys.modules.get(NAME)
    try:
        yield install()
    finally:
        if not is_emulated(before):
            uninstall()


@contextlib.contextmanager
def answering(*modules, predicate=PREDICATE, ready=True):
    """Lets the device predicate of `modules` answer `ready` for any tensor.

    The predicate still asks for the operator: one that is not emulated is not
    ready. The global ``torch_npu`` of each module becomes the emulated one.
    Yields the list of (operator, answer) in the order asked.
    """
    fake, asked, saved = module(), [], []

    def answer(operator, *tensors):
        asked.append((operator, ready and hasattr(fake, operator)))
        return asked[-1][1]

    for target in modules:
        for name, value in ((predicate, answer), (NAME, fake)):
            if hasattr(target, name):
                saved.append((target, name, getattr(target, name)))
                setattr(target, name, value)
    try:
        yield asked
    finally:
        for target, name, value in saved:
            setattr(target, name, value)
