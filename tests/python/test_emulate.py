"""The emulated operators: limits, values, dtypes, gradients, installation."""
import subprocess
import sys
import textwrap
import types

import pytest
import torch
import torch.nn.functional as F

from npufuse import emulate

npu = emulate.module()
HALF = (torch.float16, torch.bfloat16)
ALL = HALF + (torch.float32,)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def close(actual, expected, dtype=None):
    """Relative to the dtype that rounds most."""
    tolerance = TOLERANCE[dtype or actual.dtype]
    torch.testing.assert_close(
        actual.double(), expected.double(), rtol=tolerance, atol=tolerance
    )


# A case: operator, shapes of its tensors, the other arguments, the formula.
def geglu(approximate, left):
    def formula(x):
        active, plain = x.chunk(2, -1) if left else reversed(x.chunk(2, -1))
        return F.gelu(active, approximate=("none", "tanh")[approximate]) * plain

    return "npu_geglu", [(2, 3, 16)], (-1, approximate, left), formula


CASES = [
    (
        "npu_rms_norm",
        [(2, 3, 16), (16,)],
        (1e-5,),
        lambda x, gamma: F.rms_norm(x, (16,), gamma, 1e-5),
    ),
    (
        "npu_swiglu",
        [(2, 3, 16)],
        (-1,),
        lambda x: F.silu(x[..., :8]) * x[..., 8:],
    ),
    (
        "npu_swiglu",
        [(2, 6, 4)],
        (1,),
        lambda x: F.silu(x[:, :3]) * x[:, 3:],
    ),
    geglu(0, False),
    geglu(0, True),
    geglu(1, False),
    geglu(1, True),
    (
        "npu_fast_gelu",
        [(2, 3, 16)],
        (),
        lambda x: x * torch.sigmoid(1.702 * x),
    ),
]


def first(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("name, shapes, rest, formula", CASES)
def test_value_and_gradient(name, shapes, rest, formula, dtype):
    """Of the emulated operator against the formula in float64."""
    ours = [torch.randn(s).to(dtype).requires_grad_() for s in shapes]
    wide = [t.detach().double().requires_grad_() for t in ours]
    y, expected = first(getattr(npu, name)(*ours, *rest)), formula(*wide)
    assert y.dtype == dtype and y.shape == expected.shape
    close(y, expected)
    weight = torch.randn(y.shape).to(dtype)
    y.backward(weight)
    expected.backward(weight.double())
    for a, b in zip(ours, wide):
        assert a.grad.dtype == dtype
        close(a.grad, b.grad)


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_rms_norm_takes_a_float32_gamma(dtype):
    x, gamma = torch.randn(4, 8).to(dtype), torch.randn(8)
    y, rstd = npu.npu_rms_norm(x, gamma)
    assert y.dtype == dtype
    assert rstd.dtype == torch.float32 and rstd.shape == (4, 1)


def test_rms_norm_over_two_axes():
    x, gamma = torch.randn(5, 2, 3, 4), torch.randn(3, 4)
    y, rstd = npu.npu_rms_norm(x, gamma, epsilon=1e-3)
    close(y, F.rms_norm(x, (3, 4), gamma, 1e-3))
    assert rstd.shape == (5, 2, 1, 1)


def test_only_documented_outputs_carry_a_gradient():
    x = torch.randn(2, 8, requires_grad=True)
    y, rstd = npu.npu_rms_norm(x, torch.ones(8))
    assert y.requires_grad and not rstd.requires_grad
    y, gelu = npu.npu_geglu(x)
    assert y.requires_grad and not gelu.requires_grad


def test_defaults_are_those_of_the_schemas():
    x = torch.randn(2, 8)
    assert torch.equal(npu.npu_geglu(x)[0], npu.npu_geglu(x, -1, 1, False)[0])
    small, ones = x * 1e-4, torch.ones(8)
    default = npu.npu_rms_norm(small, ones)[0]
    assert torch.equal(default, npu.npu_rms_norm(small, ones, 1e-6)[0])


def test_rounded_once():
    """The activated half is not rounded before the product."""
    x = torch.randn(64, 256).bfloat16()
    gate, up = x.float().chunk(2, -1)
    once = (F.silu(gate) * up).bfloat16()
    twice = F.silu(gate.bfloat16()) * up.bfloat16()
    ours = npu.npu_swiglu(x)
    assert (ours != once).sum() < 0.01 * ours.numel()
    assert (ours != twice).sum() > 0.05 * ours.numel()


X = torch.randn(2, 8)
BROKEN = [
    ("npu_rms_norm", (X.double(), torch.ones(8).double()), "float16, bfloat16"),
    ("npu_rms_norm", (X[0], torch.ones(8)), "at least 2"),
    ("npu_rms_norm", (torch.ones([1] * 9), torch.ones(1)), "at most 8"),
    ("npu_rms_norm", (X, torch.ones(4)), "last axes"),
    ("npu_rms_norm", (X, torch.ones(1)), "last axes"),
    ("npu_rms_norm", (X, torch.tensor(1.0)), "gamma has at least 1"),
    ("npu_rms_norm", (X, torch.ones(1, 2, 8)), "no more axes"),
    ("npu_rms_norm", (X, torch.ones(8).half()), "input's dtype or is float32"),
    ("npu_rms_norm", (X.half(), torch.ones(8).bfloat16()), "input's dtype or"),
    ("npu_swiglu", (X.double(),), "float16, bfloat16"),
    ("npu_swiglu", (X.int(),), "float16, bfloat16"),
    ("npu_swiglu", (X[:, :7].contiguous(),), "even"),
    ("npu_swiglu", (X[:, :4],), "contiguous"),
    ("npu_swiglu", (X.t(),), "contiguous"),
    ("npu_swiglu", (torch.empty(0, 8),), "not empty"),
    ("npu_swiglu", (X, 2), "axis of the input"),
    ("npu_swiglu", (X, -3), "axis of the input"),
    ("npu_swiglu", (torch.tensor(1.0),), "at least 1"),
    ("npu_geglu", (X.double(),), "float16, bfloat16"),
    ("npu_geglu", (X[:, :7],), "even"),
    ("npu_geglu", (X, -1, 2), "0 \\(erf\\) or 1"),
    ("npu_geglu", (X, 5), "axis of the input"),
    ("npu_fast_gelu", (X.double(),), "float16, bfloat16"),
    ("npu_fast_gelu", (torch.ones([1] * 9),), "at most 8"),
]


@pytest.mark.parametrize("name, arguments, text", BROKEN)
def test_limit(name, arguments, text):
    """A broken limit is a RuntimeError, like that of a device call."""
    before = npu.calls[name]
    with pytest.raises(RuntimeError, match="emulated.*" + text):
        getattr(npu, name)(*arguments)
    assert npu.calls[name] == before


def test_every_limit_of_every_operator_is_tested():
    import ast

    tested = [(name, text.replace("\\", "")) for name, _, text in BROKEN]
    for path in sorted(emulate.folder("ops").glob("*.py")):
        if path.stem not in {name for name, _, _ in BROKEN}:
            continue  # tested beside its values
        function = [
            n
            for n in ast.parse(path.read_text(encoding="utf-8")).body
            if getattr(n, "name", "") == "limits"
        ][0]
        messages = {n.msg.value for n in function.body if isinstance(n, ast.Assert)}
        for message in messages - {
            "the input has at most 8 dimensions",
            "the input has at least 1 dimension",
        }:
            assert any(
                name == path.stem and text in message for name, text in tested
            ), (path.stem, message)


@pytest.mark.parametrize(
    "call",
    [
        lambda: npu.npu_rms_norm(X),
        lambda: npu.npu_rms_norm(X, None),
        lambda: npu.npu_rms_norm(X, torch.ones(8), eps=1e-6),
        lambda: npu.npu_swiglu(X, dim=-1, order="gate"),
        lambda: npu.npu_swiglu([X]),
        lambda: npu.npu_swiglu(X, dim=1.0),
        lambda: npu.npu_geglu(X, activate_left="yes"),
        lambda: npu.npu_fast_gelu(),
    ],
)
def test_arguments_are_those_of_the_schema(call):
    with pytest.raises(TypeError):
        call()


def test_unknown_operator_is_absent():
    assert not hasattr(npu, "npu_no_such_operator")


def test_strided_input_gives_a_contiguous_output():
    x = torch.randn(4, 6, 8).transpose(0, 1)
    assert not x.is_contiguous()
    assert npu.npu_rms_norm(x, torch.ones(8))[0].is_contiguous()
    assert npu.npu_fast_gelu(x).is_contiguous()


def test_autocast_casts_nothing():
    x, gamma = torch.randn(4, 8), torch.randn(8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = npu.npu_rms_norm(x, gamma)[0]
    assert torch.equal(inside, npu.npu_rms_norm(x, gamma)[0])


def test_autocast_of_an_npu():
    """Not that of the CPU: statistics of half tensors are float32 there."""
    x, weight = torch.randn(4, 8).bfloat16(), torch.randn(8, 8)
    with emulate.NpuAutocast(torch.bfloat16):
        assert (x**2).dtype == x.pow(2).dtype == torch.square(x).dtype
        assert x.pow(2).dtype == torch.rsqrt(x).dtype == torch.float32
        assert (1 / x).dtype == x.sum(-1).dtype == torch.float32
        assert x.sum(-1, dtype=torch.bfloat16).dtype == torch.bfloat16
        assert F.softmax(x, -1).dtype == torch.float32
        assert x.mean(-1).dtype == F.silu(x).dtype == torch.bfloat16
        assert F.linear(x.float(), weight).dtype == torch.bfloat16
        assert torch.cat([x, x.float()]).dtype == torch.float32
        assert (x.float() @ weight).dtype == torch.bfloat16
        assert x.double().pow(2).dtype == torch.float64
        y, rstd = npu.npu_rms_norm(x, torch.ones(8))
        assert y.dtype == torch.bfloat16 and rstd.dtype == torch.float32
    assert x.pow(2).dtype == torch.bfloat16


OP = '''
operator = "npu_other"
schema = "npu_other(Tensor input, *, float scale=2.0) -> Tensor"
autograd = "%s"
output_differentiability = (True,)

def limits(input, scale):
    assert scale > 0, "scale is positive"

def golden(input, scale=2.0):
    return input * scale
'''


@pytest.fixture
def other(tmp_path):
    def make(kind):
        (tmp_path / "npu_other.py").write_text(OP % kind)
        return emulate.EmulatedModule(tmp_path)

    return make


def test_operator_without_backward_raises(other):
    x = torch.ones(3, requires_grad=True)
    y = other("raises").npu_other(x)
    assert torch.equal(y, torch.full((3,), 2.0)) and y.requires_grad
    with pytest.raises(RuntimeError, match="no backward"):
        y.sum().backward()


def test_operator_with_a_silent_backward(other):
    x = torch.ones(3, requires_grad=True)
    y = other("silent").npu_other(x, scale=3.0)
    with pytest.warns(UserWarning, match="no backward"):
        y.sum().backward()
    assert x.grad is None


def test_keyword_only_parameter(other):
    with pytest.raises(TypeError):
        other("differentiable").npu_other(torch.ones(3), 3.0)


def test_limits_hold_under_optimisation(tmp_path):
    code = """
        import torch
        from npufuse import emulate
        try:
            emulate.module().npu_swiglu(torch.ones(2, 3))
        except RuntimeError as error:
            print(error)
    """
    root = str(emulate.folder("ops").parent / "python")
    out = subprocess.run(
        [sys.executable, "-O", "-c", textwrap.dedent(code)],
        env={"PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert "even size" in out.stdout, out.stderr


def test_parse_schema():
    kinds, signature = emulate.parse_schema(
        "f(Tensor a, int[2] b=[1,1], *, Tensor? c=None, str d='none') -> Tensor"
    )
    assert kinds == {"a": "Tensor", "b": "int[2]", "c": "Tensor?", "d": "str"}
    assert signature.parameters["b"].default == [1, 1]
    assert signature.parameters["d"].default == "none"
    assert str(signature.parameters["c"].kind) == "KEYWORD_ONLY"


def test_install_and_uninstall():
    assert "torch_npu" not in sys.modules
    with emulate.installed() as module:
        import torch_npu

        assert torch_npu is module and emulate.is_emulated(module)
        with emulate.installed():
            pass
        assert sys.modules["torch_npu"] is module
    assert "torch_npu" not in sys.modules


def test_a_package_that_does_not_work_is_displaced_and_comes_back(monkeypatch):
    broken = types.ModuleType("torch_npu")
    monkeypatch.setitem(sys.modules, "torch_npu", broken)
    with emulate.installed():
        assert sys.modules["torch_npu"] is npu
    assert sys.modules["torch_npu"] is broken


def test_a_working_package_is_never_replaced(monkeypatch):
    real = types.ModuleType("torch_npu")
    monkeypatch.setitem(sys.modules, "torch_npu", real)
    device = types.SimpleNamespace(is_available=lambda: True)
    monkeypatch.setattr(torch, "npu", device, raising=False)
    assert emulate.working() is real
    assert emulate.install() is real
    assert sys.modules["torch_npu"] is real


USER = '''
try:  # npufuse: absent, or present without a working driver
    import torch_npu
except Exception:
    torch_npu = None


def npu_fused_ready(operator, *tensors):
    """Whether torch_npu has `operator` and every tensor is on an NPU."""
    return hasattr(torch_npu, operator) and all(t.device.type == "npu" for t in tensors)


def act(x):
    if npu_fused_ready("npu_fast_gelu", x):
        return torch_npu.npu_fast_gelu(x)
    return None
'''


def test_the_device_predicate_answers_on_request():
    user = types.ModuleType("user")
    exec(USER, user.__dict__)
    x = torch.randn(3)
    assert user.act(x) is None
    before = npu.calls["npu_fast_gelu"]
    with emulate.answering(user) as asked:
        assert user.act(x) is not None
        assert not user.npu_fused_ready("npu_no_such_operator", x)
    assert asked == [("npu_fast_gelu", True), ("npu_no_such_operator", False)]
    assert npu.calls["npu_fast_gelu"] == before + 1
    assert user.act(x) is None and user.torch_npu is None
    with emulate.answering(user, ready=False):
        assert user.act(x) is None


T = torch.ones(2)
TAKEN = [
    ("Tensor?", [None, T], [1, [T]]),
    ("Tensor[]", [[T, T], (T,), []], [T, [T, None], None]),
    ("Tensor?[]", [[T, None]], [[1]]),
    ("Tensor[]?", [None, [T]], [[1]]),
    ("Tensor(a!)", [T], [None]),
    ("int?", [None, 3, torch.int8], ["3", 1.5, T]),
    ("int[]?", [None, [1, 2], (1,)], [3, [1.5], T]),
    ("int[2]", [[1, 2], 3], ["3"]),
    ("SymInt[]?", [None, [1]], [[T]]),
    ("float", [1.5, 1], ["1", None]),
    ("Scalar", [1, 1.5, True], ["1", None]),
    ("bool?", [None, True], ["a"]),
    ("str", ["a"], [1, None]),
    ("str?", [None, "a"], [1]),
    ("ScalarType?", [None, torch.int8, 5], ["int8"]),
]


@pytest.mark.parametrize("kind, good, bad", TAKEN)
def test_types_of_schemas(kind, good, bad):
    for value in good:
        assert emulate.accepts(kind, value), value
    for value in bad:
        assert not emulate.accepts(kind, value), value


def test_a_type_that_is_not_known():
    with pytest.raises(ValueError, match="'Tensr' is not known"):
        emulate.accepts("Tensr", T)


def made(**given):
    """An operator without a file, with a Counter of its calls."""
    spec = types.SimpleNamespace(
        operator="npu_made", autograd="silent", output_differentiability=(True,),
        limits=lambda **values: None, **given
    )
    return emulate.Operator(spec, emulate.collections.Counter())


def test_an_operator_without_golden():
    operator = made(schema="npu_made(Tensor input) -> Tensor")
    with pytest.raises(RuntimeError, match="npu_made has no golden"):
        operator(T)
    assert not operator.count


def test_an_argument_written_in_place_is_the_result():
    def golden(input, value):
        return input.mul_(value), input + 1

    operator = made(
        schema="npu_made(Tensor(a!) input, Scalar value=2) -> (Tensor(a!), Tensor)",
        golden=golden,
    )
    operator.spec.output_differentiability = (False, False)
    x = torch.ones(3)
    first, second = operator(x)
    assert first is x and x.tolist() == [2, 2, 2] and second.tolist() == [3, 3, 3]


def test_nothing_returned():
    def golden(input):
        input.zero_()

    x = torch.ones(3)
    assert made(schema="npu_made(Tensor(a!) input) -> ()", golden=golden)(x) is None
    assert x.tolist() == [0, 0, 0]


def test_a_list_of_results():
    def golden(x):
        return [t * 2 for t in x]

    x = [torch.ones(2, requires_grad=True), torch.ones(3)]
    results = made(schema="npu_made(Tensor[] x) -> Tensor[]", golden=golden)(x)
    assert [y.shape for y in results] == [(2,), (3,)]
    with pytest.warns(UserWarning, match="no backward"):
        results[0].sum().backward()
    assert x[0].grad is None


def test_overloads():
    def golden(x, groups=None, more=7):
        return x * (sum(groups) if isinstance(groups, list) else 0) + more

    operator = made(
        schema="npu_made(Tensor x, *, Tensor? groups=None, int more=5) -> Tensor",
        overloads=("npu_made.List(Tensor x, *, int[]? groups=None) -> Tensor",),
        golden=golden,
    )
    assert operator(T, groups=T).tolist() == [5, 5]
    assert operator(T, groups=[1, 2]).tolist() == [8, 8]
    assert operator(T, groups=(1, 2)).tolist() == [8, 8]
    with pytest.raises(TypeError, match=r"'groups' must be Tensor\?, not list"):
        operator(T, groups=[1, 2], more=1)
