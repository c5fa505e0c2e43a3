#!/bin/sh
# noise_instructions.sh -- instructions per draw of the noise samplers, keystream included, counted by callgrind: the
# difference of two runs, so that starting up does not count.  Repeats exactly; valgrind shows the program AVX2 at most.
# Depends on: valgrind, noise_bench.  Run with `make bench`, from the root of the tree.
set -eu

bench=$(dirname "$PENUMBRA")/tests/bench/noise_bench
buffer=8192
few=$((buffer * 2))
many=$((buffer * 10))

count()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-20s  instructions per draw, word, coin or candidate\n' ''
# Not select_exponential: how often it proposes is itself random.
for law in keystream gaussian gaussian_release laplace laplace_release gaussian_exact poisson_coins select_flip \
    select_laplace; do
    low=$(count $law $few)
    high=$(count $law $many)
    printf '%-20s  %8s\n' $law "$(awk "BEGIN { printf \"%.1f\", ($high - $low) / ($many - $few) }")"
done
