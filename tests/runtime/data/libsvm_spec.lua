-- libsvm_spec.lua -- reading "label index:value ..." text.  Numbers are those written in the texts.
local pn = require "penumbra"
local files = dofile(debug.getinfo(1, "S").source:match("^@(.*)libsvm_spec.lua$") .. "files.lua")

local function load(text, options)
  return pn.data.libsvm(files.write(text), options)
end

local function error_of(text, options)
  local path = files.write(text)
  return files.error_of(path, pn.data.libsvm, path, options)
end

describe("the LIBSVM loader", function()
  after_each(files.clear)

  it("reads labels, indices from 1 and values of every spelling", function()
    local d = load("+1 1:0.5 3:-2e-3\n-1 2:7 3:1E+2\n2.5 1:.25\n", { sparse = false })
    assert.equal(3, d.n)
    assert.equal(3, d.p)
    assert.is_false(d.sparse)
    assert.same({ { 0.5, 0, -0.002 }, { 0, 7, 100 }, { 0.25, 0, 0 } }, files.rows(d.X))
    assert.same({ 1, -1, 2.5 }, d.y:table())
  end)

  it("skips comments, blank lines and carriage returns and does without a last newline", function()
    local d = load("# head\r\n\r\n  \t\n1 1:2 # tail\n#1 9:9\n\t-1  2:3\t\r\n1 2:4", { sparse = false })
    assert.same({ { 2, 0 }, { 0, 3 }, { 0, 4 } }, files.rows(d.X))
    assert.same({ 1, -1, 1 }, d.y:table())
  end)

  it("passes over a byte order mark", function()
    assert.same({ { 4 } }, files.rows(load("\xEF\xBB\xBF1 1:4\n").X))
  end)

  it("keeps records without features", function()
    local d = load("1\n-1 2:1\n1 #\n", { sparse = false })
    assert.same({ { 0, 0 }, { 0, 1 }, { 0, 0 } }, files.rows(d.X))
  end)

  it("takes the width from cols when it is given", function()
    assert.equal(10, load("1 3:1\n", { cols = 10 }).p)
    assert.equal(10, load("1\n-1\n", { cols = 10 }).p)
    assert.equal(3, load("1 3:0\n").p) -- an explicit zero is a feature, too
  end)

  it("stores sparsely when fewer than 1 entry in 5 is present", function()
    assert.is_false(load("1 1:1 5:0\n1 5:1\n").sparse) -- 2 of 10
    assert.is_true(load("1 1:1\n1 11:1\n").sparse) -- 2 of 22
    assert.is_true(load("1 1:1 2:1\n", { sparse = true }).sparse)
  end)

  it("refuses a large dense table whose width the file alone tells and hardly fills", function()
    local text = "1 1:1 60000000:1\n" -- 458 MB
    local ok, why = pcall(load, text, { sparse = false })
    assert.is_false(ok)
    assert.matches("largest index is 60000000, so that a dense table of 1 records takes 458 MB, and the file has 2 values", why)
    assert.matches("give cols=60000000 if it is right, or leave sparse=false out", why)
    assert.is_true(load(text).sparse)
    assert.is_false(load("1 1:1 8000000:1\n", { sparse = false }).sparse) -- below 64 MB
  end)

  it("gives the same numbers dense and sparse", function()
    local text = "1 1:0.5 4:3\n-1\n1 2:-1 3:0 4:1e-5\n"
    local dense, sparse = load(text, { sparse = false }), load(text, { sparse = true })
    assert.is_true(sparse.sparse)
    assert.equal(4, sparse.X.nnz) -- the zero is left out
    for j = 1, 4 do
      local unit = pn.vec.basis(4, j)
      assert.same((dense.X * unit):table(), (sparse.X * unit):table())
    end
  end)

  it("makes two label values -1 and 1 and enforces it", function()
    local d = load("2 1:1\n1 1:2\n2 1:3\n", { labels = "binary" })
    assert.same({ 1, -1, 1 }, d.y:table())
    assert.same({ labels = { -1, 1 } }, d.bounds)
  end)

  it("refuses binary labels where there are not two values", function()
    assert.equal("FILE: binary labels need two label values, found only 3", error_of("3 1:1\n", { labels = "binary" }))
    assert.equal("FILE: binary labels need two label values, found 1, 2 and others; say which becomes what with "
      .. "`labels`", error_of("1 1:1\n2 1:1\n4 1:1\n", { labels = "binary" }))
  end)

  it("maps labels by a table and enforces its range", function()
    local d = load("1 1:1\n2 1:2\n3 1:3\n", { labels = { [1] = -1, [2] = 0, [3] = 4 } })
    assert.same({ -1, 0, 4 }, d.y:table())
    assert.same({ labels = { -1, 4 } }, d.bounds)
    d = load("0 1:1\n5 1:2\n", { labels = { [0] = 1, [5] = 1, [7] = -1 } })
    assert.same({ labels = { -1, 1 } }, d.bounds)
    assert.equal("FILE:2:2: expected a label that the `labels` option maps (1), found '2'",
      error_of("1 1:1\n 2 1:1\n", { labels = { [1] = -1 } }))
  end)

  it("enforces nothing about labels that no option declares, even when all are -1 or 1", function()
    assert.same({}, load("+1 1:1\n-1.0 1:2\n").bounds)
    assert.same({}, load("0 1:1\n1 1:2\n").bounds)
  end)

  it("says where the text is wrong, what was expected and what stands there", function()
    local cases = {
      { "x 1:1\n", "FILE:1:1: expected a label (a finite number), found 'x'" },
      { "1 1:1\nnan 1:1\n", "FILE:2:1: expected a label (a finite number), found 'nan'" },
      { "inf 1:1\n", "FILE:1:1: expected a label (a finite number), found 'inf'" },
      { "1e999 1:1\n", "FILE:1:1: expected a label (a finite number), found '1e999'" },
      { "1:1 2:1\n", "FILE:1:1: expected a label (a finite number), found '1:1'" },
      { "1 0:1\n", "FILE:1:3: expected an index from 1, found '0:1'" },
      { "1 2:1 2:3\n", "FILE:1:7: expected an index above 2 (they rise along a line), found '2:3'" },
      { "1 2:1 1:3\n", "FILE:1:7: expected an index above 2 (they rise along a line), found '1:3'" },
      { "1 2:0 2:3\n", "FILE:1:7: expected an index above 2 (they rise along a line), found '2:3'" },
      { "1 2 3:1\n", "FILE:1:4: expected ':' after the index, found a blank" },
      { "1 2\n", "FILE:1:4: expected ':' after the index, found the end of the line" },
      { "1 2:\r\n", "FILE:1:5: expected a value (a finite number), found the end of the line" },
      { "1 2: 3\n", "FILE:1:5: expected a value (a finite number), found a blank" },
      { "1 2:3x\n", "FILE:1:5: expected a value (a finite number), found '3x'" },
      { "1 2:0x10\n", "FILE:1:5: expected a value (a finite number), found '0x10'" },
      { "1 2:nan\n", "FILE:1:5: expected a value (a finite number), found 'nan'" },
      { "1 2:-inf\n", "FILE:1:5: expected a value (a finite number), found '-inf'" },
      { "1 2:1e400\n", "FILE:1:5: expected a value (a finite number), found '1e400'" },
      { "1 2:1,5\n", "FILE:1:5: expected a value (a finite number), found '1,5'" },
      { "1 -2:1\n", "FILE:1:3: expected index:value, found '-2:1'" },
      { "1 qid:3 1:1\n", "FILE:1:3: expected index:value, found 'qid:3'" },
      { "1 2147483649:1\n", "FILE:1:3: expected an index up to 2147483648, found '2147483649:1'" },
      { "1 9999999999999999999999:12\n",
        "FILE:1:3: expected an index up to 2147483648, found '9999999999999999999999:1..." },
      { "1 1:1\n\n# c\n1 1:2 \1\n", "FILE:4:7: expected index:value, found '?'" },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[2], (error_of(case[1]):gsub("%.%.%.'$", "...")))
    end
    assert.equal("FILE:1:7: expected an index up to 2 (`cols`), found '3:1'", error_of("1 1:1 3:1\n", { cols = 2 }))
  end)

  it("refuses a file without records or without features", function()
    assert.equal("FILE: the file holds no records", error_of(""))
    assert.equal("FILE: the file holds no records", error_of("# nothing\n\n"))
    assert.equal("FILE: the file holds no features; give their number as `cols`", error_of("1\n-1\n"))
  end)

  it("refuses a file that is not there or is a directory", function()
    assert.error_matches(function() pn.data.libsvm("/no/such/file") end,
      "/no/such/file: cannot be opened: No such file or directory")
    assert.error_matches(function() pn.data.libsvm("/") end, "/: cannot be read: Is a directory")
  end)

  it("refuses options that it does not know or cannot use", function()
    local path = files.write("1 1:1\n")
    local function fails(options, message)
      assert.equal(message, files.error_of(path, pn.data.libsvm, path, options):match("data%.libsvm: .*"))
    end
    fails({ colums = 3 }, "data.libsvm: unknown option 'colums'; it takes cols, sparse, labels, clip_rows")
    fails({ cols = 0 }, "data.libsvm: cols must be a whole number from 1, got 0")
    fails({ sparse = 1 }, "data.libsvm: sparse must be true or false, got 1")
    fails({ labels = "two" }, "data.libsvm: labels must be \"binary\" or a table from numbers to numbers such as "
      .. "{[1] = -1, [2] = 1}, got two")
    fails({ labels = {} }, "data.libsvm: labels must be \"binary\" or a table from numbers to numbers such as "
      .. "{[1] = -1, [2] = 1}, got an empty table")
    assert.error_matches(function() pn.data.libsvm(42) end,
      "data.libsvm: the first argument must be the path of a file, got number")
  end)
end)
