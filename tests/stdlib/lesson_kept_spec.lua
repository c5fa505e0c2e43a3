-- Progress between sessions, lessons in the program, and what is said of a lesson that is not well made.
local lesson = require "penumbra.lesson"
local files = require "penumbra.lesson.files"
local progress = require "penumbra.lesson.progress"
local program = require "tests.tools.program"
local shared = require "tests.tools.lesson_sample"

local sample, begin, has, lacks = shared.sample, shared.begin, shared.has, shared.lacks

describe("progress", function()
  local path

  before_each(function()
    path = os.tmpname()
    os.remove(path)
  end)

  after_each(function() os.remove(path) end)

  it("is kept between sessions: where one is and how each step was passed", function()
    local course = begin("twice", nil, { path = path })
    course:enter "skip"
    course:enter "leave"
    local again, said = begin(nil, nil, { path = path })
    assert.equal(4, again.at)
    has(said, "on with step 4 of 5")
    assert.equal(12.0, again.env.double)
    assert.equal("skipped", progress.read(path).sample.done.twice)
  end)

  it("survives new steps, as they go by their ids", function()
    begin("twice", nil, { path = path }):enter "skip"
    local steps = sample().steps
    table.insert(steps, 1, { id = "new", text = "New." })
    local course = begin(nil, { steps = steps }, { path = path })
    assert.equal("picture", course:step().id)
    assert.equal("skipped", course.record.done.twice)
  end)

  it("starts at the beginning when the step is gone or the lesson was finished", function()
    progress.write(path, "sample", { at = "gone", done = { hello = "done" } })
    assert.equal(1, begin(nil, nil, { path = path }).at)
    local course = begin("value", nil, { path = path })
    course:enter "1 + 1"
    assert.is_nil(progress.read(path).sample.at)
  end)

  it("leaves other lessons' lines as they are", function()
    progress.write(path, "other", { at = "here", done = { x = "done" } })
    begin("twice", nil, { path = path })
    assert.same({ at = "here", done = { x = "done" } }, progress.read(path).other)
  end)

  it("reads what it can of a broken file and goes on", function()
    program.write_all(path, "\0\255 done sample\ndone sample hello\nat sample\nmad sample x\ndone  sample type\n")
    local course = begin(nil, nil, { path = path })
    assert.same({ hello = "done" }, course.record.done)
    course:enter "next"
    assert.equal("done", progress.read(path).sample.done.hello)
  end)

  it("reads a million bytes without the end of a line", function() -- in milliseconds; an hour where that is quadratic
    program.write_all(path, "done sample hello\n" .. ("a"):rep(1000000))
    assert.same({ hello = "done" }, progress.read(path).sample.done)
  end)

  it("says once that nothing can be written, and goes on", function()
    local course, said = begin(nil, nil, { path = "/proc/nowhere/lessons" })
    has(said, "progress is not kept")
    lacks(course:enter "", "progress is not kept")
    assert.equal(2, course.at)
  end)

  it("makes the folder that is missing, and leaves nothing beside the file", function()
    local folder = path .. ".d"
    assert.is_true(progress.write(folder .. "/a b/lessons", "sample", { done = { hello = "done" } }))
    local listed = program.shell("ls '" .. folder .. "/a b'")
    assert.equal("lessons\n", listed)
    program.shell("rm -r '" .. folder .. "'")
  end)

  it("is where PENUMBRA_PROGRESS, XDG_DATA_HOME or HOME say", function()
    local function told(settings)
      local clean, code = "env -u PENUMBRA_PROGRESS -u XDG_DATA_HOME", "print(require'penumbra.lesson.progress'.path())"
      return (program.shell(("%s %s %s -e %s"):format(clean, settings, program.quote(program.path), program.quote(code))))
    end
    assert.equal("/a\n", told "PENUMBRA_PROGRESS=/a")
    assert.equal("nil\n", told "PENUMBRA_PROGRESS=")
    assert.equal("/b/penumbra/lessons\n", told "XDG_DATA_HOME=/b")
    assert.equal("/c/.local/share/penumbra/lessons\n", told "HOME=/c")
  end)
end)

describe("lesson()", function()
  local function run(input, words)
    local command = "PENUMBRA_PROGRESS= exec " .. program.quote(program.path) .. " " .. (words or "-i")
    local out, err, code = program.shell(command, input)
    return out .. err, code
  end

  it("lists every lesson with its number, length and progress", function()
    local out = run 'lesson()\n'
    for i, one in ipairs(files.all()) do
      has(out, ("%2d  %s "):format(i, one.name))
      has(out, ("%d min %6s"):format(one.minutes, "0/" .. #one.steps))
    end
    for line in out:gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= 80, line) end
    assert.is_true(select(2, out:gsub("\n", "")) < 24)
  end)

  it("names whose work a lesson is where it begins", function()
    has(run 'lesson "saddle_points"\n', "From: Gao, Wright")
  end)

  it("says what to do where a script has been read from the input of the lesson", function()
    local out, code = run('lesson "neighbours"\n', "")
    has(out, "To pipe the entries of a lesson in, run `penumbra -i`.")
    assert.equal(0, code)
  end)

  it("is a mode of the prompt: commands, Lua, and back to the session", function()
    local out = run 'lesson "neighbours"\n\nrepeat\nbefore = pay:sum() / #pay\nwhere\nleave\nbefore, 6 * 7\n'
    has(out, "2 of 15: mean")
    has(out, "3 of 15: difference")
    has(out, "nil\t42")
  end)

  it("leaves at the end of the input", function()
    local out, code = run 'lesson(2)\n'
    has(out, "1 of 14: weak")
    assert.equal(0, code)
  end)

  it("stops at Ctrl-C with the lesson where it was, and leaves by Ctrl-D", function()
    local out, code = program.play([[
expect pn>
send lesson "gaussian"\n
expect gaussian 1/14>
send one = noisy_mean()\n
expect gaussian 2/14>
send while true do io.write("x") end\n
expect xxxx
send \x03
expect gaussian 2/14>
send play\n
expect gaussian play>
send \x04
expect goes on from here
expect pn>
send \x04
]], "env PENUMBRA_PROGRESS= NO_COLOR=1 " .. program.prompt())
    assert.equal(0, code, out)
  end)

  it("paints headings and code where colour is wanted", function()
    local out = program.shell("PENUMBRA_PROGRESS= PENUMBRA_COLOR=always exec " .. program.quote(program.path) .. " -i",
      'lesson "neighbours"\n\n')
    has(out, "\27[1m-- 2 of 15: mean")
    has(out, "\27[34mbefore = pay:sum() / #pay\27[0m")
    lacks(out, "`")
  end)

  it("reads stdin itself where there is no prompt", function()
    local out = run("\nbefore = pay:sum() /\n#pay\nhint\n", "-e 'lesson \"neighbours\"'")
    has(out, "neighbours 2/15> ")
    has(out, "Hint 1 of 2")
  end)

  it("starts at a step, and says what it does not know", function()
    has(run 'lesson("gaussian", "rules")\n', "8 of 14: rules")
    has(run 'lesson("gaussian", "nowhere")\n', 'has no step "nowhere"')
    has(run 'lesson "gausian"\n', 'did you mean "gaussian"?')
    has(run 'lesson {}\n', "expected the name or number of a lesson, got table")
    has(run 'lesson(99)\n', 'no lesson "99"')
  end)
end)

describe("lesson.check", function()
  local function told(change)
    local made = sample()
    change(made, made.steps)
    local fine, problems = lesson.check(made)
    assert.is_nil(fine)
    return problems
  end

  it("passes a lesson that is well made, and try plays it", function()
    assert.is_true(lesson.check(sample()))
    assert.is_true(lesson.try(sample()))
  end)

  it("names what is missing or wrong", function()
    has(told(function(made) made.source = nil end), "`source` is missing")
    has(told(function(made) made.level = 3 end), "'level' is not a field of it")
    has(told(function(_, steps) steps[2].id = "hello" end), "step 2: the id 'hello' is step 1's, too")
    has(told(function(_, steps) steps[2].id = "Two Words" end), "step 2: `id` should be a word")
    has(told(function(_, steps) steps[3].hint = nil end), "step 3 (twice): an exercise needs `hint`")
    has(told(function(_, steps) steps[3].wrong = {} end), "at least one wrong answer")
    has(told(function(_, steps) steps[3].check = nil end), "an exercise needs `check`")
    has(told(function(_, steps) steps[3].answer = "double =" end), "its answer does not compile")
    has(told(function(_, steps) steps[1].text = ("x"):rep(79) end), "line 1 has 79 columns, more than 78")
    has(told(function(_, steps) steps[1].text = "\255" end), "not UTF-8")
    has(told(function(_, steps) steps[3].hint[2] = "By `two." end), "step 3 (twice): a ` is opened and not closed")
    has(told(function(_, steps) steps[1].text = ("x\n"):rep(21) .. "x" end), "1 lines higher than a screen of 24")
    has(told(function(_, steps) steps[4].text = ("x\n"):rep(8) .. "x" end), "1 lines higher than a screen of 24, with 13 for")
    has(told(function(_, steps) steps[4].plot = nil end), "it has no picture")
    has(told(function(_, steps) steps[3] = nil; steps[4] = nil; steps[5] = nil end), "it has no exercise")
    has(told(function(_, steps) steps[2] = 5 end), "step 2 should be a table")
    has(select(2, lesson.check "nowhere.lua"), "nowhere.lua")
  end)

  it("tells when an answer does not pass, a wrong one does, a reason is missing or tells", function()
    local function tried(change)
      local made = sample()
      change(made.steps)
      return select(2, lesson.try(made))
    end
    has(tried(function(steps) steps[3].answer = "double = 5" end), "its answer does not pass")
    has(tried(function(steps) steps[3].wrong = { "double = 12" } end), "the wrong answer passes: double = 12")
    local function telling(env) return env.double == 12, "Try double = 2 * total" end
    has(tried(function(steps) steps[3].check = telling end), "tells the answer")
    has(tried(function(steps) steps[4].plot = function() error "x" end end), "no picture")
    has(tried(function(steps) steps[3].wrong = { "double = = 1" } end), "does not compile")
    has(tried(function(steps) steps[2].defines = { "total", "data" } end), "its code leaves data as it was")
  end)
end)
