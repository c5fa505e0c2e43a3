-- install_spec.lua -- what `make install` puts down serves a C program, a stock Lua and pkg-config, and goes again.
local build = os.getenv("PN_BUILD") or "build"
local cc = os.getenv("PN_CC") or "gcc"
local lua = os.getenv("PN_LUA") or "lua5.4"

local function sh(command)
  local pipe = assert(io.popen("{ " .. command .. "; } 2>&1"))
  local text = pipe:read("a")
  return pipe:close() == true, text
end

local function run(command, ...)
  local line = command:format(...)
  local ok, text = sh(line)
  assert(ok, line .. "\n" .. text)
  return (text:gsub("%s+$", ""))
end

-- A host that links the library for real.
local host = [[
#include <penumbra.h>
#include <stdio.h>

int main(void)
{
    pn_task *task;
    pn_err err;

    if (pn_task_new(&task, 2, &err) != PN_OK)
        return 1;
    printf("%u %s\n", pn_task_threads(task), pn_lp_name(PN_L2));
    pn_task_free(task);
    return 0;
}
]]

describe("make install", function()
  local stage, root -- DESTDIR, and DESTDIR with the prefix
  local prefix = "/opt/a prefix"

  -- Quoted paths: a prefix with a blank in it must work.
  local function make(target)
    return run("env -u MAKEFLAGS -u MFLAGS make -s %s BUILD='%s' CC='%s' WERROR=%s DESTDIR='%s' PREFIX='%s'",
               target, build, cc, os.getenv "WERROR" or "", stage, prefix)
  end

  -- pkg-config as a host sees it, the stage taken for the root of the system.
  local function pkg_config(options, package)
    return run("PKG_CONFIG_PATH='%s/pkgconfig' pkg-config %s %s", stage, options, package or "penumbra")
  end

  setup(function()
    stage = os.tmpname()
    os.remove(stage)
    root = stage .. prefix
    make("install")
    run([[mkdir -p '%s/pkgconfig' && for file in '%s'/lib/pkgconfig/*.pc; do
      sed 's|^prefix=.*|prefix=%s|' "$file" >'%s/pkgconfig/'"$(basename "$file")"; done]], stage, root, root, stage)
    local file = assert(io.open(stage .. "/host.c", "w"))
    file:write(host)
    file:close()
  end)

  teardown(function()
    run("rm -r '%s'", stage)
  end)

  it("puts every part where a system expects it", function()
    for _, path in ipairs {
      "bin/penumbra",
      "include/penumbra.h",
      "include/penumbra/status.h",
      "include/penumbra/federated.h",
      "lib/libpenumbra.a",
      "lib/libpenumbra.so",
      "lib/libpenumbra.so.0",
      "lib/libpenumbra_federated.a",
      "lib/libpenumbra_federated.so",
      "lib/libpenumbra_federated.so.0",
      "lib/lua/5.4/penumbra/core.so",
      "include/penumbra_lua.h",
      "lib/libpenumbra_lua.a",
      "lib/libpenumbra_lua.so",
      "lib/libpenumbra_lua.so.0",
      "lib/pkgconfig/penumbra.pc",
      "lib/pkgconfig/penumbra-federated.pc",
      "lib/pkgconfig/penumbra-lua.pc",
      "share/lua/5.4/penumbra/init.lua",
      "share/lua/5.4/penumbra/lessons/01_neighbours.lua",
      "share/lua/5.4/penumbra/usage/numbers.lua",
      "share/lua/5.4/penumbra/handbook/train-a-model.md",
      "share/man/man1/penumbra.1",
      "share/penumbra/luals/penumbra.lua",
      "share/doc/penumbra/html/index.html",
      "share/doc/penumbra/html/set.html",
      "share/doc/penumbra/html/search-index.js",
      "share/doc/penumbra/html/pictures/session.svg",
      "share/doc/penumbra/CURATOR.md",
      "share/doc/penumbra/MODEL-JSON.md",
      "share/doc/penumbra/examples/score.py",
      "share/doc/penumbra/examples/private_lasso.lua",
      "share/doc/penumbra/examples/reproduce/geometry/lasso.lua",
      "share/doc/penumbra/examples/embed/train.c",
      "share/doc/penumbra/examples/embed/Makefile",
    } do
      assert.is_true(sh(("test -s '%s/%s'"):format(root, path)), path)
    end
    assert.equal("libpenumbra.so.0", run("readlink '%s/lib/libpenumbra.so'", root))
  end)

  it("states the real prefix in penumbra.pc", function()
    local text = run("cat '%s/lib/pkgconfig/penumbra.pc'", root)
    assert.truthy(text:find("prefix=" .. prefix .. "\n", 1, true), text)
    assert.is_nil(text:find("@", 1, true), text)
  end)

  it("serves a C program that links the shared library", function()
    run("cd '%s' && %s -std=c17 -Wall -Wextra -Werror -o shared host.c %s", stage, cc, pkg_config("--cflags --libs"))
    assert.truthy(run("readelf -d '%s/shared'", stage):find("libpenumbra.so.0", 1, true))
    assert.equal("2 l2", run("LD_LIBRARY_PATH='%s/lib' '%s/shared'", root, stage))
  end)

  -- Numbers, keys, compression, and what compilers bring.
  local expected = { "linux-vdso", "ld-linux", "libc", "libm", "libpthread", "libgcc_s", "libstdc++", "libgfortran", "libquadmath",
    "libpenumbra", "libopenblas", "libsodium", "libz", "libsleef",
    "libjansson" }
  local function is_expected(library)
    for _, name in ipairs(expected) do
      if library:find("^/?[%w/_-]*" .. name:gsub("%W", "%%%0") .. "[.-]") then return true end
    end
    return false
  end

  it("needs no messaging library in a C program, unless it is federated", function()
    local needed, count = run("LD_LIBRARY_PATH='%s/lib' ldd '%s/shared'", root, stage), 0
    for library in needed:gmatch "%s*(%S+)[^\n]*\n" do
      assert.is_true(is_expected(library), library)
      count = count + 1
    end
    assert.is_true(count >= 5, needed)
    local party = "#include <penumbra/federated.h>\\nint main(void) { pn_err e; return pn_federated_open(&e) != PN_OK; }\\n"
    run("cd '%s' && printf '%s' >federated.c", stage, party)
    run("cd '%s' && %s -std=c17 -o federated federated.c %s", stage, cc, pkg_config("--cflags --libs", "penumbra-federated"))
    assert.truthy(run("LD_LIBRARY_PATH='%s/lib' ldd '%s/federated'", root, stage):find("libzmq", 1, true))
    run("LD_LIBRARY_PATH='%s/lib' '%s/federated'", root, stage)
  end)

  it("serves a C program with a set and a potential of its own", function()
    run("cp tests/build/geometry_host.c '%s/geometry.c'", stage)
    run("cd '%s' && %s -std=c17 -Wall -Wextra -Werror -o geometry geometry.c %s -lm", stage, cc, pkg_config("--cflags --libs"))
    local said = run("LD_LIBRARY_PATH='%s/lib' '%s/geometry'", root, stage)
    assert.equal("width of 4.70 in [1, 1]", said:match("^[^\n]*"))
    assert.truthy(said:find("mirror_descent: private in 50 of 50 steps, epsilon <= 1: 1\n"
      .. "objective_perturbation: private in 1 of 1 steps, epsilon <= 1: 1", 1, true), said)
  end)

  it("puts down the headers as they are, of which headers_spec.lua compiles each", function()
    local count = 0
    for header in run("cd '%s/include' && find . -name '*.h'", root):gmatch "%./([^\n]+)" do
      local source = header == "penumbra_lua.h" and "bindings/embed/" or "runtime/include/"
      assert.equal("", run("cmp '%s%s' '%s/include/%s'", source, header, root, header))
      count = count + 1
    end
    assert.is_true(count > 20)
  end)

  it("serves a C program that links the static library", function()
    local libs = pkg_config("--static --libs"):gsub("%-lpenumbra", "-l:libpenumbra.a")
    run("cd '%s' && %s -std=c17 -o static host.c %s %s", stage, cc, pkg_config("--cflags"), libs)
    assert.is_nil(run("readelf -d '%s/static'", stage):find("libpenumbra", 1, true))
    assert.equal("2 l2", run("'%s/static'", stage))
  end)

  it("takes no name of the host's in the static library", function()
    local names, count = run("nm -g --defined-only '%s/lib/libpenumbra.a'", root), 0
    for name in names:gmatch "%x+ [A-Z] ([%w_.]+)" do
      local fine = name:find "^pn_" or name:find "^penumbra__" or name:find "^_Z" or name:find "^DW%." -- C++ has its own
      assert.truthy(fine, name)
      count = count + 1
    end
    assert.is_true(count > 1000, names)
  end)

  it("shows only pn_ names in the shared library", function()
    local names, count = run("nm -D --defined-only --with-symbol-versions '%s/lib/libpenumbra.so'", root), 0
    for line in names:gmatch("[^\n]+") do
      assert.truthy(line:find(" pn_[%w_]+@@PENUMBRA_0%.1") or line:find " A PENUMBRA_0%.1", line)
      count = count + 1
    end
    assert.is_true(count > 10, names)
  end)

  it("shows only what penumbra_lua.h declares in the library for Lua hosts", function()
    local header = run("cat '%s/include/penumbra_lua.h'", root)
    for line in run("nm -D --defined-only '%s/lib/libpenumbra_lua.so'", root):gmatch("[^\n]+") do
      local name = line:match " T ([%w_]+)"
      assert.truthy(name == "luaopen_penumbra_core" or not name or header:find(name .. "(", 1, true), line)
    end
  end)

  it("serves a C++ program, too", function()
    run("cd '%s' && echo '#include <penumbra_lua.h>\nint main() { return pn_status_name(PN_OK) == nullptr; }' >plus.cc", stage)
    run("cd '%s' && g++ -std=c++17 -Wall -Wextra -o plus plus.cc %s", stage, pkg_config("--cflags --libs", "penumbra-lua"))
    run("LD_LIBRARY_PATH='%s/lib' '%s/plus'", root, stage)
  end)

  it("serves a host of Lua that links everything statically", function()
    local libs = pkg_config("--static --libs", "penumbra-lua"):gsub("%-l(penumbra[_%a]*)", "-l:lib%1.a")
    run("cp examples/embed/host.c examples/embed/report.lua '%s'", stage)
    run("cd '%s' && %s -o static_host host.c %s %s -pthread", stage, cc, pkg_config("--cflags", "penumbra-lua"), libs)
    assert.is_nil(run("readelf -d '%s/static_host'", stage):find("libpenumbra", 1, true))
    run("cd '%s' && ./static_host report.lua", stage)
  end)

  it("is found by man", function()
    if sh("command -v man") then
      assert.equal(root .. "/share/man/man1/penumbra.1", run("env MANPATH='%s/share/man' man -w penumbra", root))
    end
  end)

  it("can be repeated, and says the same", function()
    local before = run("cd '%s' && find . -type f | sort | xargs -d '\n' md5sum", root)
    make("install")
    assert.equal(before, run("cd '%s' && find . -type f | sort | xargs -d '\n' md5sum", root))
  end)

  it("takes a prefix that is seen from the checkout", function()
    local folder = build .. "/relative prefix"
    run("env -u MAKEFLAGS -u MFLAGS make -s install BUILD='%s' CC='%s' WERROR=%s PREFIX='%s'", build, cc,
      os.getenv "WERROR" or "", folder)
    local here = run("pwd")
    assert.truthy(run("cat '%s/lib/pkgconfig/penumbra.pc'", folder):find("prefix=" .. here .. "/" .. folder .. "\n", 1, true))
    assert.truthy(run("cd / && '%s/%s/bin/penumbra' -e 'print(pn.version)'", here, folder):find "^%d")
    run("rm -r '%s'", folder)
  end)

  it("serves a stock Lua that looks into the prefix", function()
    local code = 'io.write(require("penumbra").version)'
    local paths = ("LUA_PATH='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH='%s/lib/lua/5.4/?.so'"):format(root, root, root)
    local version = run("env -u LUA_PATH_5_4 -u LUA_CPATH_5_4 %s %s -e '%s'", paths, lua, code)
    assert.equal(pkg_config("--modversion"), version)
  end)

  it("shows the handbook in a stock Lua, from its own folder", function()
    local paths = ("LUA_PATH='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH='%s/lib/lua/5.4/?.so'"):format(root, root, root)
    local said = run("cd / && env -u LUA_PATH_5_4 -u LUA_CPATH_5_4 %s %s -e '%s'", paths, lua,
      'require "penumbra".guide "spend a budget"')
    assert.equal("Spend a budget", said:match "^[^\n]+")
  end)

  it("serves a curator in a stock Lua, whose scripts run in the program that is installed with it", function()
    local code = [[local pn = require "penumbra"
      local d = pn.data.synthetic.logistic{n = 50, p = 3, seed = 1}:clip_rows("l2", 1)
      local c = pn.curator{data = {d = d}, ledger = pn.ledger{epsilon = 1}}
      io.write(c:run("return data.d.n").answer)]]
    local paths = ("LUA_PATH='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH='%s/lib/lua/5.4/?.so'"):format(root, root, root)
    local line = "env -u LUA_PATH_5_4 -u LUA_CPATH_5_4 %s %s -e '%s'"
    assert.equal("50", run(line, paths, lua, code))
    local program = root .. "/bin/penumbra"
    os.rename(program, program .. ".away")
    local ok, text = sh(line:format(paths, lua, (code:gsub("answer", "error"))))
    os.rename(program .. ".away", program)
    assert.is_true(ok, text)
    assert.truthy(text:find("the program penumbra, which runs a script in a process of its own, is not beside", 1, true), text)
  end)

  it("puts down a program that finds its Lua files from any folder", function()
    local bare = "cd / && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT -u LUA_PATH_5_4 -u LUA_CPATH_5_4"
    local code = 'io.write(pn.version, " ", package.searchpath("penumbra", package.path))'
    local said = run("%s '%s/bin/penumbra' -e '%s'", bare, root, code)
    assert.equal(pkg_config("--modversion"), said:match("^%S+"))
    assert.truthy(said:find(stage, 1, true), said)
  end)

  it("puts down examples that run from where they are, and a program that lists them", function()
    local folder = root .. "/share/doc/penumbra/examples"
    local listed = run("cd / && '%s/bin/penumbra' examples", root)
    assert.equal(folder, listed:match "^[^\n]*")
    local count = 0
    for path in run("find examples -name '*.lua'"):gmatch "examples/([^\n]+)" do
      if not path:find "^federated/run/" then
        assert.truthy(listed:find("  " .. path, 1, true), path)
        assert.equal("", run("cmp 'examples/%s' '%s/%s'", path, folder, path))
        count = count + 1
      end
    end
    assert.is_true(count > 50, listed)
    assert.truthy(run("cd / && '%s/bin/penumbra' '%s/external_program.lua'", root, folder):find("%S"))
  end)

  it("leaves nothing behind after make uninstall", function()
    make("uninstall")
    assert.equal("", run("find '%s' -type f", root))
  end)
end)
