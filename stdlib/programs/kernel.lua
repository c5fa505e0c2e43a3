-- kernel.lua -- the program `penumbra kernel`: serves one notebook, or tells Jupyter that there is such a kernel.
-- Depends on: penumbra.notebook, penumbra.kernel, penumbra.programs.main.  Used by: bindings/prompt/main.c.
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra kernel -f CONNECTION         serve a notebook; Jupyter calls it so
       penumbra kernel --install [--prefix DIR | --user] [--program FILE]
--install writes share/jupyter/kernels/penumbra/kernel.json below DIR.  With --user, the default, it writes
kernels/penumbra/kernel.json below JUPYTER_DATA_DIR, else XDG_DATA_HOME/jupyter, else ~/.local/share/jupyter.
  -f, --file FILE    the connection file: addresses, ports and the key of the signatures
  --prefix DIR       such as /usr/local, or the folder of a Python environment
  --program FILE     what Jupyter starts; default: this program
  -h, --help         print this
Exit status: 0 done; 1 a file could not be read or written, or the ports are taken; 2 wrong usage.
]]

local takes = { ["-f"] = "file", ["--file"] = "file", ["--prefix"] = "prefix", ["--program"] = "program" }

local function parse(words)
  local asked, wrong = main.words(words, takes, { ["--install"] = "install", ["--user"] = "user" })
  if not asked or asked.help then return asked, wrong end
  if #asked > 0 then return nil, ("unexpected word '%s'"):format(asked[1]) end
  if (asked.file ~= nil) == (asked.install or false) then return nil, "expected either -f CONNECTION or --install" end
  if asked.user and asked.prefix then return nil, "give --user or --prefix, not both" end
  if (asked.user or asked.prefix or asked.program) and not asked.install then
    return nil, "--user, --prefix and --program belong to --install"
  end
  return asked
end

-- ---- install ----

local function variable(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local function data_folder(asked)
  if asked.prefix then return asked.prefix .. "/share/jupyter" end
  local home = variable "XDG_DATA_HOME" or variable "HOME" and os.getenv "HOME" .. "/.local/share"
  local folder = variable "JUPYTER_DATA_DIR" or home and home .. "/jupyter"
  return folder or error("--install: neither JUPYTER_DATA_DIR, XDG_DATA_HOME nor HOME is set; use --prefix", 0)
end

-- The text of the file, and where it belongs.
local function install(asked)
  local kernel = require "penumbra.kernel"
  local folder = data_folder(asked) .. "/kernels/penumbra"
  local spec = {
    argv = { asked.program or kernel.program(), "kernel", "-f", "{connection_file}" },
    display_name = "Penumbra", language = "lua", interrupt_mode = "signal", metadata = { debugger = false },
  }
  local there, why = require "penumbra.files".folder(folder)
  if not there then error("--install: the folder could not be made: " .. why, 0) end
  return kernel.encode(spec) .. "\n", folder .. "/kernel.json"
end

-- ---- serve ----

local function connection_of(path)
  local file, why = io.open(path, "rb")
  if not file then error(why, 0) end
  local text = file:read "a"
  file:close()
  local connection, wrong = require "penumbra.kernel".decode(text)
  if type(connection) ~= "table" then error(("%s is no connection file: %s"):format(path, wrong or "no object"), 0) end
  local scheme = connection.signature_scheme
  if scheme and scheme ~= "hmac-sha256" then
    error(("%s: signature_scheme must be hmac-sha256, got %s"):format(path, tostring(scheme)), 0)
  end
  return connection
end

local function serve(asked)
  require "penumbra.notebook".serve(connection_of(asked.file))
  return ""
end

return main.program("penumbra kernel", usage, parse, function(asked)
  return (asked.install and install or serve)(asked)
end)
