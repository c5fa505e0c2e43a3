-- mechanism_spec.lua -- private selection through its one door: the charge, the law, what is refused.
-- Depends on: penumbra.  The exact laws are tested in tests/runtime/random; here is what the mechanism makes of its
-- parameters.  Seeds are fixed; each statistical check has a false-alarm rate of 1e-6 and rejects a scale off by 1.1.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local of_law = tier.law(it)

local names = { "exponential", "permute_and_flip", "report_noisy_max" }

local function make(name, epsilon, sensitivity, more)
  local options = { sensitivity = sensitivity }
  if name == "report_noisy_max" then
    options.scale = 2 * sensitivity / epsilon
  else
    options.epsilon = epsilon
  end
  for key, value in pairs(more or {}) do options[key] = value end
  return pn.mechanism[name](options)
end

local function teaching(epsilon)
  return pn.ledger { epsilon = epsilon, teaching = true }
end

-- Frequencies of the choices among `scores` in `draws` releases.
local function frequencies(m, scores, draws, seed)
  local ledger, rng, counts = teaching(1e6), pn.rng.seeded(seed), {}
  for i = 1, #scores do counts[i] = 0 end
  for _ = 1, draws do
    local i = m:release(scores, { ledger = ledger, rng = rng })
    counts[i] = counts[i] + 1
  end
  return counts
end

local function chi_square(counts, law)
  local total, sum = 0, 0
  for _, c in ipairs(counts) do total = total + c end
  for i, c in ipairs(counts) do sum = sum + (c - total * law[i]) ^ 2 / (total * law[i]) end
  return sum
end

local CHI2_2 = 27.631021 -- upper quantile at 1e-6, two degrees of freedom: -2 log(1e-6)

local function softmax(scores, rate)
  local law, total = {}, 0
  for i, s in ipairs(scores) do
    law[i] = math.exp(rate * s)
    total = total + law[i]
  end
  for i in ipairs(law) do law[i] = law[i] / total end
  return law
end

-- Candidate 1 has the best score; a, b are the chances of the others to be accepted when visited.
local function flip(scores, rate)
  local a, b = math.exp(rate * (scores[2] - scores[1])), math.exp(rate * (scores[3] - scores[1]))
  local second, third = a / 2 - a * b / 6, b / 2 - a * b / 6
  return { 1 - second - third, second, third }
end

-- Laplace noise of scale 1/rate on three scores, by summing over a fine lattice of values of the winner.
local function noisy_max(scores, rate)
  local law, step = { 0, 0, 0 }, 1 / 256
  local function below(x) return x < 0 and math.exp(rate * x) / 2 or 1 - math.exp(-rate * x) / 2 end
  for i = 1, 3 do
    for x = scores[i] - 60, scores[i] + 60, step do
      local mass = below(x + step / 2 - scores[i]) - below(x - step / 2 - scores[i])
      for j = 1, 3 do
        if j ~= i then mass = mass * below(x - scores[j]) end
      end
      law[i] = law[i] + mass
    end
  end
  return law
end

describe("selection", function()
  local laws = { exponential = softmax, permute_and_flip = flip, report_noisy_max = noisy_max }

  for seed, name in ipairs(names) do
    of_law("of " .. name .. " has its law in the units of the scores", function()
      -- epsilon 0.75, sensitivity 0.3: the exponent of a gap g is 1.25 g
      local scores = { 1.5, 0.9, -0.4 }
      local counts = frequencies(make(name, 0.75, 0.3), scores, 100000, seed)
      local law = laws[name](scores, 1.25)
      assert.is_true(math.abs(law[1] + law[2] + law[3] - 1) < 1e-4)
      assert.is_true(chi_square(counts, law) < CHI2_2)
      assert.is_true(chi_square(counts, laws[name](scores, 1.25 * 1.1)) > CHI2_2)
      assert.is_true(chi_square(counts, laws[name](scores, 1.25 / 1.1)) > CHI2_2)
    end)

    it("of " .. name .. " charges exactly epsilon, rounded down to 20 bits", function()
      local ledger = teaching(1)
      local m = make(name, 0.1, 7)
      m:release({ 1, 2 }, { ledger = ledger, rng = pn.rng.seeded(1) })
      -- the largest m 2^-e <= 0.1 with m < 2^20
      local charged = math.floor(0.1 * 2 ^ 23) / 2 ^ 23
      assert.is_true(math.abs(ledger:price(m.event) - charged) <= 1e-15)
      assert.is_true(ledger:price(m.event) >= charged)
      assert.is_true(math.abs(1 - ledger.remaining - charged) < 1e-12)
    end)

    it("of " .. name .. " takes the only candidate there is", function()
      assert.equal(1, make(name, 1, 1):release({ -3 }, { ledger = pn.ledger { epsilon = 1 } }))
    end)

    it("of " .. name .. " finds a winner that is far ahead", function()
      local scores = {}
      for i = 1, 1000 do scores[i] = i == 700 and 1000 or 0 end -- fails with probability < 1000 exp(-250)
      assert.equal(700, make(name, 1, 1):release(scores, { ledger = pn.ledger { epsilon = 1 } }))
    end)

    it("of " .. name .. " repeats from a seed", function()
      local scores, a, b = { 1, 2, 3, 4 }, {}, {}
      for i, rng in ipairs { pn.rng.seeded(3), pn.rng.seeded(3) } do
        local m, ledger = make(name, 0.5, 1), teaching(100)
        for k = 1, 50 do (i == 1 and a or b)[k] = m:release(scores, { ledger = ledger, rng = rng }) end
      end
      assert.same(a, b)
    end)

    it("of " .. name .. " gives more noise when scores have errors", function()
      -- scores in units of 2^-12 are up to 1 + 2 score_error apart: D = 3 2^12
      local m = make(name, 2, 1, { score_error = 1 })
      assert.matches("multiples of 2^-12\n", tostring(m), 1, true)
      assert.matches("at most 12288 units", tostring(m), 1, true)
    end)
  end

  of_law("of permute_and_flip has the law that enumeration gives", function()
    -- scores (0, -1, -3), epsilon/(2D) = 1: noise specification, item 10; a score unit of 2^-20 adds one part in 2^20 to D
    local counts = frequencies(make("permute_and_flip", 2, 1), { 0, -1, -3 }, 100000, 17)
    local law = { 0.797271958, 0.180887114, 0.021840928 }
    for i, p in ipairs(flip({ 0, -1, -3 }, 1)) do assert.is_true(math.abs(p - law[i]) < 1e-9) end
    assert.is_true(chi_square(counts, law) < CHI2_2)
  end)

  it("refuses scores beyond the bound that was given, where it is strict, without saying which", function()
    local m, ledger = pn.mechanism.exponential { epsilon = 8, sensitivity = 0.01, score_bound = 1, strict = true }, teaching(8)
    for _, bad in ipairs { { 1, 1.5 }, { -1e300, 0 } } do
      refused("exponential: the query goes beyond the bound 1 that it was promised to keep; clip it first", function()
        m:release(bad, { ledger = ledger })
      end)
    end
    assert.equal(8, ledger.remaining)
    assert.equal(1, (m:release({ 1, -1 }, { ledger = ledger })))
  end)

  it("clamps scores at 2^40 sensitivities when no bound was given", function()
    -- both are 2^40 after clamping, so each wins half of the time; 6000 draws, 4.89 standard errors
    local m = pn.mechanism.exponential { epsilon = 8, sensitivity = 1 }
    local counts = frequencies(m, { 2 ^ 40, 1e300 }, 6000, 5)
    assert.is_true(math.abs(counts[1] / 6000 - 0.5) < 4.891639 * 0.5 / math.sqrt(6000))
  end)

  it("keeps the neighbouring relation in the event", function()
    local m = pn.mechanism.exponential { epsilon = 1, sensitivity = 1, neighbours = "zero_out" }
    assert.matches("zero_out", tostring(m.event), 1, true)
    refused("zero_out", function() m:release({ 1 }, { ledger = pn.ledger { epsilon = 1 } }) end)
  end)
end)

describe("a release", function()
  local m = pn.mechanism.exponential { epsilon = 0.5, sensitivity = 1 }

  it("is charged under its label before the draw, and refused when the budget is out", function()
    local ledger = pn.ledger { epsilon = 1 }
    m:release({ 1, 2 }, { ledger = ledger, label = "favourite colour" })
    assert.matches("favourite colour", tostring(ledger:report()), 1, true)
    m:release({ 1, 2 }, { ledger = ledger })
    assert.matches("exponential", tostring(ledger:report()), 1, true)
    refused("Requested epsilon 0.5, Remaining 0", function() m:release({ 1, 2 }, { ledger = ledger }) end)
    assert.is_true(ledger.remaining < 1e-9)
  end)

  it("draws nothing when it is refused", function()
    local rng, same = pn.rng.seeded(8), pn.rng.seeded(8)
    local poor = pn.ledger { epsilon = 0.25, teaching = true }
    pcall(m.release, m, { 1, 2 }, { ledger = poor, rng = rng })
    pcall(m.release, m, { 1, 0 / 0 }, { ledger = teaching(1), rng = rng })
    pcall(m.release, m, { 1, 2 }, { ledger = pn.ledger { epsilon = 1 }, rng = rng })
    assert.equal(same:uniform(), rng:uniform())
    assert.equal(0.25, poor.remaining)
  end)

  it("needs a ledger", function()
    refused("exponential: a release is paid from a ledger; give ledger = pn.ledger{", function() m:release({ 1, 2 }) end)
    refused("exponential: ledger must be an open pn.ledger, got 5", function() m:release({ 1, 2 }, { ledger = 5 }) end)
  end)

  it("refuses seeded noise on a real budget, and charges nothing for it", function()
    local ledger = pn.ledger { epsilon = 1 }
    refused("use a secure stream, or a ledger opened with teaching = true", function()
      m:release({ 1, 2 }, { ledger = ledger, rng = pn.rng.seeded(1) })
    end)
    refused("seeded", function() m:release({ 1, 2 }, { ledger = ledger, rng = pn.rng.seeded(1):split(4) }) end)
    assert.equal(1, ledger.remaining)
  end)

  it("refuses NaN and infinity before the charge, without saying where", function()
    local ledger = pn.ledger { epsilon = 1 }
    local infinite = pn.vec { 1, 1e308, 3 } * 10
    for _, bad in ipairs { infinite, -infinite, infinite - infinite } do
      local ok, message = pcall(m.release, m, bad, { ledger = ledger })
      assert.is_false(ok)
      assert.matches("must hold finite numbers", message, 1, true)
      assert.is_nil(message:match("entry") or message:match("2"))
    end
    assert.equal(1, ledger.remaining)
  end)

  it("refuses an empty query and unknown options", function()
    local ledger = pn.ledger { epsilon = 1 }
    refused("at least 1", function() m:release({}, { ledger = ledger }) end)
    refused("label must be a string, got 3", function() m:release({ 1 }, { ledger = ledger, label = 3 }) end)
    refused("rng must be an open pn.rng, got 3", function() m:release({ 1 }, { ledger = ledger, rng = 3 }) end)
    refused("exponential: unknown option 'seed'; it takes ledger, rng, label", function()
      m:release({ 1 }, { ledger = ledger, seed = 3 })
    end)
    assert.equal(1, ledger.remaining)
  end)
end)

describe("a mechanism", function()
  it("explains its law, its cost and its lattice", function()
    local text = tostring(pn.mechanism.exponential { epsilon = 0.5, sensitivity = 1, score_bound = 16 }):gsub("%s+", " ")
    assert.matches("proportional to exp(-epsilon (max - score i) / (2 sensitivity))", text, 1, true)
    assert.matches("exponential(epsilon=0.5)", text, 1, true)
    assert.matches("replace_one", text, 1, true)
    -- unit 2^-20 = sensitivity 2^-20, D = 2^20 + 1
    assert.matches("clamped beyond +-16, rounded down to multiples of 2^-20 ", text, 1, true)
    assert.matches("at most 1048577 units", text, 1, true)
  end)

  local refusals = {
    { "no epsilon", "exponential", { sensitivity = 1 }, "mechanism.exponential: epsilon is missing" },
    { "no sensitivity", "permute_and_flip", { epsilon = 1 }, "mechanism.permute_and_flip: sensitivity is missing" },
    { "an epsilon of zero", "exponential", { epsilon = 0, sensitivity = 1 },
      "mechanism.exponential: epsilon must be a positive number, got 0" },
    { "an epsilon that is NaN", "exponential", { epsilon = 0 / 0, sensitivity = 1 },
      "epsilon must be a positive number" },
    { "an epsilon too small to be charged", "exponential", { epsilon = 1e-13, sensitivity = 1 },
      "between 2^-40 and 1024, got 1e-13" },
    { "an epsilon beyond sense", "permute_and_flip", { epsilon = 1e4, sensitivity = 1 }, "between 2^-40 and 1024" },
    { "an infinite sensitivity", "exponential", { epsilon = 1, sensitivity = math.huge },
      "sensitivity must be a positive number, got inf" },
    { "a negative scale", "report_noisy_max", { scale = -2, sensitivity = 1 },
      "mechanism.report_noisy_max: scale must be a positive number, got -2" },
    { "a scale that costs too much", "report_noisy_max", { scale = 1e-6, sensitivity = 1 }, "costs epsilon 2e+06" },
    { "an option of another mechanism", "report_noisy_max", { epsilon = 1, sensitivity = 1 },
      "mechanism.report_noisy_max: unknown option 'epsilon'; it takes scale, sensitivity, score_bound" },
    { "a relation that does not exist", "exponential", { epsilon = 1, sensitivity = 1, neighbours = "cousins" },
      'neighbours must be "replace_one", "add_remove" or "zero_out", got "cousins"' },
    { "a negative score_error", "exponential", { epsilon = 1, sensitivity = 1, score_error = -1 },
      "score_error must be a number >= 0, got -1" },
  }
  for _, case in ipairs(refusals) do
    it("refuses " .. case[1], function()
      refused(case[4], function() pn.mechanism[case[2]](case[3]) end)
    end)
  end

  it("is in the reference with its options and its source", function()
    for _, name in ipairs(names) do
      local entry = pn.reference()["mechanism." .. name]
      assert.equal("nothing", entry.reveals)
      assert.is_string(entry.source)
      assert.equal("sensitivity", entry.params[2].name)
    end
    assert.equal("paid", pn.reference()["pn.mechanism:release"].reveals)
  end)
end)
