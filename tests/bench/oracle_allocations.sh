#!/bin/sh
# oracle_allocations.sh -- allocations that a step of a solver in Lua makes more than one of solve.gradient_descent: two for the
# answer (the vector and its numbers), two for each result of the step's own arithmetic.  Counted by valgrind, so it repeats.
# usage: BUILD=build sh tests/bench/oracle_allocations.sh
set -eu
build=${BUILD:-build}
script=$build/tests/bench/overhead/oracle_steps.lua
mkdir -p "$build/tests/bench/overhead"
cat >"$script" <<'END'
local steps, kind = tonumber(arg[1]), arg[2]
local data = pn.data.synthetic.logistic{n = 50, p = 123, seed = 4}:clip_rows("l2", 1)
local obj = pn.objective{data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = 123, radius = 1}}
local ops = {asks = function(s, ask) ask:gradient(s.x) end,
  moves = function(s, ask) s.x = s.set:project(s.x - 0.5 * ask:gradient(s.x)) end}
if ops[kind] then
  pn.solver{name = "own", step = ops[kind]}(obj, {rho = 1, iterations = steps, progress = false})
else
  pn.solve.gradient_descent(obj, {rho = 1, iterations = steps, step = 0.5, momentum = 0, output = "last", progress = false})
end
END
total() { valgrind "$build/penumbra" "$script" "$1" "$2" 2>&1 | sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' | tr -d ,; }
each() { a=$(total 1000 "$1"); b=$(total 2000 "$1"); awk -v a="$a" -v b="$b" 'BEGIN { printf "%.1f", (b - a) / 1000 }'; }
c=$(each c) asks=$(each asks) moves=$(each moves)
echo "allocations a step: $c in C, $asks that asks in Lua, $moves that moves, too (three results)"
awk -v c="$c" -v asks="$asks" -v moves="$moves" 'BEGIN {
    over = asks - c > 2.05 || moves - asks > 6.05
    printf "a question makes %.1f more (limit 2), the arithmetic %.1f (limit 6)%s\n", asks - c, moves - asks, over ? "  OVER" : ""
    exit over
}'
