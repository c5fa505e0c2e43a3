-- security_spec.lua -- SECURITY.md names a test for each of its promises, and each is there.
local program = require "tests.tools.program"

local text = program.read_all "SECURITY.md"
local page = program.read_all "stdlib/handbook/corrupt-a-ledger.md"
local LEDGER = "\nWhat [How to corrupt a ledger]"

local function trim(cell)
  return cell:match "^%s*(.-)%s*$"
end

-- The rows of all tables, without their heads: { cells }.
local function rows_of(markdown)
  local rows, inside = {}, false
  for line in markdown:gmatch "[^\n]+" do
    if line:find "^|[-:| ]+|$" then
      inside = true
    elseif not line:find "^|" then
      inside = false
    elseif inside then
      local cells = {}
      for cell in line:gmatch "|([^|]+)" do cells[#cells + 1] = trim(cell) end
      rows[#rows + 1] = cells
    end
  end
  return rows
end

-- Between two headings.
local function part(markdown, from, to)
  local first = assert(markdown:find(from, 1, true), from)
  local last = to and assert(markdown:find(to, first + #from, true), to) or #markdown
  return markdown:sub(first, last)
end

-- What is wrong with `path: "name"`: nil where the file has that test.  One of C's or Python's is a function, and one of C's is
-- called, too.
local function missing(path, name)
  local file = io.open(path)
  if not file then return path .. " is not there" end
  local code = file:read "a"
  file:close()
  local found
  if path:find "%.lua$" then
    for word, at in code:gmatch "([%w_]+)%(*()\"" do -- it("..."), law("..."), it(("..."):format
      found = found or (word == "it" or word == "law" or word:find "_it$") and code:sub(at, at + #name + 1) == '"' .. name .. '"'
    end
  elseif path:find "%.py$" then
    found = code:find("def " .. name .. "(", 1, true)
  else
    local defined = code:find("\nstatic [%w_]+ " .. name .. "%([^;{]*%)\n{") or code:find("\nint " .. name .. "%([^;{]*%)\n{")
    local _, count = code:gsub("%f[%w_]" .. name .. "%f[^%w_]", "")
    found = defined and (count >= 2 or name == "main")
  end
  return not found and ("%s has no test %q"):format(path, name) or nil
end

local function wrong_tests(markdown)
  local wrong, count = {}, 0
  for path, name in markdown:gmatch '`(tests/[^`:]+): "(.-)"`' do
    count = count + 1
    wrong[#wrong + 1] = missing(path, name)
  end
  return wrong, count
end

describe("SECURITY.md", function()
  local models = part(text, "## Threat models", "## What is not covered")

  it("names a test in each row", function()
    local rows = rows_of(models)
    assert.is_true(#rows >= 50)
    for _, cells in ipairs(rows) do assert.truthy(cells[#cells]:find '`tests/[^`:]+: "[^`]+"`', cells[1]) end
  end)

  it("names tests that there are", function()
    local wrong, count = wrong_tests(text)
    assert.same({}, wrong)
    assert.is_true(count >= 80)
  end)

  it("names files that there are", function()
    for quoted in text:gmatch "`([^`\n]+)`" do
      local path = quoted:match '^([%w_.*/-]+/[%w_.*/-]+)$'
      if path then
        local _, _, code = program.shell("ls -d " .. path)
        assert.equal(0, code, path)
      end
    end
  end)

  it("names every fuzz target, and no other", function()
    local there, named = {}, {}
    for name in program.read_all "tests/fuzz/targets.h":gmatch "X%((%l+)%)" do there[name] = true end
    for list in models:gmatch "fuzz targets? ([`%l, ]+)" do
      for name in list:gmatch "`(%l+)`" do named[name] = true end
    end
    assert.same(there, named)
  end)

  it("has every actor", function()
    local actors = {}
    for actor in models:gmatch "\n### ([^\n]+)" do actors[#actors + 1] = actor end
    assert.same({ "The owner", "An analyst", "A party of a federated run", "The network", "The file system",
      "Readers of outputs, and writers of inputs", "A learner of a course" }, actors)
  end)
end)

describe("the page on ledgers", function()
  local mapped = rows_of(part(text, LEDGER, "\n### "))
  local said = part(page, "# How", "## What is not noticed")

  it("says nothing that SECURITY.md has no test for, but what it lists as not covered", function()
    local statements = {}
    for _, cells in ipairs(rows_of(said)) do statements[#statements + 1] = cells[1] end
    assert.equal(12, #statements)
    for statement in said:gmatch "\n%- ([^\n]+)" do statements[#statements + 1] = statement end
    for _, statement in ipairs(statements) do
      local tested
      for _, cells in ipairs(mapped) do tested = tested or statement:find(cells[1], 1, true) end
      if not tested then
        local beginning = statement:match "^[^.]+"
        assert.truthy(part(text, "## What is not covered"):find(beginning, 1, true), statement)
      end
    end
  end)

  it("has each of the statements that SECURITY.md names tests for", function()
    for _, cells in ipairs(mapped) do assert.truthy(page:find(cells[1], 1, true), cells[1]) end
  end)
end)

describe("the reader of names of tests", function()
  it("finds those that are not there", function()
    local here = "tests/build/security_spec.lua"
    assert.is_nil(missing(here, "finds those that are not there"))
    assert.truthy(missing(here, "finds those"))
    assert.truthy(missing(here, "tests/build/security_spec.lua")) -- a text, and no test
    assert.truthy(missing("tests/build/none_spec.lua", "finds those"))
    assert.is_nil(missing("tests/runtime/core/file_test.c", "test_put"))
    assert.truthy(missing("tests/runtime/core/file_test.c", "test_pu"))
    assert.truthy(missing("tests/runtime/core/file_test.c", "unlink")) -- called, but not defined
    assert.same({ 'tests/none.c is not there' }, (wrong_tests 'x `tests/none.c: "a"` y'))
  end)
end)
