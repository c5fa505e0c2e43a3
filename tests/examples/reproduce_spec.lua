-- reproduce_spec.lua -- every script of examples/reproduce ends well with small sizes, keeps its promises, and writes its
-- table and, where gnuplot is there, its figure.  In the fast tier one of them.
local tier = require "tests.tools.tier"
local build = os.getenv "PENUMBRA" or "build/penumbra"
local root = "examples/reproduce"
-- Folders and the least number of scripts in each.
local folders = { federated = 4, geometry = 10, second_order = 2, variance_reduced = 10, zeroth_order = 6 }

local function lines_of(command)
  local pipe, lines = assert(io.popen(command)), {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

local function run(path, into)
  local pipe = assert(io.popen(("QUICK=1 PENUMBRA_THREADS=1 %s %s %s 2>&1"):format(build, path, into)))
  local text = pipe:read "a"
  return text, (pipe:close())
end

-- A header and at least one row, as many cells in every one.
local function check_table(path)
  local text = assert(read(path), path .. " is not there")
  local columns, rows = nil, 0
  for line in text:gmatch "[^\n]+" do
    local _, commas = line:gsub('"[^"]*"', ""):gsub(",", "")
    columns = columns or commas
    assert.equal(columns, commas, path .. ": " .. line)
    rows = rows + 1
  end
  assert.is_true(rows > 1, path)
end

describe("the reproduction", function()
  local into = os.tmpname()
  local has_gnuplot = os.execute "command -v gnuplot >/dev/null 2>&1"

  setup(function()
    os.remove(into)
    assert(os.execute("mkdir " .. into))
  end)

  teardown(function() os.execute("rm -r " .. into) end)

  -- Scripts on real data say that they were skipped where there is none.
  local function check(path, script)
    local text, ok = run(path, into)
    assert.is_true(ok, text)
    if text:find "^skipped: %S+ needs PENUMBRA_DATA" then
      assert.is_falsy(os.getenv "PENUMBRA_DATA", text)
      return
    end
    assert.is_truthy(text:find("as promised: ", 1, true), text)
    assert.is_nil(text:find("NOT AS PROMISED", 1, true), text)
    check_table(("%s/%s.csv"):format(into, script))
    if has_gnuplot then
      local figure = assert(read(("%s/%s.svg"):format(into, script)), "no figure: " .. text)
      assert.is_truthy(figure:find("</svg>%s*$"), script .. ".svg ends too early")
    end
  end

  for folder, least in pairs(folders) do
    local files = lines_of(("ls %s/%s | grep -v '[.]svg$'"):format(root, folder)) -- figures are shown by the README
    it("scripts of " .. folder .. " are found", function() assert.is_true(#files >= least) end)
    for _, file in ipairs(files) do
      local script = file:match "^(.*)%.lua$"
      local seldom_it = tier.it(it, file == "lasso.lua")
      seldom_it(tostring(script) .. " keeps its promises and writes its table and figure", function()
        assert.is_truthy(script, file .. " is no Lua script")
        check(("%s/%s/%s"):format(root, folder, file), script)
      end)
    end
  end
end)
