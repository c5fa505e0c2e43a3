-- penumbra.confined: a Lua function in a process of its own that may touch nothing.
local program = require "tests.tools.program"

local function told(body, seconds, megabytes, input)
  local code = ("print(require 'penumbra.confined'.run(function(tell) %s end, %d, %d))"):format(body, seconds or 5, megabytes or 64)
  local out, err = program.run({ "-e", code }, input)
  return out .. err
end

describe("a confined function", function()
  it("tells what it tells, and comes to its end", function()
    assert.equal("one two\tnil\n", told "tell 'one ' tell 'two'")
  end)

  it("opens, makes and removes no file, runs no program and has none that was open", function()
    local there, none = os.tmpname(), os.tmpname()
    os.remove(none)
    program.write_all(there, "still here")
    local out = told(([[
      local there, none = %q, %q
      tell(tostring(io.open(there)) .. tostring(io.open(none, "w")) .. tostring(os.execute "true") .. tostring(os.remove(there)))
      tell(tostring(pcall(pn.ledger, {epsilon=1, path=none})) .. "|" .. tostring(io.stdin:read "a") .. "|")
      io.stderr:write "unheard" print "unheard"]]):format(there, none), nil, nil, "secret")
    assert.equal("nilnilnilnilfalse||\tnil\n", out)
    assert.is_nil(io.open(none))
    assert.equal("still here", program.read_all(there))
    os.remove(there)
  end)

  it("ends where its time, its memory or what it may tell is used up", function()
    assert.equal("before\ttime\n", told("tell 'before' string.rep('a', 40):find(('a*'):rep(40) .. 'b')", 1))
    local hog = "local s = 'x' tell(select(2, pcall(function() while true do s = s .. s end end)))"
    assert.equal("not enough memory\tnil\n", told(hog))
    assert.equal("65536\toutput\n", (told("while true do tell(('x'):rep(4096)) end"):gsub("^x+", function(s) return #s end)))
  end)

  it("says that the function raised, and computes as the program does", function()
    assert.equal("\terror\n", told "error 'x'")
    assert.equal("6.0\tnil\n", told "tell(tostring(pn.vec{1, 2, 3}:sum()))")
  end)

  it("refuses limits that are none", function()
    assert.truthy(told("", 0):find "expected 1 to 86400 seconds")
    assert.truthy(told("", 1, 0):find "expected 1 to 1048576 megabytes")
  end)
end)
