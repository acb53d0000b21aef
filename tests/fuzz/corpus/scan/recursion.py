import torch

def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)

def odd(x, n):
    y = even(x, n - 1)
    y += odd(y, n)
    return y * torch.sigmoid(y)

class A(B := object):
    f = lambda self, x: self.f(self.f(x))

class C(C):
    def g(self, x):
        x = super().g(x)
        while x.sum() > 0:
            x = x * x * x * x
            for i in range(3):
                x, y = x + i, x
        return x, *[x ** i for i in range(9)]
