#!/usr/bin/env python3
"""Scans the files of this folder and compares each finding with their comments.

    tests/corpus/run.py                      with build/dev/npufuse
    tests/corpus/run.py --bin build/x/npufuse
    tests/corpus/run.py adversarial          one folder

A line ends in one of these comments, or in several of the first two:

    # expect: FAMILY VERDICT[|VERDICT ...]   such a finding covers the line
    # allow: FAMILY VERDICT[|VERDICT ...]    such a finding may cover it
    # clean: WHY                             no finding but a reject does

Every finding that is no reject must cover an `expect` or `allow` line of its
family that names its verdict; a line without a comment is clean.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPECT = re.compile(r"#\s*(expect|allow):\s*(\w+)\s+([\w|]+)(?=\s*(?:#|$))")
CLEAN = re.compile(r"#\s*clean:\s*(.+)$")


class Line:
    """One comment."""

    def __init__(self, path, number, family=None, verdicts=()):
        self.path = path
        self.number = number
        self.family = family  # None: clean
        self.verdicts = verdicts
        self.required = False
        self.fault = ""

    def covers(self, finding):
        return (finding["file"] == self.path and
                finding["start_line"] <= self.number <= finding["end_line"])

    def allows(self, finding):
        return (self.family == finding["family"] and
                finding["verdict"] in self.verdicts)


def read_lines(folders):
    lines = []
    for path in sorted(p for folder in folders for p in folder.rglob("*.py")):
        shown = path.relative_to(HERE).as_posix()
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            expected = EXPECT.findall(line)
            for kind, family, verdicts in expected:
                comment = Line(shown, number, family, verdicts.split("|"))
                comment.required = kind == "expect"
                lines.append(comment)
            if not expected and CLEAN.search(line):
                lines.append(Line(shown, number))
    return lines


def scan(binary):
    """Every finding of one scan of the whole folder."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [str(binary), "scan", ".", "-o", out, "-q"], cwd=HERE,
            capture_output=True, text=True, check=False)
        found = Path(out) / "findings.json"
        if not found.exists():
            sys.exit(f"no findings: {done.stderr.strip()}")
        return json.loads(found.read_text(encoding="utf-8"))["findings"]


def reason(finding):
    return finding["reasons"][0] if finding["reasons"] else ""


def compare(lines, findings):
    """Notes the fault of each line; returns the alarms that no line explains."""
    stray = []
    for line in lines:
        covering = [f for f in findings if line.covers(f)]
        if line.required and not any(line.allows(f) for f in covering):
            got = ", ".join(f"{f['family']} {f['verdict']} ({reason(f)})"
                            for f in covering) or "nothing"
            line.fault = f"expected {line.family} {'|'.join(line.verdicts)}, got {got}"
    for finding in findings:
        if finding["verdict"] == "reject":
            continue
        covered = [line for line in lines if line.covers(finding)]
        if any(line.allows(finding) for line in covered):
            continue
        text = f"false alarm: {finding['family']} {finding['verdict']} ({reason(finding)})"
        clean = [line for line in covered if not line.family]
        for line in clean:
            line.fault = text
        if not clean:
            stray.append((finding, text))
    return stray


def show_rules(lines, findings, stray):
    """Per family: lines that were met and missed, and false alarms."""
    families = sorted({line.family for line in lines if line.family} |
                      {f["family"] for f in findings})
    for family in families:
        own = [line for line in lines if line.family == family and line.required]
        missed = sum(1 for line in own if line.fault)
        false = sum(1 for line in lines
                    if line.fault.startswith(f"false alarm: {family} "))
        false += sum(1 for finding, _ in stray if finding["family"] == family)
        print(f"{family:12} {len(own) - missed} hits, {missed} misses, "
              f"{false} false alarms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", default=ROOT / "build" / "dev" / "npufuse")
    parser.add_argument("folders", nargs="*", default=["adversarial", "reports", "styles"])
    args = parser.parse_args()
    folders = [HERE / name for name in args.folders]
    lines = read_lines(folders)
    if not lines:
        sys.exit("no comment to compare with")
    inside = {p.relative_to(HERE).as_posix()
              for folder in folders for p in folder.rglob("*.py")}
    findings = [f for f in scan(Path(args.bin).resolve()) if f["file"] in inside]
    stray = compare(lines, findings)
    for line in lines:
        if line.fault:
            print(f"{line.path}:{line.number}: {line.fault}")
    for finding, text in stray:
        print(f"{finding['file']}:{finding['start_line']}: {text}")
    show_rules(lines, findings, stray)
    failed = sum(1 for line in lines if line.fault) + len(stray)
    passed = sum(1 for line in lines if not line.fault)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
