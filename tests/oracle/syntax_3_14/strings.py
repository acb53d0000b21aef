'a', "a", '''a''', """a""", 'a"b', "a'b", '''a'b''c''', """a"b""c"""
'', "", '''''', """"""
'a' 'b' "c" '''d'''
r'\n', R'\'', r"\"", r'\\', rb'\n', bR'\n', Br'\n', BR'\n', b'a', B"b"
u'a', U'a', u'a' 'b', 'a' u'b', u'''a'''
b'a' b'b' rb'\c'
'\a\b\f\n\r\t\v\\\'\"'
'\0', '\01', '\012', '\0123', '\7', '\18', '\377', '\x41', '\xff', '\xFf'
'\u0041', '\u00e9', '\ud800', '\U0001F600', '\U0010FFFF', '\uD83D\uDE00'
'\N{BULLET}', '\N{LATIN SMALL LETTER A WITH ACUTE}\n\N{DIGIT ONE}'
b'\x00\xff\377\0\N\u\U', b'\'\"\\\a'
'a\
b'
'''a
b
  c'''
"""a\
b"""
b'''a
b'''
'é', "日本語", '😀', 'a\u0301'
'tab	inside', 'nul: \0', '\x7f'
"a" \
"b"
("a"
 "b"  # comment
 'c')
"%s" % "a" "b"
'a' if 'b' else 'c'
r'''\
''', r'\
'
