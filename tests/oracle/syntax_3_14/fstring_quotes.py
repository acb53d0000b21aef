# PEP 701: any quotes inside a field, also those of the string around it.
name, names, d, x, y, width = "n", [], {"a": 1}, 1, 2, 3
f'{d['a']}'
f"{d["a"]} and {d['a']}"
f"{f"{f"{1 + 1}"}"}"
f"{f'{f"{f'{x}'}"}'}"
f'{'a' 'b'}' f"{"c"}"
f"""{d["""a"""]} {'''b'''}"""
f'{f'''{"""a"""}'''}'
print(f"{', '.join([f"{n}" for n in names])}")
f"{'\n'.join(names)}"
f"{'\\'} {"\t"} {"\N{BULLET}"}"
f"\N{BULLET} {x} \N{LATIN SMALL LETTER A}"
rf"\N{x}"
f"{lambda_ if (lambda_ := x) else (lambda a: a)(y)}"
f"{(lambda a: a + 1)(x)}"
f"{x!r}{x!s}{x!a}" 'tail'
f"{x != y}" f"{x == y}" f"{x <= y}" f"{x >= y}"
f"{(x:=5)}" f"{x:=5}" f"{x:==5}"
f"{ {1: 2}[1] }" f"{ {1, 2} }" f"{ {a for a in names} }"
f"{[a for a in names if a]}"
f"{x if y else width}" f"{not x}" f"{x,}" f"{x, y}" f"{*names, x}"
f"{yield_}" if (yield_ := x) else f""
f"{x:{width}}" f"{x:{width}.{y}}" f"{x:>{width}{y}}" f"{x!r:^{width}.{y}}"
f"{x:{'>'}{width}}" f"{x:{f"{width}"}}" f'{x:{'a'}}'
f"{x:a{{y}}}" f"{x:%H:%M:%S}" f"{x:\n}" f"{x:\x41}" f"{x:{width:{y}}}"
