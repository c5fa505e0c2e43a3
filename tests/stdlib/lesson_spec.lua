local pn = require "penumbra"
local lesson = require "penumbra.lesson"
local shared = require "tests.tools.lesson_sample"

local sample, begin, has, lacks = shared.sample, shared.begin, shared.has, shared.lacks

describe("a lesson", function()
  it("goes through its steps: Enter, code, an answer, a picture, and ends", function()
    local course, said = begin()
    has(said, "1 of 5: hello")
    has(said, "Welcome to `data`.")
    assert.equal("sample 1/5> ", course:prompt())
    has(course:enter "", "    total = data:sum()")
    has(course:enter "total = data:sum()", "Exercise: Set `double`")
    said = course:enter "double = 12.0"
    has(said, "Right.")
    has(said, "[a picture]")
    has(course:enter "next", "What is one and one?")
    has(course:enter "1 + 1", "5 of 5 steps")
    assert.is_true(course.finished)
  end)

  it("takes any code that makes what is asked for, and says what kind it should be", function()
    local course = begin "type"
    has(course:enter "total = 'six'", "total should be a number, it is a string")
    assert.equal(2, course.at)
    course:enter "for i = 1, 1 do total = data[1] + data[2] + data[3] end"
    assert.equal(3, course.at)
  end)

  it("says what is still to come when a step has several names", function()
    local steps = sample().steps
    steps[2] = { id = "type", text = "Two names.", code = "a = 1\nb = data", defines = { "a", "b" } }
    local course = begin("type", { steps = steps })
    has(course:enter "a = 7", "still to come: b")
    has(course:enter "b = 2", "b should be a pn.vec, it is a number")
    course:enter "b = pn.vec{4}"
    assert.equal(3, course.at)
  end)

  it("takes for asked what the code assigns, where a step does not say", function()
    local steps = sample().steps
    steps[2] = { id = "type", text = "One name.", code = "a = 1\nfor i = 1, 2 do\n  b = i\nend" }
    local course = begin("type", { steps = steps })
    course:enter "b = 5"
    course:enter "math.floor(2.5)"
    assert.equal(2, course.at)
    course:enter "a = 5"
    assert.equal(3, course.at)
  end)

  it("takes code line by line: no line but the last passes, though the names are there", function()
    local steps = sample().steps
    steps[2] = { id = "type", text = "Count.", code = "count = 0\nfor i = 1, 3 do\n  count = count + i\nend\ncount + 1" }
    local course = begin("type", { steps = steps })
    has(course:enter "count = 0;", "(still to come: for i = 1, 3 do ...)")
    assert.equal(2, course.at)
    has(course:enter "for i = 1, 3 do count = count + i end", "(still to come: count + 1)")
    has(course:enter "count", "(still to come: count + 1)")
    assert.equal(2, course.at)
    course:enter "count + 1"
    assert.equal(3, course.at)
  end)

  it("waits for what a code shows, in any spelling, and takes no look at something else for it", function()
    local steps = sample().steps
    steps[2] = { id = "type", text = "Show.", code = "function f(x) return x end\nprint(f(1))" }
    steps[3] = { id = "value", text = "Look.", code = "data:norm()" }
    local course = begin("type", { steps = steps })
    has(course:enter "function f(y) return y end", "(still to come: what this prints)")
    assert.equal(2, course.at)
    course:enter "f(1)"
    assert.equal(3, course.at)
    course:enter "data"
    course:enter "x = 1"
    assert.equal(3, course.at)
    course:enter "(data[1]^2 + data[2]^2 + data[3]^2)^0.5"
    assert.equal(4, course.at)
  end)

  it("shows the numbers that a step set and nothing has shown", function()
    local course = begin "type"
    has(course:enter "total = data:sum()", "total = 6.0\n")
    has(course:enter "double = 2 * total", "Right.\ndouble = 12.0\n")
    has(begin("type"):enter "skip", "total = 6.0\n")
    lacks(begin("type"):enter "total = data:sum() print(total)", "total =")
    lacks(begin("value"):enter "1 + 1", "=")
  end)

  it("takes what was done by an entry that ended in an error", function()
    local course = begin "twice"
    local said = course:enter "double = 2 * total error 'too far'"
    has(said, "too far")
    has(said, "Right.")
    assert.equal(4, course.at)
    course = begin "twice"
    lacks(course:enter "double = 3 error 'x'", "Right.")
    lacks(course:enter "error 'y'", "Not yet")
    assert.equal(3, course.at)
  end)

  it("shows nothing for an entry that ends in a semicolon, and the near name for one that is not known", function()
    local course = begin "twice"
    assert.equal("", course:enter "total;")
    has(course:enter "totl", "(there is no `totl`; did you mean `total`?)")
  end)

  it("paints what is in backquotes, over the end of a line, too", function()
    local function paint(text, role) return role == "name" and "<" .. text .. ">" or text end
    local course = lesson.course(sample(), { paint = paint })
    course.lesson.steps[1].text = "Try `a +\nb` and `c`."
    has(course:collect(course.start, course), "Try <a +\nb> and <c>.")
  end)

  it("says what is off in a wrong answer, by property", function()
    local course = begin "twice"
    has(course:enter "double = 3", "Not yet: double is off.")
    has(course:enter "double = 'x'", "not of the kind")
    has(course:enter "double = {}", "Not yet:")
    assert.equal(3, course.at)
    course:enter "double = total + total"
    assert.equal(4, course.at)
  end)

  it("judges an exercise when what it asks for is set, not on the way there", function()
    local course = begin "twice"
    for _, line in ipairs { "k = 2", "function f(x) return k * x end", "f(1)", "k, t = k, total" } do
      lacks(course:enter(line), "Not yet")
    end
    has(course:enter "double = k", "Not yet: double is off")
    lacks(course:enter "half = f(double)", "Not yet")
    has(course:enter "x = 1; double = k", "Not yet: double is off")
    has(course:enter "double = f(t)", "Right.")
  end)

  it("says so when a right value is not kept", function()
    local course = begin "twice"
    has(course:enter "2 * total", "the value is right, and kept nowhere: set double to it")
    lacks(course:enter "3 * total", "right")
    assert.equal(3, course.at)
    has(course:enter "double = _ / 3 * 2", "Right.")
  end)

  it("refuses nan in every exercise, whatever its check says", function()
    local steps = sample().steps
    steps[3].check = function() return true end
    local course = begin("twice", { steps = steps })
    has(course:enter "double = 0/0", "double is nan")
    assert.equal(3, course.at)
  end)

  it("asks for a function where the answer is one", function()
    local steps = sample().steps
    steps[3].ask, steps[3].answer = "Write `f`(x).", "function f(x) return 2 * x end"
    steps[3].check = function(env) return env.f(2) == 4, "f(2) is off" end
    local course = begin("twice", { steps = steps })
    has(course:enter "f = 4", "f should be a function, it is a number")
    has(course:enter "function f(x) return x end", "f(2) is off")
    lacks(course:enter "f(2)", "Not yet")
    has(course:enter "f = function(x) return x + x end", "Right.")
  end)

  it("does not take looking at something for an attempt", function()
    local course = begin "twice"
    assert.equal("6.0\n", course:enter "total")
    lacks(course:enter "double", "Not yet")
    lacks(course:enter "print(total)", "Not yet")
    course:enter "hint"
    course.env.double = 12
    lacks(course:enter "double, total", "Right")
  end)

  it("says nothing of a code's check to who only looks, and why when what it asks for is set", function()
    local steps = sample().steps
    steps[2].check = function(env) return env.total == 6, "total is off" end
    local course = begin("type", { steps = steps })
    for _, line in ipairs { "data", "data:sum()", "mine = 3", "help 'vec'" } do lacks(course:enter(line), "off") end
    for _, line in ipairs { "%who", "?data", "data?" } do
      course.env._ = 1
      lacks(course:collect(course.after, course, true, { n = 0 }, line), "off")
    end
    has(course:enter "total = 5", "But: total is off.")
    course:enter "total = 6"
    assert.equal(3, course.at)
  end)

  it("shows an error of the learner's as it is and stays", function()
    local course = begin "twice"
    has(course:enter "double = nothing.there", "attempt to index a nil value (global 'nothing')")
    has(course:enter "double = = 2", "unexpected symbol")
    has(course:enter "error({})", "table")
    assert.equal(3, course.at)
  end)

  it("gives one more hint each time", function()
    local course = begin "twice"
    has(course:enter "hint", "Hint 1 of 2: Multiply.")
    has(course:enter "hint()", "Hint 2 of 2: By two.")
    has(course:enter "hint", "last hint")
    has(begin("hello"):enter "hint", "no hint")
  end)

  it("skips by showing and running the answer", function()
    local course = begin "twice"
    local said = course:enter "skip"
    has(said, "    double = 2 * total")
    assert.equal(12.0, course.env.double)
    assert.equal("skipped", course.record.done.twice)
    assert.equal(4, course.at)
  end)

  it("skips even after the learner broke the names that the answer rests on", function()
    local course = begin "twice"
    course:enter "total = nil"
    course:enter "data = 5"
    has(course:enter "skip", "the lesson's own are back")
    assert.equal(12.0, course.env.double)
    assert.equal(4, course.at)
  end)

  it("waits at code and exercises, until they are done", function()
    local course = begin "type"
    has(course:enter "next", "waits for its code")
    course:enter ""
    assert.equal(2, course.at)
    course:enter "skip"
    has(course:enter "next", "waits for an answer")
    course:enter "back"
    assert.equal(2, course.at)
    course:enter "next"
    assert.equal(3, course.at)
  end)

  it("lists the steps, goes to one, and repeats it", function()
    local course = begin "twice"
    course:enter "skip"
    local said = course:enter "where"
    has(said, " ~  3  twice")
    has(said, " >    4  picture")
    has(course:enter "goto value", "What is one and one?")
    has(course:enter "repeat", "What is one and one?")
    has(course:enter "goto nowhere", "no step 'nowhere'")
    has(course:enter "goto 1", "Welcome")
    has(course:enter "back", "first step")
    has(course:enter "help", "In a lesson")
  end)

  it("has the names of the steps before when it begins in the middle", function()
    assert.equal(6.0, begin("twice").env.total)
    assert.has_error(function() begin "nowhere" end, 'lesson: "sample" has no step "nowhere"; `where` lists them')
  end)

  it("goes on when a picture cannot be drawn", function()
    local steps = sample().steps
    steps[4].plot = function() error "no gnuplot" end
    local course = begin("picture", { steps = steps })
    has(course:enter "repeat", "(no picture:")
    course:enter ""
    assert.equal(5, course.at)
  end)

  it("leaves by leave and by quit, and takes nothing more for a command then", function()
    for _, word in ipairs { "leave", "quit", "leave()" } do
      local course = begin()
      has(course:enter(word), 'lesson "sample" goes on from here')
      assert.is_true(course.finished)
      assert.is_false(course:command "next")
    end
  end)

  it("keeps Lua's own words apart from commands", function()
    local course = begin "hello"
    has(course:enter "next({5})", "1\t5")
    has(course:enter "where(lt(1, 2), 3, 4)", "3")
    assert.equal(1, course.at)
  end)
end)

describe("the environment of a lesson", function()
  local attacks = {
    "math = nil", "string = nil pn = nil set = nil", "math.abs = nil", "string.format = nil", "table.concat = nil",
    "pn.set = 1", "pn.vec = nil", "pn.set.l1_ball = nil", "set.l1_ball = nil", "pn.solve.frank_wolfe.plan = nil",
    "getmetatable('').__index = nil", "getmetatable('').__add = error", "getmetatable(data).__index = nil",
    "getmetatable(pn.set).__index = nil",
    "setmetatable(_G, {__index = error})", "setmetatable(_G, nil)", "rawset(_G, 'type', 3) rawset(_G, 'pairs', 3)",
    "_G.print = 3 tostring = nil", "for k in pairs(_G) do _G[k] = nil end", "load('math.floor = nil')()",
    "require('math').floor = nil", "require('penumbra').mat = nil", "require('penumbra.core').mat = nil",
    "require('debug').sethook()", "require('_G').math.floor = nil",
    "debug.getregistry()", "io.write = nil io = nil", "io.output('/dev/null')", "os.exit(1)", "os.setlocale('C')",
    "collectgarbage('stop')",
    "coroutine.wrap = nil", "error = nil pcall = nil", "_ENV = {}", "local _ENV = {} x = 1", "string.rep = 1 utf8 = nil",
    "package.loaded.math.floor = nil", "dofile = nil load = nil", "pn.reference().vec = nil help = nil",
  }

  local function intact()
    assert.equal("1", ("%d"):format(1))
    assert.equal("function", type(math.floor))
    assert.equal("function", type(table.concat))
    assert.equal(6.0, pn.vec { 1, 2, 3 }:sum())
    assert.equal(1, pn.set.l1_ball { dim = 2 }.radius)
    assert.is_truthy(pn.solve.frank_wolfe.plan)
    assert.is_truthy(pn.mat)
  end

  for _, attack in ipairs(attacks) do
    it("keeps lesson and session whole after " .. attack, function()
      local course = begin "twice"
      course:enter(attack)
      intact()
      assert.equal(3, course.at)
      course:enter "reset"
      course:enter "double = 2 * total"
      assert.equal(4, course.at, attack)
      intact()
    end)

    it("lets the answer be skipped after " .. attack, function()
      local course = begin "twice"
      course:enter(attack)
      course:enter "skip"
      assert.equal(4, course.at, attack)
      intact()
    end)
  end

  it("checks with libraries that the learner cannot touch", function()
    local course = begin "twice"
    course:enter "math.abs = function() return 0 end"
    has(course:enter "double = 3", "double is off")
    course:enter "math = {abs = function() return 0 end}"
    has(course:enter "double = 4", "double is off")
    course:enter "double = setmetatable({}, {__sub = function() return 0 end, __lt = function() return true end})"
    assert.equal(3, course.at)
  end)

  it("does not let a check change the learner's values", function()
    local steps = sample().steps
    steps[3].check = function(env)
      env.data[1], env.list[1], env.total = 99, 99, 99
      return false, "no"
    end
    local course = begin("twice", { steps = steps })
    course:enter "list = {1}"
    course:enter "x = 1"
    assert.equal("1.0\t1\t6.0\n", course:enter "data[1], list[1], total")
  end)

  it("leaves no global behind in the session", function()
    local before = {}
    for name in pairs(_G) do before[name] = true end
    local course = begin "twice"
    course:enter "a_new_name = 1"
    course:enter "function another_name() end"
    for name in pairs(_G) do assert.is_true(before[name], name) end
  end)

  it("gives the lesson its own names back when a step is passed, and keeps the learner's", function()
    local course = begin "twice"
    course:enter "data = 5"
    course:enter "mine = 7"
    has(course:enter "double = 12", "(the lesson's own again: data)")
    assert.equal(3, #course.env.data)
    assert.equal(7, course.env.mine)
  end)

  it("mends libraries from one step to the next", function()
    local course = begin "twice"
    course:enter "pn.vec, math.floor = nil, nil"
    course:enter "double = 12"
    assert.equal("3.0\t2\n", course:enter "pn.vec{1, 2}:sum(), math.floor(2.5)")
  end)

  it("shows a library and asks help as the session does", function()
    local course = begin "twice"
    has(course:enter "pn.rng", "library rng: secure, seeded")
    has(course:enter "help(pn.rng.seeded)", "pn.rng.seeded(seed) -> rng")
    has(course:enter "help 'rng.seeded'", "pn.rng.seeded(seed) -> rng")
    has(course:enter "lesson 'gaussian'", "a lesson is running")
  end)
end)

describe("reset and play", function()
  it("reset gives back the names as the step began with them", function()
    local course = begin "twice"
    course:enter "data[1] = 50 total = 1 mine = 2"
    has(course:enter "reset", "as it was when this step began")
    assert.equal("1.0\t6.0\tnil\n", course:enter "data[1], total, mine")
    course:enter "data[2] = 60"
    course:enter "reset"
    assert.equal("2.0\n", course:enter "data[2]")
  end)

  it("reset gives back a ledger as it was, made anew", function()
    local steps = sample().steps
    steps[2] = { id = "type", text = "Open one.", defines = { "L" },
      code = "L = pn.ledger{epsilon=2}\nL:spend(event.pure{epsilon=0.5})" }
    local course = begin("twice", { steps = steps })
    course:enter "L:spend(event.pure{epsilon=1})"
    assert.equal("0.5\n", course:enter "L.remaining")
    course:enter "reset"
    assert.equal("1.5\n", course:enter "L.remaining")
  end)

  it("reset lesson starts over, with nothing done", function()
    local course = begin "twice"
    course:enter "skip"
    course:enter "reset lesson"
    assert.equal(1, course.at)
    assert.same({}, course.record.done)
    assert.is_nil(course.env.total)
  end)

  it("play is a copy from which nothing comes back", function()
    local course = begin "twice"
    course:enter "list = {inner = {1}}"
    course:enter "function bump() total = total + 1 end"
    course:enter "play"
    assert.equal("sample play> ", course:prompt())
    course:enter "data[1] = 99 list.inner[1] = 99 total = 99 new = 1 double = 12 bump()"
    course:enter "math.floor = nil"
    assert.equal("99.0\t100\n", course:enter "data[1], total")
    has(course:enter "skip", "You are playing")
    course:enter "back"
    assert.equal("sample 3/5> ", course:prompt())
    assert.equal("1.0\t1\t6.0\tnil\tnil\t2\n", course:enter "print(data[1], list.inner[1], total, new, double, math.floor(2))")
  end)

  it("play spends from a ledger of its own", function()
    local steps = sample().steps
    steps[2] = { id = "type", text = "Open one.", code = "L = pn.ledger{epsilon=2}", defines = { "L" } }
    local course = begin("twice", { steps = steps })
    course:enter "L:spend(event.pure{epsilon=0.5})"
    course:enter "play"
    course:enter "L:spend(event.pure{epsilon=1})"
    assert.equal("0.5\n", course:enter "L.remaining")
    course:enter "done"
    assert.equal("1.5\n", course:enter "L.remaining")
  end)

  it("leaves from within play with the place kept", function()
    local course = begin "twice"
    course:enter "play"
    course:enter "leave"
    assert.is_true(course.finished)
    assert.equal("twice", course.record.at)
  end)
end)
