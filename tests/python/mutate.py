"""Variations of each rule's reference, as files that can be scanned and run.

A *host* is one variant of one reference, written as user code: a function, or
a module that holds the weight and the constants. A *mutant* is a host after
one change. A preserving change keeps the values (and has to keep the
finding); a breaking one changes them (and has to change it).

Changes work on the tree of the hosted function alone and know no rule.
"""
import ast
import copy
import itertools
from collections import namedtuple

import torch

from npufuse import rule as rules

# kind: "function" or "module"; values: arguments by name, from the sample.
Host = namedtuple("Host", "name rule variant kind source values")
Mutant = namedtuple("Mutant", "host name preserving source")

# Large enough to be seen where it is lost, subtracted or misplaced.
SCALARS = {"eps": 0.05}
SKIPPED_MODULES = ("npufuse", "npufuse.rule")


# ---------------------------------------------------------------------- hosts


def hosts(folders=()):
    """Every variant of every rule in both forms."""
    result = []
    for r in rules.load_all(*folders):
        for variant in rules.variants(r):
            for kind in ("function", "module"):
                result.append(make_host(r, variant, kind))
    return result


def make_host(r, variant, kind):
    function = copy.deepcopy(variant.function)
    strip_docstring(function)
    used = names_in(function.body)
    sample = {k: v for k, v in r.sample().items() if k in used}
    parameters = [a.arg for a in function.args.args if a.arg in used]
    lines = header(r.path)
    if kind == "function":
        lines += function_lines(function, parameters, sample)
    else:
        lines += module_lines(function, parameters, sample)
    name = "%s_%s_%s" % (r.id, variant.name.replace("+", "_"), kind)
    source = ast.unparse(ast.parse("\n".join(lines))) + "\n"
    return Host(name, r.id, variant.name, kind, source, sample)


def strip_docstring(function):
    if ast.get_docstring(function) is not None:
        del function.body[0]


def names_in(body):
    tree = ast.Module(body=body, type_ignores=[])
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def header(path):
    """The rule file's imports, without those of the runtime."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    lines = ["from torch import nn"]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in SKIPPED_MODULES:
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            lines.append(ast.unparse(node))
    return lines


def function_lines(function, parameters, sample):
    declared = [
        p if isinstance(sample[p], torch.Tensor) else "%s=%r" % (p, sample[p])
        for p in parameters
    ]
    lines = ["def hosted(%s):" % ", ".join(declared)]
    return lines + indented(function.body, 1)


def module_lines(function, parameters, sample):
    """``weight`` and the scalars become attributes, the rest arguments."""
    own = [
        p
        for p in parameters
        if p == "weight" or not isinstance(sample[p], torch.Tensor)
    ]
    lines = ["class Hosted(nn.Module):", "    def __init__(self):"]
    lines.append("        super().__init__()")
    for name in own:
        value = repr(sample[name])
        if name == "weight":
            value = "nn.Parameter(torch.ones(%d))" % sample[name].numel()
        lines.append("        self.%s = %s" % (name, value))
    rest = [p for p in parameters if p not in own]
    lines.append("    def forward(%s):" % ", ".join(["self"] + rest))
    body = [AttributesOfSelf(own).visit(s) for s in copy.deepcopy(function.body)]
    return lines + indented(body, 2)


class AttributesOfSelf(ast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        if node.id not in self.names:
            return node
        return ast.Attribute(load("self"), node.id, ast.Load())


def indented(body, depth):
    text = "\n".join(ast.unparse(s) for s in body)
    return ["    " * depth + line for line in text.splitlines()]


def load(name):
    return ast.Name(name, ast.Load())


# --------------------------------------------------------------- running them


def arguments(host, first_dtype, other_dtype):
    """The host's sample: its first tensor in one dtype, the rest in another."""
    values = {}
    for name, value in host.values.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            tensors = [v for v in values.values() if isinstance(v, torch.Tensor)]
            values[name] = value.to(other_dtype if tensors else first_dtype)
        else:
            values[name] = SCALARS.get(name, value)
    return values


def prepare(source, host):
    """A function from arguments by name to the outputs, a list of tensors."""
    scope = {"__name__": "hosted"}
    exec(compile(source, host.name, "exec", dont_inherit=True), scope)

    def run(values):
        if host.kind == "function":
            result = scope["hosted"](*values.values())
        else:
            result = call_module(scope["Hosted"](), values)
        return list(result) if isinstance(result, (tuple, list)) else [result]

    return run


def call_module(made, values):
    positional = []
    for name, value in values.items():
        if name == "weight":
            made.weight = torch.nn.Parameter(value, requires_grad=False)
        elif isinstance(value, torch.Tensor):
            positional.append(value)
        else:
            setattr(made, name, value)
    return made(*positional)


# ----------------------------------------------------------- working on trees


def target(tree):
    """The hosted function of a file's tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in ("hosted", "forward"):
            return node
    raise LookupError("no hosted function")


def rewritten(source, change):
    """The file after `change(function)`, or None where it returns False."""
    tree = ast.parse(source)
    if change(target(tree)) is False:
        return None
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def at_each(source, change):
    """The file once for every node of the function that `change` applies to.

    change(node) gives a new node (perhaps the same one, modified) or None.
    """
    count = sum(1 for _ in body_nodes(target(ast.parse(source))))
    for index in range(count):

        def change_one(function):
            node, replace = list(body_nodes(function))[index]
            new = change(node)
            if new is None:
                return False
            replace(new)

        text = rewritten(source, change_one)
        if text is not None:
            yield text


def body_nodes(function):
    """(node, function that puts another in its place), outermost first."""
    stack = [
        (s, list_setter(function.body, i)) for i, s in enumerate(function.body)
    ]
    while stack:
        node, replace = stack.pop(0)
        yield node, replace
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                stack.append((value, field_setter(node, field)))
            elif isinstance(value, list):
                stack += [
                    (item, list_setter(value, i))
                    for i, item in enumerate(value)
                    if isinstance(item, ast.AST)
                ]


def field_setter(node, field):
    return lambda new: setattr(node, field, new)


def list_setter(items, index):
    return lambda new: items.__setitem__(index, new)


def expression(text, **parts):
    """A tree from text in which names in `parts` stand for given trees."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node):
            return copy.deepcopy(parts.get(node.id, node))

    return Fill().visit(ast.parse(text, mode="eval").body)


def is_binary(node, *kinds):
    return isinstance(node, ast.BinOp) and isinstance(node.op, kinds)


def is_value(node):
    """A computed tensor: a call or an operator on values."""
    return isinstance(node, (ast.Call, ast.BinOp))


def module_call(node):
    """The function's name in ``torch.f(...)`` or ``F.f(...)``, else None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        root = node.func.value
        if isinstance(root, ast.Name) and root.id in ("torch", "F"):
            return node.func.attr
    return None


def method_call(node):
    """The method's name in ``value.f(...)``, else None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if module_call(node) is None:
            return node.func.attr
    return None


def single_assignments(function):
    """Gives every assignment a name of its own; straight-line bodies."""
    current, numbers = {}, itertools.count(1)

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            if isinstance(node.ctx, ast.Load):
                return load(current.get(node.id, node.id))
            return node

    def name_targets(node):
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                current[n.id] = "%s_%d" % (n.id, next(numbers))
                n.id = current[n.id]

    for statement in function.body:
        statement.value = Rename().visit(statement.value)
        if isinstance(statement, ast.Assign):
            name_targets(statement.targets[0])


# --------------------------------------------------------- preserving changes


def rename_everything(source):
    def change(function):
        names = {a.arg for a in function.args.args} - {"self"}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
        new = {n: "v%d" % i for i, n in enumerate(sorted(names))}
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                node.id = new.get(node.id, node.id)
            elif isinstance(node, ast.arg):
                node.arg = new.get(node.arg, node.arg)

    yield rewritten(source, change)


def own_names(source):
    yield rewritten(source, single_assignments)


def swap_operands(node):
    """a * b -> b * a, a + b -> b + a"""
    if is_binary(node, ast.Mult, ast.Add):
        return ast.BinOp(node.right, node.op, node.left)
    return None


def swap_all_operands(source):
    def change(function):
        for node in ast.walk(function):
            if is_binary(node, ast.Mult, ast.Add):
                node.left, node.right = node.right, node.left

    yield rewritten(source, change)


def reassociate(node):
    """(a * b) * c -> a * (b * c)"""
    if is_binary(node, ast.Mult) and is_binary(node.left, ast.Mult):
        inner = ast.BinOp(node.left.right, ast.Mult(), node.right)
        return ast.BinOp(node.left.left, ast.Mult(), inner)
    return None


def join(function):
    """Puts values that are used once into the place of their use."""
    single_assignments(function)
    for statement in list(function.body[:-1]):
        name = getattr(statement.targets[0], "id", None)
        if name is None:
            continue
        uses = [
            (node, replace)
            for node, replace in body_nodes(function)
            if isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
        ]
        if len(uses) == 1:
            function.body.remove(statement)
            # Positions have moved: look the use up again.
            for node, replace in body_nodes(function):
                if isinstance(node, ast.Name) and node.id == name:
                    replace(statement.value)
                    break


def join_statements(source):
    yield rewritten(source, join)


def join_and_reassociate(source):
    yield from at_each(rewritten(source, join), reassociate)


def split(function):
    """Gives every inner value a statement of its own."""
    numbers, result = itertools.count(1), []

    class Hoist(ast.NodeTransformer):
        def visit(self, node):
            self.generic_visit(node)
            if not is_value(node):
                return node
            name = "t%d" % next(numbers)
            result.append(ast.Assign([ast.Name(name, ast.Store())], node))
            return load(name)

    for statement in function.body:
        Hoist().generic_visit(statement.value)
        result.append(statement)
    function.body = result


def split_statements(source):
    yield rewritten(source, split)


def name_result(source):
    """return e -> out = e; return out"""

    def change(function):
        last = function.body.pop()
        function.body += ast.parse("out = 0\nreturn out").body
        function.body[-2].value = last.value

    yield rewritten(source, change)


METHODS = ("pow", "mean", "chunk", "rsqrt", "sqrt", "sigmoid", "square", "sum")


def function_to_method(node):
    """torch.f(a, ...) -> a.f(...)"""
    if module_call(node) in METHODS and node.args:
        return ast.Call(
            ast.Attribute(node.args[0], node.func.attr, ast.Load()),
            node.args[1:],
            node.keywords,
        )
    return None


def method_to_function(node):
    """a.f(...) -> torch.f(a, ...)"""
    if method_call(node) in METHODS:
        return ast.Call(
            expression("torch." + node.func.attr),
            [node.func.value] + node.args,
            node.keywords,
        )
    return None


# Spellings of the same value: name -> (method or function, templates). `a` is
# the operand, `n` the second argument.
SAME = {
    "pow": ["a ** n", "a.pow(exponent=n)"],
    "float": ["a.to(torch.float32)", "a.to(dtype=torch.float)",
              "a.type(torch.float32)"],
    "mean": ["a.mean(dim=n, keepdim=True)", "torch.mean(a, dim=n, keepdim=True)",
             "a.mean([n], keepdim=True)", "a.mean(n, True)"],
    "rsqrt": ["1 / torch.sqrt(a)", "1.0 / a.sqrt()", "torch.pow(a, -0.5)",
              "a ** -0.5", "torch.sqrt(a).reciprocal()"],
    "silu": ["a * torch.sigmoid(a)", "torch.sigmoid(a) * a", "nn.functional.silu(a)",
             "nn.SiLU()(a)"],
    "gelu": ["nn.functional.gelu(a{rest})", "nn.GELU({only})(a)"],
    "sigmoid": ["nn.functional.sigmoid(a)"],
    "chunk": ["a.split(a.shape[-1] // n, dim=-1)", "torch.chunk(a, n, -1)",
              "torch.split(a, a.size(-1) // n, dim=-1)", "a.chunk(chunks=n, dim=-1)"],
}  # fmt: skip


def operand(node):
    """(operand, other arguments) of a function or method call."""
    if module_call(node) is not None:
        return node.args[0], node.args[1:]
    return node.func.value, node.args


def respell(name, template):
    def change(node):
        if name not in (module_call(node), method_call(node)):
            return None
        a, rest = operand(node)
        keywords = ", ".join(ast.unparse(k) for k in node.keywords)
        text = template.format(
            rest=", " + keywords if keywords else "", only=keywords
        )
        parts = {"a": a}
        if rest:
            parts["n"] = rest[0]
        new = expression(text, **parts)
        return None if ast.dump(new) == ast.dump(node) else new

    return change


def square_by_product(node):
    """a.pow(2) -> a * a, torch.square(a) where a is a name"""
    if "pow" in (module_call(node), method_call(node)):
        a, rest = operand(node)
        if isinstance(a, ast.Name) and getattr(rest[0], "value", 0) == 2:
            return expression("a * a", a=a)
    return None


def square_by_name(node):
    if "pow" in (module_call(node), method_call(node)):
        a, rest = operand(node)
        if getattr(rest[0], "value", 0) == 2:
            return expression("torch.square(a)", a=a)
    return None


def divide_by_root(node):
    """a * torch.rsqrt(b) -> a / torch.sqrt(b)"""
    if is_binary(node, ast.Mult) and module_call(node.right) == "rsqrt":
        return expression(
            "a / torch.sqrt(b)", a=node.left, b=node.right.args[0]
        )
    return None


def comments(source):
    """Comments, blank lines and brackets; the tokens stay."""
    lines = []
    for line in source.splitlines():
        stripped = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        if stripped.startswith("return "):
            lines += [
                indent + "# the result",
                indent + "return (  # in brackets",
                indent + "    " + stripped[len("return ") :],
                indent + ")",
            ]
        elif " = " in stripped and not stripped.startswith("def "):
            lines += ["", indent + "# a step: x * rsqrt(mean) / 2", line + "  # so"]
        else:
            lines.append(line)
    yield "\n".join(lines) + "\n"


def annotations(source):
    """h = e -> h: torch.Tensor = e"""

    def change(node):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            return ast.AnnAssign(
                node.targets[0], expression("torch.Tensor"), node.value, 1
            )
        return None

    yield from at_each(source, change)


def other_alias(source):
    if "import torch.nn.functional as F" in source:
        text = source.replace(
            "import torch.nn.functional as F", "from torch.nn import functional as X"
        )
        yield text.replace("F.", "X.")
    if "import torch\n" in source:
        text = source.replace("import torch\n", "import torch as tt\n")
        yield text.replace("torch.", "tt.").replace("import tt.", "import torch.")


def unrelated_statements(source):
    """Statements that compute nothing of the pattern, between its own."""

    def change(function):
        # An argument that is given a new value would be an inner value.
        taken = {n.id for n in ast.walk(function)
                 if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        tensors = len(function.args.args) - len(function.args.defaults)
        args = [a.arg for a in function.args.args[:tensors] if a.arg not in taken | {"self"}]
        size = args[0] + ".shape" if args else "'unrelated'"
        extra = ast.parse("size = %s\nassert len(size) > 0" % size).body
        function.body[-1:-1] = extra

    yield rewritten(source, change)


def everywhere(change):
    """A change of one node as a change of the file, once for each node."""
    return lambda source: at_each(source, change)


def chained(*steps):
    """The first result of each step, one after another."""

    def change(source):
        for step in steps:
            source = next(iter(step(source)), source)
        yield source

    return change


PRESERVING = {
    "rename": rename_everything,
    "own names": own_names,
    "swap": everywhere(swap_operands),
    "swap all": swap_all_operands,
    "join": join_statements,
    "join, reassociate": join_and_reassociate,
    "split": split_statements,
    "name the result": name_result,
    "to method": everywhere(function_to_method),
    "to function": everywhere(method_to_function),
    "square by product": everywhere(square_by_product),
    "square by name": everywhere(square_by_name),
    "divide by root": everywhere(divide_by_root),
    "comments": comments,
    "annotations": annotations,
    "alias": other_alias,
    "unrelated": unrelated_statements,
    "split, swap, rename": chained(
        split_statements, swap_all_operands, rename_everything
    ),
    "join, swap, rename": chained(
        join_statements, swap_all_operands, rename_everything
    ),
    "join, swap, split": chained(
        join_statements, swap_all_operands, split_statements
    ),
}
for _name, _templates in SAME.items():
    for _template in _templates:
        PRESERVING["%s: %s" % (_name, _template)] = everywhere(
            respell(_name, _template)
        )


# ----------------------------------------------------------- breaking changes


def axis(new):
    """mean(-1) or dim=-1 -> another axis"""

    def change(node):
        # -1 is an operator on 1 in the tree.
        if isinstance(node, ast.UnaryOp) and ast.unparse(node) == "-1":
            return expression(new)
        return None

    return change


def drop_keepdim(node):
    if isinstance(node, ast.Call):
        kept = [k for k in node.keywords if k.arg != "keepdim"]
        if len(kept) < len(node.keywords):
            node.keywords = kept
            return node
    return None


def other_function(old, new):
    def change(node):
        if old in (module_call(node), method_call(node)):
            node.func.attr = new
            return node
        return None

    return change


def other_constant(node):
    """2 -> 3, 1 -> 2, 1.702 -> 1.802; not those of an axis"""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(node.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is float:
        return ast.Constant(node.value + 0.1)
    return None


def operator_change(old, new):
    def change(node):
        if is_binary(node, old):
            node.op = new()
            return node
        return None

    return change


def outside_the_root(node):
    """rsqrt(a + b) -> rsqrt(a) + b"""
    if module_call(node) in ("rsqrt", "sqrt") and is_binary(node.args[0], ast.Add):
        inner = node.args[0]
        node.args[0] = inner.left
        return ast.BinOp(node, ast.Add(), inner.right)
    return None


def drop_eps(node):
    if module_call(node) == "rsqrt" and is_binary(node.args[0], ast.Add):
        node.args[0] = node.args[0].left
        return node
    return None


def drop_cast(node):
    if method_call(node) == "float":
        return node.func.value
    return None


def wrap(text):
    """Any computed value `a` -> the text"""

    def change(node):
        if is_value(node) and "chunk" not in (module_call(node), method_call(node)):
            return expression(text, a=node)
        return None

    return change


def cast_to_input(source):
    """A cast to the first argument's dtype behind each computed value, where
    the computation has left that dtype."""
    function = target(ast.parse(source))
    if not any(method_call(n) == "float" for n in ast.walk(function)):
        return
    first = next(a.arg for a in function.args.args if a.arg != "self")
    yield from at_each(source, wrap("a.to(%s.dtype)" % first))


def exchange_factors(source):
    """f(a) * b -> f(b) * a"""

    def change(node):
        if not is_binary(node, ast.Mult):
            return None
        call, other = node.left, node.right
        if module_call(call) in ("silu", "gelu") and isinstance(other, ast.Name):
            node.right, call.args[0] = call.args[0], other
            return node
        return None

    yield from at_each(source, change)


def exchange_halves(node):
    """a, b = chunk -> b, a = chunk"""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        node.targets[0].elts.reverse()
        return node
    return None


def return_inner_values(source):
    """Each inner value is a result too."""
    text = rewritten(source, split)
    body = target(ast.parse(text)).body
    for statement in body[:-1]:
        name = getattr(statement.targets[0], "id", None)
        if name is None or method_call(statement.value) == "float":
            continue  # halves and casts of the input stay available
        if name == getattr(body[-1].value, "id", None):
            continue  # bound again later: it is the result then

        def change(function):
            last = function.body[-1]
            last.value = ast.Tuple([last.value, load(name)], ast.Load())

        yield rewritten(text, change)


def drop_operand(source):
    """a * b -> a, where b is a parameter or a plain sum with one"""

    def change(node):
        if is_binary(node, ast.Mult) and not isinstance(node.right, ast.Call):
            return node.left
        return None

    yield from at_each(source, change)


BREAKING = {
    "axis 0": everywhere(axis("0")),
    "axis -2": everywhere(axis("-2")),
    "no keepdim": everywhere(drop_keepdim),
    "mean to sum": everywhere(other_function("mean", "sum")),
    "mean to max": everywhere(other_function("mean", "amax")),
    "rsqrt to sqrt": everywhere(other_function("rsqrt", "sqrt")),
    "rsqrt to exp": everywhere(other_function("rsqrt", "exp")),
    "silu to relu": everywhere(other_function("silu", "relu")),
    "silu to softplus": everywhere(other_function("silu", "softplus")),
    "gelu to silu": everywhere(other_function("gelu", "silu")),
    "sigmoid to tanh": everywhere(other_function("sigmoid", "tanh")),
    "constant": everywhere(other_constant),
    "* to /": everywhere(operator_change(ast.Mult, ast.Div)),
    "* to +": everywhere(operator_change(ast.Mult, ast.Add)),
    "+ to -": everywhere(operator_change(ast.Add, ast.Sub)),
    "+ to *": everywhere(operator_change(ast.Add, ast.Mult)),
    "outside the root": everywhere(outside_the_root),
    "no eps": everywhere(drop_eps),
    "no cast": everywhere(drop_cast),
    "half": everywhere(wrap("a.half()")),
    "long": everywhere(wrap("a.long()")),
    "cast to input": cast_to_input,
    "clamp": everywhere(wrap("a.clamp(-0.03125, 0.03125)")),
    "minimum": everywhere(wrap("torch.clamp(a, max=0.1)")),
    "negate": everywhere(wrap("-a")),
    "abs": everywhere(wrap("abs(a - 0.5)")),
    "dropout": everywhere(wrap("torch.nn.functional.dropout(a, 0.5, True)")),
    "exchange factors": exchange_factors,
    "exchange halves": everywhere(exchange_halves),
    "return inner": return_inner_values,
    "drop operand": drop_operand,
}


_made = {}


def mutants(host, preserving):
    """The distinct mutants of a host, a list."""
    key = host.name, host.source, preserving
    if key not in _made:
        _made[key] = list(make_mutants(host, preserving))
    return _made[key]


def make_mutants(host, preserving):
    table = PRESERVING if preserving else BREAKING
    seen = {ast.dump(ast.parse(host.source))} if not preserving else {host.source}
    for label, change in table.items():
        for number, text in enumerate(change(host.source)):
            key = text if preserving else ast.dump(ast.parse(text))
            if key not in seen:
                seen.add(key)
                name = "%s #%d" % (label, number + 1)
                yield Mutant(host, name, preserving, text)
