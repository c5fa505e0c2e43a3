-- core_spec.lua -- what the build makes: the module loads and shows nothing but its entry.
local function lines_of(command)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  assert(pipe:close(), command)
  return lines
end

describe("the built Lua module", function()
  local core = assert(package.searchpath("penumbra.core", package.cpath))

  it("leaves no name of the runtime or the bindings undefined", function()
    for _, line in ipairs(lines_of("nm -D --undefined-only '" .. core .. "'")) do
      assert.is_nil(line:find(" U pnl?_"), line)
    end
  end)

  it("exports its entry point and no other name", function()
    local names = lines_of("nm -D --defined-only '" .. core .. "'")
    assert.equal(1, #names, table.concat(names, "\n"))
    assert.truthy(names[1]:find("luaopen_penumbra_core$"))
  end)
end)
