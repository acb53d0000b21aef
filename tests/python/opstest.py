"""What the tests of ops/ share."""
import ast

from npufuse import emulate


def untested(operator, messages):
    """The sentences of the operator's limits() that no message is part of."""
    path = emulate.folder("ops") / (operator + ".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (limits,) = [n for n in tree.body if getattr(n, "name", "") == "limits"]
    said = [n.msg.value for n in ast.walk(limits) if isinstance(n, ast.Assert)]
    return [text for text in said if not any(m in text for m in messages)]
