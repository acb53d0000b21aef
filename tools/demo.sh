#!/bin/bash
# From a fresh machine to a first report: set-up, build, scan of the example.
# Works in a copy under build/demo; prints each command that it runs.
set -euo pipefail
cd "$(dirname "$0")/.."

EXAMPLE=examples/tiny_decoder
WORK=build/demo
REPORT_LINES=${REPORT_LINES:-60}

say() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say "set-up (nothing to do where a compiler, CMake and Ninja are there)"
run tools/setup.sh build
export PATH="$PWD/.venv/bin:$PATH"

say "build"
run cmake --preset release
run cmake --build --preset release
npufuse=$PWD/build/release/npufuse

say "scan a copy of $EXAMPLE"
run rm -rf "$WORK"
run mkdir -p "$WORK"
run cp -R "$EXAMPLE" "$WORK/"
rm -rf "$WORK/${EXAMPLE##*/}/fusion_verify"
run cd "$WORK/${EXAMPLE##*/}"
PATH="${npufuse%/*}:$PATH"
run npufuse --version
run npufuse scan .

say "the report: $WORK/${EXAMPLE##*/}/fusion_verify/report.md"
run ls -l fusion_verify
run head -n "$REPORT_LINES" fusion_verify/report.md
lines=$(wc -l < fusion_verify/report.md)
if [ "$lines" -gt "$REPORT_LINES" ]; then
    echo "... $((lines - REPORT_LINES)) more lines"
fi

say "next"
cat <<TEXT
Read $WORK/${EXAMPLE##*/}/fusion_verify/report.md: each candidate has the
evidence, the original code, its replacement and what is still unknown.
findings.json beside it holds the same for programs.
On your own code:   build/release/npufuse scan PATH
All commands:       build/release/npufuse --help
TEXT
