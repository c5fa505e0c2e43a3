local program = require "tests.tools.program"
local law = require("tests.tools.tier").law(it)

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
    assert.truthy(screen:find "counting  %[=+> +%] +%d+%%  %d[%d.]*/s  %d+:%d%d, %d+:%d%d left")
    assert.truthy(screen:find "\r +\rdone$")
  end)

  law("shows the value that is reached and what has been charged so far, of how much", function()
    local screen = watch "pn.busy{ms = 600, label = 'zeroth_order', value = 0.12345, spent = 0.25}"
    assert.truthy(screen:find "zeroth_order  %[=+> +%]  +%d+%%  %d[%d.]*/s  %d+:%d%d left  value 0.1235  charged 0.25/1")
    screen = watch("pn.busy{ms = 600, total = 0, value = -2}", 200)
    assert.truthy(screen:find "busy  %d+ done  %d[%d.]*/s  %d+:%d%d  value %-2" and not screen:find "charged")
    screen = watch("pn.busy{ms = 600, label = 'zeroth_order', spent = 0.25}", 200)
    assert.truthy(screen:find "charged 0.25/1 epsilon")
  end)

  it("makes room for what is printed meanwhile", function()
    local screen = watch [[pn.busy{ms = 900, label = "w", inner = function() print "between" end}]]
    assert.truthy(screen:find "left *\r +\rbetween\r\n")
    assert.truthy(screen:find "between\r\n\rw  %[")
  end)

  -- What is left of a line once each \r has begun it anew: its last part, if the one before it is blank.
  local function seen(line)
    local before, last = ("\r" .. line:gsub("\r+", "\r")):match "([^\r]*)\r([^\r]*)$"
    return before:find "%S" and before .. last or last
  end

  it("makes room for what a process of an experiment prints", function()
    local lines = {}
    local screen = watch [[
      pn.experiment{grid = {a = {1, 2, 3, 4}}, processes = 2, run = function(row)
        pn.busy{ms = 300 + 130 * row.a, progress = false}
        print("between " .. row.a)
        return 1
      end}]]
    assert.truthy(screen:find("experiment  [", 1, true), screen)
    for line in screen:gmatch "([^\n]*)\r\n" do lines[seen(line)] = true end
    for a = 1, 4 do assert.is_true(lines["between " .. a], screen) end
  end)

  law("fits the terminal", function()
    for _, columns in ipairs { 20, 50, 80, 200 } do
      for part in watch("pn.busy{ms = 600, label = 'a_label', value = 1.5, spent = 0.125}", columns):gmatch "[^\r\n]+" do
        assert.is_true(#part < columns)
      end
    end
  end)

  law("shows a count when the total is not known", function()
    local screen = watch "pn.busy{ms = 700, total = 0}"
    assert.truthy(screen:find "busy  %d+ done  %d[%d.]*/s  %d+:%d%d")
    assert.is_nil(screen:find("%", 1, true))
  end)

  law("does not show for short work", function()
    for _ = 1, 100 do
      local screen = watch [[
        local clock = require "penumbra.workers".seconds
        local begun = clock()
        pn.busy{ms = 30}
        if clock() - begun >= 0.3 then io.write "was held up" end]]
      if not screen:find "was held up$" then return assert.equal("", screen) end
    end
    error "30 ms of work take 300 ms again and again"
  end)

  law("does not show with progress = false", function()
    assert.equal("", (watch "pn.busy{ms = 600, progress = false}"))
  end)

  law("does not show when stderr is no terminal", function()
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

  law("comes after what the script has written", function()
    local screen = watch "io.write 'first\\n' pn.busy{ms = 600}"
    assert.equal(1, (screen:find("first", 1, true)))
  end)
end)

describe("progress of Lua code", function()
  it("is one bar over all of it, over which calls that last draw their own", function()
    local screen = watch [[require "penumbra.frame"("grid", 20, nil, function(tell)
      for i = 1, 20 do
        tell(i - 1, i / 4)
        pn.busy{ms = 45, label = "silent", progress = false}
      end
    end) io.write "done"]]
    assert.truthy(screen:find "grid  %[=+> +%] +%d+%%  %d[%d.]*/s  [^\r]-%d+:%d%d left  value %d", screen)
    assert.truthy(screen:find "\r +\rdone$" and not screen:find "silent")
    screen = watch [[require "penumbra.frame"("grid", 2, nil, function(tell)
      tell(0) pn.busy{ms = 400, progress = false} tell(1) pn.busy{ms = 600, label = "inner"}
    end) io.write "done"]]
    assert.truthy(screen:find "grid  %[.*inner  %[")
    assert.truthy(screen:find "\r +\rdone$")
  end)

  it("gives back what the code returns and raises what it raises", function()
    local out = evaluate [[
      local frame, boom = require "penumbra.frame", {}
      print(frame("grid", 1, nil, function(tell) tell(1) return 1, nil, 3 end))
      local fine, value = pcall(frame, "grid", 1, nil, function() error(boom) end)
      print(fine, value == boom)
      fine, value = pcall(frame, "grid", 1, function() error(boom) end, function(tell) tell(1) end)
      print(fine, value == boom)]]
    assert.equal("1\tnil\t3\nfalse\ttrue\nfalse\ttrue\n", out)
  end)

  it("does not keep the first Ctrl-C from the code", function()
    local screen, status = program.play([[
      expect pn>
      send require "penumbra.frame"("grid", 1, nil, function(tell) tell(0) print "going" while true do end end)\n
      expect going
      sleep 100
      send \x03
      expect interrupted
      expect pn>
      send print(6 * 7)\n
      expect 42
      expect pn>
      send \x04
    ]], program.prompt())
    assert.equal(0, status, screen)
  end)

  it("goes with advice, checks and tuning", function()
    local out = evaluate [[
      local last = {}
      local function note(done, total, label, value) last[label] = {done, total, value} end
      local d = pn.data.synthetic.logistic{n = 2000, p = 4, sparsity = 2, seed = 1}:clip_rows("l2", 1)
      local budget = {epsilon = 1, delta = 1e-8, solvers = {"mirror_descent", "frank_wolfe"}, progress = note}
      local ranking = pn.advise(d, pn.loss.logistic(), budget)
      print(last.advise[2] == #ranking, last.advise[1] < #ranking)
      pn.check(pn.set.l1_ball{dim = 3}, {progress = note})
      print(last.check[2] > last.check[1])
      local obj = pn.objective{data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = 4}}
      local plan = solve.mirror_descent.plan(obj, {epsilon = 1, delta = 1e-8})
      plan:tune{iterations = {10, 20, 30}, progress = note}
      print(last["mirror_descent: tune"][2])
      local function stop() error("enough", 0) end
      budget.progress = stop
      print(pcall(pn.advise, d, pn.loss.logistic(), budget))
      print(pcall(pn.check, pn.set.l1_ball{dim = 3}, {progress = stop}))
      print(pcall(plan.tune, plan, {iterations = {10, 20}, progress = stop}))]]
    assert.equal("true\ttrue\ntrue\n3.0\nfalse\tenough\nfalse\tenough\nfalse\tenough\n", out)
  end)
end)

describe("progress of calibration and generators", function()
  it("is told, and silenced", function()
    local out, err = evaluate [[
      local function one(sigma) return pn.event.gaussian{sigma = sigma, sensitivity = 1} end
      local seen
      local function note(_, total, label) seen = {label, total} end
      pn.calibrate.noise{epsilon = 1, delta = 1e-6, accountant = "pld", event = one, progress = note}
      print(seen[1], seen[2])
      pn.calibrate.steps{epsilon = 1, delta = 1e-6, event = one(40), progress = note}
      print(seen[1], seen[2])
      pn.data.synthetic.logistic{n = 10000, p = 10, progress = note}
      print(seen[1], seen[2])
      seen = nil
      pn.calibrate.noise{epsilon = 1, delta = 1e-6, event = one, progress = false}
      pn.data.synthetic.lasso{n = 10000, p = 10, progress = false}
      print(seen)
      local function stop() error("enough", 0) end
      print(pcall(pn.calibrate.noise, {epsilon = 1, delta = 1e-6, event = one, progress = stop}))
      print(pcall(pn.data.synthetic.lasso, {n = 10000, p = 10, progress = stop}))]]
    assert.equal("", err)
    assert.equal("calibrate.noise\tnil\ncalibrate.steps\tnil\nsynthetic.logistic\t10000.0\nnil\n"
      .. "false\tenough\nfalse\tenough\n", out)
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

  it("is told the value and what has been spent where these are known", function()
    local out = evaluate [[
      local seen
      local function note(...) seen = table.pack(...) end
      pn.busy{ms = 60, value = 1.5, spent = 0.25, progress = note}
      print(seen[4], seen[5])
      pn.busy{ms = 60, progress = note}
      print(seen[4], seen[5], seen.n)]]
    assert.equal("1.5\t0.25\nnil\tnil\t5\n", out)
  end)

  it("hears of a run its objective while that is not private, and what the noise has cost", function()
    local out = evaluate [[
      local d = pn.data.synthetic.lasso{n = 500, p = 20, sparsity = 3, noise = 0.1, seed = 1}
      local obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 20, radius = 1}}
      local value, spent, last
      local function note(done, total, _, v, s) value, spent, last = v, s, done end
      pn.solve.frank_wolfe(obj, {privacy = false, iterations = 500000, progress = note})
      print(value > 0, spent)
      local fit = pn.solve.frank_wolfe(obj, {epsilon = 1, delta = 1e-6, iterations = 20000, progress = note})
      print(value, spent > 0 and spent < 1, last < fit.steps)]]
    assert.equal("true\tnil\nnil\ttrue\ttrue\n", out)
  end)

  it("hears of an estimate and of a minimum how near they are", function()
    local out = evaluate [[
      local value
      local function note(_, _, _, v) value = v or value end
      local w = pn.width(pn.set.lp_ball{dim = 500, q = 1.5}, {draws = 100000, progress = note})
      print(math.abs(value - w.value) < 0.1 * w.value)
      local d = pn.data.synthetic.logistic{n = 20000, p = 100, seed = 1}
      local obj = pn.objective{data = d, loss = pn.loss.logistic(), set = pn.set.l1_ball{dim = 100, radius = 5}}
      value = nil
      pn.solve.exact(obj, {tol = 1e-13, progress = note})
      print(value > 1e-13)]]
    assert.equal("true\ntrue\n", out)
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
    assert.truthy(err:find("busy: progress must be true, false or a function(done, total, label, value, spent), got yes", 1, true))
  end)
end)
