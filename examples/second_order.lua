-- second_order.lua -- out of a saddle point, privately: fit measurements that have lost their sign.
--   penumbra examples/second_order.lua
-- Each label is <x, theta>^2, so theta and -theta fit alike, and half-way between them, at 0, every gradient is zero: a saddle,
-- where gradient descent stays.  solve.second_order releases a noisy Hessian where the noisy gradient is small, steps along its
-- most negative direction, and ends with a certificate.  Budget and noise are of a lesson: seeded, so that the run repeats, and
-- worth nothing.
local pn = require "penumbra"

local truth = pn.vec { 1, -0.5 }
local rows = pn.data.synthetic.lasso { n = 50000, p = #truth, sparsity = 1, noise = 0.1, seed = 3 }:clip_rows("l2", 1)
local z = rows.X * truth
local data = pn.data.from(rows.X, z * z):clip_rows("l2", 1):clip_labels(0, 4)

-- Bounded, and so are its derivatives: that certifies what a record can move of a gradient and of a Hessian.
local loss = pn.loss.glm(function(margin, y)
  local u = margin ^ 2 - y
  return u ^ 2 / (1 + u ^ 2)
end, { name = "sign-free" })
local obj = pn.objective { data = data, loss = loss, reg = pn.reg.l2(0.01) }

-- Smoothness and hessian_lipschitz are claims: the certified ones are worst cases (see the plan), with steps too short to get
-- anywhere.  Steps rest on them; the noise does not, and the certificate holds however the point was found.
local plan = pn.solve.second_order.plan(obj, { epsilon = 1, delta = 1e-8, tolerance = { gradient = 0.04, hessian = 0.1 },
  smoothness = 4, hessian_lipschitz = 3, iterations = 60 })
print(plan)
local ledger = pn.ledger { epsilon = 1, delta = 1e-8, teaching = true }
local fit = plan:run { ledger = ledger, rng = pn.rng.seeded(1) }

print "\nstep  kind        released gradient  released eigenvalue  objective (shown because it is a lesson)"
for _, row in ipairs(fit.trace) do
  print(("%4d  %-10s %18.4f %20s %10.4f"):format(row.step, row.kind, row.gradient_norm,
    row.eigenvalue and ("%.4f"):format(row.eigenvalue) or "", row.value))
end
print(fit)
print(("charged: epsilon %.3f of %.3f planned"):format(fit.privacy.charged_epsilon, fit.privacy.nominal_epsilon))

local certificate, exact = fit.certificate, pn.second_order_gap(obj, fit.theta) -- the second is of the exact data: for its owner
print(("gradient %.4f, certified <= %.4f; least eigenvalue %.4f, certified >= %.4f"):format(exact.gradient_norm,
  certificate.gradient_norm, exact.eigenvalue, certificate.eigenvalue))
local stuck = pn.solve.gradient_descent(obj, { privacy = false, step = 0.5, iterations = 60 })
print(("objective: second_order %.4f; gradient descent without any noise %.4f, at the saddle; at the truth %.4f"):format(fit.value,
  stuck.value, obj:value(truth)))
