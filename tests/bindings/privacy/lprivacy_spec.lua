-- lprivacy_spec.lua -- how events, accountants, calibration and ledgers behave as Lua objects: arguments, text, help
-- rows.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal
local event = pn.event

describe("pn.event", function()
  it("refuses parameters that are missing, unknown or out of range, by name", function()
    assert.matches("event.exponential: epsilon is missing", refusal(event.exponential, {}), 1, true)
    local message = refusal(event.gaussian, { sigma = -1, sensitivity = 1 })
    assert.matches("event.gaussian: sigma must be a positive number, got -1", message, 1, true)
    assert.matches("unknown option 'eps'; it takes epsilon, neighbours", refusal(event.pure, { eps = 1 }), 1, true)
    message = refusal(event.pure, { epsilon = 1, neighbours = "none" })
    assert.matches('neighbours must be "replace_one", "add_remove" or "zero_out", got "none"', message, 1, true)
    assert.matches("alpha must be greater than 1, got 1", refusal(event.rdp, { alpha = 1, epsilon = 1 }))
    assert.matches("positive number, got nan", (refusal(event.pure, { epsilon = 0 / 0 }):gsub("%-nan", "nan")))
    assert.matches("outside what can be accounted for", refusal(event.gaussian, { sigma = 1e-200, sensitivity = 1 }))
  end)

  it("refuses orders and deltas outside their ranges", function()
    local e = event.pure { epsilon = 1 }
    assert.matches("alpha must be a number greater than 1 .*, got 1", refusal(e.rdp, e, 1))
    assert.matches("got nothing", refusal(e.rdp, e))
    assert.matches("delta must be a number from 0 up to but not including 1, got 1", refusal(e.epsilon, e, 1))
    assert.matches("got nan", (refusal(e.epsilon, e, 0 / 0):gsub("%-nan", "nan")))
  end)

  it("knows its name and its relation", function()
    local e = event.laplace { scale = 2, sensitivity = 1, neighbours = "zero_out" }
    assert.equal("laplace", e.name)
    assert.equal("zero_out", e.neighbours)
    assert.equal("laplace(scale=2, sensitivity=1), zero_out", tostring(e))
    assert.matches("pn.event has no field 'sigma'", refusal(function()
      return e.sigma
    end))
    assert.matches("cannot be changed", refusal(function()
      e.sigma = 1
    end))
  end)

  it("composes events only", function()
    assert.matches("entry 2 must be a pn.event, got 3", refusal(event.compose, { event.pure { epsilon = 1 }, 3 }))
    assert.matches("expected a list of events", refusal(event.compose, {}))
    local message = refusal(event.repeated, event.pure { epsilon = 1 }, 1.5)
    assert.matches("count must be a whole number from 1, got 1.5", message, 1, true)
  end)
end)

describe("pn.accountant", function()
  it("adds in place and prints what it holds", function()
    local acc = pn.accountant.rdp {}
    assert.equal("accountant.rdp: nothing added", tostring(acc))
    assert.equal("accountant.rdp: nothing added", tostring(pn.accountant.rdp()))
    assert.is_nil(acc.neighbours)
    assert.equal(acc, acc:add(event.zcdp { rho = 0.25 }, 2))
    assert.matches("accountant.rdp: 2 releases, replace_one", tostring(acc), 1, true)
    assert.equal(0, (pn.accountant.zcdp {}:epsilon(1e-6)))
  end)

  it("refuses counts that are not whole and epsilons below 0", function()
    local acc = pn.accountant.zcdp {}
    local message = refusal(acc.add, acc, event.zcdp { rho = 1 }, 0)
    assert.matches("accountant:add: count must be a whole number from 1, got 0", message, 1, true)
    assert.matches("epsilon must be a number from 0, got %-1", refusal(acc.delta, acc, -1))
    assert.matches("it takes none", refusal(pn.accountant.rdp, { orders = 3 }))
  end)
end)

describe("pn.ledger", function()
  it("prints its budget, and warns when it is for teaching", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    assert.equal("ledger(epsilon=1, delta=1e-06, replace_one)\n  spent 0, remaining 1, entries 0", tostring(L))
    assert.matches("no privacy", tostring(pn.ledger { rho = 1, teaching = true }), 1, true)
    assert.equal(1, L.epsilon)
    assert.equal(1e-6, L.delta)
    assert.is_nil(L.rho)
    assert.is_nil(pn.ledger({ rho = 2 }).delta)
  end)

  it("reports charges as an aligned table", function()
    local L = pn.ledger { rho = 1 }
    L:spend(event.zcdp { rho = 0.25 }, "selection of a vertex", 2):spend(event.gaussian { sigma = 2, sensitivity = 1 })
    local lines = {}
    for line in tostring(L:report()):gmatch "[^\n]+" do
      lines[#lines + 1] = line
    end
    assert.equal(8, #lines)
    assert.matches("^label +event +count +price$", lines[1])
    assert.matches("^selection of a vertex +zCDP, rho 0.25 +2 +0.5$", lines[2])
    assert.matches("Gaussian noise, sigma 2 for sensit%.%.%. +1 +0.125$", lines[3])
    assert.equal(#lines[1], #lines[2])
    assert.equal(#lines[1], #lines[3])
    assert.matches("budget rho=1, replace_one: spent 0.625, remaining 0.375", lines[4], 1, true)
    local rest = table.concat(lines, "\n", 5):gsub("\n    ", " ")
    assert.matches("naive (not valid at data-dependent stopping); odometer: epsilon", rest, 1, true)
    assert.matches("\nby the fully adaptive filter", rest)
    for _, line in ipairs(lines) do assert.is_true(#line <= 80, line) end
  end)

  it("says in words what was charged", function()
    local gaussian, L = event.gaussian { sigma = 3, sensitivity = 1 }, pn.ledger { epsilon = 50, delta = 1e-3 }
    for words, e in pairs {
      ["Gaussian noise, sigma 3 for sensitivity 1"] = gaussian,
      ["Laplace noise, scale 0.333333 for sensitivity 2"] = event.laplace { scale = 1 / 3, sensitivity = 2 },
      ["exponential mechanism, epsilon 0.5"] = event.exponential { epsilon = 0.5 },
      ["report noisy max, scale 4 for sensitivity 1"] = event.report_noisy_max { scale = 4, sensitivity = 1 },
      ["pure epsilon 0.25"] = event.pure { epsilon = 0.25 },
      ["epsilon 0.5 at delta 1e-06"] = event.approximate { epsilon = 0.5, delta = 1e-6 },
      ["zCDP, rho 0.1"] = event.zcdp { rho = 0.1 },
      ["Renyi divergence of order 4, epsilon 0.2"] = event.rdp { alpha = 4, epsilon = 0.2 },
      ["sparse vector, epsilon 1"] = event.sparse_vector { epsilon = 1 },
      ["a declared Renyi curve"] = event.curve { orders = { 2, 4 }, divergences = { 0.02, 0.04 } },
      ["a declared distribution of privacy losses"] = event.loss_distribution { p = { 0.5, 0.5 }, q = { 0.4, 0.6 } },
      ["Gaussian noise, sigma 3 for sensitivity 1, each record sampled at rate 0.01"] =
        event.poisson_sampled { q = 0.01, event = gaussian },
      ["Gaussian noise, sigma 3 for sensitivity 1, on 10 of 200 records"] =
        event.fixed_sampled { batch = 10, n = 200, event = gaussian },
      ["20 times Gaussian noise, sigma 3 for sensitivity 1"] = event.repeated(gaussian, 20),
      ["Gaussian noise, sigma 3 for sensitivity 1; 3 times pure epsilon 0.1"] =
        event.compose { gaussian, event.repeated(event.pure { epsilon = 0.1 }, 3) },
    } do
      assert.equal(words, e.words)
    end
    L:spend(gaussian, "x", 2)
    assert.equal("Gaussian noise, sigma 3 for sensitivity 1", L:report()[1].words)
    assert.equal("gaussian(sigma=3, sensitivity=1)", L:report()[1].event)
    local many = {}
    for i = 1, 60 do many[i] = event.gaussian { sigma = 3 + i, sensitivity = 1 } end
    assert.is_true(#event.compose(many).words < 512) -- cut, and nothing beyond it
  end)

  it("says that a further run may cost more than the difference where charges compose to less", function()
    local gaussian = pn.event.gaussian { sigma = 5, sensitivity = 1 }
    local L = pn.ledger { epsilon = 2, delta = 1e-6 }:spend(gaussian)
    assert.truthy(L.spent + L.remaining > 2.002)
    assert.matches(("\n           a further run may cost %.4g: together they cost less than the sum\n"):format(L.remaining),
      tostring(L), 1, true)
    L = pn.ledger { epsilon = 2 }:spend(pn.event.laplace { scale = 1, sensitivity = 1 })
    assert.is_nil(tostring(L):find("further run", 1, true))
  end)

  it("draws what is spent, the largest charges and its slices", function()
    local L = pn.ledger { epsilon = 2 }
    local function laplace(epsilon) return event.laplace { scale = 1 / epsilon, sensitivity = 1 } end
    L:spend(laplace(0.25), "small"):spend(laplace(0.5), "line\nbreak", 2):spend(laplace(0.125)):spend(laplace(0.0625), "least")
    local S = pn.ledger { epsilon = 0.5, parent = L, name = "class" }
    pn.ledger { epsilon = 0.25, parent = S, name = "ada" }:spend(laplace(0.0625), "hers")
    local lines = {}
    for line in tostring(L):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal("  spent 1.5, remaining 0.5, entries 5", lines[2])
    local bar, share = lines[3]:match "^  budget   (%S+)  (.*)$"
    assert.equal("75% of 2 spent", share)
    assert.equal(40, utf8.len(bar))
    local first, filled = bar:match(utf8.charpattern), 0
    for c in bar:gmatch(utf8.charpattern) do filled = filled + (c == first and 1 or 0) end
    assert.equal(30, filled)
    assert.equal("  largest  1  line break, 2 times", lines[4])
    assert.equal("           0.25  small", lines[5])
    assert.equal("           0.125  (no label)", lines[6])
    assert.matches("^  slices   %S+  class: 0.0625 of 0.5$", lines[7])
    assert.matches("^           %S+    ada: 0.0625 of 0.25$", lines[8])
    assert.equal(8, #lines)
  end)

  it("keeps a row on one line, whatever the label holds", function()
    local L = pn.ledger { rho = 1 }
    L:spend(event.zcdp { rho = 0.25 }, "two\nlines\tand a tab")
    assert.equal("two\nlines\tand a tab", L:report()[1].label)
    assert.matches("\ntwo lines and a tab +zCDP", tostring(L:report()))
  end)

  it("says why it does not cover, without raising", function()
    local L = pn.ledger { rho = 1 }
    local ok, why = L:covers(event.zcdp { rho = 2 })
    assert.is_false(ok)
    assert.matches("Requested rho 2, Remaining 1, Difference 1", why, 1, true)
    assert.is_true((L:covers(event.zcdp { rho = 0.5 }, 2)))
    assert.is_false((L:covers(event.zcdp { rho = 0.5 }, 3)))
  end)

  it("can be closed by scope, and then is no object any more", function()
    local L = pn.ledger { rho = 1 }
    do
      local scoped <close> = L
      assert.equal(1, scoped.remaining)
    end
    assert.matches("got a closed pn.ledger", refusal(L.price, L, event.zcdp { rho = 1 }))
  end)

  it("refuses anything but events", function()
    local L = pn.ledger { rho = 1 }
    assert.matches("expected a pn.event, got 0.5", refusal(L.spend, L, 0.5))
    assert.matches("k must be at most 10000", refusal(L.split, L, 10001))
  end)
end)

describe("messages of privacy's constructors", function()
  it("name the first missing option when no table is given", function()
    assert.matches("event.gaussian: sigma is missing; give a positive number", refusal(event.gaussian), 1, true)
    assert.matches("sampler.full: n is missing", refusal(pn.sampler.full), 1, true)
    local sampler = pn.sampler.full { n = 3 }
    assert.matches("sampler.full:event: sigma is missing", refusal(sampler.event, sampler), 1, true)
    assert.matches("mechanism.gaussian: sigma is missing", refusal(pn.mechanism.gaussian), 1, true)
  end)

  it("say what was given, without addresses or pages of text", function()
    local e = event.pure { epsilon = 1 }
    assert.matches("must be a positive number, got a table$", refusal(event.pure, { epsilon = {} }))
    assert.matches("must be a positive number, got a function$", refusal(event.pure, { epsilon = print }))
    assert.matches("must be a positive number, got a pn.event$", refusal(event.pure, { epsilon = e }))
    assert.matches("must be a positive number, got nan$", refusal(event.pure, { epsilon = 0 / 0 }))
    assert.matches('neighbours must be "replace_one", "add_remove" or "zero_out", got 3$',
      refusal(event.pure, { epsilon = 1, neighbours = 3 }))
    assert.matches("event.repeated: count must be a whole number from 1, got nothing$", refusal(event.repeated, e))
  end)

  it("name a library and the name that it has not", function()
    assert.equal('pn.mechanism has no \'guassian\'; help "mechanism" lists what it has',
      (refusal(function() return pn.mechanism.guassian { sigma = 1 } end):gsub("^%S+:%d+: ", "")))
    assert.equal('library event: help "event" lists what it has', tostring(pn.event))
    assert.matches("pn.data.synthetic has no 'laso'", refusal(function() return pn.data.synthetic.laso {} end), 1, true)
    assert.is_nil(pn.event[1])
    assert.equal(3, #pn.vec { 1, 2, 3 })
  end)

  it("say that an object is closed", function()
    local kept
    do
      local ledger <close> = pn.ledger { epsilon = 1 }
      kept = ledger
    end
    local m = pn.mechanism.gaussian { sigma = 1, sensitivity = 1 }
    assert.matches("ledger must be an open pn.ledger, got a closed pn.ledger$", refusal(m.release, m, 1, { ledger = kept }))
  end)

  it("tell who gives a mechanism where its event belongs", function()
    local m = pn.mechanism.gaussian { sigma = 1, sensitivity = 1 }
    assert.matches("expected a pn.event, got a pn.mechanism; give its event, as in m.event",
      refusal(event.repeated, m, 2), 1, true)
  end)
end)

describe("the reference", function()
  it("gives every mechanism, event, sampler and calibration its source, and no source that readers have not", function()
    for name, entry in pairs(pn.reference()) do
      local library = name:match "^(%a+)%."
      if entry.kind == "function" and (library == "mechanism" or library == "event" or library == "calibrate"
        or library == "sampler" and name ~= "sampler.with_replacement") then
        assert.is_truthy(entry.source or entry.doc:find("Source: ", 1, true), name)
      end
      assert.is_nil((entry.doc .. (entry.source or "")):match "%a+%.md", name)
    end
  end)

  it("documents every event, accountant and calibration with its options and source", function()
    local reference = pn.reference()
    for name in pairs(event) do
      local row = reference["event." .. name]
      assert.is_true(row ~= nil and #row.doc > 0 and #row.signature > 0, name)
      assert.equal("nothing", row.reveals)
    end
    local params = {}
    for _, param in ipairs(reference["event.gaussian"].params) do
      params[#params + 1] = param.name
    end
    assert.same({ "sigma", "sensitivity", "draws", "neighbours" }, params)
    local signature = "pn.event.gaussian{sigma=, sensitivity=, draws=, neighbours=} -> event"
    assert.equal(signature, reference["event.gaussian"].signature)
    local others = { "accountant.rdp", "accountant.zcdp", "calibrate.exponential", "ledger", "pn.ledger:spend" }
    for _, name in ipairs(others) do
      assert.is_true(reference[name] ~= nil and #reference[name].doc > 0, name)
    end
  end)
end)
