-- run_tests.lua -- run the C tests, then the busted specs, and end with one line "N passed, N failed" for all.
-- Usage: lua run_tests.lua [C_TEST ...] -- [SPEC ...]; the Makefile sets the paths and PN_PRELOAD.
-- A test program that dies, or that prints no count, is one failure more.  Depends on: busted.  Used by: make test.
local programs, specs = {}, {}
local into = programs
for _, word in ipairs(arg) do
  if word == "--" then
    into = specs
  else
    into[#into + 1] = word
  end
end

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- Run a command, show its lines as they come, hand each to `see`; true when it exits with 0.
local function run(command, see)
  local pipe = assert(io.popen(command .. " 2>&1", "r"))
  for line in pipe:lines() do
    print(line)
    io.stdout:flush()
    see(line)
  end
  local ok, how, code = pipe:close()
  if not ok then
    print(("ended by %s %d"):format(how, code))
  end
  return ok == true
end

local passed, failed = 0, 0

local function count(ok, good, bad)
  passed = passed + (good or 0)
  failed = failed + (bad or 0)
  if not good or (not ok and bad == 0) then
    failed = failed + 1
  end
end

for _, program in ipairs(programs) do
  local good, bad
  io.stdout:write(program:match("tests/(.*)$") or program, ": ")
  io.stdout:flush()
  local ok = run(quote(program), function(line)
    local p, f = line:match("^(%d+) passed, (%d+) failed$")
    if p then
      good, bad = tonumber(p), tonumber(f)
    end
  end)
  if not good then
    print("no count")
  end
  count(ok, good, bad)
end

if #specs > 0 then
  local preload, words = os.getenv("PN_PRELOAD") or "", {}
  for i, spec in ipairs(specs) do
    words[i] = quote(spec)
  end
  local command = ("%s %s %s -o plainTerminal -e 'io.stdout:setvbuf(\"line\")' %s"):format(
    preload ~= "" and "env LD_PRELOAD=" .. quote(preload) or "",
    quote(os.getenv("PN_LUA") or "lua5.4"),
    quote(os.getenv("PN_BUSTED") or "/usr/bin/busted"),
    table.concat(words, " ")
  )
  local good, bad
  local ok = run(command, function(line)
    local s, f, e = line:match("^(%d+) success%a* / (%d+) failure%a* / (%d+) error%a* /")
    if s then
      good, bad = tonumber(s), tonumber(f) + tonumber(e)
    end
  end)
  count(ok, good, bad)
end

if passed + failed == 0 then
  print("no tests match")
  failed = 1
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
