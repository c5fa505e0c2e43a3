#!/bin/sh
# make.sh -- the pictures of the README: a session typed into the program in a real terminal (tmux), line by line as session.txt has
# them, and the plot that plot.lua draws.
# Usage: make.sh PROGRAM LUA [FOLDER]      writes FOLDER/session.svg and FOLDER/plot.svg; FOLDER is this one when left out
# Depends on: tmux, gnuplot, screen_to_svg.lua.  Used by: make picture.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
lua=$2
out=${3:-$here}
columns=80
lines=${LINES_SHOWN:-60}
socket=penumbra_picture_$$
tmux="tmux -L $socket -f /dev/null"
home=$(mktemp -d)

finish()
{
    $tmux kill-server 2>/dev/null || true
    rm -rf "$home"
}
trap finish EXIT

screen()
{
    $tmux capture-pane -p "$@" -t picture
}

# Wait until the last line on the screen is a prompt with nothing behind it.
wait_for_prompt()
{
    for _ in $(seq 1 300); do
        last=$(screen | sed '/^ *$/d' | tail -n 1)
        case $last in
        *'> ') return 0 ;;
        *'>') return 0 ;;
        esac
        sleep 0.1
    done
    echo "make.sh: the prompt did not come back; the screen was" >&2
    screen >&2
    exit 1
}

# A home of its own: no history, no progress of lessons.  The program takes colour from the terminal.
$tmux new-session -d -s picture -x $columns -y "$lines" \
    "env -u NO_COLOR HOME='$home' PENUMBRA_HISTORY= TERM=screen-256color '$program'"
$tmux set-option -t picture status off >/dev/null
$tmux resize-window -t picture -x $columns -y "$lines"
wait_for_prompt
while IFS= read -r line; do
    $tmux send-keys -t picture -l "$line"
    sleep 0.3
    $tmux send-keys -t picture Enter
    sleep 0.3
    wait_for_prompt
done <"$here/session.txt"
screen -e | "$lua" "$here/screen_to_svg.lua" $columns "penumbra" >"$out/session.svg.new"
mv "$out/session.svg.new" "$out/session.svg"

(cd "$out" && PENUMBRA_THREADS=1 "$program" "$here/plot.lua")
sed -i 's/[[:blank:]]*$//' "$out/plot.svg" # gnuplot leaves blanks
echo "wrote $out/session.svg and $out/plot.svg"
