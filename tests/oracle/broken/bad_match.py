def f(x):
    match x:
        case 1:
            def kept_in_case():
                pass
        case a + b:
            pass
        case 2
            pass
        x = 1
        case 3:
            def kept_in_third():
                pass
    match x:
        y = 1
    match x
        case 1: pass
    match x:
        case *a: pass
        case (*a): pass
        case A(b=1, c): pass
        case {**a, "b": 1}: pass
        case {a: 1}: pass
        case a | 1 as _: pass
        case 1 + 2: pass
        case -a: pass
        case f(): pass
    return 1


def g():
    return 1
