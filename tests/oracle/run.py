#!/usr/bin/env python3
"""The oracle tests: our parser against CPython's.

    tests/oracle/run.py             at most two minutes: samples of the corpora
    tests/oracle/run.py --full      every file of every corpus
    tests/oracle/run.py --accept    writes broken/*.expect anew; read the diff
    tests/oracle/run.py FOLDER...   also the .py files there

Two references: the interpreter that runs this script, and CPython 3.14, which
knows all syntax. The latter is the npm package pyodide, run by node; the first
run installs it, by the hashes of package-lock.json, to build/oracle. Without
node and npm the checks that need it are skipped (Debian: nodejs npm).
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import compare
import identifiers
import limits
import mutations
import recovery
import snippets

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "oracle"
PACKAGES = ("torch", "transformers")
# The files of the standard library that exercise the grammar most.
GRAMMAR_TESTS = {f"test_{name}.py" for name in """syntax grammar fstring patma
    unicode_identifiers string_literals named_expressions exceptions unparse
    positional_only_arg keywordonlyarg except_star coroutines unpack_ex eof
    tokenize ast compile generators decorators source_encoding""".split()}


def default_astdump(preset):
    """Beside the command under test, which tests/all.py names."""
    command = Path(os.environ.get("NPUFUSE", ROOT / "build/dev/npufuse"))
    return command.parent.parent / preset / "tests" / "oracle" / "astdump"


def install_pyodide():
    """The folder of the package, or None with a word why."""
    folder = BUILD / "node_modules" / "pyodide"
    stamp = BUILD / "package-lock.json"
    lock = HERE / "package-lock.json"
    if folder.is_dir() and stamp.read_bytes() == lock.read_bytes():
        return folder
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            print(f"{tool} is not here, so CPython 3.14 is not asked "
                  "(Debian: apt-get install nodejs npm)")
            return None
    BUILD.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", BUILD)
    shutil.copy(lock, BUILD)
    done = subprocess.run(["npm", "ci", "--silent", "--prefix", str(BUILD)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        stamp.unlink()
        print("npm cannot install pyodide, so CPython 3.14 is not asked:\n"
              f"  {done.stderr.strip()[:300]}")
        return None
    return folder


class Run:
    """One run of the tests; counts files and snippets."""

    def __init__(self, options, pyodide):
        self.astdump = options.astdump
        self.jobs = options.jobs
        self.full = options.full
        self.paths = options.paths
        self.pyodide = pyodide
        self.passed = self.failed = self.skipped = 0

    def add(self, name, passed, failed):
        self.passed += passed
        self.failed += failed
        print(f"{name}: {passed} passed, {failed} failed", flush=True)

    def sample(self, paths, step):
        return paths if self.full else paths[::step]

    def compare(self, name, paths, pyodide=None):
        """Against one reference. What the older interpreter rejects and we
        accept may be newer syntax: the newer one decides."""
        rows = compare.compare_files(paths, self.astdump, pyodide, self.jobs)
        if not pyodide:
            rows = self.decide_newer(rows)
        compare.report(name, rows)
        good = sum(row[1] in compare.GOOD for row in rows)
        self.passed += good
        self.failed += len(rows) - good

    def decide_newer(self, rows):
        doubtful = [row[0] for row in rows if row[1] == compare.TOO_LENIENT]
        rows = [row for row in rows if row[1] != compare.TOO_LENIENT]
        if not doubtful:
            return rows
        if not self.pyodide:
            print(f"  {len(doubtful)} that this Python rejects may be newer "
                  "syntax: not checked")
            self.skipped += len(doubtful)
            return rows
        return rows + compare.compare_files(doubtful, self.astdump,
                                            self.pyodide, 1)


def check_syntax(run):
    """Our own files, which CPython 3.14 must accept."""
    paths = sorted((HERE / "syntax_3_14").glob("*.py"))
    rows = compare.compare_files(paths, run.astdump, run.pyodide, 1)
    compare.report("syntax_3_14, CPython 3.14", rows)
    equal = sum(row[1] == compare.EQUAL for row in rows)
    run.passed += equal
    run.failed += len(rows) - equal


def check_snippets(run):
    with tempfile.TemporaryDirectory() as folder:
        paths = snippets.write_snippets(folder)
        if run.pyodide:
            run.compare("snippets of CPython's tests, CPython 3.14",
                        run.sample(paths, 2), run.pyodide)
        run.compare("snippets of CPython's tests, this Python", paths)


def check_mutations(run, seed):
    """Damaged programs, against the newest grammar only."""
    texts = snippets.snippets()
    for path in sorted((HERE / "syntax_3_14").glob("*.py")):
        texts.append(path.read_text(encoding="utf-8", errors="replace"))
    count = 100000 if run.full else 10000
    with tempfile.TemporaryDirectory() as folder:
        paths = mutations.write_mutations(folder, texts, count, seed)
        run.compare(f"damaged programs, seed {seed}, CPython 3.14", paths,
                    run.pyodide)


def corpora(run):
    stdlib = compare.stdlib_files()
    tests = [path for path in stdlib if path.name in GRAMMAR_TESTS]
    yield "grammar tests", tests, 1
    yield "standard library", stdlib, 8
    for name in PACKAGES:
        folder = compare.package_folder(name)
        if folder:
            yield name, compare.files_below(folder), 16
        else:
            print(f"{name} is not installed: not compared")
            run.skipped += 1
    for path in run.paths:
        yield path, compare.files_below(path), 16


def check_corpora(run):
    for name, paths, step in corpora(run):
        run.compare(f"{name}, this Python", run.sample(paths, step))
        if run.pyodide:
            run.compare(f"{name}, CPython 3.14", run.sample(paths, step * 3),
                        run.pyodide)


def check_sanitized(run, preset="asan"):
    """The small inputs once more with the sanitizers, where they are built."""
    astdump = default_astdump(preset)
    if not astdump.exists() or astdump == run.astdump:
        return
    run.add(f"limits ({preset})", *limits.check(astdump))
    run.add(f"broken ({preset})",
            *recovery.check(HERE / "broken", astdump, False))
    with tempfile.TemporaryDirectory() as folder:
        paths = snippets.write_snippets(folder)
        paths += sorted((HERE / "syntax_3_14").glob("*.py"))
        plain = list(compare.our_frames(run.astdump, paths, True))
        checked = list(compare.our_frames(astdump, paths, True))
        same = sum(a == b for a, b in zip(plain, checked))
        run.add(f"snippets and syntax_3_14 ({preset}), same trees",
                same, len(paths) - same)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--quick", action="store_true", help="the default")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--astdump", type=Path, default=default_astdump("dev"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not options.astdump.exists():
        sys.exit(f"{options.astdump} is not built: cmake --preset dev, then "
                 "cmake --build --preset dev")
    started = time.monotonic()
    run = Run(options, install_pyodide())
    run.add("broken", *recovery.check(HERE / "broken", run.astdump,
                                      options.accept))
    run.add("characters of names", *identifiers.check(run.astdump))
    run.add("limits", *limits.check(run.astdump))
    if run.pyodide:
        check_syntax(run)
        check_mutations(run, options.seed)
    else:
        run.skipped += 1
    check_snippets(run)
    check_sanitized(run)
    check_corpora(run)
    print(f"{time.monotonic() - started:.0f} s")
    skipped = f", {run.skipped} skipped" if run.skipped else ""
    print(f"{run.passed} passed, {run.failed} failed{skipped}")
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
