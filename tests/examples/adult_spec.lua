-- adult_spec.lua -- the fifteen lines on Adult, and what the default settings of every gradient method reach there.
local pn = require "penumbra"
local build = os.getenv "PENUMBRA" or "build/penumbra"
local folder = os.getenv "PENUMBRA_DATA"

local function run(arguments, environment)
  local pipe = assert(io.popen(("%s %s examples/adult.lua %s 2>&1"):format(environment or "", build, arguments)))
  local text = pipe:read "a"
  assert.is_true(pipe:close(), text)
  return text, tonumber(text:match "accuracy ([%d.]+)")
end

local function has_data()
  if folder and folder ~= "" then return true end
  io.stderr:write "skipped: needs PENUMBRA_DATA\n"
  return false
end

describe("examples/adult.lua", function()
  it("has at most fifteen lines and learns from synthetic data without a folder", function()
    local lines = 0
    for _ in io.lines "examples/adult.lua" do lines = lines + 1 end
    assert.is_true(lines <= 15)
    local text, accuracy = run("", "env -u PENUMBRA_DATA")
    assert.matches("epsilon = 1, delta = 9.77e-10, replace_one: holds", text, 1, true)
    assert.matches("on synthetic data; give a folder", text, 1, true)
    assert.is_true(accuracy > 0.7, text) -- secure noise; 0.7456 to 0.7464 in eight runs
  end)

  it("reaches .840 on Adult at epsilon 1", function()
    if not has_data() then return end
    local text, accuracy = run(folder)
    assert.matches("epsilon = 1, delta = 9.43e-10, replace_one: holds", text, 1, true)
    assert.is_true(accuracy >= 0.840, text) -- secure noise; mean .8479, deviation .0012: six deviations
  end)
end)

-- Nothing chosen but the budget; seeded noise, so the figures repeat.
describe("the default settings on Adult", function()
  local targets = { [1] = 0.840, [0.1] = 0.811 }
  local train, test

  local function accuracy(solver, epsilon, seeds)
    train = train or pn.data.libsvm(folder .. "/a9a.gz", { cols = 123 }):clip_rows("l2", 1)
    test = test or pn.data.libsvm(folder .. "/a9a.t.gz", { cols = 123 }):clip_rows("l2", 1)
    local plan = pn.solve[solver].plan(pn.objective { data = train, loss = pn.loss.logistic() },
      { epsilon = epsilon, delta = 1 / train.n ^ 2 })
    local judge, sum = pn.objective { data = test, loss = pn.loss.logistic() }, 0
    for seed = 1, seeds do sum = sum + judge:accuracy(plan:run { rng = pn.rng.seeded(seed) }.theta) end
    return sum / seeds
  end

  for _, solver in ipairs { "gradient_descent", "sgd", "svrg", "accelerated_mirror_descent" } do
    it("reach .840 at epsilon 1 and .811 at 0.1: " .. solver, function()
      if not has_data() then return end
      for epsilon, target in pairs(targets) do
        local mean = accuracy(solver, epsilon, epsilon == 1 and 3 or 10)
        assert.is_true(mean >= target, ("epsilon %g: %.4f"):format(epsilon, mean))
      end
    end)
  end
end)
