x, y, width = 1, 2, 3
# A field may go over several lines, with comments, in any f-string.
f"{
    x  # the value
}"
f"{x
   +
   y}"
f"""{
    x
    :>{
        width  # wide
    }}"""
f'''
{x}
  {y!r
  }
'''
f"""a{x}b
c{y:
>10}d"""
f"""{x:
  {width}
}"""
f"{x = }" f"{x=}" f"{x =!r}" f"{ x=:>5}" f"{x+y = :{width}}"
f"{
    x = }"
f"{  # a comment
    x  # another
    = }"
f"{x!r}{
x!s}"
f"a\
b{x}\
c"
f"""\
{x}\
"""
(f"one {x}"
 f" two {y}"
 " three"
 ' four'
 f"")
("" f"{x}" "" f"" "a" "")
("a" "" f"" "b" f"" "")
f"" f""
f'' 'a' f""
'' f'{x}'
f'{x}' ''
f"{x=}" "b" f"{y=}"
"b" f"{x=}"
