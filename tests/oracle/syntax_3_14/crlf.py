def f():
    '''a
    b
    '''
    x = 'a\
b'
    if x: \
        y
    # c

    return (a,
            b)
x = f'''{
a
}
{b = }
{b
=}'''
b'''
'''
r'''\
'''
x = t'{a
+ b}'
