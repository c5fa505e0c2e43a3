-- package_spec.lua -- the manual and the annotations that are made from the reference are whole, the lists of the ABI are those of
-- the headers, and the package is the same wherever it is made.  The site has a spec of its own.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local thorough_it = tier.it(it)
package.path = "bindings/package/?.lua;" .. package.path
local headers = require "headers"
local sbom = require "sbom"

local build = os.getenv("PN_BUILD") or "build"
local cc = os.getenv("PN_CC") or "gcc"
local docs = build .. "/docs"

local function run(command, ...)
  local line = select("#", ...) > 0 and command:format(...) or command
  local pipe = assert(io.popen("{ " .. line .. "; } 2>&1"))
  local text = pipe:read("a")
  assert(pipe:close(), line .. "\n" .. text)
  return text
end

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

-- The headers that are installed, as the Makefile finds them.
local installed = { "bindings/embed/penumbra_lua.h", "runtime/include/penumbra.h" }
for path in run("ls runtime/include/penumbra/*.h"):gmatch "[^\n]+" do installed[#installed + 1] = path end

setup(function()
  run("env -u MAKEFLAGS -u MFLAGS make -s docs BUILD='%s' CC='%s' WERROR=%s", build, cc, os.getenv "WERROR" or "")
end)

describe("the installed headers", function()
  it("say something of every function, alone or with those before it, but for keep and free", function()
    local silent = {}
    for _, path in ipairs(installed) do
      local said
      for _, item in ipairs(headers.read(path).items) do
        if not item.joined then said = item.comment end
        local known = item.comment or said or item.after or item[1]:find "_free$" or item[1]:find "_keep$"
        if item.kind == "function" and not known then silent[#silent + 1] = path .. ": " .. item[1] end
      end
    end
    assert.same({}, silent)
  end)
end)

describe("the reader of headers", function()
  it("sees the functions that a compiler sees", function()
    if not cc:find "gcc" then return pending "-aux-info is GCC's" end
    local path = os.tmpname()
    run("printf '#include <penumbra.h>\\n#include <penumbra/federated.h>\\n' | "
      .. "%s -std=c17 -Iruntime/include -aux-info %s -fsyntax-only -x c -", cc, path)
    local seen, mine, count = {}, {}, 0
    for line in io.lines(path) do
      if line:find "include/penumbra" and not line:find "static" then seen[line:match "(pn_[%w_]+) %(" or ""] = true end
    end
    os.remove(path)
    seen[""] = nil
    for _, header in ipairs(installed) do
      for _, item in ipairs(header:find "^runtime/include/" and headers.read(header).items or {}) do
        if item.kind == "function" then mine[item[1]] = true end
      end
    end
    for name in pairs(seen) do
      count = count + 1
      assert.is_true(mine[name], name)
    end
    for name in pairs(mine) do assert.is_true(seen[name], name) end
    assert.is_true(count > 200)
  end)

  it("keeps the comment that stands before a declaration, not one that stands alone", function()
    local parsed = headers.parse [[
/* a.h -- about. */
#ifndef PN_A_H
#define PN_A_H

/* A heading. */

/** Does it. */
int pn_do(int (*f)(void), const char *s);
typedef struct pn_a {
    int x; /* a ; in a comment */
    int (*call)(void *self);
} pn_a;
static inline int pn_in(void)
{
    return 1;
}
extern const char *const pn_names[];
#define PN_B 3
#endif
]]
    local kinds = {}
    for i, item in ipairs(parsed.items) do kinds[i] = item.kind .. " " .. item[1] end
    assert.same({ "function pn_do", "type pn_a", "inline pn_in", "object pn_names", "macro PN_B" }, kinds)
    assert.equal("/** Does it. */", parsed.items[1].comment)
    assert.is_nil(parsed.items[2].comment)
    assert.equal("/* a.h -- about. */", parsed.about)
  end)

  it("gives what stands behind a declaration to that one, not to the next", function()
    local parsed = headers.parse [[
/* b.h -- about. */
/** Drops one. */
void pn_free(void *self); /* NULL is allowed */
void *pn_next(void *self);

void pn_alone(void);
]]
    assert.equal("/** Drops one. */", parsed.items[1].comment)
    assert.equal("/* NULL is allowed */", parsed.items[1].after)
    assert.is_nil(parsed.items[2].comment)
    assert.is_true(parsed.items[2].joined)
    assert.is_false(parsed.items[3].joined)
  end)
end)

describe("the manual page", function()
  it("is one that troff takes without a warning, with every option of --help", function()
    local path = docs .. "/man/penumbra.1"
    local text = read(path)
    if os.execute "command -v groff >/dev/null" then
      assert.equal("", run("groff -man -Tascii -ww -z %s", path))
    end
    for flag in run("%s --help", os.getenv "PENUMBRA" or build .. "/penumbra"):gmatch "\n  (%-[%w-]*)" do
      assert.truthy(text:find("\\fB" .. flag:gsub("%-", "\\-"), 1, true), flag)
    end
    for _, heading in ipairs { "NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES" } do
      assert.truthy(text:find(".SH " .. heading, 1, true), heading)
    end
  end)

  it("names every variable of the environment that the program looks at", function()
    local text = read(docs .. "/man/penumbra.1"):gsub("\\", "")
    for name in run([[grep -rhoE 'getenv ?\(?"PENUMBRA_[A-Z]+"' bindings stdlib runtime]]):gmatch '"([^"]+)"' do
      if name ~= "PENUMBRA_MUTANT" then assert.truthy(text:find(name, 1, true), name) end
    end
  end)
end)

describe("the annotations for editors", function()
  it("are Lua, with every function, method and class", function()
    local missing, all = {}, {}
    for path in run("ls %s/luals/*.lua", docs):gmatch "[^\n]+" do
      local text = read(path)
      assert(load(text, "@" .. path))
      assert.equal("---@meta", text:match "^%-%-%-@meta", path)
      all[#all + 1] = text
    end
    all = table.concat(all)
    for name, entry in pairs(pn.reference()) do
      local wanted = entry.kind == "class" and "---@class " .. name .. "\n"
        or entry.kind == "method" and "function class:" .. name:match ":(.*)$" .. "("
        or entry.kind == "function" and name ~= "version" and "pn." .. name
      if wanted and not all:find(wanted, 1, true) then missing[#missing + 1] = wanted end
    end
    assert.same({}, missing)
  end)

  it("can be loaded in place of the module: no two definitions contradict", function()
    local made = assert(loadfile(docs .. "/luals/penumbra.lua"))()
    local missing = {}
    for name, entry in pairs(pn.reference()) do
      if entry.kind == "function" and name ~= "version" then
        local value = made
        for part in name:gmatch "[^.]+" do value = type(value) == "table" and value[part] or nil end
        if value == nil then missing[#missing + 1] = name end
      end
    end
    assert.same({}, missing)
  end)
end)

describe("the ABI", function()
  -- What the check says of a copy of the lists in which one was edited.
  local function check(list, edit)
    local folder = run("mktemp -d"):match "%S+"
    run("cp bindings/package/abi/* %s", folder)
    local text = edit(read(folder .. "/" .. list))
    local file = assert(io.open(folder .. "/" .. list, "w"))
    file:write(text)
    file:close()
    local pipe = io.popen(("ABI_LISTS=%s sh bindings/package/check_abi.sh check '%s' 2>&1"):format(folder, build))
    local said = pipe:read "a"
    local fine = pipe:close()
    run("rm -r %s", folder)
    return fine, said
  end

  it("is what is written down", function()
    local fine, said = check("libpenumbra.symbols", function(text) return text end)
    assert.is_true(fine, said)
  end)

  it("fails when a function that there was is gone, and says what to do", function()
    local fine, said = check("libpenumbra.symbols", function(text)
      return (text:gsub("pn_set_new@", "pn_set_new@@PENUMBRA_0.1\npn_set_newer@", 1))
    end)
    assert.is_nil(fine)
    assert.truthy(said:find("pn_set_newer@@PENUMBRA_0.1", 1, true), said)
    assert.truthy(said:find("make abi", 1, true), said)
  end)

  it("lets only what installed headers declare be linked", function()
    local declared = {}
    for _, name in ipairs(require "symbols".declared { table.unpack(installed, 2) }) do declared[name] = true end
    local count = 0
    for name in run("nm -D --defined-only --with-symbol-versions %s/libpenumbra.so", build):gmatch " ([%w_]+)@@PENUMBRA_0.1\n" do
      assert.is_true(declared[name], name)
      count = count + 1
    end
    assert.is_true(count > 200)
  end)
end)

describe("the list of parts and licences", function()
  local command = ("SOURCE_DATE_EPOCH=1767225600 %s bindings/package/sbom.lua '%s' 0.1.0 '%s'"):format(
    os.getenv "PN_LUA" or "lua5.4", build, cc)
  local path, text = os.tmpname(), nil

  setup(function()
    run("%s >%s", command, path)
    text = read(path)
  end)
  teardown(function() os.remove(path) end)

  local function has(from, kind, to)
    local line = '"relatedSpdxElement": "SPDXRef-%s", "relationshipType": "%s", "spdxElementId": "SPDXRef-%s"'
    return text:find(line:format(to, kind, from), 1, true) ~= nil
  end

  it("is SPDX 2.3, and the same each time", function()
    assert.equal("", run("python3 tests/tools/check_spdx.py %s", path))
    assert.equal(text, run(command))
  end)

  it("names every library that what was built needs, and no other", function()
    local count = 0
    for object in run("ls %s/penumbra %s/*.so.0 %s/lua/penumbra/*.so", build, build, build):gmatch "%S+" do
      local from = object:match "[^/]+$"
      from = from == "penumbra" and "bin-penumbra" or from:gsub("_", "-")
      local seen, said = {}, {}
      for needed in run("readelf -d %s", object):gmatch "Shared library: %[([^%]]+)%]" do
        seen[sbom.owner(needed):gsub("%+", "p"):gsub("[^%w.]+", "-")] = true
      end
      for to in text:gmatch('"SPDXRef%-([^"]+)", "relationshipType": "DYNAMIC_LINK", "spdxElementId": "SPDXRef%-' ..
        from:gsub("%p", "%%%0") .. '"') do
        said[to] = true
        count = count + 1
      end
      assert.same(seen, said, object)
    end
    assert.is_true(count >= 30)
    assert.is_true(has("bin-penumbra", "DYNAMIC_LINK", "GNU-readline") and has("penumbra", "STATIC_LINK", "xxHash"))
    assert.is_false(has("core.so", "DYNAMIC_LINK", "GNU-readline"))
    assert.has_error(function() sbom.owner "libelse.so.1" end)
  end)

  it("has the libraries of the licence file, each one", function()
    local listed, known = {}, {}
    for _, row in ipairs(sbom.listed()) do listed[row.name] = true end
    for name in pairs(sbom.libraries) do known[name] = true end
    assert.same(known, listed)
    for name in read "bindings/package/copyright":gmatch "\n  (%w[^\n:]*): " do assert.is_true(listed[name], name) end
  end)

  it("has the sum of every file of its parts", function()
    assert.truthy(text:find(run "sha1sum runtime/core/status.c":match "%x+", 1, true))
    local _, files = text:gsub('"fileName": ', "")
    local there = run "find runtime bindings stdlib examples -type f ! -name '.*' ! -path 'examples/federated/run/*' | wc -l"
    assert.equal(tonumber(there), files)
  end)
end)

describe("the package", function()
  local folders

  setup(function() folders = { run "mktemp -d":match "%S+", run "mktemp -d":match "%S+" .. "/another/place" } end)
  teardown(function() run("rm -rf %s %s", folders[1], folders[2]:match "^(.-)/another") end)

  -- What was built, packed below `folder`, in the time zone and with the mask of somebody.
  local function pack(folder, zone, mask)
    run("mkdir -p %s && env -u MAKEFLAGS -u MFLAGS make -s install BUILD='%s' CC='%s' WERROR=%s DESTDIR='%s/deb/root' PREFIX=/usr "
      .. "LIB=lib/$(%s -print-multiarch)", folder, build, cc, os.getenv "WERROR" or "", folder, cc)
    run("umask %s; SOURCE_DATE_EPOCH=1767225600 TZ=%s sh bindings/package/deb.sh %s 0.1.0", mask, zone, folder)
    return run("ls %s/*.deb", folder):match "%S+"
  end

  thorough_it("has the same bytes whenever and wherever it is packed, its licences, and nothing that lintian minds", function()
    if not os.execute "command -v dpkg-deb dpkg-shlibdeps >/dev/null" then return pending "no tools of Debian's" end
    local first = pack(folders[1], "UTC", "022")
    run "sleep 1.1"
    assert.equal("", run("cmp %s %s", first, pack(folders[2], "Asia/Tokyo", "077")))
    local licence = run("dpkg-deb --fsys-tarfile %s | tar -xO ./usr/share/doc/penumbra/copyright", first)
    assert.equal("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", licence:match "^[^\n]+")
    for _, word in ipairs { "GNU readline: GPL-3+", "Lua: Expat", "OpenBLAS", "libsodium: ISC", "zlib: Zlib", "SLEEF: BSL-1.0",
      "ZeroMQ: LGPL-3+", "MPL-2.0", "protobuf-c: BSD-2-clause", "xxHash: BSD-2-clause", "Open MPI: BSD-3-clause",
      "Files: usr/bin/penumbra\n", "/usr/share/common-licenses/GPL-3" } do
      assert.truthy(licence:find(word, 1, true), word)
    end
    assert.truthy(run("dpkg-deb -c %s", first):find("./usr/share/doc/penumbra/SECURITY.md", 1, true))
    run("dpkg-deb --fsys-tarfile %s | tar -xO ./usr/share/doc/penumbra/penumbra.spdx.json >%s/spdx.json", first, folders[1])
    assert.equal("", run("python3 tests/tools/check_spdx.py %s/spdx.json", folders[1]))
    if not os.execute "command -v lintian >/dev/null" then return pending "no lintian" end
    assert.equal("", run("lintian --allow-root --fail-on error,warning %s", first))
  end)

  it("holds no trace of where it was built", function()
    local here = run "pwd":match "[^\n]+"
    for path in run("ls %s/penumbra %s/*.so.0 %s/*.a %s/lua/penumbra/*.so", build, build, build, build):gmatch "%S+" do
      assert.is_nil(read(path):find(here, 1, true), path)
    end
    assert.equal("", run("grep -rlF '%s' %s || true", here, docs))
  end)

  thorough_it("is built to the same bytes in another folder", function()
    local tree = folders[1] .. "/elsewhere"
    run("mkdir -p %s/build && cp -r Makefile runtime bindings stdlib examples tests %s", tree, tree)
    run("cp %s/config.mk %s/build", build, tree)
    local make = "env -u MAKEFLAGS -u MFLAGS CCACHE_DISABLE=1 make -s BUILD=build"
    assert.equal("", run("cd %s && %s CC='%s' >told || tail told", tree, make, cc))
    local files = run("cd %s && ls penumbra *.so.0 *.a lua/penumbra/*.so", build)
    for file in files:gmatch "%S+" do assert.equal("", run("cmp %s/%s %s/build/%s", build, file, tree, file)) end
    assert.truthy(files:find("libpenumbra_lua.so.0\n", 1, true) and files:find("core.so\n", 1, true), files)
  end)
end)
