"""``python -m npufuse.unit SPEC RESULT``: one candidate, alone, on tensors.

The original statements and the replacement run as functions on the same
inputs, forward and backward, in several dtypes and under autocast by the
tables of two devices, against the original in float64. Both files are JSON,
described in docs/formats.md. The result is written by a rename; the exit code
is 0 whatever the result says.
"""
import ast
import importlib
import json
import os
import platform
import sys

import torch

from npufuse import cases, emulate, judge, rule, span_build
from npufuse.compare import Comparison, leaves
from npufuse.float64 import Float64
from npufuse.spans import Blocked

SCHEMA = 1


def import_roots(path):
    """Folders from which a file may be imported, the best first: that above
    its packages, then those of sys.path."""
    folder = os.path.dirname(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    yield folder
    for place in sys.path:
        place = os.path.realpath(place or ".")
        if folder != place and path.startswith(place + os.sep):
            yield place


def import_file(path):
    """The module of a file, imported under its own dotted name."""
    path = os.path.realpath(path)
    saved, sys.argv = sys.argv, [path]
    errors = []
    try:
        for root in import_roots(path):
            parts = os.path.relpath(path, root)[: -len(".py")].split(os.sep)
            if parts[-1] == "__init__" and len(parts) > 1:
                parts.pop()
            try:
                return import_from(root, ".".join(parts), path)
            except (Exception, SystemExit) as error:
                text = str(error).split("\n")[0]
                errors.append("%s: %s" % (type(error).__name__, text))
    finally:
        sys.argv = saved
    raise Blocked("'%s' cannot be imported: %s" % (os.path.basename(path), errors[0]))


def import_from(root, name, path):
    sys.path.insert(0, root)
    try:
        module = importlib.import_module(name)
    finally:
        sys.path.remove(root)
    found = os.path.realpath(getattr(module, "__file__", "") or "")
    if found != path:
        raise ImportError("the name '%s' is taken by '%s'" % (name, found))
    return module


class Unit:
    """One run: `spec` as in docs/formats.md."""

    def __init__(self, spec):
        self.spec = spec
        self.emulated = False
        self.label, self.device = "native", "cpu"
        self.comparison = None
        self.reference_error = None

    def choose_device(self):
        """A working torch_npu is used; without one the emulator answers."""
        wanted = self.spec.get("device", "auto")
        real = emulate.working()
        if real is not None and wanted != "cpu":
            self.device = "npu"
        elif wanted == "npu":
            raise Blocked("no NPU works here")
        if self.spec["module"] != emulate.NAME:
            return
        if real is not None:
            if self.device != "npu":
                raise Blocked("'%s' runs on an NPU only" % self.spec["operator"])
            self.label = "device"
        elif not self.spec.get("emulate", True):
            raise Blocked("no NPU works here, and emulation is switched off")
        else:
            self.emulated, self.label = True, emulate.LABEL

    def answer(self, names):
        """Lets the emulator answer in the names of the fused side."""
        if not self.emulated:
            return
        for folder in self.spec["ops"]:
            emulate.add_folder(folder)
        fake = emulate.module()

        def ready(operator, *tensors):
            return hasattr(fake, operator)

        names[self.spec["predicate"]] = ready
        names[emulate.NAME] = fake

    def build(self, local):
        path = self.spec["file"]
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
        built = span_build.Built(self.spec, self.module, tree, local)
        self.answer(built.fused_names)
        return built

    def all_cases(self, built):
        names, solid = [p.name for p in built.ports], built.solid()
        generator = torch.Generator().manual_seed(self.spec.get("seed", 1))
        torch.manual_seed(self.spec.get("seed", 1))
        if self.spec.get("captured"):
            found = list(
                cases.from_captured(self.spec["captured"], names, generator, solid)
            )
            if found and all(set(names) <= set(c.values) for c in found):
                return found
        self.rule = rule.load(self.spec["rule_file"])
        own = self.rule.edges() if self.rule.edges else None
        found = list(
            cases.from_sample(self.rule.sample(), names, generator, solid, own)
        )
        missing = sorted(set(names) - set(found[0].values if found else ()))
        if missing:
            raise Blocked(
                "the rule's sample has no '%s'; run npufuse capture" % missing[0]
            )
        return found

    def run(self):
        self.choose_device()
        self.module = import_file(self.spec["file"])
        captured = self.spec.get("captured") or [{}]
        local = {
            k: cases.plain(v) for k, v in (captured[0].get("locals") or {}).items()
        }
        built = self.build(local)
        original, fused = built.functions_made()
        self.comparison = Comparison(
            original, fused, self.device, self.spec.get("seed", 1),
            rule.constants(rule.load(self.spec["rule_file"])),
        )
        if any("is_grad_enabled" in ast.dump(t) for t in built.terms):
            self.comparison.grad = False  # the operator has no backward
        always = self.proven_dtypes()
        found = [c._replace(always=always) for c in self.all_cases(built)]
        for case in found:
            self.add(built, case)
        if self.device == "cpu":
            self.reference_error = self.check_reference(built, found[0])
        return self.conclude(built)

    def proven_dtypes(self):
        """{name: dtype} of the inputs whose dtype the scan has proven."""
        named = {i["name"]: i.get("dtype", "") for i in self.spec["inputs"]}
        found = {k: getattr(torch, v, None) for k, v in named.items()}
        return {k: v for k, v in found.items() if isinstance(v, torch.dtype)}

    def add(self, built, case):
        """All modes of a case; one in which the guard says no is left out,
        for the emitted code runs the original there."""
        comparison = self.comparison
        if self.emulated:
            emulate.afresh(self.spec["operator"])
        for mode in cases.modes_of(case):
            before, rows = built.entered, len(comparison.rows)
            comparison.add(case, mode)
            if built.entered == before and not self.raised(rows):
                del comparison.rows[rows:]

    def raised(self, rows):
        """Whether the fused side failed before it came to its branch."""
        return any(
            r["reason"].startswith("raises") for r in self.comparison.rows[rows:]
        )

    def conclude(self, built):
        comparison = self.comparison
        failure = comparison.first_failure()
        if failure:
            return "fail", failure
        if not built.entered:
            if comparison.unfit and not built.false_terms:
                raise Blocked("the original does not run: " + comparison.unfit[0])
            text = "the fused branch did not run: not true: %s"
            raise Blocked(text % "; ".join(built.false_terms or ["its condition"]))
        if not comparison.rows:
            raise Blocked("nothing could be compared: " + "; ".join(comparison.unfit))
        return "pass", ""

    def check_reference(self, built, case):
        """The largest relative difference, in float64, between the original
        and the rule's own reference; None where they cannot be compared."""
        try:
            r = getattr(self, "rule", None) or rule.load(self.spec["rule_file"])
            values = leaves(case.values, torch.float64, grad=False)
            with Float64(), torch.no_grad():
                truth = self.comparison.original(dict(values))[0]
                errors = []
                for variant in rule.variants(r):
                    given = dict(variant.settings, **values)
                    errors += relative(rule.call(r.reference, given), truth)
            return min(errors) if errors else None
        except Exception:
            return None

    def result(self):
        try:
            status, reason = self.run()
        except Blocked as error:
            status, reason = "blocked", str(error)
        comparison = self.comparison
        return {
            "schema": SCHEMA,
            "status": status,
            "reason": reason,
            "emulated": self.emulated,
            "label": self.label,
            "device": self.device,
            "fp64_reference_error": judge.number(self.reference_error),
            "cases": comparison.rows if comparison else [],
            "environment": environment(),
        }


def relative(a, b):
    """[largest difference over largest value], [] if the shapes differ."""
    if a.shape != b.shape or a.numel() == 0:
        return []
    return [((a - b).abs().max() / b.abs().max().clamp_min(1e-300)).item()]


def environment():
    real = sys.modules.get(emulate.NAME)
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_npu": getattr(real, "__version__", "") or "",
        "cann": getattr(getattr(torch, "version", None), "cann", "") or "",
    }


def write_result(path, result):
    """By a rename: a reader sees the whole file or none."""
    part = path + ".part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def main(words):
    if len(words) != 2:
        sys.stderr.write("usage: python -m npufuse.unit SPEC RESULT\n")
        return 2
    with open(words[0], encoding="utf-8") as file:
        spec = json.load(file)
    if spec.get("schema") != SCHEMA:
        sys.stderr.write("npufuse: '%s': schema %r\n" % (words[0], spec.get("schema")))
        return 2
    torch.set_num_threads(1)
    write_result(words[1], Unit(spec).result())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
