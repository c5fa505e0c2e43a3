local class = require "tests.tools.course_class"
local program = require "tests.tools.program"
local submission = require "penumbra.course.submission"

local entries = {
  { "begin", "neighbours", "table" },
  { "read", "neighbours", "table" },
  { "typed", "neighbours", "mean", "x = 'a\\n' .. \"\t\" -- ü #12\n\ny = 2 #0123456789abcdef" },
  { "right", "neighbours", "mean", "before = pay:sum() / #pay" },
  { "skipped", "neighbours", "difference" },
}

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]*\n" do lines[#lines + 1] = line end
  return lines
end

describe("a submission", function()
  it("is read as it was written, texts of any bytes too", function()
    local made = submission.parse(class.text("Ada Lovelace", entries))
    assert.equal("Ada Lovelace", made.name)
    assert.equal("c0ffee", made.course)
    assert.is_nil(made.flaw)
    for k, entry in ipairs(entries) do
      local read = made.entries[k]
      assert.same({ entry[1], entry[2], entry[3], entry[4] or "" }, { read.kind, read.lesson, read.step, read.text })
    end
    local bytes = {}
    for k = 0, 255 do bytes[k + 1] = string.char(k) end
    local text = table.concat(bytes) .. "\\n\\010\n12"
    assert.equal(text, submission.parse(class.text("x", { { "typed", "a", "b", text } })).entries[1].text)
  end)

  it("shows any byte that was changed, and any line that was removed, repeated or moved", function()
    local whole = class.text("Ada Lovelace", entries)
    local lines = lines_of(whole)
    for at = #lines[1] + 1, #whole do -- the first line is what makes it a submission
      local other = whole:byte(at) == 0x61 and "b" or "a"
      local made = submission.parse(whole:sub(1, at - 1) .. other .. whole:sub(at + 1))
      assert.truthy(not made or made.flaw, at)
    end
    for k = 6, #lines do
      local removed, repeated = { table.unpack(lines) }, { table.unpack(lines) }
      table.remove(removed, k)
      table.insert(repeated, k, lines[k])
      if k < #lines then
        assert.truthy(submission.parse(table.concat(removed)).flaw, k) -- the last lines may be missing: that is not seen
        local moved = { table.unpack(lines) }
        moved[k], moved[k + 1] = moved[k + 1], moved[k]
        assert.truthy(submission.parse(table.concat(moved)).flaw, k)
      end
      assert.truthy(submission.parse(table.concat(repeated)).flaw, k)
    end
  end)

  it("says at which line, and how many there are", function()
    local lines = lines_of(class.text("Ada", entries))
    lines[8] = lines[8]:gsub("^typed", "right")
    local made = submission.parse(table.concat(lines))
    assert.equal("line 8 does not fit its tag: it, or a line before it, was changed or removed", made.flaw)
    assert.equal(1, made.flaws)
    assert.equal(5, #made.entries)
  end)

  it("shows another name and another course in its head", function()
    local text = class.text("Ada", entries)
    for _, pair in ipairs { { "name Ada", "name Eve" }, { "course c0ffee", "course c0ffed" } } do
      local made = submission.parse((text:gsub(pair[1], pair[2], 1)))
      assert.equal("its head (course, name, nonce) was changed", made.flaw)
    end
  end)

  it("is fine with line ends of other systems, and says what is cut off", function()
    local text = class.text("Ada", entries)
    assert.is_nil(submission.parse((text:gsub("\n", "\r\n"))).flaw)
    for cut = 1, #text - 1 do
      local made, why = submission.parse(text:sub(1, cut))
      local whole_lines = text:sub(cut, cut) == "\n"
      assert.truthy(made and (made.flaw or whole_lines) or why and (why:find "not a submission" or why:find "cut off"), cut)
    end
    assert.equal("line 10 is cut off", submission.parse(text:sub(1, -5)).flaw)
  end)

  it("says where the clock went back", function()
    local made = submission.parse(class.text("Ada", entries))
    assert.is_nil(made.set_back)
    local head = submission.parse(submission.begun("c", "Ada"))
    local one, tag = submission.line(head, head.tag, "at", "a", "b", nil, 5000)
    local two = submission.line(head, tag, "at", "a", "b", nil, 1000)
    assert.equal(7, submission.parse(submission.begun("c", "Ada") .. one .. two).set_back)
  end)

  it("refuses files that are none, with their names", function()
    local path = os.tmpname()
    local function refused(text)
      program.write_all(path, text)
      local made, why = submission.read(path)
      assert.is_nil(made)
      assert.truthy(why:find(path, 1, true), why)
      return why
    end
    assert.truthy(refused "hello\n":find "not a submission")
    assert.truthy(refused "":find "empty")
    assert.truthy(refused "penumbra submission 1\ncourse c\n":find "the line 'name ...' is missing")
    local long = ("penumbra submission 1\ncourse c\nname %s\nnonce 1\nopens 1\n"):format(("x"):rep(100))
    assert.truthy(refused(long):find "at most 80")
    assert.truthy(refused(("x"):rep(submission.MOST_BYTES + 1)):find "more than 4 megabytes")
    assert.truthy(refused(("x"):rep(submission.MOST_BYTES)):find "not a submission")
    local endless = class.text("Ada", {}) .. (" #a"):rep(submission.MOST_BYTES // 3)
    assert.truthy(submission.parse(endless).flaw:find "line 6 is cut off")
    assert.truthy(submission.parse(endless .. "\n").flaw:find "line 6 cannot be read")
    os.remove(path)
    assert.truthy(select(2, submission.read(path)):find(path, 1, true))
    assert.truthy(select(2, submission.read "/tmp"):find "/tmp: ")
  end)

  it("is gone on with by several programs, and after a crash", function()
    local path = os.tmpname()
    os.remove(path)
    assert.truthy(select(2, submission.open(path, "c", nil)):find "--name")
    local head = submission.open(path, "c", "Ada")
    local other = submission.open(path, "c")
    assert.is_true(submission.append(path, head, "begin", "a", "b"))
    assert.is_true(submission.append(path, other, "right", "a", "b", "x = 1"))
    assert.is_true(submission.append(path, head, "end", "a", "b"))
    assert.is_nil(submission.read(path).flaw)
    program.write_all(path, program.read_all(path) .. "typed a b 17") -- cut off
    assert.is_nil(submission.append(path, head, "at", "a", "b"))
    local again = submission.open(path, "c")
    assert.is_nil(again.flaw)
    assert.same({ a = { done = { b = "done" } } }, submission.records(again.entries))
    assert.is_true(submission.append(path, again, "at", "a", "b"))
    assert.is_nil(submission.read(path).flaw)
    assert.truthy(select(2, submission.append(path, again, "typed", "a", "b", ("x"):rep(70000))):find "more than 64 kilobytes")
    os.remove(path)
  end)

  it("has a name of at most 80 bytes of UTF-8 without control characters", function()
    assert.is_nil(submission.unfit "Zoë O'Neil / B")
    for _, name in ipairs { "", " a", "a ", "a\nb", "\27[31m", "\xff", ("x"):rep(81) } do
      assert.truthy(submission.unfit(name), name)
    end
  end)
end)
