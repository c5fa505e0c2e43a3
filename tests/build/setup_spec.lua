-- setup_spec.lua -- what the build says on a system where something is missing and nobody can install it.
local function sh(command)
  local pipe = assert(io.popen("{ " .. command .. "; } 2>&1"))
  local text = pipe:read("a")
  return pipe:close() == true, text
end

describe("setup.sh", function()
  local folder -- a PATH with the tools of any Unix, and neither compiler nor package manager

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    local link = "mkdir '%s' && for tool in sh sed tr id sort dirname mkdir mv grep; do "
      .. "ln -s \"$(command -v $tool)\" '%s/'; done"
    assert(sh(link:format(folder, folder)))
  end)

  teardown(function()
    sh(("rm -r '%s'"):format(folder))
  end)

  it("names everything that is missing and writes no stamp", function()
    local ok, said = sh(("PATH='%s' sh tests/tools/setup.sh build '%s/stamp'"):format(folder, folder))
    assert.is_false(ok)
    for _, thing in ipairs { "gcc", "pkg-config", "lua5.4", "openblas", "libsodium-dev", "package manager" } do
      assert.truthy(said:find(thing, 1, true), said)
    end
    assert.is_false(sh(("test -e '%s/stamp'"):format(folder)))
  end)

  it("says at once what several groups lack, and each thing once", function()
    local ok, said = sh(("PATH='%s' sh tests/tools/setup.sh 'test picture'"):format(folder))
    assert.is_false(ok)
    assert.truthy(said:find("busted", 1, true), said)
    assert.truthy(said:match "needs, and this system does not have: ([^\n]*)":find("tmux", 1, true), said)
    assert.is_nil(said:find("tmux.*tmux.*tmux"), said) -- the thing, and its package
  end)

  it("is silent when nothing is missing, and writes its stamp", function()
    local ok, said = sh(("sh tests/tools/setup.sh test '%s/stamp'"):format(folder))
    assert.is_true(ok, said)
    assert.equal("", said)
    assert.is_true(sh(("test -e '%s/stamp'"):format(folder)))
  end)

  it("refuses a group that it does not know", function()
    local ok, said = sh("sh tests/tools/setup.sh attic")
    assert.is_false(ok)
    local groups = "there are build, test, lint, bench, reproduce, package, picture, docs, coverage, fuzz and ci"
    assert.truthy(said:find(groups, 1, true), said)
  end)
end)

describe("make", function()
  -- A tree of its own, in which one small file is compiled.
  local build = os.tmpname()
  local object = build .. "/runtime/core/view.o"

  setup(function()
    os.remove(build)
  end)

  teardown(function()
    sh(("rm -rf '%s'"):format(build))
  end)

  local function make(arguments)
    local ok, said = sh(("env -u MAKEFLAGS -u MFLAGS make BUILD='%s' %s"):format(build, arguments))
    assert(ok, said)
    return said
  end

  local function compiles(arguments)
    return make(object .. " " .. arguments):find("cc runtime/core/view.c", 1, true) ~= nil
  end

  it("compiles again when a flag changes, and only then", function()
    assert.is_true(compiles(""))
    assert.is_false(compiles(""))
    assert.is_true(compiles("CPPFLAGS=-DANOTHER"))
    assert.is_false(compiles("CPPFLAGS=-DANOTHER"))
    assert.is_true(compiles(""))
  end)

  it("compiles nothing for an MPI that was installed since", function()
    compiles("")
    assert.is_false(compiles("MPI_LIBS="))
    assert.is_false(compiles(""))
  end)

  it("keeps no copy of a Lua file that moved", function()
    make(build .. "/lua/penumbra/wrap.lua")
    assert.is_true(sh(("cd '%s' && touch lua/penumbra/gone.lua lua/penumbra/core.so && echo other >stdlib"):format(build)))
    make(build .. "/lua/penumbra/wrap.lua " .. build .. "/lua/penumbra/plot/init.lua")
    local command = "cd '%s/lua/penumbra' && test ! -e gone.lua -a -e wrap.lua -a -e plot/init.lua -a -e core.so"
    assert.is_true(sh(command:format(build)))
  end)

  it("knows the headers that a file includes", function()
    assert.is_false(compiles(""))
    assert.is_true(compiles("-W runtime/core/view.h"))
  end)

  it("lists every target that a user may call", function()
    local said = make("help")
    for _, target in ipairs { "all", "demo", "repl", "test", "lint", "bench", "install", "setup", "clean", "help" } do
      assert.truthy(said:find("make " .. target .. " ", 1, true), target)
    end
  end)
end)
