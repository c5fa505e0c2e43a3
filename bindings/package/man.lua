-- man.lua -- the manual page penumbra(1); options, services and exit statuses are what the program itself says with --help.
-- Depends on: the program (arg[-1], or $PENUMBRA).  Used by: docs.lua.
local pn = require "penumbra"
local program = os.getenv "PENUMBRA" or arg[-1] or "penumbra"

local function said(words)
  local pipe <close> = assert(io.popen(("'%s' %s"):format(program:gsub("'", "'\\''"), words)))
  return pipe:read "a"
end

-- Text for troff: what it would take for itself is quoted.
local function quoted(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^([.'])", "\\&%1"):gsub("\n([.'])", "\n\\&%1"))
end

local out = {}
local function put(format, ...)
  out[#out + 1] = select("#", ...) > 0 and format:format(...) or format
end
-- The first after a heading is one already.
local function begin_paragraph()
  if not out[#out]:find "^%.S[HS] " then put ".PP" end
end
local function paragraph(text)
  begin_paragraph()
  put("%s", (quoted(text):gsub("`([^`]+)`", "\\fB%1\\fR")))
end
local function item(head, text)
  put ".TP"
  put("\\fB%s\\fR", quoted(head))
  put("%s", (quoted(text):gsub("`([^`]+)`", "\\fB%1\\fR")))
end

-- Lines as they stand, in the program's own columns.
local function verbatim(text)
  begin_paragraph()
  put ".RS 2\n.nf"
  put("%s", quoted((text:gsub("\n+$", ""))))
  put ".fi\n.RE"
end

local usage = said "--help"

put('.TH PENUMBRA 1 "" "Penumbra %s" "User Commands"', pn.version)
put ".SH NAME\npenumbra \\- differentially private optimization in Lua"
put ".SH SYNOPSIS"
put [=[
.B penumbra
.RI [ options ]
.RI [ script " [" arguments ]]
.br
.B penumbra party
.RB [ \-\-check ]
.I CONFIG
.br
.B penumbra server
.RB [ \-\-check ]
.I CONFIG
.br
.B penumbra predict
.I MODEL CSV
.RI [ options ]
.br
.B penumbra receipt
.I FILE
.RI [ options ]]=]
put ".SH DESCRIPTION"
paragraph("Penumbra trains models under differential privacy.  You choose a data set, a loss and a constraint set; it certifies "
  .. "the sensitivity, plans the noise, shows what a run will cost before anything is spent, charges a ledger before each noise is "
  .. "drawn, and trains.  The program runs scripts of Lua 5.4 that find the library as `pn`, and is a prompt to explore in.")
paragraph('At the prompt, `help()` shows what there is, `help "frank_wolfe"` or any other name tells its signature, options, an '
  .. "example, what it reveals and the paper.")

put ".SH OPTIONS"
for flag, text in usage:gmatch "\n  (%-[^\n]-)   *(%S[^\n]*)" do
  item(flag, (text:gsub("^print this$", "print a line for each option")) .. ".")
end
local rest = usage:match "\n(With nothing to run.*)$"
if rest then paragraph((rest:gsub("\n+$", ""):gsub("\n", " "))) end

put ".SH FEDERATED RUNS"
paragraph("Two services train one model on columns that are in different hands.")
for _, service in ipairs { "party", "server" } do
  put(".SS penumbra %s", service)
  verbatim((said(service .. " --help"):gsub("\nThe log goes to stderr.*$", "")))
end

put ".SH PREDICTIONS"
paragraph("A saved or exported model predicts the records of a CSV file.")
verbatim(said "predict --help")

put ".SH LESSONS"
paragraph('The lessons of the prompt (`lesson "gaussian"`) are notebooks and handouts, too.')
verbatim(said "lesson --help")

put ".SH COURSES"
paragraph("A course is a folder that names lessons and deadlines; learners hand in a file, which is graded by playing it again.")
verbatim(said "course --help")

put ".SH EXIT STATUS"
item("0", "done")
item("1", "a script failed; predict refused the model or the file; of services: an unexpected error")
item("2", "the command line was wrong; of services also: the configuration, or a file that it names")
for status, text in said("party --help"):gsub("\n     +", " "):gmatch "\n  (%d) ([^\n]+)" do
  if tonumber(status) > 2 then item(status, "of services: " .. text) end
end
paragraph("A script that Ctrl-C ended dies of SIGINT, as shells expect.")

put ".SH ENVIRONMENT"
for _, row in ipairs {
  { "PENUMBRA_THREADS", "threads of the library; one per processor without it" },
  { "PENUMBRA_COLOR", "`always` or `never`; without it there is colour on a terminal" },
  { "NO_COLOR", "set and not empty: no colour" },
  { "TERM", "`dumb`: no colour" },
  { "PENUMBRA_HISTORY", "the file that keeps the prompt's history; empty: none" },
  { "PENUMBRA_STARTUP", "the file of entries that a session at the prompt begins with; empty: none" },
  { "PENUMBRA_PLOT", "how plots are drawn in the terminal: `sixel`, `kitty`, `braille`, `block` or `ascii`" },
  { "PENUMBRA_PROGRESS", "the file that keeps the progress in lessons; empty: keep nothing" },
  { "XDG_DATA_HOME", "the folder for the progress in lessons, where PENUMBRA_PROGRESS names no file" },
  { "PN_SIMD", "the widest instructions to use: `baseline`, `avx2` or `avx512`" },
  { "LUA_PATH, LUA_CPATH", "where Lua looks for modules; the program finds its own Lua half beside itself or under its prefix" },
} do
  item(row[1], row[2] .. ".")
end

put ".SH FILES"
item("~/.penumbra_history", "what was typed at the prompt.")
item("$XDG_CONFIG_HOME/penumbra/startup.lua, ~/.config/penumbra/startup.lua",
  "entries that every session at the prompt begins with.")
item("$XDG_DATA_HOME/penumbra, ~/.local/share/penumbra", "progress in lessons.")
item("PREFIX/share/lua/5.4/penumbra, PREFIX/lib/lua/5.4/penumbra", "the module, which any Lua 5.4 can load.")
item("PREFIX/share/penumbra/luals", "annotations for lua-language-server: add the folder to `workspace.library`.")
item("PREFIX/share/doc/penumbra/html/index.html", "the handbook, the derivations and the reference, with a search.")
item("PREFIX/share/doc/penumbra/examples", "examples; `penumbra examples` lists them.")
item("PREFIX/include/penumbra", "headers for C hosts; `pkg-config penumbra` and `pkg-config penumbra-lua` tell the flags.")

put ".SH EXAMPLES"
verbatim [[
penumbra -e 'print(pn.calibrate.gaussian{epsilon = 1, delta = 1e-6, sensitivity = 1})'
penumbra train.lua data.csv
mpirun -n 4 penumbra train.lua
penumbra server --check server.lua
penumbra lesson export gaussian --answers
penumbra course new privacy]]
paragraph "`penumbra examples` lists programs to run and to change, with the folder that they are in."
put ".SH SEE ALSO\n.BR lua5.4 (1),\n.BR gnuplot (1)"

return table.concat(out, "\n") .. "\n"
