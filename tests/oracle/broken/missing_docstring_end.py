def f():
    """A docstring whose end is missing.

    x = 1
    return x


def g():
    """Another one."""
    return 2


def h():
    """And a third one,

    of several lines.
    """
    return 3
