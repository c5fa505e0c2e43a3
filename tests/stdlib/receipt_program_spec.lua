-- receipt_program_spec.lua -- `penumbra receipt`: a file in, JSON or a few lines out, and exit statuses.
local pn = require "penumbra"
local program = require "tests.tools.program"

local path = os.tmpname()

teardown(function()
  os.remove(path)
  os.remove(path .. ".out")
end)

local function receipt(...)
  return program.run { "receipt", ... }
end

describe("penumbra receipt", function()
  local json, words

  setup(function()
    local d = pn.data.synthetic.logistic { n = 400, p = 3, seed = 3 }:clip_rows("l2", 1)
    local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3 } }
    local fit = pn.solve.gradient_descent(obj, { epsilon = 1, delta = 1e-6, iterations = 3 })
    fit:save(path)
    json, words = fit:receipt().json, fit:receipt().words
  end)

  it("prints the document, or a few lines of it, or writes it", function()
    local text, err, code = receipt(path)
    assert.same({ json, "", 0 }, { text, err, code })
    assert.equal(words .. "\n", (receipt(path, "--words")))
    assert.same({ "", 0 }, { receipt(path, "-o", path .. ".out"), select(3, receipt(path, "-o", path .. ".out")) })
    assert.equal(json, program.read_all(path .. ".out"))
    assert.equal(json, (receipt(path .. ".out")))
  end)

  it("says what is wrong with a file or a word", function()
    local _, err, code = receipt(path .. ".nowhere")
    assert.same({ 1, true }, { code, err:find("cannot be read", 1, true) ~= nil })
    _, err, code = receipt()
    assert.same({ 2, true }, { code, err:find("expected one file", 1, true) ~= nil })
    local text
    text, _, code = receipt "--help"
    assert.same({ 0, true }, { code, text:find("usage: penumbra receipt FILE", 1, true) ~= nil })
  end)
end)
