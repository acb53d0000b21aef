def f(): pass
def f(a): pass
def f(a,): pass
def f(a, b=1): pass
def f(a, /): pass
def f(a, /,): pass
def f(a, /, b): pass
def f(a=1, /, b=2): pass
def f(a, b=1, /, c=2, *, d, e=3): pass
def f(*, a): pass
def f(*, a=1, b, c=2): pass
def f(*a): pass
def f(*a,): pass
def f(*a, b): pass
def f(*a, b=1, **c): pass
def f(**a): pass
def f(**a,): pass
def f(a, *b, c, **d) -> e: pass
def f(a: int, b: str = "x", *c: d, e: f = g, **h: i) -> "j": pass
def f(a: int = 1, /, *, b: (yield_) = 2): pass
def f(a: lambda: 1 = lambda: 2): pass
def f() -> a if b else c: pass
def f(
    a,  # comment
    b=1,
): pass
def f(): return 1; x = 2
def f(): a; b; c;
def f():
    """doc"""
def f():
    a; b;
    c
lambda: 1
lambda a: a
lambda a, b=1: a
lambda a, /, b, *, c=1: a
lambda *a, **b: a
lambda *, a: a
lambda *a,: a
lambda **a,: a
lambda a, /: a
lambda: (yield)
lambda: lambda: 1
lambda a=lambda: 1: a
(lambda: 1)()
lambda a: a if b else c
lambda: a, b
[lambda: 1, lambda: 2]
{lambda: 1: lambda: 2}
f(lambda: 1, a=lambda: 2, *lambda: 3, **lambda: 4)
@a
def f(): pass
@a.b
@a.b()
@a[0]
@(a)
@a if b else c
@lambda f: f
@(yield_ := a)
@b := a
@not a
@a + b
def f(): pass
@a
async def f(): pass
@a

# comment

@b
class C: pass
class C(): pass
class C(A): pass
class C(A, B,): pass
class C(*a, **b): pass
class C(A, metaclass=M, *b, x=1, **c): pass
class C: a = 1; b = 2
class C: a: int; b: str = "x"
class C(a := B): pass
async def f():
    await a
    await a.b(c)
    await a ** b
    -await a
    await a + await b
    (await a).b = 1
    [await a for a in b]
    [a async for a in b]
    [a async for a in b if await a async for c in d if e if f]
    {a async for a in b}
    {a: b async for a in c}
    (a async for a in b)
    f(a async for a in b)
    async for a in b: pass
    async for a, b in c: pass
    else: pass
    async with a: pass
    return await a
    yield a
    await (yield)
