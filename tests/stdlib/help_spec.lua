local pn = require "penumbra"
local names = require "penumbra.prompt.names"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- What pn.help(...) prints.
local function help(...)
  local arguments = table.pack(...)
  local answers = table.pack(program.capture(function()
    return pn.help(table.unpack(arguments, 1, arguments.n))
  end))
  assert.equal(1, answers.n, "help returns nothing")
  return answers[1]
end

describe("help", function()
  local added

  -- An entry of the reference for this test only.
  local function enter(name, entry)
    pn.reference()[name] = entry
    added[#added + 1] = name
  end

  before_each(function() added = {} end)

  after_each(function()
    for _, name in ipairs(added) do pn.reference()[name] = nil end
  end)

  it("begins with tasks on one screen, each with what to type", function()
    local text = help()
    local _, lines = text:gsub("\n", "")
    assert.is_true(lines <= 22, lines) -- of 24, with the question above and the prompt below
    for line in text:gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
    local asked = 0
    for word, name in text:match "To .-\n\n":gmatch '(%l+) "([^"]*)"' do
      asked = asked + 1
      local said = word == "help" and help(name) or program.capture(function() pn.guide(name) end)
      assert.falsy(said:find("Nothing is named", 1, true) or said:find("no page", 1, true), name)
      assert.is_true(#said > 200, name)
    end
    assert.is_true(asked >= 10, asked)
    assert.matches("\n  train a model +guide \"train a model\"\n", text)
    assert.matches("\n  check a budget +session%(%)", text)
  end)

  it("lists every library, function and object", function()
    local text = help(pn)
    assert.truthy(text:find("Libraries\n", 1, true))
    assert.truthy(text:find("  rng ", 1, true))
    assert.truthy(text:find("Functions\n", 1, true))
    assert.truthy(text:find("pn.rng", 1, true))
    assert.truthy(text:find("\nObjects\n", 1, true))
    for line in text:gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
  end)

  it("leads from the field's terms to the library's names", function()
    for asked, found in pairs { ["dp-sgd"] = "solve.sgd", ["DP SGD"] = "solve.sgd", ["cross validation"] = "tune",
                                ["logistic regression"] = "model.logistic", intercept = "recipe",
                                ["Gaussian mechanism"] = "mechanism.gaussian",
                                ["confidence intervals"] = "pn.fit:intervals", SVM = "loss.hinge" } do
      assert.matches(('^For "%s" see:\n  %s '):format(asked:gsub("%-", "%%-"), (found:gsub("%.", "%%."))), (help(asked)))
    end
    for entries in io.open "stdlib/prompt/terms.lua":read "a":gmatch "\n[%w ,]+: ([^\n]*)" do
      for name in entries:gmatch "[^,%s]+" do assert.truthy(pn.reference()[name], name) end
    end
  end)

  it("takes a dot for the colon of a method", function()
    local text = help "pn.dataset:rescale"
    assert.truthy(text:find("^d:rescale%(low, high%)"))
    assert.equal(text, help "dataset.rescale")
    assert.equal(text, help "pn.dataset.rescale")
  end)

  it("says what takes a group of options of that name", function()
    assert.matches([["prefix" is an option of:
  solve.zeroth_order       a table of options of its own
  solve.zeroth_order.plan  a table of options of its own
]], help "prefix", 1, true)
  end)

  it("tells of second-order solvers and what they prove: papers, options with ranges, what they reveal", function()
    for name, paper in pairs { second_order = "Gao, Wright", trust_region = "Wang, Xu", newton = "Ganesh" } do
      local text = help(name)
      assert.matches("^pn%.solve%." .. name .. "%(obj, {options}%) %-> fit", text)
      assert.matches("Source: [^\n]*" .. paper, text)
      for line in text:gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
    end
    local text = help "second_order":gsub("%s+", " ")
    assert.matches("tolerance.gradient a_g: .-twice the typical noise %(a positive number%)", text)
    assert.matches("failure 0.1 zeta: .-%(a number between 0 and 1, both excluded%)", text)
    assert.matches("floor f_low, a lower bound .-%(a finite number%)", text) -- derived: 0 is not its default
    assert.matches("NOT private", help "second_order_gap", 1, true)
    assert.matches("with probability", help "fit.certificate", 1, true)
  end)

  law("finds what has the words of a question, in the reference and in the handbook", function()
    for asked, found in pairs { ["logistic regression"] = "model.logistic ", ["dp-sgd"] = "solve.sgd ",
                                ["cross validation"] = "tune ",
                                ["LASSO"] = "model.lasso ", ["intercept"] = "recipe " } do
      local text = help(asked)
      assert.matches('\nHandbook\n.*guide "train a model"\n', text)
      if found then assert.matches("\n  " .. found, text, 1, true) end
      assert.is_nil(text:find("help() shows what there is", 1, true))
      for line in text:gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
    end
    assert.matches('Handbook\n  guide "write a solver"\n', help "oracle")
    assert.is_nil(help("solve.sgd"):find("Handbook", 1, true))
  end)

  it("looks for no words that nothing has", function()
    assert.equal('Nothing is named "xyzzy plugh".  help() shows what there is.\n', help "xyzzy plugh")
    assert.equal('Nothing is named "?!".  help() shows what there is.\n', help "?!")
  end)

  it("names the derivation of every solver's constants, a document of the source tree", function()
    local theory = require "penumbra.theory"
    for name in pairs(pn.reference()) do
      local solver = name:match "^solve%.([%w_]+)$"
      if solver and solver ~= "auto" and solver ~= "exact" then
        local path = theory(name)
        assert.is_string(path, name)
        assert.matches("\nTheory: " .. path .. "\n", help(name), 1, true)
        assert.equal(path, theory(name .. ".plan"))
      end
    end
    assert.is_nil(theory "solve.exact")
    assert.matches("\nTheory: runtime/oracle.md\n", help "oracle", 1, true)
  end)

  it("says what takes an option of that name", function()
    for written, place in pairs { clip = "\n\n", ["clip="] = "^" } do
      local text = help(written)
      assert.truthy(text:find(place .. '"clip" is an option of:\n  %S+ +%l'), text)
      assert.truthy(text:find "\n  objective +scale each record", text)
    end
    assert.truthy(help("clip"):find("^obj%.clip %-> number or nil"))
    assert.truthy(help("clip="):find("Near it:.*pn.objective.clip"))
    assert.truthy(help("clap"):find('Nothing is named "clap"', 1, true))
  end)

  it("shows signature, doc, options, what it reveals and the source", function()
    enter("zoo.lion", { signature = "pn.zoo.lion{size=, kind=} -> lion", doc = "A lion.", reveals = "paid",
      kind = "function", source = "Alice (1865)", params = {
        { name = "size", expects = "a positive number", doc = "its length in m", required = true },
        { name = "legs", expects = "a whole number from 1", doc = "how many", default = 4.0 },
        { name = "kind", expects = "one of the listed names", doc = "its coat", choices = { "tan", "white" } } } })
    assert.equal([[
pn.zoo.lion{size=, kind=} -> lion

  A lion.

Options  default
  size   required  its length in m (a positive number)
  legs   4         how many (a whole number from 1)
  kind             its coat (one of the listed names: tan, white)

Reveals only what a charged mechanism released.
Source: Alice (1865)
]], help "zoo.lion")
  end)

  it("says in words what each kind of row reveals", function()
    for kind, words in pairs { nothing = "public facts", paid = "charged mechanism", raw = "not for publication" } do
      enter("zoo.lion", { signature = "lion", doc = "A lion.", reveals = kind, kind = "function" })
      assert.truthy(help("zoo.lion"):find(words, 1, true))
    end
  end)

  it("finds a name with and without pn., with dots or colons, and by its last part", function()
    local whole = help "rng.seeded"
    assert.truthy(whole:find(pn.reference()["rng.seeded"].signature, 1, true))
    for _, name in ipairs { "pn.rng.seeded", "seeded", " seeded ", "rng:seeded", "rng.seeded(42)" } do
      assert.equal(whole, help(name), name)
    end
  end)

  it("finds a method as its signature is written", function()
    for _, name in ipairs { "d:rescale", "l:range", "obj.bounds", "v:map" } do
      assert.truthy(help(name):find(name, 1, true))
      assert.falsy(help(name):find("Nothing is named", 1, true))
    end
  end)

  it("takes functions, libraries and objects", function()
    assert.equal(help "rng.seeded", help(pn.rng.seeded))
    assert.equal(help "rng", help(pn.rng))
    assert.equal(help "pn.rng", help(pn.rng.seeded(1)))
    assert.equal(help "help", help(pn.help))
  end)

  it("lists all that a short name may mean", function()
    enter("zoo.lion", { signature = "lion", doc = "In a zoo.", reveals = "nothing", kind = "function" })
    enter("pn.cage:lion", { signature = "cage:lion()", doc = "In a cage.", reveals = "nothing", kind = "method" })
    local text = help "lion"
    assert.truthy(text:find("zoo.lion", 1, true))
    assert.truthy(text:find("pn.cage:lion", 1, true))
  end)

  law("finds what is near the last part of a name behind a dot or colon", function()
    for asked, near in pairs { ["solve.frnk"] = "solve.frank_wolfe ", ["pn.solve.frnk"] = "solve.frank_wolfe ",
                               frnk = "solve.frank_wolfe ", ["fit.thta"] = "pn.fit.theta ",
                               ["d:smmary"] = "pn.dataset:summary ", ["loss.logstic"] = "loss.logistic " } do
      assert.truthy(help(asked):find("Near it:\n  " .. near, 1, true), asked .. "\n" .. help(asked))
    end
    assert.equal('Nothing is named "solve.zzz".  help "solve" shows what there is.\n', help "solve.zzz")
    assert.equal('Nothing is named "zzz.zzz".  help() shows what there is.\n', help "zzz.zzz")
  end)

  it("suggests what is near a name that is not known", function()
    assert.truthy(help("seedde"):find("rng.seeded", 1, true))
    assert.truthy(help("rng.sede"):find("rng.seeded", 1, true))
    assert.truthy(help("eeded"):find("rng.seeded", 1, true))
    assert.truthy(help("xyzzyplugh"):find('Nothing is named "xyzzyplugh"', 1, true))
  end)

  it("says that nil and foreign values have no help", function()
    assert.truthy(help(nil):find("This is nil", 1, true))
    assert.truthy(help(12):find("no help for this number", 1, true))
    assert.truthy(help({}):find("no help for this table", 1, true))
    assert.truthy(help(print):find("no help for this function", 1, true))
  end)

  law("stays within 80 columns for every entry, save for single long words", function()
    for name in pairs(pn.reference()) do
      for line in help(name):gmatch "[^\n]+" do
        assert.is_true(utf8.len(line) <= 80 or not line:match "^%s*%S+%s+%S", name .. ": " .. line)
      end
    end
  end)
end)

describe("names.distance", function()
  it("counts insertions, deletions, replacements and exchanged neighbours", function()
    -- Levenshtein's own examples; an exchange counts once in Damerau's variant.
    assert.equal(3, names.distance("kitten", "sitting"))
    assert.equal(3, names.distance("saturday", "sunday"))
    assert.equal(1, names.distance("lpalace", "laplace"))
    assert.equal(4, names.distance("", "four"))
    assert.equal(0, names.distance("same", "same"))
  end)
end)
