#!/bin/bash
# Builds the release and measures it: bench/scan.sh [--rounds N] [FOLDER]
# Sets up what it needs (ast-grep and transformers from PyPI, in .venv).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${here%/*}
"$root/tools/setup.sh" bench
export PATH="$root/.venv/bin:$PATH"
(cd "$root" && cmake --preset release && cmake --build --preset release &&
    cmake --build --preset release --target parse_bench) > /dev/null
exec "$root/.venv/bin/python" "$here/scan.py" "$@"
