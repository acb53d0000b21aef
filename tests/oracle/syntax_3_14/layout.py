#!/usr/bin/env python3
# -*- coding: utf-8 -*-

if a:
	tab
	if b:
		tabs
if a:
        eight
	# a comment at another indentation
if a: b
elif c: d
elif e:
  f
else: g
if a:
    b
elif c:
    if d: e
    else: f
else:
    if g:
        h
while a: b
else: c
a = (
1,
  2,
# comment
      3
)
a = 1 \
    + 2
if a and \
   b:
    c
x = [  # comment

    1,

]; y = 2
if a:

    b

    # c

c
def f():
    pass
    # trailing

# dedented
    x = 1
class A:
    def f(self):
        return
    # comment
    def g(self): return
  # odd comment
    h = 1
for a in b:
    continue
    break
    pass
if a:
    pass; pass;
global g1, g2
nonlocal n1
import a
import a.b.c
import a as b, c.d as e
import a . b
import a \
    .b
from a import b
from a.b import c as d, e
from a import (b)
from a import (b, c,)
from a import (
    b as c,  # comment
    d,
)
from . import a
from .. import a
from ... import a
from .... import a
from .a import b
from ...a.b import c
from . a . b import c
from a import *
from .import a
assert a
assert a, b
assert (a, b)
raise
raise a
raise a from b
try: a
finally: b
try:
    a
except:
    b
except a: b
else:
    c
finally:
    d
pass
ℌ = ﬁ = µ = 1
变量 = été = _ = __x__ = 1
   # last comment
