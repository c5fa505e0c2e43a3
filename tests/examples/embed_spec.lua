-- embed_spec.lua -- the programs of examples/embed build with nothing but cc and pkg-config against what `make install` put down,
-- without a warning, and do what they say.  Under a sanitizer they are built with it, and with the tree's libraries.
local program = require "tests.tools.program"

local build = os.getenv("PN_BUILD") or "build"
local cc = os.getenv("PN_CC") or "gcc"
local sanitized = (os.getenv "PN_SANITIZED" or "") ~= ""

local function sh(command, ...)
  local pipe = assert(io.popen("{ " .. command:format(...) .. "; } 2>&1"))
  local text = pipe:read("a")
  local ok, _, status = pipe:close()
  return text, ok and 0 or status
end

local function run(command, ...)
  local text, status = sh(command, ...)
  assert(status == 0, command:format(...) .. "\n" .. text)
  return text
end

describe("examples/embed", function()
  local root

  local function build_sanitized()
    run("cp '%s' '%s/train'", program.compiled("train", "-Wall -Wextra -Werror examples/embed/train.c"), root)
    run("cp '%s' '%s/host'", program.compiled("host", ("-Wall -Wextra -Werror examples/embed/host.c '%s/libpenumbra_lua.a'")
      :format(program.tree)), root)
  end

  local function build_installed()
    run("env -u MAKEFLAGS -u MFLAGS make -s install BUILD='%s' CC='%s' PREFIX='%s'", build, cc, root)
    local text = run("cd '%s' && env -u MAKEFLAGS -u MFLAGS PKG_CONFIG_PATH='%s/lib/pkgconfig' make -s CC='%s' "
      .. "CFLAGS='-Wall -Wextra -Werror'", root, root, cc)
    assert.equal("", text)
  end

  setup(function()
    root = os.tmpname()
    os.remove(root)
    run("mkdir '%s' && cp examples/embed/* '%s'", root, root)
    if sanitized then build_sanitized() else build_installed() end
  end)

  teardown(function()
    run("rm -r '%s'", root)
  end)

  local function start(command)
    return sh("cd '%s' && LD_LIBRARY_PATH=lib %s", root, command)
  end

  it("trains through the C API, states the privacy and gives all memory back", function()
    local text, status = start("./train")
    assert.equal(0, status, text)
    assert.matches("plan: frank_wolfe, squared loss on 5000 x 50 records", text, 1, true)
    assert.matches("(0.8, 5e-07)-differentially private, neighbours: replace_one", text, 1, true)
    assert.matches("theta%[%d+%] = [+-]0%.%d%d%d", text)
    assert.matches("blocks left: 0", text, 1, true)
  end)

  -- What is larger than a mebibyte is read by a thread of the library's own, which takes no memory from the program's allocator.
  it("trains on a large file", function()
    local lines = {}
    for i = 1, 30000 do lines[i] = ("%d 1:%.6f 2:%.6f 3:%.6f 4:1\n"):format(i % 2, math.sin(i), math.cos(i), i % 7 / 7) end
    local file = assert(io.open(root .. "/large.svm", "w"))
    assert(file:write(table.concat(lines)))
    file:close()
    local text, status = start("./train large.svm")
    assert.equal(0, status, text)
    assert.matches("squared loss on 30000 x 4 records", text, 1, true)
    assert.matches("blocks left: 0", text, 1, true)
  end)

  it("says what is wrong with a file", function()
    local text, status = start("./train nothere.svm")
    assert.equal(1, status)
    assert.matches("train: PN_EIO: nothere.svm: cannot be opened", text, 1, true)
    assert.matches("blocks left: 0", text, 1, true)
  end)

  it("runs scripts side by side, each within its limits", function()
    local text, status = start("./host report.lua greedy.lua")
    assert.equal(1, status)
    assert.matches("report.lua: %d+ steps, epsilon 1\n", text)
    assert.matches("report.lua: returned 0%.%d+", text)
    assert.matches("report.lua: reported progress, at most %d+ MB", text)
    -- A sanitizer may need the ten seconds that the script has for its 200 MB.
    local short = text:find("greedy.lua: PN_ENOMEM: greedy.lua:4: vec: not enough memory", 1, true)
    assert.truthy(short or sanitized and text:find("greedy.lua: PN_ELIMIT: greedy.lua:4: the limit of 10 seconds", 1, true), text)
    text, status = start("./host report.lua report.lua")
    assert.equal(0, status, text)
  end)

  it("stops all scripts at an interrupt", function()
    local function write(name, text)
      local file = assert(io.open(root .. "/" .. name, "w"))
      file:write(text)
      file:close()
    end
    write("endless.lua", 'print "begun" while true do pcall(error) end\n')
    -- As soon as both run: later they would come to the end of their instructions.
    write("stop.sh", [[
      stdbuf -oL ./host endless.lua endless.lua >said 2>&1 &
      looks=0
      until [ "$(grep -c begun said)" = 2 ] || [ $looks = 6000 ]; do looks=$((looks + 1)); sleep 0.01; done
      kill -INT $!
      wait $!
      status=$?
      cat said
      exit $status
    ]])
    local text, status = start("sh stop.sh")
    assert.equal(1, status, text)
    local _, stopped = text:gsub("endless.lua: PN_ECANCELLED: endless.lua:1: stopped by the host", "")
    assert.equal(2, stopped, text)
  end)
end)
