a = 1

def f():
    x
    y
      z

b  = 2
class A:
    b = 1
