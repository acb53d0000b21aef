def f():
    x = foo(a))
    return x]


def g():
    x = (1, 2]
    return {1, 2)


def h():
    return 1
