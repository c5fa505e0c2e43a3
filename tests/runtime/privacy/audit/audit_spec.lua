-- pn.audit from Lua: the two forms, what counts as an output, what is refused, and whose error arrives.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local function ledger()
  return pn.ledger{rho = 1e12, teaching = true}
end

-- epsilon = 1: the truth with chance e/(1 + e).
local function randomised_response(bit, rng)
  return (rng:uniform() < 1 / (1 + math.exp(-1))) == (bit == 1)
end

local bits = {0, 1}

describe("pn.audit with neighbours", function()
  it("bounds the epsilon of randomised response from below, and nearly", function()
    local result = pn.audit(randomised_response, {neighbours = bits, trials = 20000, epsilon = 1,
      rng = pn.rng.seeded(1)})
    assert.is_true(result.epsilon_lower > 0.9 and result.epsilon_lower < 1)
    assert.is_false(result.violated)
    assert.equal(1, result.claimed)
    assert.equal(10000, result.trials)
    assert.equal(0.95, result.confidence)
    assert.equal("two samples", result.method)
    assert.is_true(result.simulated)
    assert.is_nil(result.seed)
    assert.is_nil(result.mu_lower)
  end)

  it("refutes a claim that is too small, and says so", function()
    local result = pn.audit(randomised_response, {neighbours = bits, trials = 20000, epsilon = 0.8,
      confidence = 0.999, rng = pn.rng.seeded(1)})
    assert.is_true(result.violated)
    assert.truthy(tostring(result):find("claimed  epsilon = 0.8: VIOLATED", 1, true))
    assert.truthy(tostring(result):find("of 10000 runs on the first data set", 1, true))
    assert.truthy(tostring(result):find("^audit: epsilon >= 0%.%d+ at delta 0, with confidence 0%.999\n"))
  end)

  -- On the first half of these runs a rare event is ahead by luck, whose bound on the other half is below 0.8.
  law("does not fall for the luckiest of many events", function()
    for _, seed in ipairs{6, 7} do
      local stream, budget = pn.rng.seeded(1), ledger()
      local m = pn.mechanism.laplace{epsilon = 1, sensitivity = 1}
      local result = pn.audit(function(x, rng)
        return x + 0.8 * ((m:release(x, {ledger = budget, rng = rng or stream})) - x)
      end, {neighbours = {100, 101}, trials = 40000, epsilon = 1, rng = pn.rng.seeded(seed)})
      assert.is_true(result.violated)
      assert.is_true(result.epsilon_lower > 1.1 and result.epsilon_lower < 1.25)
    end
  end)

  it("takes the claim of an event at delta, by the sharpest accountant", function()
    local m = pn.mechanism.laplace{epsilon = 1, sensitivity = 1}
    local budget = ledger()
    local result = pn.audit(function(x, rng)
      return (m:release(x, {ledger = budget, rng = rng}))
    end, {neighbours = bits, trials = 20000, event = m.event, rng = pn.rng.seeded(2)})
    assert.is_true(math.abs(result.claimed - 1) < 1e-9)
    assert.is_false(result.violated)
    assert.is_true(result.epsilon_lower > 0.85)
  end)

  it("repeats itself by the seed that it names", function()
    local first = pn.audit(randomised_response, {neighbours = bits, trials = 500})
    local again = pn.audit(randomised_response, {neighbours = bits, trials = 500,
      rng = pn.rng.seeded(first.seed)})
    assert.same(first.hits, again.hits)
    assert.equal(first.epsilon_lower, again.epsilon_lower)
  end)

  it("takes a secure stream", function()
    local result = pn.audit(randomised_response, {neighbours = bits, trials = 500, rng = pn.rng.secure()})
    assert.is_false(result.simulated)
    assert.is_nil(result.seed)
  end)

  it("learns what booleans, strings and whole numbers of few kinds say", function()
    local options = {neighbours = bits, trials = 4000, rng = pn.rng.seeded(3)}
    local plain = pn.audit(randomised_response, options)
    for _, names in ipairs{{"yes", "no"}, {7, -3}} do
      local named = pn.audit(function(bit, rng)
        return randomised_response(bit, rng) and names[1] or names[2]
      end, options)
      assert.equal(plain.epsilon_lower, named.epsilon_lower)
    end
    -- neither end of 1, 2, 3 tells the two apart, the middle does
    local middle = pn.audit(function(bit, rng)
      return randomised_response(bit, rng) and 2 or 2 * rng:integer(2) - 1
    end, options)
    assert.is_true(middle.epsilon_lower > 0.7)
  end)

  it("projects vectors on the difference of the means", function()
    local m = pn.mechanism.gaussian{sigma = 1, sensitivity = 1, dim = 3}
    local budget = ledger()
    local result = pn.audit(function(x, rng)
      return (m:release(x, {ledger = budget, rng = rng}))
    end, {neighbours = {{0, 0, 5}, {0.6, -0.8, 5}}, trials = 20000, delta = 0.05, gaussian = true,
      event = m.event, rng = pn.rng.seeded(4)})
    assert.is_true(result.mu_lower > 0.9 and result.mu_lower < 1)
    assert.is_true(result.epsilon_lower > 1.3 and result.epsilon_lower < 1.5688777812338255) -- exact: mpmath
    assert.is_false(result.violated)
    assert.equal("two samples, Gaussian-DP assumed", result.method)
    assert.truthy(tostring(result):find("assumed  mu-Gaussian-DP for some mu; mu >= 0.9", 1, true))
  end)

  it("takes the auditor's own score", function()
    local result = pn.audit(function(bit, rng)
      return {answer = randomised_response(bit, rng)}
    end, {neighbours = bits, trials = 4000, rng = pn.rng.seeded(3), score = function(output)
      return output.answer and 1 or 0
    end})
    assert.is_true(result.epsilon_lower > 0.8)
  end)

  it("hands back the caller's own error value, from the function and from the score", function()
    local boom = {"boom"}
    local ok, err = pcall(pn.audit, function() error(boom) end, {neighbours = bits, trials = 100})
    assert.is_false(ok)
    assert.equal(boom, err)
    ok, err = pcall(pn.audit, function() return 1 end, {neighbours = bits, score = function() error(boom) end})
    assert.is_false(ok)
    assert.equal(boom, err)
  end)

  it("refuses outputs that change their kind, have another length or are not numbers", function()
    local function told(outputs, text)
      local at = 0
      assert.error_matches(function()
        pn.audit(function() at = at + 1 return outputs[at] or outputs[#outputs] end, {neighbours = bits, trials = 100})
      end, text)
    end
    told({1, "one"}, "the same kind of output each time, got string after another")
    told({true, 1}, "the same kind of output each time, got number after another")
    told({{1, 2}, {1, 2, 3}}, "returned 3 numbers after 2")
    told({0 / 0}, "score 1 is not a number")
    assert.error_matches(function()
      pn.audit(function() return 1 end, {neighbours = bits, score = function() return "high" end})
    end, "score must return a number, got string")
  end)

  it("names what is wrong with its options before it runs anything", function()
    local function refused(options, text)
      assert.error_matches(function()
        pn.audit(function() error("must not run") end, options)
      end, text)
    end
    refused({}, "give either neighbours = {D, D2} or canaries = m")
    refused({neighbours = bits, canaries = 10}, "give either neighbours")
    refused({neighbours = {1}}, "neighbours must hold two data sets, got 1")
    refused({neighbours = 5}, "neighbours must be a table of two data sets, got 5")
    refused({neighbours = bits, trials = 99}, "trials must be at least 100, got 99")
    refused({neighbours = bits, guesses = 5}, "guesses must be at most the number of canaries, 0, got 5")
    refused({canaries = 4, trials = 500}, "trials and score are for audits with neighbours")
    refused({canaries = 4, guesses = 5}, "guesses must be at most the number of canaries, 4, got 5")
    refused({canaries = 4, gaussian = true}, "gaussian needs a delta above 0")
    refused({neighbours = bits, gaussian = true}, "gaussian needs a delta above 0")
    refused({neighbours = bits, delta = 1}, "delta must be below 1, got 1")
    refused({neighbours = bits, confidence = 1}, "confidence")
    refused({neighbours = bits, score = 3}, "score must be a function, got 3")
    refused({neighbours = bits, rng = 3}, "rng must be an open pn.rng, got 3")
    refused({neighbours = bits, event = pn.event.exponential{epsilon = 1}, epsilon = 1}, "either an event or an epsilon")
    refused({neighbours = bits, trial = 3}, "trial")
  end)

  it("tells a progress function how far it is, and lets it stop the audit", function()
    local labels, stop = {}, {"stop"}
    pn.audit(randomised_response, {neighbours = bits, trials = 200, progress = function(_, total, label)
      labels[label] = total
    end})
    assert.same({audit = 400}, labels)
    local ok, err = pcall(pn.audit, randomised_response, {neighbours = bits, trials = 200, progress = function()
      error(stop)
    end})
    assert.is_false(ok)
    assert.equal(stop, err)
  end)
end)

describe("pn.audit in one run", function()
  local function respond(included, rng)
    local scores = {}
    for i, present in ipairs(included) do
      scores[i] = randomised_response(present and 1 or 0, rng) and 1 or 0
    end
    return scores
  end

  it("bounds the epsilon of many canaries in one run", function()
    local result = pn.audit(respond, {canaries = 10000, guesses = 8000, delta = 1e-6, epsilon = 1,
      rng = pn.rng.seeded(6)})
    assert.is_true(result.epsilon_lower > 0.88 and result.epsilon_lower < 1)
    assert.is_false(result.violated)
    assert.equal("one run", result.method)
    assert.equal(10000, result.trials)
    assert.equal(8000, result.hits[2])
    assert.truthy(tostring(result):find(result.hits[1] .. " of 8000 guesses right, 10000 canaries in one run", 1, true))
  end)

  it("bounds mu of a Gaussian sum in one run, where delta alone says little", function()
    local canaries = 5000
    local sum = pn.mechanism.gaussian{sigma = 0.5, sensitivity = 1, dim = canaries, neighbours = "add_remove"}
    local budget = pn.ledger{rho = 1e9, teaching = true, neighbours = "add_remove"}
    local function release(included, rng)
      local x = pn.vec.zeros(canaries)
      for i, present in ipairs(included) do
        x[i] = present and 1 or 0
      end
      return (sum:release(x, {ledger = budget, rng = rng}))
    end
    local options = {canaries = canaries, guesses = 500, delta = 1e-5, event = sum.event, rng = pn.rng.seeded(8)}
    local plain = pn.audit(release, options)
    options.gaussian = true
    local result = pn.audit(release, options)
    assert.is_true(result.mu_lower > 1.2 and result.mu_lower < 2)
    assert.is_true(result.epsilon_lower > 1.3 * plain.epsilon_lower)
    assert.is_false(result.violated)
    assert.equal("one run, Gaussian-DP assumed", result.method)
  end)

  it("shows what a mechanism without noise gives away", function()
    local result = pn.audit(function(included)
      local scores = pn.vec.zeros(#included)
      for i, present in ipairs(included) do
        scores[i] = present and 2 or 1
      end
      return scores
    end, {canaries = 1000, guesses = 500, delta = 1e-5, epsilon = 1})
    assert.is_true(result.violated)
    assert.equal(500, result.hits[1])
    assert.is_true(result.epsilon_lower > 4)
  end)

  it("throws fair coins that differ from run to run", function()
    local counts = {}
    for run = 1, 2 do
      pn.audit(function(included)
        counts[run] = 0
        for _, present in ipairs(included) do
          counts[run] = counts[run] + (present and 1 or 0)
        end
        return pn.vec.zeros(#included)
      end, {canaries = 10000, rng = pn.rng.seeded(run)})
      assert.is_true(math.abs(counts[run] - 5000) < 300) -- 6 standard deviations
    end
    assert.not_equal(counts[1], counts[2])
  end)

  it("hands back the caller's own error, and wants one score per canary", function()
    local boom = {"boom"}
    local ok, err = pcall(pn.audit, function() error(boom) end, {canaries = 10})
    assert.is_false(ok)
    assert.equal(boom, err)
    assert.error_matches(function()
      pn.audit(function() return {1, 2} end, {canaries = 10})
    end, "one score per canary, 10, got 2")
  end)

  it("tests a whole trade-off curve in one run, of points or of an event", function()
    local function telling(included)
      local scores = {}
      for i, is in ipairs(included) do scores[i] = is and 1 or -1 end
      return scores
    end
    local function silent(included)
      local scores = {}
      for i = 1, #included do scores[i] = i % 7 end
      return scores
    end
    local event = pn.event.gaussian { sigma = 1, sensitivity = 1 }
    for _, profile in ipairs { { { 1, 0.01 } }, { { 0, 0.39 }, { 1, 0.13 }, { 2, 0.03 } }, true } do
      local function audit(f)
        return pn.audit(f, { canaries = 200, profile = profile, event = profile == true and event or nil, delta = 1e-6,
          confidence = 0.95, rng = pn.rng.seeded(1) })
      end
      local told, kept = audit(telling), audit(silent)
      assert.is_true(told.violated)
      assert.is_true(told.p_value < 0.05)
      assert.is_false(kept.violated)
      assert.is_true(kept.p_value > 0.05)
      assert.truthy(tostring(told):find("a trade%-off curve: VIOLATED"))
    end
    for _, wrong in ipairs { { { 1, 2 } }, { { -1, 0 } }, { 1 }, {}, true, "all" } do
      assert.has_error(function()
        pn.audit(silent, { canaries = 10, profile = wrong })
      end)
    end
    assert.has_error(function()
      pn.audit(silent, { neighbours = { 0, 1 }, profile = { { 1, 0 } } })
    end)
  end)
end)
