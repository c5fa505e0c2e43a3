-- kernel_spec.lua -- `penumbra kernel`: Jupyter finds it, its clients get what the protocol promises, and wrong files are refused
-- in words.
local program = require "tests.tools.program"

local function folder()
  local name = os.tmpname()
  os.remove(name)
  return name
end

-- A Python with the packages of the suite.
local function python()
  for _, name in ipairs { "python3", "/usr/bin/python3" } do
    local _, _, code = program.shell(name .. " -c 'import jupyter_kernel_test, jupyter_client'")
    if code == 0 then return name end
  end
end

describe("penumbra kernel", function()
  local made = {}
  local function new_folder()
    made[#made + 1] = folder()
    return made[#made]
  end
  after_each(function()
    for _, name in ipairs(made) do program.shell("rm -rf " .. program.quote(name)) end
    made = {}
  end)

  it("is what Jupyter's own suite and clients expect", function()
    local name, prefix = assert(python(), "install python3-jupyter-kernel-test"), new_folder()
    local out, err, code = program.run { "kernel", "--install", "--prefix", prefix }
    assert.equal(0, code, out .. err)
    out, err, code = program.shell(("JUPYTER_PATH=%s/share/jupyter %s tests/bindings/kernel/kernel_suite.py"):format(prefix, name))
    assert.equal(0, code, out .. err)
    local count, skipped = err:match "Ran (%d+) tests", err:match "skipped=(%d+)"
    assert.is_true(tonumber(count) >= 30, err)
    assert.equal("2", skipped, err) -- of the suite: clear_output and the pager, which the kernel does not use
  end)

  it("is installed where Jupyter looks", function()
    local home = new_folder()
    local spec = "/kernels/penumbra/kernel.json"
    for _, case in ipairs {
      { "env -u JUPYTER_DATA_DIR -u XDG_DATA_HOME HOME=" .. home, "", home .. "/.local/share/jupyter" .. spec },
      { "env -u JUPYTER_DATA_DIR XDG_DATA_HOME=" .. home .. "/x", "--user", home .. "/x/jupyter" .. spec },
      { "env JUPYTER_DATA_DIR=" .. home .. "/it\\'s", "", home .. "/it's" .. spec },
      { "env", "--prefix " .. home .. "/p", home .. "/p/share/jupyter" .. spec },
    } do
      local out, err, code = program.shell(("%s %s kernel --install %s"):format(case[1], program.path, case[2]))
      assert.equal(0, code, out .. err)
      local text = program.read_all(case[3])
      assert.truthy(text:find('/penumbra","kernel","-f","{connection_file}"]', 1, true), text)
      assert.truthy(text:find('"language":"lua"', 1, true), text)
    end
  end)

  it("says what is wrong with its words and files", function()
    local place = new_folder()
    program.shell("mkdir " .. place)
    local function file(text)
      local path = place .. "/connection.json"
      program.write_all(path, text)
      return path
    end
    local ports = '"shell_port": 1, "control_port": 2, "stdin_port": 3, "iopub_port": 4, "hb_port": '
    local rest = '"transport": "tcp", "ip": "127.0.0.1", "key": "k", "signature_scheme": '
    for _, case in ipairs {
      { {}, 2, "expected either -f CONNECTION or --install" },
      { { "--install", "--user", "--prefix", "x" }, 2, "give --user or --prefix, not both" },
      { { "--install", "word" }, 2, "unexpected word 'word'" },
      { { "-f" }, 2, "a value is missing after '-f'" },
      { { "-f", place .. "/none" }, 1, "No such file or directory" },
      { { "-f", file "{" }, 1, "is no connection file: line 1" },
    } do
      local out, err, code = program.run { "kernel", table.unpack(case[1]) }
      assert.equal(case[2], code, out .. err)
      assert.truthy(err:find("penumbra kernel: ", 1, true), err)
      assert.truthy(err:find(case[3], 1, true), err)
    end
    for _, case in ipairs {
      { "[1]", "has no text `transport`" },
      { "{" .. ports .. "5, " .. rest .. '"hmac-md5"}', "signature_scheme must be hmac-sha256, got hmac-md5" },
      { "{" .. ports .. "0, " .. rest .. '"hmac-sha256"}', "`hb_port` in the connection file must be a port from 1 to 65535, got" },
      { "{" .. ports .. '5, "transport": "udp", "ip": "x", "key": "k"}', "must be tcp or ipc, got udp" },
      { "{" .. ports .. '5, "transport": "tcp", "ip": "192.0.2.1", "key": "k"}', "kernel: " },
      { "{" .. ports .. '5, "transport": "tcp", "ip": "127.0.0.1", "key": ""}', "requests would not be signed" },
      { "{" .. ports .. '5, "transport": "tcp", "ip": "127.0.0.1"}', "has no text `key`" },
    } do
      local out, err, code = program.run { "kernel", "-f", file(case[1]) }
      assert.equal(1, code, out .. err)
      assert.truthy(err:find(case[2], 1, true), err)
    end
  end)
end)
