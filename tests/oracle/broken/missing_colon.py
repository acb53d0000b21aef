def first():
    return 1


def second()
    return 2


def third(x):
    if x
        return 1
    return 2


class A
    def lost(self):
        return 1


class B:
    def kept(self):
        for i in range(3)
            print(i)
        return i
