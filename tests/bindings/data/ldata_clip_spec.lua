-- ldata_clip_spec.lua -- the option clip_rows of the loaders: the same bits and bounds as clip_rows of what they load.
local pn = require "penumbra"
local refused_with = require("tests.tools.refusal").refused_with

local files = require "tests.runtime.data.files"
local write = files.write

local function same(a, b)
  assert.equal(a.n, b.n)
  for j = 1, a.p do
    local e = pn.vec.zeros(a.p)
    e[j] = 1
    local left, right = a.X * e, b.X * e
    for i = 1, a.n do assert.equal(left[i], right[i]) end
  end
  for _, norm in ipairs{"l1", "l2", "linf"} do assert.equal(a.bounds[norm], b.bounds[norm]) end
end

describe("clip_rows of a loader", function()
  after_each(files.clear)

  it("clips what a LIBSVM file, dense or sparse, a CSV file and NPY files hold", function()
    local libsvm = write "1 1:3 2:4\n-1 2:0.25\n-1 1:-7 3:1e300\n"
    local csv = write "3,4,0,1\n0,0.25,0,-1\n-7,0,1e300,-1\n"
    local x = write(files.npy("<f8", "3, 3", ("<ddddddddd"):pack(3, 4, 0, 0, 0.25, 0, -7, 0, 1e300)))
    local y = write(files.npy("<f8", "3,", ("<ddd"):pack(1, -1, -1)))
    for _, clip in ipairs{{"l1", 2}, {"l2", 1}, {"linf", 0.5}} do
      for _, sparse in ipairs{true, false} do
        same(pn.data.libsvm(libsvm, {sparse = sparse}):clip_rows(clip[1], clip[2]),
          pn.data.libsvm(libsvm, {sparse = sparse, clip_rows = clip}))
      end
      same(pn.data.csv(csv):clip_rows(clip[1], clip[2]), pn.data.csv(csv, {clip_rows = clip}))
      same(pn.data.npy(x, y):clip_rows(clip[1], clip[2]), pn.data.npy(x, y, {clip_rows = clip}))
    end
    local d = pn.data.libsvm(libsvm, {clip_rows = {"l2", 1}})
    assert.equal(1, d.bounds.l2)
    assert.is_true(d.X[1]:norm() <= 1 and d.X[1]:norm() > 1 - 1e-13)
  end)

  it("says what it takes", function()
    local path = write "1 1:3\n-1 1:4\n"
    local function no_clip(text, clip)
      refused_with(text, pn.data.libsvm, path, {clip_rows = clip})
    end
    no_clip("data.libsvm: clip_rows must be a norm and a bound such as {\"l2\", 1}, got l2", "l2")
    no_clip("data.libsvm: the norm of clip_rows must be \"l1\", \"l2\" or \"linf\", got 2", {2, 1})
    no_clip("data.libsvm: the bound of clip_rows must be a number, got nil", {"l2"})
    no_clip("clip_rows: bound must be a positive number (from 2^-400 to 2^400), got 0", {"l2", 0})
  end)
end)
