#!/usr/bin/env python3
"""Joins the steps of two runs and says whether the loss of one follows the other.

    merge_jsonl.py BASE FUSED [--threshold 0.01] [--min-steps 50]

BASE and FUSED have one JSON object a line: step, loss, step_time. The array of
{step, phase, base_loss, fused_loss, base_time, fused_time} goes to standard
output, max_rel_diff and first_fail_step to standard error. Exit code 0: the loss
follows; 1: it does not; 2: bad input; 3: too few common steps.

`npufuse merge` does the work where it is installed; else it is done here, alike.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys

FLOOR = 1e-3  # below this a relative difference says nothing
WINDOW = 10


class BadInput(Exception):
    pass


def number(value):
    """A finite or infinite float, or None; booleans and texts are no numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)


def read(path):
    """{step: record}; of records of one step the last one counts."""
    steps = {}
    try:
        with open(path, encoding="utf-8-sig") as file:
            for at, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                    step = record["step"]
                except (ValueError, KeyError, TypeError) as error:
                    raise BadInput("'%s':%d: %r" % (path, at, error))
                if isinstance(step, bool) or not isinstance(step, int) or step < 0:
                    raise BadInput("'%s':%d: 'step' is no number from 0 up" % (path, at))
                loss = number(record.get("loss"))
                text = record.get("loss_text")
                if loss is None and isinstance(text, str):
                    loss = float(text) if text in ("nan", "inf", "-inf") else None
                steps[step] = {"loss": loss, "time": number(record.get("step_time")),
                               "phase": record.get("phase")}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("cannot read '%s': %s" % (path, error))
    return steps


def plain(value):
    """What JSON has: NaN and infinities become null."""
    return value if value is not None and math.isfinite(value) else None


def merge(base, fused):
    nothing = {"loss": None, "time": None, "phase": None}
    rows = []
    for step in sorted(set(base) | set(fused)):
        a, b = base.get(step, nothing), fused.get(step, nothing)
        rows.append({"step": step, "phase": a["phase"] or b["phase"],
                     "base_loss": plain(a["loss"]), "fused_loss": plain(b["loss"]),
                     "base_time": plain(a["time"]), "fused_time": plain(b["time"])})
    return rows


def relative(a, b):
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / max(abs(a), FLOOR)


def gate(base, fused, threshold):
    """(common steps, largest difference, first failing step or None, passed)"""
    common, largest, first = [], 0.0, None
    for step in sorted(base):
        a = base[step]["loss"]
        b = fused.get(step, {}).get("loss")
        if a is None:
            continue
        if b is None:
            first = step if first is None else first
            continue
        common.append((a, b))
        difference = relative(a, b)
        largest = max(largest, difference)
        if difference > threshold and first is None:
            first = step
    window = common[-WINDOW:]
    ends = not window or relative(sum(a for a, _ in window) / len(window),
                                  sum(b for _, b in window) / len(window)) <= threshold
    return len(common), largest, first, first is None and ends


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("base")
    parser.add_argument("fused")
    parser.add_argument("--threshold", type=float, default=0.01)
    parser.add_argument("--min-steps", type=int, default=50)
    args = parser.parse_args(argv)
    command = None if os.environ.get("NPUFUSE_SCRIPTS_ALONE") else shutil.which("npufuse")
    if command:
        return subprocess.run([command, "merge", args.base, args.fused,
                               "--threshold", str(args.threshold),
                               "--min-steps", str(args.min_steps)]).returncode
    try:
        base, fused = read(args.base), read(args.fused)
    except BadInput as error:
        print("merge_jsonl: %s" % error, file=sys.stderr)
        return 2
    rows = merge(base, fused)
    print("[" + ",".join("\n  " + json.dumps(row, allow_nan=False) for row in rows)
          + ("\n]" if rows else "]"))
    common, largest, first, passed = gate(base, fused, args.threshold)
    print("max_rel_diff=%.6g first_fail_step=%s"
          % (largest, "none" if first is None else first), file=sys.stderr)
    if not passed:
        return 1
    return 0 if common >= args.min_steps else 3


if __name__ == "__main__":
    sys.exit(main())
