#!/usr/bin/env python3
"""Runs every test of npufuse: the table PARTS, top to bottom.

    tests/all.py                  everything (`make test` sets up and runs it)
    tests/all.py cases unit       the parts whose name holds one of the words
    tests/all.py --list

Prints what each part took, and closes with `N passed, N failed`.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PYTHON = sys.executable
MUTATE_SECONDS = 20  # for each fuzz target


class Part:
    """One row of the table.

    `commands(build)` gives the argument lists to run; `build` maps a preset
    to its build folder. `count` says how to read their output. Where the file
    `needs` is absent the part is skipped, and says so."""

    def __init__(self, name, commands, count="closing line", needs=None,
                 limit=900):
        self.name = name
        self.commands = commands
        self.count = count
        self.needs = needs
        self.limit = limit


def script(*words):
    return lambda build: [[PYTHON, *(str(TESTS / words[0]), *words[1:])]]


def build_preset(name):
    return lambda build: [
        ["cmake", "--preset", name, "-B", str(build(name))],
        ["cmake", "--build", str(build(name))]]


def unit(name):
    def commands(build):
        return [[str(build(name) / "tests" / source.stem)]
                for source in sorted((TESTS / "unit").glob("test_*.c"))]
    return commands


def cases(name):
    return lambda build: [[PYTHON, str(TESTS / "run.py"), "--bin",
                           str(build(name) / "npufuse")]]


def fuzz_targets():
    """(name, saved inputs) of each fuzz target."""
    for source in sorted((TESTS / "fuzz").glob("fuzz_*.c")):
        corpus = TESTS / "fuzz" / "corpus" / source.stem[len("fuzz_"):]
        yield source.stem, sorted(str(path) for path in corpus.rglob("*")
                                  if path.is_file())


def oracle(build):
    """run.py or run.sh, whichever is there."""
    found = sorted((TESTS / "oracle").glob("run.*"))
    starter = {".py": PYTHON, ".sh": "bash"}
    return [[starter[path.suffix], str(path)] for path in found[:1]]


def fuzz_replay(build):
    return [[str(build("asan") / "tests" / "fuzz" / name), *inputs]
            for name, inputs in fuzz_targets()]


def fuzz_mutate(build):
    return [[str(build("asan") / "tests" / "fuzz" / f"{name}_mutate"),
             str(MUTATE_SECONDS), *inputs] for name, inputs in fuzz_targets()]


def pytest(*words):
    return lambda build: [[PYTHON, "-m", "pytest", "-q", "-rs", "--no-header",
                           "-p", "no:cacheprovider",
                           *(word if word.startswith("-") else
                             str(TESTS / word) for word in words)]]


PARTS = [
    Part("build dev", build_preset("dev"), "exit"),
    Part("build asan", build_preset("asan"), "exit"),
    Part("layers", script("check_layers.py")),
    Part("headers", script("check_headers.py")),
    Part("sizes", script("check_size.py")),
    Part("banned", script("check_banned.py")),
    Part("unit dev", unit("dev"), "cmocka"),
    Part("unit asan", unit("asan"), "cmocka"),
    Part("cases dev", cases("dev"), needs="src/cli/main.c"),
    Part("cases asan", cases("asan"), needs="src/cli/main.c"),
    Part("corpus", lambda build: [[PYTHON, str(TESTS / "corpus" / "run.py"),
                                   "--bin", str(build("dev") / "npufuse")]]),
    Part("accuracy", lambda build: [[PYTHON, str(TESTS / "accuracy" / "check.py"),
                                     "--bin", str(build("dev") / "npufuse")]]),
    Part("others", lambda build: [[PYTHON, str(TESTS / "accuracy" / "others.py"),
                                   "--bin", str(build("dev") / "npufuse")]]),
    Part("oracle", oracle),
    Part("fuzz replay", fuzz_replay, "replayed"),
    Part("fuzz mutate", fuzz_mutate, "exit"),
    Part("python", pytest("python", "--ignore",
                          "python/test_install.py"), "pytest"),
    Part("docs", script("docs.py")),
    Part("install", pytest("python/test_install.py"), "pytest",
         needs="src/cli/main.c"),
    Part("demo", lambda build: [["bash", str(ROOT / "tools" / "demo.sh")]],
         "exit", needs="src/cli/main.c"),
]


def count_exit(lines, code):
    return (1, 0, 0) if code == 0 else (0, 1, 0)


def count_closing_line(lines, code):
    """`N passed, N failed[, N skipped]`, the last such line."""
    for line in reversed(lines):
        match = re.fullmatch(
            r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", line)
        if match:
            return tuple(int(number or 0) for number in match.groups())
    return 0, 0, 0


def count_cmocka(lines, code):
    text = "\n".join(lines)
    return tuple(
        sum(int(number) for number in re.findall(
            rf"\[  {word}  \] (\d+) test\(s\)", text))
        for word in ("PASSED", "FAILED", "SKIPPED"))


def count_pytest(lines, code):
    counts = {}
    for line in reversed(lines):
        if re.search(r"\bin [\d.]+s\b", line):
            for number, word in re.findall(r"(\d+) (\w+)", line):
                counts[word] = int(number)
            break
    failed = sum(counts.get(word, 0)
                 for word in ("failed", "error", "errors", "xpassed"))
    return (counts.get("passed", 0) + counts.get("xfailed", 0), failed,
            counts.get("skipped", 0))


def count_replayed(lines, code):
    """`N inputs replayed`; an input that fails ends the program."""
    return sum(int(number) for line in lines for number in re.findall(
        r"^(\d+) inputs replayed$", line)), 0, 0


COUNTS = {"exit": count_exit, "closing line": count_closing_line,
          "cmocka": count_cmocka, "pytest": count_pytest,
          "replayed": count_replayed}


def environment(build):
    env = dict(os.environ)
    env.update({
        "PATH": f"{Path(PYTHON).parent}{os.pathsep}{env.get('PATH', '')}",
        "PYTHONPATH": str(ROOT / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NPUFUSE": str(build("dev") / "npufuse"),
        "CMOCKA_MESSAGE_OUTPUT": "STDOUT",
        "ASAN_OPTIONS": "hard_rss_limit_mb=4000",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    })
    return env


def execute(words, env, limit):
    """Runs a command, shows its output as it comes: (lines, exit code)."""
    shown = [Path(word).name if word == PYTHON else
             word.replace(f"{ROOT}/", "") for word in words]
    if len(shown) > 8:
        shown = shown[:7] + [f"... {len(shown) - 7} more"]
    print("$ " + " ".join(map(shlex.quote, shown)), flush=True)
    lines = []
    try:
        child = subprocess.Popen(words, cwd=ROOT, env=env, text=True,
                                 errors="replace", stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT,
                                 start_new_session=True)
    except OSError as error:
        print(f"  {error}")
        return [], 127
    timer = threading.Timer(limit, lambda: os.killpg(child.pid, 9))
    timer.start()
    for line in child.stdout:
        lines.append(line.rstrip("\n"))
        print("  " + lines[-1], flush=True)
    code = child.wait()
    if not timer.is_alive():
        print(f"  stopped after {limit} s")
    timer.cancel()
    return lines, code


def run_part(part, build):
    """(passed, failed, skipped) of a part."""
    if part.needs and not (ROOT / part.needs).exists():
        print(f"skipped: {part.needs} does not exist")
        return 0, 0, 1
    total = (0, 0, 0)
    commands = part.commands(build)
    env = environment(build)
    for words in commands:
        lines, code = execute(words, env, part.limit)
        counts = COUNTS[part.count](lines, code)
        if code != 0 and counts[1] == 0:
            print(f"failed: exit code {code}")
            counts = (counts[0], 1, counts[2])
        elif code == 0 and sum(counts) == 0:
            print("failed: no test ran")
            counts = (0, 1, 0)
        total = tuple(a + b for a, b in zip(total, counts))
    if not commands:
        print("skipped: nothing to run")
        return 0, 0, 1
    return total


def summary(rows):
    print("\n{:<14}{:>8}{:>8}{:>8}{:>9}".format(
        "part", "passed", "failed", "skipped", "seconds"))
    for name, counts, seconds in rows:
        print("{:<14}{:>8}{:>8}{:>8}{:>9.1f}".format(name, *counts, seconds))
    passed, failed, skipped = (sum(row[1][i] for row in rows)
                               for i in range(3))
    print(f"total {sum(row[2] for row in rows):.0f} s\n")
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("words", nargs="*", help="only parts that hold one")
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("--prefix", default="", metavar="TEXT",
                        help="build in build/TEXT<preset>")
    options = parser.parse_args()
    parts = [part for part in PARTS if not options.words or
             any(word in part.name for word in options.words)]
    if options.list:
        print("\n".join(part.name for part in parts))
        return 0
    if not parts:
        parser.error("no part has such a name (see --list)")

    def build(preset):
        return ROOT / "build" / (options.prefix + preset)

    rows = []
    for part in parts:
        print(f"\n== {part.name}", flush=True)
        start = time.monotonic()
        counts = run_part(part, build)
        rows.append((part.name, counts, time.monotonic() - start))
    return summary(rows)


if __name__ == "__main__":
    sys.exit(main())
