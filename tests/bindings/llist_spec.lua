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

  it("is cut after a hundred, and takes fields that a user adds", function()
    local order = rng:permutation(1000)
    assert.matches(", %.%.%. 900 more}$", tostring(order))
    local short = rng:permutation(1)
    short.note, short.also = "mine", 2
    assert.equal('{1, also = 2, note = "mine"}', tostring(short))
  end)
end)
