-- attacks_spec.lua -- scripts against the curator, kept by theme in tests/curator/attacks/*.lua: a row for each attack, which
-- says what it tries.
--   {tries = "a sentence", script = "Lua", expects = ..., pays = ..., noisy = ..., raw = ...}
--   expects  "refused" (EPRIVACY), "limit" (ELIMIT, ENOMEM), "nothing new" (it ends well), or a pattern of the answer or error
--   a theme may have a `budget` of its own, options of pn.ledger, in place of rho = 40
--   pays     nothing: nothing may be charged; a rho: that much is, within a tenth below; true: something is
--   noisy    the answer holds paid noise: it must be another one when the script runs again, and so must every line of the output
--            that is another for other records
--   raw      without the prelude (tests/tools/attacks.lua): C, obj, zero and asked
-- Each script runs against two curators whose public facts agree (records, features, bounds, labels) and whose records all differ:
-- those of the second are zero, denormal, repeated or at the bound.  Whether it ends well, answer, error, output, the charge and
-- the entries of the ledger must be the same to the byte; only noisy answers differ, and these from themselves, too.  A budget that
-- is spent never falls, no file appears, no process stays.
-- Scripts run in this process, where the table of rows and the sandbox alone hold; some of the limits, and in the thorough tier
-- all, run in processes of their own as well.  Sanitizers look at memory alone: under them each script runs once, every other one
-- against the awkward records, and is not compared.  That the curator still answers honest questions is asked after every 24th
-- attack and at the end, in the thorough tier after each: one that an attack broke stays broken.
local pn = require "penumbra"
local attacks = require "tests.tools.attacks"
local tier = require "tests.tools.tier"

local THEMES = { "records", "reflection", "errors", "exact", "budget", "host", "limits", "callbacks", "solvers", "plans",
                 "transforms", "queries", "fields", "prices" }
local list = {}
for _, theme in ipairs(THEMES) do list[theme] = require("tests.curator.attacks." .. theme) end

local ASKED = tier.times(24, 1) -- attacks between honest questions
local SANITIZED = tier.draws(1, 2) == 2
local APART = tier.times(20, 1) -- attacks between those in a process of their own

-- What is wrong with every `every`th attack of a theme.
local function complaints(theme, every, process, file)
  local rows, wrong = list[theme], {}
  local limits = { instructions = rows.instructions, memory = rows.memory, process = process }
  local both = { attacks.curator(false, limits, rows.budget), attacks.curator(true, limits, rows.budget) }
  local function answers(where)
    for _, on in ipairs(both) do
      if not attacks.answers(on) then wrong[#wrong + 1] = "no honest answer after: " .. where end
    end
  end
  for i = every == 1 and 1 or every // 2, #rows, every do
    local attack = rows[i]
    local one, other = both[1], both[2]
    if SANITIZED then one, other = both[i % 2 + 1], nil end
    local told = attacks.tell(one, attack, file)
    local of_other = other and attacks.tell(other, attack, file) or told
    local again = other and attack.noisy and attacks.tell(one, attack, file) or nil
    local anew = other and attack.noisy and attacks.tell(other, attack, file) or nil
    for _, what in ipairs(attacks.judge(attack, told, of_other, again, anew)) do
      wrong[#wrong + 1] = attack.tries .. " " .. what:sub(1, 500)
    end
    if i % ASKED == 0 then answers(attack.tries) end
  end
  answers "the last"
  return wrong
end

describe("an attack on the curator", function()
  local folder, before

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir '" .. folder .. "'")
    before = attacks.children()
  end)

  teardown(function() os.execute("rm -r '" .. folder .. "'") end)

  for _, theme in ipairs(THEMES) do
    it("tells nothing that was not paid for: " .. theme, function()
      assert.same({}, complaints(theme, 1, false, folder .. "/file"))
      assert.equal("", attacks.names(folder))
      assert.equal(before, attacks.children())
    end)

    tier.it(tier.law(it), theme == "limits")("tells nothing more from a process of its own: " .. theme, function()
      assert.same({}, complaints(theme, APART, true, folder .. "/file"))
      assert.equal("", attacks.names(folder))
      assert.equal(before, attacks.children())
    end)
  end

  it("is one of at least 200, of which no two are alike", function()
    local seen, count = {}, 0
    for _, theme in ipairs(THEMES) do
      for _, attack in ipairs(list[theme]) do
        assert.is_nil(seen[attack.tries], attack.tries)
        assert.is_nil(seen[attack.script], attack.tries)
        seen[attack.tries], seen[attack.script], count = true, true, count + 1
      end
    end
    assert.is_true(count >= 200, count)
  end)

  it("would be heard: the judge finds records in answers, entries and charges, refunds, and answers without noise", function()
    local one, other = attacks.curator(false, {}), attacks.curator(true, {})
    local exact = { tries = "", pays = 12.5, expects = "nothing new",
      script = "return pn.query.sum{data=data.d, columns={1}, low={-1}, high={1}, epsilon=5}.value" }
    local first, second = attacks.tell(one, exact, ""), attacks.tell(other, exact, "")
    local function finds(text, change, as)
      local changed = {}
      for k, v in pairs(first) do changed[k] = v end
      for k, v in pairs(change or {}) do changed[k] = v end
      local attack = setmetatable(as or {}, { __index = exact })
      local said = table.concat(attacks.judge(attack, first, change and changed or second, as and as.noisy and first), "\n")
      assert.truthy(said:find(text, 1, true), text .. ": " .. said)
    end
    assert.same({}, attacks.judge(exact, first, first))
    finds("the records show in the answer")
    finds("the records show in the output", { output = "1" })
    finds("the records show in the ledger", { events = { "laplace" } })
    finds("the records show in the charged", { charged = 12.4, spent = 12.4 })
    finds("charged other than 12.5", { charged = 6, spent = 6 })
    finds("charged other than false", {}, { pays = false })
    finds("refunded", { refunded = true })
    finds("an address", { output = "table: 0x55d0c0ffee" })
    finds("a value without noise in the answer", {}, { noisy = true })
    finds("expected refused", {}, { expects = "refused" })
    finds("expected limit", {}, { expects = "limit" })
    local function says(a, b)
      return { output = "noise " .. a .. "\nexact " .. b, events = {}, charged = 0, spent = 0, ok = true }
    end
    local wrong = attacks.judge({ expects = "nothing new", noisy = true }, says(1, 1), says(2, 2), says(3, 1), says(4, 2))
    assert.same({ "a line without noise: exact 1 | exact 2 | nil" }, wrong)
    assert.truthy(pn.ledger { rho = 1 }.spent == 0 and attacks.answers(one))
  end)
end)
