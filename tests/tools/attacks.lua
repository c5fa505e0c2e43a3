-- attacks.lua -- runs a script against two curators whose public facts agree and whose records do not, and says what is wrong
-- with what it was told and charged.
-- Depends on: penumbra, /proc.  Used by: tests/curator/attacks_spec.lua.
local pn = require "penumbra"
local attacks = {}

local N = 24

local prelude = [[
local C, zero, asked = pn.set.l2_ball{dim=3, radius=1}, pn.vec.zeros(3), {rho=0.01, iterations=2}
local obj = pn.objective{data=data.d, loss=pn.loss.logistic(), set=C}
]]
local honest = [[return pn.query.count{data=data.d, columns={1}, low={-1}, high={1}, epsilon=0.001}.value]]

-- Rows of the ordinary kind, or of the awkward: zero, denormal, repeated, at the bound, with labels that are nearly all alike.
local function rows(awkward)
  local odd = { { 0, 0, 0 }, { 5e-324, 0, 0 }, { 1e-310, -1e-310, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { -0.0, 1e-160, 1 } }
  local X, y, real = {}, {}, {}
  for i = 1, N do
    local t = i * 0.7
    X[i] = awkward and odd[i % #odd + 1] or { 0.5 * math.sin(t), 0.5 * math.cos(t), 0.3 * math.sin(3 * t) }
    y[i] = (awkward and i < N or not awkward and i % 2 == 0) and 1 or -1
    real[i] = awkward and (i == 1 and 1 or 5e-324) or math.cos(i)
  end
  return X, y, real
end

-- Of the records of one kind; `limits` are options of pn.curator, `budget` one of pn.ledger.
function attacks.curator(awkward, limits, budget)
  local X, y, real = rows(awkward)
  local options = { memory = 64, seconds = 60, instructions = 20000000, threads = 1, process = false }
  for name, value in pairs(limits) do options[name] = value end
  options.data = {
    d = pn.data.from(X, y):clip_rows("l2", 1),
    r = pn.data.from(X, real):clip_rows("l2", 1):clip_labels(-1, 1),
  }
  options.ledger = pn.ledger(budget or { rho = 40 })
  return { runs = pn.curator(options), ledger = options.ledger }
end

-- What the analyst and the ledger were told of one script.
function attacks.tell(on, attack, file)
  local before, known = on.ledger.spent, #on.ledger:report()
  local code = attack.raw and attack.script or prelude .. attack.script:gsub("$FILE", (file:gsub("%%", "%%%%")))
  local r = on.runs:run(code, "a")
  local told = { ok = r.ok, status = r.status, error = r.error, answer = r.answer, output = r.output, spent = r.spent,
    refunded = on.ledger.spent < before, charged = on.ledger.spent - before, events = {} }
  for i, entry in ipairs(on.ledger:report()) do
    if i >= known then told.events[#told.events + 1] = tostring(entry.event) .. entry.count .. tostring(entry.label) end
  end
  return told
end

-- Whether it answers who asks honestly, and charges him.
function attacks.answers(on)
  local before = on.ledger.spent
  local r = on.runs:run(honest, "a")
  return r.ok and on.ledger.spent > before
end

local function meets(told, expects)
  local said = told.ok and (told.answer or "") or told.error
  if expects == "nothing new" then return told.ok end
  if expects == "refused" then return not told.ok and told.status == "EPRIVACY" end
  if expects == "limit" then return told.status == "ELIMIT" or told.status == "ENOMEM" end
  return said:find(expects) ~= nil
end

local function paid(told, pays)
  if not pays then return told.charged == 0 and told.spent == 0 end
  local low, high = pays == true and 0 or 0.9 * pays, pays == true and math.huge or pays * (1 + 1e-6)
  return told.charged > low and told.charged <= high and math.abs(told.spent - told.charged) < 1e-9
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

-- A line that both say twice, and each in its own way: nothing in it is noise.  nil where there is none.
local function exact_line(one, other, again, anew)
  local a, b, c, d = lines_of(one), lines_of(other), lines_of(again), lines_of(anew)
  for i, line in ipairs(a) do
    if line == c[i] and b[i] == d[i] and line ~= b[i] then return line .. " | " .. tostring(b[i]) end
  end
end

-- Complaints of what two curators told; `again` and `anew` are the same once more, and wanted where answers are noisy.
function attacks.judge(attack, one, other, again, anew)
  local wrong = {}
  local function complain(fine, what, a, b)
    if not fine then wrong[#wrong + 1] = what .. ": " .. tostring(a) .. " | " .. tostring(b) end
  end
  for _, told in ipairs { one, other } do
    complain(meets(told, attack.expects), "expected " .. attack.expects, told.ok and told.answer or told.error, told.status)
    complain(not told.refunded, "refunded", told.charged)
    complain(paid(told, attack.pays), "charged other than " .. tostring(attack.pays), told.charged, told.spent)
    local text = (told.answer or "") .. (told.error or "") .. told.output
    complain(not text:find "0x%x%x%x", "an address", text)
    complain(not (text:find("sandbox.lua", 1, true) or text:find "stack traceback"), "a place in the sandbox", text)
  end
  for _, field in ipairs { "ok", "status", "error", "charged", "answer", "output" } do
    local noisy = attack.noisy and (field == "answer" or field == "output")
    local a, b = one[field], other[field]
    if field == "charged" then a, b = ("%.9g"):format(a), ("%.9g"):format(b) end
    if noisy and again then
      complain(one[field] == nil or one[field] == "" or one[field] ~= again[field], "a value without noise in the " .. field, a)
    elseif not noisy then
      complain(a == b, "the records show in the " .. field, a, b)
    end
  end
  local exact = anew and exact_line(one.output, other.output, again.output, anew.output)
  complain(not exact, "a line without noise", exact)
  complain(table.concat(one.events, "\n") == table.concat(other.events, "\n"), "the records show in the ledger",
    one.events[#one.events], other.events[#other.events])
  return wrong
end

local function read(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  pipe:close()
  return text
end

-- The names in a folder.
function attacks.names(folder) return read("ls -A '" .. folder .. "'") end

-- The processes that this one has started and not seen end.
function attacks.children()
  local stat = assert(io.open "/proc/self/stat")
  local pid = stat:read("a"):match "^%d+"
  stat:close()
  local list = assert(io.open(("/proc/%s/task/%s/children"):format(pid, pid)))
  local text = list:read "a"
  list:close()
  return text
end

return attacks
