@decorator(a, b
def f():
    return 1


@a b
def g():
    return 2


@a
x = 1


@a
@b
def h(:
    return 3


def i():
    return 4
