#!/bin/sh
# run.sh -- run fuzz targets, each for some seconds and as many at once as there are processors; ends with one line "N passed, N failed".
# Usage: run.sh BUILD SECONDS TARGET...     BUILD is the tree in which `make fuzz` built them.
# Inputs that reach new code are kept in BUILD/corpus/TARGET; one that shows a fault is written to BUILD/found/TARGET-...
# An input may take thirty seconds, which under sanitizers are about five, and 4096 bytes.
# Depends on: POSIX sh, xargs -P, libFuzzer in the targets.  Used by: make fuzz, make fuzz-all.
set -u

build=$1 seconds=$2
shift 2
mkdir -p "$build/found"

if [ $# -gt 1 ]; then
    printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh "$0" "$build" "$seconds" | tee "$build/found/all" | grep -v '^[01] passed'
    passed=$(grep -c '^1 passed' "$build/found/all")
    echo "$passed passed, $(($# - passed)) failed"
    [ "$passed" = $# ]
    exit
fi

target=$1
log=$build/found/$target.log
mkdir -p "$build/corpus/$target"

# A reader may ask for much memory and be refused.  Freed blocks are watched until 16 MB more were freed: where they are 256,
# as by default, no block is ever in the processor's cache.
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=64:malloc_context_size=8:quarantine_size_mb=16
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export OPENBLAS_NUM_THREADS=1

# Leaks are looked for where an input frees less than it took.  Of states of Lua that is nearly each one, and a look takes
# longer than a hundred inputs: there they are looked for once, at the end.
leaks=1
grep -q lua_kit.h "tests/fuzz/${target}_fuzz.c" && leaks=0

status=0
"$build/fuzzers/$target" -max_total_time="$seconds" -timeout=30 -report_slow_units=1 -rss_limit_mb=2560 -max_len=4096 \
    -detect_leaks=$leaks -artifact_prefix="$build/found/$target-" -print_final_stats=1 "$build/corpus/$target" \
    "tests/fuzz/corpus/$target" >"$log" 2>&1 || status=1
[ $status = 0 ] || grep -aE 'does not hold|runtime error|ERROR:|SUMMARY:|Test unit written' "$log" | head -20
echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions," \
    "$(grep -aoE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -1)"
echo "$((1 - status)) passed, $status failed"
exit $status
