def f():
    return 1


<<<<<<< HEAD
def g():
    return 1
=======
def g():
    return 2
>>>>>>> branch


def h():
    return 3
