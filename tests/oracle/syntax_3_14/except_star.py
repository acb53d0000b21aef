# PEP 654, and PEP 758: several exceptions without parentheses.
try:
    pass
except* ValueError:
    pass
except* (TypeError, KeyError) as group:
    pass
except *OSError: pass
else:
    pass
finally:
    pass
try: pass
except A, B: pass
except C, D, E: pass
except a.b, c(): pass
except (A, B) as e: pass
except (A), B: pass
except: pass
try:
    pass
except A, B:
    pass
finally:
    pass
try:
    x
except* A, B:
    y
except* C:
    z
try: pass
except A if B else C: pass
except lambda: 1: pass
try: pass
except A,: pass
