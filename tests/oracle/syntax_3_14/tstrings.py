# PEP 750
name, width, x = "n", 10, 1
t""
t"plain"
t"{name}"
t"Hello {name}!"
t"{name!r}" t"{name!s:>{width}}" t"{x:.2f}"
T"{name}" rt"\d{name}" tr"\d{name}" Rt"{x}" tR"{x}" TR"{x}"
t"{name=}" t"{ name = }" t"{x=!r}" t"{x = :>{width}}"
t"{ name }" t"{name }" t"{ x + 1 }"
t"{  # comment
    x
}"
t"{x
+ 1}"
t"""
{x}
  {name}
"""
t"{t"{x}"}" t"{f"{x}"}"
f"{t"{x}"}"
t"{{}}" t"{{{x}}}"
t"{x:{f"{width}"}}"
t"{'a' 'b'}"
t"{x if x else name}" t"{[a for a in name]}" t"{ {1: 2} }"
t"{lambda_}" if (lambda_ := 1) else t"{(lambda: 1)()}"
t"{x, }" t"{*name, x}" t"{(yield_ := 1)}"
t"a" t"b" t"{x}" t"c"
t"" t"{x}" t""
print(t"{x!a}", t"{name:{x}{width}}")
t"{x==1}" t"{x!=1}" t"{x>=1 = }"
