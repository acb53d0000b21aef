def f():
    x = 1
	y = 2
    return x


def g():
	return 1


def h():
        if x:
	y = 1
        return 2


def i():
    return 3
