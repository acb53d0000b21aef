a or b or c and d and not e
not a or not not b
a < b <= c == d != e > f >= g is h is not i in j not in k
not a in b
a is not b
a not in b
a | b ^ c & d << e >> f + g - h * i / j // k % l @ m
-a ** -b ** c
+a - -b + ~c
a ** b ** c
(a ** b) ** c
(a + b) * c
(a) + (b)
((a) + ((b)))
a if b else c if d else e
(a if b else c) if d else e
a, b
a,
(a, b)
(a,)
()
(a)
((a, b), c)
a, (b, c), [d]
*a, b
*a,
[*a, *b]
{*a, *b}
{**a, 'b': c, **d}
{**a}
{}
{a: b}
{a: b, c: d,}
{a}
{a, b,}
[]
[a]
[a,]
[a, b]
[a for b in c]
[a for b in c for d in e if f if g]
[a for b, c in d]
[a for b, in c]
[a for *b, c in d]
[(a, b) for a in c]
[a for a in b or c]
[a for a in lambda_]
[a for a in b if c or d]
{a for b in c}
{a: b for c in d}
{a: b for c, d in e if f}
(a for b in c)
f(a for b in c)
f((a for b in c))
f((a for b in c), d)
f(a for b in c).d
f(a)(b)[c].d(e=f)(*g)(**h)
f()
f(a,)
f(a, *b, c, *d, e=f, *g, **h, i=j, **k)
f(*a, *b)
f(**a, **b)
f(a=b, *c)
f(*a if b else c, **d or e)
f(a)(b)
f (a) . b [c]
a.b.c
a . b
(a).b
(a)[b]
(a)(b)
1 .real
1.5.real
1..real
"a".b
"a" "b".c
"a" "b"[0]
[a][0]
{a}.b
...
....__class__
None, True, False, Ellipsis, __debug__
a if b else lambda: c
lambda: a if b else c
(yield_)
1if a else 2
[1for a in b]
0x1for x in y
1 if 1else 0
