def f():
    f(a=1, b)
    f(**a, *b)
    f(**a, b)
    f(a for a in b, c)
    f(c, a for a in b)
    f(a.b=1)
    f((a)=1)
    f(True=1)
    f(a b)
    f(a,, b)
    f(*)
    f(a=)
    f(x for x in y, )
    return 1


class A(x for x in y):
    pass


def g(a, a=1, b): pass
def h(*): pass
def h(*, **k): pass
def h(a, /, b, /): pass
def h(/, a): pass
def h(**k, a): pass
def h(*a, *b): pass
def h(*a=1): pass
def h(a b): pass
def h((a, b)): pass
def i():
    lambda *: 1
    lambda a=1, b: 1
    lambda (a): 1
    return 2
