-- recipe_file_spec.lua -- CSV dialects that recipes read.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local here = debug.getinfo(1, "S").source:match("^@(.*)recipe/recipe_file_spec.lua$")
local files = dofile(here .. "data/files.lua")

local recipe = pn.recipe { features = { a = { 0, 10 }, b = { "x", "zwei\nZeilen", 'sagt "ja"', "Zürich", "€" } }, intercept = false,
  norm = "linf" }

local function load(text, options)
  return files.rows(recipe:data(files.write(text), options).X)
end

local function error_of(text, options, by)
  local path = files.write(text)
  return files.error_of(path, (by or recipe).data, by or recipe, path, options)
end

describe("a recipe's CSV reader", function()
  after_each(files.clear)

  it("reads commas, semicolons and tabs, or what it is told", function()
    for _, separator in ipairs { ",", ";", "\t", "|" } do
      local text = ("b,a,c\nx,5,1\n"):gsub(",", separator)
      assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, load(text, separator == "|" and { sep = "|" } or nil))
    end
  end)

  it("reads newlines, separators and doubled quotes in quoted texts", function()
    assert.same({ { 0, 0, 1, 0, 0, 0, 0 }, { 1, 0, 0, 1, 0, 0, 0 } },
      load('"b","a"\n"zwei\nZeilen",5\n "sagt ""ja""" , "10" \n'))
    assert.equal("FILE:5:1: column 'a': expected a finite number, found 'z'", error_of('a,b\n5,"zwei\n\nZeilen"\nz,x\n'))
  end)

  it("finds records that begin in one block of the file and end in another", function()
    local lines, n = { "a,b" }, 30000
    for i = 1, n do
      lines[#lines + 1] = i % 3 == 0 and '5,"zwei\nZeilen"' or ('"%d","%s"'):format(i % 11, i % 2 == 0 and "x" or "y,\n,")
    end
    local X = recipe:data(files.write(table.concat(lines, "\n"))).X
    assert.equal(n, X.rows)
    for i = 1, n, 7 do
      assert.near(i % 3 == 0 and 0 or (i % 11 - 5) / 5, X[i][1], 1e-15)
      assert.equal(1, X[i][i % 3 == 0 and 3 or i % 2 == 0 and 2 or 7])
    end
  end)

  it("reads gzip", function()
    local path = files.write("a,b\n5,x\n")
    assert(os.execute(("gzip -k '%s'"):format(path)))
    local d = recipe:data(path .. ".gz")
    os.remove(path .. ".gz")
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, files.rows(d.X))
  end)

  it("reads decimal commas, and no points then", function()
    assert.same({ { -0.5, 1, 0, 0, 0, 0, 0 }, { 0, 1, 0, 0, 0, 0, 0 } }, load("a;b\n2,5;x\n5;x\n", { decimal = "," }))
    assert.equal("FILE:2:1: column 'a': expected a finite number, found '2.5'", error_of("a;b\n2.5;x\n", { decimal = "," }))
    assert.truthy(error_of("a,b\n", { decimal = ",", sep = "," }):find("sep and decimal are both ','", 1, true))
  end)

  it("reads Windows-1252, and says so where text is no UTF-8", function()
    local text = "a,b\n5,Z\xFCrich\n5,\x80\n"
    assert.same({ { 0, 0, 0, 0, 1, 0, 0 }, { 0, 0, 0, 0, 0, 1, 0 } }, load(text, { encoding = "windows-1252" }))
    assert.same({ { 0, 0, 0, 0, 1, 0, 0 } }, load("\xEF\xBB\xBFa,b\n5,Zürich\n"))
    assert.equal("FILE:2:3: column 'b': expected UTF-8 (encoding = \"windows-1252\" reads other text), found 'Z?rich'",
      error_of(text))
    assert.equal("FILE: the file is in UTF-16; write it in UTF-8", error_of("\xFF\xFEa\0,\0b\0\n\0"))
  end)

  it("takes the separator from a first line that names it, as spreadsheets write it", function()
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, load("sep=;\r\na;b\r\n5;x\r\n"))
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, load("\xEF\xBB\xBFsep=|\na|b\n5|x\n"))
    assert.same({ "a", "b" }, pn.recipe.columns(files.write("sep=|\na|b\n")))
    assert.equal("FILE: its lines end in carriage returns alone; write it with newlines", error_of("a,b\r5,x\r"))
  end)

  it("reads a file without a header by given names", function()
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, load("7,x,5\n", { header = { "c", "b", "a" } }))
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, load("7;x;5\n\n", { header = { "c", "b", "a" } }))
  end)

  it("passes over blank lines and columns it does not know, nameless ones too", function()
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 }, { 1, 1, 0, 0, 0, 0, 0 } }, load(",a,,b\r\n\r\n1,5,,x\r\n  \r\n2,10,,x"))
  end)

  it("refuses columns that are not there, or twice, naming those that are", function()
    assert.equal("FILE: there is no column 'b'; it has a, B", (error_of("a,B\n1,x\n")))
    assert.equal("FILE: two columns are named 'a'", error_of("a,b,a\n1,x,2\n"))
    assert.same({ { 0, 1, 0, 0, 0, 0, 0 } }, load("c,a,b,c,c\n1,5,x,2,2\n")) -- nobody asks for c
    assert.equal("FILE: two columns are named '(column 3)'", error_of("a,(column 3),,b\n5,1,2,x\n"))
    assert.same({ "a", "b", "(column 3)" }, pn.recipe.columns(files.write("a,b,a\n")))
    assert.equal("FILE: there is no column 'a'; it has a|b, as one name: sep says what separates them", error_of("a|b\n5|x\n"))
    local long = pn.recipe { features = { workclass = { "x" } } }
    assert.equal("FILE: there is no column 'workclass', the nearest is 'workclas'; it has age, workclas",
      error_of("age,workclas\n1,x\n", nil, long))
  end)

  it("says what is wrong in which column of which line", function()
    for text, message in pairs {
      ["a,b\n1,x\nold,x\n"] = "FILE:3:1: column 'a': expected a finite number, found 'old'",
      ["a;b\n1,5;x\n"] = "FILE:2:1: column 'a': expected a finite number (decimal = \",\" reads 1,5), found '1,5'",
      ["a;b\n1,000;x\n"] = "FILE:2:1: column 'a': expected a finite number, found '1,000'", -- a thousand, perhaps
      ["a,b\n1,x\n1e999,x\n"] = "FILE:3:1: column 'a': expected a finite number, found '1e999'",
      ["a,b\n1,\n"] = "FILE:2:3: column 'b': expected a category, not a missing value (missing= says what becomes of those), "
        .. "found an empty field",
      ["a,b\n1\n"] = "FILE:2:2: expected 2 fields as in the header, found 1",
      ["a,b\n1,x,3\n"] = "FILE:2:4: expected 2 fields as in the header, found 3",
      ['a,b\n1,"x"y\n'] = "FILE:2:6: expected the separator after a quoted text",
      ['a,b\n1,"x\n1,x\n'] = "FILE:2: a quoted text that begins in this record is not closed",
      ["a,b\n1,x\0y\n"] = "FILE:2:6: expected text without zero bytes",
      ["a,b\n"] = "FILE: the file holds no records",
      [""] = "FILE: the file holds no records",
    } do
      assert.equal(message, error_of(text))
    end
  end)

  it("refuses options that it does not know or cannot use", function()
    local path = files.write("a,b\n1,x\n")
    for _, case in ipairs {
      { { seperator = "," }, "recipe.data: unknown option 'seperator'; it takes label, sep, decimal, encoding, header" },
      { { sep = ", " }, "recipe: sep must be a string of one character, got , " },
      { { sep = "5" }, "recipe: sep must be a character that is no part of a number or line, got '5'" },
      { { decimal = ";" }, "recipe.data: decimal must be \".\" or \",\", got ;" },
      { { encoding = "latin" }, "recipe: encoding must be \"utf-8\" or \"windows-1252\", got latin" },
      { { header = {} }, "recipe.data: header must be the list of names of a file that has none, got a table" },
      { { label = "y" }, "recipe.data: label must be true, or false to ignore the column of labels, got y" },
    } do
      assert.equal(case[2], files.error_of(path, recipe.data, recipe, path, case[1]):match "recipe.*")
    end
  end)

  it("gives the texts of columns of the records that it reads", function()
    local path = files.write('id,a,"n,b"\r\n007,5," x"\r\n\r\n 8 ,,"sagt ""ja"",\nnein" \r\nNA,1,')
    assert.same({ id = { "007", "8", "NA" }, ["n,b"] = { " x", 'sagt "ja",\nnein', "" } }, pn.recipe.texts(path, { "n,b", "id" }))
    path = files.write("Z\xFCrich;1,5\n")
    assert.same({ c = { "Zürich" } },
      pn.recipe.texts(path, { "c" }, { header = { "c", "a" }, decimal = ",", encoding = "windows-1252" }))
    assert.same({ a = { "1,5" } }, pn.recipe.texts(path, { "a" }, { header = { "c", "a" }, sep = ";" }))
  end)

  it("refuses texts of columns that are not there, or twice, and of no records", function()
    for _, case in ipairs {
      { "FILE: there is no column 'ida', the nearest is 'id'; it has id, a, (column 3)", { "ida" } },
      { "FILE: column 'id' is asked for twice", { "id", "a", "id" } }, { "FILE: two columns are named 'a'", { "a" } },
      { "recipe.texts: columns must be a list of one name or more, got a table", {} },
      { 'recipe.texts: columns must be a list of one name or more, got the string "id"', "id" },
      { "recipe.texts: name 2 of columns must be a text, got a table", { "id", {} } },
      { "recipe.texts: unknown option 'label'; it takes sep, decimal, encoding, header", { "id" }, { label = false } },
      { 'recipe.texts: decimal must be "." or ",", got ;', { "id" }, { decimal = ";" } },
    } do
      local path = files.write("id,a,a\n1,2,3\n")
      assert.equal(case[1], files.error_of(path, pn.recipe.texts, path, case[2], case[3]))
    end
    for text, message in pairs { ["id\n"] = "FILE: the file holds no records",
      ["id,a\n1\n"] = "FILE:2:2: expected 2 fields as in the header, found 1",
      ['id\n"1"x\n'] = "FILE:2:4: expected the separator after a quoted text" } do
      local path = files.write(text)
      assert.equal(message, files.error_of(path, pn.recipe.texts, path, { "id" }))
    end
  end)

  it("neither crashes nor hangs on damaged files, and has texts for each record", function()
    local rng, read = pn.rng.seeded(11), 0
    local whole = 'a,b\r\n5,"zwei\nZeilen"\n7,"sagt ""ja"""\n\n1,x\n'
    for _ = 1, tier.draws(3000, 1000) do
      local bytes = { whole:byte(1, -1) }
      for _ = 1, 1 + math.floor(4 * rng:uniform()) do
        bytes[1 + math.floor(#bytes * rng:uniform())] = ({ 34, 44, 10, 13, 0, 255, 32, 9 })[1 + math.floor(8 * rng:uniform())]
      end
      local path = files.write(string.char(table.unpack(bytes, 1, 1 + math.floor((#bytes - 1) * rng:uniform()))))
      local fine, data = pcall(recipe.data, recipe, path)
      local also, texts = pcall(pn.recipe.texts, path, { "b" })
      if fine then assert.same({ true, data.n }, { also, also and #texts.b }) end
      read = read + (fine and 1 or 0)
    end
    assert.is_true(read > 0)
  end)
end)
