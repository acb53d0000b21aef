def f():
    x = 'abc
    y = foo("abc, 1)
    return x


def g():
    return f"abc{x


def h():
    return f"abc{x" + 1


def i():
    return 1
