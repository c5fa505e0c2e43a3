local pn = require "penumbra"
local show = require "penumbra.show"
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
