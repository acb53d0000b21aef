#!/usr/bin/env python3
"""Keeps functions and files short: prints the figures and fails above the
limits. What may be longer is listed here, by name and with its reason."""
import sys

from ctext import functions, show, sources

MEDIAN = 12       # lines of a function
P95 = 40
LONGEST = 60
PARAMETERS = 5
FILE_LINES = 800
COLUMNS = 100     # 80 is the aim, and reported

# Flat switches and tables: "file:function": why.
LONG_FUNCTIONS = {
}
MANY_PARAMETERS = {
}
LONG_FILES = {
}


def percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def check_functions(found):
    for function in found:
        key = f"{show(function.path)}:{function.name}"
        where = f"{show(function.path)}:{function.line}: {function.name}"
        if function.length > LONGEST and key not in LONG_FUNCTIONS:
            yield f"{where} has {function.length} lines (limit {LONGEST})"
        if function.parameters > PARAMETERS and key not in MANY_PARAMETERS:
            yield (f"{where} has {function.parameters} parameters "
                   f"(limit {PARAMETERS}): pass a struct")


def check_files(files):
    wide = total = 0
    problems = []
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        total += len(lines)
        wide += sum(len(line) > 80 for line in lines)
        if len(lines) > FILE_LINES and show(path) not in LONG_FILES:
            problems.append(f"{show(path)} has {len(lines)} lines "
                            f"(limit {FILE_LINES})")
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS:
                problems.append(f"{show(path)}:{number}: {len(line)} columns "
                                f"(limit {COLUMNS})")
    print(f"{len(files)} files, {total} lines, "
          f"{100 * wide / max(total, 1):.1f}% over 80 columns")
    return problems


def stale(found, files):
    """Entries of the lists that excuse nothing any more."""
    functions_now = {f"{show(f.path)}:{f.name}": f for f in found}
    for key in LONG_FUNCTIONS:
        function = functions_now.get(key)
        if not function or function.length <= LONGEST:
            yield f"check_size.py: LONG_FUNCTIONS need not list {key}"
    for key in MANY_PARAMETERS:
        function = functions_now.get(key)
        if not function or function.parameters <= PARAMETERS:
            yield f"check_size.py: MANY_PARAMETERS need not list {key}"
    names = {show(path): path for path in files}
    for key in LONG_FILES:
        path = names.get(key)
        if not path or len(path.read_text().splitlines()) <= FILE_LINES:
            yield f"check_size.py: LONG_FILES need not list {key}"


def main():
    files = sources("src")
    found = [function for path in files for function in functions(path)]
    lengths = sorted(function.length for function in found) or [0]
    median, p95 = percentile(lengths, 0.5), percentile(lengths, 0.95)
    over = sum(length > LONGEST for length in lengths)
    print(f"{len(found)} functions: median {median} lines, 95% {p95}, "
          f"longest {lengths[-1]}, {over} over {LONGEST}")
    problems = check_files(files)
    problems += check_functions(found)
    problems += stale(found, files)
    if median > MEDIAN:
        problems.append(f"median function length {median} (limit {MEDIAN})")
    if p95 > P95:
        problems.append(f"95% function length {p95} (limit {P95})")
    for problem in problems:
        print(problem)
    checks = len(found) + len(files) + 2
    failed = len(problems)
    print(f"{max(checks - failed, 0)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
