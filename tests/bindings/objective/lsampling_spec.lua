-- lsampling_spec.lua -- pn.sampling as scripts see it.  Depends on: penumbra.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

describe("pn.sampling", function()
  it("shows probabilities, sizes and itself", function()
    local s = pn.sampling.distributed { blocks = 6, groups = 2, tau = 2 }
    assert.equal("distributed", s.name)
    assert.equal(6, s.blocks)
    assert.equal(4, s.mean)
    assert.equal(4, s.top)
    assert.near(2 / 3, s.least, 1e-15)
    assert.near(2 / 3, s:inclusion(6), 1e-15)
    assert.near(1 / 3, s:pair(1, 3), 1e-15)
    assert.near(4 / 9, s:pair(1, 4), 1e-15)
    assert.equal("pn.sampling.distributed(blocks=6): 4 of them in the mean, each with p >= 0.6667", tostring(s))
    assert.near(2 / 5, pn.sampling.distributed { blocks = 7, groups = 2, tau = 2, sizes = { 5, 2 } }:inclusion(5), 1e-15)
  end)

  it("draws lists of block numbers, the same for the same seed", function()
    local s = pn.sampling.nice { blocks = 9, tau = 4 }
    local a, b = s:draw(pn.rng.seeded(1)), s:draw(pn.rng.seeded(1))
    assert.equal(4, #a)
    for k = 1, 4 do
      assert.equal(a[k], b[k])
      assert.is_true(a[k] >= 1 and a[k] <= 9 and (k == 1 or a[k] > a[k - 1]))
    end
    assert.equal(4, #s:draw()) -- from the module's own stream
    assert.equal("{1, 2, 3}", tostring(pn.sampling.full { blocks = 3 }:draw()))
  end)

  it("sorts what a function draws, and gives it a stream of its own", function()
    local kept
    local s = pn.sampling.custom { blocks = 4, p = { .5, .5, .5, .5 }, draw = function(rng)
      kept = rng
      return { 4, 1, rng:integer(2) + 1 }
    end }
    local rng = pn.rng.seeded(5)
    local first = s:draw(rng)
    assert.equal(3, #first)
    assert.is_true(first[1] == 1 and first[3] == 4)
    assert.is_true(kept.simulated)
    kept:uniform() -- still alive
    assert.is_nil(s:pair(1, 2))
    assert.equal(0.5, s:pair(2, 2))
    assert.equal(4, s.top)
    assert.equal("custom", s.name)
  end)

  it("hands back an error of the function, and survives one that closes it", function()
    local boom = { "boom" }
    local s
    s = pn.sampling.custom { blocks = 2, p = { .5, .5 }, draw = function() error(boom) end }
    local ok, err = pcall(s.draw, s)
    assert.is_false(ok)
    assert.equal(boom, err)
    s = pn.sampling.custom { blocks = 2, p = { .5, .5 }, draw = function()
      local closed <close> = s
      assert.equal(s, closed)
      collectgarbage()
      return { 2 }
    end }
    assert.equal(2, s:draw()[1])
  end)

  it("stays alive in a plan, function and all", function()
    local obj = pn.objective { data = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, 2 }), loss = pn.loss.squared(),
      set = pn.set.linf_ball { dim = 2, radius = 1 } }
    local calls = 0
    local plan = pn.solve.block_frank_wolfe.plan(obj, { privacy = false, iterations = 5,
      sampling = pn.sampling.custom { blocks = 2, p = { .5, .5 }, draw = function(rng)
        calls = calls + 1
        return { rng:integer(2) }
      end } })
    collectgarbage()
    collectgarbage()
    plan:run { rng = pn.rng.seeded(1) }
    assert.equal(5, calls)
  end)

  it("refuses wrong options in words", function()
    local draw = function() return {} end
    refused("sampling.nice: tau must be at most the 3 blocks, got 4", pn.sampling.nice, { blocks = 3, tau = 4 })
    refused("sampling.nice: tau is missing", pn.sampling.nice, { blocks = 3 })
    refused("sampling.serial: p must sum to 1, got 0.9", pn.sampling.serial, { blocks = 2, p = { .5, .4 } })
    refused("above 0 and at most 1, got -0.5 at entry 1", pn.sampling.serial, { blocks = 2, p = { -.5, 1.5 } })
    refused("sampling.full: blocks must be at most", pn.sampling.full, { blocks = 1e15 // 1 })
    refused("sampling.full: unknown option 'tau'", pn.sampling.full, { blocks = 3, tau = 1 })
    refused("sampling.custom: draw is missing", pn.sampling.custom, { blocks = 2, p = { .5, .5 } })
    refused("draw must be a function, got 3", pn.sampling.custom, { blocks = 2, p = { .5, .5 }, draw = 3 })
    refused("p has 1 entries, there are 2 blocks", pn.sampling.custom, { blocks = 2, p = { .5 }, draw = draw })
    refused("pairs is 1 x 1, there are 2 blocks", pn.sampling.custom,
      { blocks = 2, p = { .5, .5 }, pairs = pn.mat { { .5 } }, draw = draw })
    refused("must have a probability from 0 to 0.5, got 0.7", pn.sampling.custom,
      { blocks = 2, p = { .5, .5 }, pairs = pn.mat { { .5, .7 }, { .7, .5 } }, draw = draw })
    local s = pn.sampling.full { blocks = 3 }
    refused("sampling:inclusion: i must be at most the 3 blocks, got 4", s.inclusion, s, 4)
    refused("whole number from 1", s.pair, s, 0, 1)
  end)
end)
