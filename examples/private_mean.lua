-- private_mean.lua -- a mean by Laplace and by Gaussian noise and a noisy maximum, out of one budget that is kept in a file
-- and survives the program.
--   penumbra examples/private_mean.lua
-- The data: whole ages of 2000 people, clipped to [18, 90].  Neighbours: one person's record exchanged for another's.
local pn = require "penumbra"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir '%s'"):format(folder)))
local path = folder .. "/ages.ledger"

-- Data that somebody else would have: skewed, with a typing error that clipping takes care of.
local n, low, high = 2000, 18, 90
local rng, ages = pn.rng.seeded(7), {}
for i = 1, n do ages[i] = math.floor(low + (high - low) * rng:uniform() ^ 2) end
ages[1] = 999

-- 1. Clip: nobody's age, whatever it is, can then move the sum by more than high - low.  The sum of whole numbers is exact,
-- which the sum of other floating-point numbers is not; n is public, so dividing by it afterwards costs nothing.
local sum, decades = 0, { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
for i = 1, n do
  local age = math.min(math.max(ages[i], low), high)
  sum = sum + age
  decades[age // 10] = decades[age // 10] + 1
end
local sensitivity, bound = high - low, high * n

-- 2. Three mechanisms, each of which knows what it costs.
local laplace = pn.mechanism.laplace { epsilon = 0.2, sensitivity = sensitivity, bound = bound }
local gaussian = pn.mechanism.gaussian { sigma = 10 * sensitivity, sensitivity = sensitivity, bound = bound }
local fullest = pn.mechanism.permute_and_flip { epsilon = 0.2, sensitivity = 1, score_bound = n }
print(gaussian)

local function first_day()
  -- 3. A budget in a file.  The price of everything is known before anything is spent.
  local ledger <close> = pn.ledger { epsilon = 1, delta = 1e-6, path = path }
  print "\nprices at delta 1e-6, each by itself"
  for _, m in ipairs { laplace, gaussian, fullest } do
    print(("  %-17s epsilon %.4f"):format(m.name, ledger:price(m.event)))
  end

  -- 4. Release: charged, and on the disk, before the noise is drawn.  The second result says what was paid.
  local by_laplace, paid = laplace:release(sum, { ledger = ledger, label = "sum of ages" })
  print("\n" .. tostring(paid))
  local by_gaussian, paid_too = gaussian:release(sum, { ledger = ledger, label = "sum of ages" })
  print(paid_too)
  local decade = fullest:release(decades, { ledger = ledger, label = "fullest decade" })
  print(("\n  mean by Laplace   %.2f  (standard deviation %.2f)"):format(by_laplace / n, 2 ^ 0.5 * sensitivity / 0.2 / n))
  print(("  mean by Gaussian  %.2f  (standard deviation %.2f)"):format(by_gaussian / n, 10 * sensitivity / n))
  print(("  most people are from %d to %d years old"):format(10 * decade, 10 * decade + 9))
end

local function another_day()
  -- 5. The file remembers its budget and what was spent.
  local ledger <close> = pn.ledger { path = path }
  print("\nanother day\n" .. tostring(ledger))

  -- 6. What is left does not cover this: it is refused, nothing is drawn, nothing is charged.
  local greedy = pn.mechanism.laplace { epsilon = 0.9, sensitivity = sensitivity }
  local fine, why = pcall(greedy.release, greedy, sum, { ledger = ledger })
  print("\n" .. (fine and "released" or "refused: " .. why))
  print("\n" .. tostring(ledger:report()))
end

first_day()
another_day()
os.execute(("rm -r '%s'"):format(folder))
