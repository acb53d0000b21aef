match x:
    case 0: pass
    case -1 | 1.5 | -2.5j: pass
    case 1 + 2j | -1 - 2j | 1.0+0j: pass
    case "a" | 'b' "c" | b'd' b"e" | r'f' | u'g': pass
    case None | True | False: pass
    case _: pass
    case a: pass
    case a.b | a.b.c: pass
    case (a): pass
    case (((a))): pass
    case (a, b) | [a, b] | [a, b,] | (a, b,): pass
    case a, b: pass
    case a,: pass
    case *a,: pass
    case *_, a: pass
    case a, *b, c: pass
    case [] | () | [*_] | (*_,) | [a] | (a,): pass
    case [a, [b, [c, *d]]]: pass
    case {}: pass
    case {"a": 1, 'b' 'c': x, -1: y, 1 + 2j: z, None: n, True: t, a.b: v}: pass
    case {**rest}: pass
    case {"a": a, **rest}: pass
    case {"a": a, **rest,}: pass
    case {"a": {"b": [c]},}: pass
    case A(): pass
    case A(1, b): pass
    case A(1, b, c=d, e=_,): pass
    case a.b.C(x=1): pass
    case A(B(c=C(d))): pass
    case A(x) as y: pass
    case (A() | B()) as z: pass
    case A() | B() as z: pass
    case (a as b, c as d): pass
    case [1 as x, *y] as z if x > y: pass
    case {"k": 1 | 2 as v}: pass
    case x if (y := x): pass
    case x if lambda: x: pass
    case match: pass
    case case: pass
    case type: pass
    case match.case: pass
    case str() | int(): pass
match x, y:
    case _: pass
match x,:
    case _: pass
match *x, y:
    case _: pass
match (x):
    case _: pass
match (x, y):
    case _: pass
match [x]:
    case _: pass
match {x: y}:
    case _: pass
match -x:
    case _: pass
match not x:
    case _: pass
match lambda: x:
    case _: pass
match x if y else z:
    case _: pass
match (yield_ := x):
    case _: pass
match x := y:
    case _: pass
match await_:
    case _: pass
match match:
    case case: pass
match ...:
    case _: pass
match "a" f"{b}":
    case _: pass
match x:
    case 1:
        match y:
            case 2:
                z
    case 3:
        w
match = 1
match: int = 1
match.x = match[0] = match()
match * x
match - x
match (x)
match [x]
match, case = case, match
match -x, y
match(x)[0]
match or case
match if match else case
match in case
match not in case
match is not case
print(match, case)
match; case
case = 1
case(1)
_ = case
async def f():
    match await x:
        case y: return await y
