#!/usr/bin/env python3
"""Lines and branches of src that the unit tests, cases and saved fuzz inputs
reach: builds the preset `cov`, runs them, and reads gcov.

    tests/coverage.py [--floor PERCENT] [--missed FILE]
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
COV = ROOT / "build" / "cov"


def run(*words, check=True):
    return subprocess.run([str(word) for word in words], cwd=ROOT, check=check,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def execute_tests():
    run("cmake", "--preset", "cov")
    run("cmake", "--build", "--preset", "cov")
    for old in COV.rglob("*.gcda"):
        old.unlink()
    programs = [COV / "tests" / source.stem
                for source in sorted((TESTS / "unit").glob("test_*.c"))]
    for program in programs:
        run(program, check=False)
    for source in sorted((TESTS / "fuzz").glob("fuzz_*.c")):
        corpus = TESTS / "fuzz" / "corpus" / source.stem[len("fuzz_"):]
        run(COV / "tests" / "fuzz" / source.stem, *sorted(corpus.rglob("*")),
            check=False)
    if (COV / "npufuse").exists():
        run(sys.executable, TESTS / "run.py", "--bin", COV / "npufuse",
            check=False)


def read_gcov():
    """{file: {line: count}}, {file: [branch counts]}"""
    lines, branches = {}, {}
    data = sorted(COV.rglob("*.gcda"))
    if not data:
        sys.exit("coverage.py: nothing ran")
    done = subprocess.run(["gcov", "--json-format", "--stdout", "-b",
                           *map(str, data)], cwd=COV, check=True,
                          capture_output=True, text=True)
    for text in done.stdout.splitlines():
        for file in json.loads(text)["files"]:
            path = Path(os.path.normpath(COV / file["file"]))
            if (ROOT / "src") not in path.parents:
                continue
            name = path.relative_to(ROOT).as_posix()
            counts = lines.setdefault(name, {})
            taken = branches.setdefault(name, {})
            for line in file["lines"]:
                number = line["line_number"]
                counts[number] = counts.get(number, 0) + line["count"]
                for i, branch in enumerate(line["branches"]):
                    key = number, i
                    taken[key] = taken.get(key, 0) + branch["count"]
    return lines, branches


def percent(counts):
    return 100 * sum(n > 0 for n in counts.values()) / max(len(counts), 1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--floor", type=float, default=0)
    parser.add_argument("--missed", metavar="FILE",
                        help="list the lines of this file that never ran")
    options = parser.parse_args()
    execute_tests()
    lines, branches = read_gcov()
    if options.missed:
        source = (ROOT / options.missed).read_text().splitlines()
        for number, count in sorted(lines.get(options.missed, {}).items()):
            if count == 0:
                print(f"{options.missed}:{number}: {source[number - 1]}")
        return 0
    print(f"{'':<34}{'lines':>8}{'branches':>10}")
    for name in sorted(lines):
        print(f"{name:<34}{percent(lines[name]):>7.1f}%"
              f"{percent(branches[name]):>9.1f}%")
    every = {(name, n): count for name, counts in lines.items()
             for n, count in counts.items()}
    total = percent(every)
    print(f"{'all':<34}{total:>7.1f}%")
    return 1 if total < options.floor else 0


if __name__ == "__main__":
    sys.exit(main())
