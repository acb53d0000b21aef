def f():
    x = 012
    x = 1__0
    x = 1_
    x = 0x
    x = 0b12
    x = 0o8
    x = 1abc
    x = 1.5x
    x = 1e
    x = 0xfg
    return x


def g():
    return 1
