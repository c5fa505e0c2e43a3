-- pn.federated.align: identifiers from a list or a file, and what is said when they do not fit.
-- The order and the digest themselves are tested in tests/runtime/data/alignment_test.c.
local pn = require "penumbra"
local files = require "tests.runtime.data.files"
local refusal = require("tests.tools.refusal").refusal

describe("federated.align", function()
  local d = pn.data.from({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, { 1, -1, 1 })
  local key

  before_each(function()
    key = files.write("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n")
  end)
  after_each(files.clear)

  local function no_alignment(options)
    return refusal(pn.federated.align, d, options)
  end

  it("gives two parties with other columns and another order the same digest and order", function()
    local other = pn.data.from({ { 50 }, { 10 }, { 30 } }, { 1, 1, -1 })
    local here, digest = pn.federated.align(d, { key = key, ids = { "a", "b", "c" } })
    local there, again = pn.federated.align(other, { key = key, ids = { "c", "a", "b" } })
    assert.equal(digest, again)
    assert.truthy(digest:match("^" .. ("%x"):rep(64) .. "$"))
    for i = 1, 3 do
      assert.equal(here.X[i][1] * 10, there.X[i][1])
    end
    assert.equal(tostring(here.y), tostring(there.y))
  end)

  it("reads identifiers from a column of a CSV file, by name or by number, gzip or plain", function()
    local _, digest = pn.federated.align(d, { key = key, ids = { "007", "b", "c" } })
    local text = "age,id\n3,007\n4,b\n5,c\n"
    for _, how in ipairs({
      { key = key, csv = files.write(text), column = "id" },
      { key = key, csv = files.write(files.gzip(text)), column = "id", create = false },
      { key = key, csv = files.write(text), column = 2 },
    }) do
      assert.equal(digest, select(2, pn.federated.align(d, how)))
    end
  end)

  it("makes the key file when there is none, unless it is told not to", function()
    local path, ids = os.tmpname(), { "a", "b", "c" }
    os.remove(path)
    assert.truthy(no_alignment({ key = path, ids = ids, create = false }):find("could not be opened", 1, true))
    local _, digest = pn.federated.align(d, { key = path, ids = ids })
    assert.equal(digest, select(2, pn.federated.align(d, { key = path, ids = ids, create = false })))
    os.remove(path)
  end)

  it("says what does not fit", function()
    local ids = { "a", "b", "c" }
    for text, options in pairs({
      ["federated.align: key is missing"] = { ids = ids },
      ["federated.align: the identifiers of the rows are missing"] = { key = key },
      ["federated.align: ids has 2 entries, the data set has 3 records"] = { key = key, ids = { "a", "b" } },
      ["federated.align: rows 1 and 3 have the same identifier"] = { key = key, ids = { "a", "b", "a" } },
      ["federated.align: the identifier of row 2 is empty"] = { key = key, ids = { "a", "", "c" } },
      ["federated.align: ids[2] must be a string, got 2"] = { key = key, ids = { "a", 2, "c" } },
      ["federated.align: ids must be a list of strings"] = { key = key, ids = "a" },
      ["federated.align: give ids, or csv and column, not both"] = { key = key, ids = ids, csv = "x" },
      ["federated.align: column is missing"] = { key = key, csv = "x" },
      ["expected a key of 64 hex digits"] = { key = files.write("id\n"), ids = ids },
      ["1 identifiers in it, the data set has 3 records"] = { key = key, csv = files.write("id\na\n"), column = "id" },
      ["federated.align: unknown option 'id'"] = { key = key, id = ids },
    }) do
      assert.truthy(no_alignment(options):find(text, 1, true), text)
    end
  end)
end)
