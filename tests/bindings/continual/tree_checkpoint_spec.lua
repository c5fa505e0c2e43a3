-- tree_checkpoint_spec.lua -- t:save, path= and pn.tree.resume as scripts see them: a stream is in one place at a time.
-- Depends on: penumbra, POSIX cp, ls, mv.  Every step that a process may die at: tests/runtime/continual/checkpoint_test.c.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local directory = os.tmpname()
os.remove(directory)
assert(os.execute("mkdir " .. directory))
local names = 0

local function new_path()
  names = names + 1
  return ("%s/stream%d"):format(directory, names)
end

local function tree(more)
  local options = { dim = 2, horizon = 16, sensitivity = 1, rho = 0.5, factorization = "binary", rng = pn.rng.seeded(5) }
  for k, v in pairs(more or {}) do options[k] = v end
  return pn.tree(options)
end

local function same(a, b) return a[1] == b[1] and a[2] == b[2] end

-- Lower triangular, n x n, of three bands.
local function lower(n)
  local C = pn.mat.zeros(n, n)
  for i = 1, n do
    for j = math.max(1, i - 2), i do C:set(i, j, 1 / (i - j + 1)) end
  end
  return C
end

local methods = {
  { factorization = "binary" }, { factorization = "binary", estimator = "honaker" },
  { factorization = "binary", memory = "regenerate" }, { factorization = "sqrt" },
  { factorization = "banded", bands = 4 }, { factorization = "blt" },
  { factorization = "matrix", matrix = lower(16) },
}

describe("a tree that was saved", function()
  it("goes on with the same numbers as one that never was", function()
    for _, method in ipairs(methods) do
      local whole, parts, path = tree(method), tree(method), new_path()
      for i = 1, 16 do
        local want, got = whole:push { i, 1 / i }, parts:push { i, 1 / i }
        assert.is_true(same(want, got))
        if i % 5 == 0 then
          parts:save(path)
          parts = pn.tree.resume(path)
          assert.equal(i, parts.count)
          assert.is_true(same(want, parts:value()))
          assert.equal(tostring(whole), tostring(parts))
        end
      end
    end
  end)

  it("takes no more pushes, and says where it went", function()
    local t, path = tree(), new_path()
    local last = t:push { 1, 2 }
    t:save(path)
    refused("it was saved to " .. path, t.push, t, { 1, 2 })
    refused("it was saved to " .. path, t.save, t, new_path())
    assert.is_true(same(last, t:value()))
  end)

  it("is resumed once: a second time would reuse noise", function()
    local t, path = tree(), new_path()
    t:push { 1, 2 }
    t:save(path)
    local again = pn.tree.resume(path)
    refused("was resumed before; a second stream from the same state would reuse noise", pn.tree.resume, path)
    again:push { 1, 2 }
    again:save(path) -- and comes back to the same file
    assert.equal(2, pn.tree.resume(path).count)
    refused("reuse noise", pn.tree.resume, path)
  end)

  it("may be moved but not copied", function()
    local t, path, other = tree(), new_path(), new_path()
    t:push { 1, 2 }
    t:save(path)
    assert(os.execute(("cp -p %s %s"):format(path, other)))
    refused("is a copy of the file that was written", pn.tree.resume, other)
    assert(os.execute(("mv %s %s.moved"):format(path, path)))
    assert.equal(1, pn.tree.resume(path .. ".moved").count)
  end)

  it("has a file for its owner only, which is not overwritten", function()
    local path = new_path()
    tree():save(path)
    local pipe = assert(io.popen("ls -l " .. path))
    assert.equal("-rw-------", pipe:read "a":sub(1, 10))
    pipe:close()
    local t = tree()
    refused("not this stream's", t.save, t, path)
    t:push { 1, 2 }
    refused("cannot be written", t.save, t, directory .. "/none/stream")
    refused("path must be a string", t.save, t)
    t:push { 1, 2 }
  end)

  it("has been paid for, or not", function()
    local ledger, path = pn.ledger { rho = 1, teaching = true }, new_path()
    local t = tree()
    t:save(path)
    t = pn.tree.resume(path, { ledger = ledger })
    assert.is_false(t.paid)
    t:push { 1, 2 }
    assert.is_true(math.abs(ledger.spent - t.rho) < 1e-12)
    t:save(path)
    t = pn.tree.resume(path, { ledger = ledger })
    assert.is_true(t.paid)
    t:push { 1, 2 }
    assert.is_true(math.abs(ledger.spent - t.rho) < 1e-12)
    assert.is_true(t.simulated)
    t:save(path)
    assert.is_true(pn.tree.resume(path).paid)
  end)

  it("is paid for by its own ledger, which who resumes it need not know", function()
    local ledger, path = pn.ledger { rho = 0.6, teaching = true }, new_path()
    local t, more = tree { ledger = ledger }, tree { ledger = ledger }
    t:save(path)
    assert.is_true(math.abs(ledger.spent - t.rho) < 1e-12)
    t = pn.tree.resume(path)
    assert.is_true(t.paid)
    t:push { 1, 2 }
    assert.is_true(math.abs(ledger.spent - t.rho) < 1e-12)
    path = new_path()
    refused("Remaining", more.save, more, path)
    assert.is_nil(io.open(path))
    assert.is_false(more.paid)
  end)

  it("pays an exact budget when it was saved before its first push", function()
    local path = new_path()
    tree():save(path)
    pn.tree.resume(path):push { 1, 2 }
  end)

  it("has secure noise before and after", function()
    local path = new_path()
    local t = pn.tree { dim = 1, horizon = 8, sensitivity = 1, rho = 0.5 }
    local last = t:push(1)
    t:save(path)
    t = pn.tree.resume(path)
    assert.is_false(t.simulated)
    assert.is_true(t:value()[1] == last[1])
    for _ = 2, 8 do t:push(1) end
  end)
end)

describe("a tree that keeps itself in a file", function()
  it("is there again after whatever happened", function()
    for _, method in ipairs(methods) do
      local path = new_path()
      method.path = path
      local t = tree(method)
      method.path = nil
      local whole = tree(method)
      for i = 1, 16 do
        local want, got = whole:push { i, 0 }, t:push { i, 0 }
        assert.is_true(same(want, got))
        refused("a stream that is alive keeps itself in this file", pn.tree.resume, path)
        t:close()
        t = pn.tree.resume(path)
        assert.equal(i, t.count)
        assert.is_true(same(want, t:value()))
      end
    end
  end)

  it("is not begun where there is a file, and is saved where it is", function()
    local path = new_path()
    local t = tree { path = path }
    refused("not this stream's", tree, { path = path })
    t:push { 1, 2 }
    refused("keeps itself in " .. path, t.save, t, new_path())
    t:save(path)
    assert.equal(1, pn.tree.resume(path).count)
    refused("reuse noise", pn.tree.resume, path)
  end)

  it("gives nothing away when its file is gone", function()
    local path = new_path()
    local t = tree { path = path }
    t:push { 1, 2 }
    assert(os.execute(("mv %s %s.away"):format(path, path)))
    refused("is no longer the file that this stream keeps itself in", t.push, t, { 1, 2 })
    refused("withheld", t.value, t)
    refused("resume it from there", t.push, t, { 1, 2 })
    assert(os.execute(("mv %s.away %s"):format(path, path)))
    t:close()
    t = pn.tree.resume(path)
    assert.equal(1, t.count)
    t:push { 1, 2 }
  end)
end)

describe("pn.tree.resume", function()
  teardown(function() os.execute("rm -rf " .. directory) end)

  it("refuses what is no checkpoint, and what was damaged", function()
    local path = new_path()
    refused("there is no such checkpoint", pn.tree.resume, path)
    refused("path must be a string, the name of a file, got nothing", pn.tree.resume)
    refused("path must be a string", pn.tree.resume, 3)
    refused("no regular file", pn.tree.resume, directory)
    local file = assert(io.open(path, "wb"))
    file:write(("no checkpoint "):rep(200))
    file:close()
    os.execute("chmod 644 " .. path)
    refused("others than its owner may read or write it (mode 644); chmod 600 " .. path, pn.tree.resume, path)
    os.execute("chmod 600 " .. path)
    refused("this is no checkpoint of a stream", pn.tree.resume, path)
    os.remove(path)
    local t = tree()
    t:push { 1, 2 }
    t:save(path)
    file = assert(io.open(path, "r+b")) -- in place: the same file
    file:seek("set", 1400)
    local byte = file:read(1):byte()
    file:seek("set", 1400)
    file:write(string.char(byte ~ 1))
    file:close()
    refused("was changed or cut off", pn.tree.resume, path)
    refused("unknown option", pn.tree.resume, path, { rng = pn.rng.seeded(1) })
    refused("ledger must be an open pn.ledger", pn.tree.resume, path, { ledger = 1 })
  end)
end)
