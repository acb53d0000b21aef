import
import a as
import a.b as c.d
import a b
from import a
from a import
from a import b,
from a import ()
from a import (b
from . import a.b
from a import *, b
from a import (*)
global
global a.b
nonlocal 1
assert
del
return yield
raise a, b
pass 1
type X
type X: int
async x
await = 1
class 1: pass
def 1(): pass
def f:
    pass


def g():
    import a.b.
    from a import b c
    return 1
