#!/usr/bin/env python3
"""Runs the golden cases under tests/cases; README.md has the rules.

    tests/run.py                        every case, with build/dev/npufuse
    tests/run.py -k rms                 those whose name holds 'rms'
    tests/run.py --accept match/rms     write what the command printed
    tests/run.py --bin build/asan/npufuse

A case is a folder with a file `cmd`. Adding a case is adding a folder.
"""
import argparse
import concurrent.futures
import difflib
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
CASES = TESTS / "cases"
BUG = ".bug"  # a case with this suffix must fail
MEMORY_MB = 4000  # a command that takes more ends with `out of memory`


class Outcome:
    """What the lines of `cmd` printed, and their exit codes."""

    def __init__(self):
        self.out = b""
        self.err = b""
        self.exits = []

    def expected_exits(self, case):
        """One code for each line; a single number speaks of the last line."""
        path = case / "expect.exit"
        codes = [int(word) for word in path.read_text().split()] \
            if path.exists() else [0]
        if len(codes) == 1:
            codes = [0] * (len(self.exits) - 1) + codes
        return codes


def case_name(case):
    return case.relative_to(CASES).as_posix()


def find_cases(patterns):
    found = sorted(path.parent for path in CASES.rglob("cmd")
                   if path.is_file() and "in" not in
                   path.relative_to(CASES).parts)
    if not patterns:
        return found
    return [case for case in found
            if any(pattern in case_name(case) for pattern in patterns)]


def environment(case, folder, binary):
    """The same on every machine; a file `env` adds NAME=VALUE lines."""
    env = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "home" / ".cache"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "NPUFUSE": str(binary),
        "NPUFUSE_RULES": str(ROOT / "rules"),
        "SOURCE": str(ROOT),
        # A sanitizer's report must not look like one of our exit codes.
        "ASAN_OPTIONS": f"exitcode=99:hard_rss_limit_mb={MEMORY_MB}",
        "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1",
        "LSAN_OPTIONS": "exitcode=99",
    }
    extra = case / "env"
    if extra.exists():
        for line in extra.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                name, _, value = line.partition("=")
                env[name] = value
    return env


def command_lines(case, binary, wrapper):
    """(argument list, file for standard input or None) for each line."""
    for line in (case / "cmd").read_text().splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        stdin = None
        if len(words) >= 2 and words[-2] == "<":
            stdin = words[-1]
            words = words[:-2]
        # `npufuse` at the start of the line may be written or left out.
        if words and words[0] == "npufuse":
            words = words[1:]
        yield [*wrapper, str(binary), *words], stdin


def prepare(case, work, env):
    """Copies in/ to `work` and runs setup.sh there."""
    if (case / "in").is_dir():
        shutil.copytree(case / "in", work, symlinks=True, dirs_exist_ok=True)
    setup = case / "setup.sh"
    if setup.exists():
        subprocess.run(["bash", "-e", str(setup)], cwd=work, env=env,
                       check=True, stdin=subprocess.DEVNULL)


def execute(case, folder, options):
    work = folder / "work"
    work.mkdir()
    (folder / "home").mkdir()
    env = environment(case, folder, options.bin)
    prepare(case, work, env)
    outcome = Outcome()
    for words, stdin in command_lines(case, options.bin, options.wrapper):
        with open(work / stdin if stdin else os.devnull, "rb") as feed:
            done = subprocess.run(words, cwd=work, env=env, stdin=feed,
                                  capture_output=True,
                                  timeout=options.timeout)
        outcome.out += done.stdout
        outcome.err += done.stderr
        outcome.exits.append(done.returncode)
    here = os.fsencode(str(work))
    outcome.out = outcome.out.replace(here, b"$DIR")
    outcome.err = outcome.err.replace(here, b"$DIR")
    return outcome, work


def diff(label, expected, got):
    lines = difflib.unified_diff(
        expected.decode("utf-8", "backslashreplace").splitlines(),
        got.decode("utf-8", "backslashreplace").splitlines(),
        f"expected {label}", f"got {label}", lineterm="")
    text = list(lines)[:80]
    return text or [f"{label}: differs only in its line ends"]


def compare_stream(case, label, got, default):
    path = case / f"expect.{label}"
    expected = path.read_bytes() if path.exists() else default
    if expected is None or expected == got:
        return []
    return diff(label, expected, got)


def expected_files(case):
    root = case / "expect.files"
    return sorted(path.relative_to(root) for path in root.rglob("*")
                  if path.is_file()) if root.is_dir() else []


def compare_files(case, work):
    problems = []
    for name in expected_files(case):
        got = work / name
        if not got.is_file():
            problems.append(f"file not written: {name}")
            continue
        expected = (case / "expect.files" / name).read_bytes()
        if expected != got.read_bytes():
            problems += diff(str(name), expected, got.read_bytes())
    return problems


def compare(case, outcome, work):
    """Lines that say what differs; none if the case passes."""
    problems = []
    expected = outcome.expected_exits(case)
    if expected != outcome.exits:
        problems.append(f"exit: expected {expected}, got {outcome.exits}")
    problems += compare_stream(case, "out", outcome.out, None)
    problems += compare_stream(case, "err", outcome.err, b"")
    return problems + compare_files(case, work)


def write_or_remove(path, data, keep_empty=False):
    if data or keep_empty:
        path.write_bytes(data)
    elif path.exists():
        path.unlink()


def accept(case, outcome, work):
    """Makes what was printed the expectation. Files are renewed where
    expect.files already names them (an empty file is enough)."""
    out = case / "expect.out"
    write_or_remove(out, outcome.out, keep_empty=out.exists())
    write_or_remove(case / "expect.err", outcome.err)
    codes = outcome.exits
    if not any(codes):
        text = ""
    elif any(codes[:-1]):
        text = " ".join(map(str, codes)) + "\n"
    else:
        text = f"{codes[-1]}\n"
    write_or_remove(case / "expect.exit", text.encode())
    for name in expected_files(case):
        if (work / name).is_file():
            shutil.copyfile(work / name, case / "expect.files" / name)


def run_case(case, options):
    """What went wrong, as lines."""
    with tempfile.TemporaryDirectory(prefix="npufuse-case-") as folder:
        try:
            outcome, work = execute(case, Path(folder).resolve(), options)
        except subprocess.TimeoutExpired:
            return [f"no end after {options.timeout} s"]
        except subprocess.CalledProcessError as error:
            return [f"setup.sh failed with exit code {error.returncode}"]
        except OSError as error:
            return [str(error)]
        if options.accept and not case.name.endswith(BUG):
            accept(case, outcome, work)
        return compare(case, outcome, work)


def judge(case, problems):
    """(passed, lines to print)"""
    name = case_name(case)
    if case.name.endswith(BUG):
        if problems:
            return True, []
        return False, [f"FIXED  {name}: no longer fails, drop the '{BUG}'"]
    if problems:
        return False, [f"FAILED {name}", *("    " + line for line in problems)]
    return True, []


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-k", action="append", default=[], metavar="NAME",
                        help="only cases whose name holds NAME")
    parser.add_argument("--accept", metavar="NAME", action="append",
                        default=[], help="write the expectations of NAME")
    parser.add_argument("--bin", type=Path,
                        default=ROOT / "build" / "dev" / "npufuse")
    parser.add_argument("--wrap", default="", metavar="COMMAND",
                        help="run npufuse under it: --wrap qemu-aarch64,\n"
                        "--wrap 'valgrind -q --error-exitcode=99'")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1,
                        help="cases at the same time")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    options.wrapper = shlex.split(options.wrap)
    return options


def limit_memory(options):
    """For this process and all it starts. A sanitizer reserves far more than
    it uses, and has a limit of its own in environment()."""
    sanitized = b"__asan_init" in options.bin.read_bytes()
    if not sanitized and not options.wrapper:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB * 10**6, hard))


def main():
    options = parse_arguments()
    cases = find_cases(options.k + options.accept)
    if options.list:
        print("\n".join(map(case_name, cases)))
        return 0
    if not options.bin.exists():
        print(f"run.py: no such command: {options.bin} (run `make dev`)",
              file=sys.stderr)
        return 2
    limit_memory(options)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        results = pool.map(lambda case: run_case(case, options), cases)
        for case, problems in zip(cases, results):
            passed, lines = judge(case, problems)
            failed += not passed
            for line in lines:
                print(line)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
