-- Fields of fits that were paid for.  Each is a line of the output: noise, which changes from run to run, or public, which is the
-- same for all records.  What is the same in every run and another for other records was computed without noise.  Left out is
-- what takes few values by noise, and may agree by chance: nonzeros, remark, and the fits of newton, which skips steps that noise
-- spoils.  The rest has six digits or more, of which two runs agree in all with a chance of some 1e-5: both pairs of a line with
-- 1e-10, and one of the 400 lines with less than 1e-7.
local show = [[
local function show(name, value, depth)
  if type(value) == "table" and depth < 3 then
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = tostring(key) end
    table.sort(keys)
    for _, key in ipairs(keys) do show(name .. "." .. key, value[tonumber(key) or key], depth + 1) end
    return
  end
  local text = tostring(value)
  while text:find "\n" do text = text:sub(1, text:find "\n" - 1) .. " " .. text:sub(text:find "\n" + 1) end
  print(name, text)
end
local function all(fit)
  for _, name in ipairs{"theta", "steps", "stopped", "certificate", "curvature", "moments", "declared", "privacy", "trace"} do
    show(name, fit[name], 0)
  end
  for _, name in ipairs{"card", "coefficients", "covariance", "path"} do show(name, select(2, pcall(fit[name], fit)), 0) end
end ]]

local attacks = {}
for solver, objective in pairs {
  gradient_descent = "obj", noisy_sgd = "obj", matrix_factorization_sgd = "obj", ftrl = "obj", sgd = "obj",
  adaptive_clipping = "pn.objective{data=data.d, loss=pn.loss.logistic(), clip=1}",
  coordinate_descent = "pn.objective{data=data.d, loss=pn.loss.logistic(), clip=1}",
  sufficient_statistics = "pn.objective{data=data.r, loss=pn.loss.squared(), set=C}",
} do
  attacks[#attacks + 1] = { tries = "Read every field of a fit by " .. solver .. " for exact numbers.",
    script = show .. ("all(pn.solve.%s(%s, {epsilon=0.5, delta=1e-7}))"):format(solver, objective),
    expects = "nothing new", pays = true, noisy = true }
end
table.sort(attacks, function(a, b) return a.tries < b.tries end)
return attacks
