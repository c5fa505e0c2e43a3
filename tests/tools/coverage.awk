# coverage.awk -- gcovr's table of files as a table of rooms: files, lines and branches, and which part of them the tests ran.
# Usage: awk -f coverage.awk branches.csv     Depends on: gcovr --csv.  Used by: make coverage.
BEGIN { FS = "," }

{
    sub(/\r$/, "") # as gcovr ends its lines
}

FNR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}

function add(room)
{
    files[room]++
    lines[room] += $column["line_total"]
    run[room] += $column["line_covered"]
    branches[room] += $column["branch_total"]
    taken[room] += $column["branch_covered"]
}

{
    split($1, part, "/")
    add(part[1] "/" part[2])
    add("all")
}

function share(some, all)
{
    return all > 0 ? sprintf("%.1f %%", 100 * some / all) : "-"
}

function row(room, out)
{
    printf "| %s | %d | %d | %s | %d | %s |\n", room, files[room], lines[room], share(run[room], lines[room]), branches[room],
        share(taken[room], branches[room]) | out
}

END {
    print "| room | files | lines | run | branches | taken |\n|---|---:|---:|---:|---:|---:|"
    fflush()
    for (room in files)
        if (room != "all")
            row(room, "sort")
    close("sort")
    row("all", "cat")
}
