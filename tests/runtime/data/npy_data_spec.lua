-- npy_data_spec.lua -- a data set from two NumPy files, and NumPy files under gzip.  Files are built byte by byte.
local pn = require "penumbra"
local files = dofile(debug.getinfo(1, "S").source:match("^@(.*)npy_data_spec.lua$") .. "files.lua")

local X = files.npy("<f8", "2, 3", ("<dddddd"):pack(1, 2, 3, 4, 5, 6))
local y = files.npy("<f8", "2,", ("<dd"):pack(-1, 1))

local function load(xbytes, ybytes)
  return pn.data.npy(files.write(xbytes), files.write(ybytes))
end

-- The message without the names of the files, which come out as X and Y.
local function error_of(xbytes, ybytes)
  local xpath, ypath = files.write(xbytes), files.write(ybytes)
  local message = files.error_of(xpath, pn.data.npy, xpath, ypath)
  return (message:gsub("FILE", "X"):gsub(ypath:gsub("%p", "%%%0"), "Y"):gsub("^[^ ]*:%d+: ", ""))
end

describe("the NPY loader", function()
  after_each(files.clear)

  it("takes features from one file and labels from the other", function()
    local path = files.write(X)
    local d = pn.data.npy(path, files.write(y))
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, files.rows(d.X))
    assert.same({ -1, 1 }, d.y:table())
    assert.same({ 2, 3, false, "float64" }, { d.n, d.p, d.sparse, d.storage })
    assert.equal(path:match "[^/]*$", d.name)
    assert.same({}, d.bounds)
    assert.same({ l1 = 2, l2 = 2, linf = 2 }, d:clip_rows("l1", 2).bounds)
  end)

  it("reads floats, Fortran order, whole and boolean labels, and labels as one column", function()
    local floats = files.npy("<f4", "2, 3", ("<ffffff"):pack(1, 2, 3, 4, 5, 6), true)
    local d = load(floats, files.npy("|b1", "2,", "\0\1"))
    assert.same({ { 1, 3, 5 }, { 2, 4, 6 } }, files.rows(d.X))
    assert.same({ 0, 1 }, d.y:table())
    assert.same({ -7, 9 }, load(X, files.npy("<i4", "2, 1", ("<i4i4"):pack(-7, 9))).y:table())
    assert.same({ 7, 9 }, load(X, files.npy("|u1", "2,", "\7\9")).y:table())
  end)

  it("names both files and both sizes when they disagree", function()
    assert.equal("data.npy: X has 2 records, Y has 3 labels", error_of(X, files.npy("<f8", "3,", ("<ddd"):pack(1, 2, 3))))
    assert.equal("X: the features must have two dimensions, records x features, got one (2)", error_of(y, y))
    assert.equal("Y: the labels must be one number for each record, got 2 x 3", error_of(X, X))
  end)

  it("says which entry of which file is no number", function()
    assert.equal("X: entry (2, 1) is not finite",
      error_of(files.npy("<f8", "2, 1", ("<dd"):pack(1, 1 / 0)), y))
    assert.equal("Y: entry 1 is not finite", error_of(X, files.npy("<f4", "2,", ("<ff"):pack(0 / 0, 1))))
    assert.equal("Y: not a .npy file", error_of(X, "1\n2\n"))
  end)

  it("wants two paths", function()
    local path = files.write(X)
    assert.matches("data.npy: the second argument must be the path of a file, got no value",
      files.error_of(path, pn.data.npy, path))
    assert.matches("data.npy: the first argument must be the path of a file, got table",
      files.error_of(path, pn.data.npy, {}, path))
    assert.matches("the path contains a zero byte", files.error_of(path, pn.data.npy, path .. "\0", path))
    assert.matches("/nowhere/y.npy: No such file", files.error_of(path, pn.data.npy, path, "/nowhere/y.npy"))
  end)
end)

describe("NPY files under gzip", function()
  after_each(files.clear)

  it("are read as they are, whatever they are called", function()
    local d = load(files.gzip(X), files.gzip(y))
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, files.rows(d.X))
    assert.same({ -1, 1 }, pn.load(files.write(files.gzip(y))):table())
    local long = {}
    for k = 1, 20000 do
      long[k] = k
    end
    local body = ("<" .. ("d"):rep(100)):rep(1)
    local parts = {}
    for k = 1, 200 do
      parts[k] = body:pack(table.unpack(long, 100 * k - 99, 100 * k))
    end
    assert.same(long, pn.load(files.write(files.gzip(files.npy("<f8", "20000,", table.concat(parts))))):table())
  end)

  it("are refused when they are cut short or damaged, wherever that is", function()
    local whole = files.gzip(y)
    for length = 0, #whole - 1 do
      assert.is_false(pcall(pn.load, files.write(whole:sub(1, length))))
    end
    for at = #whole - 40, #whole do -- entries and check sums
      local other = string.char(whole:byte(at) ~ 1)
      local path = files.write(whole:sub(1, at - 1) .. other .. whole:sub(at + 1))
      assert.matches("FILE: .*", files.error_of(path, pn.load, path))
    end
    local path = files.write(whole:sub(1, -9))
    assert.matches("FILE: the gzip stream is cut short %(truncated file%)", files.error_of(path, pn.load, path))
    path = files.write(whole:sub(1, -2) .. "\7")
    assert.matches("FILE: the gzip stream is damaged %(corrupt file%)", files.error_of(path, pn.load, path))
  end)

  it("are refused when their header announces more or less than there is", function()
    local cases = {
      ["FILE: the header announces 800000000000000 bytes of entries, more than %d+ compressed bytes can hold"]
        = files.npy("<f8", "100000000000000,", ("<d"):pack(1)),
      ["FILE: fewer entries than the header announces"] = files.npy("<f8", "2,", ("<d"):pack(1)),
      ["FILE: more entries than the header announces"] = files.npy("<f8", "1,", ("<dd"):pack(1, 2)),
    }
    for message, bytes in pairs(cases) do
      local path = files.write(files.gzip(bytes))
      assert.matches(message, files.error_of(path, pn.load, path))
    end
  end)
end)
