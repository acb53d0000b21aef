"""Small programs made by damaging good ones, the same for the same seed.

A piece of one of our syntax files or of CPython's tests has a few of its
tokens dropped, doubled, swapped or replaced by others. One in eight still
parses. What CPython says of each is what we must say."""
import random
import re
from pathlib import Path

TOKEN = re.compile(r"""\s+ | \w+ | "{3} | '{3} | \\. | [-+*/%@&|^<>=!:.]+ | .""",
                   re.VERBOSE | re.DOTALL)
POOL = """( ) [ ] { } , : ; . = := -> ! @ + - * ** / // % & | ^ ~ < > <= == != ... ' " 
    f' f" t' b' r' rf" \\ # \n 0 1 1.5 2j 0x 1_0 x y _ match case type if else elif for in
    while with as def class lambda return yield await async not and or is None True
    del global import from try except finally raise assert pass break += @= **=
    {x} {x!r} {x:>{y}} {x=} {{ }} *args **kw x:=1 x=1 (x) [x] {x:y} x, (x,)""".split(" ")
POOL = [token.strip() or "\n    " for token in POOL if token]


def pieces(texts):
    """Statements and lines of the texts, short enough to be damaged well."""
    found = {}
    for text in texts:
        for block in [text, *re.split(r"\n(?=\S)", text), *text.splitlines()]:
            # A damaged coding cookie says nothing about the grammar.
            if 2 < len(block) < 200 and not re.search("\0|coding", block):
                found[block] = True
    return list(found)


def damage(text, source):
    tokens = TOKEN.findall(text)
    for _ in range(source.randint(1, 3)):
        if not tokens:
            break
        at = source.randrange(len(tokens))
        kind = source.randrange(5)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[source.randrange(len(tokens))])
        elif kind == 2:
            tokens[at] = source.choice(POOL)
        elif kind == 3:
            tokens.insert(at, source.choice(POOL))
        else:
            other = source.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


def write_mutations(folder, texts, count, seed):
    """The paths of `count` programs in `folder`."""
    source = random.Random(seed)
    base = pieces(texts)
    paths = []
    for number in range(count):
        path = Path(folder) / f"mutation_{seed}_{number:05}.py"
        text = damage(source.choice(base), source)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        paths.append(path)
    return paths
