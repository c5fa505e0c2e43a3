#!/bin/sh
# check_abi.sh -- what programs that link the libraries rely on: the exported names with their versions, against the lists in abi/.
# What is gone or changed fails; what is new is only said.
# Usage: check_abi.sh check|write BUILD
# The lists are in abi/, or in $ABI_LISTS.
# Depends on: nm.  Used by: make check-abi, make abi.
set -eu

mode=$1 build=$2
here=$(dirname "$0")
lists=${ABI_LISTS:-$here/abi}
now=$build/abi
mkdir -p "$now"

# Names that begin with pn_ or pnl_, "name@@VERSION"; those of private nodes are nobody's business.
names_of()
{
    nm -D --defined-only --with-symbol-versions "$1" | sed -n 's/^[^ ]* [A-Z] //p' | grep '^pnl\{0,1\}_' |
        grep -v '_PRIVATE$' | LC_ALL=C sort
}

for library in libpenumbra libpenumbra_federated libpenumbra_lua; do
    rm -f "$now/$library.symbols"
    [ ! -e "$build/$library.so" ] || names_of "$build/$library.so" >"$now/$library.symbols"
done

if [ "$mode" = write ]; then
    mkdir -p "$lists"
    for list in "$now"/*.symbols; do
        cp "$list" "$lists/"
        echo "wrote $lists/$(basename "$list"): $(wc -l <"$list") lines"
    done
    exit
fi

status=0
for list in "$lists"/*.symbols; do
    [ -e "$list" ] || continue
    LC_ALL=C comm -23 "$list" "$now/$(basename "$list")" >"$now/gone"
    LC_ALL=C comm -13 "$list" "$now/$(basename "$list")" >"$now/new"
    if [ -s "$now/gone" ]; then
        status=1
        echo "$list: programs that are linked already may rely on what is gone or changed:" >&2
        sed 's/^/    /' "$now/gone" >&2
    fi
    [ ! -s "$now/new" ] || echo "$(basename "$list"): $(wc -l <"$now/new") new or changed lines; \`make abi\` writes them down"
done
if [ $status != 0 ]; then
    echo "When that is meant: give the library's version script a new node, or the soname a new number, and run \`make abi\`." >&2
fi
exit $status
