-- lesson_export_spec.lua -- lessons as notebooks, whose exercises are judged as their cells run, and as handouts.
local pn = require "penumbra"
local files = require "penumbra.lesson.files"
local program = require "tests.tools.program"
local shared = require "tests.tools.lesson_sample"
local tier = require "tests.tools.tier"

local sample, has, lacks = shared.sample, shared.has, shared.lacks

describe("a lesson in a notebook", function()
  local live, prompt = require "penumbra.lesson.live", require "penumbra.prompt"
  local report, failed = prompt.report, nil

  -- What a cell writes, and the message of its error.
  local function cell(text)
    failed = nil
    local written = program.capture(function()
      local run = prompt.begin(text)
      if run then prompt.finish(pcall(run)) end
    end)
    return written, failed
  end

  before_each(function()
    prompt.opened(false)
    prompt.report = function(text) failed = text end
    program.capture(function() live.open(sample(), prompt, function() error "again" end) end)
  end)
  after_each(function()
    prompt.pop_mode()
    prompt.report, prompt.terminal = report, nil
  end)

  it("judges a cell by the names as it leaves them, in any order and again", function()
    has(cell "-- Exercise: twice\ndouble = 2 * total", "")
    has(failed, "nil value (global 'total')")
    has(cell "lesson.check()", "0 of 2 exercises are right; not yet right: twice; open: value.")
    cell "total = data:sum()"
    has(cell "-- Exercise: value\n1 + 2", "Not yet: not two.")
    has(cell "-- Exercise: value\n1 + 1", "Right.")
    has(cell "-- Exercise: twice\ndouble = 3", "Not yet: double is off.")
    has(cell "-- Exercise: twice\ndouble = 2 * total", "Right.")
    has(cell "lesson.check()", "All 2 exercises are right.")
    has(cell "-- Exercise: twice\ndouble = 'x'", "Not yet: that is not of the kind")
    has(cell "lesson.check()", "1 of 2 exercises are right; not yet right: twice.")
  end)

  it("takes an empty cell for an open exercise, whatever the names are", function()
    cell "double = 12"
    for _, text in ipairs { "-- Exercise: twice\n", "  -- exercise: twice\n-- double = 12\n--[[ double\n= 12 ]]\n" } do
      local said = cell(text)
      has(said, 'Exercise "twice" is open')
      lacks(said, "Right")
    end
    has(cell "lesson.check()", "0 of 2 exercises are right; open: twice, value.")
    has(cell "lesson.check 'twice'", "Right.")
    has(cell "lesson.check 'value'", "Not yet: not two.")
  end)

  it("takes no cell that failed for right, unless it set what was asked for before", function()
    cell "double = 12"
    lacks(cell "-- Exercise: twice\ndouble = nosuch()", "Right")
    lacks(cell "-- Exercise: twice\ndouble = = 12", "Right")
    has(failed, "unexpected symbol")
    has(cell "-- Exercise: twice\ndouble = 12 + 1e-10 error 'late'", "Right.")
    assert.is_nil(failed)
  end)

  it("gives hints, answers and pictures, and keeps its checks from what cells change", function()
    has(cell "lesson.hint 'twice'", "Hint 1 of 2: Multiply.")
    has(cell "lesson.hint 'twice'", "Hint 2 of 2: By two.")
    has(cell "lesson.hint 'twice'", "Hint 1 of 2: Multiply.")
    has(cell "lesson.picture 'picture'", "[a picture]")
    cell "total = data:sum() math.abs = function() return 0 end"
    has(cell "-- Exercise: twice\ndouble = 11", "Not yet: double is off.")
    local said = cell "lesson.skip 'twice'"
    has(said, "    double = 2 * total")
    has(said, "Right.")
    has(cell "lesson.check()", "0 of 2 exercises are right; skipped: twice; open: value.")
    cell "lesson.hint 'nosuch'"
    has(failed, 'lesson.hint: expected the name of an exercise (twice, value), got "nosuch"')
    cell "lesson.picture(7)"
    has(failed, "lesson.picture: expected the name of a picture (picture), got number")
    has(cell "-- Exercise: nosuch\nx = 1", '(this lesson has no exercise "nosuch"')
  end)

  it("has names of its own, and starts over when it is opened again", function()
    cell "-- Exercise: value\n1 + 1"
    cell "mine = 1"
    assert.is_nil(rawget(_G, "mine"))
    program.capture(function() live.open(sample(), prompt, function() end) end)
    has(cell "lesson.check()", "0 of 2 exercises are right; open: twice, value.")
    has(cell "print(mine)", "nil")
    prompt.pop_mode()
    assert.is_nil(prompt.mode()) -- the first one is gone
    program.capture(function() live.open(sample(), prompt, function() end) end)
  end)

  it("is refused where nothing reads entries", function()
    prompt.terminal = nil
    assert.has_error(function() pn.lesson("gaussian", { notebook = true }) end,
      "lesson: {notebook = true} is for notebooks, and no notebook or prompt runs here")
    assert.has_error(function() pn.lesson("gaussian", {}) end, "lesson: in a notebook expected lesson(NAME, {notebook = true})")
  end)
end)

describe("penumbra lesson export", function()
  local place
  before_each(function()
    place = os.tmpname()
    os.remove(place)
    program.shell("mkdir " .. place)
  end)
  after_each(function() program.shell("rm -rf " .. place) end)

  local function export(words)
    local out, err, code = program.run { "lesson", "export", table.unpack(words) }
    assert.equal(0, code, out .. err)
    return out
  end

  -- A Python with the packages of Jupyter.
  local function python()
    for _, name in ipairs { "python3", "/usr/bin/python3" } do
      if select(3, program.shell(name .. " -c 'import nbclient'")) == 0 then return name end
    end
    error "install python3-nbclient"
  end

  -- The cells of notebooks after a run: {name of the notebook = {id = {state=, kinds=, text=}}}.
  local function run_notebooks(paths)
    program.run { "kernel", "--install", "--prefix", place }
    local out, err, code = program.shell(("JUPYTER_PATH=%s/share/jupyter %s tests/tools/run_notebooks.py %s"):format(place,
      python(), table.concat(paths, " ")))
    assert.equal(0, code, err)
    local books, name = {}, nil
    for row in out:gmatch "[^\n]+" do
      local id, state, kinds, text = row:match "^([^\t]+)\t([^\t]+)\t([^\t]*)\t(.*)$"
      if id then
        books[name][id] = { state = state, kinds = kinds, text = text }
      else
        name = row:match "^notebook%s.*/([^/]+)%.ipynb$"
        books[name] = {}
      end
    end
    return books
  end

  -- A notebook of answers ran to its end, every exercise right.
  local function is_done(book, lesson)
    local exercises = 0
    for _, step in ipairs(lesson.steps) do
      if step.ask then
        exercises = exercises + 1
        has(book["answer-" .. step.id].text, "Right.")
      elseif step.code then
        assert.truthy(book["code-" .. step.id], step.id)
      end
      if step.plot then has(book["picture-" .. step.id].kinds, "image/svg+xml") end
    end
    for id, cell in pairs(book) do assert.equal("ok", cell.state, lesson.name .. ", " .. id .. ": " .. cell.text) end
    assert.equal(("All %d exercises are right."):format(exercises), book.check.text)
  end

  tier.law(it)("makes notebooks that run: answered to the end, all right, and empty with their exercises open", function()
    local paths = {}
    for k, name in ipairs { "neighbours", "gaussian", "composition" } do
      paths[k] = ("%s/%s.ipynb"):format(place, name)
      export { name, "--answers", "-o", paths[k] }
    end
    paths[4] = place .. "/learner.ipynb"
    export { "gaussian", "-o", paths[4] }
    local books = run_notebooks(paths)
    for _, name in ipairs { "neighbours", "gaussian", "composition" } do is_done(books[name], files.find(name)) end
    local open = 0
    for id, cell in pairs(books.learner) do
      lacks(cell.text, "Right.")
      lacks(cell.text, "All ")
      if id:find "^answer" then
        has(cell.text, "is open")
        open = open + 1
      end
    end
    assert.equal(5, open)
    has(books.learner.check.text, "0 of 5 exercises are right; open: average, classical, broken, twice, mechanism.")
  end)

  tier.it(it)("makes notebooks of all lessons that run to their ends, all right", function()
    export { "--all", place .. "/all", "--answers" }
    local paths, all = {}, files.all()
    for k, lesson in ipairs(all) do paths[k] = ("%s/all/%s.ipynb"):format(place, lesson.file) end
    local books = run_notebooks(paths)
    for _, lesson in ipairs(all) do is_done(books[lesson.file], lesson) end
  end)

  it("writes the format that Jupyter reads, with every step in its place", function()
    local function source(id, text) return ('"id":"%s","metadata":%%b{},[^{}]*"source":"%s"'):format(id, text) end
    local text = export { "gaussian", "-o", "-" }
    has(text, '"nbformat":4,"nbformat_minor":5')
    has(text, '"kernelspec":{"display_name":"Penumbra","language":"lua","name":"penumbra"}')
    assert.truthy(text:find(source("answer%-twice", "%-%- Exercise: twice\\n")), "the empty cell of an exercise")
    lacks(text, "published = 1000")
    has(export { "2", "--answers", "-o", "-" }, '-- Exercise: twice\\npublished = 1000 * 1/100"')
    local ids, codes = {}, 0
    for id in text:gmatch '"id":"([^"]+)"' do
      assert.is_nil(ids[id], id)
      assert.truthy(id:find "^[%w_-]+$" and #id <= 64, id)
      ids[id] = true
    end
    for _ in text:gmatch '"cell_type":"code","execution_count":null,' do codes = codes + 1 end
    assert.equal(13, codes) -- one opens, five exercises, two pictures, four codes, one checks
    for _, step in ipairs(files.find "gaussian".steps) do
      assert.truthy(ids["text-" .. step.id], step.id)
      assert.equal(step.ask ~= nil, ids["exercise-" .. step.id] or false)
    end
  end)

  it("keeps texts from meaning anything in Markdown, and formulas in their lines", function()
    program.write_all(place .. "/own.lua", [==[return { name = "own", title = "A *b*", steps = { { id = "a", text = [[
1. is <no> list, $x$ no formula,
a_b no `name_of*it`.

Second.
  x  = 1
    y = 2
Third.]] } } }]==])
    local text = export { place .. "/own.lua", "-o", "-" }
    has(text, "# A \\\\*b\\\\*")
    has(text, "1\\\\. is \\\\<no\\\\> list, \\\\$x\\\\$ no formula, a\\\\_b no `name_of*it`.\\n\\nSecond.\\n\\n"
      .. "```text\\nx  = 1\\n  y = 2\\n```\\n\\nThird.")
    has(text, ('lesson(\\"%s/own.lua\\", {notebook = true})'):format(place))
    text = export { place .. "/own.lua", "--html", "-o", "-" }
    has(text, "<p>1. is &lt;no&gt; list, $x$ no formula, a_b no <code>name_of*it</code>.</p>\n<p>Second.</p>\n"
      .. '<pre class="block">x  = 1\n  y = 2</pre>\n<p>Third.</p>')
  end)

  it("makes a handout with every step, its pictures in it, and answers for the lecturer alone", function()
    local text, lesson, pictures = export { "gaussian", "--html", "-o", "-" }, files.find "gaussian", 0
    local words = text:gsub("<[^<>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&amp;", "&")
      :gsub("%s+", " ")
    for _, step in ipairs(lesson.steps) do
      for _, part in ipairs { step.text or "", step.ask or "", step.code or "" } do
        has(words, (part:gsub("`", ""):gsub("^%s+", ""):gsub("%s+$", ""):gsub("%s+", " ")))
      end
      if step.plot then pictures = pictures + 1 end
    end
    local count = select(2, text:gsub("<svg", ""))
    assert.equal(pictures, count)
    local ids = {}
    for id in text:gmatch "%sid=['\"]([^'\"]+)" do
      assert.is_nil(ids[id], id)
      ids[id] = true
    end
    for _, outside in ipairs { "<script", "<link", "<img", "@import", "<?xml" } do lacks(text, outside) end
    lacks(text, "1000 * 1/100")
    local answered = export { "gaussian", "--html", "--answers", "-o", "-" }
    assert.truthy(answered:find "Answers</h1>.*published = 1000 %* 1/100")
  end)

  tier.it(it)("makes a PDF where a program for it is installed", function()
    local out, err, code = program.run { "lesson", "export", "gaussian", "--pdf", "-o", place .. "/x.pdf" }
    if code ~= 0 then return has(err, "--pdf needs chromium, weasyprint or wkhtmltopdf") end
    has(out, "wrote ")
    assert.equal("%PDF", program.read_all(place .. "/x.pdf"):sub(1, 4))
  end)

  it("says what is wrong with its words, lessons and files", function()
    program.write_all(place .. "/there.ipynb", "mine")
    program.write_all(place .. "/own.lua", "return {steps = {}}")
    for _, case in ipairs {
      { {}, 2, "expected the name of a lesson, or --all DIR", program.run },
      { { "gaussian", "more" }, 2, "unexpected word 'more'" },
      { { "gaussian", "--all", place }, 2, "unexpected word 'gaussian' beside --all" },
      { { "--all", place, "-o", "x" }, 2, "--output is for one lesson" },
      { { "gaussian", "--html", "--pdf" }, 2, "give one of --notebook, --html and --pdf" },
      { { "gaussian", "--odt" }, 2, "unknown option '--odt'" },
      { { "gausian" }, 1, 'there is no lesson "gausian", did you mean "gaussian"?' },
      { { place .. "/own.lua" }, 1, "a lesson and each of its steps need a name" },
      { { place .. "/none.lua" }, 1, "none.lua" },
      { { "gaussian", "-o", place .. "/there.ipynb" }, 1, "there.ipynb is there already; --force overwrites it" },
      { { "gaussian", "-o", place .. "/no/x.ipynb" }, 1, "No such file or directory", program.run }, -- whose JSON is the program's
      { { "--all", place .. "/there.ipynb" }, 1, "could not be made" },
    } do
      local out, err, code = (case[4] or program.call) { "lesson", "export", table.unpack(case[1]) }
      assert.equal(case[2], code, out .. err)
      has(err, "penumbra lesson: ")
      has(err, case[3])
    end
    assert.equal("mine", program.read_all(place .. "/there.ipynb"))
    export { "gaussian", "--force", "-o", place .. "/there.ipynb" }
    has(program.read_all(place .. "/there.ipynb"), '"nbformat":4')
    local _, err, code = program.run { "lesson", "import" }
    assert.equal(2, code)
    has(err, "unknown word 'import', expected export")
    _, err = program.shell(("env PATH=%s %s lesson export gaussian --pdf -o %s/x.pdf"):format(place, program.path, place))
    has(err, "--pdf needs chromium, weasyprint or wkhtmltopdf: sudo apt install weasyprint")
  end)
end)

describe("penumbra examples", function()
  it("lists the files of its folder with what they are about", function()
    local out, err, code = program.run { "examples" }
    assert.equal(0, code, err)
    local folder = out:match "^([^\n]+/examples)\n"
    assert.truthy(io.open(folder .. "/private_lasso.lua"):close())
    out = out:gsub("%s+", " ")
    has(out, "private_lasso.lua a sparse linear model under (epsilon, delta)-differential privacy")
    has(out, "embed/train.c ")
    has(out, "reproduce/geometry/lasso.lua ")
    assert.truthy(out:find("tree.lua", 1, true) < out:find("embed/", 1, true))
  end)
end)
