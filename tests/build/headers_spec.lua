-- headers_spec.lua -- every header that hosts get can be included alone, in C and in C++, without a warning.
local cc = os.getenv("PN_CC") or "gcc"
local cxx = cc:match("clang") and "clang++" or "g++"

local function headers()
  local list = { "runtime/penumbra.h", "bindings/embed/penumbra_lua.h" }
  for line in io.lines("runtime/penumbra.h") do
    local name = line:match('^#include "(.+)"')
    list[#list + 1] = name and "runtime/" .. name
  end
  return list
end

local function compile(header, command)
  local source = ('#include "%s"\\nint main(void) { return 0; }\\n'):format(header:match("/(.*)"))
  local pipe = assert(io.popen(("printf '%s' | %s -Wall -Wextra -Wpedantic -Werror -Iruntime -Ibindings "
    .. "$(pkg-config --cflags lua5.4 2>/dev/null) -fsyntax-only - 2>&1"):format(source, command)))
  local text = pipe:read("a")
  assert.is_true(pipe:close(), header .. ":\n" .. text)
end

describe("the headers of hosts", function()
  it("compile alone as C", function()
    assert.is_true(#headers() > 60)
    for _, header in ipairs(headers()) do
      compile(header, cc .. " -std=c17 -x c")
    end
  end)

  it("compile alone as C++", function()
    for _, header in ipairs(headers()) do
      compile(header, cxx .. " -std=c++17 -x c++")
    end
  end)

  it("are for older programs, too: C99, C++11", function()
    for _, header in ipairs { "runtime/penumbra.h", "bindings/embed/penumbra_lua.h" } do
      compile(header, cc .. " -std=c99 -x c")
      compile(header, cxx .. " -std=c++11 -x c++")
    end
  end)

  it("link from C++: all of them are declared in extern \"C\"", function()
    local name = os.tmpname()
    local file = assert(io.open(name .. ".cc", "w"))
    file:write('#include <penumbra.h>\nint main() { pn_task *t; pn_err e; if (pn_task_new(&t, 1, &e)) return 1; '
      .. 'pn_task_free(t); return 0; }\n')
    file:close()
    local build = os.getenv("PN_BUILD") or "build"
    local command = ("%s -std=c++17 -Iruntime %s.cc -o %s %s/libpenumbra.so -Wl,-rpath,%s && %s"):format(
      cxx, name, name, build, build, name)
    assert.is_true(os.execute(command))
    os.remove(name .. ".cc")
    os.remove(name)
  end)
end)
