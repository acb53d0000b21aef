with a: pass
with a as b: pass
with a, b: pass
with a as b, c as d: pass
with (a): pass
with (a,): pass
with (a, b): pass
with (a, b,): pass
with (a as b): pass
with (a as b,): pass
with (a as b, c as d): pass
with (
    a as b,
    c,
    d as (e, f),
    g as [h, *i],
    j as k.l,
    m as n[0],
): pass
with (a) as b: pass
with (a, b) as c: pass
with (a, b) as (c, d): pass
with (a), (b): pass
with (a) as b, (c) as d: pass
with (a).b: pass
with (a)(): pass
with (a) + b: pass
with (a, b)[0]: pass
with (a, b)[0] as c, d: pass
with (a if b else c) as d: pass
with (yield_ := a): pass
with (yield_ := a), b: pass
with (a for a in b): pass
with (a for a in b) as c: pass
with (*a, b): pass
with (lambda: a): pass
with (a, (b, c)): pass
with ((a, b), c as d): pass
with ((a) as b): pass
with ((a)): pass
with (()): pass
with (): pass
with () as a: pass
with [a, b] as c: pass
with open(a) as b, open(c) as d:
    pass
async def f():
    async with a as b, c: pass
    async with (a as b, c): pass
    async with (a, b) as c: pass
    with (await a) as b: pass
    with (yield): pass
    with (yield a) as b: pass
    async with (await a, await b): pass
