-- magic.lua -- what the prompt understands beside Lua: "%time x" and the other words of the table below, "?x", "x?" and "!ls".
-- A new word is a line of that table: its name, arguments, meaning, and what it does.
-- Depends on: penumbra.colour, penumbra.columns, penumbra.prompt.near, penumbra.prompt, penumbra.prompt.show,
-- penumbra.prompt.tokens; penumbra.prompt.inspect for "?".  Used by: penumbra.prompt.
local colour = require "penumbra.colour"
local columns = require "penumbra.columns"
local prompt = require "penumbra.prompt"
local wrap = require "penumbra.wrap"

local BENCH_SECONDS, BENCH_RUNS, BENCH_LEAST = 2, 10000, 3

local magic = {}

local function clocks()
  local fine, terminal = pcall(require, "penumbra.terminal")
  if fine then return terminal.clocks() end
  return os.time(), os.clock()
end

local function duration(seconds)
  for _, unit in ipairs { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } } do
    if seconds >= unit[1] then return ("%.3g %s"):format(seconds / unit[1], unit[2]) end
  end
  return ("%.3g ns"):format(seconds / 1e-9)
end

local function say(text, role)
  io.write(role and colour.paint(text, role) or text, "\n")
end

local function refuse(...)
  error((...):format(select(2, ...)), 0)
end

-- The code behind a magic word, compiled; a wrong one is shown as in an entry.
local function compiled(code)
  if not code:find "%S" then refuse "an expression or a statement is missing" end
  local number = #prompt.entries
  prompt.sources[number] = code
  local run, message = prompt.compile(code, prompt.env(), ("=[%d]"):format(number))
  if not run then error(require "penumbra.errors".syntax(message), 0) end
  return run
end

-- ---- time ----

local function is_fit(value)
  local metatable = debug.getmetatable(value)
  return type(value) == "userdata" and type(metatable) == "table" and rawget(metatable, "__name") == "pn.fit"
end

local function time(code)
  local run = compiled(code)
  local wall, cpu = clocks()
  local values = table.pack(run())
  local wall_after, cpu_after = clocks()
  local parts = { "wall " .. duration(wall_after - wall), "cpu " .. duration(cpu_after - cpu) }
  if is_fit(values[1]) then parts[3] = ("%s gradients"):format(values[1].gradients) end
  say(table.concat(parts, ", "), "dim")
  return table.unpack(values, 1, values.n)
end

local function at_share(sorted, share)
  return sorted[math.max(1, math.ceil(share * #sorted))]
end

local function bench_text(times)
  table.sort(times)
  return ("median %s, least %s, middle half %s to %s, %d run%s"):format(duration(at_share(times, 0.5)),
    duration(times[1]), duration(at_share(times, 0.25)), duration(at_share(times, 0.75)), #times,
    #times == 1 and "" or "s")
end

-- Ctrl-C ends the repeats and shows what they have measured.
local function bench(code)
  local run, times = compiled(code), {}
  local first = clocks()
  local fine, message = pcall(require "penumbra.frame", "bench", 0, nil, function(tell)
    repeat
      local before = clocks()
      run()
      local now = clocks()
      times[#times + 1] = now - before
      tell(#times, times[#times])
    until #times >= BENCH_RUNS or now - first > BENCH_SECONDS and #times >= BENCH_LEAST
  end)
  if not fine and (#times == 0 or not require "penumbra.stopped"(message)) then error(message, 0) end
  say(bench_text(times) .. (fine and "" or " (stopped)"))
end

-- ---- what there is ----

-- The user's own names, sorted.
local function own_names()
  local env, list = prompt.env(), {}
  for name in next, env do
    if type(name) == "string" and not (env == _G and prompt.known[name]) and not name:find "^_%d*$"
      and name ~= "__" then
      list[#list + 1] = name
    end
  end
  table.sort(list)
  return list
end

-- What the session has spent on each data set, whatever paid for it; then the ledgers that have names.
local function ledger()
  local env, found, seen = prompt.env(), 0, {}
  local spent = require "penumbra.core".session()
  if #spent > 0 then say(colour.result(tostring(spent))) end
  local function look(value)
    local metatable = debug.getmetatable(value)
    if type(value) == "userdata" and type(metatable) == "table" and rawget(metatable, "__name") == "pn.ledger"
      and not seen[value] then
      seen[value] = true
      return true
    end
  end
  for _, name in ipairs(own_names()) do
    local value = rawget(env, name)
    if look(value) then
      found = found + 1
      say(colour.paint(name, "name") .. ": " .. colour.result(tostring(value)))
    elseif type(value) == "table" then
      for key, inner in next, value do
        if look(inner) then
          found = found + 1
          say(colour.paint(("%s.%s"):format(name, tostring(key)), "name") .. ": " .. colour.result(tostring(inner)))
        end
      end
    end
  end
  if found == 0 and #spent == 0 then
    say 'nothing was released, and no ledger is in your names; help "budget" tells how to set a limit'
  end
end

local function who()
  local env, rows = prompt.env(), { { "name", "type", "bytes", "value" } }
  local inspect = require "penumbra.prompt.inspect"
  for _, name in ipairs(own_names()) do
    local about = inspect.about(rawget(env, name))
    rows[#rows + 1] = { name, about.type, about.bytes and inspect.bytes_text(about.bytes) or "", about.short }
  end
  if #rows == 1 then return say "nothing yet: names that you assign are listed here" end
  local widths = { 0, 0, 0 }
  for _, row in ipairs(rows) do
    for i = 1, 3 do widths[i] = math.min(math.max(widths[i], #row[i]), 20) end
  end
  for i, row in ipairs(rows) do
    local line = ("%-" .. widths[1] .. "s  %-" .. widths[2] .. "s  %" .. widths[3] .. "s  "):format(row[1], row[2], row[3])
    line = line .. inspect.cut(row[4], math.max(columns() - #line, 8))
    say(i == 1 and colour.paint(line, "heading") or line)
  end
end

-- ---- entries ----

local function history(words)
  local count = #prompt.entries - 1 -- without this one
  local last = words == "" and 20 or math.tointeger(tonumber(words))
  if not last or last < 1 then refuse("give how many entries to show, as in %%history 5, not %s", words) end
  for i = math.max(1, count - last + 1), count do
    local mark = ("%4d  "):format(i)
    say(colour.paint(mark, "dim") .. colour.code((prompt.entries[i]:gsub("\n", "\n" .. (" "):rep(#mark)))))
  end
end

-- Entry number `number`, or the last that is not a magic word.
local function entry_text(number)
  if number then
    return prompt.entries[number] or refuse("there is no entry %d; %%history lists them", number)
  end
  for i = #prompt.entries - 1, 1, -1 do
    if not prompt.entries[i]:find "^%s*[%%?]" then return prompt.entries[i] end
  end
  return ""
end

local function at_home(path)
  return (path:gsub("^~/", function() return (os.getenv "HOME" or "~") .. "/" end))
end

local function write_file(path, text)
  local fine, why = require "penumbra.files".put(path, text)
  if not fine then refuse("%s", why) end
end

local function read_file(path)
  local file, message = io.open(path, "r")
  if not file then refuse("%s", message) end
  local text = file:read "a"
  file:close()
  return text
end

local function editor_of(variable)
  local command = os.getenv(variable)
  return command ~= "" and command or nil
end

-- The editor changes a copy; what comes back runs as an entry of its own.
local function edit(words)
  local number = math.tointeger(tonumber(words))
  if words ~= "" and not number then refuse("give the number of an entry, as in %%edit 3, not %s", words) end
  local path = os.tmpname()
  write_file(path, entry_text(number) .. "\n")
  local editor = editor_of "VISUAL" or editor_of "EDITOR" or "vi"
  local fine = os.execute(("%s '%s'"):format(editor, path))
  local text = read_file(path):gsub("%s+$", "")
  os.remove(path)
  if not fine then refuse("the editor failed: %s", editor) end
  if text == "" then return end
  say(colour.code(text))
  prompt.entries[#prompt.entries + 1] = text
  return compiled(text)()
end

-- The numbers of "1-5 8"; nil for anything else.
local function numbers_of(words)
  local chosen = {}
  for word in words:gmatch "%S+" do
    local first, last = word:match "^(%d+)%-?(%d*)$"
    if not first then return nil end
    for i = tonumber(first), tonumber(last) or tonumber(first) do
      entry_text(i) -- refuses what is not there
      chosen[#chosen + 1] = i
    end
  end
  return chosen
end

-- With "_" as the number that it had in entry `number`.
local function with_numbers(code, number)
  local before = number - 1
  while before > 0 and not prompt.numbers[before] do before = before - 1 end
  local out, last = {}, nil
  for i, token in ipairs(require "penumbra.prompt.tokens"(code)) do
    local read = token.text == "_" and last ~= "." and not code:find("^%s*=[^=]", token.to + 1)
    out[i] = read and before > 0 and "_" .. prompt.numbers[before] or token.text
    last = token.text
  end
  return table.concat(out)
end

-- What runs as a script: results have their names, and of a magic word there is its code.
local function script_of(number)
  local code = prompt.entries[number]
  if code:find "^%s*%%" then code = prompt.sources[number] or "?" end
  local statement = prompt.as_statement(code, prompt.numbers[number])
  return statement and with_numbers(statement, number) or nil
end

local function save(words)
  local path, list = words:match "^(%S+)%s*(.*)$"
  local quote = words:match "^[\"']"
  if quote then path, list = words:match("^" .. quote .. "(.-)" .. quote .. "%s*(.*)$") end
  local numbers = path and not path:find "^%d+%-?%d*$" and numbers_of(list)
  if not numbers then refuse "give a file and entries: %%save work.lua 1-5 8" end
  local all, texts = #numbers == 0, {}
  for i = 1, all and #prompt.entries - 1 or #numbers do
    local number = all and i or numbers[i]
    local skipped = all and (prompt.failed[number] or prompt.entries[number]:find "^%s*%%")
    texts[#texts + 1] = not skipped and script_of(number) or nil
  end
  write_file(at_home(path), table.concat(texts, "\n") .. "\n")
  say(("%d entr%s in %s"):format(#texts, #texts == 1 and "y" or "ies", path), "dim")
end

local function run_file(words)
  local path = words:match "^[\"']?(.-)[\"']?%s*$"
  if path == "" then refuse "give a file: %%run work.lua" end
  local run, message = loadfile(at_home(path), "t", prompt.env())
  if not run then error(require "penumbra.errors".syntax(message), 0) end
  return run()
end

-- "!ls": a line for the shell.
local function shell(line)
  if not line:find "%S" then refuse "give a command for the shell: !ls" end
  io.stdout:flush()
  local fine, how, status = os.execute(line)
  if not fine then say((how == "signal" and "(ended by signal %d)" or "(exit status %d)"):format(status), "dim") end
end

-- ---- the table ----

local list

local function overview()
  for _, row in ipairs(list) do
    local left = ("  %%%-16s"):format(row[1] .. (row[2] == "" and "" or " " .. row[2]))
    io.write(colour.paint(left, "name"), wrap((" "):rep(#left), row[3], #left):sub(#left + 1))
  end
  io.write(colour.paint("  ?x, x?           ", "name"), "what x is; ??x and x?? say more\n")
  io.write(colour.paint("  !COMMAND         ", "name"), "run it in the shell\n")
  io.write(wrap("  ", "_ is the last result, _1, _2 ... the numbered ones; `;` at the end prints nothing.  "
    .. "Alt-Enter breaks a line, Ctrl-R searches the history, Up finds what begins as typed.", 2))
end

-- name, arguments, meaning, what it does with the text behind it, whether that is code
list = {
  { "time", "CODE", "run it once: wall clock, processor time, gradients of a fit", time, true },
  { "bench", "CODE", "run it for about 2 s: median, least, middle half; Ctrl-C ends it", bench, true },
  { "ledger", "", "what each data set has cost in this session, and the ledgers in your names", ledger },
  { "who", "", "your names: type, size in memory, value in short", who },
  { "history", "[N]", "the last N entries (20), with their numbers", history },
  { "edit", "[N]", "entry N (the last) in $EDITOR; what comes back is run", edit },
  { "save", "FILE [N-M]", "write entries (all that ran, but %words) as a script", save },
  { "run", "FILE", "run a file; its globals stay", run_file },
  { "help", "", "this list", overview },
}

function magic.names()
  local names = {}
  for i, row in ipairs(list) do names[i] = "%" .. row[1] end
  return names
end

local function find(name)
  local known = {}
  for i, row in ipairs(list) do
    if row[1] == name then return row end
    known[i] = row[1]
  end
  local close = require "penumbra.prompt.near".nearest(name, known)
  return nil, ("there is no %%%s; %s"):format(name, close and ("did you mean `%%%s`?"):format(close) or "%help lists what there is")
end

local function inspection(text, more)
  return { run = function() require "penumbra.prompt.inspect".show(text, more) end }
end

-- { run =, code = } for an entry that is no Lua, or nil.  `code` is Lua that has to be finished first.
function magic.read(entry)
  local command = entry:match "^%s*!(.*)$"
  if command then return { run = function() return shell(command) end } end
  local marks, asked = entry:match "^%s*(%?+)%s*(.-)%s*$"
  if not marks then
    asked, marks = entry:match "^%s*(.-)%s*(%?+)%s*$"
    -- the parentheses: no mark at the end of a comment
    if asked and not asked:find "^[%w_.:]+$" and not load("return (" .. asked .. ")") then return nil end
  end
  if marks then
    return inspection(asked, #marks > 1)
  end
  local name, words = entry:match "^%s*%%(%a*)%s*(.*)$"
  if not name then return nil end
  local row, message = find(name == "" and "help" or name)
  return {
    code = row and row[5] and words:find "%S" and words or nil,
    run = function()
      if not row then error(message, 0) end
      if row[2] == "" and words:find "%S" then refuse("%%%s takes nothing behind it, got %s", row[1], words) end
      return row[4]((words:gsub("%s+$", "")))
    end,
  }
end

return magic
