#!/bin/sh
# Renews the pins: requirements/update.sh [build|test|bench|corpus]...
# Needs uv (pip install uv). Every file of a pinned version is hashed, so the
# same list serves all machines.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- build test bench corpus
for name in "$@"; do
    deps=
    [ "$name" = corpus ] && deps=--no-deps
    head=$(sed -n '/^#/p' "$name.txt")
    uv pip compile -q --universal --python-version 3.11 $deps \
        --generate-hashes --no-emit-index-url --no-annotate --no-header \
        "$name.in" -o "$name.new"
    { printf '%s\n' "$head"; cat "$name.new"; } > "$name.txt"
    rm "$name.new"
done
