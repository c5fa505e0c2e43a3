-- shuffled_sgd_stopped_after_a_pass_spec.lua -- sgd pays step by step where one event covers a whole shuffled pass: what the first
-- pass had been paid for beyond what was asked was counted against the second, which then was never paid.
local pn = require "penumbra"

describe("sgd with shuffled batches", function()
  it("makes all the passes that its plan has", function()
    local data = pn.data.synthetic.logistic{n = 1050, p = 3, seed = 1}:clip_rows("l2", 1)
    local obj = pn.objective{data = data, loss = pn.loss.logistic()}
    for _, batch in ipairs{50, 100, 1050} do
      local plan = pn.solve.sgd.plan(obj, {epsilon = 1, delta = 1e-7, batch = batch, epochs = 4, sampling = "shuffled"})
      local ledger = pn.ledger{epsilon = 1, delta = 1e-7, teaching = true}
      local fit = plan:run{ledger = ledger, rng = pn.rng.seeded(1)}
      assert.is_nil(fit.stopped)
      assert.are.equal(plan.iterations, fit.steps)
      local passes = 0
      for _, entry in ipairs(ledger:report()) do passes = passes + entry.count end
      assert.are.equal(math.ceil(plan.iterations / math.ceil(1050 / batch)), passes)
    end
  end)
end)
