-- simulate.lua -- the same two clinics in one process: what privacy and the split of the columns cost.
--   penumbra examples/federated/make_data.lua && penumbra examples/federated/simulate.lua
-- SEED=1 repeats the noise, which is then worth nothing.
local pn = require "penumbra"
local folder = (arg and arg[0] and arg[0]:match "^(.*)/" or ".")
local seed = tonumber(os.getenv "SEED" or nil)
local function noise() return seed and pn.rng.seeded(seed) or pn.rng.secure() end

-- Each clinic's file, sorted as the clinics sort it.
local function clinic(name)
  local cfg = dofile(folder .. "/" .. name .. ".lua")
  local data = pn.data.csv(folder .. "/" .. cfg.data.csv, cfg.data.options)
  data = data:clip_rows("linf", cfg.clip.features):clip_labels(table.unpack(cfg.clip.labels))
  return pn.federated.align(data, {
    key = folder .. "/" .. cfg.alignment.key, csv = folder .. "/" .. cfg.data.csv, column = cfg.alignment.column })
end
local a, digest_a = clinic "clinic_a"
local b, digest_b = clinic "clinic_b"
print(("the clinics have the same %d patients: %s"):format(a.n, digest_a == digest_b))

-- All columns side by side, which in earnest nobody ever has.
local rows, labels, Xa, Xb = {}, a.y:table(), a.X, b.X
for i = 1, a.n do
  local row, more = Xa[i]:table(), Xb[i]:table()
  rows[i] = table.move(more, 1, #more, #row + 1, row)
end
local data = pn.data.from(rows, labels):clip_rows("linf", 1):clip_labels(-1, 1)
local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = data.p, radius = 1 } }

local best = pn.solve.exact(objective).value
local function line(what, theta)
  local largest, picked = theta:table(), {}
  for j in ipairs(largest) do picked[j] = j end
  table.sort(picked, function(i, j) return math.abs(largest[i]) > math.abs(largest[j]) end)
  local shown = {}
  for k = 1, 3 do shown[k] = ("%d: %+.2f"):format(picked[k], largest[picked[k]]) end
  print(("%-34s excess %.4f   largest %s"):format(what, objective:value(theta) - best, table.concat(shown, "  ")))
end

local cfg = dofile(folder .. "/server.lua")
local function federated(changes)
  local options = {
    transport = pn.federated.in_process { columns = { a.p, b.p } }, mode = cfg.mode, iterations = cfg.iterations,
    epsilon = cfg.epsilon, delta = cfg.delta, sketch = cfg.sketch, clip = cfg.clip, progress = false,
    rng = noise(),
  }
  for name, value in pairs(changes or {}) do options[name] = value end
  if options.privacy == false then options.epsilon, options.delta = nil, nil end
  return pn.solve.federated_frank_wolfe(objective, options), options.transport
end

line("zero", pn.vec.zeros(data.p))
line("federated, without noise", federated { privacy = false }.theta)
local fit, transport = federated()
line(("federated, epsilon = %g"):format(cfg.epsilon), fit.theta)
line(("the same, all columns in one place"), pn.solve.frank_wolfe(objective,
  { epsilon = cfg.epsilon, delta = cfg.delta, iterations = cfg.iterations, rng = noise(), progress = false }).theta)

print(transport)
for k, row in ipairs(transport:report()) do
  print(("  party %d: %d columns, %d features uploaded, up %d bytes, its own epsilon %.2f"):format(k, row.columns or 0,
    row.features, row.bytes_up, row.epsilon))
end
print(("  all columns as they are would be %d bytes"):format(8 * data.n * data.p))
