-- prompt.lua -- what the prompt does with an entry: is it finished, what does it mean, show what it is worth, keep it.  Modes
-- (lessons) change the prompt's text, the environment of entries, and see each entry before and after it runs.
-- Depends on: penumbra.colour, penumbra.columns, penumbra.prompt.show; later: penumbra.prompt.complete, penumbra.prompt.magic,
-- penumbra.errors,
-- penumbra.prompt.inspect, penumbra.prompt.tokens.
-- Used by: the program (bindings/prompt/repl.c calls opened, text, ready, begin, finish, leave, indent, complete), penumbra.lesson.
local colour = require "penumbra.colour"
local columns = require "penumbra.columns"
local show = require "penumbra.prompt.show"

local KEPT = 200 -- numbered results that stay reachable
local MAX_PARTS = 30 -- of an entry, in which the last expression is looked for

local prompt = {
  entries = {}, -- the texts of all entries, by their number: the chunk of entry 3 is "[3]"
  results = 0,  -- how many have been numbered
  sources = {}, -- the code of entries that are not all Lua, by their number
  numbers = {}, -- of the results of entries, by the entries' numbers
  failed = {},  -- which entries raised an error, by their number
  known = {},   -- the globals that were there before the user's
}

local modes = {}
local numbered_in = {} -- the environment of each numbered result, by its number

-- Told by the program when it begins to read; `terminal`: somebody sees the screen.
function prompt.opened(terminal)
  prompt.terminal = terminal
  for name in next, _G do prompt.known[name] = true end
  if terminal then prompt.startup() end
end

-- The file of entries that every session begins with.
local function startup_path()
  local named = os.getenv "PENUMBRA_STARTUP"
  if named then return named ~= "" and named or nil end
  local config = os.getenv "XDG_CONFIG_HOME" or os.getenv "HOME" and os.getenv "HOME" .. "/.config"
  return config and config .. "/penumbra/startup.lua"
end

-- Run it, if there is one; what is wrong with it is shown, and the session goes on.
function prompt.startup()
  local path = startup_path()
  local file = path and io.open(path, "r")
  if not file then return end
  file:close()
  local run, message = loadfile(path, "t", prompt.env())
  local fine = run and xpcall(run, function(value) message = require "penumbra.errors".explain(value) end)
  if not fine then prompt.report(run and message or require "penumbra.errors".syntax(message)) end
end

-- ---- modes ----

function prompt.push_mode(mode)
  for _, key in ipairs { "name", "prompt", "env" } do
    if mode[key] == nil then
      error(("prompt.push_mode: the mode has no `%s`"):format(key), 2)
    end
  end
  modes[#modes + 1] = mode
end

function prompt.pop_mode()
  return table.remove(modes)
end

function prompt.mode()
  return modes[#modes]
end

-- Where the names of an entry are looked up.
function prompt.env()
  local mode = modes[#modes]
  return mode and mode.env or _G
end

-- ---- before an entry ----

-- Readline counts columns, so it is told what takes none.
local function for_readline(text)
  return (text:gsub("\27%[[%d;]*m", "\1%0\2"))
end

-- The prompt; for later lines of an entry one of dots that is as wide.
function prompt.text(more)
  local mode = modes[#modes]
  local text = mode and mode.prompt() or "pn> "
  if more then
    text = ("."):rep(math.max(utf8.len(text) or #text, 3) - 2) .. "> "
  end
  return for_readline(colour.paint(text, more and "dim" or mode and "heading" or "good"))
end

local function is_blank(text)
  return not text:find "%S"
end

-- A pasted session as what was typed in it: the lines behind its prompts, without their answers.
local function without_prompts(entry)
  if not entry:find "^%s*pn> " then return entry end
  local typed = {}
  for line in (entry .. "\n"):gmatch "([^\n]*)\n" do
    typed[#typed + 1] = line:match "^%s*pn> (.*)$" or line:match "^%s*%.%.+> ?(.*)$"
  end
  return table.concat(typed, "\n")
end

-- A quoted string ends with its line, so no more lines mend that.
local function ends_too_early(message)
  return message:sub(-5) == "<eof>" and not message:find "unfinished string near <eof>$"
end

local statements = {}
for word in ("do for function goto if local repeat return while break end"):gmatch "%a+" do statements[word] = true end

-- "help frank_wolfe" is no Lua, and "help" is a function, but what people type; and so is "guide train a model".
local word_commands = { help = true, lesson = true, guide = true }

local function as_command(entry)
  local word, name = entry:match "^%s*(%a+)%s+([%w_][%w_.: -]*)%s*$"
  return word_commands[word] and not name:find "%-%-" and ("return %s %q"):format(word, (name:gsub("%s+$", "")))
end

-- Leaves the program; the globals exit and quit, by themselves or called.
local leave = setmetatable({}, {
  __call = function(_, status) os.exit(status, true) end,
  __tostring = function() return "exit() or Ctrl-D leaves" end,
})

local function as_bare_command(entry, env)
  local word = entry:match "^%s*(%a+)%s*$"
  if word and rawequal(env[word], leave) then return ("return %s()"):format(word) end
  local own = word_commands[word] and rawequal(env[word], require "penumbra"[word])
  return own and ("return %s()"):format(word)
end

-- "%time x", "?x", "x?" and "!ls": how penumbra.prompt.magic reads them; nil for Lua.
local function as_magic(entry)
  if entry:find "^%s*[%%?!]" or entry:find "%?%s*$" then
    return require "penumbra.prompt.magic".read(entry)
  end
end

-- Of several lines the last one may be an expression that is not finished, as in a pasted "a = 1 <newline> a +".
local function last_line_as_expression(entry)
  local before, last = entry:match "^(.*\n)([^\n]*%S[^\n]*)%s*$"
  return before and before .. "return " .. last
end

-- The values of an expression, got so that the entry's own frame stays: "return f()" would give its place to f, and an error in f
-- would not show where it was called.  nil for one that ends in a comment.
local function expression(entry, env, name, before)
  local values = load(("local _values_ = ... %s return _values_(%s)"):format(before or "", entry), name, "t", env)
  return values and function()
    return values(function(...) return ... end)
  end
end

-- Of several statements the last one may be an expression, as in "a = 1; a + 1" or a pasted function and its call: its value is
-- the entry's.  Where it begins, or nil.  With `whole`, the entry is Lua as it is: in a line of its own only what begins with a
-- name cannot belong to what stands before it.  Within a string what stands before is no Lua, and within a comment anything may
-- follow it.
local function last_expression(entry, whole)
  local at, parts = #entry, 0
  while at > 0 and parts < MAX_PARTS do
    local byte = entry:byte(at)
    if byte == 10 or byte == 59 then -- a line end or a semicolon
      local from, name = entry:match("^%s*()([%a_]?)", at + 1)
      local before, last = entry:sub(1, from - 1), entry:sub(from)
      local apart = from <= #entry and (byte == 59 or name ~= "" or not whole)
      if apart and load("return " .. last) and load(before) and not load(before .. "@") then return from end
      parts = parts + 1
    end
    at = at - 1
  end
end

local function last_as_expression(entry, env, name, whole)
  local at = last_expression(entry, whole)
  if not at then return nil end
  local before, last = entry:sub(1, at - 1), entry:sub(at)
  return expression(last:gsub("[;%s]+$", ""), env, name, before) or load(before .. "return " .. last, name, "t", env)
end

-- Whether what is wrong with it as an expression says more than what is wrong with it as a statement.
local function is_expression(entry, message)
  return not message:find "<eof> expected" and not statements[entry:match "^%s*([%a_]*)"]
end

-- The entry as a function, or nil, a message and whether more lines may mend it.
function prompt.compile(entry, env, name)
  name = name or "=prompt"
  local bare = as_bare_command(entry, env)
  if bare then return load(bare, name, "t", env) end
  local run, message = load("return " .. entry, name, "t", env)
  if run then return expression(entry, env, name) or run end
  local more = ends_too_early(message)
  local command = as_command(entry)
  if command then return load(command, name, "t", env) end
  local as_expression = message
  run, message = load(entry, name, "t", env)
  run = last_as_expression(entry, env, name, run ~= nil) or run
  if run then return run end
  if is_expression(entry, as_expression) then message = as_expression end
  more = more or ends_too_early(message)
  local last = not more and last_line_as_expression(entry)
  if last then more = ends_too_early(select(2, load(last, name, "t", env)) or "") end
  return nil, message, more
end

-- An entry as a statement of a script that keeps the value as result `number`, as far as it has one; nil when it is no Lua.
function prompt.as_statement(entry, number)
  local keeps = number and ("_%d = "):format(number) or "_ = "
  local at = load("return " .. entry) and 1 or last_expression(entry, load(entry) ~= nil)
  if at and (number or not load(entry)) then return entry:sub(1, at - 1) .. keeps .. entry:sub(at) end
  return load(entry) and entry
end

-- Whether nothing more need be typed.
function prompt.ready(entry)
  entry = without_prompts(entry)
  local mode = modes[#modes]
  if is_blank(entry) or mode and mode.is_command and mode.is_command(entry) then return true end
  local magic = as_magic(entry)
  if magic then
    entry = magic.code
    if not entry then return true end
  end
  local run, _, more = prompt.compile(entry, prompt.env())
  return run ~= nil or not more or require "penumbra.prompt.habits".never_ends(entry)
end

-- ---- running it ----

local running -- what finish() needs to know of begin()

-- Said once: an entry is a chunk of its own, and its locals end with it.
local said_local = false

local function note_local(entry)
  if said_local or not prompt.terminal or not entry:find "^local " or entry:find "\n" then return end
  said_local = true
  io.write(colour.paint("(a local lasts for its entry only; without `local` the name stays)", "dim"), "\n")
end

-- Shows the text of an error; a notebook has its own.
function prompt.report(text)
  require "penumbra.errors".report(text)
end

local function refuse(entry, message)
  local mode = running.mode
  prompt.failed[#prompt.entries] = true
  local quiet = mode and mode.after and mode.after(false, message, entry)
  if not quiet then
    prompt.report(require "penumbra.errors".syntax(message))
  end
end

-- The function that is to be run for an entry, or nil when there is none (any more).
function prompt.begin(entry)
  entry = without_prompts(entry)
  local mode = modes[#modes]
  running = { mode = mode, entry = entry, env = prompt.env() }
  if mode and mode.command and mode.command(entry) or is_blank(entry) then
    return nil
  end
  prompt.entries[#prompt.entries + 1] = entry
  local magic = as_magic(entry)
  if magic then return magic.run end
  local run, message = prompt.compile(entry, running.env, ("=[%d]"):format(#prompt.entries))
  if not run then
    refuse(entry, message)
    return nil
  end
  note_local(entry)
  return run
end

-- ---- after it ----

-- Whether the last token is a semicolon.
local function is_silenced(entry)
  if not entry:find ";" then return false end
  local list = require "penumbra.prompt.tokens"(entry)
  for i = #list, 1, -1 do
    local kind = list[i].kind
    if kind ~= "space" and kind ~= "comment" then
      return list[i].text == ";"
    end
  end
end

-- Keep a value as _ and _1, _2 ...; its number.
local function keep(value, env)
  local number = prompt.results + 1
  prompt.results = number
  prompt.numbers[#prompt.entries] = number
  rawset(env, "__", rawget(env, "_"))
  rawset(env, "_", value)
  rawset(env, "_" .. number, value)
  numbered_in[number] = env
  local old = numbered_in[number - KEPT]
  if old then
    rawset(old, "_" .. (number - KEPT), nil)
    numbered_in[number - KEPT] = nil
  end
  return number
end

-- "_3 = " before a value, on a line of its own where the value needs the place.
local function print_numbered(text, number)
  local mark = ("_%d ="):format(number)
  local apart = text:find "\n" or show.width(mark .. " " .. text) > columns()
  io.write(colour.paint(mark, "dim"), apart and "\n" or " ", colour.result(text), "\n")
end

-- Shows the values of an entry; a notebook has its own.
function prompt.show_values(values, number)
  local text = show.texts(table.unpack(values, 1, values.n))
  if number and prompt.terminal then
    print_numbered(text, number)
  else
    io.write(colour.result(text), "\n")
  end
end

-- A name that was never set reads as nil: other languages' True, or a slip where the whole entry is a name.
local function note_habit(entry, env, values)
  local text = require "penumbra.prompt.habits".note(entry, env, values)
  if not text and values.n == 1 and values[1] == nil then
    local name = entry:match "^%s*([%a_][%w_]*)%s*$"
    local near = name and require "penumbra.errors".near_global(name, env)
    text = near and ("there is no `%s`; did you mean `%s`?"):format(name, near)
  end
  if text then io.write(colour.paint("(" .. text .. ")", "dim"), "\n") end
end

local function succeeded(values)
  if rawequal(values[1], io.stdout) then values = { n = 0 } end -- of io.write: no result of anybody's
  local given = values
  local counts = values.n > 0 and values[1] ~= nil and not rawequal(values[1], leave)
  local number = counts and keep(values[1], running.env) or nil
  local mode, quiet = running.mode, false
  if mode and mode.after then
    quiet = mode.after(true, values, running.entry)
  end
  if values.n > 0 and not quiet and not is_silenced(running.entry) then prompt.show_values(values, number) end
  if prompt.terminal and not quiet then note_habit(running.entry, running.env, given) end
end

-- The entry ran and gave these values, or did not and this is the text of its error.
function prompt.finish(fine, ...)
  if fine then
    return succeeded(table.pack(...))
  end
  local mode, errors = running.mode, require "penumbra.errors"
  prompt.failed[#prompt.entries] = true
  local quiet = mode and mode.after and mode.after(false, errors.message or (...), running.entry)
  if not quiet then
    prompt.report((...))
  end
end

-- Ctrl-D: true when it left a mode and the prompt goes on.
function prompt.leave()
  local mode = modes[#modes]
  if not mode then return false end
  if mode.leave then
    mode.leave()
  end
  if modes[#modes] == mode then
    prompt.pop_mode()
  end
  return true
end

-- ---- typing ----

-- The columns by which the current line and the one after it are to be indented; the current line ends at the end of `before`.
function prompt.indent(before)
  return require "penumbra.prompt.indent"(before)
end

-- What may stand at the end of `before`: names, one a line, and where in it they begin.
function prompt.complete(before)
  return require "penumbra.prompt.complete"(before)
end

for _, name in ipairs { "exit", "quit" } do
  if rawget(_G, name) == nil then
    rawset(_G, name, leave)
  end
end

return prompt
