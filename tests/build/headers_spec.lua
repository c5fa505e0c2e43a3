-- headers_spec.lua -- every header that hosts get can be included alone, in C and in C++, new and old, without a warning; none
-- knows the inside of the library; a C++ program uses all of it.
local cc = os.getenv("PN_CC") or "gcc"
local cxx = cc:match("clang") and "clang++" or "g++"
local build = os.getenv("PN_BUILD") or "build"

local function run(command)
  local pipe = assert(io.popen("{ " .. command .. "; } 2>&1"))
  local text = pipe:read("a")
  assert.is_true(pipe:close(), command .. ":\n" .. text)
  return text
end

local function headers()
  local list = { "penumbra.h", "penumbra_lua.h" }
  for name in run("cd runtime/include && ls penumbra/*.h"):gmatch "[^\n]+" do list[#list + 1] = name end
  return list
end

-- Some headers in one program, each by its name.
local function compile(some, command)
  local lines = {}
  for i, header in ipairs(some) do lines[i] = ('#include "%s"\\n'):format(header) end
  run(([[printf '%sint main(void) { return 0; }\n' | %s -Wall -Wextra -Wpedantic -Werror -Iruntime/include ]]
    .. "-Ibindings/embed $(pkg-config --cflags lua5.4 2>/dev/null) -fsyntax-only -"):format(table.concat(lines), command))
end

describe("the headers of hosts", function()
  it("compile alone as c99", function()
    assert.is_true(#headers() > 20)
    for _, header in ipairs(headers()) do compile({ header }, cc .. " -x c -std=c99") end
  end)

  it("compile alone as c++11", function()
    for _, header in ipairs(headers()) do compile({ header }, cxx .. " -x c++ -std=c++11") end
  end)

  it("compile together as c17 and c++17", function()
    compile(headers(), cc .. " -x c -std=c17")
    compile(headers(), cxx .. " -x c++ -std=c++17")
  end)

  it("include each other and C's own, and nothing of the inside", function()
    for _, header in ipairs(headers()) do
      for line in io.lines((header == "penumbra_lua.h" and "bindings/embed/" or "runtime/include/") .. header) do
        local name = line:match '^%s*#%s*include%s*"(.*)"'
        assert.is_true(not name or name == "penumbra.h" or name:find "^penumbra/[%w_]+%.h$" ~= nil, header .. ": " .. line)
      end
    end
  end)

  it("speak of nothing that hosts do not have", function()
    local texts, known = {}, { pn_TYPE_new = true, pn_TYPE_free = true, pn_TYPE_verb = true }
    for _, header in ipairs(headers()) do
      local file <close> = assert(io.open((header == "penumbra_lua.h" and "bindings/embed/" or "runtime/include/") .. header))
      texts[header] = file:read "a"
      for name in texts[header]:gsub("/%*.-%*/", ""):gmatch "%f[%w_][Pp][Nn]_[%w_]+" do known[name] = true end
    end
    for header, text in pairs(texts) do
      for name in text:gmatch "%f[%w_][Pp][Nn]_[%w_]+" do
        if header ~= "penumbra_lua.h" then assert.is_true(known[name], header .. ": " .. name) end
      end
    end
  end)

  it("are all in penumbra.h, but for what needs another library", function()
    local file <close> = assert(io.open "runtime/include/penumbra.h")
    local text = file:read "a"
    for _, header in ipairs(headers()) do
      local apart = header == "penumbra.h" or header == "penumbra_lua.h" or header == "penumbra/federated.h"
      assert.equal(not apart, text:find('#include "' .. header .. '"', 1, true) ~= nil, header)
    end
  end)

  it("serve a program in C++11 that trains, with lambdas for callbacks", function()
    local name = os.tmpname()
    local command = "%s -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iruntime/include tests/build/host.cc -o %s "
      .. "%s/libpenumbra.so -Wl,-rpath,%s"
    run(command:format(
      cxx, name, build, run("realpath " .. build):match "[^\n]+"))
    assert.equal("10 steps, private: 1, heard of: 1\nsolve.sgd: unknown option \"epsilom\", the nearest is epsilon\n", run(name))
    os.remove(name)
  end)
end)
