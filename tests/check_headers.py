#!/usr/bin/env python3
"""Every header of src compiles alone, without warnings, and has a guard
named after its file."""
import concurrent.futures
import os
import re
import subprocess
import sys

from ctext import ROOT, show, sources

FLAGS = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wstrict-prototypes",
         "-Werror", "-D_POSIX_C_SOURCE=200809L", "-D_XOPEN_SOURCE=700",
         '-DNPUFUSE_VERSION="0"', "-x", "c", "-"]


def check(path):
    name = path.relative_to(ROOT / "src").as_posix()
    problems = []
    guard = "NPUFUSE_" + re.sub(r"\W", "_", path.name).upper()
    text = path.read_text(encoding="utf-8")
    if f"#ifndef {guard}\n#define {guard}\n" not in text:
        problems.append(f"{show(path)}: its guard should be {guard}")
    # Twice, so that a missing guard shows.
    source = f'#include "{name}"\n#include "{name}"\nint alone;\n'
    done = subprocess.run([os.environ.get("CC", "cc"), f"-I{ROOT / 'src'}",
                           *FLAGS], input=source, text=True,
                          capture_output=True)
    if done.returncode != 0:
        problems.append(f"{show(path)} does not compile alone:\n{done.stderr}")
    return problems


def main():
    headers = sources("src", suffixes=(".h",))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for problems in pool.map(check, headers):
            failed += bool(problems)
            for problem in problems:
                print(problem)
    print(f"{len(headers) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
