-- files.lua -- for the loader specs: short texts as files that vanish after the test.
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

-- The message of a call that must fail, without what changes from run to run: the folder of the file.
function files.error_of(path, fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok, "the call went through")
  return (tostring(message):gsub(path:gsub("%p", "%%%0"), "FILE"))
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
