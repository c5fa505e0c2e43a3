-- run_tests.lua -- run the C tests and the busted specs, a job on each processor; ends with one line "N passed, N failed".
-- Usage: lua run_tests.lua [C_TEST ...] -- [SPEC ...]; the Makefile sets the paths and PN_PRELOAD, and in PN_COSTS a file that
-- receives what each test file cost the processors, the dearest first.
-- What a job prints is shown when it ends, what failed in it once more at the end.  A test program that dies, or that prints no
-- count, is one failure more.
-- Depends on: busted, xargs, flock.  Used by: make test.
local GROUP = 5 -- specs of one busted
local SLOWEST = 12 -- jobs, and tests of specs, whose time is said
local SHOWN = 8 -- lines of a failure that are said again
-- LeakSanitizer follows the storage of threads that have ended, and may die of that at the end of some specs in one process: then
-- they run again, each in its own.
local TOOL_DIED = "LeakSanitizer has encountered a fatal error"
-- They watch a terminal or a clock, and mostly wait, or read what the C tests have written: after the others.
local LATE = { "/repl[%w_]*_spec%.lua$", "/federated_programs_spec%.lua$", "/fail_calls_spec%.lua$" }

local programs, specs, late = {}, {}, {}
local into = programs
for _, word in ipairs(arg) do
  if word == "--" then
    into = specs
  else
    into[#into + 1] = word
  end
end
for i = #specs, 1, -1 do
  for _, pattern in ipairs(LATE) do
    if specs[i]:find(pattern) then
      table.insert(late, 1, table.remove(specs, i))
      break
    end
  end
end

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- The command that runs some specs.
local function busted(some)
  local preload, words = os.getenv "PN_PRELOAD" or "", {}
  for i, spec in ipairs(some) do
    words[i] = quote(spec)
  end
  return ("%s %s %s -o plainTerminal --helper=tests/tools/slow.lua -e 'io.stdout:setvbuf(\"line\")' %s"):format(
    preload ~= "" and "env LD_PRELOAD=" .. quote(preload) or "",
    quote(os.getenv "PN_LUA" or "lua5.4"),
    quote(os.getenv "PN_BUSTED" or "/usr/bin/busted"),
    table.concat(words, " ")
  )
end

local passed, failed = 0, 0
local slow, costs = {}, {} -- what slow.lua prints of tests and of files: {seconds=, name=}
local failures = {} -- lines for the end

-- How a failure begins: busted's, check.h's, the sanitizers', Lua's own.
local MARKS = { "^Failure %->", "^Error %->", ": does not hold: ", "^==%d+==ERROR: ", "^SUMMARY: ", ": runtime error: ",
  "^lua[%d.]*: " }

local function failure(text)
  print(text)
  failures[#failures + 1] = text
end

-- Keep for the end what `lines`, a job's, say of failures.
local function remember(name, lines)
  local left = 0
  failures[#failures + 1] = name .. ":"
  for _, line in ipairs(lines) do
    for _, mark in ipairs(MARKS) do
      if line:find(mark) then
        left = SHOWN
      end
    end
    if left > 0 then
      failures[#failures + 1], left = "  " .. line, left - 1
    end
  end
end

local function count(name, lines, code, good, bad)
  if code ~= 0 or not good or bad > 0 then
    remember(name, lines)
  end
  if code ~= 0 then
    failure(("ended by status %d"):format(code))
  end
  if not good then
    failure "no count"
  end
  passed = passed + (good or 0)
  failed = failed + (bad or 0)
  if not good or (code ~= 0 and bad == 0) then
    failed = failed + 1
  end
end

-- Tests print "N passed, N failed", busted its own sentence.
local function counts_of(line)
  local good, bad = line:match "^(%d+) passed, (%d+) failed$"
  if good then
    return tonumber(good), tonumber(bad)
  end
  local right, wrong, broken = line:match "^(%d+) success%a* / (%d+) failure%a* / (%d+) error%a* /"
  if right then
    return tonumber(right), tonumber(wrong) + tonumber(broken)
  end
end

-- Seconds in what `times` prints: "1m2.50s 0m0.25s".
local function seconds_of(took)
  local sum = 0
  for minutes, seconds in took:gmatch "(%d+)m([%d.]+)s" do
    sum = sum + 60 * minutes + seconds
  end
  return sum
end

-- Run the commands of `jobs`, `width` at a time; returns the specs that are to run again.
-- Each writes to a file of its own, which is shown at once: after a line with
-- the job's number and before one with its exit status, both with a mark that no test prints.
local function run(jobs, width)
  local folder, mark = os.tmpname(), ("job-%d"):format(os.time())
  os.remove(folder)
  assert(os.execute("mkdir " .. quote(folder)))
  for i, job in ipairs(jobs) do
    local file = assert(io.open(("%s/%d"):format(folder, i), "w"))
    file:write(job.command, "\n")
    file:close()
  end
  local show = ("echo %s $0; cat %s/$0.out; echo; echo %s $0 $code $took"):format(mark, folder, mark)
  -- The last line of `times`: what the processor spent on the job, for its program and for the system.
  local one = ("sh %s/$0 >%s/$0.out 2>&1 </dev/null; code=$?; times >%s/times$0; took=$(tail -n 1 %s/times$0); "
    .. 'flock %s sh -c "%s"'):format(folder, folder, folder, folder, folder, show)
  local pipe = assert(io.popen(("seq %d | xargs -r -P %d -n 1 sh -c %s 2>&1"):format(#jobs, width, quote(one))))
  local good, bad, lines, died
  local again = {}
  for line in pipe:lines() do
    local number, code, took = line:match("^" .. mark:gsub("%-", "%%-") .. " (%d+) ?(%d*) ?(.*)$")
    if number and code == "" then
      good, bad, lines, died = nil, nil, {}, false
      print(jobs[tonumber(number)].name .. ":")
    elseif number then
      local job = jobs[tonumber(number)]
      job.seconds = seconds_of(took)
      if died and job.specs and #job.specs > 1 then
        table.move(job.specs, 1, #job.specs, #again + 1, again)
      else
        count(job.name, lines, tonumber(code), good, bad)
      end
    elseif line ~= "" then
      local shown, cost, file = line:match "^(.*)cost ([%d.]+) s (.*)$"
      if cost then
        costs[#costs + 1], line = { seconds = tonumber(cost), name = file }, shown
      end
      print(line)
      lines[#lines + 1] = line
      died = died or line:find(TOOL_DIED, 1, true) ~= nil
      local seconds, name = line:match "slow ([%d.]+) s (.*)$"
      if seconds then
        slow[#slow + 1] = { seconds = tonumber(seconds), name = name }
      end
      local g, b = counts_of(line)
      good, bad = g or good, b or bad
    end
    io.stdout:flush()
  end
  pipe:close()
  os.execute("rm -rf " .. quote(folder))
  for _, job in ipairs(jobs) do
    if not job.seconds then
      failure(job.name .. ": did not run")
      failed = failed + 1
    end
  end
  return again
end

local function add_specs(jobs, list, group)
  for first = 1, #list, group do
    local some = table.move(list, first, math.min(first + group - 1, #list), 1, {})
    jobs[#jobs + 1] = { name = table.concat(some, " "), specs = some, command = busted(some) }
  end
end

local function processors()
  local pipe = assert(io.popen "nproc")
  local number = tonumber(pipe:read "a") or 1
  pipe:close()
  return number
end

-- Where C tests write which calls they made fail (tests/fail_calls.h).
local failed_calls = os.getenv "PN_FAILED_CALLS"
if failed_calls then
  assert(os.execute(("rm -rf %s && mkdir -p %s"):format(quote(failed_calls), quote(failed_calls))))
end

local jobs, last = {}, {}
add_specs(jobs, specs, GROUP) -- the longest are among them
for _, program in ipairs(programs) do
  jobs[#jobs + 1] = { name = program:match "tests/(.*)$" or program, command = quote(program) }
end
add_specs(last, late, 3)
local again = run(jobs, processors() + 1) -- some jobs wait
for _, spec in ipairs(run(last, 2)) do again[#again + 1] = spec end
local singly = {}
add_specs(singly, again, 1)
run(singly, 1)

if passed + failed == 0 then
  print "no tests match"
  failed = 1
end

-- Where the time of the processors went, for who wants the suite to be quicker.
local function print_slowest(list, least)
  table.sort(list, function(a, b) return (a.seconds or 0) > (b.seconds or 0) end)
  for i = 1, math.min(SLOWEST, #list) do
    if (list[i].seconds or 0) >= least then
      print(("%6.1f s  %s"):format(list[i].seconds, list[i].name))
    end
  end
end

local all, spent = table.move(last, 1, #last, #jobs + 1, jobs), 0
for _, job in ipairs(all) do
  spent = spent + (job.seconds or 0)
  costs[#costs + 1] = not job.specs and { seconds = job.seconds or 0, name = job.name } or nil
end
local account = os.getenv "PN_COSTS" and io.open(os.getenv "PN_COSTS", "w")
if account then
  table.sort(costs, function(a, b) return a.seconds > b.seconds end)
  for _, file in ipairs(costs) do
    account:write(("%7.2f s  %s\n"):format(file.seconds, file.name))
  end
  account:close()
end
print_slowest(all, 10)
print_slowest(slow, 2)
print(("%6.1f s of the processors for all"):format(spent))
for _, line in ipairs(failures) do
  print(line)
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
