x, y = 1, 2
f"{{" f"}}" f"{{}}" f"{{{x}}}" f"{{{{{x}}}}}" f"a{{b}}c"
f"{{x}}" f"{{ {x} }}" f"{x}}}" f"{{{x}"
f"\{x}" f"\{{x}}" f"\}}"
rf"\{x}" fr"\{{x}}" Rf"\d{x}\s" rF"\\{x}" FR'\''
f"\x7b{x}\x7d" f"\u007b" f"\N{LEFT CURLY BRACKET}{x}"
f"é{x}ü" f"日本{x!r:>{y}}語"
F"{x}" fr"{x}" fR"{x}" Fr"{x}" FR"{x}" rf"{x}" rF"{x}" Rf"{x}" RF"{x}"
u"a" f"{x}" u"b"
f"{x}" u"b"
u"a" "b" f"c"
f"\'{x}\"" f'\"' f"\\{x}\\"
f"{x}\
{y}"
f"{x:}" f"{x!r:}" f"{x:{y}}" f"{x: {y} }" f"{x:{{1}.pop()}}"
# Only a joined line behind the brace: the constant ends with the brace.
f"}}\
"
f"a{{\
"
('a' f"\
")
("" f"\
" 'a')
f"\
{x}\
"
f"{x:\
}"
