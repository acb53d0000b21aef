"""CPython's syntax tree as text, in the format of src/py/ast_dump.h.

Runs in two interpreters: the one of the tests and, loaded as source, CPython
3.14 under pyodide. So it imports nothing but the standard library and knows
the node classes of every version by name only."""
import ast
import re

MAX_INDENT = 50

# Children in the order of ast_dump, where that is not the order of _fields.
CHILDREN = {
    "FunctionDef": "decorator_list type_params args returns body",
    "AsyncFunctionDef": "decorator_list type_params args returns body",
    "ClassDef": "decorator_list type_params bases keywords body",
    "arguments": "posonlyargs args defaults vararg kwonlyargs kw_defaults "
                 "kwarg",
    "IfExp": "body test orelse",
}
NO_POSITION = {"Module", "arguments", "comprehension", "withitem",
               "match_case"}
FSTRINGS = {"JoinedStr", "TemplateStr"}
# Fields whose values are no nodes; VALUES writes them.
NOT_CHILDREN = {"ctx", "op", "ops", "type_comment", "type_ignores", "kind",
                "id", "attr", "arg", "name", "asname", "module", "level",
                "simple", "is_async", "conversion", "rest", "kwd_attrs", "str",
                "names", "value"}

ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), 0x7F)}
ESCAPES.update({10: "\\n", 34: '\\"', 92: "\\\\"})
BYTE_ESCAPES = {**ESCAPES, **{c: f"\\x{c:02x}" for c in range(128, 256)}}
needs_escape = re.compile(r'[\x00-\x1f"\\\x7f]').search


def quoted(text):
    if needs_escape(text):
        text = text.translate(ESCAPES)
    return f'"{text}"'


def constant(value):
    if value is None or value is True or value is False:
        return f" {value}"
    if value is Ellipsis:
        return " Ellipsis"
    if isinstance(value, str):
        return " str=" + quoted(value)
    if isinstance(value, bytes):
        return ' bytes="%s"' % value.decode("latin-1").translate(BYTE_ESCAPES)
    return number(value)


def number(value):
    """An integer in hexadecimal where str() would refuse it."""
    if isinstance(value, int):
        text = str(value) if value.bit_length() < 4000 else hex(value)
    else:
        text = repr(value)
    return f" {type(value).__name__}={text}"


def named(key, *names):
    return "".join(f" {key}={name}" for name in names if name is not None)


def operators(ops):
    return "".join(" op=" + type(op).__name__ for op in ops)


def formatted(node):
    text = f" str={quoted(node.str)}" if hasattr(node, "str") else ""
    return f"{text} conversion={node.conversion}"


VALUES = {
    "BinOp": lambda n: operators([n.op]),
    "UnaryOp": lambda n: operators([n.op]),
    "BoolOp": lambda n: operators([n.op]),
    "AugAssign": lambda n: operators([n.op]),
    "Compare": lambda n: operators(n.ops),
    "AnnAssign": lambda n: f" simple={n.simple}",
    "comprehension": lambda n: f" is_async={n.is_async}",
    "ImportFrom": lambda n: named("module", n.module) + f" level={n.level}",
    "Global": lambda n: named("names", *n.names),
    "Nonlocal": lambda n: named("names", *n.names),
    "MatchSingleton": lambda n: constant(n.value),
    "Constant": lambda n: (" kind=u" if n.kind else "") + constant(n.value),
    "FormattedValue": formatted,
    "Interpolation": formatted,
    "Name": lambda n: f" id={n.id}",
    "Attribute": lambda n: f" attr={n.attr}",
    "arg": lambda n: f" arg={n.arg}",
    "keyword": lambda n: named("arg", n.arg),
    "alias": lambda n: named("name", n.name) + named("asname", n.asname),
    "MatchMapping": lambda n: named("rest", n.rest),
    "MatchClass": lambda n: named("kwd_attrs", *n.kwd_attrs),
    **{kind: lambda n: named("name", n.name) for kind in (
        "FunctionDef", "AsyncFunctionDef", "ClassDef", "ExceptHandler",
        "MatchStar", "MatchAs", "TypeVar", "ParamSpec", "TypeVarTuple")},
}


class Spec:
    """How to write the nodes of one class."""

    def __init__(self, cls):
        self.kind = cls.__name__
        self.values = VALUES.get(self.kind)
        self.ctx = "ctx" in cls._fields
        self.position = self.kind not in NO_POSITION
        self.fstring = self.kind in FSTRINGS
        fields = CHILDREN.get(self.kind, " ".join(cls._fields)).split()
        self.children = [field for field in reversed(fields)
                         if self.is_child(field)]

    def is_child(self, field):
        if self.kind in ("Constant", "MatchSingleton"):
            return False
        if self.kind in ("Import", "ImportFrom") and field == "names":
            return True
        if self.kind == "TypeAlias" and field == "name":
            return True
        return field == "value" or field not in NOT_CHILDREN


def indent(depth):
    if depth <= MAX_INDENT:
        return "  " * depth
    return f"{'  ' * MAX_INDENT}({depth}) "


INDENTS = [indent(depth) for depth in range(200)]


def push_children(stack, spec, node, depth, inside):
    for field in spec.children:
        child = getattr(node, field, None)
        if isinstance(child, list):
            for item in reversed(child):
                stack.append((field + " ", item, depth, inside))
        elif child is not None:
            stack.append((field + " ", child, depth, inside))


def dump(tree, fstring_positions=True):
    """The text of `tree` as UTF-8, lone surrogates as in WTF-8."""
    out = []
    specs = {}
    stack = [("", tree, 0, False)]
    while stack:
        field, node, depth, inside = stack.pop()
        start = (INDENTS[depth] if depth < 200 else indent(depth)) + field
        if node is None:
            out.append(start + "None")
            continue
        spec = specs.get(type(node))
        if spec is None:
            spec = specs[type(node)] = Spec(type(node))
        line = start + spec.kind
        if spec.position and not inside:
            line += (f" {node.lineno}:{node.col_offset}"
                     f"-{node.end_lineno}:{node.end_col_offset}")
        if spec.values:
            line += spec.values(node)
        if spec.ctx:
            line += " " + type(node.ctx).__name__
        out.append(line)
        inside = inside or (spec.fstring and not fstring_positions)
        push_children(stack, spec, node, depth + 1, inside)
    out.append("")
    return "\n".join(out).encode("utf-8", "surrogatepass")


def parse(data):
    """The tree of a file's bytes, or why CPython rejects it, as text."""
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError,
            OverflowError) as error:
        return f"{type(error).__name__}: {error}"
