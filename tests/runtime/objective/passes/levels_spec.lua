-- levels_spec.lua -- pn.query.levels: which texts of a column are released, with which probability, and at which price.
-- Depends on: tests/tools/refusal.lua, tests/runtime/data/files.lua.
local pn = require "penumbra"
local files = require "tests.runtime.data.files"
local refused = require("tests.tools.refusal").refused

local function teaching(neighbours)
  return pn.ledger { epsilon = 1e5, delta = 0.9999, teaching = true, neighbours = neighbours }
end

-- `count` texts, each `times` times, in turns.
local function texts(count, times)
  local column = {}
  for i = 1, count * times do column[i] = "w" .. i % count end
  return { x = column }
end

local function ask(changes)
  local all = { columns = "x", epsilon = 1, delta = 0.05 }
  for name, value in pairs(changes) do all[name] = value end
  return pn.query.levels(all)
end

-- The derivation by enumeration, on a coarse lattice: P(K = k) proportional to exp(-|k|/S), a record counts N steps, a text is
-- kept from M steps on and comes with its steps.  Hockey-stick divergence at epsilon of the counts (cu, cv) from (du, dv).
local S, N, FAR = 2, 2, 70

local function law(count, M)
  local q, out, none = math.exp(-1 / S), {}, 0
  if count == 0 then return out, 1 end
  for k = -FAR, FAR do
    local p = (1 - q) / (1 + q) * q ^ math.abs(k)
    if count * N + k >= M then out[count * N + k] = p else none = none + p end
  end
  return out, none
end

local function each(a, b, add)
  local pa, na = law(a, b.M)
  local pb, nb = law(b.count, b.M)
  add(na, nb)
  for k = b.M, FAR + 3 * N do
    if pa[k] or pb[k] then add(pa[k] or 0, pb[k] or 0) end
  end
end

local function divergence(c, d, M, epsilon)
  local sum, grow = 0, math.exp(epsilon)
  each(c[1], { count = d[1], M = M }, function(p1, q1)
    each(c[2], { count = d[2], M = M }, function(p2, q2) sum = sum + math.max(0, p1 * p2 - grow * q1 * q2) end)
  end)
  return sum
end

describe("a stability histogram", function()
  after_each(files.clear)

  it("is (epsilon, delta)-private by enumeration, with delta the chance of a text that one record has alone", function()
    local q = math.exp(-1 / S)
    for _, M in ipairs { N + 1, N + 4, N + 9 } do
      local delta, worst, loose = q ^ (M - N) / (1 + q), 0, 0
      for _, pair in ipairs { { { 1, 0 }, { 0, 1 } }, { { 1, 1 }, { 0, 2 } }, { { 0, 2 }, { 1, 1 } }, { { 2, 2 }, { 1, 3 } },
        { { 1, 2 }, { 0, 3 } }, { { 2, 0 }, { 1, 1 } }, { { 1, 1 }, { 2, 0 } } } do
        worst = math.max(worst, divergence(pair[1], pair[2], M, 2 * N / S))
        loose = math.max(loose, divergence(pair[1], pair[2], M - N, 2 * N / S))
      end
      assert.is_true(worst <= delta * (1 + 1e-12), ("%g > %g"):format(worst, delta))
      assert.near(delta, worst, 1e-12 * delta) -- attained: two texts that one record each has alone
      assert.is_true(loose > 1.5 * delta) -- a threshold lower by one record
      local one = math.max(divergence({ 1, 0 }, { 0, 0 }, M, N / S), divergence({ 0, 0 }, { 1, 0 }, M, N / S),
        divergence({ 2, 0 }, { 1, 0 }, M, N / S)) -- a record more or less
      assert.is_true(one <= delta * (1 + 1e-12))
    end
  end)

  it("has the threshold at which a text that is there once is released with probability delta", function()
    for _, case in ipairs { { "replace_one", 2 }, { "zero_out", 1 }, { "add_remove", 1 } } do
      for _, delta in ipairs { 0.05, 1e-6, 1e-60 } do
        for _, epsilon in ipairs { 0.01, 1, 30 } do
          local found = ask { data = texts(2, 3), epsilon = epsilon, delta = delta, ledger = teaching(case[1]) }
          assert.near(1 + case[2] * math.log(1 / (2 * delta)) / epsilon, found.threshold, 1e-9 * found.threshold)
          assert.is_true(math.exp(-(found.threshold - 1) * epsilon / case[2]) / 2 <= delta)
        end
      end
    end
  end)

  -- 20000 texts that one record has alone: Binomial(20000, 0.05) are released, 1000 with deviation 30.8; by Chernoff's bound a
  -- number below 825 or above 1185 comes with probability 1e-7 at most.  A threshold lower by one releases 1649 (replace_one) and
  -- 2718 (zero_out), noise x 0.8 about 562.
  it("releases texts of single records as seldom as it says", function()
    for k, neighbours in ipairs { "replace_one", "zero_out" } do
      local found = ask { data = texts(20000, 1), ledger = teaching(neighbours), rng = pn.rng.seeded(28 + k) }
      local kept = #found.levels.x
      assert.is_true(kept > 825 and kept < 1185, neighbours .. " " .. kept)
    end
  end)

  -- |K| is exponential: the mean of 4000 is within 6 deviations of 1/sqrt(4000) of its scale, but with probability 1e-7 at most
  -- (Chernoff's bound for the gamma law); noise x 0.8 is 12.6 deviations off.
  it("adds Laplace noise of scale 2/epsilon, or 1/epsilon, to counts", function()
    for k, case in ipairs { { "replace_one", 2 }, { "zero_out", 1 }, { "add_remove", 1 } } do
      local found = ask { data = texts(4000, 8), epsilon = 10, delta = 0.5, ledger = teaching(case[1]),
        rng = pn.rng.seeded(70 + k) }
      assert.equal(4000, #found.levels.x)
      local sum = 0
      for i = 1, 4000 do sum = sum + math.abs(found.counts.x[i] - 8) end
      local ratio = sum / 4000 / (case[2] / 10)
      assert.is_true(math.abs(ratio - 1) < 6 / math.sqrt(4000), ratio)
    end
  end)

  it("gives texts in the order of their bytes, and counts neither holes nor \"other\"", function()
    local lines = { "job;x" }
    for i = 1, 900 do lines[#lines + 1] = ({ "Zug", '"a;b"', "other", "NA", "", " a ", "ä", "none", "?" })[i % 9 + 1] .. ";1" end
    local path = files.write(table.concat(lines, "\r\n"))
    local options = { data = path, columns = { "job" }, epsilon = 20, delta = 1e-9, ledger = teaching() }
    assert.same({ "Zug", "a", "a;b", "none", "ä" }, ask(options).levels.job)
    options.na = { "none" }
    assert.same({ "", "?", "NA", "Zug", "a", "a;b", "ä" }, ask(options).levels.job)
    options.csv = { sep = "," }
    refused("no column 'job'", ask, options)
  end)

  it("charges all columns at once, before noise, and counts for the data set", function()
    local ledger, before = pn.ledger { epsilon = 1, delta = 1e-6 }, #pn.session()
    local data = { x = texts(3, 50).x, y = texts(2, 75).x, z = texts(5, 30).x }
    local found = ask { data = data, columns = { "x", "y", "z" }, epsilon = 0.9, delta = 3e-7, ledger = ledger }
    assert.near(0.9, ledger.spent, 1e-9)
    local entry = ledger:report()[1]
    assert.same({ 1, 3, "query.levels" }, { #ledger:report(), entry.count, entry.label })
    assert.truthy(tostring(found.event):find("approximate(epsilon=0.3, delta=1e-07)", 1, true), tostring(found.event))
    assert.equal(before + 1, #pn.session())
    refused("Requested", ask, { data = data, epsilon = 0.2, delta = 1e-8, ledger = ledger })
    assert.near(0.9, ledger.spent, 1e-9)
    assert.equal(1, pn.session()[before + 1].releases)
  end)

  it("refuses what it cannot do before it is paid", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    for _, case in ipairs {
      { "columns must be the name", { columns = {} } }, { "columns must be the name", { columns = 3 } },
      { "name 2 of columns must be a text", { columns = { "x", 2 } } }, { "is given twice", { columns = { "x", "x" } } },
      { "data must be the path", { data = 3 } }, { "column 'y' must be a list", { columns = "y" } },
      { "delta is missing", { delta = false } }, { "from 1e-5 to 1000", { epsilon = 1e-6 } },
      { "from 1e-100 to 0.5", { delta = 0.6 } }, { "unknown option 'colums'", { colums = "x" } },
      { "seeded", { rng = pn.rng.seeded(1) } }, { "a budget of rho has none", { ledger = pn.ledger { rho = 1 } } },
      { "a budget of pure epsilon has none", { ledger = pn.ledger { epsilon = 1 } } },
    } do
      local options = { data = texts(3, 5), columns = "x", epsilon = 0.5, delta = 1e-8, ledger = ledger }
      for name, value in pairs(case[2]) do options[name] = value or nil end
      refused(case[1], pn.query.levels, options)
    end
    assert.equal(0, ledger.spent)
  end)

  it("is not for analysts, who have no files", function()
    local curator = pn.curator { data = { a = pn.data.from({ { 1 } }, { 1 }):clip_rows("l2", 1) },
      ledger = pn.ledger { epsilon = 4, delta = 1e-6 }, memory = 64, seconds = 20, instructions = 100000000, threads = 1 }
    assert.is_false(curator:run('return pn.query.levels{data={x={"a"}}, columns="x", epsilon=1, delta=1e-8}', "a").ok)
  end)
end)
