-- lsampler_spec.lua -- pn.sampler as scripts see it.  Depends on: penumbra.
-- What is drawn is tested against the events in tests/runtime/privacy/mechanism/sampler_test.c.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

describe("a sampler", function()
  local rates = {}
  for i = 1, 100 do rates[i] = 0.12 end
  local samplers = {
    full = pn.sampler.full { n = 100 },
    poisson = pn.sampler.poisson { n = 100, q = 0.12 },
    fixed = pn.sampler.fixed { n = 100, batch = 12 },
    shuffled = pn.sampler.shuffled { n = 100, batch = 12 },
    declared = pn.sampler.declared { q = rates },
  }

  it("knows its sizes and prints them", function()
    local batch = { full = 100, poisson = 12, fixed = 12, shuffled = 12, declared = 12 }
    for name, s in pairs(samplers) do
      assert.equal(name, s.name)
      assert.equal(100, s.n)
      assert.equal(batch[name], s.batch)
      assert.equal(name == "shuffled" and 9 or 1, s.per_event)
      assert.equal("replace_one", s.neighbours)
      assert.matches("pn.sampler." .. name .. "(n=100, batch=" .. batch[name] .. ")", tostring(s), 1, true)
    end
  end)

  it("makes the event of a noisy sum over its batches", function()
    local function event(name, more)
      local made = samplers[name]:event { sigma = 2, contribution = 1, dim = more and more.dim, bound = more and more.bound }
      return (tostring(made):gsub("%s+", " "))
    end
    assert.matches("^gaussian%(sigma=2, sensitivity=2%.00000000%d+, draws=1%)", event "full")
    assert.matches("^gaussian%(sigma=2, sensitivity=2%.00000000%d+, draws=1%)", event "shuffled")
    assert.matches("^poisson_sampled%(q=0%.12, event=gaussian%(sigma=2, sensitivity=1%.0000", event "poisson")
    assert.matches("^fixed_sampled%(batch=12, n=100, event=gaussian%(sigma=2, sensitivity=2%.0000", event "fixed")
    assert.matches("sensitivity=2.00000000018", event("full", { dim = 10000, bound = 1 }), 1, true)
    assert.matches("draws=10000", event("full", { dim = 10000 }), 1, true)
  end)

  it("charges no less than the mechanism that would release a full sum", function()
    local s = samplers.full:event { sigma = 3, contribution = 0.5, dim = 7, bound = 11 }
    local m = pn.mechanism.gaussian { sigma = 3, sensitivity = 1, dim = 7, bound = 11 }
    assert.is_true(s.rho >= m.event.rho and s.rho < m.event.rho * (1 + 1e-14))
  end)

  it("prices declared rates at the largest, to the last digit as poisson does", function()
    local q = {}
    for i = 1, 100 do q[i] = i % 3 == 0 and 0.2 or 0.01 end
    local numbers = { sigma = 2, contribution = 0.5, dim = 3 }
    local mine = pn.sampler.declared { q = q }:event(numbers)
    local poisson = pn.sampler.poisson { n = 100, q = 0.2 }:event(numbers)
    assert.equal(tostring(poisson), tostring(mine))
    for _, order in ipairs { 1.1, 2, 30 } do assert.equal(poisson:rdp(order), mine:rdp(order)) end
    assert.equal((poisson:epsilon(1e-6)), (mine:epsilon(1e-6)))
    local function price(e) return { pn.accountant.pld {}:add(e, 10):epsilon_interval(1e-6) } end
    assert.same(price(poisson), price(mine))
    assert.equal(7, pn.sampler.declared { q = q }.batch) -- 33 0.2 + 67 0.01 = 7.27
  end)

  it("counts a pass that is begun", function()
    assert.equal(1, samplers.shuffled:events(1))
    assert.equal(1, samplers.shuffled:events(9))
    assert.equal(2, samplers.shuffled:events(10))
    assert.equal(10, samplers.poisson:events(10))
  end)

  it("shows a batch to nobody but a simulation", function()
    for name, s in pairs(samplers) do
      refused("sampler." .. name .. ":draw: which records are in a batch is secret", function() s:draw(pn.rng.secure()) end)
      refused("pn.rng", function() s:draw() end)
      local batch = s:draw(pn.rng.seeded(3))
      for i, record in ipairs(batch) do
        assert.is_true(record >= 1 and record <= 100 and (i == 1 or record > batch[i - 1]))
      end
      if name ~= "poisson" and name ~= "declared" then assert.equal(s.batch, #batch) end
    end
    assert.equal("raw", pn.reference()["pn.sampler:draw"].reveals)
  end)

  it("refuses a list of more than 2^30 records", function()
    local all = pn.sampler.full { n = 1 << 31 }
    refused("a list of 2147483648 entries is too long; at most 2^30", function() all:draw(pn.rng.seeded(1)) end)
  end)

  it("refuses to mix relations", function()
    local removed = pn.sampler.poisson { n = 100, q = 0.1, neighbours = "add_remove" }:event { sigma = 2, contribution = 1 }
    local replaced = pn.sampler.poisson { n = 100, q = 0.1 }:event { sigma = 2, contribution = 1 }
    assert.is_true(replaced:rdp(2) > removed:rdp(2))
    refused("what they protect differs", function() pn.event.compose { removed, replaced } end)
    refused("add_remove", function() pn.ledger { rho = 1 }:spend(removed) end)
  end)

  local refusals = {
    { "drawing with replacement", "with_replacement", { n = 10, batch = 2 }, "no bound for that composes; use fixed" },
    { "fixed batches under add_remove", "fixed", { n = 10, batch = 2, neighbours = "add_remove" }, "it has replace_one" },
    { "fixed batches under zero_out", "fixed", { n = 10, batch = 2, neighbours = "zero_out" }, "it has replace_one" },
    { "shuffling under add_remove", "shuffled", { n = 10, batch = 2, neighbours = "add_remove" },
      "adding a record would move the batches; it has replace_one, zero_out" },
    { "a batch beyond n", "shuffled", { n = 10, batch = 11 }, "from 1 to n = 10, got 11" },
    { "a rate above one", "poisson", { n = 10, q = 1.5 }, "q must be in (0, 1], got 1.5" },
    { "rates above one", "declared", { q = { 0, 1.5 } }, "q must hold numbers from 0 to 1, got 1.5 at entry 2" },
    { "negative rates", "declared", { q = { -0.5, 0.5 } }, "q must hold numbers from 0 to 1, got -0.5 at entry 1" },
    { "rates that are no numbers", "declared", { q = { 0.5, 0 / 0 } }, "sampler.declared: q: entry 2 must be a finite number" },
    { "rates that are all zero", "declared", { q = { 0, 0 } }, "no record is ever drawn" },
    { "no rates", "declared", { q = {} }, "an entry for each record, got none" },
    { "declared rates under add_remove", "declared", { q = { 0.5 }, neighbours = "add_remove" }, "it has replace_one, zero_out" },
    { "a rate of zero", "poisson", { n = 10, q = 0 }, "q must be a positive number, got 0" },
    { "no n", "full", {}, "sampler.full: n is missing" },
    { "an unknown option", "full", { n = 3, q = 1 }, "sampler.full: unknown option 'q'" },
  }
  for _, case in ipairs(refusals) do
    it("refuses " .. case[1], function()
      refused(case[4], function() pn.sampler[case[2]](case[3]) end)
    end)
  end

  it("refuses an event without numbers that make sense", function()
    refused("sampler.full:event: sigma is missing", function() samplers.full:event { contribution = 1 } end)
    refused("contribution must be a positive number", function() samplers.full:event { sigma = 1, contribution = 0 } end)
    refused("between 2^-900 and 2^900", function() samplers.full:event { sigma = 1e-300, contribution = 1 } end)
  end)
end)
