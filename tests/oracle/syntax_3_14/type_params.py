# PEP 695 and 696
type X = int
type Y[T] = list[T]
type Z[T: int, *Ts, **P] = dict[T, P]
type D[T = int, *Ts = *tuple[int, ...], **P = [int, str]] = T
type B[T: (int, str) = int,] = T
type L[T] = lambda a: T
type type = type
type match = case
type = 1
type.x = 1
type[0] = 1
type(1)
type (x)
type: int = 3
type
type; type
print(type, type)


def f[T](a: T) -> T: ...
def g[T: int = int, *Ts = *A, **P = [int]](a: T, *args: *Ts, **kw: P.kwargs) -> T: pass
async def h[T](a: T): await a
class A[T]: ...
class B[T: int, *Ts, **P](Base[T], metaclass=M): pass
class C[T: (int, str)](): pass
class D[T = int](A[T]): x: T
@decorator
class E[*Ts = *tuple[int]]: pass
class F[
    T,
    *Ts,
]:
    def method[U](self, u: U) -> tuple[T, U]:
        type Inner[V] = dict[T, V]
        return Inner
