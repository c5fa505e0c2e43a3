-- step_size.lua -- Frank-Wolfe without noise: the article's constant step 1/(T+2) against 2/(t+2).
--   1. LASSO, n = 200, p = 20: the excess falls like 1e-2, 2e-4, 5e-6 at T = 10, 100, 1000 with 2/(t+2), always below 2
--      Gamma/(T+2); with the constant step it stalls for ever, at 1e-2 from the centre of the ball and at 5e-2 from its worst
--      vertex, about 1/e of whose weight stays in the answer.
--   2. A linear loss (Gamma = 0): after the article's T-1 steps of 1/(T+2) the excess is exactly (1 - 1/(T+2))^(T-1) of that
--      at the start, 1/e in the limit, where the claimed O(Gamma/T) is 0; 2/(t+2) ends after one step.
--   penumbra examples/reproduce/geometry/step_size.lua [folder]
-- Source: Talwar, Thakurta, Zhang (2014), Algorithm 3; Jaggi (2013).
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local function run(objective, iterations, step, start)
  return pn.solve.frank_wolfe(objective, { privacy = false, iterations = iterations, step = step, start = start })
end

local function corner(p, j)
  local vertex = pn.vec.zeros(p)
  vertex[j] = 1
  return vertex
end

-- The vertex that makes the worst start.
local function worst_vertex(objective)
  local worst, value = nil, -math.huge
  for j = 1, objective.p do
    for _, sign in ipairs { -1, 1 } do
      local vertex = sign * corner(objective.p, j)
      local there = objective:value(vertex)
      if there > value then worst, value = vertex, there end
    end
  end
  return worst
end

local function lasso()
  print "LASSO without noise, n = 200, p = 20: excess after T steps"
  local data = pn.data.synthetic.lasso { n = 200, p = 20, sparsity = 5, signal = 1, seed = 3 }
  local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 20 } }
  local exact = pn.solve.exact(objective, { tol = 1e-12 })
  local gamma, start = objective:exact_curvature(), worst_vertex(objective)
  local rows = common.table("step_size", { "T", "2/(t+2)", "1/(T+2)", "from_centre", "2Gamma/(T+2)" })
  local s = { T = {}, good = {}, paper = {}, centre = {}, bound = {} }
  for i, T in ipairs { 10, 30, 100, 300, 1000, 3000 } do
    s.T[i], s.bound[i] = T, 2 * gamma / (T + 2)
    s.good[i] = run(objective, T, "standard", start).value - exact.value
    s.paper[i] = run(objective, T, "paper", start).value - exact.value
    s.centre[i] = run(objective, T, "paper").value - exact.value
    rows:row(T, s.good[i], s.paper[i], s.centre[i], s.bound[i])
    common.expect(s.good[i] > -1e-11 and s.good[i] <= s.bound[i], "0 <= excess <= 2 Gamma/(T+2)")
  end
  rows:close()
  local good, paper = s.good, s.paper
  common.expect(good[1] < 3e-2 and good[3] < 6e-4 and good[5] < 1.5e-5, "2/(t+2) ends at %.1e, %.1e, %.1e for T = 10, 100, 1000",
    good[1], good[3], good[5])
  common.expect(paper[6] > 0.8 * paper[5] and paper[6] > 5e-3, "the constant step stalls at %.1e", paper[6])
  common.figure { name = "step_size", title = "Frank-Wolfe without noise on LASSO: the step", xlabel = "steps T",
    ylabel = "excess", logx = true, logy = true, key = "outside top center maxrows 2", series = {
      { label = "2 Gamma/(T+2)", x = s.T, y = s.bound, dashed = true },
      { label = "1/(T+2), from the worst vertex", x = s.T, y = paper },
      { label = "2/(t+2)", x = s.T, y = good },
      { label = "1/(T+2), from the centre", x = s.T, y = s.centre },
    } }
end

local function linear()
  print "a linear loss: excess after the article's T-1 steps, over that of the start"
  local data = pn.data.from({ { 1, 0.5 }, { 0.5, -1 } }, { 1, 1 }):clip_rows("linf", 1)
  local objective = pn.objective { data = data, set = pn.set.l1_ball { dim = 2 },
    loss = pn.loss.glm(function(z, y) return -y * z end, { labels = { -1, 1 } }) }
  local start = pn.vec { -1, 0 }
  local minimum = pn.solve.exact(objective, { tol = 1e-12 }).value
  local first = objective:value(start) - minimum
  local rows = common.table("step_size_linear", { "T", "ratio", "(1-1/(T+2))^(T-1)", "after_T", "2/(t+2)" })
  for _, T in ipairs { 2, 10, 100, 1000, 10000 } do
    local walk = pn.solve.frank_wolfe.plan(objective, { privacy = false, iterations = T, step = "paper", start = start }):steps()
    for _ = 1, T - 1 do walk:step() end
    local ratio = (walk:fit().value - minimum) / first
    walk:step()
    local all = (walk:fit().value - minimum) / first
    local promised = (1 - 1 / (T + 2)) ^ (T - 1)
    local good = (run(objective, 1, "standard", start).value - minimum) / first
    rows:row(T, ratio, promised, all, good)
    common.expect(math.abs(ratio / promised - 1) < 1e-10, "exactly (1 - 1/(T+2))^(T-1), while 2 Gamma/(T+2) = 0")
    common.expect(math.abs(good) < 1e-14, "2/(t+2) is done after one step")
  end
  rows:close()
end

lasso()
linear()
