def f():
    x = foo(a, b
    return x


def g():
    y = [1, 2
    z = 3
    return y


x = {1: 2

def h(a, b:
    return 1


def i():
    return (1


class A:
    def j(self):
        return foo(
            a, [b


    def k(self):
        pass


def l():
    x = foo(a,
    y = 3
    z = 4
    self.w = [
    v = 5
    return v
