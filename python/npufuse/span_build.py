"""Builds the two functions of a unit test from a finding; see spans.py."""
import ast
import builtins
import copy

import torch

from npufuse import spans
from npufuse.spans import MISSING, Blocked

ENTERED = "npufuse_entered_"
TERMS = "npufuse_terms_"
DEPTH = 12  # of definitions that are followed backwards


class Built:
    """The original and the fused span as functions of the inputs by name.

    entered: how often the fused branch ran; false_terms: what its guards
    said no to, in words.
    """

    def __init__(self, spec, module, tree, local):
        self.spec, self.module, self.local = spec, module, local
        self.names = dict(vars(module))
        self.fused_names = dict(vars(module))
        self.line = spec["start_line"]
        self.functions = spans.enclosing(tree, self.line)
        self.tree = tree
        self.entered, self.false_terms = 0, []
        self.ports = [spans.Port(i["name"], i["expr"]) for i in spec["inputs"]]
        self.ports = [p for p in self.ports if not p.is_constant()]
        self.self_name = self.find_self()
        self.read()
        self.inserts()
        self.resolve()

    # ------------------------------------------------------------------ reading

    def find_self(self):
        """The first parameter of a method; a function inside of another has none."""
        if not self.functions or not self.owner_name(self.functions[-1]):
            return ""
        static = any(
            getattr(d, "id", "") == "staticmethod"
            for d in self.functions[-1].decorator_list
        )
        named = spans.parameters(self.functions[-1])
        return named[0] if named and not static else ""

    def read(self):
        spec = self.spec
        original = spans.parse_lines(spec["original"])
        fused = spans.parse_lines(spec["replacement"])
        guard = spans.guard_of(fused, spec["operator"])
        for one in guard:
            one.test = spans.PlainReads().visit(one.test)
        self.terms = [t for g in guard for t in spans.terms(g.test)]
        output = spec["outputs"][0]["expr"] if spec.get("outputs") else ""
        lives = self.lives(original)
        branch = guard[-1].body
        self.released = spans.released(branch)
        lives = [n for n in lives if n not in self.released]
        cut = spans.find_cut(original, branch, spans.parse_expression(output))
        if cut:
            original = self.cut(original, *cut[0], lives)
            branch[:] = self.cut(branch, *cut[1], lives)
        elif not isinstance(original[-1], ast.Return):
            if not lives:
                raise Blocked("nothing that the statements compute is used later")
            original.append(self.give(None, lives))
            fused.append(self.give(None, lives))
        self.watch(guard)
        self.original = spans.substitute(original, self.ports)
        self.fused = spans.substitute(fused, self.ports)

    def lives(self, original):
        """Names that the span binds and the function reads outside of it."""
        bound = set().union(*(spans.stored(s) for s in original))
        if not self.functions:
            return sorted(bound)
        start, end = self.spec["start_line"], self.spec["end_line"]
        around = [
            n
            for n in ast.walk(self.functions[-1])
            if isinstance(n, (ast.For, ast.While)) and n.lineno < start <= n.end_lineno
        ]
        read = {
            n.id
            for n in ast.walk(self.functions[-1])
            if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Load)
            and (n.lineno > end or (around and n.lineno < start))
        }
        return sorted(bound & read)

    def give(self, node, lives):
        parts = [] if node is None else [node]
        parts += [ast.Name(name, ast.Load()) for name in lives]
        value = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        return ast.Return(value)

    def solid(self):
        """Inputs that have no gaps, whatever the caller passes."""
        found = set()
        for port in self.ports:
            node = port.node
            if isinstance(node, ast.Name) and self.functions:
                made = spans.definition(self.functions[-1], node.id, self.line)
                node = getattr(made, "value", None)
            if spans.makes_no_gaps(node, self.self_name or "self"):
                found.add(port.name)
        return found

    def cut(self, statements, at, node, lives):
        earlier = set().union(set(), *(spans.stored(s) for s in statements[:at]))
        kept = [n for n in lives if n in earlier]
        if isinstance(statements[at], ast.Assign):
            kept = [n for n in kept if n not in spans.stored(statements[at])]
        return statements[:at] + [self.give(node, kept)]

    def watch(self, guard):
        """Notes the guards' terms before each, and that the branch ran."""
        for one in guard:
            listed = ", ".join(
                "(%r, lambda: 0)" % spans.text_of(t) for t in spans.terms(one.test)
            )
            noted = ast.parse("%s([%s])" % (TERMS, listed)).body[0]
            pairs = noted.value.args[0].elts
            for pair, term in zip(pairs, spans.terms(one.test)):
                pair.elts[1].body = copy.deepcopy(term)
            self.place(guard, one, noted)
            # Who comes here has not entered; what stands here is not compared.
            one.orelse = [ast.Return(ast.Constant(None))]
        guard[-1].body.insert(0, ast.parse("%s()" % ENTERED).body[0])

    def place(self, guard, one, noted):
        """Puts a statement before an ``if`` of the guard."""
        at = guard.index(one)
        if at == 0:
            self.before_guard = noted
        else:
            outer = guard[at - 1].body
            outer.insert(outer.index(one), noted)

    # ---------------------------------------------------------------- resolving

    def inserts(self):
        for text in self.spec["inserts"]:
            try:
                exec(compile(text, "<insert>", "exec"), self.fused_names)
            except Exception as error:
                raise Blocked("an inserted text does not run: %s" % error) from None

    def resolve(self):
        """Finds values for all that is neither an input nor of the module."""
        self.slice, self.values = [], {}
        self.known = {p.parameter for p in self.ports}
        self.known |= {ENTERED, TERMS, self.self_name}
        both = self.original + self.fused
        self.assigned = set().union(*(spans.stored(s) for s in both))
        for name in sorted(self.needed(self.original) | self.needed(self.fused)):
            self.need(name, self.line, 0)
        self.prelude = self.run_before()
        self.chains()

    def needed(self, statements):
        """Names that are read before the statements bind them."""
        found, bound = set(), set()
        for statement in statements:
            read = spans.loaded([statement]) - spans.inner_names([statement])
            if isinstance(statement, ast.AugAssign):
                read |= spans.stored(statement)
            inside = hasattr(statement, "body")
            found |= read - bound - (spans.stored(statement) if inside else set())
            bound |= spans.stored(statement)
        return found

    def is_local(self, name):
        for function in self.functions:
            if name in spans.parameters(function):
                return True
            if any(name in spans.stored(s) for s in function.body):
                return True
        return False

    def need(self, name, line, depth):
        """Makes `name` known as it is at a line of the function."""
        if name in self.known:
            return
        if not self.is_local(name):
            if name in self.fused_names or hasattr(builtins, name):
                return
            raise Blocked("'%s' is not known in '%s'" % (name, self.module.__name__))
        if depth > DEPTH:
            raise Blocked("'%s' depends on too much" % name)
        kept, reason = list(self.slice), self.follow(name, line, depth)
        if reason is None:
            return
        self.slice = kept
        self.known.add(name)
        try:
            self.give_value(name)
        except Blocked as error:
            raise Blocked(reason or str(error)) from None

    def follow(self, name, line, depth):
        """Takes the definition of a local name into what runs before the
        span, if it gives there what it gave in the user's function.

        None if so; else why not, "" if there is nothing to say.
        """
        function = self.functions[-1]
        found = spans.definition(function, name, line)
        if found is None or spans.stored(found) & self.known:
            return ""
        if found in self.slice:
            return None
        self.slice.append(found)
        ours = spans.substitute([copy.deepcopy(found)], self.ports)
        try:
            for other in sorted(self.needed(ours)):
                self.need(other, found.lineno, depth + 1)
                if other in self.known and spans.rebound(
                    function, other, found.lineno - 1, self.line
                ):
                    return ""  # the input of later, not of then
        except Blocked as error:
            return str(error)
        return None

    def run_before(self):
        """The statements of the slice, in their order."""
        found = sorted(self.slice, key=lambda s: s.lineno)
        return spans.substitute([copy.deepcopy(s) for s in found], self.ports)

    def give_value(self, name):
        if name in self.local:
            self.values[name] = self.local[name]
            return
        node = ast.Name(name, ast.Load())
        default = spans.default_of(self.functions[-1], name)
        value = MISSING
        if default is not None:
            value = self.evaluate(default)
        if value is MISSING or value is None:
            asked = self.from_guard(node)
            value = asked if asked is not MISSING else value
        if value is MISSING:
            chained = spans.chains(self.original + self.fused, {name})
            if not chained:
                raise Blocked(
                    "the value of '%s' is not known; run npufuse capture" % name
                )
            value = spans.stand_in(None)
        self.values[name] = value

    def evaluate(self, node):
        """A constant expression in the module's globals, or MISSING."""
        try:
            tree = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))
            return eval(compile(tree, "<value>", "eval"), dict(self.names))
        except Exception:
            return MISSING

    def from_guard(self, node):
        for term in self.terms:
            value = spans.asked_by(term, node, self.names)
            if value is not MISSING:
                return value
        return MISSING

    # --------------------------------------------------------- attributes of self

    def chains(self):
        """Attributes of `self`, and of parameters that only carry some."""
        self.owner = spans.stand_in(self.class_of())
        roots = {self.self_name} if self.self_name else set()
        stand_ins = {
            k for k, v in self.values.items() if isinstance(v, torch.nn.Module)
        }
        roots |= {k for k in stand_ins if k not in self.local}
        self.settings = []  # (root, path, value)
        every = self.original + self.fused + self.prelude
        if self.self_name:
            every = every + [self.before_guard]
        for chain, node in sorted(spans.chains(every, roots).items()):
            self.need_chain(chain, node)

    def class_of(self):
        found = self.module
        for name in self.spec["qualname"].split(".")[:-1]:
            found = getattr(found, name, None)
        return found

    def target(self, root):
        return self.owner if root == self.self_name else self.values[root]

    def is_port(self, chain):
        return any(
            p.chain and tuple(p.chain) == chain[: len(p.chain)] for p in self.ports
        )

    def need_chain(self, chain, node):
        if self.is_port(chain):
            return
        target = self.target(chain[0])
        found = spans.get_chain(target, chain[1:])
        # nn.Module has a method `half`; a constructor may set another.
        inherited = callable(found) and self.set_by_constructor(chain)
        if found is not MISSING and not inherited:
            return
        while True:
            value = self.chain_value(chain, node)
            if value is not MISSING:
                spans.set_chain(target, chain[1:], value)
                return
            if len(chain) == 2:
                break
            chain, node = chain[:-1], node.value
        raise Blocked(
            "the value of '%s' is not known; run npufuse capture" % ".".join(chain)
        )

    def chain_value(self, chain, node):
        named = ".".join(chain)
        if named in self.local:
            value = self.local[named]
            if isinstance(value, dict) and "class" in value:
                made = spans.made_by_name(value["class"], self.names)
                return MISSING if made is None else made
            return value
        if len(chain) == 2 and chain[0] == self.self_name:
            value = self.norm(chain)
            if value is MISSING:
                value = self.from_constructor(chain[1])
            if value is not MISSING:
                return value
        return self.from_guard(node)

    def norm(self, chain):
        """A norm of torch.nn whose weight is an input: of whatever width that has."""
        weight = [*chain, "weight"]
        if not any(p.chain == weight for p in self.ports):
            return MISSING
        for _, statement in self.assignments(chain[1]):
            if isinstance(statement.value, ast.Call):
                return spans.norm_stand_in(self.evaluate(statement.value.func))
        return MISSING

    def assignments(self, attribute):
        """(__init__, ``self.attribute = EXPRESSION`` in it) of the user's class."""
        kind = self.class_of()
        for node in ast.walk(self.tree):
            named = isinstance(node, ast.FunctionDef) and node.name == "__init__"
            if not named or self.owner_name(node) != getattr(kind, "__name__", ""):
                continue
            for statement in ast.walk(node):
                if isinstance(statement, ast.Assign) and any(
                    spans.chain_of(t) == ["self", attribute] for t in statement.targets
                ):
                    yield node, statement

    def set_by_constructor(self, chain):
        """Whether the constructor sets ``self.attribute``, which has no value yet."""
        return (
            len(chain) == 2
            and chain[0] == self.self_name
            and chain[1] not in vars(self.owner)
            and any(True for _ in self.assignments(chain[1]))
        )

    def from_constructor(self, attribute):
        """The value of ``self.attribute`` where it rests on the module's names."""
        for function, statement in self.assignments(attribute):
            local = spans.loaded([statement.value])
            if not local & set(spans.parameters(function)):
                return self.evaluate(statement.value)
        return MISSING

    def owner_name(self, function):
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef) and function in node.body:
                return node.name
        return ""

    # ----------------------------------------------------------------- functions

    def turn_on(self):
        """Switches among the user's constants, for the fused side alone."""
        for term in self.terms:
            named = isinstance(term, ast.Name) and not self.is_local(term.id)
            if named and isinstance(vars(self.module).get(term.id), bool):
                self.fused_names[term.id] = True

    def functions_made(self):
        """(original, fused): functions of {input name: value} to lists."""
        names = [self.self_name] if self.self_name else []
        names += sorted({p.parameter for p in self.ports} | set(self.values))
        fused = [self.before_guard] + self.fused
        self.turn_on()
        self.fused_names[ENTERED] = self.enter
        self.fused_names[TERMS] = self.check
        one = self.compile(names, self.original, self.names)
        two = self.compile(names, fused, self.fused_names)
        return self.callable(one), self.callable(two)

    def compile(self, names, statements, scope):
        """In a class of the user's name, so that private names mean the
        same."""
        owner = self.spec["qualname"].split(".")[-2:-1]
        text = "class %s:\n    def npufuse_span(%s): pass" % (
            owner[0] if owner and owner[0].isidentifier() else "Span",
            ", ".join(names),
        )
        tree = ast.parse(text)
        function = tree.body[0].body[0]
        function.body = copy.deepcopy(self.prelude + statements)
        for node in ast.walk(tree):  # texts with other line numbers are mixed
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = 1
                node.col_offset = node.end_col_offset = 0
        ast.fix_missing_locations(tree)
        made = {}
        exec(compile(tree, "<span>", "exec"), scope, made)
        return vars(made[tree.body[0].name])["npufuse_span"]

    def callable(self, function):
        def call(values):
            arguments = dict(self.values)
            for port in self.ports:
                value = values[port.name]
                arguments[port.parameter] = value
                chain = port.chain or []
                if len(chain) > 1 and chain[0] == self.self_name:
                    spans.set_chain(self.owner, chain[1:], value)
                elif len(chain) > 1 and chain[0] in self.values:
                    spans.set_chain(self.values[chain[0]], chain[1:], value)
            if self.self_name:
                arguments[self.self_name] = self.owner
            return flatten(function(**arguments))

        return call

    def enter(self):
        self.entered += 1

    def check(self, pairs):
        for text, test in pairs:
            try:
                said = test()
            except Exception as error:
                said, text = False, "%s (%s)" % (text, error)
            if not said and text not in self.false_terms:
                self.false_terms.append(text)


def flatten(value):
    """The tensors of a result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in flatten(v)]
    return []
