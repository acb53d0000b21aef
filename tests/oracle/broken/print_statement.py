def f():
    print "hello"
    x = 1
    print "a", x
    return x


def g(): print "x"


class A:
    print "in a class"

    def h(self):
        exec "code" in {}
        raise ValueError, "text"
