-- audit_spec.lua -- the example audit.lua finds the broken mechanism and only that; its seeds are fixed: no false alarms.
local tier = require "tests.tools.tier"
local law = tier.law(it)
local build = os.getenv "PENUMBRA" or "build/penumbra"

describe("the example audit", function()
  law("refutes the claim of the mechanism with half the noise, and no other", function()
    local pipe = assert(io.popen(build .. " examples/audit.lua 2>&1"))
    local text = pipe:read "a"
    assert.is_true(pipe:close(), text)
    local verdicts = {}
    for verdict in text:gmatch "claimed  epsilon = [%d.]+: ([%a ]+)" do verdicts[#verdicts + 1] = verdict end
    assert.same({ "not refuted", "VIOLATED", "not refuted" }, verdicts, text)
    assert.is_truthy(text:find("of 500 guesses right, 5000 canaries in one run", 1, true))
  end)
end)
