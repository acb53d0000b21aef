"""The original statements and their replacement, made into functions.

Both texts are read as syntax. What the finding names as inputs becomes the
parameters: a name keeps its name, any other expression is replaced by one.
The functions run in the globals of the user's module, really imported; the
fused one in a copy, with the finding's inserts in it. Nothing else of the
user's program runs: what is needed beyond the inputs is looked for, and what
is not found is named (Blocked).
"""
import ast
import copy
import sys
import types

from npufuse import instrument


class Blocked(Exception):
    """The spans cannot be run; the text says what is missing."""


def parse_lines(text):
    """The statements of a text that may be indented."""
    head = "if 1:\n" if text[:1] in " \t" else ""
    try:
        body = ast.parse(head + text).body
    except SyntaxError as error:
        raise Blocked("the text does not parse: %s" % error.msg) from None
    return body[0].body if head else body


def parse_expression(text):
    """An expression as a tree; None for "" and for what does not parse."""
    try:
        return ast.parse(text.strip(), mode="eval").body if text.strip() else None
    except SyntaxError:
        return None


class Loads(ast.NodeTransformer):
    """Every context as a load, so that equal expressions dump equally."""

    def generic_visit(self, node):
        if hasattr(node, "ctx"):
            node.ctx = ast.Load()
        return super().generic_visit(node)


def key(node):
    return ast.dump(Loads().visit(copy.deepcopy(node)))


def text_of(node):
    """An expression as text, for messages."""
    return ast.unparse(node) if hasattr(ast, "unparse") else ast.dump(node)


def chain_of(node):
    """["self", "config", "eps"] of an attribute chain, else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return [node.id] + parts[::-1]


# ------------------------------------------------------------- input expressions


class Substitute(ast.NodeTransformer):
    """Puts names in place of the expressions of inputs."""

    def __init__(self, names):
        self.names = names  # {dump: name}

    def visit(self, node):
        if isinstance(node, ast.expr) and isinstance(
            getattr(node, "ctx", ast.Load()), ast.Load
        ):
            name = self.names.get(ast.dump(node)) or self.names.get(key(node))
            if name:
                return ast.copy_location(ast.Name(name, ast.Load()), node)
        return self.generic_visit(node)


class Port:
    """One input: its name in the rule, its expression, its parameter."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.node = parse_expression(text)
        plain = isinstance(self.node, ast.Name)
        self.parameter = self.node.id if plain else "npufuse_" + name
        self.chain = chain_of(self.node) if self.node is not None else None

    def is_constant(self):
        if self.node is None:
            return True
        try:
            ast.literal_eval(self.node)
            return True
        except ValueError:
            return False


def substitute(statements, ports):
    names = {
        key(p.node): p.parameter for p in ports if not isinstance(p.node, ast.Name)
    }
    return [Substitute(names).visit(s) for s in statements] if names else statements


# ---------------------------------------------------------- cut to what matched


def holds(node, wanted):
    return any(child is wanted for child in ast.walk(node))


def align(a, b, wanted):
    """The node of b that stands where `wanted` stands in a, if all around it
    is equal; else None."""
    if a is wanted:
        return b
    if type(a) is not type(b):
        return None
    found = None
    for (_, one), (_, other) in zip(ast.iter_fields(a), ast.iter_fields(b)):
        ones = one if isinstance(one, list) else [one]
        others = other if isinstance(other, list) else [other]
        if len(ones) != len(others):
            return None
        for x, y in zip(ones, others):
            if isinstance(x, ast.AST) and holds(x, wanted):
                found = align(x, y, wanted) if isinstance(y, ast.AST) else None
                if found is None:
                    return None
            elif isinstance(x, ast.AST) != isinstance(y, ast.AST):
                return None
            elif isinstance(x, ast.AST) and ast.dump(x) != ast.dump(y):
                return None
            elif not isinstance(x, ast.AST) and x != y:
                return None
    return found


def find_cut(original, fused, output):
    """((index, node) of the original, (index, node) of the fused statements)
    of the output expression; None if the statements around it differ.

    What surrounds the output, word for word the same in both, is left out:
    it needs weights that are no inputs, and adds nothing.
    """
    wanted = [
        (i, n)
        for i, s in enumerate(original)
        for n in ast.walk(s)
        if isinstance(n, ast.expr) and output is not None and key(n) == key(output)
    ]
    if len(wanted) != 1:
        return None
    at, node = wanted[0]
    tail = original[at + 1 :]
    there = len(fused) - len(tail) - 1
    if there < 0 or [ast.dump(s) for s in tail] != [
        ast.dump(s) for s in fused[there + 1 :]
    ]:
        return None
    found = align(original[at], fused[there], node)
    return ((at, node), (there, found)) if found is not None else None


# --------------------------------------------------------- names of a function


def stored(node):
    """Names that a statement binds, without those of inner functions."""
    names = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            names.add(child.id)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).split(".")[0] for a in child.names}
        elif isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            names.add(child.name)
    return names


def released(statements):
    """Names to which the statements bind None and nothing else: what the original
    gives there is needed by nobody (attention weights that every caller drops)."""
    none, other = set(), set()
    for statement in statements:
        if (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Constant)
            and statement.value.value is None
        ):
            none |= stored(statement)
        else:
            other |= stored(statement)
    return none - other


def loaded(nodes):
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def inner_names(statements):
    """Parameters of lambdas and variables of comprehensions."""
    names = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.comprehension):
                names |= stored(node.target)
    return names


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def enclosing(tree, line):
    """The functions around a line, innermost last."""
    found = [
        n for n in ast.walk(tree)
        if isinstance(n, FUNCTIONS) and n.lineno <= line <= n.end_lineno
    ]
    return sorted(found, key=lambda n: n.lineno)


def before(function, line):
    """The statements that certainly ran before a line of the function."""
    found, statements = [], function.body
    while statements:
        around = None
        for statement in statements:
            if statement.lineno >= line:
                break
            if statement.end_lineno >= line:
                around = statement
                break
            found.append(statement)
        lists = [
            part
            for field in ("body", "orelse", "finalbody")
            for part in [getattr(around, field, None)]
            if isinstance(part, list) and part and part[0].lineno <= line
            and part[-1].end_lineno >= line
        ]
        statements = lists[0] if lists else None
    return found


SIMPLE = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)


def rebound(function, name, start, end):
    """Whether a statement between two lines (both excluded) binds a name."""
    return any(
        isinstance(s, ast.stmt)
        and start < s.lineno < end
        and name in (stored(s.target) if isinstance(s, ast.For) else stored(s))
        for s in ast.walk(function)
        if isinstance(s, ast.For) or not hasattr(s, "body")
    )


def definition(function, name, line):
    """The statement that certainly gave `name` its value at a line, if it is
    one that can be run again; else None."""
    binding = [s for s in before(function, line) if name in stored(s)]
    if not binding or not isinstance(binding[-1], SIMPLE):
        return None
    found = binding[-1]
    return None if rebound(function, name, found.end_lineno, line) else found


def default_of(function, name):
    """The default of a parameter as a tree, or None."""
    arguments = function.args
    placed = getattr(arguments, "posonlyargs", []) + arguments.args
    pairs = list(zip(placed[::-1], arguments.defaults[::-1]))
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults))
    return next((d for a, d in pairs if a.arg == name), None)


def parameters(function):
    arguments = function.args
    found = getattr(arguments, "posonlyargs", []) + arguments.args
    found = found + arguments.kwonlyargs
    found += [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [a.arg for a in found]


SOLID = frozenset("linear cat stack matmul mm bmm addmm contiguous".split())


def makes_no_gaps(node, self_name):
    """Whether an expression gives a tensor without gaps: a linear layer (what
    is called on `self` is taken for one: the command proved it where it wrote
    no .contiguous()), a product, or a copy."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    if not isinstance(node, ast.Call):
        return False
    chain = chain_of(node.func) or [getattr(node.func, "attr", "")]
    return chain[-1] in SOLID or (len(chain) > 1 and chain[0] == self_name)


# ------------------------------------------------------------------- guard terms


def terms(test):
    """The operands of a condition's ``and``."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [t for value in test.values for t in terms(value)]
    return [test]


class PlainReads(ast.NodeTransformer):
    """getattr(args, "name", False)  ->  args.name: a stand-in has it."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "id", "") != "getattr" or len(node.args) != 3:
            return node
        name, default = node.args[1:]
        plain = isinstance(name, ast.Constant) and str(name.value).isidentifier()
        if not plain or getattr(default, "value", None) not in (True, False):
            return node
        read = ast.Attribute(node.args[0], name.value, ast.Load())
        return ast.copy_location(read, node)


def is_name_of_type(node, wanted):
    """type(WANTED).__name__"""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "__name__"
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "type"
        and [key(a) for a in node.value.args] == [key(wanted)]
    )


def is_name_of(node, wanted):
    """getattr(WANTED, "__name__", "")"""
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "getattr"
        and len(node.args) > 1
        and key(node.args[0]) == key(wanted)
        and getattr(node.args[1], "value", None) == "__name__"
    )


def in_package(name, names, wanted):
    """What `name` is in the imported modules of the package that `names` is a
    module of; None if nothing, or if they mean different things by it."""
    package = str(names.get("__name__", "")).split(".")[0]
    found = []
    for place, module in sorted(sys.modules.items()):
        if place != package and not place.startswith(package + "."):
            continue
        value = getattr(module, "__dict__", {}).get(name)
        if wanted(value) and not any(value is other for other in found):
            found.append(value)
    return found[0] if len(found) == 1 else None


def is_class(value):
    return isinstance(value, type)


def made_by_name(name, names):
    """An object of the class `name`: of the module's names, torch.nn, or another
    module of its package (ACT2FN["silu"] is a class of transformers.activations)."""
    import torch

    places = [p.get(name) for p in (names, vars(torch.nn))]
    for found in places + [in_package(name, names, is_class)]:
        if isinstance(found, type):
            try:
                return found()
            except TypeError:
                pass
    return None


def function_by_name(name, names):
    import torch

    places = (names, vars(torch.nn.functional), vars(torch))
    found = next((p[name] for p in places if callable(p.get(name))), None)
    return found if found is not None else in_package(name, names, callable)


MISSING = object()


def asked_by(term, wanted, names):
    """The value of the expression `wanted` that makes a guard's term true;
    MISSING if the term says nothing about it."""
    if key(term) == key(wanted):
        return True
    if isinstance(term, ast.UnaryOp) and isinstance(term.op, ast.Not):
        return False if key(term.operand) == key(wanted) else MISSING
    if not isinstance(term, ast.Compare) or len(term.ops) != 1:
        return MISSING
    if not isinstance(term.ops[0], (ast.Eq, ast.Is)):
        return MISSING
    try:
        value = ast.literal_eval(term.comparators[0])  # -1 is no constant of the tree
    except ValueError:
        return MISSING
    left = term.left
    if getattr(getattr(left, "func", None), "id", "") == "tuple" and len(left.args) == 1:
        left = left.args[0]  # tuple(self.axes) == (-1,)
    if key(left) == key(wanted):
        return value
    made = None
    if is_name_of_type(term.left, wanted):
        made = made_by_name(value, names)
    elif is_name_of(term.left, wanted):
        made = function_by_name(value, names)
    return MISSING if made is None else made


# --------------------------------------------------------------------- stand-ins


def stand_in(kind):
    """An object of the user's class that ran no __init__."""
    import torch

    if not isinstance(kind, type):
        kind = torch.nn.Module
    try:
        made = kind.__new__(kind)
        if isinstance(made, torch.nn.Module):
            torch.nn.Module.__init__(made)
    except Exception:
        made = torch.nn.Module()
    return made


def norm_stand_in(kind):
    """An nn.LayerNorm or nn.GroupNorm that takes its width from the weight it has when
    it is called; MISSING for other classes."""
    from torch import nn

    def layer_norm(x):
        shape = made.weight.shape
        return nn.functional.layer_norm(x, shape, made.weight, made.bias, made.eps)

    def group_norm(x):
        groups = made.num_groups
        return nn.functional.group_norm(x, groups, made.weight, made.bias, made.eps)

    forward = {nn.LayerNorm: layer_norm, nn.GroupNorm: group_norm}
    if kind not in forward:
        return MISSING
    made = stand_in(kind)
    made.forward = forward[kind]
    return made


def set_chain(target, path, value):
    """target.a.b.c = value; what lies between is made."""
    for name in path[:-1]:
        inner = getattr(target, name, None)
        if inner is None or isinstance(inner, (int, float, str)):
            inner = types.SimpleNamespace()
            put(target, name, inner)
        target = inner
    put(target, path[-1], value)


def put(target, name, value):
    import torch

    known = isinstance(target, torch.nn.Module) and name in target._parameters
    if known:
        del target._parameters[name]
    try:
        setattr(target, name, value)
    except (AttributeError, TypeError):  # a property without a setter
        object.__getattribute__(target, "__dict__")[name] = value


def get_chain(target, path):
    for name in path:
        try:
            target = getattr(target, name)
        except Exception:
            return MISSING
    return target


class Chains(ast.NodeVisitor):
    """The longest attribute chains on some names: {("self", "a", "b"), ...}."""

    def __init__(self, roots):
        self.roots, self.found = roots, {}

    def visit_Attribute(self, node):
        chain = chain_of(node)
        if chain is None:
            self.generic_visit(node)
        elif chain[0] in self.roots and isinstance(node.ctx, ast.Load):
            self.found[tuple(chain)] = node


def chains(statements, roots):
    visitor = Chains(roots)
    for statement in statements:
        visitor.visit(statement)
    return visitor.found


def guard_of(statements, operator):
    """The ``if`` statements around the operator, outermost first."""
    for statement in statements:
        if isinstance(statement, ast.If) and instrument.calls(statement.body, operator):
            return instrument.guards(statement, operator)
    raise Blocked("the replacement calls '%s' under no condition" % operator)
