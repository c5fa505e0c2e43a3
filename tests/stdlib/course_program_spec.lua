-- The program `penumbra course`, with classes of simulated learners.
local class = require "tests.tools.course_class"
local files = require "penumbra.lesson.files"
local program = require "tests.tools.program"
local submission = require "penumbra.course.submission"
local tier = require "tests.tools.tier"

local function has(text, part)
  assert.truthy(text:find(part, 1, true), ("no '%s' in:\n%s"):format(part, text))
end

local function course(words, input)
  return program.shell("PENUMBRA_PROGRESS= exec " .. program.quote(program.path) .. " course " .. words, input)
end

local function copy(list)
  return table.move(list, 1, #list, 1, {})
end

-- Entries that are marked right, and are not.
local function forged(name)
  local entries = class.entries(name)
  for k, entry in ipairs(entries) do
    local step = files.find(name).steps[k // 2]
    if entry[1] == "right" and step and step.wrong then entries[k] = { "right", name, step.id, step.wrong[1] } end
  end
  return entries
end

describe("penumbra course new", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
  end)

  after_each(function() class.remove(folder) end)

  it("writes a course that can be checked and played at once, its own lesson and budget too", function()
    local out, err, code = course(("new '%s' --title 'The \"first\" course'"):format(folder))
    assert.equal(0, code, err)
    has(out, ("wrote %s/course.lua"):format(folder))
    local text = program.read_all(folder .. "/course.lua")
    has(text, [[title = "The \"first\" course"]])
    program.write_all(folder .. "/course.lua", (text:gsub("%-%- ({ \"lessons/first.lua\" })", "%1"):gsub("%-%- (budget =)", "%1")))
    out, err, code = course(("check '%s'"):format(folder))
    assert.equal(0, code, err)
    has(out, [[The "first" course]])
    has(out, " 1  neighbours         10 steps to pass\n")
    has(out, " 4  first               3 steps to pass\n")
    local fine, problems = require "penumbra.lesson".check(folder .. "/lessons/first.lua")
    assert.is_true(fine, problems)
  end)

  it("refuses a folder that is not empty, and a file, and writes nothing there", function()
    program.shell(("mkdir '%s' && touch '%s/mine'"):format(folder, folder))
    local _, err, code = course(("new '%s'"):format(folder))
    assert.equal(1, code)
    has(err, folder .. " is not empty")
    assert.equal("mine\n", (program.shell(("ls -A '%s'"):format(folder))))
    _, err, code = course(("new '%s/mine'"):format(folder))
    assert.equal(1, code)
    has(err, "is a file; a course needs a folder")
    assert.equal("", program.read_all(folder .. "/mine"))
  end)

  it("explains itself, and says what is wrong with the command line", function()
    local out, _, code = course "--help"
    assert.equal(0, code)
    has(out, "usage: penumbra course new DIR")
    for words, why in pairs {
      [""] = "expected new, check, play or grade", ["mark x"] = "unknown word 'mark'",
      ["new"] = "expected the folder of the course", ["grade x"] = "expected a submission or several",
      ["new x y"] = "unexpected word 'y'", ["new x --out y"] = "new takes no --out", ["play x --name"] = "a value is missing",
      ["grade x y --seconds 0"] = "--seconds takes a whole number from 1 to 3600, got '0'",
    } do
      local list = { "course" }
      for word in words:gmatch "%S+" do list[#list + 1] = word end
      local _, err, status = program.call(list)
      assert.equal(2, status, words)
      has(err, why)
    end
  end)
end)

describe("course.lua", function()
  local function told(text)
    local folder = class.course '"neighbours"'
    if text then program.write_all(folder .. "/course.lua", text) else os.remove(folder .. "/course.lua") end
    local out, err, code = program.call { "course", "check", folder }
    class.remove(folder)
    assert.equal(1, code, out)
    return err
  end

  it("is data: what is wrong is said with its place and value, and nothing else happens", function()
    has(told(), "course.lua is not there; `penumbra course new")
    has(told 'lessons = {"neighbours"}\nid = "x"', "field 'title' is missing")
    local function lessons(text) return told(('title, id = "T", "x"\nlessons = {%s}'):format(text)) end
    has(lessons "", "lessons is empty")
    has(lessons '"neighbors"', 'did you mean "neighbours"?')
    has(lessons '"neighbours", {"neighbours"}', "its name, 'neighbours', is that of lessons[1], too")
    has(lessons '{"neighbours", due="next week"}', "lessons[1]: due: expected a day or a minute")
    has(lessons '{"neighbours", due="2026-02-30"}', "there is no such day or time: '2026-02-30'")
    has(lessons '{"neighbours", until_="x"}', "unknown field 'until_'")
    has(lessons '"/etc/passwd.lua"', "must lie in the folder of the course")
    has(lessons '"lessons/../../x.lua"', "must lie in the folder of the course")
    has(lessons '"lessons/none.lua"', "none.lua")
    has(lessons "5", "expected a name or")
    has(told 'title, id, lessons = "T", "x", {"lua"}\nbudget = {epsilon=1}', "field 'slice' is missing")
    has(told 'title, id, lessons = "T", "a b", {"lua"}', "id must be letters, digits and -, got 'a b'")
    has(told 'os.execute "true"', "it is data")
    has(told "while true do end", "million steps")
    has(told "title = ", "course.lua, line 1: ")
  end)
end)

describe("penumbra course play", function()
  local folder = class.course '{"gaussian", due="2026-12-08"}, "neighbours"'
  local file = folder .. "/submission.txt"
  teardown(function() class.remove(folder) end)

  it("asks for a name first, and refuses one that is none", function()
    local _, err, code = course(("play '%s'"):format(folder))
    assert.equal(1, code)
    has(err, '--name "YOUR NAME" begins it')
    _, err = course(("play '%s' --name 'a\tb'"):format(folder))
    has(err, "--name: a name is UTF-8 without control characters")
    assert.is_nil(io.open(file))
  end)

  it("has the lessons of the course, in its order, and keeps what is typed in them", function()
    local out, err, code = course(("play '%s' --name 'Ada'"):format(folder),
      'lesson "lua"\nlesson(2)\n\nbefore = pay:sum() / #pay\ndana = 5\nplay\nx = 1\nback\nskip\nleave\nbefore\n')
    assert.equal(0, code, err)
    has(out, " 1  gaussian")
    has(out, "    due 2026-12-08")
    has(out, " 2  neighbours")
    has(out .. err, "this course has no lesson 'lua'; it has gaussian, neighbours")
    local kinds = {}
    for _, entry in ipairs(submission.read(file).entries) do kinds[#kinds + 1] = entry.kind .. " " .. entry.step end
    assert.equal("begin table, read table, at mean, right mean, at difference, typed difference, skipped difference, at pays",
      (table.concat(kinds, ", "):gsub("at %w[%w-]*$", "at pays")))
    out = course(("play '%s'"):format(folder), 'lesson "neighbours"\nleave\n')
    has(out, "2  neighbours         What a neighbour is                       10 min   3/15")
    has(out, "on with step 4 of 15")
  end)

  it("goes on with nobody else's, with none of another course and with none that was edited", function()
    local _, err, code = course(("play '%s' --name Eve"):format(folder))
    assert.equal(1, code)
    has(err, "it is the work of Ada")
    local other = class.course '"lua"'
    program.write_all(other .. "/a", class.text("Ada", {}, "b0b"))
    _, err = course(("play '%s' --file '%s/a'"):format(other, other))
    has(err, "it belongs to another course (b0b), not to this one (c0ffee)")
    program.write_all(other .. "/b", (class.text("Ada", class.entries "lua"):gsub("name Ada", "name Eve")))
    _, err = course(("play '%s' --file '%s/b'"):format(other, other))
    has(err, "it was edited")
    class.remove(other)
  end)
end)

describe("penumbra course grade", function()
  it("passes what passes again, and finds an edited file, a forged one, a copied one and an endless loop", function()
    local folder = class.course '{"neighbours", due="2026-11-30 00:58 Z"}, "lua"' -- after the first answer of the first lesson
    local ada, lua = class.entries "neighbours", class.entries("lua", 6, true)
    table.move(lua, 1, #lua, #ada + 1, ada)
    local whole = class.text("Ada", ada)
    local looped = class.entries "lua"
    table.insert(looped, 4, { "typed", "lua", looped[4][3], "while true do end" })
    table.insert(looped, 5, { "typed", "lua", looped[4][3], "full = 'x' while true do full = full .. full end" })
    local rows, out, err, code = class.grade(folder, {
      ada = whole,
      copied = whole:gsub("name Ada", "name Eve"),
      edited = class.text("Mallory", class.entries("lua", 6, true)):gsub("\ntyped", "\nright"),
      forged = class.text("Trent", forged "neighbours"),
      looped = class.text("Oscar", looped),
    }, ("--seconds %d --memory 32"):format(tier.draws(3, 8))) -- what passes takes up to a second under sanitizers
    assert.equal(0, code, err)
    assert.same({ passed = ada.passes, steps = ada.passes, late = ada.passes - 1, remark = "" }, rows["Ada neighbours"])
    assert.equal(lua.passes, rows["Ada lua"].passed)
    assert.equal("the same file as that of Eve, with another name", rows["Ada total"].remark)
    has(rows["Eve total"].remark, "EDITED: its head (course, name, nonce) was changed;")
    has(rows["Eve total"].remark, "the same file as that of Ada, with another name")
    has(rows["Mallory total"].remark, "EDITED: line ")
    assert.equal(lua.passes, rows["Mallory lua"].passed)
    has(rows["Trent neighbours"].remark, "MARKED RIGHT BUT FAILS: ")
    assert.is_true(rows["Trent total"].passed < ada.passes)
    has(rows["Trent total"].remark, "MARKED RIGHT BUT FAILS: ")
    local step = looped[4][3]
    has(rows["Oscar lua"].remark, ("stopped, took too long: %s; stopped, took too much memory: %s"):format(step, step))
    assert.is_nil(rows["Oscar lua"].remark:find "MARKED")
    assert.equal(rows["Ada lua"].steps, rows["Oscar lua"].passed, out) -- all but the loop count
    class.remove(folder)
  end)

  it("never lets an answer touch a file, start a program, or reach what judges it", function()
    local folder = class.course '"neighbours"'
    local entries = class.entries("neighbours", 2)
    local victim, made = folder .. "/victim", folder .. "/made"
    program.write_all(victim, "still here")
    for _, text in ipairs {
      "os.remove(%q)", "f = io.open(%q, 'w')", "dofile(%q)", "pn.ledger{epsilon=1, path=%q .. 'l'}", "pn.vec{1}:save(%q)",
      "pn.experiment{grid={a={1}}, path=%q, run=function() return {x=1} end}", "plot.line({{x={1}, y={1}}}, {file=%q .. '.svg'})",
      "require('_G').os.execute('touch ' .. %q)", "require('debug').sethook()", "io.popen('touch ' .. %q)", "os.exit(0)",
      "setmetatable({}, {__gc=function() error 'x' end}) collectgarbage()", "error(setmetatable({}, {__tostring=error}))",
    } do
      for _, path in ipairs { victim, made } do
        table.insert(entries, #entries, { "typed", "neighbours", "mean", (text:gsub("%%q", ("%q"):format(path))) })
      end
    end
    local rows = class.grade(folder, { x = class.text("Ada", entries) })
    assert.same({ passed = 1, steps = 10, late = 0, remark = "" }, rows["Ada neighbours"])
    assert.equal("still here", program.read_all(victim))
    assert.equal("course.lua\nlessons\nvictim\nx.txt\n", (program.shell(("ls -A '%s'"):format(folder))))
    class.remove(folder)
  end)

  it("grades the others where a file is none, and says so in the row, on stderr and by its status", function()
    local folder = class.course '"lua"'
    local good = class.text("=1+1 \27[31m,\"x\"/../", class.entries("lua", 4))
    program.shell(("truncate -s 100M '%s/large'"):format(folder))
    local rows, out, err, code = class.grade(folder, {
      good = good, none = "hello\n", cut = good:sub(1, 60), other = class.text("Bob", {}, "b0b"),
      half = class.text("Half", class.entries("lua", 4)):sub(1, -8),
    }, ("%s/large %s/missing /tmp"):format(folder, folder))
    assert.equal(1, code)
    has(out, [["'=1+1 \x1b[31m,""x""/../",total,4,14,0,]])
    for name, why in pairs {
      none = "it is not a submission: its first line is not", cut = "cut off", large = "more than 4 megabytes",
      missing = "No such file", other = "it belongs to another course (b0b), not to this one (c0ffee)",
    } do
      local row = out:match("[^\n]*/" .. name .. "[^\n]*")
      has(row, "NOT GRADED")
      has(row, why)
      has(err, why)
    end
    has(rows["Half total"].remark, "is cut off")
    assert.is_nil(out:find("\27", 1, true) or err:find("\27", 1, true))
    class.remove(folder)
  end)

  it("writes --out whole or not at all, and looks before it works whether it can", function()
    local folder = class.course '"lua"'
    local text, words = class.text("Ada", class.entries("lua", 2)), ("--out '%s/out.csv'"):format(folder)
    local _, out, err, code = class.grade(folder, { a = text }, words)
    assert.equal(0, code, err)
    assert.equal(("wrote %s/out.csv: 1 learners\n"):format(folder), out)
    has(program.read_all(folder .. "/out.csv"), "name,lesson,passed,steps,late,remark\nAda,lua,2,14,0,\nAda,total,2,14,0,\n")
    _, _, err, code = class.grade(folder, { a = class.text("Ada", {}) }, "--out /proc/nowhere/x.csv")
    assert.equal(1, code)
    has(err, "/proc/nowhere/x.csv")
    class.remove(folder)
  end)

  it("remarks on learners who share longer entries of their own, and on nobody who types what lessons show", function()
    local folder = class.course '"lua"'
    local own = class.entries("lua", 4)
    local mine = copy(own)
    for k = 1, 4 do
      local text = ("-- a thought of mine that nobody shares\nmy_note_%d = %d"):format(k, k)
      table.insert(mine, 4, { "typed", "lua", own[4][3], text })
    end
    local rows = class.grade(folder, { a = class.text("Ada", mine), b = class.text("Bob", mine), c = class.text("Carl", own),
      d = class.text("Dora", own) })
    assert.equal("Bob has 4 of the longer entries, too", rows["Ada total"].remark)
    assert.equal("Ada has 4 of the longer entries, too", rows["Bob total"].remark)
    assert.equal("", rows["Carl total"].remark)
    assert.equal("", rows["Dora total"].remark)
    class.remove(folder)
  end)

  it("tells files with one name apart by their paths", function()
    local folder = class.course '"lua"'
    local text = class.text("Ada", class.entries("lua", 2))
    local _, out = class.grade(folder, { a = text, b = text, c = class.text("Ada", {}) })
    for _, name in ipairs { "a", "b" } do has(out, ("handed in twice: also as %s/%s.txt"):format(folder, name)) end
    has(out, ("another submission has this name: %s/c.txt"):format(folder))
    class.remove(folder)
  end)

  it("names the steps that it cannot grade, and leaves them out", function()
    local folder = class.course '"csv_model", "lua"'
    local rows, _, err = class.grade(folder, { a = class.text("Ada", class.entries("lua", 2)) })
    has(err, "csv_model: not graded, as the lesson's own answers fail where no file may be opened: "
      .. "file bounds model predict evaluate card\n")
    assert.equal(7, rows["Ada csv_model"].steps)
    class.remove(folder)
  end)

  tier.it(it, false)("grades a class of thirty and finds the two who cheat", function()
    local names = { "neighbours", "gaussian", "composition", "floating_point", "local_privacy" }
    local folder = class.course('{"' .. table.concat(names, '", due="2026-12-08 18:00 Z"}, {"') .. '", due="2026-12-08 18:00 Z"}')
    local texts, expected = {}, {}
    for k = 1, 28 do
      local entries, passes = {}, 0
      for i, name in ipairs(names) do
        local some = class.entries(name, (7 * k + 3 * i) % 14 + 2, k % 3 == 0)
        table.move(some, 1, #some, #entries + 1, entries)
        passes = passes + some.passes
      end
      expected["Learner " .. k] = passes
      texts["l" .. k] = class.text("Learner " .. k, entries, nil, class.begun + 3600 * k)
    end
    texts.edited = class.text("Mallory", class.entries("gaussian", nil, true)):gsub("\ntyped", "\nright")
    texts.forged = class.text("Trent", forged "composition")
    local rows, out, err, code = class.grade(folder, texts)
    assert.equal(0, code, err)
    local remarks = 0
    for key, row in pairs(rows) do
      local who = key:match "^(.*) total$"
      if who and row.remark ~= "" then remarks = remarks + 1 end
      if who and expected[who] then
        assert.equal(expected[who], row.passed, out)
        assert.equal(0, row.late)
      end
    end
    assert.equal(2, remarks, out)
    has(rows["Mallory total"].remark, "EDITED")
    has(rows["Trent total"].remark, "MARKED RIGHT BUT FAILS")
    class.remove(folder)
  end)
end)
