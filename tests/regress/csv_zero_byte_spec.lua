-- csv_zero_byte_spec.lua -- a quoted name in a damaged header that went on with a zero byte after the name that was looked
-- for was compared beyond that name's end: a read outside of its memory, which a sanitizer sees.
local pn = require "penumbra"

describe("a header with a zero byte", function()
  it("holds no column that ends there", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write('"b\0' .. ("z"):rep(100) .. '",c\n1,2\n')
    file:close()
    local ok, message = pcall(pn.data.csv, path, { columns = { "b" } })
    os.remove(path)
    assert.is_false(ok)
    assert.matches("no column is named 'b'", message)
  end)
end)
