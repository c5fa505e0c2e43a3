#!/bin/sh
# startup_bench.sh -- how long it takes until there is a prompt, until `require "penumbra"` is done, and until the Jupyter kernel has
# answered its first cell, beside stock Lua 5.4 in the same run: milliseconds of wall clock, the least and the median of RUNS starts that take turns, so that what else the machine does hits all.
# usage: BUILD=build sh tests/bench/startup_bench.sh
set -eu
build=${BUILD:-build}
runs=${RUNS:-41}
lua=${LUA:-lua5.4}
LUA_PATH="$build/lua/?.lua;$build/lua/?/init.lua;;" LUA_CPATH="$build/lua/?.so;;"
export LUA_PATH LUA_CPATH

times=$(mktemp -d)
trap 'rm -rf "$times"' EXIT

# Microseconds that a start takes, one line more in the file $1.
start()
{
    file=$1
    shift
    before=$(date +%s%N)
    "$@" </dev/null >/dev/null 2>&1
    after=$(date +%s%N)
    echo $(((after - before) / 1000)) >>"$times/$file"
}

for _ in $(seq "$runs"); do
    start lua "$lua" -e ''
    start lua_prompt "$lua" -i
    start require "$lua" -e 'require "penumbra"'
    start prompt "$build/penumbra" -i
    start script "$build/penumbra" -e ''
done
python=python3
$python -c 'import zmq, jupyter_client' 2>/dev/null || python=/usr/bin/python3
$python "$(dirname "$0")/peers/kernel_start.py" "$build/penumbra" "$runs" >"$times/kernel" 2>/dev/null || rm -f "$times/kernel"

# Limits are in starts of stock Lua (x10), or in milliseconds beyond it.
row()
{
    sort -n "$times/$2" | awk -v name="$1" -v base="$(sort -n "$times/$3" | head -n 1)" -v limit="$4" '
        { t[NR] = $1 }
        END {
            beyond = (t[1] - base) / 1000
            printf "%-24s least %6.2f ms, median %6.2f ms, %6.2f ms beyond stock Lua (x %.1f)", name, t[1] / 1000, t[int((NR + 1) / 2)] / 1000,
                beyond, t[1] / base
            over = limit && (limit ~ /^x/ ? t[1] / base > substr(limit, 2) + 0 : beyond > limit)
            if (limit) printf "  limit %s%s%s", limit, limit ~ /^x/ ? "" : " ms", over ? "  OVER" : ""
            printf "\n"
            exit over
        }'
}
status=0
row "lua5.4 -e ''" lua lua 0
row "lua5.4 -i" lua_prompt lua_prompt 0
row 'require "penumbra"' require lua x10 || status=1
row "penumbra -e ''" script lua 0
row "penumbra -i: the prompt" prompt lua_prompt x10 || status=1
if [ -s "$times/kernel" ]; then
    row "penumbra kernel: 1 + 1" kernel lua 300 || status=1
else
    echo "penumbra kernel: python3-jupyter-client is missing"
fi
exit $status
