-- boundary_budgets.lua -- budgets that no search for noise expects, with options that make prices slow or many: what the plan of
-- every solver is asked for beside one number at a time.
-- Used by: boundary.lua, as text.
local budgets = {
  { epsilon = 1e300, delta = 1e-300 }, { epsilon = 1e300, delta = 1 - 2 ^ -53 }, { epsilon = 1e-300, delta = 1e-300 },
  { epsilon = 5e-324, delta = 5e-324 }, { epsilon = 100, delta = 1e-6 }, { epsilon = 1, delta = 1 - 2 ^ -53 }, { rho = 1e300 },
  { rho = 1e-300 },
}
local shapes = {
  {}, { iterations = 10 ^ 15 }, { batch = 1 }, { batch = 1, iterations = 10 ^ 15 }, { epochs = 8, iterations = 10 ^ 6 },
  { accountant = "pld" }, { accountant = "pld", batch = 1 }, { accountant = "pld", batch = 1, iterations = 10 ^ 6 },
}

-- The options to set in the plan of the solver with this row of the reference, false for those that it goes without; none for nil.
return function(solver)
  local has, out = {}, {}
  for _, param in ipairs(solver and solver.params or {}) do has[param.name] = true end
  for _, shape in ipairs(has.epsilon and shapes or {}) do
    local fits = true
    for option in pairs(shape) do fits = fits and has[option] end
    for _, budget in ipairs(fits and budgets or {}) do
      local given = { epsilon = false, delta = false, rho = false }
      for option, value in pairs(shape) do given[option] = value end
      for option, value in pairs(budget) do given[option] = value end
      out[#out + 1] = given
    end
  end
  return out
end
