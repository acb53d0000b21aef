#!/bin/bash
# Fuzzes every target for a while: tests/fuzz/run.sh [SECONDS] [TARGET...]
#
# With libFuzzer where clang has it, with our own mutation loop elsewhere. A
# crash leaves its input; put it into corpus/<target>/ with the repair.
set -euo pipefail
cd "$(dirname "$0")/../.."

export ASAN_OPTIONS=hard_rss_limit_mb=4000
SECONDS_EACH=${1:-60}
shift || true
[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls fuzz_*.c 2>/dev/null |
                         sed 's/^fuzz_//; s/\.c$//')
[ $# -gt 0 ] || { echo "tests/fuzz has no target"; exit 2; }

has_libfuzzer() {
    local dir
    dir=$(mktemp -d)
    echo 'int LLVMFuzzerTestOneInput(const char *a, unsigned long b);
          int LLVMFuzzerTestOneInput(const char *a, unsigned long b)
          { return 0 * (a && b); }' > "$dir/t.c"
    clang -fsanitize=fuzzer,address "$dir/t.c" -o "$dir/t" 2>/dev/null
    local code=$?
    rm -rf "$dir"
    return $code
}

if has_libfuzzer; then
    cmake --preset fuzz > /dev/null
    cmake --build --preset fuzz
    for target in "$@"; do
        echo "== $target (libFuzzer, $SECONDS_EACH s)"
        mkdir -p "build/fuzz/found/$target"
        "build/fuzz/tests/fuzz/fuzz_${target}_libfuzzer" \
            -max_total_time="$SECONDS_EACH" -timeout=10 -print_final_stats=1 \
            -artifact_prefix="build/fuzz/found/$target-" \
            "build/fuzz/found/$target" "tests/fuzz/corpus/$target"
    done
else
    echo "clang with libFuzzer is not here: using the mutation loop"
    cmake --preset asan > /dev/null
    cmake --build --preset asan
    for target in "$@"; do
        echo "== $target (mutation loop, $SECONDS_EACH s)"
        "build/asan/tests/fuzz/fuzz_${target}_mutate" "$SECONDS_EACH" \
            -s "$(date +%s)" tests/fuzz/corpus/"$target"/*
    done
fi
