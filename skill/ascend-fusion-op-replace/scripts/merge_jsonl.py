#!/usr/bin/env python3
"""Joins the steps of two runs and says whether the loss of one follows the other.

    merge_jsonl.py BASE FUSED [--threshold 0.01] [--min-steps 50]

BASE and FUSED are JSON lines {"step", "loss", "step_time", "phase"}. The joined
array goes to standard output: step, phase, base_loss, fused_loss, base_time,
fused_time; what is missing or not finite is null. The largest relative
difference and the first failing step go to standard error.

Exit code: 0 the loss follows; 1 it does not (a step beyond the threshold, not
finite, or missing); 2 wrong usage or input; 3 too few common steps to say.

With npufuse on the PATH (or named by NPUFUSE) this is `npufuse merge`; without
it the same join and the same gate are made here. Needs Python 3.8 alone.
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
ROUNDED_MIN = 20  # different losses that show how many digits a log prints
PHASE_MAX = 12
LONGEST_INT = 2 ** 63
NOTHING = {"loss": None, "time": None, "phase": ""}


class InputError(Exception):
    pass


# ---- reading ------------------------------------------------------------------


def number_or_none(value):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None


def read_loss(row):
    """The loss as a float, NaN and infinities included; None where there is none."""
    loss = number_or_none(row.get("loss"))
    if loss is not None:
        return loss
    for text in (row.get("loss"), row.get("loss_text")):
        if isinstance(text, str) and text:
            try:
                return float(text)
            except ValueError:
                return None
    return None


def read_row(text):
    row = json.loads(text)
    if not isinstance(row, dict):
        raise ValueError("no object")
    step = row.get("step")
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step < LONGEST_INT:
        raise ValueError("'step' is no number from 0 up")
    phase = row.get("phase")
    if not isinstance(phase, str) or len(phase.encode("utf-8", "replace")) >= PHASE_MAX:
        phase = ""
    return step, {"loss": read_loss(row), "time": number_or_none(row.get("step_time")),
                  "phase": phase}


def read_steps(path):
    """{step: row}; of rows of one step the last counts, and keeps what it lacks."""
    steps = {}
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="\n") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise InputError("cannot read '%s': %s" % (path, error.strerror))
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r ")
        if not line:
            continue
        try:
            step, row = read_row(line)
        except (ValueError, RecursionError) as error:
            raise InputError("'%s':%d: %s" % (path, number, error))
        before = steps.get(step, row)
        for name in ("loss", "time"):
            if row[name] is None:
                row[name] = before[name]
        steps[step] = row
    return steps


# ---- what a file resolves -------------------------------------------------------


def last_digit(number):
    """What the last digit is worth in the shortest text that gives `number`."""
    for decimals in range(15):
        digits = round(abs(number) * 10.0 ** decimals)
        if digits >= 1e15:
            break
        if digits / 10.0 ** decimals == abs(number):
            return 1 / 10.0 ** decimals
    return 0.0


class Resolution:
    """What the losses of a run tell apart. A log prints a number of digits; a loss
    alone may end in zeros that are not there, so all of them are asked."""

    def __init__(self, steps):
        losses = [row["loss"] for row in steps.values() if is_finite(row["loss"])]
        self.is_known = len(set(losses)) >= ROUNDED_MIN
        self.finest = self.grain = 0.0
        if self.is_known:
            self.finest = min(map(last_digit, losses))
            self.grain = min([last_digit(x) / abs(x) for x in losses if x], default=math.inf)

    def of(self, loss):
        if not self.is_known:
            return 0.0
        return min(last_digit(loss), max(self.finest, self.grain * abs(loss)))


# ---- the gate -----------------------------------------------------------------


def is_finite(value):
    return value is not None and math.isfinite(value)


def rel_diff(base, other):
    if not (math.isfinite(base) and math.isfinite(other)):
        return math.inf
    return abs(base - other) / max(abs(base), FLOOR)


def window_diff(common):
    """Of the means of the last common steps."""
    last = common[-WINDOW:]
    if not last:
        return math.inf
    # Summed from the end, as npufuse does, so that both round alike.
    sums = [0.0, 0.0]
    for _, base, other in reversed(last):
        sums[0] += base
        sums[1] += other
    return rel_diff(sums[0] / len(last), sums[1] / len(last))


class Gate:
    """Of two runs: verdict ("pass", "fail" or "short"), largest difference, first
    failing step (None: there is none; 0 is one), and a sentence."""

    def __init__(self, base, fused, threshold, min_steps):
        self.base, self.fused, self.threshold = base, fused, threshold
        self.resolutions = Resolution(base), Resolution(fused)
        self.common, self.first = [], None
        self.coarsest = threshold
        for step in sorted(base):
            if base[step]["loss"] is not None:
                self.add(step, base[step]["loss"], fused.get(step, NOTHING)["loss"])
        self.largest = max([0.0] + [rel_diff(a, b) for _, a, b in self.common])
        self.judge(min_steps)

    def limit(self, loss, other):
        """The threshold, or what the logs can tell apart."""
        digit = max(self.resolutions[0].of(loss), self.resolutions[1].of(other))
        digit *= 1 + 1e-9  # 2.8 - 2.7 is a little more than 0.1
        return max(self.threshold, digit / max(abs(loss), FLOOR))

    def add(self, step, loss, other):
        fails = True
        if other is not None:
            self.common.append((step, loss, other))
            if math.isfinite(loss) and math.isfinite(other):
                limit = self.limit(loss, other)
                self.coarsest = max(self.coarsest, limit)
                fails = rel_diff(loss, other) > limit
        if fails and self.first is None:
            self.first = step

    def judge(self, min_steps):
        count, window = len(self.common), window_diff(self.common)
        if self.first is not None or (self.common and not window <= self.coarsest):
            self.verdict = "fail"
            self.sentence = say_fail(self, window)
        elif count < min_steps:
            self.verdict = "short"
            self.sentence = "%d common steps with a loss, %d are needed" % (count, min_steps)
        else:
            self.verdict = "pass"
            coarse = "; that is the last digit that the log prints"
            self.sentence = "the loss follows over %d steps, at most %.3g apart (limit %g%s)" % (
                count, self.largest, self.threshold,
                coarse if self.largest > self.threshold else "")


def say_fail(gate, window):
    step, limit = gate.first, gate.threshold
    if step is None:
        return "the mean of the last %d losses differs by %.3g, more than %g" % (
            WINDOW, window, limit)
    loss, other = gate.base[step]["loss"], gate.fused.get(step, NOTHING)["loss"]
    if other is None:
        return "no loss at step %d" % step
    if not (math.isfinite(loss) and math.isfinite(other)):
        return "the loss is %g at step %d (unchanged: %g)" % (other, step, loss)
    return ("the loss differs by %.3g at step %d (%.7g, unchanged %.7g), more than %g; "
            "at most by %.3g" % (rel_diff(loss, other), step, other, loss, limit, gate.largest))


# ---- writing ------------------------------------------------------------------


def number_text(value):
    """The shortest form that reads back as the same number; null if there is none."""
    if not is_finite(value):
        return "null"
    for digits in range(6, 18):
        text = "%.*g" % (digits, value)
        if float(text) == value:
            break
    return text


def phase_text(phase):
    text = json.dumps(phase, ensure_ascii=False) if phase else "null"
    return text.replace("<", "\\u003c")


def metrics_text(base, fused):
    rows = []
    for step in sorted(set(base) | set(fused)):
        a, b = base.get(step, NOTHING), fused.get(step, NOTHING)
        phase = (a if step in base else b)["phase"]
        rows.append('  {"step": %d, "phase": %s, "base_loss": %s, "fused_loss": %s, '
                    '"base_time": %s, "fused_time": %s}' % (
                        step, phase_text(phase), number_text(a["loss"]), number_text(b["loss"]),
                        number_text(a["time"]), number_text(b["time"])))
    return "[\n%s\n]\n" % ",\n".join(rows) if rows else "[]\n"


# ---- the command --------------------------------------------------------------


def find_npufuse():
    """The command, if it is there and knows `merge`; else None."""
    path = os.environ.get("NPUFUSE") or shutil.which("npufuse")
    if not path:
        return None
    try:
        asked = subprocess.run([path, "merge", "--help"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return path if asked.returncode == 0 else None


def merge_here(options):
    try:
        base, fused = read_steps(options.base), read_steps(options.fused)
    except InputError as error:
        print("merge_jsonl: %s" % error, file=sys.stderr)
        return 2
    sys.stdout.write(metrics_text(base, fused))
    gate = Gate(base, fused, options.threshold, options.min_steps)
    print("max_rel_diff=%.6g first_fail_step=%s" % (
        gate.largest, "none" if gate.first is None else gate.first), file=sys.stderr)
    print(gate.sentence, file=sys.stderr)
    return {"pass": 0, "fail": 1, "short": 3}[gate.verdict]


def threshold_of(text):
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError
    return value


def steps_of(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("fused", metavar="FUSED")
    parser.add_argument("--threshold", type=threshold_of, default=0.01, metavar="X",
                        help="how much the loss of a step may differ, relatively (0.01)")
    parser.add_argument("--min-steps", type=steps_of, default=50, metavar="N",
                        help="common steps that are needed (50)")
    parser.add_argument("--no-npufuse", action="store_true",
                        help="do not look for the command npufuse")
    options = parser.parse_args()
    command = None if options.no_npufuse else find_npufuse()
    if command is None:
        return merge_here(options)
    return subprocess.run([command, "merge", "--threshold", repr(options.threshold),
                           "--min-steps", str(options.min_steps), "--",
                           options.base, options.fused]).returncode


if __name__ == "__main__":
    sys.exit(main())
