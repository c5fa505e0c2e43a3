-- readme_spec.lua -- the README says what the program says: its sessions are typed again and every answer compared, numbers aside,
-- which noise and clocks change; its blocks of Lua can be read; its lesson is a lesson.
local program = require "tests.tools.program"

local path = program.path:find "^/" and program.path or io.popen("pwd"):read "l" .. "/" .. program.path
local data = os.getenv "PENUMBRA_DATA"
local END = "-- the end of an answer --"

-- The fenced blocks: {text=, language=, line=}.
local function blocks()
  local out, block, number = {}, nil, 0
  for line in io.lines "README.md" do
    number = number + 1
    local indent, language = line:match "^(%s*)```(.*)$"
    if indent and block then
      out[#out + 1], block = block, nil
    elseif indent then
      block = { language = language, line = number + 1, text = "" }
    elseif block then
      block.text = block.text .. line .. "\n"
    end
  end
  return out
end

-- What was typed and what was answered: {entry=, answer=, line=}.
local function turns(block)
  local out, number = {}, block.line - 1
  for line in block.text:gmatch "([^\n]*)\n" do
    number = number + 1
    local entry, more = line:match "^pn> (.*)$", line:match "^%.%.> (.*)$"
    if entry then
      out[#out + 1] = { entry = entry, answer = "", line = number }
    elseif more then
      out[#out].entry = out[#out].entry .. "\n" .. more
    elseif #out > 0 and not line:find "^_%d+ =$" then
      out[#out].answer = out[#out].answer .. line:gsub("^_%d+ = ", "") .. "\n"
    end
  end
  return out
end

-- The answers of a session, in order.
local function answers(list)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  for _, turn in ipairs(list) do file:write(turn.entry, "\n", ("print '%s'\n"):format(END)) end
  file:close()
  local folder = os.tmpname()
  os.remove(folder)
  local pipe = assert(io.popen(("mkdir %s && cd %s && { ln -s %s/*.gz . ; %s -i <%s 2>&1; }; rm -rf %s %s"):format(folder, folder,
    data, path, name, folder, name)))
  local out = {}
  for answer in pipe:read("a"):gmatch("(.-)" .. END:gsub("%-", "%%-") .. "\n") do out[#out + 1] = answer end
  pipe:close()
  return out
end

-- Words without numbers, bars and line ends.
local function words(text)
  text = text:gsub("\n[ ~]+%.%.%.\n", "\n ELISION\n"):gsub("[█▁▂▃▄▅▆▇░]+[█▁▂▃▄▅▆▇░ ]*", "BAR ")
  text = text:gsub("%-?%d[%d,.]*e?[-+]?%d*", "0"):gsub("%f[%a]%-?inf%f[%A]", "0"):gsub("%-\n%s*", "-")
  text = text:gsub("%s+", " "):gsub("0[0 ]* 0", "0") -- as many as a line has room for
  return text
end

-- Both as words; a line "..." of the README stands for anything.
local function same(said, answered)
  local pattern = words(said):gsub("%p", "%%%0"):gsub(" ?ELISION", ".*")
  return words(answered):find("^" .. pattern .. "$") ~= nil
end

describe("the README", function()
  if data and data ~= "" then it("shows what the prompt answers", function()
    local list = {}
    for _, block in ipairs(blocks()) do
      if block.text:find "^%$ penumbra\n" or block.text:find "^pn> " then
        for _, turn in ipairs(turns(block)) do list[#list + 1] = turn end
      end
    end
    assert.is_true(#list > 60, #list)
    local got, wrong = answers(list), {}
    for i, turn in ipairs(list) do
      if not same(turn.answer, got[i] or "nothing: the session ended") then
        wrong[#wrong + 1] = ("README.md:%d: %s\n%s-- but it is\n%s"):format(turn.line, turn.entry, turn.answer, got[i] or "")
      end
    end
    assert.equal("", table.concat(wrong, "\n"))
  end) end

  it("has blocks of Lua that can be read, and a lesson that is one", function()
    local lessons = 0
    for _, block in ipairs(blocks()) do
      if block.language == "lua" then
        assert(load(block.text, ("=README.md:%d"):format(block.line)))
        if block.text:find "\n  steps = {" then
          local file = os.tmpname()
          program.write_all(file .. ".lua", block.text)
          assert.is_true(require "penumbra.lesson".try(file .. ".lua"))
          os.remove(file .. ".lua")
          os.remove(file)
          lessons = lessons + 1
        end
      end
    end
    assert.equal(1, lessons)
  end)

  it("quotes C as it stands in its file", function()
    local source = program.read_all "runtime/geometry/sets/l2_ball.c"
      .. program.read_all "runtime/objective/losses/regression_losses.c"
    local quoted = 0
    for _, block in ipairs(blocks()) do
      local code = block.text:gsub("^ +", ""):gsub("\n   ", "\n")
      if block.language == "c" and code:find "^static" then
        if block.text:find "^static" then code = block.text end -- at the margin
        assert.is_truthy(source:find(code:gsub("%s+$", ""), 1, true), code)
        quoted = quoted + 1
      end
    end
    assert.equal(3, quoted)
  end)

  it("names files that are there", function()
    local text = program.read_all "README.md"
    for link in text:gmatch "%]%(([%w_./:-]+)[#)]" do
      if not link:find "^https?:" then assert.is_truthy(io.open(link), link) end
    end
    for name in text:gmatch "`([%w_/]+%.%l+)`" do
      if name:find "^examples/" or name:find "^tests/" or name:find "^runtime/" then assert.is_truthy(io.open(name), name) end
    end
  end)

  it("names targets that the Makefile has", function()
    local makefile = program.read_all "Makefile"
    for target in program.read_all "README.md":gmatch "`make ([%l-]+)" do
      assert.is_truthy(makefile:find("\n" .. target:gsub("%-", "%%-") .. ":"), target)
    end
  end)
end)
