x = [a
for b in c:
    d
def f():
    return (
if a:
    def g():
        pass
