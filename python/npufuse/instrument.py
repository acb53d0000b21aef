"""Puts counting statements into the syntax tree of a candidate's file.

Line numbers, docstrings and ``from __future__`` stay; nothing is written to
disk. For the edited file::

    if NPUFUSE_X and npu_fused_ready(...):    # start_line
        gate = self.gate_proj(x)
        if npu_fused_ready(..., gate):
            COUNT fused                       # where the operator stands
            return torch_npu.npu_swiglu(...)
        else:
            COUNT else
            ...
    else:
        COUNT else
        ...

For a file without the edit, ``COUNT else`` stands before the statement at
start_line. COUNT is a statement that torch.compile folds away.
"""
import ast

NAME = "_npufuse_arm_"
RUNTIME = "npufuse.arm"


class NotFound(Exception):
    """A candidate's statement is not where it should be."""


def free_name(text):
    """A name that the file does not use. It does not begin with two
    underscores: in a class such a name would be mangled."""
    name = NAME
    while name in text:
        name += "x_"
    return name


def statement_lists(tree):
    """Every list of statements of the tree, outer ones first."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            found = getattr(node, field, None)
            if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
                yield found


def find_statement(tree, line, kind=ast.stmt):
    """(list, statement): the first statement of a kind that begins at line."""
    for statements in statement_lists(tree):
        for statement in statements:
            if statement.lineno == line and isinstance(statement, kind):
                return statements, statement
    raise NotFound("no %s at line %d" % (
        "'if'" if kind is ast.If else "statement", line))


def calls(node, operator):
    """Whether `operator` is called in the statements or the node given."""
    nodes = node if isinstance(node, list) else [node]
    for part in nodes:
        for child in ast.walk(part):
            if isinstance(child, ast.Call):
                name = getattr(child.func, "attr", getattr(child.func, "id", ""))
                if name == operator:
                    return True
    return False


def guards(statement, operator):
    """The ``if`` statements around the operator's call, outermost first."""
    found = [statement]
    while True:
        inner = [
            s
            for s in found[-1].body
            if isinstance(s, ast.If) and s.orelse and calls(s.body, operator)
        ]
        if len(inner) != 1:
            return found
        found.append(inner[0])


def parse_statements(text, place):
    """Statements from text, all at the position of the node `place`."""
    made = ast.parse(text).body
    for statement in made:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                ast.copy_location(node, place)
                # One line: what spans lines shows in tracebacks as a whole.
                node.end_lineno = place.lineno
                node.end_col_offset = place.col_offset
    return made


def count_statement(name, slot, place):
    text = "if {0}.compiling(): {0}.traced({1})\nelse: {0}.count({1})"
    return parse_statements(text.format(name, slot), place)


def add_counts(tree, candidate, slots, name):
    """Counts for one candidate. `slots`: of its keys "fused" and "else"."""
    line = candidate["start_line"]
    if not candidate.get("edited"):
        statements, first = find_statement(tree, line)
        place = statements.index(first)
        statements[place:place] = count_statement(name, slots["else"], first)
        return
    _, outer = find_statement(tree, line, ast.If)
    found = guards(outer, candidate["operator"])
    for guard in found:
        place = guard.orelse[0] if guard.orelse else guard
        guard.orelse[0:0] = count_statement(name, slots["else"], place)
    place = found[-1].body[0]
    found[-1].body[0:0] = count_statement(name, slots["fused"], place)


def top_level(tree, line):
    """The statement of the module that holds a line."""
    for statement in tree.body:
        if statement.lineno <= line <= statement.end_lineno:
            return statement
    raise NotFound("line %d is in no statement" % line)


def binding(tree, name):
    """The last statement of the module's own body that binds a name by a
    definition or an import; None if there is none."""
    result = None
    for statement in tree.body:
        names = [getattr(statement, "name", None)]
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [a.asname or a.name for a in statement.names]
        if name in names:
            result = statement
    return result


def first_line(statement):
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno] + [d.lineno for d in decorators])


def insert_runtime(tree, users, answered, name):
    """Imports the runtime before its first user.

    As late as possible: the file may have to set the environment before it
    imports torch, and the runtime asks whether torch is there.

    users: statements of the module's body that use the runtime;
    answered: {statement: [candidate, ...]} after which the candidates'
    predicates are answered by the emulator.
    """
    for statement, numbers in answered.items():
        text = "%s.answer(%r)" % (name, tuple(numbers))
        place = tree.body.index(statement) + 1
        tree.body[place:place] = parse_statements(text, statement)
    first = min(tree.body.index(s) for s in list(users) + list(answered))
    text = "import %s as %s\n%s.arrive()" % (RUNTIME, name, name)
    tree.body[first:first] = parse_statements(text, tree.body[first])
