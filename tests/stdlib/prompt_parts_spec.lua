-- The small parts of the prompt: tokens, indentation, colours, nearest names.
local tokens = require "penumbra.prompt.tokens"
local indent = require "penumbra.prompt.indent"
local near = require "penumbra.prompt.near"

describe("tokens", function()
  local function kinds(text)
    local out = {}
    for i, token in ipairs(tokens(text)) do out[i] = token.kind:sub(1, 2) .. (token.open and "!" or "") end
    return table.concat(out, " ")
  end

  it("cuts a text without gaps", function()
    for _, text in ipairs { "a=b..c", 'x = "a\\"b" -- end', "[[long\n]] 0x1p4 1e-3 ~= //", "\1\200 @ '" , "f{...}" } do
      local parts = {}
      for i, token in ipairs(tokens(text)) do
        parts[i] = token.text
        assert.equal(token.text, text:sub(token.from, token.to))
      end
      assert.equal(text, table.concat(parts))
    end
  end)

  it("tells names, words, numbers, strings and comments apart", function()
    assert.equal("ke sp na op nu", kinds "local x=1.5e3")
    assert.equal("na st co", kinds 'f"a b"--[[c]]')
    assert.equal("na op nu", kinds "a..0x1F")
  end)

  it("marks what is open at the end", function()
    assert.equal("na st!", kinds "f'abc")
    assert.equal("st!", kinds "[==[ ]=]")
    assert.equal("co!", kinds "--[[ x")
  end)
end)

describe("indent", function()
  it("is a step for each line that opens a block or a bracket", function()
    assert.same({ nil, 2 }, { indent "for i = 1, 2 do" })
    assert.same({ nil, 4 }, { indent "for i = 1, 2 do\n  if i then" })
    assert.same({ nil, 2 }, { indent "f({a = {" })
    assert.same({ nil, 2 }, { indent "if a then\n  x = 1" })
  end)

  it("takes back what a line closes", function()
    assert.same({ 2, 2 }, { indent "for i = 1, 2 do\n  if i then\n    f()\n    end" })
    assert.same({ 0, 2 }, { indent "if a then\n  b()\n  else" })
    assert.same({ 0, 0 }, { indent "f({\n  1,\n  })" })
  end)

  it("leaves the text of long strings alone", function()
    assert.is_nil((indent "x = [[\n  do"))
    assert.is_nil((select(2, indent "x = [[\n  do")))
  end)
end)

describe("near", function()
  it("finds the name that a slip of the finger meant", function()
    assert.equal("epsilon", near.nearest("epsilom", { "delta", "epsilon", "epochs" }))
    assert.equal("solve", near.nearest("slove", { "set", "solve" }))
    assert.equal("frank_wolfe", near.nearest("frank", { "frank_wolfe", "frank_wolfe_convex" }))
    assert.is_nil(near.nearest("unicorn", { "delta", "epsilon" }))
    assert.is_nil(near.nearest("epsilon", { "epsilon" }))
  end)

  it("knows words of Lua with one letter wrong", function()
    assert.equal("while", near.keyword "wihle")
    assert.is_nil(near.keyword "while")
    assert.is_nil(near.keyword "x")
  end)
end)

describe("an entry", function()
  local compile = require "penumbra.prompt".compile

  local function value_of(entry, env)
    return assert(compile(entry, env or {}))()
  end

  it("is worth its last expression, also where that is a call", function()
    assert.equal(7, value_of "function f() return 7 end; f()")
    assert.equal(7, value_of "function f()\n  return 7\nend\nf()")
    assert.equal(7, value_of "function f(x)\n  return x\nend\nf(\n  7\n);")
    assert.equal(3, value_of "a = 1\na + 2 -- more")
    assert.equal(3, value_of "local a = {1,\n 2}; #a + 1")
    assert.equal(7, value_of "function f() return 7 end; f() -- x; y")
    assert.is_nil(value_of "a = 1 -- a; f()")
    assert.equal("xx", value_of 'a = 1; ("x"):rep(2)')
  end)

  it("means what it says in Lua where that is another thing", function()
    local env = { f = function(x) return x end }
    assert.is_nil(value_of("x = f\n(3)", env))
    assert.equal(3, env.x)
    local count = 0
    env.step = function() count = count + 1 return count end
    assert.is_nil(value_of("while step() < 3 do\nstep() end", env))
    assert.equal(3, count)
    assert.is_nil(value_of("s = [[\nf(1)]]", env))
    assert.equal("f(1)", env.s)
    assert.is_nil(value_of("do\nf(1) end", env))
  end)
end)

describe("a text for the screen", function()
  local show = require "penumbra.prompt.show"

  it("counts what a tab takes", function()
    assert.equal(3, show.width "abc")
    assert.equal(9, show.width "abc\td")
    assert.equal(8, show.width "größe\t")
    local values = { 123456789.123, 1 / 3, 9.007199254741e+15, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5 }
    for line in show.texts(table.unpack(values)):gmatch "[^\n]+" do assert.truthy(show.width(line) <= 80) end
  end)

  it("shows bytes that are no characters as their numbers", function()
    assert.equal('"\\255\\254a"', show.text "\xff\xfea")
    assert.equal('"größe 日本"', show.text "größe 日本")
    assert.equal('"\\000\\t"', (show.text "\0\t":gsub("\\t", "\\t")))
    assert.truthy(utf8.len(show.text(("ö"):rep(2001) .. "x")))
  end)

  it("has no sign before nan", function()
    assert.equal("nan", show.text(0 / 0))
    assert.equal("nan", show.text(-(0 / 0)))
  end)
end)

describe("colour", function()
  local colour = require "penumbra.colour"
  local getenv = os.getenv
  local set

  before_each(function()
    set = {}
    rawset(os, "getenv", function(name) return set[name] end)
  end)
  after_each(function() rawset(os, "getenv", getenv) end)

  it("is put on only when wanted", function()
    set.PENUMBRA_COLOR = "never"
    assert.equal("text", colour.paint("text", "error"))
    set.PENUMBRA_COLOR = "always"
    assert.equal("\27[1;31mtext\27[0m", colour.paint("text", "error"))
    assert.equal("", colour.paint("", "error"))
    assert.has_error(function() colour.paint("text", "purple") end)
  end)

  it("obeys NO_COLOR and dumb terminals", function()
    set.NO_COLOR = "1"
    assert.is_false(colour.wanted(io.stdout))
    set.NO_COLOR, set.TERM = "", "dumb"
    assert.is_false(colour.wanted(io.stdout))
    assert.is_false(colour.wanted(io.tmpfile()))
  end)

  it("changes nothing but colours in code and results", function()
    set.PENUMBRA_COLOR = "always"
    for _, text in ipairs { "it's 3 -- {a = 1, [[x]], nil}", 'vec(3): 1.5 -2e-3 "a\\n" x1', "for i = 1, 2 do end -- c" } do
      for _, paint in ipairs { colour.code, colour.result } do
        local painted = paint(text)
        assert.truthy(painted:find "\27")
        assert.equal(text, (painted:gsub("\27%[[%d;]*m", "")))
      end
    end
  end)
end)
