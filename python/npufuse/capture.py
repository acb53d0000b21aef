"""What the original statements of a candidate are given in a real run.

An input that is a name or a chain of attributes is read when the span begins.
Any other expression, a call for example, is not evaluated a second time: in
the syntax tree it is passed through a recorder at the place where it stands.

Each distinct signature of a span is one line of ``<pid>.jsonl``, described in
docs/formats.md, with how often it was seen. The file is written anew by a
rename when a signature is new, and every few milliseconds otherwise: a process
that is killed has told nearly all.
"""
import ast
import json
import math
import os
import sys
import threading
import time

from npufuse import instrument
from npufuse.counts import rank
from npufuse.spans import chain_of, parse_expression

SIGNATURES_MAX = 200  # of one candidate; lengths of text can be any number
# The file is written again after so many times what the last writing took: a
# process may be killed at any time, and its counts shall be those of then.
WRITE_SHARE = 3
PENDING_MAX = 200  # spans that were entered and have not met all inputs
TEXT_MAX = 200  # characters of a local string


class Wrap(ast.NodeTransformer):
    """Passes the first expression equal to `wanted` through a call."""

    def __init__(self, wanted, text):
        self.wanted, self.text, self.done = ast.dump(wanted), text, False

    def visit(self, node):
        if self.done or not isinstance(node, ast.AST):
            return node
        if isinstance(node, ast.expr) and ast.dump(node) == self.wanted:
            self.done = True
            call = instrument.parse_statements(self.text, node)[0].value
            call.args.append(node)
            return call
        return self.generic_visit(node)


class Span:
    """What is known of a candidate's span before it runs."""

    def __init__(self, candidate):
        self.id = candidate["id"]
        self.chains, self.calls = {}, {}
        for given in candidate.get("inputs") or ():
            node = parse_expression(given["expr"])
            chain = chain_of(node)
            if chain:
                self.chains[given["name"]] = chain
            elif isinstance(node, ast.Constant):
                self.chains[given["name"]] = node.value
            elif node is not None:
                self.calls[given["name"]] = node
        self.locals = set()  # chains that the span reads, as tuples

    def read(self, statements):
        inputs = [tuple(c) for c in self.chains.values() if isinstance(c, list)]
        for statement in statements:
            for node in ast.walk(statement):
                chain = chain_of(node) if isinstance(node, ast.expr) else None
                if chain and tuple(chain) not in inputs:
                    self.locals.add(tuple(chain))


MISSING = object()


def follow(chain, frame):
    """The value of a chain in a frame, or MISSING."""
    for names in (frame.f_locals, frame.f_globals):
        if chain[0] in names:
            found = names[chain[0]]
            break
    else:
        return MISSING
    for name in chain[1:]:
        try:
            found = getattr(found, name)
        except Exception:
            return MISSING
    return found


def kind(dtype):
    return str(dtype).replace("torch.", "")


def plain(value, torch):
    """A local value as JSON, or MISSING if it is not a plain one."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else MISSING
    if isinstance(value, str):
        return value if len(value) <= TEXT_MAX else MISSING
    if isinstance(value, torch.dtype):
        return {"dtype": kind(value)}
    if isinstance(value, torch.Size):
        return {"size": [int(n) for n in value]}
    if isinstance(value, torch.nn.Module):
        # An activation: its class tells all of it.
        bare = not any(True for _ in value.parameters())
        bare = bare and not any(True for _ in value.children())
        return {"class": type(value).__name__} if bare else MISSING
    return MISSING


def describe(value, torch):
    """An input as JSON, or MISSING."""
    if isinstance(value, torch.Tensor):
        return {
            "shape": [int(n) for n in value.shape],
            "dtype": kind(value.dtype),
            "stride": [int(n) for n in value.stride()],
            "contiguous": value.is_contiguous(),
            "requires_grad": value.requires_grad,
            "device": value.device.type,
        }
    found = plain(value, torch)
    return MISSING if found is MISSING else {"value": found}


def autocast(inputs, torch):
    """The autocast of the device that the inputs are on."""
    devices = [i["device"] for i in inputs.values() if "device" in i] or ["cpu"]
    try:
        enabled = bool(torch.is_autocast_enabled(devices[0]))
        dtype = torch.get_autocast_dtype(devices[0]) if enabled else None
    except Exception:  # before torch 2.4 these take no device
        on_cpu = devices[0] == "cpu"
        enabled = torch.is_autocast_cpu_enabled() if on_cpu else False
        dtype = torch.get_autocast_cpu_dtype() if enabled else None
    return {"enabled": enabled, "dtype": kind(dtype) if dtype else None}


class Recorder:
    """The signatures of one process, and the file that tells them."""

    def __init__(self, folder):
        self.folder = folder
        self.spans = {}
        self.clear()
        os.register_at_fork(after_in_child=self.clear)

    def clear(self):
        self.lock = threading.Lock()
        self.pending = threading.local()
        self.lines, self.written, self.dropped = {}, 0.0, False
        self.pause = 0.0

    # ------------------------------------------------------------ the syntax tree

    def instrument(self, tree, number, candidate, name):
        """Puts the recorder's calls into the span of a candidate."""
        span = self.spans[number] = Span(candidate)
        line, end = candidate["start_line"], candidate["end_line"]
        statements, first = instrument.find_statement(tree, line)
        at = statements.index(first)
        inside = [s for s in statements[at:] if s.lineno <= end]
        span.read(inside)
        for given, node in list(span.calls.items()):
            text = "%s.value(%d, %r)" % (name, number, given)
            wrap = Wrap(node, text)
            for place, statement in enumerate(inside):
                statements[at + place] = wrap.visit(statement)
            if not wrap.done:
                del span.calls[given]
        text = "if not {0}.compiling(): {0}.enter({1})".format(name, number)
        statements[at:at] = instrument.parse_statements(text, first)

    # -------------------------------------------------------------- while it runs

    def stack(self):
        if not hasattr(self.pending, "records"):
            self.pending.records = []
        return self.pending.records

    def enter(self, number, frame):
        torch = sys.modules.get("torch")
        if torch is None:
            return
        span, stack = self.spans[number], self.stack()
        for old in [r for r in stack if r[0] == number and r[1] == id(frame)]:
            stack.remove(old)  # the branch with its input was not taken
            self.commit(number, old[2])
        found = {"inputs": {}, "locals": {}}
        for name, chain in span.chains.items():
            value = follow(chain, frame) if isinstance(chain, list) else chain
            self.put(found["inputs"], name, value, torch)
        for chain in sorted(span.locals):
            if chain[0] in frame.f_locals:  # the module's own are there at any time
                value = follow(chain, frame)
                value = value if value is MISSING else plain(value, torch)
                if value is not MISSING:
                    found["locals"][".".join(chain)] = value
        owner = frame.f_locals.get("self")
        training = getattr(owner, "training", None)
        found["module_training"] = training if isinstance(training, bool) else None
        found["grad_enabled"] = torch.is_grad_enabled()
        if span.calls:
            stack.append((number, id(frame), found))
            del stack[:-PENDING_MAX]
        else:
            self.commit(number, found)

    def put(self, inputs, name, value, torch):
        made = MISSING if value is MISSING else describe(value, torch)
        if made is not MISSING:
            inputs[name] = made

    def value(self, number, name, value, frame):
        torch = sys.modules.get("torch")
        stack = self.stack()
        for record in reversed(stack):
            if record[0] == number and name not in record[2].setdefault("met", set()):
                record[2]["met"].add(name)
                self.put(record[2]["inputs"], name, value, torch)
                if record[2]["met"] == set(self.spans[number].calls):
                    stack.remove(record)
                    self.commit(number, record[2])
                return

    def commit(self, number, found):
        """Counts a signature: everything but the plain locals."""
        found.pop("met", None)
        found["autocast"] = autocast(found["inputs"], sys.modules["torch"])
        parts = ("inputs", "autocast", "grad_enabled", "module_training")
        key = (number, json.dumps([found[p] for p in parts], sort_keys=True))
        with self.lock:
            line = self.lines.get(key)
            if line is not None:
                line["count"] += 1
            elif sum(k[0] == number for k in self.lines) < SIGNATURES_MAX:
                line = {"id": self.spans[number].id, "rank": rank(), "count": 1}
                line.update({k: found[k] for k in ("inputs", "locals") + parts[1:]})
                self.lines[key] = line
                self.written = 0.0
            due = time.monotonic() - self.written > self.pause
        if due:
            self.write()

    # -------------------------------------------------------------------- the file

    def write(self):
        with self.lock:
            if not self.lines:
                return
            begun = time.monotonic()
            text = "".join(json.dumps(line) + "\n" for line in self.lines.values())
            path = os.path.join(self.folder, "%d.jsonl" % os.getpid())
            with open(path + ".part", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(path + ".part", path)
            self.written = time.monotonic()
            self.pause = WRITE_SHARE * (self.written - begun)
