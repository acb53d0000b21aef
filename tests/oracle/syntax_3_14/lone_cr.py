def f():    '''a    b'''    x = 1 # c    return xy = 2
z = 3
w = 'a\b'