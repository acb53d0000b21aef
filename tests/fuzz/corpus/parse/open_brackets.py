(a
for x in(a
for x in(a
if (a
if (a
def f(
