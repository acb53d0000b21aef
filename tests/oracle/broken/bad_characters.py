def f():
    x = 1 $ 2
    x = a ? b
    x = `a`
    x = “quoted”
    x = a – b
    x = a € b
    x = 1\ 2
    x!
    x = a <> b
    return x


def g():
    return 1
