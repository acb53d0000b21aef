#!/bin/sh
# api.sh - how long `npufuse api` takes on a real torch_npu: bench/api.sh [NPUFUSE]
#
# Each figure is the median of 21 cold processes (the files are in the page
# cache). The wheel is the one that the tests fetch into deps/wheels/, or that of
# the folder NPUFUSE_WHEELS. The peer is Python that does what the skill's own
# script does without npufuse.
set -eu
cd "$(dirname "$0")/.."
NPUFUSE=${1:-build/dev/npufuse}
export NPUFUSE
exec "${PYTHON:-python3}" bench/api.py
