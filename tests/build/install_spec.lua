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

-- A host that links the library for real: two threads count to a hundred.
local host = [[
#include <penumbra.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int seen;

static void count(void *self, size_t block, unsigned worker)
{
    (void)self, (void)block, (void)worker;
    atomic_fetch_add(&seen, 1);
}

int main(void)
{
    pn_task *task;
    pn_err err;

    if (pn_task_new(&task, 2, &err) != PN_OK || pn_parallel(task, 100, count, NULL, &err) != PN_OK)
        return 1;
    pn_task_free(task);
    printf("%d %s\n", atomic_load(&seen), pn_lp_name(PN_L2));
    return 0;
}
]]

describe("make install", function()
  local stage, root -- DESTDIR, and DESTDIR with the prefix
  local prefix = "/opt/a prefix"

  -- Quoted paths: a prefix with a blank in it must work.
  local function make(target)
    return run("env -u MAKEFLAGS -u MFLAGS make -s %s BUILD='%s' CC='%s' DESTDIR='%s' PREFIX='%s'",
               target, build, cc, stage, prefix)
  end

  -- pkg-config as a host sees it, the stage taken for the root of the system.
  local function pkg_config(options)
    return run("PKG_CONFIG_PATH='%s/lib/pkgconfig' pkg-config --define-variable=prefix='%s' %s penumbra",
               root, root:gsub(" ", "\\ "), options)
  end

  setup(function()
    stage = os.tmpname()
    os.remove(stage)
    root = stage .. prefix
    make("install")
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
      "include/penumbra/penumbra.h",
      "include/penumbra/core/status.h",
      "lib/libpenumbra.a",
      "lib/libpenumbra.so",
      "lib/libpenumbra.so.0",
      "lib/lua/5.4/penumbra/core.so",
      "lib/pkgconfig/penumbra.pc",
      "share/lua/5.4/penumbra/init.lua",
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
    assert.equal("100 l2", run("LD_LIBRARY_PATH='%s/lib' '%s/shared'", root, stage))
  end)

  it("serves a C program with a set and a potential of its own", function()
    run("cp tests/build/geometry_host.c '%s/geometry.c'", stage)
    run("cd '%s' && %s -std=c17 -Wall -Wextra -Werror -o geometry geometry.c %s -lm", stage, cc, pkg_config("--cflags --libs"))
    local said = run("LD_LIBRARY_PATH='%s/lib' '%s/geometry'", root, stage)
    assert.equal("width of 4.70 in [1, 1]", said:match("^[^\n]*"))
    assert.truthy(said:find("mirror_descent: private in 50 of 50 steps, epsilon <= 1: 1\n"
      .. "objective_perturbation: private in 1 of 1 steps, epsilon <= 1: 1", 1, true), said)
  end)

  it("puts down headers that each compile on their own", function()
    local headers = run("cd '%s/include/penumbra' && find . -name '*.h'", root)
    local count = 0
    for header in headers:gmatch("[^\n]+") do
      run("cd '%s/include/penumbra' && echo '#include \"%s\"' | %s -std=c17 -Wall -Wextra -Werror -I. -x c -fsyntax-only -", root,
        header, cc)
      count = count + 1
    end
    assert.is_true(count > 30, headers)
  end)

  it("serves a C program that links the static library", function()
    local libs = pkg_config("--static --libs"):gsub("%-lpenumbra", "-l:libpenumbra.a")
    run("cd '%s' && %s -std=c17 -o static host.c %s %s", stage, cc, pkg_config("--cflags"), libs)
    assert.is_nil(run("readelf -d '%s/static'", stage):find("libpenumbra", 1, true))
    assert.equal("100 l2", run("'%s/static'", stage))
  end)

  it("shows only pn_ names in the shared library", function()
    local names, count = run("nm -D --defined-only '%s/lib/libpenumbra.so'", root), 0
    for line in names:gmatch("[^\n]+") do
      assert.truthy(line:find(" pn_[%w_]+$"), line)
      count = count + 1
    end
    assert.is_true(count > 10, names)
  end)

  it("serves a stock Lua that looks into the prefix", function()
    local code = 'io.write(require("penumbra").version)'
    local paths = ("LUA_PATH='%s/share/lua/5.4/?/init.lua' LUA_CPATH='%s/lib/lua/5.4/?.so'"):format(root, root)
    local version = run("env -u LUA_PATH_5_4 -u LUA_CPATH_5_4 %s %s -e '%s'", paths, lua, code)
    assert.equal(pkg_config("--modversion"), version)
  end)

  it("puts down a program that finds its Lua files from any folder", function()
    local bare = "cd / && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT -u LUA_PATH_5_4 -u LUA_CPATH_5_4"
    local code = 'io.write(pn.version, " ", package.searchpath("penumbra", package.path))'
    local said = run("%s '%s/bin/penumbra' -e '%s'", bare, root, code)
    assert.equal(pkg_config("--modversion"), said:match("^%S+"))
    assert.truthy(said:find(stage, 1, true), said)
  end)

  it("leaves nothing behind after make uninstall", function()
    make("uninstall")
    assert.equal("", run("find '%s' -type f", root))
    make("install")
  end)
end)
