-- utility_peers.lua -- runs utility_peer.py on the rows of a benchmark, with the noise that relation and accountant ask for.
-- Used by: utility_bench.lua, front_door_bench.lua.
local pn = require "penumbra"

local peers = {}

function peers.cell(values, seconds)
  local sum, squares = 0, 0
  for _, v in ipairs(values) do sum = sum + v end
  local mean = sum / #values
  for _, v in ipairs(values) do squares = squares + (v - mean) ^ 2 end
  return { mean = mean, error = math.sqrt(squares / math.max(#values - 1, 1) / #values), seconds = seconds }
end

-- Least noise of batches of 0.02 n over 20 epochs, each record's part at most 1.
local function batch_noise(of)
  local n, neighbours = of.rows.n, of.relation
  local batch = n // 50
  return (pn.calibrate.noise {
    epsilon = of.epsilon, delta = of.delta, accountant = "pld",
    event = function(sigma)
      local one = pn.event.gaussian { sigma = sigma, sensitivity = neighbours == "zero_out" and 1 or 2, neighbours = neighbours }
      one = neighbours == "zero_out" and pn.event.poisson_sampled { q = batch / n, event = one }
          or pn.event.fixed_sampled { batch = batch, n = n, event = one }
      return pn.event.repeated(one, 20 * n // batch)
    end,
  })
end

-- diffprivlib's linear regression releases 1 + p + p(p + 1)/2 numbers with Laplace noise, of the same part of its epsilon each, and
-- adds those up: the epsilon that it may be told when they are composed as tightly as can be.
local function laplace_epsilon(of)
  local p = of.rows.p
  local releases = 1 + p + p * (p + 1) // 2
  return releases / pn.calibrate.noise {
    epsilon = of.epsilon, delta = of.delta, accountant = "pld",
    event = function(scale) return pn.event.repeated(pn.event.laplace { scale = scale, sensitivity = 1 }, releases) end,
  }
end

local function save(rows, path)
  local X = rows.sparse and rows.X:dense() or rows.X
  X:save(path)
end

-- of: {rows=, loss=, relation=, epsilon=, delta=, runs=, text=, minus=, test=}; text: a file of the rows in place of a dense copy;
-- minus: what is taken off every value; test: the records whose loss is wanted.  {name = {mean=, error=, seconds=}}; empty without
-- numpy.
function peers.run(of)
  local found, folder, minus = {}, os.tmpname(), of.minus or 0
  local function path(name) return folder .. "_" .. name .. ".npy" end
  local rho = 1 / (2 * pn.calibrate.gaussian { epsilon = of.epsilon, delta = of.delta } ^ 2)
  if not of.text then save(of.rows, path "rows") end
  of.rows.y:save(path "labels")
  local command = ("%s tests/bench/utility/utility_peer.py '%s' '%s' %s %d %.17g %.17g %.17g %.17g %s"):format(
    os.getenv "PYTHON" or "python3", of.text or path "rows", path "labels", of.loss, of.runs, of.epsilon, of.delta, rho,
    batch_noise(of), of.relation)
  if of.test then
    save(of.test, path "test_rows")
    of.test.y:save(path "test_labels")
    command = ("%s %.17g '%s' '%s'"):format(command, laplace_epsilon(of), path "test_rows", path "test_labels")
  end
  local pipe <close> = io.popen("OPENBLAS_NUM_THREADS=1 " .. command)
  for text in pipe:lines() do
    local peer, seconds, values = text:match "^(%S+) (%S+) (.*)$"
    local list = {}
    for value in values:gmatch "%S+" do list[#list + 1] = tonumber(value) - minus end
    found[peer] = peers.cell(list, tonumber(seconds))
  end
  os.remove(folder)
  for _, name in ipairs { "rows", "labels", "test_rows", "test_labels" } do os.remove(path(name)) end
  return found
end

return peers
