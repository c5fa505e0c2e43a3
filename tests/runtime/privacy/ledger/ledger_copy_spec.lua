-- ledger_copy_spec.lua -- ledgers in files against people who copy them, put earlier copies back, or lay files of their own
-- where they will be.
local pn = require "penumbra"
local program = require "tests.tools.program"
local refusal = require("tests.tools.refusal").refusal
local event = pn.event

local base = os.tmpname()
local path = base .. ".ledger"
local ends = { "", ".key", ".head" }

local function remove()
  for _, tail in ipairs(ends) do
    os.remove(path .. tail)
  end
end

-- Open, hand over, let go.
local function with(options, body)
  options.path = options.path or path
  local L <close> = pn.ledger(options)
  local answer = body(L)
  return answer
end

local function read(tail)
  return program.read_all(path .. tail)
end

local function write(tail, text)
  program.write_all(path .. tail, text)
end

local function spent()
  return with({}, function(L)
    return L.spent
  end)
end

-- A ledger with `count` charges of 1/16 each, and its files after each of them: history[i] = {ledger, head}.
local function history(count)
  local files = {}
  remove()
  with({ epsilon = 4 }, function(L)
    files[0] = { read "", read ".head" }
    for i = 1, count do
      L:spend(event.pure { epsilon = 1 / 16 }, "release " .. i)
      files[i] = { read "", read ".head" }
    end
  end)
  return files
end

-- The same bytes into the files that are there, as cat does.
local function put_back(ledger, head)
  write("", ledger)
  write(".head", head)
end

-- The attacks that gave budget back, without the key being used by anybody but the program.
describe("a ledger that is copied", function()
  local copy = base .. ".copy"

  local function cp(options, from, to)
    local _, err, code = program.shell(("cp %s %s %s"):format(options, program.quote(from), program.quote(to)))
    assert.equal(0, code, err)
  end

  local function copy_all(options, from, to, tails)
    for _, tail in ipairs(tails or ends) do
      cp(options, from .. tail, to .. tail)
    end
  end

  local function clean()
    remove()
    for _, tail in ipairs(ends) do
      os.remove(copy .. tail)
    end
  end

  -- Whether files here have a time of birth, and marks beside their contents.
  local function has_birth()
    write("", "x")
    local out = program.shell("stat -c %W " .. program.quote(path))
    return tonumber(out) > 0
  end

  before_each(clean)
  teardown(clean)

  for _, options in ipairs { "", "-p", "-a", "--reflink=auto" } do
    it(("is no second budget: cp %s"):format(options), function()
      history(2)
      copy_all(options, path, copy)
      assert.matches("is a copy of the file that was written, and a second budget would come of it",
        refusal(pn.ledger, { path = copy }), 1, true)
      assert.matches("is a copy", refusal(pn.ledger, { path = copy, epsilon = 4 }), 1, true)
      assert.equal(2 / 16, spent())
    end)
  end

  for _, options in ipairs { "", "-a" } do
    it(("does not give its budget back when an earlier copy is put into it: cp %s"):format(options), function()
      history(1)
      copy_all(options, path, copy)
      with({}, function(L)
        L:spend(event.pure { epsilon = 1 }, "much")
      end)
      local now = { read "", read ".head" }
      copy_all(options, copy, path, { "", ".head" })
      local message = refusal(pn.ledger, { path = path })
      assert.is_true((message:find("goes backwards", 1, true) or message:find("is a copy, or an earlier one", 1, true)) ~= nil)
      put_back(now[1], now[2]) -- what was in it last is in it again
      assert.equal(1 + 1 / 16, spent())
    end)
  end

  it("does not give its budget back when an earlier copy is put into it with cat, moved or not", function()
    local files = history(3)
    put_back(table.unpack(files[1]))
    local message = refusal(pn.ledger, { path = path })
    assert.is_true((message:find("goes backwards", 1, true) or message:find("is a copy, or an earlier one", 1, true)) ~= nil)
    local marked = message:find("an earlier copy was put back", 1, true)
    if marked then
      assert.matches("goes backwards", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    end
  end)

  it("does not lose its last charge when the last line is deleted and its head blanked", function()
    local files = history(3)
    local head = files[3][2]
    for place = 0, 2 do
      put_back(files[2][1], head:sub(1, 512 * place) .. (" "):rep(512) .. head:sub(512 * place + 513))
      refusal(pn.ledger, { path = path })
      refusal(pn.ledger, { path = path, epsilon = 4 })
    end
    put_back(files[2][1], "")
    assert.matches("head is missing or was changed", refusal(pn.ledger, { path = path }), 1, true)
  end)

  it("does not begin anew when all charges and the head are deleted", function()
    local files = history(2)
    local _, _, code = program.shell("getfattr --version 2>/dev/null || python3 -c 'import os; os.getxattr(\"" .. path ..
      "\", \"user.penumbra.ledger\")'")
    if code ~= 0 then return end -- no marks here
    write("", files[0][1])
    os.remove(path .. ".head")
    assert.matches("an earlier copy was put back", refusal(pn.ledger, { path = path, epsilon = 4 }), 1, true)
  end)

  it("may be renamed, and is the same for whoever uses a link of his own", function()
    history(2)
    for _, tail in ipairs(ends) do
      assert(os.rename(path .. tail, copy .. tail))
    end
    with({ path = copy }, function(L)
      L:spend(event.pure { epsilon = 1 / 16 }, "after")
    end)
    for _, tail in ipairs(ends) do
      program.shell(("ln -s %s %s"):format(program.quote(copy .. tail), program.quote(path .. tail)))
    end
    for _ = 1, 2 do
      with({}, function(L)
        L:spend(event.pure { epsilon = 1 / 16 }, "through the link")
      end)
    end
    assert.equal(5 / 16, with({ path = copy }, function(L) return L.spent end))
    assert.equal(5 / 16, spent())
  end)

  it("is moved where its owner says so, once, and records it", function()
    history(2)
    copy_all("", path, copy)
    for _, tail in ipairs(ends) do
      os.remove(path .. tail)
    end
    assert.matches("moved is about a file", refusal(pn.ledger, { epsilon = 1, moved = true }), 1, true)
    assert.matches("there is no such ledger", refusal(pn.ledger, { path = path, epsilon = 1, moved = true }), 1, true)
    assert.equal(2 / 16, with({ path = copy, epsilon = 4, moved = true }, function(L) return L.spent end))
    assert.matches("\n3 moved %- | %x+\n$", program.read_all(copy))
    assert.matches("was not moved; leave moved out", refusal(pn.ledger, { path = copy, moved = true }), 1, true)
    assert.equal(2 / 16, with({ path = copy }, function(L) return L.spent end))
  end)

  it("cannot share its file through a link of one name", function()
    if not has_birth() then return end
    history(1)
    cp("", path, copy)
    cp("-p", path .. ".key", copy .. ".key")
    program.shell(("ln %s %s"):format(program.quote(path .. ".head"), program.quote(copy .. ".head")))
    assert.matches("is a copy", refusal(pn.ledger, { path = copy }), 1, true)
  end)
end)

describe("the files of a ledger", function()
  local folder = base .. ".folder"

  -- These need a stranger: whoever runs them is root, and user 65534 is one.
  local root = program.shell("id -u") == "0\n"

  local function shell(...)
    local _, err, code = program.shell(((...):gsub("@", folder)))
    assert.equal(0, code, err)
  end

  before_each(function() shell "rm -rf @; mkdir -m 1777 @" end)
  teardown(function()
    shell "rm -rf @"
    os.remove(base)
  end)

  it("are not a stranger's", function()
    if not root then return end
    local theirs = folder .. "/L"
    for _, tail in ipairs { ".key", "", ".head" } do
      shell "rm -f @/L*"
      with({ path = theirs, epsilon = 1 }, function() end)
      shell("chown 65534 @/L" .. tail)
      assert.matches("belongs to user 65534, not to you (user 0) or to root", refusal(pn.ledger, { path = theirs }), 1, true)
    end
    shell "rm -f @/L*; touch @/L; chown 65534 @/L"
    assert.matches("belongs to user 65534", refusal(pn.ledger, { path = theirs, epsilon = 1 }), 1, true)
  end)

  it("do not begin with a key that a stranger has laid there", function()
    if not root then return end
    with({ path = folder .. "/mine", epsilon = 1 }, function() end)
    shell "cp @/mine.key @/L.key; chown 65534 @/L.key"
    assert.matches("belongs to user 65534", refusal(pn.ledger, { path = folder .. "/L", epsilon = 1 }), 1, true)
    shell "rm @/L*; ln -s @/mine.key @/L.key; chown -h 65534 @/L.key"
    assert.matches("is a symbolic link of user 65534", refusal(pn.ledger, { path = folder .. "/L", epsilon = 1 }), 1, true)
  end)

  it("are not reached through a stranger's link", function()
    if not root then return end
    with({ path = folder .. "/mine", epsilon = 1 }, function() end)
    shell "ln -s @/mine @/L; chown -h 65534 @/L"
    assert.matches("is a symbolic link of user 65534, which is not followed",
      refusal(pn.ledger, { path = folder .. "/L" }), 1, true)
  end)

  it("are not for everybody to write", function()
    local open = folder .. "/L"
    with({ path = open, epsilon = 1 }, function() end)
    shell "chmod 666 @/L"
    assert.matches("others than its owner may write it (mode 666); chmod o-w " .. open, refusal(pn.ledger, { path = open }), 1,
      true)
    shell "chmod 664 @/L; chmod 640 @/L.key"
    assert.matches("read or write it (mode 640); chmod 600 " .. open .. ".key", refusal(pn.ledger, { path = open }), 1, true)
    shell "chmod 400 @/L.key"
    with({ path = open }, function() end)
  end)
end)
