def f(x):
    if x:
        def kept_in_if():
            return 1
    elif x y:
        def lost():
            return 2
    elif x:
        def kept_in_elif():
            return 3
    else x:
        def lost_too():
            return 4
    return x


def g():
    try:
        def kept_in_try():
            pass
    except ValueError, as e:
        pass
    except TypeError:
        def kept_in_except():
            pass
    finally
        pass
    return 1


def h():
    try:
        def kept_without_handler():
            pass
    return 1


def i():
    else:
        pass
    except:
        pass
    elif x:
        pass
    return 1


def j():
    try:
        pass
    except A:
        pass
    except* B:
        def kept_in_star():
            pass
    return 1
