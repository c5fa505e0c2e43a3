-- pld_grid_bench.lua -- how wide the certified intervals of accountant.pld are, and how long they take, over a grid of
-- sampling rates, noise, steps and delta.  Prints the tables of pld_grid.md and every interval that is wide.
-- Run with `make bench` for every seventh case, or alone: build/penumbra tests/bench/pld_grid_bench.lua [all] [kind ...]
local pn = require "penumbra"
local event, accountant = pn.event, pn.accountant

local rates = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1 }
local sigmas = { 0.3, 0.4, 0.5, 0.7, 1, 2, 5, 10, 30, 100 }
local steps = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 }
local deltas = { 1e-3, 1e-5, 1e-7, 1e-9, 1e-12, 1e-15 }

local function gaussian(sigma, neighbours)
  return event.gaussian { sigma = sigma, sensitivity = 1, neighbours = neighbours }
end

local kinds = {
  { "poisson, add_remove", function(q, sigma, T)
    return { { event.poisson_sampled { q = q, event = gaussian(sigma, "add_remove") }, T } }
  end },
  { "poisson, replace_one", function(q, sigma, T)
    return { { event.poisson_sampled { q = q, event = gaussian(sigma, "replace_one") }, T } }
  end },
  { "fixed size", function(q, sigma, T)
    return { { event.fixed_sampled { batch = math.tointeger(q * 1000000 // 1), n = 1000000, event = gaussian(sigma) }, T } }
  end },
  { "sampled pure", function(q, sigma, T)
    return { { event.fixed_sampled { batch = math.tointeger(q * 1000000 // 1), n = 1000000,
      event = event.pure { epsilon = 1 / sigma } }, T } }
  end },
  { "laplace", function(q, sigma, T)
    return q == 1 and { { event.laplace { scale = sigma, sensitivity = 1 }, T } }
  end },
  { "three: sampled, laplace, pure", function(q, sigma, T)
    return {
      { event.fixed_sampled { batch = math.tointeger(q * 1000000 // 1), n = 1000000, event = gaussian(sigma) }, T },
      { event.laplace { scale = 10 * sigma, sensitivity = 1 }, math.max(1, T // 1000) },
      { event.pure { epsilon = 0.05 }, 3 },
    }
  end },
}

local function ask(parts, delta)
  local acc = accountant.pld {}
  for _, part in ipairs(parts) do
    acc:add(part[1], part[2])
  end
  local start = os.clock()
  local low, high = acc:epsilon_interval(delta)
  return low, high, 1000 * (os.clock() - start), acc
end

local function quantile(sorted, p)
  return sorted[math.max(1, math.ceil(p * #sorted))] or 0
end

local every = arg[1] == "all" and 1 or 7

local function run(kind, wide)
  local name, make, number = kind[1], kind[2], 0
  print(("\n%s\n\n| steps | cases | over 1 %% | over 50 ms | width: median | largest up to 1 %% | ms: median | 99 %% | most |")
    :format(name))
  print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
  for _, T in ipairs(steps) do
    local widths, times, over, slow, largest = {}, {}, 0, 0, 0
    for _, q in ipairs(rates) do
      for _, sigma in ipairs(sigmas) do
        for _, delta in ipairs(deltas) do
          local parts = make(q, sigma, T)
          number = number + (parts and 1 or 0)
          if parts and number % every == 0 then
            local low, high, ms, acc = ask(parts, delta)
            local width = high - low
            widths[#widths + 1] = width <= 1e-4 and 0 or width / high
            times[#times + 1] = ms
            if not (width <= 1e-4 or width <= 1e-2 * high) then
              over = over + 1
              wide[#wide + 1] = ("%s: q = %g, sigma = %g, %d steps, delta = %g: %s"):format(name, q, sigma, T, delta,
                tostring(acc):gsub("%s+", " "))
            elseif width > 1e-4 then
              largest = math.max(largest, width / high)
            end
            slow = slow + (ms > 50 and 1 or 0)
          end
        end
      end
    end
    table.sort(widths)
    table.sort(times)
    print(("| %.0f | %d | %d | %d | %.1g | %.1g | %.1f | %.1f | %.1f |"):format(T, #times, over, slow,
      quantile(widths, 0.5), largest, quantile(times, 0.5), quantile(times, 0.99), times[#times]))
  end
end

local wide = {}
for i, kind in ipairs(kinds) do
  local asked, some = false, false
  for _, word in ipairs(arg) do
    some = some or tonumber(word)
    asked = asked or tonumber(word) == i
  end
  if asked or not some then
    run(kind, wide)
  end
end
print(("\n%d wide"):format(#wide))
for _, line in ipairs(wide) do
  print(line)
end
os.exit(#wide == 0 and 0 or 1)
