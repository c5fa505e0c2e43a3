-- readme_spec.lua -- README, the handbook and CONTRIBUTING say what the program says: their sessions are typed again and every
-- answer compared, numbers aside, which noise and clocks change; their Lua runs; what they quote of C stands in its file; a lesson
-- is one.
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"
local law = tier.law(it)
local thorough_it = tier.it(it)

local path = program.path:find "^/" and program.path or io.popen("pwd"):read "l" .. "/" .. program.path
local data = os.getenv "PENUMBRA_DATA"
local END = "-- the end of an answer --"

local documents = { "README.md" }
for page in program.shell "ls stdlib/handbook/*.md":gmatch "[^\n]+" do
  documents[#documents + 1] = page
end
documents[#documents + 1] = "CONTRIBUTING.md"

-- The fenced blocks: {text=, language=, line=}.
local function blocks(document)
  local out, block, number = {}, nil, 0
  for line in io.lines(document) do
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
    elseif #out > 0 then
      out[#out].answer = out[#out].answer .. line .. "\n"
    end
  end
  return out
end

-- What a command writes in a folder of its own, in which the data sets are.
local function in_folder(command, input)
  local folder = os.tmpname()
  os.remove(folder)
  local links = data and data ~= "" and ("ln -s %s/*.gz . ;"):format(program.quote(data)) or ""
  local out, err, code = program.shell(("mkdir %s && cd %s && { %s %s; }"):format(folder, folder, links, command), input)
  program.shell("rm -rf " .. folder)
  return out .. err, code
end

-- The answers of a session, in order.
local function answers(list)
  local text, out = {}, {}
  for i, turn in ipairs(list) do text[i] = ("%s\nprint '%s'\n"):format(turn.entry, END) end
  local said = in_folder(program.quote(path) .. " -i 2>&1", table.concat(text))
  for answer in said:gmatch("(.-)" .. END:gsub("%-", "%%-") .. "\n") do out[#out + 1] = answer end
  return out
end

-- Words without numbers, bars and line ends.
local function words(text)
  text = text:gsub("\n[ ~]+%.%.%.\n", "\n ELISION\n"):gsub("[█▁▂▃▄▅▆▇░]+[█▁▂▃▄▅▆▇░ ]*", "BAR ")
  text = text:gsub("%-?%d[%d,.]*e?[-+]?%d*", "0"):gsub("%f[%a]%-?inf%f[%A]", "0"):gsub("%-\n%s*", "-")
  text = text:gsub("%s+", " "):gsub("0[0 ]* 0", "0") -- as many as a line has room for
  return text
end

-- Both as words; a line "..." of what was said stands for anything.
local function same(said, answered)
  local pattern = words(said):gsub("%p", "%%%0"):gsub(" ?ELISION", ".*")
  return words(answered):find("^" .. pattern .. "$") ~= nil
end

local function sessions(document)
  local list = {}
  for _, block in ipairs(blocks(document)) do
    if block.text:find "^pn> " then
      for _, turn in ipairs(turns(block)) do list[#list + 1] = turn end
    end
  end
  return list
end

describe("README, handbook and CONTRIBUTING", function()
  if data and data ~= "" then it("show what the prompt answers, each document in a session of its own", function()
    local wrong, count = {}, 0
    for _, document in ipairs(documents) do
      local list = sessions(document)
      local got = #list > 0 and answers(list) or {}
      for i, turn in ipairs(list) do
        count = count + 1
        if not same(turn.answer, got[i] or "nothing: the session ended") then
          wrong[#wrong + 1] = ("%s:%d: %s\n%s-- but it is\n%s"):format(document, turn.line, turn.entry, turn.answer, got[i] or "")
        end
      end
    end
    assert.is_true(count > 60, count)
    assert.equal("", table.concat(wrong, "\n"))
  end) end

  law("begin with code that runs as it is pasted, and answers as it says", function()
    local all = blocks "README.md"
    local build, rest = all[1].text:match "^(make %-s[^\n]*\n)(.+)$" -- the build is that of the tests
    assert.is_string(build)
    local said, code = in_folder(("mkdir build && ln -s %s build/penumbra && sh -s"):format(program.quote(path)), rest)
    assert.equal(0, code, said)
    assert.is_true(same(all[2].text, said), said)
  end)

  it("have blocks of Lua that can be read", function()
    for _, document in ipairs(documents) do
      for _, block in ipairs(blocks(document)) do
        if block.language == "lua" then assert(load(block.text, ("=%s:%d"):format(document, block.line))) end
      end
    end
  end)

  thorough_it("have blocks of Lua that run", function()
    local count = 0
    for _, document in ipairs(documents) do
      for _, block in ipairs(blocks(document)) do
        if block.language == "lua" and document:find "^stdlib/" then
          count = count + 1
          local said, code = in_folder(program.quote(path) .. " -", block.text)
          assert.equal(0, code, ("%s:%d: %s"):format(document, block.line, said))
        end
      end
    end
    assert.is_true(count >= 3, count)
  end)

  it("have lessons that are lessons, and quote C as it stands in its file", function()
    local source = program.read_all "runtime/geometry/sets/l2_ball.c"
      .. program.read_all "runtime/objective/losses/regression_losses.c"
    local lessons, quoted = 0, 0
    for _, document in ipairs(documents) do
      for _, block in ipairs(blocks(document)) do
        if block.language == "lua" and block.text:find "\n  steps = {" then
          lessons = lessons + 1
          local file = os.tmpname()
          program.write_all(file .. ".lua", block.text)
          assert.is_true(require "penumbra.lesson".try(file .. ".lua"))
          os.remove(file .. ".lua")
          os.remove(file)
        end
        local code = block.text:gsub("^ +", ""):gsub("\n   ", "\n")
        if block.language == "c" and code:find "^static" then
          quoted = quoted + 1
          if block.text:find "^static" then code = block.text end -- at the margin
          assert.is_truthy(source:find(code:gsub("%s+$", ""), 1, true), code)
        end
      end
    end
    assert.equal(1, lessons)
    assert.is_true(quoted >= 2, quoted)
  end)

  it("name files that are there, and targets that the Makefile has", function()
    local makefile = program.read_all "Makefile"
    for _, document in ipairs(documents) do
      local text = program.read_all(document)
      for name in text:gmatch "`([%w_/]+%.%l+)`" do
        if not name:find "/yours%." and (name:find "^examples/" or name:find "^tests/" or name:find "^runtime/") then
          local file = assert(io.open(name), document .. ": " .. name)
          file:close()
        end
      end
      for target in text:gmatch "`make ([%l-]+)" do
        assert.is_truthy(makefile:find("\n" .. target:gsub("%-", "%%-") .. ":"), document .. ": " .. target)
      end
    end
  end)

  it("keep README to 200 lines", function()
    local _, lines = program.read_all "README.md":gsub("\n", "")
    assert.is_true(lines <= 200, lines)
  end)
end)
