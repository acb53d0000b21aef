#!/usr/bin/env python3
"""Measures `npufuse profile` against wc -l, pandas and msprof-analyze.

    bench/profile.py [--rounds N] [--rows N] [--peers] [NPUFUSE]

All read the same kernel_details.csv, about 300 bytes a row. Wall time, the best of N
rounds, warm page cache; msprof-analyze once.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
WORK = ROOT / "build" / "bench"
PEERS = WORK / "peers" / "bin"
WC_RATIO = 4        # at most so many times wc -l
PANDAS_RATIO = 20   # at least so many times as fast as read_csv
ADVISOR_RATIO = 500
ROW_BYTES = 100     # of memory, at most

sys.path.insert(0, str(ROOT / "tests" / "prof"))

import profgen  # noqa: E402


def write_profile(path, rows):
    """Repeats one generated training, the clock going on."""
    spelling, dialect = profgen.settings(
        ["layers=8", "steps=4", "comm=0.002", "seq=2048", "heads=32", "kv_heads=8",
         "head_dim=128", "inner=11008"])
    text, _ = profgen.generate(spelling, dialect, 1)
    header, *lines = text.splitlines()
    column = header.split(",").index("Start Time(us)")
    # The columns that a whole export has besides.
    header += "," + ",".join(f"aic_total_{n}" for n in range(17))
    lines = [line + ",0.123" * 12 + ",0" * 5 for line in lines]
    parts = []
    for line in lines:
        cells = line.split(",", column + 1)
        start = round(float(cells[column].strip()[-16:]) * 1000)
        parts.append((",".join(cells[:column]), start, cells[column + 1]))
    first = parts[0][1]
    length = parts[-1][1] - first + 10_000_000
    with open(path, "w", buffering=1 << 20) as out:
        out.write(header + "\n")
        for n in range(rows):
            before, start, behind = parts[n % len(parts)]
            ns = profgen.START_NS + n // len(parts) * length + start - first
            out.write(f"{before},{ns // 1000}.{ns % 1000:03d}\t,{behind}\n")


def run(words):
    """(wall seconds, peak bytes)"""
    start = time.perf_counter()
    child = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{words[0]} failed: {status}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def best(words, rounds):
    runs = [run(words) for _ in range(rounds)]
    return min(seconds for seconds, _ in runs), max(peak for _, peak in runs)


def report(name, seconds, ours, target, fine):
    print(f"{name}: {seconds:.3f} s, ratio {seconds / ours:.1f} ({target})"
          f"{'' if fine else '  MISSED'}")
    return fine


def measure_peers(folder, csv, ours):
    script = f"import pandas; pandas.read_csv({str(csv)!r})"
    seconds, _ = best([PEERS / "python", "-c", script], 1)
    fine = report("pandas.read_csv", seconds, ours, f"at least {PANDAS_RATIO}",
                  seconds >= PANDAS_RATIO * ours)
    seconds, _ = best([PEERS / "msprof-analyze", "advisor", "schedule", "-d", folder,
                       "-o", WORK / "advisor"], 1)
    return report("msprof-analyze advisor schedule", seconds, ours,
                  f"at least {ADVISOR_RATIO}", seconds >= ADVISOR_RATIO * ours) and fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("npufuse", nargs="?", type=Path,
                        default=ROOT / "build" / "release" / "npufuse")
    options = parser.parse_args()
    folder = WORK / "host_1_20260101000000000_ascend_pt"
    csv = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    csv.parent.mkdir(parents=True, exist_ok=True)
    write_profile(csv, options.rows)
    print(f"{options.rows} rows, {csv.stat().st_size / 1e6:.0f} MB")
    wc, _ = best(["wc", "-l", csv], options.rounds)
    ours, peak = best([options.npufuse, "profile", csv, "-q"], options.rounds)
    fine = ours <= WC_RATIO * wc and peak <= ROW_BYTES * options.rows + 8e6
    print(f"wc -l: {wc:.3f} s")
    print(f"npufuse profile: {ours:.3f} s, {ours / wc:.1f} times wc (at most {WC_RATIO}), "
          f"{peak / options.rows:.0f} bytes a row{'' if fine else '  MISSED'}")
    if options.peers:
        fine = measure_peers(folder, csv, ours) and fine
    shutil.rmtree(folder)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
