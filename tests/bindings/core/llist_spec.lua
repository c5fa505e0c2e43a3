-- llist_spec.lua -- lists of results show what is in them, and are plain tables to everything else.
local pn = require "penumbra"

describe("a list of results", function()
  local ledger = pn.ledger { epsilon = 1000, delta = 1e-6, teaching = true }
  local rng = pn.rng.seeded(1)

  it("of sparse vector prints its answers", function()
    local m = pn.mechanism.sparse_vector { epsilon = 100, sensitivity = 1, threshold = 50 }
    local answers = m:release({ 0, 0, 100, 0 }, { ledger = ledger, rng = rng })
    assert.equal("{false, false, true}", tostring(answers))
    assert.same({ false, false, true }, answers)
    assert.equal(3, #answers)
  end)

  it("of a sampler, a permutation and an audit prints its numbers", function()
    local batch = pn.sampler.full { n = 3 }:draw(rng)
    assert.equal("{1, 2, 3}", tostring(batch))
    assert.matches("^{%d, %d, %d}$", tostring(rng:permutation(3)))
    local result = pn.audit(function(d) return d end, { neighbours = { 1, 2 }, trials = 100 })
    assert.matches("^{%d+, %d+}$", tostring(result.hits))
  end)

  it("prints what is enforced, what was paid, and what was found, with vectors in their own words", function()
    local d = pn.data.from(pn.mat { { 1, 0 }, { 0, 1 } }, { -1, 1 }):clip_rows("l2", 1):clip_labels(-1, 1)
    local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 2 } }
    local best = pn.solve.exact(obj)
    assert.equal("{l1 = 1.4142135623731, l2 = 1.0, labels = {-1.0, 1.0}, linf = 1.0}", tostring(d.bounds))
    assert.matches("^{gap = %S+,?%s+theta = vec%(2%): ", tostring(best))
    local fit = pn.solve.sgd(obj, { epsilon = 1, delta = 1e-6, iterations = 2, step = 0.25 })
    assert.matches('^{accountant = "rdp", delta = 1e%-06, ', tostring(fit.privacy))
    assert.matches("step = 0.25}$", tostring(fit.plan.settings))
    assert.matches("^{direction = vec%(2%): ", tostring(pn.second_order_gap(pn.objective { data = d, loss = pn.loss.squared() },
      { 0, 0 })))
    assert.matches('^{"l1_ball", ', tostring(pn.set.names()))
  end)

  it("breaks lines between its items, not inside of them", function()
    local record = pn.width(pn.set.l1_ball { dim = 20 })
    record.converged, record.z_note = true, ("a"):rep(60)
    for line in tostring(record):gmatch "[^\n]+" do
      assert.truthy(#line <= 80, line)
      assert.is_nil(line:find "=%s*$")
      assert.is_nil(line:find "[%w_]%s*$")
    end
  end)

  it("is cut after a hundred, and takes fields that a user adds", function()
    local order = rng:permutation(1000)
    assert.matches(", %.%.%. 900 more}$", tostring(order))
    local short = rng:permutation(1)
    short.note, short.also = "mine", 2
    assert.equal('{1, also = 2, note = "mine"}', tostring(short))
  end)
end)
