#!/bin/bash
# Builds the release and measures the mining of profiles:
#     bench/profile.sh [--rounds N] [--rows N] [--peers]
# --peers makes an environment of its own under build/bench with pandas and
# msprof-analyze, and measures them on the same file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${here%/*}
(cd "$root" && cmake --preset release && cmake --build --preset release) > /dev/null
peers=$root/build/bench/peers
if [[ " $* " == *" --peers "* && ! -x $peers/bin/msprof-analyze ]]; then
    mkdir -p "$root/build/bench"
    python3 -m venv "$peers"
    "$peers/bin/pip" install --quiet pandas msprof-analyze
fi
exec python3 "$here/profile.py" "$@"
