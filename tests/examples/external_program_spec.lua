-- external_program_spec.lua -- the example external_program.lua finds what its simulator was asked
-- for, and its errors say what is wrong.
local build = os.getenv "PENUMBRA" or "build/penumbra"

describe("the example external_program", function()
  it("finds power and threshold, and is told of every broken program", function()
    local pipe = assert(io.popen("env PENUMBRA_THREADS=2 " .. build .. " examples/external_program.lua 2>&1"))
    local text = pipe:read "a"
    assert.is_true(pipe:close(), text)
    local power, threshold, value = text:match "search: power ([%d.]+), threshold ([%d.]+), mean error ([%d.]+)"
    -- the truth is 3 and 20; labels are off by up to 1/3, on average 1/6
    assert.is_near(3, tonumber(power), 0.1)
    assert.is_near(20, tonumber(threshold), 0.2)
    assert.is_near(1 / 6, tonumber(value), 0.05)
    for _, phrase in ipairs { "thermostat loss", "cannot be started", "exit code 3 after 0 of 1 answers", "answered \"oops\"",
      "did not answer within 0.5 s" } do
      assert.truthy(text:find(phrase, 1, true), ("'%s' is not in:\n%s"):format(phrase, text))
    end
  end)
end)
