class A:
    def f(self):
            x = 1
            if x:
                y = 2
        z = 3
        w = 4

    def g(self):
        return 1


def h():
        x = 1
    return x


def i():
    return 2
