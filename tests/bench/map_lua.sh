#!/bin/sh
# map_lua.sh -- compiled expressions over vectors against a Lua loop with the same expressions over the same numbers, in tables, one
# thread each, processor time per number.  The C side is `map_bench seconds` (1e7 numbers); the loop takes a tenth of them.
# usage: BUILD=build sh tests/bench/map_lua.sh
set -eu
build=${BUILD:-build}
[ -x "$build/tests/bench/map_bench" ] || make -s "$build/tests/bench/map_bench" >/dev/null

lua=$("$build/penumbra" tests/bench/overhead/map_loop.lua 1000000)
c=$("$build/tests/bench/map_bench" seconds)
printf '%s\n' "$lua" "$c" | awk '
    { time[NR] = $1 / (NR <= 2 ? 1e6 : 1e7) * 1e9 }
    END {
        name[1] = "10 arithmetic operations"; name[2] = "10 with exp and log"
        for (k = 1; k <= 2; k++) {
            ratio = time[k] / time[k + 2]
            printf "%-26s Lua loop %7.1f ns / compiled %6.2f ns = %5.1f (at least 20)%s\n", name[k], time[k], time[k + 2], ratio,
                (ratio < 20) ? "  OVER" : ""
            bad += ratio < 20
        }
        exit (bad > 0)
    }'
