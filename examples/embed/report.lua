-- report.lua -- a script for host.c: a private model of records of the size that the host says.
local n, p = records()
local data = pn.data.synthetic.lasso { n = n, p = p, seed = 1 }
local objective = pn.objective {
  data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = p, radius = 1 },
}
local fit = pn.solve.frank_wolfe(objective, { epsilon = 1, delta = 1e-6 })

print(("%d steps, epsilon %.3g"):format(fit.steps, fit.privacy.epsilon))
return fit.theta:norm(1)
