if a: b c
if a: b; c d; e
else: f
while a: if b: c
for a in b: x = ; y
def f(): return return
def g(): x = 1; y z
class A: def h(self): pass
x = 1; y z; w = 2
def i(): return 1
