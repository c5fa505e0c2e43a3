-- mutants_continual.lua -- audits of prefix sums and of zeroth-order optimization, for mutants.lua; what KIND means stands there.
--   law      of prefix sums: one record moves one leaf (banded: two, matrix: three), and all releases are weighed by the inverse
--            covariance of their noise.  No test is better; its mu is what the event charges (honaker: 0.93 of that)
--   reuse    the same with the covariance that releases have when every node's noise is the same
--   average  the same when every release has noise of its own
--   epochs   the same when the noise of every epoch is that of the first
--   resumed  a checkpoint that is resumed twice
--   clip     of zeroth-order runs: a record that answers out of all bounds, and one that does not
-- How noise comes into the releases is derived here from tree-mechanism.md once more, and not taken from the runtime.
-- Depends on: penumbra.  Used by: mutants.lua.
local pn = require "penumbra"

local DELTA = 0.2 -- the largest leave the fewest trials: the events that tell are common
local LEAVES = 15 -- a horizon without a node of all leaves

-- ---- vectors and matrices, as tables ----

local function dot(a, b)
  local sum = 0
  for i, x in pairs(a) do sum = sum + x * (b[i] or 0) end
  return sum
end

-- ---- noise of releases: for each a table from the name of a node to the factor of its noise ----

local function combine(factors, ...)
  local sum = {}
  for k, part in ipairs { ... } do
    for node, x in pairs(part) do sum[node] = (sum[node] or 0) + factors[k] * x end
  end
  return sum
end

local function node(level, index, sigma)
  return { [level .. ":" .. index] = sigma or 1 }
end

-- The node that ends at `last` on `level` with weight v on itself and 1 - v on its children; of leaves 1.
local function honaker(level, index, sigma)
  local v = 2 ^ level / (2 ^ (level + 1) - 1)
  if level == 0 then return node(0, index, sigma) end
  return combine({ v, 1 - v, 1 - v }, node(level, index, sigma), honaker(level - 1, 2 * index - 1, sigma),
    honaker(level - 1, 2 * index, sigma))
end

local function prefix_noise(t, block, sigma)
  local sum = {}
  for level = 0, 10 do
    if t >> level & 1 == 1 then sum = combine({ 1, 1 }, sum, block(level, t >> level, sigma)) end
  end
  return sum
end

local function tree_noise(block)
  local noise = {}
  for t = 1, LEAVES do noise[t] = prefix_noise(t, block) end
  return noise
end

-- Epoch m has 2^m leaves, nodes of its own and m + 1 levels; what it ends with stays.
local function doubling_noise(block)
  local noise, base = {}, {}
  for t = 1, LEAVES do
    local m = math.floor(math.log(t, 2) + 1e-9)
    local own = {}
    for name, x in pairs(prefix_noise(t - 2 ^ m + 1 | 0, block, math.sqrt(m + 1))) do own[m .. "/" .. name] = x end
    noise[t] = combine({ 1, 1 }, base, own)
    if t == 2 ^ (m + 1) - 1 then base = noise[t] end
  end
  return noise
end

-- R = A C^-1: w_t = z_t - sum_j c_j w_(t-j), N_t = w_1 + ... + w_t.
local function toeplitz_noise(c)
  local noise, w = {}, {}
  for t = 1, LEAVES do
    w[t] = node(0, t)
    for j = 1, t - 1 do w[t] = combine({ 1, -(c[j + 1] or 0) }, w[t], w[t - j]) end
    noise[t] = combine({ 1, 1 }, noise[t - 1] or {}, w[t])
  end
  return noise
end

-- The same of any C, a table of rows: C_tt w_t = z_t - sum_s C_ts w_s.
local function matrix_noise(C)
  local noise, w = {}, {}
  for t, row in ipairs(C) do
    w[t] = node(0, t)
    for s = 1, t - 1 do w[t] = combine({ 1, -row[s] }, w[t], w[s]) end
    w[t] = combine({ 1 / row[t] }, w[t])
    noise[t] = combine({ 1, 1 }, noise[t - 1] or {}, w[t])
  end
  return noise
end

-- Of records in three leaves, 6 apart, those in 2, 8 and 14 move the most.
local function uneven()
  local C = {}
  for t = 1, LEAVES do
    C[t] = {}
    for s = 1, LEAVES do C[t][s] = s == t and 1 + s % 3 / 4 or s < t and 0.4 / (1 + (t * s) % 4) or 0 end
  end
  return C
end

local function square_root(count)
  local c = { 1 }
  for j = 1, count - 1 do c[j + 1] = c[j] * (2 * j - 1) / (2 * j) end
  return c
end

local theta, omega = { .995, .9, .5 }, { .02, .08, .25 }
local function buffered()
  local c = { 1 }
  for j = 1, LEAVES - 1 do
    c[j + 1] = 0
    for i = 1, 3 do c[j + 1] = c[j + 1] + omega[i] * theta[i] ^ (j - 1) end
  end
  return c
end

-- Estimator "full", of 2^levels leaves: prefixes of the least-squares estimate of all leaves.
local function full_noise(levels)
  local count, noise = 1 << levels, {}
  local function among(leaf, level) return (leaf - 1 >> level) + 1 end
  local gram = {}
  for i = 1, count do
    gram[i] = {}
    for j = 1, count do
      gram[i][j] = 0
      for level = 0, levels do
        if among(i, level) == among(j, level) then gram[i][j] = gram[i][j] + 1 end
      end
    end
  end
  for t = 1, count do
    local first = {}
    for i = 1, count do first[i] = i <= t and 1 or 0 end
    noise[t] = {}
    for leaf, x in ipairs(pn.mat(gram):solve(first):table()) do
      for level = 0, levels do noise[t] = combine({ 1, x }, noise[t], node(level, among(leaf, level))) end
    end
  end
  return noise
end

-- ---- the best test ----

-- Weights of all releases where a record moves the leaves `moved` by 1: name_of says which noise is the same.
local function best_test(noise, moved, name_of)
  local shift, named, M = {}, {}, {}
  for t = 1, #noise do
    shift[t] = 0
    for _, leaf in ipairs(moved) do shift[t] = shift[t] + (leaf <= t and 1 or 0) end
    named[t] = {}
    for name, x in pairs(noise[t]) do
      local other = name_of(name, t)
      named[t][other] = (named[t][other] or 0) + x
    end
  end
  for i = 1, #noise do
    M[i] = {}
    for j = 1, #noise do M[i][j] = dot(named[i], named[j]) + (i == j and 1e-9 or 0) end -- some releases may tell all
  end
  return pn.mat(M):solve(shift):table()
end

local same = {
  law = function(name) return name end,
  reuse = function() return "all" end,
  average = function(name, t) return t .. "|" .. name end,
  epochs = function(name) return name:match("/(.*)") or name end,
}

-- ---- pn.tree ----

-- method: what pn.tree is told; noise: as above; moved: the leaves that a record is in; trials: of the law.
local function prefix_sums(audit, teaching, method, noise, moved, trials)
  local ledger = teaching()

  local function tree(rng, budget)
    local options = { dim = 1, sensitivity = 1, rho = 0.5, ledger = budget or ledger, rng = rng, participations = #moved }
    if #moved > 1 then options.separation = moved[2] - moved[1] end
    if not method.growth then options.horizon = #noise end
    for name, value in pairs(method) do options[name] = value end
    return pn.tree(options)
  end

  local function statistic(weights)
    return function(size, rng)
      local t <close>, sum, at = tree(rng), 0, 1
      for i = 1, #noise do
        local leaf = 0
        if moved[at] == i then leaf, at = size, at + 1 end
        sum = sum + weights[i] * t:push({ leaf })[1]
      end
      return method.estimator == "full" and dot(weights, t:all():vec()) or sum
    end
  end

  local kinds = {
    order = function()
      local budget = pn.ledger { rho = 1e-6, teaching = true }
      local t = tree(pn.rng.seeded(1), budget)
      local released = pcall(t.push, t, { 1 })
      return released, ("spent %g"):format(budget.spent)
    end,
  }
  kinds.resumed = function() -- a second stream from one file would release the same noise on leaves that hold nothing private
    local path = os.tmpname()
    local function twice(size, rng)
      local t <close> = tree(rng)
      t:push { 0 }
      os.remove(path)
      t:save(path)
      local first <close> = pn.tree.resume(path)
      local release = first:push({ size })[1]
      local taken, second = pcall(pn.tree.resume, path)
      return taken and release - second:push({ 0 })[1] or release
    end
    local caught, numbers = audit(twice, { neighbours = { 0, 1 }, trials = 160, delta = DELTA,
      event = tree(pn.rng.seeded(1)).event })
    os.remove(path)
    return caught, numbers
  end
  for kind, count in pairs { law = trials, reuse = 600, average = 9000, epochs = 600 } do
    kinds[kind] = function() -- redrawn nodes show 1.46 times the mu that is claimed: 7500 trials
      local weights = best_test(noise, moved, same[kind])
      return audit(statistic(weights), { neighbours = { 0, 1 }, trials = count, delta = DELTA,
        event = tree(pn.rng.seeded(1)).event })
    end
  end
  return kinds
end

-- ---- zeroth-order optimization ----

-- One record a leaf.  The loss is the analyst's: asked at w + mu u_j and w - mu u_j (of differences also at the point before), it
-- sees the directions, which are public.  The record that comes first (whichever it is: the order is public, of every order the
-- claim is the same) may be another.  For it the answers are far beyond the clip, with signs that turn its term towards (1, 0): of
-- two orthogonal directions, as of one, this is as long as terms get.  For all others they are 0.
local FAR, SMOOTHING = 1e9, 2e4

-- size: of the first record's answers; nil for the others.
local function answers(points, lines, size)
  local values, term = {}, { 0, 0 }
  for j = 1, lines do
    local sign = points:get(j, 1) > points:get(lines + j, 1) and 1 or -1
    for k = 1, 2 do term[k] = term[k] + sign * (points:get(j, k) - points:get(lines + j, k)) / (2 * SMOOTHING) end
    for side = 1, points.rows // lines do
      values[(side - 1) * lines + j] = (size or 0) * sign * FAR * ((side == 1 or side == 4) and 1 or -1)
    end
  end
  return values, size and term or { 0, 0 }
end

-- The inner product of every node with the terms in it of the first record: nodes end at every round, and naive ones have one leaf.
local function in_nodes(g, terms, naive)
  local sum = 0
  for t = 1, #g do
    local first = naive and t - 1 or t & (t - 1)
    local node_sum = (naive or first == 0) and g[t] or g[t] - g[first]
    for leaf = first + 1, t do sum = sum + dot(terms[leaf], node_sum) end
  end
  return sum
end

local function zeroth_order(audit, teaching, solver, own)
  local naive, ledger, seen = solver == "zeroth_order_naive", teaching(), nil
  local function plan(size, rounds, epochs, passes)
    local function values(points, _, _, row)
      local values_of, term = answers(points, naive and 1 or 2, row == (seen.row or row) and size or nil)
      seen.row, seen[#seen + 1] = seen.row or row, term
      return values_of
    end
    local n = rounds * epochs
    local options = { rho = 0.5, rounds = rounds, epochs = epochs, passes = passes, batch = 1, smoothing = SMOOTHING,
      radius = SMOOTHING / 2, step = 1 } -- a ball that no step leaves
    for name, value in pairs(own) do options[name] = value end
    return pn.solve[solver].plan(pn.objective { data = pn.data.from(pn.mat.zeros(n, 2), pn.vec.zeros(n)),
      loss = pn.loss.black_box { values = values, lipschitz = 1 } }, options)
  end

  local function compare(first, second, trials, score)
    local function released(run, rng)
      local gradients, own_rng = {}, pn.rng.seeded(rng:integer(1 << 52)) -- two runs from one seeded stream are the same run
      seen = {}
      local ok = pcall(run.run, run, { ledger = ledger, rng = own_rng, progress = false, on_step = function(state)
        gradients[#gradients + 1] = state.estimate
      end })
      return ok and score(gradients, seen) or 1e6 -- a run that fails shows that, too
    end
    return audit(released, { neighbours = { first, second }, trials = trials, delta = DELTA, event = first.event })
  end
  local function whole(g, terms)
    return in_nodes(g, terms, naive)
  end

  return {
    law = function()
      return compare(plan(1, 5, 1), plan(-1, 5, 1), 6000, whole)
    end,
    reuse = function() -- the second epoch holds nothing private
      return compare(plan(1, 2, 2), plan(-1, 2, 2), 600, function(g, terms) return dot(terms[1], g[1] - g[3]) end)
    end,
    clip = function()
      return compare(plan(1, 5, 1), plan(0, 5, 1), 600, whole)
    end,
    order = function() -- the budget ends after the first pass
      seen = {}
      local budget, rounds = pn.ledger { rho = 0.5, teaching = true }, 0
      local finished = pcall(function()
        for _ in plan(1, 2, 1, 2):steps { ledger = budget, rng = pn.rng.seeded(1) } do
          rounds = rounds + 1
          budget:close()
        end
      end)
      return finished or rounds > 2, ("rounds %d"):format(rounds)
    end,
  }
end

-- Trials in which noise times 0.8 shows (25000), and half of it in a quarter of them (2500).
local LONG, SHORT = 26000, 12000

return function(audit, teaching)
  local function sums(method, noise, moved, trials)
    return function() return prefix_sums(audit, teaching, method, noise(), moved, trials) end
  end
  return {
    tree_plain = sums({ factorization = "binary", estimator = "plain" }, function() return tree_noise(node) end, { 1 }, LONG),
    tree_honaker = sums({ factorization = "binary", estimator = "honaker" }, function() return tree_noise(honaker) end, { 3 },
      SHORT),
    tree_full = sums({ factorization = "binary", estimator = "full" }, function() return full_noise(4) end, { 1 }, SHORT),
    tree_sqrt = sums({ factorization = "sqrt" }, function() return toeplitz_noise(square_root(LEAVES)) end, { 1 }, SHORT),
    tree_banded = sums({ factorization = "banded", bands = 4 }, function() return toeplitz_noise(square_root(4)) end, { 1, 5 },
      SHORT),
    tree_blt = sums({ factorization = "blt", theta = theta, omega = omega },
      function() return toeplitz_noise(buffered()) end, { 1 }, LONG),
    tree_matrix = sums({ matrix = uneven() }, function() return matrix_noise(uneven()) end, { 2, 8, 14 }, SHORT),
    tree_doubling = sums({ factorization = "binary", estimator = "plain", growth = "doubling" },
      function() return doubling_noise(node) end, { 8 }, SHORT),
    zeroth_order = function()
      return zeroth_order(audit, teaching, "zeroth_order", { first_batch = 1,
        prefix = { factorization = "binary", estimator = "plain" } })
    end,
    zeroth_order_naive = function()
      return zeroth_order(audit, teaching, "zeroth_order_naive", {})
    end,
  }
end
