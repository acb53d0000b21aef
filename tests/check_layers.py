#!/usr/bin/env python3
"""Includes point downwards only, as src/LAYERS says.

Also: every local include spells its folder, a .c file includes base/base.h
first, and no folder of src is missing from the table."""
import re
import sys

from ctext import ROOT, show, sources, strip

SRC = ROOT / "src"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"]', re.M)


def read_layers():
    """{folder: folders it may include}"""
    table = {}
    for line in (SRC / "LAYERS").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, _, below = line.partition(":")
            table[folder] = {folder, *below.split()}
    return table


def check_table(table):
    for folder, below in table.items():
        for name in sorted(below - set(table)):
            yield f"src/LAYERS: '{folder}' names an unknown folder '{name}'"
    for path in sorted(SRC.iterdir()):
        if path.is_dir() and path.name not in table:
            yield f"src/LAYERS: no line for the folder '{path.name}'"


def check_file(path, table):
    allowed = table.get(path.relative_to(SRC).parts[0], set())
    text = path.read_text(encoding="utf-8")
    code = strip(text)  # to leave out includes inside comments
    local = []
    for match in INCLUDE.finditer(text):
        if code[match.start():match.end()].strip() == "":
            continue
        line = text.count("\n", 0, match.start()) + 1
        name = match.group(2)
        if match.group(1) == "<":
            continue
        local.append(name)
        folder = name.split("/")[0]
        if "/" not in name:
            yield f'{show(path)}:{line}: write the folder: "{name}"'
        elif not (SRC / name).exists():
            yield f'{show(path)}:{line}: no such file in src: "{name}"'
        elif folder not in allowed:
            yield (f'{show(path)}:{line}: {path.parent.name} must not '
                   f'include {folder}: "{name}"')
    if path.suffix == ".c" and local[:1] != ["base/base.h"]:
        yield f'{show(path)}: its first include must be "base/base.h"'


def main():
    table = read_layers()
    problems = list(check_table(table))
    files = sources("src")
    bad = set()
    for path in files:
        for problem in check_file(path, table):
            problems.append(problem)
            bad.add(path)
    for problem in problems:
        print(problem)
    if problems and not bad:
        print("0 passed, 1 failed")
        return 1
    print(f"{len(files) - len(bad)} passed, {len(bad)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
