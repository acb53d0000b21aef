def f():
    g() = 1
    1 = x
    a + b = c
    x, f() = 1
    (a, b) += 1
    [a]: int
    a, b: int
    None = 1
    a if b else c = 1
    "x" = 1
    f"{x}" = 1
    for g() in x: pass
    for a in b in c: pass
    with a as b(): pass
    del f()
    del a + b
    del *a
    (yield) = 1
    lambda: x = 1
    x = y := 1
    (a.b := 1)
    (*a)
    a = 1 = b
    return a


def g():
    return 1
