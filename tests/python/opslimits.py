"""Illegal calls of the operators of ops/, and which assert each one meets."""
import ast

from npufuse import emulate


def refused(operator, arguments, keywords=None):
    """The line of limits() that refuses a call, and its sentence."""
    called = getattr(emulate.module(), operator)
    values = called.bind(arguments, keywords or {})
    try:
        called.spec.limits(**values)
    except AssertionError as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        return trace.tb_lineno, str(error)
    raise ValueError("%s: limits() accept the call" % operator)


def never_met(operator, calls):
    """The asserts of limits() that no call of `calls` meets: line, sentence."""
    met = {refused(operator, *call)[0] for call in calls}
    path = emulate.folder("ops") / (operator + ".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (limits,) = [n for n in tree.body if getattr(n, "name", "") == "limits"]
    asserts = [n for n in ast.walk(limits) if isinstance(n, ast.Assert)]
    return [
        (n.lineno, n.msg.value)
        for n in asserts
        if not met & set(range(n.lineno, n.end_lineno + 1))
    ]
