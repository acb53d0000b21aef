def f():
    return 1


def g():
    x = """never closed
    y = 1
    return x


def h():
    return 2
