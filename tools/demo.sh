#!/bin/bash
# From a fresh machine to a verdict: set-up, build, and the whole job on a copy
# of the example under build/demo. Prints each command that it runs.
set -euo pipefail
cd "$(dirname "$0")/.."

EXAMPLE=examples/tiny_decoder
WORK=$PWD/build/demo
STATEMENT="This is the demo: make demo confirms for itself, on a copy of the example."

say() { printf '\n== %s\n' "$*"; }
show() { printf '$'; printf ' %q' "$@"; printf '\n'; }
run() { show "$@"; "$@"; }
# verdict COMMAND...: 1 and 3 are answers (no; blocked or undecided), not faults.
verdict() {
    local code=0
    show "$@"
    "$@" || code=$?
    echo "exit code $code"
    [ "$code" -le 1 ] || [ "$code" = 3 ] || exit "$code"
}

say "set-up (nothing to do where a compiler, CMake, Ninja and PyTorch are there)"
run tools/setup.sh demo
export PATH="$PWD/.venv/bin:$PATH"

say "build"
run cmake --preset release
run cmake --build --preset release
PATH="$PWD/build/release:$PATH"

say "a copy of $EXAMPLE, without fusion_verify"
run rm -rf "$WORK"
run mkdir -p "$WORK"
run cp -R "$EXAMPLE" "$WORK/"
rm -rf "$WORK/${EXAMPLE##*/}/fusion_verify"
run cd "$WORK/${EXAMPLE##*/}"

say "what this machine can do"
run npufuse doctor

say "phase one: identify; nothing is changed"
run npufuse scan .

say "the stop: a user reads fusion_verify/report.md and chooses"
ids=$(sed -n 's/^ *"id": "\(.*\)",$/\1/p' fusion_verify/findings.json)
norm=$(grep HeadRMSNorm <<< "$ids")
mlp=$(grep GatedMLP <<< "$ids")
run npufuse confirm "$norm" "$mlp" --statement "$STATEMENT"

say "phase two: verify, each candidate alone against the unchanged code"
# The norm reuses the project's own switch, so the command turns it on.
verdict npufuse verify -- python train.py --steps 60 --use-fused-rmsnorm

say "the task list, kept across interruptions"
run cat fusion_verify/tasks.md

say "what would be written, if you decide on your own responsibility"
run npufuse apply --diff --unverified

say "reports"
for file in fusion_verify/report.md fusion_verify/*.html; do
    echo "$PWD/$file"
done
echo
verdict npufuse status

say "next"
cat <<TEXT
Precision was checked here with emulated operators. Speed needs an NPU: on such
a machine run the same commands in your project, or continue this one with
    npufuse resume
and then write what passed:
    npufuse apply --diff     shows it
    npufuse apply            writes it;   npufuse apply --revert   takes it back
On your own code:   build/release/npufuse scan PATH
All commands:       build/release/npufuse --help
TEXT
