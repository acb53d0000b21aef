#!/usr/bin/env python3
"""Measures `npufuse steps` against a script of regular expressions.

    bench/steps.py [--rounds N] [--lines N] [NPUFUSE]

Both read the same log, as Megatron-LM writes it; the best of N rounds counts.
"""
import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
WORK = ROOT / "build" / "bench"
TARGET = 10  # times as fast as the script

# What one writes for a single log: a compiled pattern, a line at a time.
SCRIPT = r"""
import json, re, sys
pattern = re.compile(r"iteration\s+(\d+)/.*?elapsed time per iteration \(ms\): "
                     r"([\d.]+).*?lm loss: ([-+.\dE]+)")
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    found = pattern.search(line)
    if found:
        print(json.dumps({"step": int(found[1]), "loss": float(found[3]),
                          "step_time": float(found[2]) / 1000}))
"""

LINE = (" [2026-03-01 10:{:02d}:{:02d}] iteration {:8d}/{:8d} | consumed samples: {:12d} |"
        " elapsed time per iteration (ms): {:.1f} |"
        " throughput per GPU (TFLOP/s/GPU): {:.1f} | learning rate: {:.6E} |"
        " global batch size: {:5d} | lm loss: {:.6E} | loss scale: {:.1f} |"
        " grad norm: {:.3f} | number of skipped iterations: {:3d} |"
        " number of nan iterations: {:3d} |\n")


def write_log(path, lines):
    """About 345 bytes a line."""
    draw = random.Random(1)
    with open(path, "w") as log:
        for step in range(1, lines + 1):
            log.write(LINE.format(
                step // 60 % 60, step % 60, step, lines, step * 1024,
                draw.uniform(900, 1100), draw.uniform(100, 140),
                draw.uniform(1e-6, 1e-4), 1024, draw.uniform(1.5, 12), 1.0,
                draw.uniform(0.1, 3), 0, 0))


def peak_of(pid):
    """Bytes, resident; 0 once the process has ended. (ru_maxrss would count
    what this script had when it started the process.)"""
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def run_once(words, out):
    """(seconds of CPU, peak of memory in bytes)"""
    peak = 0
    with open(out, "wb") as sink:
        child = subprocess.Popen([str(word) for word in words], stdout=sink,
                                 stderr=subprocess.DEVNULL)
        while True:
            peak = max(peak, peak_of(child.pid))
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.02)
    if status:
        sys.exit(f"{words[0]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, peak


def run_best(words, out, rounds):
    runs = [run_once(words, out) for _ in range(rounds)]
    return min(seconds for seconds, _ in runs), max(peak for _, peak in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=480000)
    parser.add_argument("npufuse", nargs="?", type=Path,
                        default=ROOT / "build" / "release" / "npufuse")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    log, ours, theirs = (WORK / name for name in
                         ("megatron.log", "steps.jsonl", "script.jsonl"))
    write_log(log, options.lines)
    size = log.stat().st_size
    fast, peak = run_best([options.npufuse, "steps", log], ours, options.rounds)
    slow, big = run_best([sys.executable, "-c", SCRIPT, log], theirs,
                         max(1, options.rounds // 2))
    print(f"log: {size / 1e6:.0f} MB, {options.lines} steps")
    for name, seconds, memory in (("npufuse steps", fast, peak),
                                  ("Python script", slow, big)):
        print(f"{name}: {seconds:.2f} s, {size / seconds / 1e6:.0f} MB/s,"
              f" peak {memory / 1e6:.1f} MB")
    print(f"ratio: {slow / fast:.1f} (target {TARGET})")
    log.unlink()
    return 0 if slow / fast >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
