-- csv_spec.lua -- reading numeric comma-separated values.  Numbers are those written in the texts.
local pn = require "penumbra"
local files = dofile(debug.getinfo(1, "S").source:match("^@(.*)csv_spec.lua$") .. "files.lua")

local function load(text, options)
  return pn.data.csv(files.write(text), options)
end

local function error_of(text, options)
  local path = files.write(text)
  return files.error_of(path, pn.data.csv, path, options)
end

local function same(X, y, d)
  assert.same(X, files.rows(d.X))
  assert.same(y, d.y:table())
end

describe("the CSV loader", function()
  after_each(files.clear)

  it("takes the last column as label and finds out that there is no header", function()
    local d = load("1,2.5,-3\n4,5e1,6\n")
    assert.is_false(d.sparse)
    same({ { 1, 2.5 }, { 4, 50 } }, { -3, 6 }, d)
  end)

  it("takes a first line with a name in it as header", function()
    same({ { 1, 2 } }, { 3 }, load("a,b,c\n1,2,3\n"))
    same({ { 1, 2 } }, { 3 }, load("1,b,3\n1,2,3\n"))
  end)

  it("believes what it is told about the header", function()
    same({ { 1, 2 } }, { 3 }, load("7,8,9\n1,2,3\n", { header = true }))
    assert.equal("FILE:1:1: expected a finite number, found 'a'; `one_hot` makes a column of text into 0/1 features",
      error_of("a,b\n1,2\n", { header = false }))
  end)

  it("passes over a first line of another width when it is told that it is the header", function()
    local text = "2,3,malignant,benign\n1,2,3\n4,5,6\n"
    same({ { 1, 2 }, { 4, 5 } }, { 3, 6 }, load(text, { header = true }))
    assert.equal("FILE:2:6: expected 4 fields as in line 1, found 3; if the first line is not a header of names, say "
      .. "header = true to pass over it", error_of(text))
  end)

  it("finds the separator among comma, semicolon and tab, or is told", function()
    same({ { 1, 2 } }, { 3 }, load("1;2;3\n"))
    same({ { 1, 2 } }, { 3 }, load("1\t2\t3\n"))
    same({ { 1, 2 } }, { 3 }, load("a,x;b;c\n1;2;3\n"))
    same({ { 1, 2 } }, { 3 }, load("1|2|3\n", { sep = "|" }))
    same({ { 1, 2 } }, { 3 }, load("1 2 3\n", { sep = " " }))
  end)

  it("understands quotes, doubled quotes and separators inside quotes", function()
    local text = '"a,1","say ""b""",c\n"1"," 2 ",3\n'
    same({ { 1, 2 } }, { 3 }, load(text))
    same({ { 2, 3 } }, { 1 }, load(text, { label = "a,1" }))
    same({ { 1, 3 } }, { 2 }, load(text, { label = 'say "b"' }))
  end)

  it("accepts carriage returns, blank lines, blanks around numbers and a missing last newline", function()
    same({ { 1 }, { 3 } }, { 2, 4 }, load("\r\nx,y\r\n 1 ,\t2\r\n\r\n   \n3,4"))
  end)

  it("takes the label by name, number or from the end", function()
    local text = "a,b,c\n1,2,3\n4,5,6\n"
    same({ { 2, 3 }, { 5, 6 } }, { 1, 4 }, load(text, { label = "a" }))
    same({ { 1, 3 }, { 4, 6 } }, { 2, 5 }, load(text, { label = 2 }))
    same({ { 1, 2 }, { 4, 5 } }, { 3, 6 }, load(text, { label = "last" }))
  end)

  it("takes the columns asked for, in the order asked for, and does not read the others", function()
    local text = "a,b,c,d\n1,two,3,4\n5,,7,8\n"
    same({ { 3, 1 }, { 7, 5 } }, { 4, 8 }, load(text, { columns = { "c", "a" } }))
    same({ { 4 }, { 8 } }, { 1, 5 }, load(text, { columns = { 4 }, label = 1 }))
  end)

  it("says which field of which line is no number, and quotes it", function()
    local cases = {
      { "1,2\n3,NA\n", "FILE:2:3: expected a finite number, found 'NA'; `labels` maps text to numbers" },
      { "1,2\nNA,4\n", "FILE:2:1: expected a finite number, found 'NA'; `one_hot` makes a column of text into 0/1 features" },
      { "a,b\n1,\n", "FILE:2:3: expected a finite number, found an empty field" },
      { "a,b\n,1\n", "FILE:2:1: expected a finite number, found an empty field" },
      { "1,2\n3,4x\n", "FILE:2:3: expected a finite number, found '4x'" },
      { "1,2\n3,nan\n", "FILE:2:3: expected a finite number, found 'nan'; `labels` maps text to numbers" },
      { "1,2\n-inf,1\n", "FILE:2:1: expected a finite number, found '-inf'; `one_hot` makes a column of text into 0/1 features" },
      { "1,2\n1e999,1\n", "FILE:2:1: expected a finite number, found '1e999'" },
      { '1,2\n"3,4\n', "FILE:2:1: expected a finite number, found '\"3'" },
      { '1,2\n"3"4,4\n', "FILE:2:1: expected a finite number, found '\"3\"4'" },
      { "1;2\n3;4,5\n", "FILE:2:3: expected a finite number, found '4,5'" },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[2], error_of(case[1]))
    end
  end)

  it("names both counts when a line has another number of fields", function()
    assert.equal("FILE:3:4: expected 3 fields as in line 1, found 2", error_of("1,2,3\n4,5,6\n7,8\n"))
    assert.equal("FILE:2:6: expected 3 fields as in line 1, found 5", error_of("1,2,3\n4,5,6,7,8\n"))
    assert.equal("FILE:3:4: expected 2 fields as in line 1, found 3; if the first line is not a header of names, say "
      .. "header = true to pass over it", error_of("a,b\n1,2\n3,4,\n"))
  end)

  it("refuses columns that are not there", function()
    local text = "a,b,c\n1,2,3\n"
    local cases = {
      { { label = "d" }, "FILE: no column is named 'd'; the header is a,b,c" },
      { { label = 4 }, "FILE: label column 4 asked for, the file has columns 1 to 3" },
      { { columns = { 1, 9 } }, "FILE: column 9 asked for, the file has columns 1 to 3" },
      { { columns = { "a", "a" } }, "FILE: column 1 is asked for twice" },
      { { columns = { "a", "c" } }, "FILE: column 3 is the label and cannot be a feature too" },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[2], error_of(text, case[1]))
    end
    assert.equal("FILE: column 'a' asked for by name, but the file has no header line",
      error_of("1,2\n", { label = "a" }))
  end)

  it("refuses options that it does not know or cannot use", function()
    local path = files.write("1,2\n")
    local function fails(options, message)
      assert.equal(message, files.error_of(path, pn.data.csv, path, options):match("csv: .*"))
    end
    fails({ seperator = "," }, "csv: unknown option 'seperator'; it takes label, header, sep, columns, one_hot, labels, "
      .. "clip_rows, sparse")
    fails({ sep = ", " }, "csv: sep must be a string of one character, got , ")
    fails({ sep = "5" }, "csv: sep must be a character that cannot be part of a number or end a line, got '5'")
    fails({ header = "yes" }, "csv: header must be true or false, got yes")
    fails({ label = 0 }, "csv: label must be a whole number from 1, got 0")
    fails({ columns = {} }, "csv: columns must be a list of column names or numbers, got an empty table")
    fails({ columns = { 1, "a" } }, "csv: columns must be all names or all numbers; entry 2 is a")
    fails({ label = "a", header = false }, "csv: columns asked for by name need a header line, but header = false")
  end)

  it("refuses a file without records or with a single column", function()
    assert.equal("FILE: the file holds no records", error_of(""))
    assert.equal("FILE: the file holds no records", error_of("a,b\n"))
    assert.equal("FILE:1:1: expected a label and at least one feature, found 1 field (separator ','; `sep` names "
      .. "another)", error_of("1\n2\n"))
  end)

  it("enforces nothing about labels, whatever they are", function()
    assert.same({}, load("5,1\n6,-1\n").bounds)
    assert.same({}, load("5,1\n6,0\n").bounds)
  end)
end)
