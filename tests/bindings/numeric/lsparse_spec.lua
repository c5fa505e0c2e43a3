-- lsparse_spec.lua -- pn.sparse.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like

describe("pn.sparse", function()
  local S = pn.sparse { rows = 3, cols = 4, i = { 3, 1, 1, 1 }, j = { 2, 4, 1, 1 }, x = { 5, 7, 1, 2 } }

  it("is made of entries in any order and adds those at one place", function()
    assert.equal(3, S.rows)
    assert.equal(4, S.cols)
    assert.equal(3, S.nnz)
    assert.equal(pn.mat { { 3, 0, 0, 7 }, { 0, 0, 0, 0 }, { 0, 5, 0, 0 } }, S:dense())
    assert.equal("sparse(3 x 4): 3 entries (25%), 3 to 7\n  (1, 1) 3  (1, 4) 7  (3, 2) 5", tostring(S))
    assert.equal("sparse(1 x 1): 0 entries (0%)", tostring(pn.sparse { rows = 1, cols = 1, i = {}, j = {}, x = {} }))
    assert.equal(0, pn.sparse({ rows = 1, cols = 1, i = {}, j = {}, x = {} }).nnz)
  end)

  it("multiplies a vector as the dense matrix does, and so does its transpose", function()
    assert.same({ 703 - 700 + 7000, 0, 50 }, (S * pn.vec { 1, 10, 100, 1000 }):table())
    assert.equal(S:dense():t(), S:t():dense())
    assert.equal(S:dense():t() * { 1, 2, 3 }, S:t() * { 1, 2, 3 })
    refused_like("sparse %* vec: 3 x 4 and 3 entries", function()
      return S * { 1, 2, 3 }
    end)
  end)

  it("agrees with the dense matrix at random places", function()
    local rng = pn.rng.seeded(5)
    local n, i, j = 500, {}, {}
    local where = pn.vec.normal(2 * n, rng)
    for k = 1, n do
      i[k] = math.floor(math.abs(where[k]) * 1e6) % 40 + 1
      j[k] = math.floor(math.abs(where[n + k]) * 1e6) % 30 + 1
    end
    local x, v = pn.vec.normal(n, rng), pn.vec.normal(30, rng)
    local dense = pn.mat.zeros(40, 30)
    for k = 1, n do
      dense:set(i[k], j[k], dense:get(i[k], j[k]) + x[k])
    end
    local sparse = pn.sparse { rows = 40, cols = 30, i = i, j = j, x = x }
    assert.equal(dense, sparse:dense())
    assert.is_true((dense * v - sparse * v):norm(math.huge) < 1e-13)
  end)

  it("refuses places outside, lists of unequal length and unknown options", function()
    local function make(change)
      local options = { rows = 2, cols = 2, i = { 1 }, j = { 1 }, x = { 1 } }
      for name, value in pairs(change) do
        options[name] = value
      end
      return pn.sparse(options)
    end
    refused_like("sparse: i%[1%] must be a whole number from 1 to 2, got 3", make, { i = { 3 } })
    refused_like("sparse: j%[1%] must be a whole number from 1 to 2, got 0", make, { j = { 0 } })
    refused_like("sparse: i%[1%] must be a whole number from 1 to 2, got 1.5", make, { i = { 1.5 } })
    refused_like("i, j and x have 1, 2 and 1 entries", make, { j = { 1, 2 } })
    refused_like("entry 1 must be a finite number", make, { x = { math.huge } })
    refused_like("unknown option 'k'", make, { k = 1 })
    refused_like("rows must be a whole number from 1", make, { rows = 0 })
    refused_like("columns, got 4294967296", make, { cols = 1 << 32 })
    refused_like("rows", pn.sparse, { cols = 1, i = {}, j = {}, x = {} })
  end)

  it("does not change and knows no other operators", function()
    refused_like("cannot be changed", function()
      S[1] = 2
    end)
    refused_like("no field 'size'", function()
      return S.size
    end)
    refused_like("sparse %* number is not defined", function()
      return S * 2
    end)
    refused_like("exp%(sparse%) is not defined", pn.exp, S)
  end)
end)
