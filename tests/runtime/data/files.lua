-- files.lua -- for the loader specs: short texts as files that vanish after the test.
local refusal = require("tests.tools.refusal").refusal

local files = { made = {} }

-- A new file with this text; its path.
function files.write(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  files.made[#files.made + 1] = path
  return path
end

function files.clear()
  for _, path in ipairs(files.made) do
    os.remove(path)
  end
  files.made = {}
end

local function crc32(text)
  local crc = 0xffffffff
  for k = 1, #text do
    crc = crc ~ text:byte(k)
    for _ = 1, 8 do
      crc = crc >> 1 ~ (crc & 1) * 0xedb88320
    end
  end
  return crc ~ 0xffffffff
end

-- The text as a gzip file of stored blocks (RFC 1951, 1952).
function files.gzip(text)
  local out = { "\x1f\x8b\8\0\0\0\0\0\0\3" }
  for from = 1, math.max(#text, 1), 65535 do
    local block = text:sub(from, from + 65534)
    out[#out + 1] = ("<I1I2I2"):pack(from + 65535 > #text and 1 or 0, #block, ~#block & 0xffff) .. block
  end
  out[#out + 1] = ("<I4I4"):pack(crc32(text), #text)
  return table.concat(out)
end

-- The bytes of a .npy file, version 1.0.
function files.npy(descr, shape, body, fortran)
  local header = ("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n"):format(descr, fortran and "True" or "False",
    shape)
  return "\x93NUMPY\1\0" .. ("<I2"):pack(#header) .. header .. body
end

-- The message of a call that must fail, without what changes from run to run: the folder of the file.
function files.error_of(path, fn, ...)
  return (refusal(fn, ...):gsub(path:gsub("%p", "%%%0"), "FILE"))
end

-- Rows of a pn.mat as Lua tables.
function files.rows(mat)
  local rows = {}
  for i = 1, mat.rows do
    rows[i] = {}
    for j = 1, mat.cols do
      rows[i][j] = mat:get(i, j)
    end
  end
  return rows
end

return files
