-- csv_text_spec.lua -- columns of text and text labels in CSV.  The expected features are written out by hand.
local pn = require "penumbra"
local files = dofile(debug.getinfo(1, "S").source:match("^@(.*)csv_text_spec.lua$") .. "files.lua")

local function load(text, options)
  return pn.data.csv(files.write(text), options)
end

-- Without the position in the script and the folder of the file.
local function error_of(text, options)
  local path = files.write(text)
  return (files.error_of(path, pn.data.csv, path, options):gsub("^[^ ]*%.lua:%d+: ", ""))
end

local function same(features, X, y, d)
  assert.same(features, d.features)
  assert.same(X, files.rows(d.X))
  assert.same(y, d.y:table())
end

local people = 'age,job,town,pay\n39,cook,"Bath, UK",1\n50, clerk ,Ayr,2\n28,cook,Ayr,3\n'

describe("a column of text in CSV", function()
  after_each(files.clear)

  it("becomes one 0/1 feature for each category that is found, in sorted order", function()
    local names = { "age", "job=clerk", "job=cook", "town=Ayr", "town=Bath, UK" }
    local X = { { 39, 0, 1, 0, 1 }, { 50, 1, 0, 1, 0 }, { 28, 0, 1, 1, 0 } }
    same(names, X, { 1, 2, 3 }, load(people, { one_hot = { "job", "town" } }))
    same(names, X, { 1, 2, 3 }, load(people, { one_hot = { 2, "town" } }))
    same(names, X, { 1, 2, 3 }, load(people, { one_hot = { job = true, town = true } }))
    same(names, X, { 1, 2, 3 }, load(people, { one_hot = true }))
  end)

  it("takes the memory of its records where its categories would fill a large table with zeros", function()
    local lines = {}
    for i = 1, 3000 do lines[i] = ("k%04d,%d,%d"):format(i * 7 % 3000, i % 3, i) end -- a dense table takes 72 MB
    local d = load("id,a,y\n" .. table.concat(lines, "\n"), { header = true, one_hot = { "id" } })
    assert.is_true(d.sparse)
    assert.same({ 3000, 3001, 5000 }, { d.n, d.p, d.X.nnz })
    local place, expected = {}, {}
    for j = 1, 3001 do place[j] = j <= 3000 and j or 10000 end
    for i = 1, 3000 do expected[i] = i * 7 % 3000 + 1 + i % 3 * 10000 end
    assert.same(expected, (d.X * pn.vec(place)):table())
    local small = load("id,a,y\n" .. table.concat(lines, "\n", 1, 2000), { header = true, one_hot = { "id" } }) -- 32 MB
    assert.is_false(small.sparse)
  end)

  it("is stored as `sparse` says", function()
    local d = load(people, { one_hot = { "job", "town" }, sparse = true })
    assert.is_true(d.sparse)
    local X = { { 39, 0, 1, 0, 1 }, { 50, 1, 0, 1, 0 }, { 28, 0, 1, 1, 0 } }
    assert.same(X, files.rows(d.X:dense()))
    assert.is_true(load("0,1,2\n3,0,4\n", { sparse = true }).sparse)
    assert.matches("sparse must be true or false, got 3", error_of(people, { one_hot = { "job", "town" }, sparse = 3 }))
  end)

  it("becomes features for the declared categories, in the order of their declaration", function()
    local options = { columns = { "job", "age" }, one_hot = { job = { "guard", "cook", "clerk" } } }
    same({ "job=guard", "job=cook", "job=clerk", "age" }, { { 0, 1, 0, 39 }, { 0, 0, 1, 50 }, { 0, 1, 0, 28 } },
      { 1, 2, 3 }, load(people, options))
    same({ "job=clerk", "age" }, { { 0, 39 }, { 1, 50 }, { 0, 28 } }, { 1, 2, 3 },
      load(people, { columns = { 2, 1 }, one_hot = { [2] = { "clerk", unknown = "zeros" } } }))
  end)

  it("may hold a text that is not declared only where that is allowed", function()
    assert.equal("FILE:2:4: expected a category declared in `one_hot` (unknown = \"zeros\" lets others pass), found 'cook'",
      error_of(people, { columns = { "job" }, one_hot = { job = { "guard", "clerk" } } }))
    same({ "a=y", "a=" }, { { 0, 0 }, { 0, 1 }, { 1, 0 } }, { 1, 2, 3 },
      load("a,b\nx,1\n,2\ny,3\n", { one_hot = { a = { "y", "", unknown = "zeros" } } }))
  end)

  it("goes with columns in the order asked for, and with labels in any place", function()
    same({ "town=Ayr", "town=Bath, UK", "pay" }, { { 0, 1, 1 }, { 1, 0, 2 }, { 1, 0, 3 } }, { 39, 50, 28 },
      load(people, { label = "age", columns = { "town", "pay" }, one_hot = { "town" } }))
  end)

  it("sorts codes that are numbers by value, before all texts", function()
    same({ "2=9", "2=10", "2=07b", "2=B", "2=a", "2=\xc3\xa9" },
      { { 0, 1, 0, 0, 0, 0 }, { 1, 0, 0, 0, 0, 0 }, { 0, 0, 0, 1, 0, 0 }, { 0, 0, 0, 0, 1, 0 }, { 0, 0, 0, 0, 0, 1 },
        { 0, 0, 1, 0, 0, 0 } }, { 1, 2, 3, 4, 5, 6 },
      load("0,10,1\n0,9,2\n0,B,3\n0,a,4\n0,\xc3\xa9,5\n0,07b,6\n", { one_hot = { 2 }, columns = { 2 } }))
  end)

  it("reads quoted categories as RFC 4180 says", function()
    same({ 't=a "b"', "t=c,d", "t= e" }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } }, { 1, 2, 3, 4 },
      load('t,y\n"a ""b""",1\n"c,d" ,2\n" e",3\n"a ""b""",4\n', { one_hot = { t = { 'a "b"', "c,d", " e" } } }))
    assert.equal("FILE:2:1: expected a quoted text that ends on its line, found '\"a'",
      error_of('t,y\n"a,1\n', { one_hot = { "t" } }))
    assert.equal("FILE:2:4: expected the separator after a quoted text, found 'b'",
      error_of('t,y\n"a"b,1\n', { one_hot = { "t" } }))
    assert.equal("FILE:2:2: expected text without zero bytes, found '?b'",
      error_of("t,y\na\0b,1\n", { one_hot = { "t" } }))
  end)

  it("may be wide: many categories in many records, as in a plain dictionary", function()
    local lines, want, seen, rng = { "c,k,y" }, {}, {}, 12345
    for i = 1, 5000 do
      rng = rng * 1103515245 + 12345 & 0x7fffffff
      local word = ("w%04d"):format(rng // 7919 % 700)
      want[i] = word
      seen[word] = true
      lines[#lines + 1] = word .. "," .. i % 3 .. "," .. i
    end
    local d = load(table.concat(lines, "\n"), { one_hot = { "c" } })
    local sorted = {}
    for word in pairs(seen) do
      sorted[#sorted + 1] = word
    end
    table.sort(sorted)
    assert.is_true(#sorted > 650)
    assert.equal(#sorted + 1, d.p)
    for k, word in ipairs(sorted) do
      assert.equal("c=" .. word, d.features[k])
      sorted[word] = k
    end
    for i = 1, 5000 do
      assert.equal(1, d.X:get(i, sorted[want[i]]))
      assert.equal(i % 3, d.X:get(i, d.p))
    end
    assert.equal(5000 + 5000 // 3 * 2 + 2, d.summary(d).nonzeros)
  end)

  it("that was not asked for stays an error", function()
    assert.equal("FILE:2:4: expected a finite number, found 'cook'; `one_hot` makes a column of text into 0/1 features",
      error_of(people, { one_hot = { "town" } }))
    assert.equal("FILE:2:4: expected a finite number, found 'cook'; `one_hot` makes a column of text into 0/1 features",
      error_of(people, { one_hot = false }))
  end)

  it("that is found by itself may hold no number, nor a column of numbers text", function()
    assert.equal("FILE:3:1: expected text as in the first record (a column of both is named in `one_hot`; names on the "
      .. "first line need header = true), found '4'", error_of("a,y\n?,1\n4,2\n", { one_hot = true }))
    assert.equal("FILE:3:1: expected a finite number, found '?'; `one_hot` makes a column of text into 0/1 features",
      error_of("a,y\n4,1\n?,2\n", { one_hot = true }))
    same({ "a=4", "a=?" }, { { 0, 1 }, { 1, 0 } }, { 1, 2 }, load("a,y\n?,1\n4,2\n", { one_hot = { "a" } }))
  end)

  it("has no empty fields, unless they are declared", function()
    assert.equal("FILE:3:1: expected a category, found an empty field; if that is one, declare the categories in "
      .. '`one_hot`, "" among them', error_of("a,y\nx,1\n,2\n", { one_hot = { "a" } }))
    assert.equal("FILE:3:1: expected a category declared in `one_hot`, found an empty field",
      error_of("a,y\nx,1\n,2\n", { one_hot = { a = { "x" } } }))
    assert.equal("FILE:2:1: expected a finite number, found an empty field",
      error_of("a,y\n,1\nx,2\n", { one_hot = true }))
    same({ "a=x", "a=" }, { { 1, 0 }, { 0, 1 } }, { 1, 2 }, load("a,y\nx,1\n,2\n", { one_hot = { a = { "x", "" } } }))
  end)

  it("holds at most 10000 categories that nobody declared", function()
    local lines = { "c,y" }
    for i = 1, 10000 do
      lines[i + 1] = "w" .. i .. ",1"
    end
    lines[#lines + 1] = "one more,1"
    assert.equal("FILE:10002:1: a column of `one_hot` holds more than 10000 categories; declare those that count",
      error_of(table.concat(lines, "\n"), { one_hot = { "c" } }))
  end)

  it("keeps its names through every method", function()
    local d = load(people, { one_hot = { "job", "town" } })
    assert.same({ "age", "job=clerk", "job=cook", "town=Ayr", "town=Bath, UK", "bias" }, d:add_bias().features)
    for _, made in ipairs { d:take(2), d:shuffle(pn.rng.seeded(1)), d:float32(), d:clip_rows("l2", 1),
      d:clip_labels(0, 1), d:with_labels { 1, 1, 1 }, d:rescale(pn.vec.zeros(5), pn.vec.ones(5)) } do
      assert.same(d.features, made.features)
    end
  end)
end)

describe("the names of features", function()
  after_each(files.clear)

  it("are those of the header, or none", function()
    assert.same({ "b", "a x" }, load('"a x",b,c\n1,2,3\n', { columns = { 2, 1 } }).features)
    assert.is_nil(load("1,2,3\n").features)
    assert.is_nil(load("2,malignant\n1,2,3\n", { header = true }).features) -- as in breast_cancer.csv
    assert.is_nil(pn.data.from({ { 1 } }, { 1 }).features)
    assert.same({ "1", "2=x" }, load("1,x,3\n", { one_hot = { 2 } }).features)
  end)
end)

describe("the header of a CSV file with text", function()
  after_each(files.clear)

  it("is a first line without any number", function()
    same({ "1=x", "2" }, { { 1, 5 }, { 1, 6 } }, { 1, 2 }, load("x,5,1\nx,6,2\n", { one_hot = true }))
    same({ "a=x", "b" }, { { 1, 5 }, { 1, 6 } }, { 1, 2 }, load("a,b,c\nx,5,1\nx,6,2\n", { one_hot = true }))
    assert.same({ -1, 1 }, load("5,no\n6,yes\n", { labels = "binary" }).y:table())
  end)

  it("must be told when it could be a record as well", function()
    local text, options = "p,x\ne,y\n", { one_hot = true, labels = "binary" }
    assert.equal("FILE: the first two lines hold no number, so that the first may be a header or a record: say header = "
      .. "true or false", error_of(text, options))
    options.header = false
    same({ "1=e", "1=p" }, { { 0, 1 }, { 1, 0 } }, { -1, 1 }, load(text, options))
    options.header = true
    same({ "p=e", "p=f" }, { { 1, 0 }, { 0, 1 } }, { 1, -1 }, load(text .. "f,x\n", options))
  end)

  it("is there when a column is asked for by name", function()
    same({ "p=e", "p=f" }, { { 1, 0 }, { 0, 1 } }, { 1, -1 },
      load("p,x\ne,y\nf,x\n", { one_hot = { "p" }, labels = "binary" }))
    assert.equal("csv: columns asked for by name need a header line, but header = false",
      error_of("p,x\n", { one_hot = { "p" }, header = false }))
  end)
end)

describe("text labels in CSV", function()
  after_each(files.clear)

  it("are mapped by a table of texts and numbers, which enforces their range", function()
    local d = load("a,income\n1,>50K\n2,<=50K\n3, >50K \n4,7\n5,\">50K\"\n",
      { labels = { [">50K"] = 2, ["<=50K"] = 0, [7] = 5.5 } })
    assert.same({ 2, 0, 2, 5.5, 2 }, d.y:table())
    assert.same({ labels = { 0, 5.5 } }, d.bounds)
    assert.same({ labels = { -1, 1 } }, load("1,a\n2,a\n", { labels = { a = 1, b = -1 } }).bounds)
  end)

  it("are mapped as texts before they are mapped as numbers", function()
    assert.same({ 1, 2, 2 }, load("1,3\n1,3.0\n1,3e0\n", { labels = { ["3"] = 1, [3] = 2 } }).y:table())
  end)

  it("become -1 and 1 in sorted order when they are binary", function()
    local options = { labels = "binary" }
    for _, case in ipairs { { "1,yes\n2,no\n3,no\n", { 1, -1, -1 } }, { "1,no\n2,yes\n3,no\n", { -1, 1, -1 } },
      { "1,2\n2,10\n", { -1, 1 } }, { "1,10\n2,2\n", { 1, -1 } } } do
      local d = load(case[1], options)
      assert.same(case[2], d.y:table())
      assert.same({ labels = { -1, 1 } }, d.bounds)
    end
  end)

  it("are refused when they are not two, or not in the table", function()
    local cases = {
      { "1,yes\n2,no\n3,maybe\n", "binary", "FILE:3:3: expected 'yes' or 'no' (a table of `labels` maps more than two), "
        .. "found 'maybe'" },
      { "1,yes\n2,yes\n", "binary", "FILE: binary labels need two label values, found only 'yes'" },
      { "1,yes\n2,\n", "binary", "FILE:2:3: expected a label, found an empty field" },
      { "1,1\n2,1\n", "binary", "FILE: binary labels need two label values, found only 1" },
      { "1,1\n2,2\n3,3\n", "binary", "FILE: binary labels need two label values, found 1, 2 and others; say which becomes "
        .. "what with `labels`" },
      { "1,1\n2,no\n", "binary", "FILE:2:3: expected a finite number, found 'no'; `labels` maps text to numbers" },
      { "1,a\n2,b\n", { a = 1 }, "FILE:2:3: expected a label that the `labels` option maps (a), found 'b'" },
      { "1,\n2,b\n", { b = 1 }, "FILE:1:3: expected a label that the `labels` option maps (b), found an empty field" },
      { "1,2\n2,b\n", { b = 1 }, "FILE:1:3: expected a label that the `labels` option maps (b), found '2'" },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[3], error_of(case[1], { labels = case[2] }))
    end
  end)
end)

describe("the options for text in CSV", function()
  after_each(files.clear)

  it("are refused when they make no sense", function()
    local text = "a,b,y\nx,1,2\n"
    local wrong = "csv: one_hot must be true or a table of columns such as {\"job\", 4} or, with their categories, "
      .. "{job = {\"clerk\", \"cook\"}}, got "
    local labels = "csv: labels must be \"binary\" or a table from numbers or texts to numbers such as {no = -1, yes = 1}, "
      .. "got "
    local cases = {
      { { one_hot = 3 }, wrong .. "3" },
      { { one_hot = {} }, wrong .. "an empty table" },
      { { one_hot = { [true] = true } }, wrong .. "a table with other keys" },
      { { one_hot = { a = 3 } }, "csv: one_hot of column a must be true or a list of categories, got 3" },
      { { one_hot = { a = {} } }, "csv: the categories of column a must be a list of texts, got none" },
      { { one_hot = { a = { "x", 2.5 } } }, "csv: category 2 of column a must be a text, got 2.5" },
      { { one_hot = { a = { "x\0" } } }, "csv: category 1 of column a contains a zero byte" },
      { { one_hot = { a = { "x", other = 1 } } },
        'csv: the categories of column a are a list and unknown = "zeros"; other is neither' },
      { { one_hot = { a = { "x", unknown = true } } }, 'csv: unknown of column a must be "zeros", got true' },
      { { one_hot = { a = { "x", "x" } } }, "csv: category 'x' is declared twice in `one_hot`" },
      { { one_hot = { 0 } }, "csv: a column number of one_hot must be a whole number from 1, got 0" },
      { { one_hot = { 7 } }, "FILE: column 7 asked for, the file has columns 1 to 3" },
      { { one_hot = { "c" } }, "FILE: no column is named 'c'; the header is a,b,y" },
      { { one_hot = { "y" } }, "FILE: column 3 of `one_hot` is the label; `labels` maps its values" },
      { { one_hot = { "a" }, columns = { "b" } }, "FILE: column 1 of `one_hot` is not among `columns`" },
      { { one_hot = { "a", [7] = 1 } }, "FILE: column 1 is twice in `one_hot`" },
      { { labels = 3 }, labels .. "3" },
      { { labels = {} }, labels .. "an empty table" },
      { { labels = { a = "b" } }, labels .. "a table that holds something else" },
      { { labels = { ["a\0"] = 1 } }, labels .. "a table that holds something else" },
      { { labels = { a = 0 / 0 } }, "csv: pair 1 of the label mapping is not finite" },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[2], (error_of(text, case[1]):gsub("^data%.", "")))
    end
  end)
end)
