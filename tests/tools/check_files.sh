#!/bin/sh
# check_files.sh -- what no other linter looks at: files that grew too long, paths of somebody's machine, stray spaces.
# Depends on: POSIX sh.  Used by: make lint.
set -eu

limit=520
files=$(find include runtime bindings stdlib examples tests Makefile .ci ./*.md -type f ! -path '*/run/*' 2>/dev/null || true)
status=0

refuse()
{
    echo "$1" >&2
    status=1
}

for file in $(find include runtime bindings stdlib -type f -name '*.[chl]*'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$limit" ] || refuse "$file: $lines lines; split it below $limit"
done

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
