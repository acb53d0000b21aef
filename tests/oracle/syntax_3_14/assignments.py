a = 1
a = b = c = 1
a, b = 1, 2
a, = 1,
(a, b) = [c, d] = 1, 2
[a, [b, (c, *d)]] = x
*a, = x
*a, b = x
a, *b, c = x
(*a, b), c = x
*a.b, c[0] = x
*(a, b), c = x
() = []
[] = ()
(a) = 1
((a)) = 1
(a.b) = (a[0]) = 1
a.b.c[1:2].d = 1
f().a = f()[0] = 1
"a".b = [1][0] = {1: 2}[1] = 1
(a if b else c).d = 1
(yield_).a = 1
x = *a, b
x = *a,
x = yield_ = 1
a: int
a: int = 1
(a): int
(a): int = 1
a.b: int
a[0]: int = 1
(a.b): int = 1
a: int = *b, c
a: "x" = 1, 2
a: lambda: 1 = 2
a += 1; a -= 1; a *= 1; a /= 1; a //= 1; a %= 1; a **= 1
a @= 1; a &= 1; a |= 1; a ^= 1; a <<= 1; a >>= 1
a.b += 1
a[0] += 1, 2
(a) += 1
a += *b, c
def f():
    a = yield
    a = b = yield c
    a += yield
    a: int = yield
    a = yield from b
    x = await_ = (yield)
    yield a, b
    yield *a, b
    return *a, b
    return
    return ()
(a := 1)
f(a := 1, b=(c := 2))
[a := 1, b := 2]
{a := 1, b}
{(a := 1): (b := 2)}
x = (y := 1), (z := 2)
if a := b: pass
while a := b: pass
[a for a in b if (c := a)]
[c := a for a in b]
del a
del a, b
del a,
del (a), (b)
del (a, b), [c, [d]]
del a.b, a[0], a[1:2]
del ()
del []
del (a)
for a in b: pass
for a, in b: pass
for a, b in c: pass
for (a, b) in c: pass
for [a, b] in c: pass
for *a, b in c: pass
for a.b in c: pass
for a[0], b in c: pass
for (a) in b: pass
for a in *b, c: pass
for a in b, c: pass
for a in b,: pass
for a in (yield_): pass
for a in b: pass
else: pass
for x in lambda: 1, 2: pass
for a in b if c else d: pass
for (a[b in c]) in d: pass
