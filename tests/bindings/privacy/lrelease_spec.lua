-- lrelease_spec.lua -- m:release and m:open as scripts see them: what goes in, what comes out, what the receipt says.
-- Depends on: penumbra.  The laws are tested in tests/runtime/privacy.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

-- What an object prints, on one line.
local function flat(object)
  return (tostring(object):gsub("%s+", " "))
end

local function teaching() return pn.ledger { epsilon = 40, delta = 1e-6, teaching = true } end

local gaussian = pn.mechanism.gaussian { sigma = 2, sensitivity = 1 }

describe("a release of numbers", function()
  it("gives a number for a number and a vector for a vector or a table", function()
    local ledger = teaching()
    local three = pn.mechanism.laplace { scale = 2, sensitivity = 1, dim = 3 }
    assert.equal("number", type((gaussian:release(3.2, { ledger = ledger }))))
    assert.equal("number", type((gaussian:release(3, { ledger = ledger }))))
    assert.matches("^vec%(1%)", tostring((gaussian:release({ 3.2 }, { ledger = ledger }))))
    assert.matches("^vec%(3%)", tostring((three:release({ 1, 2, 3 }, { ledger = ledger }))))
    assert.matches("^vec%(3%)", tostring((three:release(pn.vec { 1, 2, 3 }, { ledger = ledger }))))
  end)

  it("leaves the query as it was", function()
    local query = pn.vec { 1 }
    gaussian:release(query, { ledger = teaching() })
    assert.equal(1, query[1])
  end)

  it("is the same for the same seed, and near the value", function()
    local one = gaussian:release(5, { ledger = teaching(), rng = pn.rng.seeded(4) })
    local two = gaussian:release({ 5 }, { ledger = teaching(), rng = pn.rng.seeded(4) })
    assert.equal(one, two[1])
    assert.is_true(one ~= 5 and math.abs(one - 5) < 26) -- the sampler ends at 13 sigma
  end)

  it("needs as many values as the event is for", function()
    local ledger = teaching()
    refused("gaussian: the query has 2 values and the mechanism was made with dim = 1", function()
      gaussian:release({ 1, 2 }, { ledger = ledger })
    end)
    refused("the query has 0 values", function() gaussian:release({}, { ledger = ledger }) end)
    assert.equal(0, #ledger:report())
  end)

  it("refuses what is no number before it charges, and says neither what nor where", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local m = pn.mechanism.gaussian { sigma = 20, sensitivity = 1, dim = 2, bound = 4, strict = true }
    for _, bad in ipairs { { 1, 0 / 0 }, { 1, math.huge }, { 1, 4.125 }, { 1, "77" }, { 1, {} } } do
      local message = refused("gaussian: the query", function() m:release(bad, { ledger = ledger }) end)
      assert.is_nil(message:match "4%.125" or message:match "77" or message:match "entry")
    end
    refused("gaussian: the query must be a number, a vector or a table of numbers, got string", function()
      m:release("x", { ledger = ledger })
    end)
    refused("got nil", function() m:release(nil, { ledger = ledger }) end)
    assert.equal(0, #ledger:report())
    assert.matches("^vec%(2%)", tostring((m:release({ 4, -4 }, { ledger = ledger }))))
  end)

  it("is refused by a budget that does not cover it, and by another relation", function()
    refused("Requested", function() gaussian:release(1, { ledger = pn.ledger { rho = 0.1 } }) end)
    local ledger = pn.ledger { rho = 1, neighbours = "add_remove" }
    refused("add_remove", function() gaussian:release(1, { ledger = ledger }) end)
    refused("gaussian: a release is paid from a ledger", function() gaussian:release(1) end)
    assert.equal(1, ledger.remaining)
  end)

  it("costs exactly what an epsilon was given for", function()
    local ledger = pn.ledger { epsilon = 1 }
    local m = pn.mechanism.laplace { epsilon = 0.25, sensitivity = 3, dim = 10 }
    for _ = 1, 4 do m:release(pn.vec.ones(10), { ledger = ledger }) end
    refused("Requested epsilon 0.25", function() m:release(pn.vec.ones(10), { ledger = ledger }) end)
    local _, receipt = pn.mechanism.sparse_vector { epsilon = 0.5, sensitivity = 1 }
        :release({ 1 }, { ledger = pn.ledger { epsilon = 0.5 } })
    assert.equal(0.5, receipt.epsilon)
  end)
end)

describe("the receipt of a release", function()
  it("says what was paid, for whom, and that it is private", function()
    local ledger = pn.ledger { epsilon = 10, delta = 1e-6 }
    local _, r = gaussian:release(1, { ledger = ledger, label = "mean age" })
    assert.is_true(r.private)
    assert.equal(ledger:price(gaussian.event), r.epsilon)
    assert.equal(1e-6, r.delta)
    assert.equal(gaussian.event.rho, r.rho)
    assert.equal(tostring(gaussian.event), tostring(r.event))
    assert.equal("mean age", r.label)
    assert.equal("gaussian", r.mechanism)
    assert.equal("replace_one", r.neighbours)
    assert.matches("release(mean age by gaussian): epsilon 2.25408", tostring(r), 1, true) -- mu = 1/2
    assert.matches("at delta 1e-06, replace_one", tostring(r), 1, true)
  end)

  it("states rho under a budget of rho", function()
    local _, r = gaussian:release(1, { ledger = pn.ledger { rho = 1 } })
    assert.is_nil(r.epsilon)
    assert.is_nil(r.delta)
    assert.equal(gaussian.event.rho, r.rho)
    assert.matches("release(gaussian): rho 0.125, replace_one", tostring(r), 1, true)
  end)

  it("says of seeded noise that it protects nobody", function()
    local makers = {
      gaussian, pn.mechanism.laplace { scale = 1, sensitivity = 1 },
      pn.mechanism.exponential { epsilon = 1, sensitivity = 1 },
      pn.mechanism.sparse_vector { epsilon = 1, sensitivity = 1 },
    }
    for _, m in ipairs(makers) do
      local _, r = m:release(1, { ledger = teaching(), rng = pn.rng.seeded(1) })
      assert.is_false(r.private)
      assert.equal(math.huge, r.epsilon)
      assert.equal(math.huge, r.rho)
      assert.matches("seeded noise: no privacy", tostring(r), 1, true)
      refused("teaching = true", function()
        m:release(1, { ledger = pn.ledger { epsilon = 9, delta = 1e-6 }, rng = pn.rng.seeded(1) })
      end)
    end
    local _, r = gaussian:release(1, { ledger = teaching() })
    assert.is_true(r.private)
  end)
end)

describe("sparse vector", function()
  local function make(more)
    local options = { epsilon = 8, sensitivity = 1, threshold = 50 }
    for key, value in pairs(more or {}) do options[key] = value end
    return pn.mechanism.sparse_vector(options)
  end

  -- Values 50 away from the threshold; noise of scale 3/8 and 3/8: wrong with probability below 1e-28.
  it("answers a list up to where it halts", function()
    local answers = make():release({ 0, 0, 100, 0, 100 }, { ledger = teaching() })
    assert.same({ false, false, true }, answers)
    assert.same({ false, false }, (make():release({ 0, 0 }, { ledger = teaching() })))
    assert.same({ true, false, true }, (make { answers = 2 }:release({ 100, 0, 100, 0 }, { ledger = teaching() })))
    assert.same({ true }, (make():release(100, { ledger = teaching() })))
  end)

  it("answers a stream one by one, and raises once it has halted", function()
    for _, restart in ipairs { false, true } do
      local ledger = pn.ledger { epsilon = 8 }
      local run, receipt = make { answers = 2, restart = restart, epsilon = 8 }:open { ledger = ledger, label = "alarm" }
      assert.equal(1, #ledger:report())
      assert.equal("alarm", receipt.label)
      assert.equal(2, run.left)
      assert.is_false(run:above(-100))
      assert.is_true(run:above(200))
      assert.equal(1, run.left)
      assert.matches("1 positive answer left", tostring(run), 1, true)
      assert.is_true(run:above(200))
      assert.equal(0, run.left)
      assert.is_true(run.private)
      assert.matches("halted", tostring(run), 1, true)
      refused("sparse_vector: it has said above 2 times and halted; open a new run", function() run:above(200) end)
      assert.equal(1, #ledger:report())
    end
  end)

  it("marks a run of seeded noise", function()
    local run, receipt = make():open { ledger = teaching(), rng = pn.rng.seeded(1) }
    assert.is_false(run.private)
    assert.is_false(receipt.private)
    assert.matches("seeded noise: no privacy", tostring(run), 1, true)
    refused("seeded", function() make():open { ledger = pn.ledger { epsilon = 9 }, rng = pn.rng.seeded(1) } end)
  end)

  it("keeps the stream of a run alive", function()
    local function open()
      local rng <close> = pn.rng.seeded(1)
      return (make { answers = 5 }:open { ledger = teaching(), rng = rng })
    end
    local run = open()
    collectgarbage()
    assert.is_true(run:above(200))
  end)

  it("gives nothing but a boolean for what it is asked", function()
    local run = make { bound = 300, strict = true }:open { ledger = teaching() }
    local message = refused("beyond the bound 300", function() run:above(777) end)
    assert.is_nil(message:match "777")
    refused("NaN or infinity", function() run:above(0 / 0) end)
    refused("sparse_run:above: the value must be a number, got string", function() run:above("x") end)
    assert.equal(1, select("#", run:above(0)))
    assert.equal("boolean", type(run:above(0)))
  end)

  it("is for one direction only where neighbours move so", function()
    refused('monotone is not for neighbours = "replace_one"', function() make { monotone = true } end)
    assert.matches("one direction", tostring(make { monotone = true, neighbours = "add_remove" }), 1, true)
  end)

  it("costs the square root of its answers under rho when it restarts", function()
    assert.is_true(math.abs(make { answers = 16, restart = true }.event.rho - 8 ^ 2 / 2 / 16) < 1e-9)
    assert.equal(8 ^ 2 / 2, make { answers = 16 }.event.rho)
  end)

  it("is the only mechanism that opens", function()
    refused("gaussian: only sparse_vector answers a stream", function() gaussian:open { ledger = teaching() } end)
    refused("a release is paid from a ledger", function() make():open() end)
  end)

  it("explains its noise, its cost and its lattice", function()
    local text = flat(make { answers = 4 })
    assert.matches("sparse_vector(epsilon=8, answers=4)", text, 1, true)
    assert.matches("replace_one: hides whether one record was exchanged for another", text, 1, true)
    assert.matches("ties are above", text, 1, true)
    assert.matches("anew after every positive answer", flat(make { restart = true, answers = 3 }), 1, true)
  end)
end)

describe("additive mechanisms", function()
  it("explain their law, lattice, cost and whom they protect", function()
    local text = flat(pn.mechanism.gaussian { sigma = 0.5, sensitivity = 1, dim = 4, neighbours = "zero_out" })
    assert.matches("discrete Gaussian noise of standard deviation 0.5 to each of 4 values", text, 1, true)
    assert.matches("zero_out: hides whether one record was made null", text, 1, true)
    assert.matches("multiples of 2^-40 of that; the 9.32e-10 this adds to the sensitivity 1 is charged", text, 1, true)
    assert.matches(": epsilon 2, rho 2 ", flat(pn.mechanism.laplace { epsilon = 2, sensitivity = 1 }), 1, true)
    assert.matches("draws=4", text, 1, true)
    assert.matches("rho 2", text, 1, true)
    assert.matches("are clamped", text, 1, true)
    assert.matches("values beyond +-3 are clamped",
      flat(pn.mechanism.laplace { scale = 1, sensitivity = 1, bound = 3 }), 1, true)
    assert.matches("values beyond +-3 are refused",
      flat(pn.mechanism.laplace { scale = 1, sensitivity = 1, bound = 3, strict = true }), 1, true)
  end)

  it("have rounding in the charge, less of it under a bound", function()
    local free = pn.mechanism.gaussian { sigma = 1, sensitivity = 1 }.event.rho
    local bounded = pn.mechanism.gaussian { sigma = 1, sensitivity = 1, bound = 10 }.event.rho
    assert.is_true(bounded > 0.5 and bounded < 0.5 + 1e-11)
    assert.is_true(free > bounded and free < 0.5 + 1e-8)
  end)

  local refusals = {
    { "no sigma", "gaussian", { sensitivity = 1 }, "mechanism.gaussian: sigma is missing" },
    { "a sigma of zero", "gaussian", { sigma = 0, sensitivity = 1 }, "sigma must be a positive number, got 0" },
    { "a dim of zero", "gaussian", { sigma = 1, sensitivity = 1, dim = 0 }, "dim must be a whole number from 1" },
    { "a negative bound", "laplace", { scale = 1, sensitivity = 1, bound = -1 }, "bound must be a positive number" },
    { "neither scale nor epsilon", "laplace", { sensitivity = 1 }, "mechanism.laplace: give either scale or epsilon" },
    { "scale and epsilon", "laplace", { scale = 1, epsilon = 1, sensitivity = 1 }, "not both" },
    { "a delta of one", "analytic_gaussian", { epsilon = 1, delta = 1, sensitivity = 1 },
      "delta must be a number between 0 and 1" },
    { "a sigma for analytic_gaussian", "analytic_gaussian", { epsilon = 1, delta = 0.1, sensitivity = 1, sigma = 1 },
      "unknown option 'sigma'" },
    { "no answers", "sparse_vector", { epsilon = 1, sensitivity = 1, answers = 0 }, "answers must be a whole number" },
    { "a threshold out of reach", "sparse_vector", { epsilon = 1, sensitivity = 1, threshold = 1e30 },
      "threshold 1e+30 is more than 2^85 noise scales" },
    { "a threshold of minus infinity", "sparse_vector", { epsilon = 1, sensitivity = 1, threshold = -math.huge },
      "threshold" },
    { "a bound that would be cut", "gaussian", { sigma = 1, sensitivity = 1, bound = 1e26 },
      "mechanism.gaussian: bound = 1e+26 is beyond what the lattice carries with this noise, 3.86856e+25" },
    { "such a bound of Laplace noise", "laplace", { scale = 2, sensitivity = 1, bound = 1e26 },
      "carries with this noise, 7.73713e+25" },
    { "such a bound that is strict", "analytic_gaussian",
      { epsilon = 1, delta = 1e-6, sensitivity = 1, bound = 1e27, strict = true },
      "mechanism.analytic_gaussian: bound = 1e+27 is beyond what the lattice carries" },
    { "such a bound of sparse vector", "sparse_vector", { epsilon = 1, sensitivity = 1, bound = 1e27 },
      "mechanism.sparse_vector: bound = 1e+27 is beyond what the lattice carries" },
  }
  for _, case in ipairs(refusals) do
    it("refuse " .. case[1], function()
      refused(case[4], function() pn.mechanism[case[2]](case[3]) end)
    end)
  end
end)

describe("the scale of a mechanism", function()
  it("is that of the noise on each value, for error bars", function()
    local m = pn.mechanism.analytic_gaussian { epsilon = 1, delta = 1e-5, sensitivity = 1 }
    assert.near(3.730631635, m.scale, 1e-7)
    assert.equal(1, m.dim)
    assert.equal(5, pn.mechanism.gaussian { sigma = 1, sensitivity = 1, dim = 5 }.dim)
    assert.equal(2, pn.mechanism.laplace { scale = 2, sensitivity = 1 }.scale)
    assert.is_nil(pn.mechanism.exponential { epsilon = 1, sensitivity = 1 }.scale)
  end)
end)

describe("a finalizer that runs during a release", function()
  -- A vector of this size makes the collector work before the charge; a young generation, however full the heap is.
  local n, ran = 300000, false
  local function closing(object)
    ran = false
    for _ = 1, 20 do
      setmetatable({}, {
        __gc = function()
          local _ <close> = object
          ran = true
        end,
      })
    end
  end

  setup(function()
    collectgarbage "generational"
  end)
  teardown(function()
    collectgarbage "incremental"
  end)

  it("may close what the release needs, which is then refused and not charged", function()
    local query = pn.vec.zeros(n)
    for _, which in ipairs { "ledger", "mechanism", "rng", "query" } do
      local used = {
        ledger = pn.ledger { rho = 1 },
        mechanism = pn.mechanism.gaussian { sigma = 1, sensitivity = 1, dim = n },
        rng = pn.rng.secure(),
        query = query:slice(1, n),
      }
      local L = used.ledger
      collectgarbage()
      closing(used[which])
      local ok, message = pcall(used.mechanism.release, used.mechanism, used.query, { ledger = L, rng = used.rng })
      assert.is_true(ran)
      assert.is_false(ok)
      assert.matches(which == "ledger" and "must be an open pn.ledger" or "closed", message)
      if which ~= "ledger" then
        assert.equal(0, L.spent)
      end
    end
  end)
end)
