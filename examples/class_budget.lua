-- class_budget.lua -- a lecturer's data set, a budget for the class, and a slice of it for every student.
--   penumbra examples/class_budget.lua
local pn = require "penumbra"

-- 1. The class has (epsilon 3, delta 1e-6) in all; each student may spend epsilon 1 of it, whoever comes first.  Slices may
-- add up to more than the class has: a charge needs room in both, and the class's filter bounds everything.
-- teaching = true: the exercise repeats with seeded noise, and every statement then says that it protects nobody.
local class = pn.ledger { epsilon = 3, delta = 1e-6, teaching = true }
local names, students = { "ada", "blaise", "carl", "daniel", "emmy" }, {}
for _, name in ipairs(names) do
  students[name] = pn.ledger { parent = class, name = name, epsilon = 1, delta = 1e-6, teaching = true }
end

local grades = { 12, 25, 31, 18, 4 } -- how many got A, B, C, D, F: one record, exchanged, moves two counts by one
local counts = pn.mechanism.laplace { epsilon = 0.9, sensitivity = 2, dim = 5, bound = 1000 }
local rng = pn.rng.seeded(2024)
for _, name in ipairs(names) do
  local fine, answer, receipt = pcall(counts.release, counts, grades, { ledger = students[name], rng = rng })
  print(("%-7s %s"):format(name, fine and tostring(answer) or "refused: " .. answer))
  if fine and name == "ada" then print("        " .. tostring(receipt)) end
end
local _, why = students.ada:covers(counts.event) -- asks, and changes nothing
print("\nada again: " .. why)
print("\n" .. tostring(class:report()))

-- 2. Exercise: what do 1000 steps of DP-SGD cost, batches by coins of 1 %, noise of once the clip norm?
local sampler = pn.sampler.poisson { n = 60000, q = 0.01, neighbours = "add_remove" }
local step = sampler:event { sigma = 1, contribution = 1 }
local rdp = pn.accountant.rdp {} :add(step, 1000)
local pld = pn.accountant.pld {} :add(step, 1000)
local low, high = pld:epsilon_interval(1e-5)
print("\n1000 x " .. tostring(step))
print(("  Renyi curves                 epsilon <= %.4f at delta 1e-5"):format((rdp:epsilon(1e-5))))
print(("  privacy loss distributions   epsilon in [%.4f, %.4f]"):format(low, high))
local sigma = pn.calibrate.noise { epsilon = 1, delta = 1e-5, accountant = "pld", event = function(s)
  return pn.event.repeated(sampler:event { sigma = s, contribution = 1 }, 1000)
end }
print(("  epsilon 1 would need         sigma = %.4f"):format(sigma))

-- 3. Exercise: a student's own mechanism, randomised response.  Is its claim of epsilon = 1 true?  An audit can refute it.
local function response(keep)
  return function(truth, stream)
    if stream:uniform() < keep then return truth end
    return not truth
  end
end
local e = math.exp(1)
print "\nrandomised response that keeps the truth with probability e/(1+e), and one that keeps it more often"
for _, keep in ipairs { e / (1 + e), 0.8 } do
  print(pn.audit(response(keep), { neighbours = { true, false }, trials = 20000, epsilon = 1, confidence = 0.999,
    rng = pn.rng.seeded(5) }))
end
