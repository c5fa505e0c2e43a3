local pn = require "penumbra"
local lesson = require "penumbra.lesson"
local files = require "penumbra.lesson.files"
local tier = require "tests.tools.tier"

local function begin(one, id)
  local course = lesson.course(one)
  return course, course:collect(course.start, course, id)
end

describe("the list of lessons", function()
  it("has one for every file, each with its own name", function()
    local seen = {}
    for i, one in ipairs(files.all()) do
      assert.is_nil(one.problem)
      assert.is_nil(seen[one.name])
      seen[one.name] = true
      assert.equal(i, files.find(one.name).number)
    end
    local found = 0
    for path in io.popen "ls stdlib/lessons/*.lua":lines() do
      if not path:find "init%.lua$" and not path:find "kit%.lua$" then
        found = found + 1
        assert.is_true(seen[dofile(path).name], path)
      end
    end
    assert.equal(found, #files.all())
  end)
end)

-- Other ways to the answers, and answers that come near: what the lessons' own `answer` and `wrong` do not have.
describe("the exercises", function()
  local right = {
    { "neighbours", "price", "n = 200 / 0.5" },
    { "neighbours", "tracker", "all = total(function() return true end)\n" ..
      "visits = all - total(function(n) return n ~= 'Dana' end)" },
    { "gaussian", "mechanism", "s = calibrate.gaussian{epsilon=0.5, delta=1e-6, sensitivity=1/1000}\n" ..
      "m = mechanism.gaussian{sigma=s, sensitivity=1/1000}" },
    { "composition", "how-many", "k = 22.0" },
    { "composition", "exhaust", "for i = 1, 100 do L:spend(e, 'a look') end" }, -- ends in a refusal
    { "mirror_descent", "multiply", "step = function(x, g) return potential.entropy{}:mirror_step(x, g, 0.4, C) end" },
    { "frank_wolfe", "train", "fit = solve.frank_wolfe(obj, {epsilon=1, delta=1e-9, iterations=15})" },
    { "frank_wolfe", "train", "fit = solve.frank_wolfe(obj, {rho=0.01, iterations=20})" }, -- epsilon 0.81 at that delta
    { "sampling", "shift", "shift = 0.04" },
    { "sampling", "choose", "q = 0.0126" },
    { "tuning", "secrecy", "known = 12 * (log(chance(100, 101)) - log(chance(101, 101)))" },
    { "csv_model", "recipe", "r = pn.recipe{label={bought={'no', 'yes'}}, features={{name='job', 'nurse', 'clerk', 'cook'}, " ..
      "{name='income', 0, 100}, {name='age', 18, 90}}}" },
    { "local_privacy", "answer", "function answer(truth, rng) local honest = rng:uniform() >= 1/4 return honest == truth end" },
    { "lua", "loops", "function total(list) return #list > 0 and pn.vec(list):sum() or 0 end" },
    { "lua", "several", "function spread(l) table.sort(l) return l[1], l[#l] end" },
    { "running_sums", "blocks", "function blocks(t) local c = 0 while t > 0 do c, t = c + (t & 1), t >> 1 end return c end" },
  }
  local wrong = {
    { "neighbours", "make-one", "other = pay\nother[4] = 200" },
    { "neighbours", "price", "n = -400" },
    { "gaussian", "average", "guess = truth" },
    { "gaussian", "mechanism", "m = mechanism.laplace{epsilon=0.5, sensitivity=1/1000}" },
    { "composition", "many", "count = math.huge" },
    { "composition", "how-many", "k = 2^53" },
    { "floating_point", "step", "step = math.huge" },
    { "floating_point", "try-again", "right, wrong = 0/0, 0/0" },
    { "floating_point", "try-again", "right, wrong = 260, 540" },
    { "floating_point", "try-again", "right, wrong = -100, 600" },
    { "noisy_descent", "train", "fit = solve.sgd(big, {epsilon=1, delta=1e-6})" },
    { "geometry", "no-gift", "big = 1000^0.5 * set.simplex{dim=1000}" },
    { "mirror_descent", "train", "fit = solve.mirror_descent(obj, {epsilon=1, delta=1e-6, iterations=1})" },
    { "frank_wolfe", "train", "fit = solve.frank_wolfe(obj, {epsilon=1, delta=1e-9, iterations=21})" },
    { "sampling", "attack", "dana = 0/0" },
    { "sampling", "choose", "q = math.huge" },
    { "tuning", "train", "best = {price={epsilon=1, delta=0}, configuration={}}" },
    { "csv_model", "model", "m = {fit=1}" },
    { "csv_model", "recipe", "r = pn.recipe{label={bought={'yes', 'no'}}, features={age={18, 90}, income={0, 100}}}" },
    { "local_privacy", "people", "people = -1" },
    { "local_privacy", "answer", "function answer(truth) return truth end" },
    { "lua", "self", "counter = {count=0, add=print}" },
    { "frank_wolfe", "train", "fit = solve.frank_wolfe(obj, {rho=0.02, iterations=20})" },
    { "auditing", "sneaky", "sly = pn.audit(sneaky, {neighbours={0, 2}, trials=5000, epsilon=1, rng=rng.seeded(1)})" },
    { "auditing", "sneaky", "sly = pn.audit(sold, {neighbours={0, 1}, trials=5000, epsilon=1, rng=rng.seeded(1)})" },
  }
  for _, case in ipairs(right) do
    it(("of %s take for %s: %s"):format(table.unpack(case)), function()
      local course = begin(files.find(case[1]), case[2])
      local said = course:enter(case[3])
      assert.truthy(said:find("Right.", 1, true), said)
    end)
  end
  for _, case in ipairs(wrong) do
    it(("of %s refuse for %s: %s"):format(table.unpack(case)), function()
      local course = begin(files.find(case[1]), case[2])
      local at, said = course.at, course:enter(case[3])
      assert.equal(at, course.at, said)
      assert.truthy(said:find("Not yet: ", 1, true) or said:find("But: ", 1, true), said)
      assert.falsy(said:find("bad argument", 1, true), said)
    end)
  end
end)

-- `other = pay` names the data itself, and the next line changes it in place.
describe("an alias of the data", function()
  for _, lines in ipairs { { "other = pay; other[4] = 200" }, { "other = pay", "other[4] = 200" } } do
    it(("is explained in words, typed in %d entries"):format(#lines), function()
      local course = begin(files.find "neighbours", "make-one")
      local at, said = course.at, nil
      for _, line in ipairs(lines) do said = course:enter(line) end
      assert.equal(at, course.at)
      assert.truthy(said:find("pay itself has changed", 1, true), said)
      course:enter "reset"
      assert.equal(87.3, course.env.pay[4])
    end)
  end
end)

-- What a lesson says of its seed holds for others.
describe("the attacks", function()
  it("read textbook noise of any seed, without an error and more often than not", function()
    local course = begin(files.find "floating_point", "count")
    course:enter [[
function rate(seed, f)
  local source, hits, errors = rng.seeded(seed), 0, 0
  for i = 1, 1000 do
    local u, sign = 1 - source:uniform(), source:uniform() < 0.5 and -1 or 1
    local verdict = identify(f + sign * math.log(u))
    if verdict == f then hits = hits + 1 elseif verdict then errors = errors + 1 end
  end
  return hits / 1000, errors
end]]
    for seed = 101, 105 do -- six deviations about 0.67 and 0.60
      for f, rate in pairs { [0] = 0.67, 0.60 } do
        local hits, errors = course.env.rate(seed, f)
        assert.equal(0, errors)
        assert.is_true(math.abs(hits - rate) < 0.1, hits)
      end
    end
  end)

  it("name the user who is not in the data, whatever the code", function()
    for seed = 11, 15 do
      local absent = seed * 5 % 9 + 1
      local code = pn.data.synthetic.fingerprint { users = 8, p = 1024, informative = 900, ridge = 1024, seed = seed }
      local obj = pn.objective { data = code:dataset(absent), loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 1024 } }
      local _, named = code:trace(pn.solve.exact(obj, { tol = 1e-6 }).theta):min()
      assert.equal(absent, named)
    end
  end)
end)

for number, one in ipairs(files.all()) do
  describe("lesson " .. one.name, function()
    it("plays: all code and answers pass, every wrong answer is refused with a reason, pictures are drawn", function()
      local fine, problems = lesson.try(one)
      assert.is_true(fine, problems)
    end)

    it("has 8 to 16 steps or so, three exercises and a picture, and its texts are short", function()
      local exercises, pictures = 0, 0
      for _, step in ipairs(one.steps) do
        exercises, pictures = exercises + (step.ask and 1 or 0), pictures + (step.plot and 1 or 0)
        local _, lines = (step.text or ""):gsub("\n", "")
        assert.is_true(lines <= 10, step.id)
      end
      assert.is_true(#one.steps >= 8 and #one.steps <= 16)
      assert.is_true(exercises >= 3)
      assert.is_true(pictures >= 1)
    end)

    local seldom_it = tier.it(it, number < 4 or number % 10 == 0) -- short ones
    seldom_it("can be skipped through, with every hint, and fits a screen of 24 lines of 80 columns", function()
      local course, said = begin(one)
      for i = 1, #one.steps do
        assert.equal(i, course.at)
        while course.hints < #(one.steps[i].hint or {}) do said = said .. course:enter "hint" end
        local answer = course:enter "skip"
        assert.falsy(answer:find("no picture", 1, true), answer)
        assert.falsy(answer:find("this did not work", 1, true), answer)
        local _, lines = (answer:match "\n(%-%- %d+ of .*)$" or ""):gsub("\n", "")
        assert.is_true(lines < 24, answer) -- and a line for the prompt
        said = said .. answer
      end
      assert.is_true(course.finished)
      for line in said:gmatch "[^\n]+" do
        local columns = utf8.len(line)
        assert.is_true(columns and columns <= 80 or line:find "^%s*[%d{]" ~= nil, line)
      end
    end)

    seldom_it("comes out the same when one plays around, at its first step, at its last and between", function()
      local course = begin(one)
      local around = { [1] = true, [#one.steps // 2] = true, [#one.steps] = true }
      for i, step in ipairs(one.steps) do
        if around[i] then
          course:enter "play"
          course:enter "for name in pairs(_G) do _G[name] = nil end"
          course:enter "pn, math, string.format, pn.vec = nil"
          course:enter "back"
          course:enter "math.floor, pn.objective, set.l2_ball = nil"
          course:enter "reset"
        end
        course:enter(step.code or step.answer or "")
      end
      assert.is_true(course.finished)
    end)

    seldom_it("begins at its last step with the names of those before", function()
      local last = one.steps[#one.steps]
      local course, said = begin(one, last.id)
      assert.truthy(said:find(last.id, 1, true))
      for _, step in ipairs(one.steps) do
        for _, name in ipairs(step ~= last and step.defines or {}) do
          assert.is_not_nil(rawget(course.env, name), name)
        end
      end
    end)
  end)
end
