local program = require "tests.tools.program"

-- What a terminal of `columns` shows while code runs in the program that has pn.busy.
local function watch(code, columns, redirect)
  local screen, status, err = program.play("", ("env PENUMBRA_HISTORY= %s -e %s %s"):format(program.with_busy(),
    program.quote(code), redirect or ""), columns)
  assert.equal(0, status, screen .. err)
  return screen
end

local function evaluate(code)
  local out, err, status = program.shell(("exec %s -e %s"):format(program.with_busy(), program.quote(code)))
  return out, err, status
end

describe("the progress bar", function()
  it("shows label, bar, share, rate and times, and is gone at the end", function()
    local screen = watch "pn.busy{ms = 900, label = 'counting'} io.write 'done'"
    assert.truthy(screen:find "counting  %[=+> +%] +%d+%%  %d+/s  0:0%d, 0:0%d left")
    assert.truthy(screen:find "\r +\rdone$")
  end)

  it("fits the terminal", function()
    for _, columns in ipairs { 20, 50, 80, 200 } do
      for part in watch("pn.busy{ms = 600, label = 'a_label'}", columns):gmatch "[^\r\n]+" do
        assert.is_true(#part < columns)
      end
    end
  end)

  it("shows a count when the total is not known", function()
    local screen = watch "pn.busy{ms = 700, total = 0}"
    assert.truthy(screen:find "busy  %d+ done  %d+/s  0:0%d")
    assert.is_nil(screen:find("%", 1, true))
  end)

  it("does not show for short work", function()
    assert.equal("", (watch "pn.busy{ms = 30}"))
  end)

  it("does not show with progress = false", function()
    assert.equal("", (watch "pn.busy{ms = 600, progress = false}"))
  end)

  it("does not show when stderr is no terminal", function()
    assert.equal("", (watch("pn.busy{ms = 600}", 80, "2>/dev/null")))
    local out, err = evaluate "pn.busy{ms = 600}"
    assert.equal("", out .. err)
  end)

  it("shows in the stock interpreter, too", function()
    local screen, status = program.play("expect frank_wolfe  [\n", program.interpreter() .. " -e " ..
      program.quote [[
        local pn = require "penumbra"
        local d = pn.data.synthetic.lasso{n = 500, p = 20, sparsity = 3, noise = 0.1, seed = 1}
        local obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 20, radius = 1}}
        local plan = pn.solve.frank_wolfe.plan(obj, {privacy = false, iterations = 100000000})
        local enough = os.clock() + 0.6
        local fine, problem = pcall(plan.run, plan, {progress = true, on_step = function()
          if os.clock() > enough then error("enough", 0) end
        end})
        print(fine, problem)]])
    assert.equal(0, status, screen)
    assert.truthy(screen:find("false\tenough\r\n", 1, true) or screen:find("false +enough\r\n"), screen)
  end)

  it("comes after what the script has written", function()
    local screen = watch "io.write 'first\\n' pn.busy{ms = 600}"
    assert.equal(1, (screen:find("first", 1, true)))
  end)
end)

describe("a progress function", function()
  it("is called with what is done, the total and the label", function()
    local out = evaluate [[
      local calls, last = 0, 0
      pn.busy{ms = 200, label = "work", progress = function(done, total, label)
        assert(done >= last and total == 200 and label == "work")
        calls, last = calls + 1, done
      end}
      print(calls > 1, last)]]
    assert.equal("true\t200.0\n", out)
  end)

  it("is given nil for a total that is not known", function()
    assert.equal("nil\n", (evaluate
      "local t = 1 pn.busy{ms = 50, total = 0, progress = function(_, total) t = total end} print(t)"))
  end)

  it("stops the work with its own error value", function()
    local out = evaluate [[
      local boom, last = {}, 0
      local fine, value = pcall(pn.busy, {ms = 60000, progress = function(done) last = done error(boom) end})
      print(fine, value == boom, last < 1000)]]
    assert.equal("false\ttrue\ttrue\n", out)
  end)

  it("may start work of its own, which reports to its own listener", function()
    local out = evaluate [[
      local inner, outer, busy_inside = 0, 0, false
      pn.busy{ms = 100, label = "outer", progress = function(_, _, label)
        assert(label == "outer")
        outer = outer + 1
        if not busy_inside then
          busy_inside = true
          pn.busy{ms = 60, label = "inner", progress = function(_, _, l) assert(l == "inner") inner = inner + 1 end}
        end
      end}
      print(inner > 0, outer > 1)]]
    assert.equal("true\ttrue\n", out)
  end)

  it("still hears the outer work after inner work without a listener", function()
    local out = evaluate [[
      local after, labels = 0, {}
      local inside = false
      pn.busy{ms = 200, label = "outer",
        inner = function() pn.busy{ms = 60, label = "inner", progress = false} inside = true end,
        progress = function(_, _, label) labels[label] = true if inside then after = after + 1 end end}
      print(after > 0, labels.outer, labels.inner)]]
    assert.equal("true\ttrue\tnil\n", out)
  end)

  it("must be a function, true or false", function()
    local _, err = evaluate "pn.busy{ms = 1, progress = 'yes'}"
    assert.truthy(err:find("busy: progress must be true, false or a function(done, total, label), got yes", 1, true))
  end)
end)
