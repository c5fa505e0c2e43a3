-- The curve of a sampled Gaussian at orders so large that its integral has no panels that doubles can tell apart went on for ever;
-- a run whose certified epsilon is next to nothing (much noise, delta paying for all of it) is charged at such orders.
local pn = require "penumbra"

describe("the curve of a sampled Gaussian at a huge order", function()
  local function step(name, options)
    options.event = pn.event.gaussian { sigma = 100, sensitivity = 0.2, neighbours = options.neighbours }
    return pn.event[name](options)
  end

  it("ends, and is at most the curve without sampling", function()
    for _, e in ipairs { step("fixed_sampled", { batch = 1, n = 100 }),
      step("poisson_sampled", { q = 0.01, neighbours = "add_remove" }) } do
      for _, alpha in ipairs { 1e15, 1e17, 1e20, 1e100 } do
        local rate = pn.accountant.rdp():add(e, 1):rdp(alpha) / alpha
        -- alpha/2 (sensitivity/sigma)^2, less what a factor q in the density can take off: ln(1/q), nothing at these orders
        assert.is_near(0.5 * (0.2 / 100) ^ 2, rate, 1e-9 * 0.5 * (0.2 / 100) ^ 2)
      end
    end
  end)

  it("is what a run is charged by when delta pays for nearly all", function()
    local data = pn.data.synthetic.logistic { n = 100, p = 3, seed = 1 }:clip_rows("l2", 1)
    local f = pn.objective { data = data, loss = pn.loss.logistic(), clip = 0.1 }
    local fit = pn.solve.sgd(f, { calibration = "paper", epsilon = 0.05, delta = 1e-3, iterations = 5, step = 1,
      rng = pn.rng.seeded(1) })
    assert.is_true(fit.privacy.nominal_epsilon < 1e-12)
  end)
end)
