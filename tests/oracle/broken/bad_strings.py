def f():
    x = '\x1'
    x = '\u12'
    x = '\U00110000'
    x = '\N{'
    x = '\N'
    x = b'é'
    x = 'a' b'b'
    x = t'a' 'b'
    x = bu'a'
    x = ub'a'
    x = ff'a'
    x = ft'a'
    return x


def g():
    x = f'{'
    x = f'}'
    x = f'{}'
    x = f'{ }'
    x = f'{!r}'
    x = f'{x!}'
    x = f'{x!z}'
    x = f'{x! r}'
    x = f'{x!r:'
    x = f'{x:{y}'
    x = f'{x y}'
    x = f'{lambda x: 1}'
    x = f'{x:
}'
    x = f'{a[}'
    x = f'{a)}'
    x = f'{#}'
    return x


def h():
    return 1
