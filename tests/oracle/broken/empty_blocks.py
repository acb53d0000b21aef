def f():

def g():
    if x:
    return 1


class A:

class B:
    def h(self):
        for i in x:
        while y:
            pass
        else:
    # nothing


def i():
    pass


def j():
