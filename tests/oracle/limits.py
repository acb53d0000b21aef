"""Texts made to exhaust a parser: depth, length, and quadratic recovery.

Each must be read within seconds, and what stands behind the trouble must be
seen: every text ends with the assignment of LAST unless it opens something
that only the end of the file can close."""
import subprocess
import tempfile
from pathlib import Path

import compare

LAST = "last = 1\n"
SECONDS = 60  # for all of them, with sanitizers

# name: (text, what astdump says of it)
TEXTS = {
    "nested parentheses": ("x = " + "(" * 20000 + "1" + ")" * 20000, "fault"),
    "open parentheses": ("(" * 20000 + "\ndef f():\n    pass", "fault"),
    "long sum": ("x = " + "a+" * 1990 + "a", "ok"),
    "too long a sum": ("x = " + "a+" * 100000 + "a", "fault"),
    "sums in sums": ("x = " + "(" * 300 + "a" + ("+a" * 3000 + ")") * 300,
                     "fault"),
    "links": ("x = a" + ".b()" * 60000, "fault"),
    "signs": ("x = " + "-" * 100000 + "a", "fault"),
    "nots": ("x = " + "not " * 100000 + "a", "fault"),
    "powers": ("x = " + "a**" * 100000 + "a", "fault"),
    "lambdas": ("x = " + "lambda:" * 100000 + "a", "fault"),
    "conditions": ("x = " + "a if b else " * 100000 + "a", "fault"),
    "comparisons": ("x = " + "a < " * 100000 + "a", "ok"),
    "indentation": ("".join(" " * i + "if x:\n" for i in range(3000)), "fault"),
    "branches": ("if x: pass\n" + "elif x: pass\n" * 100000, "fault"),
    "decorators": ("@a\n" * 100000 + "def f(): pass", "ok"),
    "bad decorators": ("@a b\n" * 100000 + "def f(): pass", "fault"),
    "f-strings in f-strings": ("x = " + 'f"{' * 5000 + "1" + '}"' * 5000,
                               "fault"),
    "open f-strings": ('x = f"{\n' * 20000, "fault"),
    "patterns": ("match x:\n case " + "[" * 20000, "fault"),
    "matches": ("match " * 20000, "fault"),
    "a string of 10 MB": ('x = "' + "a" * 10_000_000 + '"', "ok"),
    "a list of 4 MB": ("x = [" + "1," * 2_000_000 + "]", "ok"),
    "a comment of 5 MB": ("#" * 5_000_000, "ok"),
    "statements on a line": ("a;" * 500000, "ok"),
    "joined lines": ("\\\n" * 300000 + "x", "ok"),
    "strings in a row": ("x = (" + '"a"\n' * 500000 + ")", "ok"),
    "quotes": ("'" * 100001, "fault"),
    "escaped quotes": ("'''\n" + "\\'''\n" * 300000, "fault"),
    "open generators": ("(a\n" + "for x in(a\n" * 50000, "fault"),
    "open conditions": ("if (a\n" * 50000, "fault"),
    "open functions": ("def f(a, b:\n  x = (\n" * 30000, "fault"),
    "elses": ("else\n" * 100000, "fault"),
    "a missing quote": ('def f():\n    """doc\n\n\n'
                        + 'def g():\n    """doc"""\n\n\n' * 20000, "fault"),
}


def problem(name, frame):
    status, _, content = frame
    if status != TEXTS[name][1]:
        return f"{status} instead of {TEXTS[name][1]}"
    if b"id=last Store" not in content:
        return "the end is not seen"
    return None


def check(astdump):
    """(passed, failed) of the texts."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (text, _) in enumerate(TEXTS.values()):
            paths.append(Path(folder) / f"{number}.py")
            paths[-1].write_text(f"{text}\n{LAST}")
        try:
            # Whether it ends at all is asked first, without reading trees.
            subprocess.run([str(astdump), "--quiet"], timeout=SECONDS,
                           input="".join(f"{p}\n" for p in paths), text=True,
                           capture_output=True, check=True)
            frames = list(compare.our_frames(astdump, paths, True))
        except (subprocess.SubprocessError, RuntimeError) as error:
            print(f"  {error}")
            return 0, len(TEXTS)
        for name, frame in zip(TEXTS, frames):
            found = problem(name, frame)
            failed += found is not None
            if found:
                print(f"  {name}: {found}")
    return len(TEXTS) - failed, failed
