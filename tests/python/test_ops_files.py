"""What every file of ops/ has to say, whichever operator it is about."""
import ast
import inspect
import re

import pytest
import torch

from npufuse import emulate

PATHS = sorted(emulate.folder("ops").glob("*.py"))
VERSIONS = ("2.1.0", "2.5.1", "2.7.1", "2.13.0", "2.14.0")
KEYS = {
    "operator", "schema", "summary", "source", "autograd",
    "output_differentiability", "products", "versions",
}
MORE = {"overloads", "roles", "removal", "module"}
# What a limit may be made of: tests that can be read, proven and written out.
CLOSED = (
    ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Call, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Name, ast.Constant, ast.IfExp,
    ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context,
)
CALLS = {"dim", "numel", "is_contiguous", "size", "isinstance", "len", "stride",
         "sum", "tuple"}


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture
def spec(path):
    return emulate.execute(path, path.stem)


def assigned(tree):
    """The module's names that are literals, as a reader of the text sees them."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and not node.targets[0].id.startswith("_"):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                pass  # a constant of golden()
    return found


def function(tree, name):
    found = [n for n in tree.body if getattr(n, "name", "") == name]
    assert len(found) <= 1
    return found[0] if found else None


def results(schema):
    """The types after the arrow."""
    after = schema.split("->")[1].strip()
    return [part.split()[0] for part in after.strip("()").split(",") if part.strip()]


def test_keys(path, tree):
    said = assigned(tree)
    assert KEYS <= set(said)
    assert said["operator"] == path.stem
    for key in ("summary", "source"):
        assert said[key] and "\n" not in said[key] and len(said[key]) <= 100
    assert said["autograd"] in ("differentiable", "raises", "silent")
    assert all(isinstance(p, str) and p for p in said["products"])
    versions = said["versions"].split(", ")
    assert versions == [v for v in VERSIONS if v in versions]
    if "module" not in said:
        assert "2.13.0" in versions  # whose schema it is
    for key in MORE & set(said):
        assert said[key]


def test_docstring_opens_with_the_operator(path, tree):
    assert ast.get_docstring(tree).startswith(path.stem + ":")


def test_schema(path, tree):
    said = assigned(tree)
    for schema in (said["schema"],) + tuple(said.get("overloads", ())):
        assert re.match(re.escape(path.stem) + r"(\.\w+)?\(", schema)
        kinds, signature = emulate.parse_schema(schema)
        assert list(kinds) == list(signature.parameters)


def test_an_output_carries_a_gradient_or_not(tree):
    said = assigned(tree)
    carries = said["output_differentiability"]
    assert all(isinstance(c, bool) for c in carries)
    outputs = results(said["schema"])
    assert len(carries) == len(outputs)
    for kind, carried in zip(outputs, carries):
        assert not carried or kind.startswith("Tensor")
    if said["autograd"] == "differentiable":
        assert any(carries)


def test_parameters_are_those_of_the_schema(spec):
    signature = emulate.parse_schema(spec.schema)[1]
    names = list(signature.parameters)
    assert list(inspect.signature(spec.limits).parameters) == names
    if not hasattr(spec, "golden"):
        return
    golden = inspect.signature(spec.golden).parameters
    assert list(golden) == names
    for name, parameter in signature.parameters.items():
        default = golden[name].default
        if parameter.default is inspect.Parameter.empty:
            assert default is inspect.Parameter.empty
        else:
            assert default == parameter.default
            assert isinstance(default, bool) == isinstance(parameter.default, bool)


def test_roles_name_parameters(spec):
    names = emulate.parse_schema(spec.schema)[0]
    for row in getattr(spec, "roles", ()):
        assert re.fullmatch(r"\w+: \w+", row), row
        assert row.split(":")[0] in names


def test_limits_are_closed_predicates_with_a_sentence(tree):
    limits = function(tree, "limits")
    asserts = [n for n in ast.walk(limits) if isinstance(n, ast.Assert)]
    assert asserts
    for node in asserts:
        message = node.msg.value
        assert message and not message.endswith("."), message
        for part in ast.walk(node.test):
            assert isinstance(part, CLOSED), (message, ast.dump(part))
            if isinstance(part, ast.Call):
                called = getattr(part.func, "attr", getattr(part.func, "id", None))
                assert called in CALLS, (message, called)


def test_limits_hold_nothing_but_asserts_and_tests(tree):
    def walk(body):
        for node in body:
            assert isinstance(node, (ast.Assert, ast.If, ast.Pass)), ast.dump(node)
            if isinstance(node, ast.If):
                walk(node.body + node.orelse)

    walk(function(tree, "limits").body)


def test_every_assert_has_a_source_in_a_comment(path, tree):
    """A comment above it, or above the assert that it follows."""
    lines = path.read_text(encoding="utf-8").split("\n")
    limits = function(tree, "limits")
    first = limits.body[0]
    above = lines[first.lineno - 2].strip()
    if isinstance(first, ast.If):
        above = lines[first.body[0].lineno - 2].strip() + above
    assert "#" in above


def test_golden_says_what_it_returns(spec):
    if hasattr(spec, "golden"):
        assert "eturns" in spec.golden.__doc__ or "rites" in spec.golden.__doc__


def test_no_operator_needs_more_than_torch(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {a.name for a in node.names} <= {"torch", "math", "torch.nn.functional"}
        if isinstance(node, ast.ImportFrom):
            assert node.module in ("npufuse", "torch", "torch.nn")


def test_the_emulated_module_has_every_operator():
    fake = emulate.module()
    for path in PATHS:
        spec = emulate.execute(path, path.stem)
        if not emulate.is_native(spec):
            assert isinstance(getattr(fake, path.stem), emulate.Operator)


def test_an_operator_without_golden_says_so(tmp_path):
    (tmp_path / "npu_blind.py").write_text(
        'operator = "npu_blind"\n'
        'schema = "npu_blind(Tensor input) -> Tensor"\n'
        'autograd = "raises"\n'
        "output_differentiability = (True,)\n"
        "def limits(input):\n"
        '    assert input.dim() == 1, "the input has 1 dimension"\n'
    )
    fake = emulate.EmulatedModule(tmp_path)
    with pytest.raises(RuntimeError, match="1 dimension"):
        fake.npu_blind(torch.ones(1, 1))
    with pytest.raises(RuntimeError, match="npu_blind has no golden"):
        fake.npu_blind(torch.ones(1))


def test_imports_are_torch_and_what_goldens_share(tree):
    found = [ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    allowed = {"import torch", "from npufuse import attention", "from npufuse import groups"}
    assert "import torch" in found and set(found) <= allowed, found
