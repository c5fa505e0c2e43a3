-- bound_oracle_spec.lua -- a bound that an analyst chose was an oracle: whether a value exceeded it was told by a refusal, for
-- nothing, so a few tens of calls read a sum exactly.  Values beyond a bound are clamped; the data's owner alone can ask for the
-- refusal (strict).
local pn = require "penumbra"

local secret = 37.25

local function laws(options)
  local all = {}
  local function add(name, given)
    for key, value in pairs(options) do
      given[key] = value
    end
    all[name] = given
  end
  add("gaussian", { sigma = 1, sensitivity = 1 })
  add("analytic_gaussian", { epsilon = 1, delta = 1e-6, sensitivity = 1 })
  add("laplace", { scale = 1, sensitivity = 1 })
  add("sparse_vector", { epsilon = 1, sensitivity = 1, threshold = 1 })
  for _, name in ipairs { "exponential", "permute_and_flip", "report_noisy_max" } do
    add(name, { epsilon = name ~= "report_noisy_max" and 1 or nil, scale = name == "report_noisy_max" and 1 or nil,
      sensitivity = 1 })
    all[name].bound, all[name].score_bound = nil, options.bound
  end
  return all
end

local function scores(name, value)
  return (name == "exponential" or name == "permute_and_flip" or name == "report_noisy_max") and { value, 0 } or value
end

local function same(a, b)
  return (type(a) == "table" or type(a) == "userdata") and tostring(a) == tostring(b) or a == b
end

-- What is printed of values beyond 2.
local function says(m, word)
  local text = tostring(m):gsub("%s+", " ")
  return (text:find("beyond +-2 are " .. word, 1, true) or text:find(word .. " beyond +-2,", 1, true)) ~= nil
end

local extremes = { secret, -secret, 1e300, -1e300, math.huge, -math.huge }

describe("a bound that an analyst chooses", function()
  it("does not tell of a release that cannot be paid whether the value exceeds it", function()
    local empty = pn.ledger { epsilon = 1, delta = 1e-6 }
    empty:retire()
    local low, high, told = 0, 1024, {}
    for _ = 1, 30 do
      local middle = (low + high) / 2
      local m = pn.mechanism.laplace { scale = 1, sensitivity = 1, bound = middle }
      local _, message = pcall(m.release, m, secret, { ledger = empty })
      told[message] = true
      if message:find("beyond", 1, true) then low = middle else high = middle end
    end
    assert.is_true(math.abs(low - secret) > 1)
    assert.is_nil(next(told, (next(told)))) -- one message, whatever the bound
    for name, options in pairs(laws { bound = 2 }) do
      local m = pn.mechanism[name](options)
      local _, expected = pcall(m.release, m, scores(name, 1), { ledger = empty })
      for _, value in ipairs(extremes) do
        local ok, message = pcall(m.release, m, scores(name, value), { ledger = empty })
        assert.is_false(ok)
        assert.equal(expected, message)
      end
      assert.equal(expected, select(2, pcall(m.release, m, scores(name, 0 / 0), { ledger = empty })))
    end
  end)

  it("clamps: what is beyond it is released as the bound is, at the same cost", function()
    for name, options in pairs(laws { bound = 2 }) do
      local m = pn.mechanism[name](options)
      for seed, value in ipairs(extremes) do
        local given = { ledger = pn.ledger { epsilon = 50, delta = 1e-6, teaching = true }, rng = pn.rng.seeded(seed) }
        local a = m:release(scores(name, value), given)
        local b = m:release(scores(name, value > 0 and 2 or -2), { ledger = given.ledger, rng = pn.rng.seeded(seed) })
        assert.is_true(same(a, b), name)
        assert.equal(1, #given.ledger:report())
        assert.equal(2, given.ledger:report()[1].count)
      end
      local L = pn.ledger { epsilon = 50, delta = 1e-6, teaching = true }
      assert.is_true(same(m:release(scores(name, 0 / 0), { ledger = L, rng = pn.rng.seeded(1) }),
        m:release(scores(name, -2), { ledger = L, rng = pn.rng.seeded(1) }))) -- a NaN counts as -bound
      assert.is_true(says(m, "clamped"), tostring(m))
    end
  end)

  it("does not tell of a value in a stream whether it exceeds it", function()
    local m = pn.mechanism.sparse_vector { epsilon = 1, sensitivity = 1, threshold = 1, bound = 2 }
    local function answers(value)
      local run = m:open { ledger = pn.ledger { epsilon = 5, teaching = true }, rng = pn.rng.seeded(5) }
      return run:above(value)
    end
    assert.equal(answers(2), answers(1e9))
    assert.equal(answers(-2), answers(-math.huge))
    assert.equal(answers(-2), answers(0 / 0))
  end)

  it("does not tell of a leaf of a tree whether it exceeds it", function()
    local empty = pn.ledger { epsilon = 1, delta = 1e-6 }
    empty:retire()
    local function tree(ledger, rng, strict)
      return pn.tree { dim = 2, horizon = 8, sensitivity = 1, rho = 0.1, bound = 2, strict = strict, ledger = ledger, rng = rng }
    end
    local t = tree(empty)
    local _, expected = pcall(t.push, t, { 1, 1 })
    for _, value in ipairs(extremes) do
      assert.equal(expected, select(2, pcall(t.push, t, { 1, value })))
    end
    assert.equal(expected, select(2, pcall(t.push, t, { 0 / 0, 1 })))
    for _, factorization in ipairs { "binary", "sqrt", "banded", "blt" } do
      local pushed = {}
      for _, leaf in ipairs { { 1e300, -math.huge }, { 2, -2 }, { 2, 0 / 0 } } do
        local one = pn.tree { dim = 2, horizon = 8, sensitivity = 1, rho = 0.1, bound = 2, factorization = factorization,
          ledger = pn.ledger { rho = 1, teaching = true }, rng = pn.rng.seeded(3) }
        one:push { 1, 1 }
        pushed[#pushed + 1] = tostring(one:push(leaf))
      end
      assert.equal(pushed[2], pushed[1])
      assert.equal(pushed[2], pushed[3])
    end
    assert.matches("beyond +-2 are clamped", (tostring(t):gsub("%s+", " ")), 1, true)
  end)

  it("clamps the leaves of a tree that was resumed, too", function()
    local path = os.tmpname()
    os.remove(path)
    local L = pn.ledger { rho = 1 }
    local t = pn.tree { dim = 1, horizon = 8, sensitivity = 1, rho = 0.1, bound = 2, ledger = L }
    t:push(1)
    t:save(path)
    t:close()
    t = pn.tree.resume(path, { ledger = L })
    assert.is_true(pcall(t.push, t, 1e9))
    t:save(path)
    os.remove(path)
    local s = pn.tree { dim = 1, horizon = 8, sensitivity = 1, rho = 0.1, bound = 2, strict = true, ledger = L }
    s:push(1)
    s:save(path)
    s = pn.tree.resume(path, { ledger = L })
    assert.is_false(pcall(s.push, s, 1e9))
    s:close()
    os.remove(path)
  end)
end)

describe("strict = true", function()
  it("refuses what breaks the owner's promise, before the charge", function()
    for name, options in pairs(laws { bound = 2, strict = true }) do
      local m, L = pn.mechanism[name](options), pn.ledger { epsilon = 50, delta = 1e-6 }
      local ok, message = pcall(m.release, m, scores(name, secret), { ledger = L })
      assert.is_false(ok)
      assert.matches("goes beyond the bound 2", message, 1, true)
      assert.equal(0, L.spent)
      assert.is_true(says(m, "refused"), tostring(m))
      m:release(scores(name, 1), { ledger = L })
    end
    local t = pn.tree { dim = 1, horizon = 8, sensitivity = 1, rho = 0.1, bound = 2, strict = true }
    assert.matches("leaf 1 is beyond the bound 2", select(2, pcall(t.push, t, secret)), 1, true)
    assert.matches("beyond +-2 are refused", (tostring(t):gsub("%s+", " ")), 1, true)
  end)

  it("is about a bound", function()
    assert.matches("strict applies to a bound; give bound as well",
      select(2, pcall(pn.mechanism.laplace, { scale = 1, sensitivity = 1, strict = true })), 1, true)
    assert.matches("strict applies to a bound; give score_bound as well",
      select(2, pcall(pn.mechanism.exponential, { epsilon = 1, sensitivity = 1, strict = true })), 1, true)
    assert.matches("strict applies to a bound; give bound as well",
      select(2, pcall(pn.tree, { dim = 1, horizon = 8, sensitivity = 1, rho = 0.1, strict = true })), 1, true)
  end)

  it("is not for analysts", function()
    local data = pn.data.synthetic.logistic { n = 40, p = 2, seed = 3 }:clip_rows("l2", 1)
    local c = pn.curator { data = { d = data }, ledger = pn.ledger { epsilon = 100, delta = 1e-6 }, process = false }
    for name, options in pairs(laws { bound = 2, strict = true }) do
      local given = {}
      for key, value in pairs(options) do
        given[#given + 1] = ("%s=%s"):format(key, value)
      end
      local result = c:run(("return pn.mechanism.%s{%s}"):format(name, table.concat(given, ", ")), "a")
      assert.equal("EPRIVACY", result.status, name)
      assert.matches("strict = true is not available to analysts", result.error, 1, true)
      result = c:run(("return pn.mechanism.%s{%s}:release(%s)"):format(name,
        (table.concat(given, ", "):gsub("strict=true", "strict=false")), name:find "[xpr][_eo]" and "{9, 1}" or "9"), "a")
      assert.is_nil((result.error or ""):find("beyond", 1, true))
    end
    local result = c:run("return pn.tree{dim=1, horizon=8, sensitivity=1, rho=0.1, bound=2, strict=true}", "a")
    assert.equal("EPRIVACY", result.status)
    assert.is_true(c:run("return pn.tree{dim=1, horizon=8, sensitivity=1, rho=0.1, bound=2}:push(9)", "a").ok)
  end)
end)
