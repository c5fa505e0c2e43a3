-- writers_spec.lua -- whatever writes a file is in the table of the campaign, and the table names nothing else.
local rows, others = dofile "tests/crash/writers.lua"

-- How a file is written, made, named or made longer; core/file.h is the one door of C.
local doors = {
  c = { "pn_file_put%(", "pn_file_append%(", "pn_file_begin[%w_]*%(", "pn_file_name%(", "pn_file_write%(", "pn_file_reserve%(",
    "pn_file_open[%w_]*%([^;]*O_CREAT", "pn_file_open[%w_]*%([^;]*O_WRONLY", "pn_file_open[%w_]*%([^;]*O_RDWR",
    "pn_checkpoint_make%(", "pn_checkpoint_commit%(", "[^_%w]fopen%([^;]*\"[wa]", "[^_%w]creat%(", "[^_%w]openat?%(",
    "[^_%w]rename%(", "[^_%w]ftruncate%(", "write_history%(", "append_history%(", "[^_%w]mkstemp%(" },
  lua = { "files\"?%.put%f[^%w_]", "files\"?%.append%f[^%w_]", "files\"?%.folder%f[^%w_]", "io%.output%(", "io%.tmpfile",
    "os%.rename%(", "os%.tmpname" },
}

local function files()
  local pipe = assert(io.popen "find runtime bindings stdlib examples -name '*.c' -o -name '*.lua'")
  local list = {}
  for path in pipe:lines() do
    local skipped = path:find "^runtime/core/file" or path:find "^bindings/package/" or path:find "^stdlib/usage/"
    if not skipped then list[#list + 1] = path end
  end
  pipe:close()
  table.sort(list)
  return list
end

local function code_of(path)
  local file <close> = assert(io.open(path, "rb"))
  local text = file:read "a"
  if path:find "%.lua$" then return (text:gsub("%-%-[^\n]*", "")) end
  return (text:gsub("/%*.-%*/", ""))
end

-- io.open with a mode that is not "r" or "rb".
local function opens_to_write(text)
  for call in text:gmatch "io%.open(%b())" do
    local mode = call:match "^%(.*,%s*(.-)%s*%)$"
    if mode and not mode:find "^[\"']rb?[\"']$" then return call end
  end
end

local function door_in(path)
  local text = code_of(path)
  for _, pattern in ipairs(doors[path:match "%.(%w+)$" == "lua" and "lua" or "c"]) do
    local found = text:match(pattern)
    if found then return found end
  end
  return path:find "%.lua$" and opens_to_write(text) or nil
end

local function named()
  local set = {}
  for _, row in ipairs(rows) do
    for _, path in ipairs(row.sources) do set[path] = row.name end
  end
  for path, why in pairs(others) do
    assert.is_nil(set[path], path)
    set[path] = why
  end
  return set
end

describe("the campaign's table of writers", function()
  it("has every file of the sources that writes one", function()
    local set, missing = named(), {}
    for _, path in ipairs(files()) do
      local found = not set[path] and door_in(path)
      if found then missing[#missing + 1] = ("%s: %s"):format(path, found) end
    end
    assert.equal("", table.concat(missing, "\n"), "give it a row in tests/crash/writers.lua, or say there where it is looked at")
  end)

  it("names no file that writes none", function()
    for path in pairs(named()) do assert.truthy(door_in(path), path) end
  end)

  it("sees a new writer", function()
    assert.truthy(opens_to_write 'local f = io.open(path, "ab")')
    assert.truthy(opens_to_write "io.open(name(path), mode)")
    assert.is_nil(opens_to_write 'io.open(path, "rb") io.open(path)')
    assert.truthy(('  error = pn_file_put(path, text, size, 0600, true);'):find(doors.c[1]))
    assert.truthy(('require "penumbra.files".put(path, text)'):find(doors.lua[1]))
  end)
end)
