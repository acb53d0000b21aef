# PEP 646
a[*b]
a[*b, c]
a[c, *b]
a[*b, *c]
a[*b,]
a[*b, 1:2]
a[1:2, *b]
a[*b] = 1
del a[*b]
a[*b]: int
a[*b if c else d]
def f(*args: *Ts): pass
def f(*args: *tuple[int, ...], k: int = 1): pass
def f(a, *args: *Ts[0], **kw): ...
class A(Generic[*Ts]): ...
x: tuple[*Ts]
a[b := 1]
a[(b := 1)]
a[b := 1, c := 2]
a[lambda: 1]
a[::]; a[:]; a[1:]; a[:1]; a[::1]; a[1::]; a[:1:]; a[1:2:3]
a[1:2, ::3, ...]
a[()]
a[(1, 2)]
a[1,]
a[not b:c]
a[lambda: b: c]
