-- make_data.lua -- two clinics with the same patients and different measurements: writes two CSV files and the keys into run/.
--   penumbra examples/federated/make_data.lua
-- Everything is generated, so nobody's data is in it and anybody may use it.  In earnest each side makes its own keys at home and
-- sends only the .pub files; the clinics share people.key, and the server never sees it.
local pn = require "penumbra"
local folder = (arg and arg[0] and arg[0]:match "^(.*)/" or ".") .. "/run"
assert(os.execute(("mkdir -p '%s'"):format(folder)))

local PATIENTS, COLUMNS = 20000, 8
local NAMES = {
  a = { "pressure", "pulse", "glucose", "cholesterol", "iron", "sodium", "potassium", "weight" },
  b = { "steps", "sleep", "smoking", "alcohol", "fibre", "salt", "sugar", "stress" },
}
-- What the outcome, a score between -1 and 1, really depends on; an l1 ball of radius 1 holds it.
local TRUTH = { a = { pressure = 0.4 }, b = { smoking = 0.25, steps = -0.25 } }

local rng = pn.rng.seeded(2018)
local function uniform() return 2 * rng:uniform() - 1 end

local patients = {}
for i = 1, PATIENTS do
  local one = { id = ("P%06d"):format(100000 + 37 * i), a = {}, b = {} }
  local score = 0.1 * uniform()
  for _, clinic in ipairs { "a", "b" } do
    for j = 1, COLUMNS do
      one[clinic][j] = uniform()
    end
    for j, name in ipairs(NAMES[clinic]) do score = score + (TRUTH[clinic][name] or 0) * one[clinic][j] end
  end
  one.outcome = math.max(-1, math.min(1, score))
  patients[i] = one
end

-- Every clinic has the patients in an order of its own.
local function shuffled(list)
  local copy = table.move(list, 1, #list, 1, {})
  for i = #copy, 2, -1 do
    local j = 1 + math.floor(rng:uniform() * i)
    copy[i], copy[j] = copy[j], copy[i]
  end
  return copy
end

for _, clinic in ipairs { "a", "b" } do
  local path = ("%s/clinic_%s.csv"):format(folder, clinic)
  local lines = { "patient," .. table.concat(NAMES[clinic], ",") .. ",outcome\n" }
  for _, one in ipairs(shuffled(patients)) do
    local cells = {}
    for j, value in ipairs(one[clinic]) do cells[j] = ("%.3f"):format(value) end
    lines[#lines + 1] = ("%s,%s,%.3f\n"):format(one.id, table.concat(cells, ","), one.outcome)
  end
  assert(require "penumbra.files".put(path, table.concat(lines)))
  print(("%s: %d patients, %d columns"):format(path, PATIENTS, COLUMNS))
end

for _, name in ipairs { "server", "clinic_a", "clinic_b" } do
  local path = folder .. "/" .. name .. ".key"
  local there = io.open(path)
  if there then
    there:close()
  else
    print(("%s.pub: %s"):format(path, pn.federated.keygen(path)))
  end
end

-- The key that both clinics sort their patients by is made when it is first used.
pn.federated.align(pn.data.from({ { 0 } }, { 0 }), { key = folder .. "/people.key", ids = { "nobody" } })
