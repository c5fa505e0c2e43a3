-- lvec_spec.lua -- pn.vec.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like
local tier = require "tests.tools.tier"
local law = tier.law(it)
local vec = pn.vec

local function list(v)
  assert.equal("pn.vec", getmetatable(v).__name)
  return v:table()
end

describe("pn.vec", function()
  describe("constructors", function()
    it("make a vector of a list, or a copy of a vector", function()
      local v = vec { 1, 2.5, -3 }
      local w = vec(v)
      w[1] = 7
      assert.same({ 1, 2.5, -3 }, list(v))
      assert.same({ 7, 2.5, -3 }, list(w))
      assert.equal(0, #vec {})
    end)

    it("make zeros, ones, a basis vector and equal steps", function()
      assert.same({ 0, 0, 0 }, list(vec.zeros(3)))
      assert.same({ 1, 1 }, list(vec.ones(2)))
      assert.same({ 0, 1, 0 }, list(vec.basis(3, 2)))
      assert.same({ 0, 0.25, 0.5, 0.75, 1 }, list(vec.linspace(0, 1, 5)))
      assert.same({ 5 }, list(vec.linspace(5, 6, 1)))
    end)

    it("keep both ends of linspace exact and its whole numbers whole, whatever its size", function()
      local v = vec.linspace(0, 49, 50)
      for i = 1, 50 do
        assert.equal(i - 1, v[i])
      end
      assert.equal(0.3, vec.linspace(0.1, 0.3, 8)[8])
      local wide = vec.linspace(-1.7e308, 1.7e308, 3)
      assert.same({ -1.7e308, 0, 1.7e308 }, list(wide))
    end)

    it("draw the same normal numbers from the same seed", function()
      local n = 100000
      local v = vec.normal(n, pn.rng.seeded(1))
      assert.equal(v, vec.normal(n, pn.rng.seeded(1)))
      assert.are_not.equal(v, vec.normal(n, pn.rng.seeded(2)))
      -- mean ~ N(0, 1/n) and sum v^2 ~ chi^2(n), about N(n, 2n): 5.5 standard deviations on both sides miss with
      -- probability 4e-8 each; a scale off by 1.1 moves the second by 0.21 n, 47 standard deviations.
      assert.is_true(math.abs(v:sum()) < 5.5 * math.sqrt(n))
      assert.is_true(math.abs(v:dot(v) - n) < 5.5 * math.sqrt(2 * n))
    end)

    it("refuse what is not a list of finite numbers, with the position", function()
      refused_like("entry 2 must be a finite number, got %-?nan", vec, { 1, 0 / 0 })
      refused_like("entry 1 must be a finite number, got inf", vec, { math.huge })
      refused_like("entry 3 must be a number, got string", vec, { 1, 2, "3" })
      refused_like("entry 2 must be a number, got nil", vec, { 1, nil, 3 })
      refused_like("a table with the key 'x'", vec, { x = 1 })
      refused_like("expected a list of numbers.*got number", vec, 3)
      refused_like("expected a list of numbers.*got no value", vec)
    end)

    it("refuse sizes and indices that make no sense", function()
      refused_like("vec.zeros: n must be a whole number from 1, got 0", vec.zeros, 0)
      refused_like("vec.zeros: n must be a whole number from 1, got 1.5", vec.zeros, 1.5)
      refused_like("vec.ones: n must be a whole number from 1, got %-1", vec.ones, -1)
      refused_like("vec.basis: i must be a whole number from 1 to 3, got 4", vec.basis, 3, 4)
      refused_like("vec.linspace: b must be a finite number, got inf", vec.linspace, 0, math.huge, 3)
    end)

    it("refuse more memory than there is, as an error that can be caught", function()
      refused_like("not enough memory for 281474976710656 numbers", vec.zeros, 1 << 48)
      refused_like("vec.zeros: n must be at most 2^48, got 1152921504606846976", vec.zeros, 1 << 60)
      refused_like("vec.ones: n must be at most 2^48", vec.ones, math.maxinteger)
    end)
  end)

  describe("entries", function()
    it("are read and set by index from 1", function()
      local v = vec { 1, 2, 3 }
      v[2] = 20
      assert.equal(20, v[2])
      assert.equal(3, #v)
      local seen = {}
      for i, x in pairs(v) do
        seen[i] = x
      end
      assert.same({ 1, 20, 3 }, seen)
    end)

    it("are refused outside the vector, with the index and the length", function()
      local v = vec { 1, 2, 3 }
      for _, i in ipairs { 0, 4, -1, 1.5, math.maxinteger, math.mininteger } do
        refused_like("index must be a whole number from 1 to 3, got " .. tostring(i):gsub("%-", "%%-"), function()
          return v[i]
        end)
        refused_like("index must be a whole number from 1 to 3", function()
          v[i] = 1
        end)
      end
      refused_like("got 4 %(in a loop: pairs%(v%), not ipairs%(v%)%)", function()
        for _ in ipairs(v) do end
      end)
      refused_like("no field 'lenght'", function()
        return v.lenght
      end)
      refused_like("no field 'x'", function()
        v.x = 1
      end)
      refused_like("got nil", function()
        return v[nil]
      end)
    end)

    it("refuse NaN, infinity and what is no number", function()
      local v = vec { 1, 2 }
      for _, x in ipairs { 0 / 0, math.huge, -math.huge, "1", {} } do
        refused_like("the new entry must be a finite number", function()
          v[1] = x
        end)
      end
      assert.same({ 1, 2 }, list(v))
    end)
  end)

  describe("views", function()
    it("share their numbers with the vector, also a view of a view", function()
      local v = vec { 1, 2, 3, 4, 5 }
      local s = v:slice(2, 4)
      local t = s:slice(2)
      t[1] = 30
      assert.same({ 1, 2, 30, 4, 5 }, list(v))
      assert.same({ 2, 30, 4 }, list(s))
      assert.same({ 30, 4 }, list(t))
      local A = v:slice(1, 4):reshape(2, 2)
      A:set(2, 2, 44)
      assert.equal(44, v[4])
    end)

    it("outlive the vector, collected or closed", function()
      local view
      do
        local v <close> = vec { 1, 2, 3 }
        view = v:slice(2, 3)
      end
      collectgarbage()
      assert.same({ 2, 3 }, list(view))
      view = vec.ones(100000):slice(1, 99999):reshape(9, 11111)[2]:slice(5, 6)
      collectgarbage()
      assert.same({ 1, 1 }, list(view))
    end)

    it("of the numbers of another object cannot change them, by any way", function()
      local d = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, -1 })
      for _, change in ipairs {
        function() d.y[1] = 5 end,
        function() d.y:slice(1)[1] = 5 end,
        function() d.y:axpy(1, { 1, 1 }) end,
        function() d.X:set(1, 1, 5) end,
        function() d.X[1][1] = 5 end,
        function() d.X:vec()[1] = 5 end,
        function() d.X:vec():reshape(1, 4):set(1, 1, 5) end,
      } do
        refused_like("belong to an object and cannot be changed; change a copy", change)
      end
      assert.equal(pn.mat { { 1, 2 }, { 3, 4 } }, d.X)
      local copy = d.y:copy()
      copy[1] = 5
      assert.same({ 5, -1 }, list(copy))
      assert.same({ 1, -1 }, list(d.y))
    end)

    it("leave copies alone", function()
      local v = vec { 1, 2 }
      v:copy()[1] = 9
      v:table()[1] = 9
      assert.same({ 1, 2 }, list(v))
    end)

    it("are refused outside the vector or in shapes that do not fit", function()
      local v = vec { 1, 2, 3 }
      refused_like("slice: i must be a whole number from 1 to 3, got 0", v.slice, v, 0, 2)
      refused_like("slice: j must be a whole number from 1 to 3, got 4", v.slice, v, 1, 4)
      refused_like("slice: j must not be below i, got 3 and 2", v.slice, v, 3, 2)
      refused_like("reshape: 3 entries do not fill 2 x 2", v.reshape, v, 2, 2)
      refused_like("reshape: 3 entries do not fill", v.reshape, v, 1 << 48, 1 << 16)
      refused_like("reshape: rows must be at most 2^48", v.reshape, v, 1 << 62, 4)
    end)
  end)

  describe("operators", function()
    it("work entry by entry, with a number for either side", function()
      local a, b = vec { 1, 2, 4 }, vec { 8, 4, 2 }
      assert.same({ 9, 6, 6 }, list(a + b))
      assert.same({ -7, -2, 2 }, list(a - b))
      assert.same({ 8, 8, 8 }, list(a * b))
      assert.same({ 8, 2, 0.5 }, list(b / a))
      assert.same({ 1, 4, 16 }, list(a ^ 2))
      assert.same({ 1, 16, 16 }, list(a ^ vec { 3, 4, 2 }))
      assert.same({ -1, -2, -4 }, list(-a))
      assert.same({ 11, 12, 14 }, list(10 + a))
      assert.same({ 9, 8, 6 }, list(10 - a))
      assert.same({ -9, -8, -6 }, list(a - 10))
      assert.same({ 3, 6, 12 }, list(3 * a))
      assert.same({ 0.5, 1, 2 }, list(a / 2))
      assert.same({ 4, 2, 1 }, list(4 / a))
      assert.same({ 2, 4, 16 }, list(2 ^ a))
      assert.same({ 2, 4, 7 }, list(a + { 1, 2, 3 }))
    end)

    it("let arithmetic overflow and divide by zero", function()
      local v = vec { 1, -1, 0 } / 0
      assert.equal(math.huge, v[1])
      assert.equal(-math.huge, v[2])
      assert.are_not.equal(v[3], v[3])
    end)

    it("compare for equality by length and numbers", function()
      assert.is_true(vec { 1, 2 } == vec { 1, 2 })
      assert.is_false(vec { 1, 2 } == vec { 1, 3 })
      assert.is_false(vec { 1, 2 } == vec { 1, 2, 3 })
      assert.is_true(vec { 0 } == -vec { 0 })
      assert.is_false(vec { 0 } / 0 == vec { 0 } / 0)
      assert.is_false(vec { 1 } == pn.mat { { 1 } })
      assert.is_false(rawequal(vec { 1 }, 1))
    end)

    it("name both sizes, or both kinds, when they do not fit", function()
      local v = vec { 1, 2, 3 }
      refused_like("vec %+ vec: the vectors have 3 and 4 entries", function()
        return v + vec { 1, 2, 3, 4 }
      end)
      refused_like("vec %^ vec: the vectors have 3 and 1 entries", function()
        return v ^ vec { 1 }
      end)
      refused_like("vec %+ string is not defined", function()
        return v + "1"
      end)
      refused_like("nil / vec is not defined", function()
        return nil / v
      end)
      refused_like("vec %* mat is not defined; write A:t%(%) %* v", function()
        return v * pn.mat { { 1, 2, 3 } }
      end)
      refused_like("entry 2 must be a finite number", function()
        return v + { 1, 0 / 0, 2 }
      end)
    end)

    it("refuse < and <= and name what to write", function()
      local v = vec { 1 }
      for _, compare in ipairs {
        function() return v < v end,
        function() return v <= 2 end,
        function() return 1 > v end,
      } do
        refused_like("lt, le, gt or ge, and choose with where", compare)
      end
    end)
  end)

  describe("reductions", function()
    it("agree with their definitions", function()
      local v = vec { 3, -4, 0 }
      assert.equal(5, v:norm())
      assert.equal(5, v:norm(2))
      assert.equal(7, v:norm(1))
      assert.equal(4, v:norm(math.huge))
      assert.equal(-1, v:sum())
      assert.equal(-10, v:dot { 2, 4, 9 })
      assert.equal(0, vec({}):sum())
      refused_like("norm: the kind must be 1, 2 or math.huge, got 3", v.norm, v, 3)
      refused_like("dot: 3 and 2 entries", v.dot, v, vec { 1, 2 })
    end)

    it("find the first extreme and its index", function()
      local v = vec { 2, 7, -1, 7, -1 }
      assert.same({ 7, 2 }, { v:max() })
      assert.same({ -1, 3 }, { v:min() })
      assert.equal(2, v:argmax())
      assert.equal(1, select("#", v:argmax()))
      local x, i = (v / vec { 1, 1, 0, 0, 1 } - vec { 0, 0, 0, 1, 0 } / 0):max()
      assert.are_not.equal(x, x)
      assert.equal(1, i)
      refused_like("max: the vector has no entries", vec.zeros(1).max, vec {})
    end)

    it("are right for a million entries", function()
      local n = 1000000
      local v = vec.linspace(1, n, n)
      assert.equal(n * (n + 1) / 2, v:sum()) -- below 2^53
      assert.same({ n, n }, { v:max() })
      assert.is_true(math.abs(v:dot(v) / (n * (n + 1) * (2 * n + 1) / 6) - 1) < 1e-13)
    end)
  end)

  describe("methods", function()
    it("axpy changes the vector in place and returns it", function()
      local v = vec { 1, 2 }
      assert.is_true(rawequal(v, v:axpy(10, { 1, 1 })))
      assert.same({ 11, 12 }, list(v))
      refused_like("axpy: 2 and 3 entries", v.axpy, v, 1, { 1, 2, 3 })
      refused_like("axpy: alpha must be a finite number", v.axpy, v, 0 / 0, { 1, 2 })
      assert.same({ 11, 12 }, list(v))
    end)

    it("axpy reads an overlapping view before it writes", function()
      local v = vec { 1, 2, 3, 4 }
      v:slice(2, 4):axpy(1, v:slice(1, 3))
      assert.same({ 1, 3, 5, 7 }, list(v))
      v:axpy(1, v)
      assert.same({ 2, 6, 10, 14 }, list(v))
    end)

    it("scale returns a new vector", function()
      local v = vec { 1, 2 }
      assert.same({ -2, -4 }, list(v:scale(-2)))
      assert.same({ 1, 2 }, list(v))
    end)

    it("map calls its function once with a symbol and runs what it returns over the entries", function()
      local v, calls = vec { -1, 0, 2 }, 0
      local mapped = v:map(function(t)
        calls = calls + 1
        return pn.where(pn.gt(t, 0), t ^ 2, 0 * t) + 1
      end)
      assert.equal(1, calls)
      assert.same({ 1, 1, 5 }, list(mapped))
      assert.equal(pn.exp(v), v:map(function(t) return pn.exp(t) end))
      assert.equal(pn.exp(v), v:map(pn.exp))
      assert.same({ 3, 3, 3 }, list(v:map(function() return 3 end)))
      assert.same({ 0, 0, 1 }, list(v:map(function(t) return pn.gt(t, 0) end)))
      assert.equal(0, #vec({}):map(function(t) return t + 1 end))
      local same = v:map(function(t) return t end)
      same[1] = 9
      assert.equal(-1, v[1])
      assert.same({ 1, 9 }, list(v:slice(2, 3):map(function(t) return (t + 1) ^ 2 end)))
    end)

    it("map covers a vector that several threads share, to the last entry", function()
      local n = 1000003
      local v = vec.linspace(1, n, n)
      local mapped = v:map(function(t) return 2 * t - 1 end)
      assert.equal(n, #mapped)
      assert.equal(n * n, mapped:sum()) -- the odd numbers; exact below 2^53
      assert.equal(2 * n - 1, mapped[n])
      assert.equal(n, v[n])
    end)

    it("map refuses what cannot be traced and hands on the function's own error", function()
      local v, boom = vec { 1, 2 }, { "boom" }
      local line = debug.getinfo(1, "l").currentline + 2
      refused_like("^v:map: .*lvec_spec.lua:" .. line .. ": t > 0 cannot be decided.*pn.where%(pn.gt%(t, 0%), a, b%)", v.map,
        v, function(t) return t > 0 and t or 0 end)
      refused_like("returned 2 values; it must return an expression of t", v.map, v, function(t) return "x", t end)
      refused_like("returned nil; it must return an expression of t", v.map, v, function(t) return t and nil end)
      refused_like("returned a pn.vec", v.map, v, function() return vec { 1, 2 } end)
      refused_like("t %* vec: the function is traced with one scalar symbol", v.map, v, function(t) return t * v end)
      refused_like("v:map: expected a function, got nil", v.map, v)
      local ok, err = pcall(v.map, v, function() error(boom) end)
      assert.is_false(ok)
      assert.equal(boom, err)
    end)

    it("map notices that its function closed the vector", function()
      local v = vec { 1, 2 }
      refused_like("closed", v.map, v, function(t)
        local _ <close> = v
        return t
      end)
    end)

    it("say what they are called on", function()
      refused_like("expected a pn.vec, got a table", vec.zeros(1).norm, { 1 })
      local v = vec { 1 }
      do
        local _ <close> = v
      end
      refused_like("closed", v.norm, v)
    end)
  end)

  it("prints short vectors in full and long ones shortened", function()
    assert.equal("vec(3): 1 -2.5 0.333333", tostring(vec { 1, -2.5, 1 / 3 }))
    assert.equal("vec(0):", tostring(vec {}))
    assert.equal("vec(10): 1 2 3 4 5 6 7 8 9 10", tostring(vec.linspace(1, 10, 10)))
    assert.equal("vec(20): " .. ("0 "):rep(19) .. "0", tostring(vec.zeros(20)))
    assert.equal("vec of 1000, 1 to 1000, mean 500.5:\n  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 " ..
      "... 998 999 1000", tostring(vec.linspace(1, 1000, 1000)))
  end)

  it("counts what is zero or not finite when it shortens", function()
    local v = vec.zeros(60)
    v[1], v[60] = 1e300, 3
    assert.matches("^vec of 60, 0 to 1e%+300, mean 1.667e%+298, 58 zeros:\n  1e%+300 0 .* %.%.%. 0 0 3$", tostring(v))
    local nan = vec.zeros(60) / 0
    assert.matches("^vec of 60, 60 nan:\n  nan nan", tostring(nan))
    local mixed = vec.ones(60) / vec.basis(60, 2)
    assert.matches("^vec of 60, 1 to 1, mean 1, 59 inf:\n  inf 1 inf", tostring(mixed))
    assert.equal("vec(2): nan inf", tostring(vec { 0, 1 } / vec { 0, 0 }))
  end)

  it("ends its lines at column 80 however long its numbers are", function()
    local texts = { tostring(vec.ones(10) * -1.23456e-100), tostring(vec.ones(100) * -1.23456e-100) }
    for _, text in ipairs(texts) do
      for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    end
    assert.equal(10, select(2, texts[1]:gsub("%-1.23456e%-100", "")))
  end)

  it("has a mean, a deviation, an order and quantiles", function()
    local v = vec { 3, -4, 1, 10 }
    assert.equal(2.5, v:mean())
    assert.is_true(math.abs(v:std() - math.sqrt((0.25 + 42.25 + 2.25 + 56.25) / 3)) < 1e-14)
    assert.equal(vec { -4, 1, 3, 10 }, v:sort())
    assert.equal(vec { 3, -4, 1, 10 }, v)
    assert.equal(2, v:quantile(0.5))
    assert.equal(vec { -4, -0.25, 4.75, 10 }, v:quantile { 0, 0.25, 0.75, 1 }) -- as numpy's and R's default
    assert.equal(7, vec { 7 }:quantile(0.3))
    local far = vec { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 }
    assert.is_true(math.abs(far:std() - math.sqrt(30)) < 1e-9)
    assert.equal(0, vec.ones(9):std())
    assert.equal(math.huge, (vec { 1, 1, 1 } / vec { 1, 0, 0 }):quantile(0.75))
    assert.equal(0, #vec {}:sort())
  end)

  it("says where statistics of it are no number, and refuses what there is none of", function()
    local nan = vec { 2, 0, 1 } / vec { 1, 0, 1 }
    assert.is_true(nan:mean() ~= nan:mean() and nan:std() ~= nan:std() and nan:quantile(0) ~= nan:quantile(0))
    assert.matches("vec%(3%): 1 2 %-?nan", tostring(nan:sort()))
    local function refused(text, ...)
      local fine, why = pcall(...)
      assert.is_false(fine)
      assert.matches(text, tostring(why), 1, true)
    end
    local none = vec {}
    refused("mean: takes 1 entry or more, the vector has 0", none.mean, none)
    refused("std: takes 2 entries or more, the vector has 1", none.std, vec { 1 })
    refused("quantile: takes 1 entry or more", none.quantile, none, 0.5)
    for _, q in ipairs { -0.1, 1.5, 0 / 0 } do
      refused("quantile: q must be from 0 to 1", none.quantile, vec { 1, 2 }, q)
      refused("quantile: q", none.quantile, vec { 1, 2 }, { 0.5, q })
    end
  end)

  law("is collected in time when it is large", function()
    local function resident()
      local file = io.open "/proc/self/status"
      local kilobytes = file and tonumber(file:read("a"):match "VmRSS:%s*(%d+) kB") or 0
      return kilobytes, file and file:close()
    end
    -- 3 GB in all; without weight the collector would see 400 small boxes and let them stand.
    local before, most = resident(), 0
    for _ = 1, 400 do
      vec.ones(1000000)
      most = math.max(most, (resident()))
    end
    assert.is_true(most - before < 1000000)
  end)
end)
