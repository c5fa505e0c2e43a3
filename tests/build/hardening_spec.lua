-- hardening_spec.lua -- what is built has the guards that distributions ask for: read from the files themselves.
local build = os.getenv("PN_BUILD") or "build"
local cc = os.getenv("PN_CC") or "gcc"

local function run(command, ...)
  local pipe = assert(io.popen("{ " .. command:format(...) .. "; } 2>&1"))
  local text = pipe:read "a"
  pipe:close()
  return text
end

local function takes(flag)
  return run("%s -Werror %s -S -x c /dev/null -o /dev/null && echo taken", cc, flag):find("taken", 1, true) ~= nil
end

local PROGRAM = build .. "/penumbra"
local files = {
  PROGRAM, build .. "/libpenumbra.so.0", build .. "/libpenumbra_federated.so.0", build .. "/libpenumbra_lua.so.0",
  build .. "/lua/penumbra/core.so",
}
local mpi = build .. "/lua/penumbra/mpi.so"
if os.rename(mpi, mpi) then files[#files + 1] = mpi end

describe("what is built", function()
  it("is a program whose place in memory nobody knows before", function()
    assert.truthy(run("readelf -h %s", PROGRAM):find "Type: *DYN")
    assert.truthy(run("readelf -d %s", PROGRAM):find "FLAGS_1.*PIE")
  end)

  it("has its tables sealed before it begins, and no stack that runs", function()
    for _, file in ipairs(files) do
      local segments, dynamic = run("readelf -lW %s", file), run("readelf -dW %s", file)
      assert.truthy(segments:find("GNU_RELRO", 1, true), file)
      assert.truthy(dynamic:find "BIND_NOW" or dynamic:find "FLAGS_1.*NOW", file)
      assert.equal("RW", segments:match "GNU_STACK%s+%S+%s+%S+%s+%S+%s+%S+%s+%S+%s+(%u+)", file)
      assert.is_nil(segments:find "LOAD[^\n]* RWE ", file)
    end
  end)

  it("looks at the end of what it copies, and at canaries", function()
    for _, file in ipairs(files) do
      if file ~= mpi then
        local symbols = run("nm -D --undefined-only %s", file)
        assert.truthy(symbols:find("__stack_chk_fail", 1, true), file)
        assert.truthy(symbols:find "__%w+_chk[@\n]", file)
      end
    end
  end)

  it("marks where jumps may lead, in every object", function()
    local flag, mark = "-fcf-protection=full", "x86 feature: IBT, SHSTK"
    if takes "-mbranch-protection=standard" then
      flag, mark = "-mbranch-protection=standard", "AArch64 feature: BTI"
    elseif not takes(flag) then
      return pending "the compiler marks none"
    end
    for _, archive in ipairs { "libpenumbra.a", "libpenumbra_federated.a", "libpenumbra_lua.a" } do
      local _, members = run("ar t %s/%s", build, archive):gsub("\n", "")
      local _, marked = run("readelf -nW %s/%s", build, archive):gsub(mark, "")
      assert.equal(members, marked, archive .. " with " .. flag)
    end
  end)

  it("can be built without them", function()
    local text = run("env -u MAKEFLAGS -u MFLAGS make -n V=1 HARDEN= BUILD=%s/plain CC='%s' %s/plain/runtime/core/size.o",
      build, cc, build)
    assert.truthy(text:find("size.c", 1, true), text)
    assert.is_nil(text:find("stack-protector", 1, true), text)
    assert.is_nil(text:find("FORTIFY", 1, true), text)
    run("rm -rf %s/plain", build)
  end)
end)
