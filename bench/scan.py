#!/usr/bin/env python3
"""Measures npufuse against what else reads Python: see README.md here.

    bench/scan.py [--rounds N] [FOLDER]

FOLDER is searched for .py files; without it, transformers of .venv."""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
RELEASE = ROOT / "build" / "release"
WORK = ROOT / "build" / "bench"


class Run:
    """The best of several runs of a command."""

    def __init__(self, words, seconds, cpu, peak, out):
        self.words = words
        self.seconds = seconds  # wall
        self.cpu = cpu          # user and system, all threads
        self.peak = peak        # bytes, resident
        self.out = out


def run_once(words, cwd):
    start = time.monotonic()
    with open(WORK / "out", "w+b") as out:
        child = subprocess.Popen([str(word) for word in words], cwd=cwd,
                                 stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.PIPE)
        error = child.stderr.read().decode("utf-8", "replace")
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            sys.exit(f"scan.py: {shlex.join(map(str, words))}: exit code "
                     f"{child.returncode}\n{error}")
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    return Run(words, seconds, usage.ru_utime + usage.ru_stime,
               usage.ru_maxrss * 1024, text)


def run_best(words, rounds, cwd=ROOT):
    runs = [run_once(words, cwd) for _ in range(rounds)]
    return min(runs, key=lambda run: run.seconds)


def python_files(folder):
    return sorted(path for path in folder.rglob("*.py") if path.is_file())


def find_transformers():
    found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/transformers"))
    if not found:
        sys.exit("scan.py: no transformers in .venv: run tools/setup.sh bench")
    return found[0]


def one_core(words):
    """The command on a single core, where taskset can arrange that."""
    return ["taskset", "-c", "0", *words] if shutil.which("taskset") else words


def print_row(name, megabytes, run, seconds=None):
    """`seconds`: measured by the program itself, without its start."""
    took = run.cpu if seconds is None else seconds
    print(f"{name:<34}{run.seconds:>9.2f}{took:>9.2f}"
          f"{megabytes / max(took, 1e-9):>9.1f}{run.peak / 1e6:>9.1f}",
          flush=True)
    return took


def print_ratio(name, ratio, target, at_least=True):
    good = ratio >= target if at_least else ratio <= target
    sign = ">=" if at_least else "<="
    print(f"{name:<52}{ratio:>9.2f}   {sign} {target:g}: "
          f"{'yes' if good else 'NO'}")
    return good


def measure(folder, rounds):
    files = python_files(folder)
    size = sum(path.stat().st_size for path in files)
    megabytes = size / 1e6
    names = WORK / "files"
    names.write_text("".join(f"{path}\n" for path in files))
    print(f"{len(files)} files, {megabytes:.1f} MB; best of {rounds}\n")
    print(f"{'':<34}{'wall s':>9}{'CPU s':>9}{'MB/s':>9}{'peak MB':>9}")
    runs = {}
    cpu = {}
    bench = RELEASE / "bench" / "parse_bench"
    for name, label in (("read", "read all bytes"),
                        ("parse", "read, lex and parse")):
        runs[name] = run_best([bench, name, names], rounds)
        cpu[name] = print_row(f"{label}, one thread", megabytes, runs[name],
                              float(runs[name].out.split()[0]))
    runs["ast"] = run_best([sys.executable, BENCH / "ast_parse.py", names],
                           min(rounds, 2))
    cpu["ast"] = print_row("CPython ast.parse, one thread", megabytes,
                           runs["ast"], float(runs["ast"].out.split()[0]))
    again = [RELEASE / "npufuse", "scan", ".", "-o", WORK / "fusion_verify"]
    scan = [*again, "--no-cache"]
    rules = BENCH / "ast-grep" / "fusions.yml"
    grep = [Path(sys.executable).parent / "ast-grep", "scan", "--rule", rules,
            "--no-ignore", "hidden", "--no-ignore", "vcs",
            "--json=stream", "."]
    for name, label, words in (
            ("scan", "npufuse scan, every rule", scan),
            ("grep", "ast-grep, two rules", grep),
            ("scan1", "npufuse scan, one core", one_core(scan)),
            ("again", "npufuse scan, nothing changed", again),
            ("grep1", "ast-grep, one core", one_core(grep))):
        runs[name] = run_best(words, rounds, cwd=folder)
        cpu[name] = print_row(label, megabytes, runs[name])
    print()
    for name, run in runs.items():
        print(f"{name:<6}{show(run.words)}")
    print(f"\nast-grep printed {runs['grep'].out.count(chr(10))} matches\n")
    return runs, cpu


def show(words):
    return shlex.join(str(word) for word in words).replace(f"{ROOT}/", "")


def print_ratios(runs, cpu):
    good = [
        print_ratio("ast.parse : lex + parse, CPU time without reading",
                    float(runs["ast"].out.split()[4]) /
                    (cpu["parse"] - cpu["read"]), 25),
        print_ratio("ast-grep : scan, wall time",
                    runs["grep"].seconds / runs["scan"].seconds, 10),
        print_ratio("ast-grep : scan, wall time, both on one core",
                    runs["grep1"].seconds / runs["scan1"].seconds, 10),
        print_ratio("scan : lex + parse, CPU time", cpu["scan"] / cpu["parse"],
                    3, at_least=False),
        print_ratio("one core : two, wall time of scan",
                    runs["scan1"].seconds / runs["scan"].seconds, 1.7),
        print_ratio("scan where nothing changed, s", runs["again"].seconds, 0.3,
                    at_least=False),
        print_ratio("peak memory of scan, MB", runs["scan"].peak / 1e6, 200,
                    at_least=False),
    ]
    return all(good)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("folder", nargs="?", type=Path)
    options = parser.parse_args()
    folder = (options.folder or find_transformers()).resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    runs, cpu = measure(folder, options.rounds)
    return 0 if print_ratios(runs, cpu) else 1


if __name__ == "__main__":
    sys.exit(main())
