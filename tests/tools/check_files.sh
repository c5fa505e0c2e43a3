#!/bin/sh
# check_files.sh -- what no other linter looks at: files and lines that grew too long, members torn from their types,
# paths of somebody's machine, stray spaces.
# Depends on: POSIX sh.  Used by: make lint.
set -eu

limit=520
files=$(find runtime bindings stdlib examples tests Makefile .ci ./*.md -type f ! -path '*/run/*' ! -path 'tests/fuzz/corpus/*' 2>/dev/null || true)
status=0

refuse()
{
    echo "$1" >&2
    status=1
}

for file in $(find runtime bindings stdlib -type f -name '*.[chl]*'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$limit" ] || refuse "$file: $lines lines; split it below $limit"
done

# clang-format leaves comments and literals alone: what is too long stays so, or it tears the member before it from its type.
code=$(find runtime bindings examples tests -name '*.[ch]' -o -name '*.cc')
if found=$(LC_ALL=C.UTF-8 grep -nE '^.{121}' $code); then
    refuse "lines over 120 columns; a comment goes above what it is about:
$found"
fi
found=$(awk 'FNR > 1 && last ~ /^ +(const )?[a-z_0-9]+( \*)?$/ && last !~ /(else|do|return)$/ && /^ +\*?[A-Za-z_0-9, \[\]]+;/ {
    print FILENAME ":" FNR ": " $0 } { last = $0 }' $code)
[ -z "$found" ] || refuse "a member is torn from its type; its comment goes above it:
$found"

# A path below somebody's home, or of the machine that built it.
if found=$(grep -nE '(^|[^a-zA-Z0-9_.*}-])/(home|root|Users|work|mnt)/[a-z]' $files); then
    refuse "a path that exists on one machine only:
$found"
fi
if found=$(grep -nE '[[:blank:]]+$' $files); then
    refuse "blanks at the end of a line:
$found"
fi
exit $status
