-- lmat_spec.lua -- pn.mat.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like
local vec, mat = pn.vec, pn.mat

-- Rows as Lua lists.
local function lists(A)
  local out = {}
  for i = 1, A.rows do
    out[i] = A[i]:table()
  end
  return out
end

local function distance(A, B)
  return (A - B):vec():norm(math.huge)
end

describe("pn.mat", function()
  it("is made of rows, which may be lists or vectors, or of another matrix", function()
    local A = mat { { 1, 2, 3 }, vec { 4, 5, 6 } }
    assert.equal(2, A.rows)
    assert.equal(3, A.cols)
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, lists(A))
    local B, C = mat(A), A:copy()
    B:set(1, 1, 9)
    C:set(1, 1, 9)
    assert.equal(1, A:get(1, 1))
    assert.same({ { 0, 0 } }, lists(mat.zeros(1, 2)))
  end)

  it("refuses ragged, empty and non-finite rows, with the position", function()
    refused_like("row 2 has 3 entries, row 1 has 2", mat, { { 1, 2 }, { 1, 2, 3 } })
    refused_like("row 2: entry 1 must be a finite number, got %-?nan", mat, { { 1 }, { 0 / 0 } })
    refused_like("row 1: entry 2 is not finite", mat, { vec { 1, 1 } / { 1, 0 } })
    refused_like("row 1: entry 1 must be a number, got string", mat, { { "1" } })
    refused_like("row 1 must be a list of numbers or a vector, got number", mat, { 1, 2 })
    refused_like("got an empty table", mat, {})
    refused_like("row 1 has no entries", mat, { {} })
    refused_like("expected a list of rows.*got nil", mat, nil)
    refused_like("mat.zeros: cols must be a whole number from 1, got n", mat.zeros, 2)
    refused_like("mat: rows x cols, 1073741824 x 1073741824, must be at most 2^48", mat.zeros, 1 << 30, 1 << 30)
    refused_like("must be at most 2^48", mat.zeros, 1 << 40, 1 << 40)
    refused_like("not enough memory for 16777216 x 16777216", mat.zeros, 1 << 24, 1 << 24)
  end)

  it("reads and sets entries from 1, and refuses others", function()
    local A = mat { { 1, 2 }, { 3, 4 } }
    assert.is_true(rawequal(A, A:set(2, 1, 30)))
    assert.equal(30, A:get(2, 1))
    A[1][2] = 20
    assert.same({ { 1, 20 }, { 30, 4 } }, lists(A))
    refused_like("get: row must be a whole number from 1 to 2, got 3", A.get, A, 3, 1)
    refused_like("get: column must be a whole number from 1 to 2, got 0", A.get, A, 1, 0)
    refused_like("set: the new entry must be a finite number, got inf", A.set, A, 1, 1, math.huge)
    refused_like("mat: row must be a whole number from 1 to 2, got 3", function()
      return A[3]
    end)
    refused_like("no field 'row'", function()
      return A.row
    end)
    refused_like("set one entry at a time", function()
      A[1] = { 1, 2 }
    end)
  end)

  it("lends views that share its numbers and outlive it", function()
    local A = mat { { 1, 2 }, { 3, 4 } }
    A:vec()[3] = 30
    assert.equal(30, A:get(2, 1))
    local row
    do
      local B <close> = mat { { 5, 6 }, { 7, 8 } }
      row = B[2]
    end
    collectgarbage()
    assert.same({ 7, 8 }, row:table())
  end)

  it("multiplies vectors, matrices and numbers", function()
    local A = mat { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ 14, 32 }, (A * vec { 1, 2, 3 }):table())
    assert.same({ 6, 15 }, (A * { 1, 1, 1 }):table())
    assert.same({ { 14, 32 }, { 32, 77 } }, lists(A * A:t()))
    assert.same({ { 1, 4 }, { 2, 5 }, { 3, 6 } }, lists(A:t()))
    assert.same({ { 2, 4, 6 }, { 8, 10, 12 } }, lists(2 * A))
    assert.same(lists(2 * A), lists(A * 2))
    assert.same({ { 0.5, 1, 1.5 }, { 2, 2.5, 3 } }, lists(A / 2))
    assert.same({ { -1, -2, -3 }, { -4, -5, -6 } }, lists(-A))
    assert.same(lists(2 * A), lists(A + A))
    assert.same({ { 0, 0, 0 }, { 0, 0, 0 } }, lists(A - A))
  end)

  it("multiplies large matrices as the definition says", function()
    local rng = pn.rng.seeded(3)
    local A, B = vec.normal(130 * 70, rng):reshape(130, 70), vec.normal(70 * 90, rng):reshape(70, 90)
    local C, Bt = A * B, B:t()
    for i = 1, 130, 43 do
      for j = 1, 90, 29 do
        -- |error| <= 2 n eps |a| |b| (Higham 2002, section 3.1)
        assert.is_true(math.abs(C:get(i, j) - A[i]:dot(Bt[j])) <= 140 * 2.3e-16 * A[i]:norm() * Bt[j]:norm())
      end
      assert.is_true((C[i] - Bt * A[i]):norm(math.huge) < 1e-12)
    end
    assert.is_true(B == Bt:t())
  end)

  it("maps every entry by a traced function, to a new matrix of the same shape", function()
    local A = mat { { -1, 0, 1 }, { 2, 3, 4 } }
    assert.same({ { 1, 0, 1 }, { 4, 6, 8 } }, lists(A:map(function(t) return pn.where(pn.gt(t, 1), 2 * t, t ^ 2) end)))
    assert.same({ { -1, 0, 1 }, { 2, 3, 4 } }, lists(A))
    refused_like("^A:map: .*lmat_spec.lua:%d+: t > 0 cannot be decided", A.map, A, function(t) return t > 0 and t or 0 end)
    refused_like("closed", A.map, A, function(t)
      local _ <close> = A
      return t
    end)
  end)

  it("is equal to a matrix of the same shape and numbers", function()
    assert.is_true(mat { { 1, 2 } } == mat { { 1, 2 } })
    assert.is_false(mat { { 1, 2 } } == mat { { 1 }, { 2 } })
    assert.is_false(mat { { 1, 2 } } == mat { { 1, 3 } })
  end)

  it("names both sizes when they do not fit", function()
    local A = mat { { 1, 2, 3 }, { 4, 5, 6 } }
    refused_like("mat %* mat: 2 x 3 and 2 x 3", function()
      return A * A
    end)
    refused_like("mat %* vec: 2 x 3 and 2 entries", function()
      return A * vec { 1, 2 }
    end)
    refused_like("mat %+ mat: 2 x 3 and 3 x 2", function()
      return A + A:t()
    end)
    refused_like("solve: the matrix must be square, got 2 x 3", A.solve, A, { 1, 2 })
    refused_like("solve: the matrix is 2 x 2, b has 3 entries", A.solve, A * A:t(), { 1, 2, 3 })
  end)

  it("has no other operators, and says what to write", function()
    local A = mat { { 1 } }
    refused_like("mat %+ number is not defined", function()
      return A + 1
    end)
    refused_like("number / mat is not defined", function()
      return 1 / A
    end)
    refused_like("mat / mat is not defined", function()
      return A / A
    end)
    refused_like("mat %^ number is not defined", function()
      return A ^ 2
    end)
    refused_like("lt, le, gt or ge", function()
      return A < A
    end)
    refused_like("exp%(A:vec%(%)%):reshape%(1, 1%)", pn.exp, A)
    refused_like("where takes numbers and vectors", pn.where, vec { 1 }, A, 0)
  end)

  it("factors into singular vectors and values", function()
    for _, A in ipairs {
      mat { { 4, 0, 1 }, { 2, 7, -1 }, { 0, 3, 5 }, { 1, -2, 6 } },
      mat { { 4, 0, 1, 2 }, { 2, 7, -1, 0 } },
      mat { { 3 } },
    } do
      local U, s, V = A:svd()
      local S = mat.zeros(#s, #s)
      for i = 1, #s do
        S:set(i, i, s[i])
      end
      assert.is_true(distance(U * S * V:t(), A) < 1e-13)
      assert.is_true(distance(U:t() * U, V:t() * V) < 1e-13)
      assert.equal(A.cols, V.rows)
    end
    -- The eigenvalues of A^T A are 45 and 5.
    local _, s = mat({ { 3, 0 }, { 4, 5 } }):svd()
    assert.is_true((s - { math.sqrt(45), math.sqrt(5) }):norm() < 1e-14)
    refused_like("svd: entry %(2, 1%) is not finite", function()
      local A = mat { { 1, 1 }, { 1, 1 } }
      return (A:vec() / { 1, 1, 0, 1 }):reshape(2, 2):svd()
    end)
  end)

  it("has eigenvalues and eigenvectors where it is symmetric", function()
    local A = mat { { 4, 1, -2 }, { 1, 2, 0 }, { -2, 0, 3 } }
    local w, V = A:eigen()
    local W = mat.zeros(3, 3)
    for i = 1, 3 do
      W:set(i, i, w[i])
      assert.is_true(i == 1 or w[i] >= w[i - 1])
    end
    assert.is_true(distance(V * W * V:t(), A) < 1e-13)
    assert.is_true(distance(V:t() * V, mat { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }) < 1e-13)
    assert.is_true((mat({ { 2, 1 }, { 1, 2 } }):eigen() - { 1, 3 }):norm() < 1e-14)
    assert.is_true((mat({ { 1, 1 + 1e-12 }, { 1, 1 } }):eigen() - { 0, 2 }):norm() < 1e-11) -- but for rounding
    refused_like("entry %(2, 1%) is 4, entry %(1, 2%) is 3; the matrix must be symmetric", function()
      return mat({ { 1, 3 }, { 4, 5 } }):eigen()
    end)
    refused_like("eigen: the matrix is 1 x 2", function() return mat({ { 1, 3 } }):eigen() end)
    refused_like("eigen: entry %(2, 2%) is not finite", function()
      return (mat({ { 1, 0 }, { 0, 1 } }):vec() / { 1, 1, 1, 0 }):reshape(2, 2):eigen()
    end)
  end)

  it("solves linear equations, and refuses a singular matrix", function()
    local A = mat { { 0, 2, 1 }, { 1, 1, 0 }, { 3, 0, -1 } }
    assert.is_true((A:solve { 1, -1, -2 } - { 1, -2, 5 }):norm() < 1e-13)
    local H = mat.zeros(12, 12) -- Hilbert's matrix, condition number 1.7e16
    for i = 1, 12 do
      for j = 1, 12 do
        H:set(i, j, 1 / (i + j - 1))
      end
    end
    refused_like("the 2 x 2 matrix is singular", function()
      return mat({ { 1, 2 }, { 2, 4 } }):solve { 1, 1 }
    end)
    refused_like("the 12 x 12 matrix is singular to working precision", H.solve, H, vec.ones(12))
  end)

  it("prints a small matrix whole, with its points below each other", function()
    assert.equal("mat(2 x 2):\n  1 2\n  3 4.5", tostring(mat { { 1, 2 }, { 3, 4.5 } }))
    assert.equal("mat(3 x 2):\n   1   -2.25\n  10.5  3\n   1    1e+20", tostring(mat { { 1, -2.25 }, { 10.5, 3 }, { 1, 1e20 } }))
    assert.equal("mat(1 x 2):\n  nan inf", tostring((vec { 0, 1 } / 0):reshape(1, 2)))
  end)

  it("prints of a large one its shape, range and as many columns and rows as there is room for", function()
    local lines = {}
    for line in tostring(vec.linspace(0, 9999, 10000):reshape(100, 100)):gmatch "[^\n]+" do
      assert.is_true(#line <= 80, line)
      lines[#lines + 1] = line
    end
    assert.equal("mat of 100 x 100, 0 to 9999, mean 5000, 1 zero:", lines[1])
    assert.matches("^     0    1    2 .* %.%.%.   99$", lines[2])
    assert.equal("  ...", lines[8])
    assert.matches("^  9900 9901 .* %.%.%. 9999$", lines[11])
    assert.equal(11, #lines)
  end)

  it("prints rows without columns that do not fit and without blanks at their ends", function()
    local text = tostring(vec.linspace(1, 2, 200):reshape(2, 100) * 1e-200)
    for line in text:gmatch "[^\n]+" do
      assert.is_true(#line <= 80, line)
      assert.is_nil(line:find " $")
    end
    assert.matches("\n  1e%-200 .* %.%.%. 1.49749e%-200\n", text)
  end)
end)
