-- vectors.lua -- plain tables of numbers for the specs of sets.  Used by: tests/runtime/geometry.
local vectors = {}

function vectors.numbers(v)
  local out = {}
  for i = 1, #v do
    out[i] = v[i]
  end
  return out
end

function vectors.near(want, got, tolerance)
  assert(#want == #got, ("%d entries, want %d"):format(#got, #want))
  for i = 1, #want do
    if not (math.abs(want[i] - got[i]) <= tolerance) then
      error(("entry %d is %.17g, want %.17g within %g"):format(i, got[i], want[i], tolerance), 2)
    end
  end
end

function vectors.random(rng, n, scale)
  local out = {}
  for i = 1, n do
    out[i] = scale * (2 * rng:uniform() - 1)
  end
  return out
end

-- Both sets have the same support, projection and gauge on random vectors of several sizes.
function vectors.same_set(C, D, tolerance)
  local rng = require("penumbra").rng.seeded(77)
  for k = 1, 20 do
    local v = vectors.random(rng, C.dim, 10 ^ (k % 4 - 2))
    local value, point = C:support(v)
    local other, place = D:support(v)
    assert(math.abs(value - other) <= tolerance * (1 + math.abs(other)))
    vectors.near(place, point, tolerance)
    vectors.near(D:project(v), C:project(v), tolerance)
    assert(C:contains(D:project(v), tolerance))
  end
end

-- The message of an error that must come.
function vectors.refused(f, options, text)
  local ok, message = pcall(f, options)
  assert(not ok, "no error: " .. text)
  assert(message:find(text, 1, true), message)
end

return vectors
