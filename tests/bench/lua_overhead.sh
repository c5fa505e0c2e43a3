#!/bin/sh
# lua_overhead.sh -- instructions that the Lua layer adds to a run of private Frank-Wolfe on Covertype, against a C program
# that calls the runtime directly.  Instructions are counted by callgrind inside the run only, on one thread, so the figure
# repeats.  RECORDS defaults to a twentieth of the data: the layer's cost per step is constant, so this is twenty times harsher.
# usage: BUILD=build PENUMBRA_DATA=folder sh tests/bench/lua_overhead.sh
set -eu
build=${BUILD:-build}
data=${PENUMBRA_DATA:-}/covtype.libsvm.binary.gz
steps=${STEPS:-100} records=${RECORDS:-29050}
if [ ! -r "$data" ]; then
    echo "lua_overhead: PENUMBRA_DATA has no covtype.libsvm.binary.gz: skipped"
    exit 0
fi

# Only the first records, as plain text: valgrind would spend minutes on inflating the rest.
mkdir -p "$build/tests/bench/overhead"
part=$build/tests/bench/overhead/part.libsvm
trap 'rm -f "$part"' EXIT
zcat "$data" 2>/dev/null | head -n "$records" >"$part"
${CC:-gcc} -std=c17 -O2 -g -Iruntime/include -Iruntime -o "$build/tests/bench/overhead/frank_wolfe_run" \
    tests/bench/overhead/frank_wolfe_run.c "$build/libpenumbra.a" \
    $(sed -n 's/^DEP_LIBS := //p; s/^PROTOBUF_LIBS := //p' "$build/config.mk") -lm -pthread

# Instructions collected while `function` is running.
count()
{
    function=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect="$function" \
        "$@" "$part" "$steps" "$records" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

c=$(count pn_plan_run "$build/tests/bench/overhead/frank_wolfe_run")
lua=$(LUA_PATH="$build/lua/?.lua;$build/lua/?/init.lua;;" LUA_CPATH="$build/lua/?.so;;" PENUMBRA_THREADS=1 \
    count plan_run lua5.4 tests/bench/overhead/frank_wolfe_run.lua)
echo "C program:  $c instructions in pn_plan_run, $steps steps on $records records"
echo "Lua script: $lua instructions in plan:run"
awk -v a="$lua" -v b="$c" 'BEGIN {
    over = a / b - 1
    printf "Lua layer adds %.4f %% (limit 1 %%)%s\n", 100 * over, ((over > 0.01) ? "  OVER" : "")
    exit (over > 0.01)
}'
