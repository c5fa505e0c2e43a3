-- sbom.lua -- the parts and licences of a package, as SPDX 2.3 in JSON: folders of sources with the sums of their files, what was
-- built of them, and the libraries and tools that it takes, in the versions that are here.  The same files and versions make the
-- same bytes.
--   SOURCE_DATE_EPOCH=SECONDS lua sbom.lua BUILD VERSION CC
-- Depends on: `copyright` for names and licences, readelf for who links what, sha1sum, find, dpkg-query or pkg-config.
-- Used by: Makefile (make sbom), tests/build/package_spec.lua.
local here = arg and arg[0]:match "^(.*/)sbom%.lua$" or "bindings/package/"
local sbom = {}

-- By their names in `copyright`: Debian's package, the libraries without `lib` and `.so`, and pkg-config's module.
sbom.libraries = {
  ["GNU readline"] = { "libreadline-dev", "readline", "readline" },
  Lua = { "liblua5.4-dev", "lua", "lua5.4" },
  ["OpenBLAS, with LAPACK"] = { "libopenblas-dev", "openblas lapack lapacke", "openblas" },
  libseccomp = { "libseccomp-dev", "seccomp", "libseccomp" },
  libsodium = { "libsodium-dev", "sodium", "libsodium" },
  zlib = { "zlib1g-dev", "z", "zlib" },
  SLEEF = { "libsleef-dev", "sleef", "sleef" },
  ZeroMQ = { "libzmq3-dev", "zmq", "libzmq" },
  ["protobuf-c"] = { "libprotobuf-c-dev", "protobuf-c", "libprotobuf-c" },
  Jansson = { "libjansson-dev", "jansson", "jansson" },
  xxHash = { "libxxhash-dev", "", "libxxhash" },
  ["libstdc++ and libgcc"] = { "libstdc++6", "stdc++ gcc_s" },
  ["the GNU C library"] = { "libc6", "c m pthread ld-linux" },
  ["Open MPI"] = { "libopenmpi-dev", "mpi", "ompi-c" },
}

-- What builds it: Debian's packages and their licences.
local TOOLS = {
  { "binutils", "GPL-3.0-or-later" }, { "make", "GPL-3.0-or-later" }, { "pkgconf", "ISC" }, { "lua5.4", "MIT" },
  { "protobuf-c-compiler", "BSD-2-Clause" }, { "pandoc", "GPL-2.0-or-later" },
}
local GCC, CLANG = { "gcc", "GPL-3.0-or-later" }, { "clang", "Apache-2.0 WITH LLVM-exception" }

-- What `copyright` calls a licence, as SPDX does.
local SPDX = {
  Expat = "MIT", ISC = "ISC", Zlib = "Zlib", ["BSD-2-clause"] = "BSD-2-Clause", ["BSD-3-clause"] = "BSD-3-Clause",
  ["BSL-1.0"] = "BSL-1.0", ["LGPL-2.1"] = "LGPL-2.1-only", ["LGPL-2.1+"] = "LGPL-2.1-or-later", ["GPL-3+"] = "GPL-3.0-or-later",
  ["GPL-3+ with the GCC runtime library exception"] = "GPL-3.0-or-later WITH GCC-exception-3.1",
  ["LGPL-3+ with an exception for linking up to 4.3.4, MPL-2.0 from 4.3.5"] = function(version)
    local minor, patch = (version or ""):match "4%.(%d+)%.(%d+)"
    return minor and minor * 100 + patch >= 305 and "MPL-2.0" or "LGPL-3.0-or-later"
  end,
}

local function output(command, ...)
  local pipe <close> = assert(io.popen(command:format(...) .. " 2>/dev/null"))
  return pipe:read "a"
end

local function sha1(text) -- of letters, digits and what versions have beside them
  return output("printf %%s '%s' | sha1sum", text):match "%x+"
end

-- With sorted keys, and one element of a list a line.
local function json(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
  elseif type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  for i, each in ipairs(value) do parts[i] = json(each) end
  if #parts > 0 then return "[\n" .. table.concat(parts, ",\n") .. "\n]" end
  for key, each in pairs(value) do parts[#parts + 1] = json(key) .. ": " .. json(each) end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function id(name)
  return "SPDXRef-" .. name:gsub("%+", "p"):gsub("[^%w.]+", "-")
end

-- The libraries that `copyright` lists: { name, licence, who, how }.
function sbom.listed()
  local file <close> = assert(io.open(here .. "copyright"))
  local list = {}
  for name, licence, who, how in file:read("a"):gmatch "\n  (%w[^\n:]*): ([^\n(]+) %(([^\n]+)%)\n      ([^\n]+)" do
    list[#list + 1] = { name = name, licence = licence, who = who, how = how }
  end
  return list
end

-- Whose a needed file is, by its name in `copyright`: "libz.so.1" is zlib's; our own are their own.
function sbom.owner(needed)
  local name = needed:match "^ld%-linux" or needed:match "^lib(.-)[-%d.]*%.so"
  if name:find "^penumbra" then return needed end
  for owner, row in pairs(sbom.libraries) do
    if (" " .. row[2] .. " "):find(" " .. name .. " ", 1, true) then return owner end
  end
  error(needed .. " belongs to nothing that sbom.lua lists")
end

local function package(name, version, licence, supplier, who)
  return { SPDXID = id(name), name = name, versionInfo = version, downloadLocation = "NOASSERTION", filesAnalyzed = false,
    licenseDeclared = licence, licenseConcluded = licence, supplier = supplier, copyrightText = who or "NOASSERTION" }
end

local function ours(name, version, licence)
  return package(name, version, licence, "Organization: Penumbra developers", "2026 Penumbra contributors")
end

-- A library or tool in the version that dpkg knows, or pkg-config.
local function theirs(name, debian, licence, module, who)
  local version, upstream = output("dpkg-query -W -f '${Version} ${source:Upstream-Version}' %s", debian):match "(%S+) (%S+)"
  if not version and module then upstream = output("pkg-config --modversion %s", module):match "%S+" end
  if type(licence) == "function" then licence = licence(upstream) end
  local made = package(name, version or upstream, licence, version and "Organization: Debian" or "NOASSERTION", who)
  if version then
    local encoded = version:gsub("[^%w.~-]", function(c) return ("%%%02X"):format(c:byte()) end)
    made.externalRefs = { { referenceCategory = "PACKAGE-MANAGER", referenceType = "purl",
      referenceLocator = ("pkg:deb/debian/%s@%s"):format(debian:gsub("%+", "%%2B"), encoded) } }
  end
  return made
end

-- A document, and relate(from, kind, to) that writes into it.
local function document(version)
  local made = { spdxVersion = "SPDX-2.3", dataLicense = "CC0-1.0", SPDXID = "SPDXRef-DOCUMENT", name = "penumbra-" .. version,
    creationInfo = { created = os.date("!%Y-%m-%dT%H:%M:%SZ", math.tointeger(os.getenv "SOURCE_DATE_EPOCH")),
      creators = { "Tool: sbom.lua-" .. version } }, packages = {}, files = {}, relationships = {} }
  return made, function(from, kind, to)
    table.insert(made.relationships, { spdxElementId = id(from), relationshipType = kind, relatedSpdxElement = id(to) })
  end
end

-- A folder of sources, with its files.
local function add_sources(made, relate, name, version)
  local part, sums = ours(name, version, "MIT"), {}
  local files = "find %s -type f ! -name '.*' ! -path 'examples/federated/run/*' -print0 | LC_ALL=C sort -z | xargs -0 sha1sum"
  for sum, path in output(files, name):gmatch "(%x+)  ([^\n]+)" do
    sums[#sums + 1] = sum
    local file = "File " .. #made.files + 1
    table.insert(made.files, { SPDXID = id(file), fileName = "./" .. path,
      checksums = { { algorithm = "SHA1", checksumValue = sum } } })
    relate(name, "CONTAINS", file)
  end
  table.sort(sums)
  part.filesAnalyzed = true
  part.packageVerificationCode = { packageVerificationCodeValue = sha1(table.concat(sums)) }
  return part
end

-- What was built, as { name = path }, sorted.
local function built(build)
  local list = {}
  for path in output("ls %s/penumbra %s/*.so.0 %s/lua/penumbra/*.so", build, build, build):gmatch "[^\n]+" do
    local name = path:match "[^/]+$"
    list[#list + 1] = { name = name == "penumbra" and "bin/penumbra" or name, path = path }
  end
  return list
end

-- Whose libraries an object links, as a set.
function sbom.links(path)
  local set = {}
  for needed in output("readelf -d %s", path):gmatch "%(NEEDED%)[^\n]*%[([^%]]+)%]" do set[sbom.owner(needed)] = true end
  return set
end

-- What was built, with what it links; the set of all that is linked.
local function add_objects(add, relate, build, version)
  local all = {}
  for _, object in ipairs(built(build)) do
    local gpl = object.name == "bin/penumbra" and " AND GPL-3.0-or-later" or ""
    local needs, names = sbom.links(object.path), {}
    add(ours(object.name, version, "MIT AND BSD-2-Clause" .. gpl), "penumbra", "CONTAINS", object.name)
    for owner in pairs(needs) do
      names[#names + 1], all[owner] = owner, true
    end
    table.sort(names)
    for _, owner in ipairs(names) do relate(object.name, "DYNAMIC_LINK", owner) end
    if object.name == "libpenumbra.so.0" and not needs["protobuf-c"] then relate(object.name, "STATIC_LINK", "protobuf-c") end
  end
  return all
end

-- The text of the list.
function sbom.make(build, version, cc)
  local made, relate = document(version)
  local versions = {}
  local function add(what, from, kind, to)
    table.insert(made.packages, what)
    relate(from, kind, to)
    versions[#versions + 1] = what.filesAnalyzed and what.packageVerificationCode.packageVerificationCodeValue or what.versionInfo
  end
  add(ours("penumbra", version, "MIT AND BSD-2-Clause AND GPL-3.0-or-later"), "DOCUMENT", "DESCRIBES", "penumbra")
  for _, name in ipairs { "runtime", "bindings", "stdlib", "examples" } do
    add(add_sources(made, relate, name, version), "penumbra", "CONTAINS", name)
  end
  local linked = add_objects(add, relate, build, version)
  for _, row in ipairs(sbom.listed()) do
    local known = assert(sbom.libraries[row.name], row.name .. " is not in sbom.lua")
    local licence = assert(SPDX[row.licence], row.licence .. ", of " .. row.name .. ", is not in sbom.lua")
    local compiled = row.how:find "compiled" ~= nil
    if linked[row.name] or compiled then
      add(theirs(row.name, known[1], licence, known[3], row.who), "penumbra", compiled and "STATIC_LINK" or "DEPENDS_ON", row.name)
    end
  end
  for _, tool in ipairs { cc:find "clang" and CLANG or GCC, table.unpack(TOOLS) } do
    add(theirs("tool " .. tool[1], tool[1], tool[2]), "tool " .. tool[1], "BUILD_TOOL_OF", "penumbra")
  end
  made.documentNamespace = ("https://spdx.org/spdxdocs/penumbra-%s-%s"):format(version, sha1(table.concat(versions, " ")))
  return json(made) .. "\n"
end

if arg and arg[0]:find "sbom%.lua$" then io.write(sbom.make(arg[1], arg[2], arg[3])) end

return sbom
