local pn = require "penumbra"
local show = require "penumbra.prompt.show"
local program = require "tests.tools.program"

describe("show", function()
  it("quotes strings and escapes what cannot be seen", function()
    assert.equal('"plain"', show.text "plain")
    assert.equal([["a\nb\t\"c\" \\ \000"]], show.text 'a\nb\t"c" \\ \0')
    assert.equal('"größer"', show.text "größer")
  end)

  it("cuts a very long string and says how long it is", function()
    local text = show.text(("x"):rep(5000))
    assert.truthy(text:find("(5000 bytes)", 1, true))
    assert.is_true(#text < 2100)
  end)

  it("shows numbers, booleans and nil as Lua does", function()
    assert.same({ "1", "0.5", "1e+300", "true", "nil" },
      { show.text(1), show.text(0.5), show.text(1e300), show.text(true), show.text(nil) })
  end)

  it("shows the list part of a table first, then its keys in order", function()
    assert.equal('{1, "two", a = 3, b = 4, [0.5] = 5, [true] = 6}',
      show.text { 1, "two", b = 4, a = 3, [0.5] = 5, [true] = 6 })
    assert.equal("{}", show.text {})
  end)

  it("brackets keys that are no names", function()
    assert.equal('{["end"] = 1, ["two words"] = 2}', show.text { ["end"] = 1, ["two words"] = 2 })
  end)

  it("shows small tables inside a table, and counts what is in others", function()
    assert.equal("{{1, 2}, x = {y = {... 1 item}}}", show.text { { 1, 2 }, x = { y = { 1 } } })
    assert.equal("{{... 9 items}}", show.text { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } })
  end)

  it("comes to an end in a table that contains itself", function()
    local t = {}
    t.self = t
    assert.equal("{self = {self = {... 1 item}}}", show.text(t))
  end)

  it("fills long tables into lines of 80 columns and leaves out what is too much", function()
    local t = {}
    for i = 1, 1000 do t[i] = i end
    local text = show.text(t)
    assert.truthy(text:find("... 900 more", 1, true))
    for line in text:gmatch "[^\n]+" do
      assert.is_true(#line <= 80, line)
    end
  end)

  it("shows a list of records as a table with aligned columns, and says what is missing", function()
    assert.equal("2 rows:\n  step  name     value\n     1  -          0.5\n    12  x     0.333333",
      show.text { { value = 0.5, step = 1 }, { value = 1 / 3, step = 12, name = "x" } })
    assert.equal("{{a = 1}, {b = 2}}", show.text { { a = 1 }, { b = 2 } }) -- no common key
    assert.equal("{{a = 1}}", show.text { { a = 1 } })
    assert.equal("{{a = {1}}, {a = {2}}}", (show.text { { a = { 1 } }, { a = { 2 } } }:gsub("{%.%.%. 1 item}", "{1}", 1)
      :gsub("{%.%.%. 1 item}", "{2}", 1)))
  end)

  it("shows of many records the first and the last, and the columns that have room", function()
    local rows = {}
    for i = 1, 100 do
      rows[i] = { step = i }
      for k = 1, 12 do rows[i]["column_" .. k] = i + k / 1000 end
    end
    local lines = {}
    for line in show.text(rows):gmatch "[^\n]+" do
      assert.is_true(utf8.len(line) <= 80, line)
      lines[#lines + 1] = line
    end
    assert.equal("100 rows:", lines[1])
    assert.equal("  step  column_1  column_10  column_11  column_12  column_2  column_3  column_4", lines[2])
    assert.matches("^    12 ", lines[14])
    assert.equal("  ...", lines[15])
    assert.matches("^   100 ", lines[18])
    assert.equal("  and column_5, column_6, column_7, column_8, column_9", lines[19])
  end)

  it("adds the risk to a fit that did not release it, and how full a sparse data set is", function()
    local d = pn.data.synthetic.lasso { n = 200, p = 10, sparsity = 2, noise = 0.1, seed = 1 }
    local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 10 } }
    local fit = pn.solve.frank_wolfe(obj, { epsilon = 1, delta = 1e-6 })
    assert.matches("risk     not released: fit.value reads the records", tostring(fit), 1, true)
    assert.matches(("risk     %.6g at theta (of the records: not for publication)\n"):format(fit.value), show.text(fit), 1, true)
    local S = pn.sparse { rows = 2, cols = 2, i = { 1 }, j = { 2 }, x = { 0.5 } }
    assert.matches("sparse (25% of the entries are stored)", show.text(pn.data.from(S, { 1, -1 })), 1, true)
    assert.is_nil(tostring(pn.data.from(S, { 1, -1 })):find "25%%")
  end)

  it("does not call __index, __len or __pairs of a table", function()
    local function fail() error "was called" end
    assert.equal("{1, 2}", show.text(setmetatable({ 1, 2 }, { __index = fail, __len = fail, __pairs = fail })))
  end)

  it("uses an object's own tostring", function()
    assert.equal("own words", show.text(setmetatable({}, { __tostring = function() return "own words" end })))
    assert.equal(tostring(pn.rng.seeded(1)), show.text(pn.rng.seeded(1)))
  end)

  it("shows a function of the library by its signature and a library by what is in it", function()
    assert.equal("function " .. pn.reference()["rng.seeded"].signature, show.text(pn.rng.seeded))
    assert.equal("library rng: secure, seeded", show.text(pn.rng))
    assert.equal("function " .. pn.reference()["solve.frank_wolfe"].signature .. "\n  and in it: plan",
      show.text(pn.solve.frank_wolfe))
    for line in show.text(pn.tree):gmatch "[^\n]+" do assert.truthy(#line <= 80, line) end
    assert.truthy(show.text(pn):find("^library pn: "))
  end)

  it("prints short values side by side and long ones below each other", function()
    local text = program.capture(function()
      show.print(1, "two", nil)
      show.print(("a"):rep(50), ("b"):rep(50))
    end)
    assert.equal('1\t"two"\tnil\n"' .. ("a"):rep(50) .. '"\n"' .. ("b"):rep(50) .. '"\n', text)
  end)
end)
