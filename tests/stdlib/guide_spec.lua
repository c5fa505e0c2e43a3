local pn = require "penumbra"
local guide = require "penumbra.guide"
local markdown = require "penumbra.prompt.markdown"
local words = require "penumbra.words"
local program = require "tests.tools.program"

local function shown(...)
  local given = table.pack(...)
  return (program.capture(function() return pn.guide(table.unpack(given, 1, given.n)) end))
end

local function width(line) return utf8.len(line) or #line end

describe("guide", function()
  it("lists every page of the folder by title and summary on a screen of 80 columns and 24 lines", function()
    local text, count = shown(), 0
    for path in program.shell "ls stdlib/handbook/*.md":gmatch "[^\n]+" do
      local title, summary = program.read_all(path):match "^# ([^\n]+)\n\n([^\n]+)\n\n"
      assert.matches(("\n  %s +%s\n"):format((title:gsub("%p", "%%%0")), (summary:gsub("%p", "%%%0"))), text)
      count = count + 1
    end
    assert.equal(#guide.pages(), count)
    local _, lines = text:gsub("\n", "")
    assert.is_true(lines <= 22, lines) -- with what was typed, and the prompt
    for line in text:gmatch "[^\n]+" do assert.is_true(width(line) <= 80, line) end
  end)

  it("shows a page by its title, by the name of its file, and by a part that no other title has", function()
    for _, page in ipairs(guide.pages()) do
      local text = shown(page.title)
      assert.equal(text, shown(page.id))
      assert.equal(text, shown(" " .. page.title:upper() .. " "))
      for heading in page.text:gmatch "\n## ([^\n]+)" do assert.matches("\n" .. heading .. "\n", text, 1, true) end
    end
    assert.equal(shown "Zeroth-order optimization", shown "zeroth order")
    assert.equal(shown "Train a model", shown "train a mod")
  end)

  it("fills text into 80 columns, and leaves code as it is written", function()
    for _, page in ipairs(guide.pages()) do
      local text = shown(page.title)
      for line in text:gmatch "[^\n]+" do
        assert.is_truthy(line:find "^    " or width(line) <= 80, page.id .. ": " .. line)
      end
      for block in page.text:gmatch "\n```%a*\n(.-)\n```" do
        assert.matches("    " .. block:match "[^\n]+", text, 1, true)
        for line in block:gmatch "[^\n]+" do assert.is_true(width(line) <= 100, page.id .. ": " .. line) end
      end
      local prose = text:gsub("\n    [^\n]*", "")
      assert.is_nil(prose:find("](", 1, true), page.id)
      assert.is_nil(prose:find("**", 1, true), page.id)
    end
  end)

  it("suggests pages for a title that is misspelt, and pages with the words of another one", function()
    assert.matches('^No page is named "trian a modle"%.  Near it:\n  guide "train a model"\n', shown "trian a modle")
    assert.matches('\n  guide "train a model"\n', shown "intercept", 1, true)
    assert.equal('No page is named "xyzzy".  guide() lists them.\n', shown "xyzzy")
    assert.equal('No page is named "".  guide() lists them.\n', shown "")
    assert.has_error(function() pn.guide(7) end, 'guide: expected the title of a page, as in guide "train a model", got number')
  end)

  it("has every question of the oracle and every shipped solver on the page about solvers", function()
    local text = shown "write a solver"
    for name, entry in pairs(pn.reference()) do
      local question = entry.reveals == "paid" and name:match "^pn%.oracle:(%w+)$"
      if question then assert.matches("\n  " .. question .. "[({]", text) end
    end
    for _, name in ipairs(require "penumbra.solvers".names) do assert.matches(name, text, 1, true) end
  end)

  it("opens pages of its own folder and no other file, whatever it is asked for", function()
    local opened, open = {}, io.open
    rawset(io, "open", function(path, ...)
      opened[#opened + 1] = path
      return open(path, ...)
    end)
    local own = package.searchpath("penumbra.guide", package.path)
    local fresh = loadfile(own)("penumbra.guide", own)
    for _, name in ipairs { "train a model", "../../init", "/etc/passwd", "handbook/../guide.lua", "a\0b" } do
      program.capture(function() fresh.run(name) end)
    end
    rawset(io, "open", open)
    assert.equal(#guide.pages(), #opened)
    local folder = own:gsub("guide%.lua$", "handbook/")
    for _, path in ipairs(opened) do
      assert.equal(folder, path:sub(1, #folder))
      assert.matches("^[%l-]+%.md$", path:sub(#folder + 1))
    end
  end)

  it("is not there for an analyst's script, which cannot read files either", function()
    local data = pn.data.synthetic.logistic { n = 20, p = 2, seed = 1 }
    local curator = pn.curator { data = { d = data }, ledger = pn.ledger { epsilon = 1 }, memory = 64, process = false }
    for _, code in ipairs { "return pn.guide()", "return guide()", "return require 'penumbra.guide'" } do
      assert.is_false(curator:run(code).ok, code)
    end
  end)
end)

describe("Markdown on a terminal", function()
  it("keeps what is between backticks, and takes away links, emphasis and pictures", function()
    assert.equal("A *b* of c and d\n", markdown "A `*b*` of [c](x.md) and **d**\n\n![p](p.svg)\n")
    assert.equal("2 * v, w\n", markdown "2 * v, *w*\n")
  end)

  it("aligns tables, numbers to the right, and folds what is too wide", function()
    assert.equal("  a     n\n  x    10\n  yyy   9\n", markdown "| a | n |\n|---|--:|\n| x | 10 |\n| yyy | 9 |\n")
    local text = markdown("| a | b |\n|---|---|\n| x | " .. ("word "):rep(40) .. "|\n")
    for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    assert.equal(40, select(2, text:gsub("word", "")))
  end)

  it("fills paragraphs and items, and ends them at empty lines", function()
    assert.equal("A b\n\n  - c d\n  - e\n\nf\n", markdown "A\nb\n\n- c\n  d\n- e\n\nf\n")
    assert.equal("T\n\n    a  b\n\n    c\n", markdown "# T\n\n```\na  b\n\nc\n```\n")
  end)
end)

describe("words", function()
  it("finds words in any case, by their beginnings, in the singular; all or nothing", function()
    assert.same({ "dp", "sgd" }, words.of "DP-SGD")
    assert.is_number(words.score("Logistic regressions, LASSO", words.of "lasso"))
    assert.is_number(words.score("a regression", words.of "regressions"))
    assert.is_nil(words.score("a regression", words.of "logistic regression"))
    assert.is_true(words.score("logistic regression", words.of "logistic regression")
      > words.score("regression, logistic", words.of "logistic regression"))
    assert.same({}, words.of "?!")
  end)
end)
