-- program.lua -- run the program as people do: with arguments, from a pipe, on a terminal.
-- Depends on: a C compiler, pty_run.c, busy.c.  Used by: specs of the program.
local program = {}

program.path = os.getenv "PENUMBRA" or "build/penumbra"
program.tree = program.path:match "^(.*)/[^/]*$" or "."

local CLEAN = "env -u PENUMBRA_HISTORY PENUMBRA_STARTUP= "

local function quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end
program.quote = quote

local function read_all(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end
program.read_all = read_all

local function write_all(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  file:close()
end
program.write_all = write_all

-- The command of the stock interpreter, which can load a sanitized module only with what is loaded before it.
function program.interpreter()
  local preload = os.getenv "PN_PRELOAD"
  return (preload and "env LD_PRELOAD=" .. quote(preload) .. " " or "") .. (os.getenv "PN_LUA" or "lua5.4")
end

-- Run a shell command; what it wrote to stdout and stderr, and its exit status.
function program.shell(command, input)
  local paths = { os.tmpname(), os.tmpname(), os.tmpname() }
  write_all(paths[1], input or "")
  local line = ("%s sh -c %s <%s >%s 2>%s"):format(CLEAN, quote(command), paths[1], paths[2], paths[3])
  local _, how, code = os.execute(line)
  local out, err = read_all(paths[2]), read_all(paths[3])
  for _, path in ipairs(paths) do os.remove(path) end
  return out, err, how == "signal" and 128 + code or code
end

-- Run the program with the words as arguments and `input` on its stdin.
function program.run(words, input)
  local parts = { "exec", quote(program.path) }
  for _, word in ipairs(words) do parts[#parts + 1] = quote(word) end
  return program.shell(table.concat(parts, " "), input)
end

-- A stand-in for io.stdout or io.stderr that keeps what is written to it.
local function kept()
  local texts, file = {}, {}
  function file:write(...)
    table.move({ ... }, 1, select("#", ...), #texts + 1, texts)
    return self
  end
  function file:flush() return self end
  return file, texts
end

-- What program.run gives for a word of main.c's table and what follows, in this process: the same file of stdlib/programs is called
-- with the same words.  For tables of refusals: a start takes 40 ms of a processor, and 200 under a sanitizer.
function program.call(words)
  local name = (words[1] == "party" or words[1] == "server") and "federated" or words[1]
  local main, stdout, stderr = require("penumbra.programs." .. name), io.stdout, io.stderr
  local out, said = kept()
  local err, complained = kept()
  rawset(io, "stdout", out)
  rawset(io, "stderr", err)
  local fine, status = pcall(main, table.unpack(words))
  rawset(io, "stdout", stdout)
  rawset(io, "stderr", stderr)
  assert(fine, status)
  return table.concat(said), table.concat(complained), status
end

local function must(command)
  local out, err, code = program.shell(command)
  assert(code == 0, command .. "\n" .. out .. err)
end

local built = {}

local function build(name, command)
  if not built[name] then
    built[name] = program.tree .. "/tests/tools/" .. name
    must("mkdir -p " .. quote(program.tree .. "/tests/tools"))
    -- Under a name of its own first: other specs, in processes beside this one, may be running the program.
    local unique = os.tmpname()
    os.remove(unique)
    local mine = built[name] .. unique:match "[^/]*$"
    must(command:gsub("OUT", (mine:gsub("%%", "%%%%"))) .. "")
    assert(os.rename(mine, built[name]))
  end
  return built[name]
end

-- A program of C, under that name in the tree, from `words` of the compiler's: sources, objects, options.  It is built with the
-- sanitizers that the tree has, and linked with its libraries.
function program.compiled(name, words)
  local config, flags = read_all(program.tree .. "/config.mk"), read_all(program.tree .. "/flags")
  local threads = flags:find "%-fsanitize=thread" and "tests/tools/longjmp.c " or ""
  local function setting(setting_name) return config:match(setting_name .. " :?= ?([^\n]*)") or "" end
  return build(name, table.concat({
    os.getenv "PN_CC" or "cc", "-std=c17 -g", flags:match "%-fsanitize=%S+" or "",
    "-Iruntime/include -Iruntime -Ibindings/embed -I.", setting "LUA_CFLAGS", "-pthread -o OUT", threads .. words,
    program.tree .. "/libpenumbra_federated.a", program.tree .. "/libpenumbra.a",
    setting "LUA_LIBS", setting "READLINE_LIBS", setting "SECCOMP_LIBS", setting "DEP_LIBS", setting "FEDERATED_LIBS", "-lm",
  }, " "))
end

-- The program with pn.busy in it (busy.c), for what is about long calls.
function program.with_busy()
  local objects = {}
  for object in read_all(program.tree .. "/objects"):gmatch "%S+" do -- those of the Makefile: older ones may lie beside them
    if object:find "/bindings/" then objects[#objects + 1] = quote(object) end
  end
  return program.compiled("penumbra_busy", "-Wl,--wrap=luaopen_penumbra_core tests/tools/busy.c " .. table.concat(objects, " "))
end

-- Play a script of keys (see pty_run.c) to a command line on a terminal; the screen and the exit status.
function program.play(keys, command, columns)
  local player = build("pty_run", (os.getenv "PN_CC" or "cc") .. " -std=c17 -o OUT tests/tools/pty_run.c -lutil")
  local script = os.tmpname()
  write_all(script, keys)
  local out, err, code = program.shell(("exec %s %d %s env TERM=xterm NO_COLOR=1 INPUTRC=/dev/null sh -c %s"):format(
    quote(player), columns or 80, script, quote("exec " .. command)))
  os.remove(script)
  return out, code, err
end

-- The command line of the prompt, with a history file (none when nil).
function program.prompt(history, path)
  return ("env PENUMBRA_HISTORY=%s %s"):format(quote(history or ""), quote(path or program.path))
end

-- What body() writes with io.write in this process.
function program.capture(body)
  local written, write = {}, io.write
  rawset(io, "write", function(...)
    for _, text in ipairs { ... } do written[#written + 1] = text end
    return io.stdout
  end)
  local answers = table.pack(pcall(body))
  rawset(io, "write", write)
  assert(answers[1], answers[2])
  return table.concat(written), table.unpack(answers, 2, answers.n)
end

return program
