#!/usr/bin/env python3
"""The characters of names: prints the tables of src/py/xid.c, or checks them.

Run by CPython 3.14 it prints the ranges of START and FOLLOW. `check` asks
astdump about every character that the running interpreter's Unicode assigns:
may it start a name, may it follow in one?"""
import sys
import tempfile
import unicodedata

import compare

# Given to names by Unicode 15.1, so refused by CPython before 3.13.
ADDED = {"\u200c", "\u200d", "\u30fb", "\uff65"}


def characters():
    for code in range(0x80, sys.maxunicode + 1):
        if not 0xD800 <= code <= 0xDFFF:
            yield chr(code)


def ranges(accepts):
    found = []
    for c in characters():
        if not accepts(c):
            continue
        if found and found[-1][1] == ord(c) - 1:
            found[-1][1] = ord(c)
        else:
            found.append([ord(c), ord(c)])
    return found


def table(found):
    lines, line = [], "   "
    for first, last in found:
        text = f" {{0x{first:X}, 0x{last:X}}},"
        if len(line) + len(text) > 80:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join([*lines, line])


def follows_only(c):
    return ("a" + c).isidentifier() and not c.isidentifier()


def rejected_lines(astdump, texts):
    """The numbers of the texts that are no expression statement."""
    with tempfile.NamedTemporaryFile(suffix=".py") as file:
        file.write("".join(f"{text}\n" for text in texts).encode())
        file.flush()
        frames = compare.our_frames(astdump, [file.name], True)
        content = next(iter(frames))[2].decode()
    faults = content.partition("Module\n")[0]
    return {int(line.split(":")[0]) - 1 for line in faults.splitlines()}


def check(astdump):
    """(passed, failed): one check for first characters, one for others."""
    assigned = [c for c in characters()
                if unicodedata.category(c) != "Cn" and c not in ADDED]
    failed = 0
    for prefix in ("", "a"):
        texts = [prefix + c for c in assigned]
        rejected = rejected_lines(astdump, texts)
        wrong = [f"U+{ord(text[-1]):04X}" for i, text in enumerate(texts)
                 if text.isidentifier() == (i in rejected)]
        if wrong:
            failed += 1
            print("  as names:", " ".join(wrong[:20]), "...")
    return 2 - failed, failed


if __name__ == "__main__":
    print(table(ranges(str.isidentifier)), table(ranges(follows_only)),
          sep="\n\n")
