"""Broken files: which faults are reported, and what is still seen of them.

broken/NAME.py has its golden text in broken/NAME.expect: the faults, the lines
that were given up, and the functions and classes that the tree still holds."""
import re

import compare

HEAD = re.compile(r"(?:\((\d+)\) )?(?:\w+ )?(\w+) (\d+):\d+-(\d+):\d+(.*)")
DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")


def parse_line(line):
    """(depth, kind, first line, last line, the rest), or None."""
    text = line.lstrip(" ")
    match = HEAD.match(text)
    if not match:
        return None
    depth = int(match[1]) if match[1] else (len(line) - len(text)) // 2
    return depth, match[2], int(match[3]), int(match[4]), match[5]


def summary(content):
    """The golden text of one frame of astdump."""
    faults, _, tree = content.decode("utf-8", "replace").partition("Module\n")
    broken, names, scopes = [], [], []
    for row in filter(None, map(parse_line, tree.splitlines())):
        depth, kind, first, last, rest = row
        while scopes and scopes[-1][0] >= depth:
            scopes.pop()
        if kind == "Broken":
            broken.append(f"{first}-{last}" if last > first else f"{first}")
        if kind in DEFINITIONS:
            name = rest.split("name=")[1]
            scopes.append((depth, name))
            names.append(".".join(scope[1] for scope in scopes))
    return (f"{faults}broken lines: {', '.join(broken) or 'none'}\n"
            f"seen: {', '.join(names) or 'nothing'}\n")


def check(folder, astdump, accept):
    """(passed, failed) of the folder's files; writes the texts if `accept`."""
    passed = failed = 0
    paths = sorted(folder.glob("*.py"))
    for status, path, content in compare.our_frames(astdump, paths, True):
        expect = folder / path.rpartition("/")[2].replace(".py", ".expect")
        got = summary(content) if status != "error" else content.decode()
        if accept:
            expect.write_text(got, encoding="utf-8")
        want = expect.read_text(encoding="utf-8") if expect.exists() else ""
        if got == want and status != "ok":
            passed += 1
            continue
        failed += 1
        print(f"  {path}: got\n{got}  instead of\n{want}")
    return passed, failed
