#!/bin/bash
# Builds the release and measures the reading of logs: bench/steps.sh [--rounds N]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${here%/*}
(cd "$root" && cmake --preset release && cmake --build --preset release) > /dev/null
exec python3 "$here/steps.py" "$@"
