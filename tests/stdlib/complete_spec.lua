local pn = require "penumbra"
local complete = require "penumbra.prompt.complete"

describe("complete", function()
  before_each(function() _G.zoo = { lion = 1, lioness = print, leopard = pn.rng.seeded(1), ["two words"] = 2 } end)
  after_each(function() _G.zoo = nil end)

  it("completes globals and words of Lua", function()
    assert.equal("zoo", complete "zo")
    assert.equal("while", complete "whi")
    assert.equal("zoo", complete "print(1 + zo")
  end)

  it("completes fields after a dot, and only what can be called after a colon", function()
    assert.equal("leopard\nlion\nlioness", complete "x = zoo.l")
    assert.equal("lioness", complete "zoo:l")
    assert.equal("leopard\nlion\nlioness", complete "zoo.")
  end)

  it("completes titles of the handbook, in quotes and without", function()
    assert.equal('zeroth-order optimization"', complete 'guide "zer')
    assert.equal("the tree mechanism", complete "guide the")
    assert.equal("teach and explore\nthe tree mechanism\ntrain a model", complete "guide T")
  end)

  it("completes fields and methods of objects", function()
    assert.equal("simulated", complete "zoo.leopard.simu")
  end)

  it("completes what a string can do", function()
    _G.word = "abc"
    assert.equal("upper", complete "word:upp")
    _G.word = nil
  end)

  it("knows the options of second-order solvers", function()
    _G.pn = pn
    assert.equal("tolerance={", complete "pn.solve.second_order(o, {rho=1, tol")
    assert.equal("gradient=\nhessian=", complete "pn.solve.second_order.plan(o, {rho=1, tolerance={")
    assert.equal("radius=", complete "pn.solve.trust_region(o, {rho=1, rad")
    assert.equal("hessian_noise=\nhessian_share=\nhessians=", complete "pn.solve.newton(o, {rho=1, hes")
    assert.equal("second_order_gap", complete "pn.second_order_g")
    _G.pn = nil
  end)

  it("offers groups of options, and the options within one", function()
    local known, walked = pn.reference()["zoo.build"], pn.zoo
    _G.zoo.build = function() end
    pn.zoo = { build = _G.zoo.build }
    pn.reference()["zoo.build"] = { params = { { name = "size" }, { name = "cage.bars" }, { name = "cage.bolts" } } }
    assert.equal("cage={\nsize=", complete "zoo.build{")
    assert.equal("bars=\nbolts=", complete "zoo.build{size = 1, cage = {")
    assert.equal("bolts=", complete "zoo.build(lion, {cage={bars = 3, bo")
    assert.equal("size=", complete "zoo.build{cage={bars = 3}, ")
    assert.equal("", complete "zoo.build{den={bo")
    pn.reference()["zoo.build"], pn.zoo = known, walked
  end)

  it("offers the options of a call that are not yet given", function()
    local known = pn.reference()["zoo.build"]
    _G.zoo.build = function() end
    local walked = pn.zoo
    pn.zoo = { build = _G.zoo.build }
    pn.reference()["zoo.build"] = { params = { { name = "size" }, { name = "side" }, { name = "colour" } } }
    assert.equal("colour=\nside=\nsize=", complete "zoo.build{")
    assert.equal("side=\nsize=", complete "local c = zoo.build{colour = 1, si")
    assert.equal("side=", complete "zoo.build({size = 3, si")
    assert.equal("zoo", complete "zoo.build{size = zo")
    pn.reference()["zoo.build"], pn.zoo = known, walked
  end)

  it("offers the options of methods, and those that only a signature shows", function()
    _G.zoo.m = pn.mechanism.gaussian { sigma = 1, sensitivity = 1 }
    _G.zoo.ledger, _G.zoo.pn = pn.ledger { epsilon = 1 }, pn
    assert.equal("label=\nledger=\nrng=", complete "zoo.m:release(3, {")
    assert.equal("label=", complete "zoo.m:release({1, 2}, {ledger = L, la")
    assert.equal("delta=\nfirst=\nuniform=", complete "zoo.ledger:odometer{")
    assert.equal("path=", complete "zoo.pn.ledger{pat")
    assert.equal("accountant=\ndelta=\nepsilon=\nevent=\nprogress=", complete "zoo.pn.calibrate.noise{")
    assert.equal("delta=", complete "zoo.pn.calibrate.noise{event = function(s) return e{sigma = s} end, de")
    assert.equal("score=", complete "zoo.pn.audit(function(d, rng) return d end, {neighbours = {1, 2}, sc")
  end)

  it("offers what a call takes and nothing of what it gives", function()
    _G.pn = pn
    local options = "columns=\ndata=\ndelta=\nepsilon=\nhigh=\nlabel=\nledger=\nlow=\nrho=\nrng="
    for _, before in ipairs { "", "x = {", "print(", "for i = 1, 3 do ", "return " } do
      assert.equal(options, (complete(before .. "pn.query.mean{")), before)
    end
    assert.equal(options:gsub("data=\n", ""):gsub("epsilon=\n", ""), (complete "pn.query.mean{\n  data = d,\n  epsilon = 0.1,\n  "))
    assert.equal("max_iterations=\ntol=", (complete "pn.solve.exact(obj, {"))
    assert.equal("epsilon=", (complete "pn.calibrate.noise{event = function(s) return s end, ep"))
    for name, entry in pairs(pn.reference()) do -- {value=, deviation=, event=}
      local gives = (entry.signature or ""):match "%)%s*%->%s*({.*})$" or (entry.signature or ""):match "}%s*%->%s*({.*})$"
      local offered = entry.kind == "function" and gives and complete("pn." .. name .. "{") or ""
      for field in (gives or ""):gmatch "([%a_]+)=" do
        local taken = entry.signature:sub(1, -#gives - 1):find("%f[%w_]" .. field .. "=")
        if not taken then assert.falsy(("\n" .. offered .. "\n"):find("\n" .. field .. "=\n", 1, true), name .. ": " .. field) end
      end
    end
    _G.pn = nil
  end)

  it("offers options of tables within tables, of series and of a file's columns", function()
    _G.pn = pn
    assert.equal("decimal=\nencoding=\nheader=\nsep=", (complete "pn.model.lasso{csv = {"))
    assert.equal("key=\nname=", (complete "pn.federated.server{parties = {{name = 'a', key = 'b'}, {"))
    assert.equal("label=\nlow=", (complete "pn.plot.line{{x = v, l"))
    assert.equal("logx=\nlogy=", (complete "pn.plot.line{{x = v}, log"))
    assert.equal("", (complete "pn.recipe{features = {job = {'"))
    _G.pn = nil
  end)

  it("offers objects of the class that an option takes, and where they are made", function()
    _G.pn, _G.zoo_data = pn, pn.data.synthetic.lasso { n = 4, p = 2, sparsity = 1, noise = 0.1, seed = 1 }
    assert.equal("pn.data.\nzoo_data", (complete "pn.objective{data = "))
    assert.equal("pn.loss.", (complete "pn.objective{data = zoo_data, loss = "))
    assert.equal("pn.ledger{", (complete "pn.solve.sgd(obj, {ledger = "))
    assert.equal("pn.objective{", (complete "pn.solve.sgd("))
    assert.equal("false\ntrue", (complete "pn.solve.sgd(obj, {progress = "))
    assert.equal('accuracy\nlog_loss\nrmse', (complete 'pn.tune{score = "'))
    _G.pn, _G.zoo_data = nil, nil
  end)

  it("knows what names get in the same entry", function()
    _G.pn = pn
    assert.equal("norm", (complete "local v = pn.vec{1}\nv = v:copy(); v:no"))
    assert.equal("theta", (complete "fit = pn.solve.sgd(obj, {epsilon = 1})\nfit.thet"))
    assert.equal("predict\nprobabilities", (complete "m = pn.model.logistic{data = 'x.csv'}\nm:p"))
    assert.equal("epsilon=", (complete "m = pn.model.logistic{data = 'x.csv'}\nm:evaluate{ep"))
    assert.equal("", (complete "v = v:copy() v:no"))
    _G.pn = nil
  end)

  it("offers files only where a path may stand", function()
    _G.pn, _G.zoo.open = pn, function() end
    package.loaded["penumbra.terminal"] = { files = function() return { "zoo.csv" } end }
    for _, line in ipairs { 'x = "', 'io.open("', 'dofile "', 'pn.data.csv("', 'pn.ledger{path = "', 'pn.model.lasso{data = "',
                            'pn.plot.line{file = "', 'zoo.open("', 'unknown("', 'pn.federated.server{checkpoint = "', "%run ",
                            'm = pn.model.lasso{}\nm:predict("', 'pn.vec{1}:save("' } do
      assert.matches("^zoo.csv", (complete(line)), line)
    end
    for _, line in ipairs { 'print("', 'string.format("', 'if x == "', 'y = x .. "', 'require "', 'x = {"', 'pn.ledger{name = "',
                            'pn.event.gaussian("', 'pn.query.mean{data = d, columns = {"', 'pn.federated.server{listen = "' } do
      assert.equal("", (complete(line)), line)
    end
    assert.equal("l1\nl2\nlinf", (complete 'pn.data.csv("x"):clip_rows("'))
    assert.equal('linf"', (complete 'pn.data.csv("x"):clip_rows("li'))
    package.loaded["penumbra.terminal"], _G.pn = nil, nil
  end)

  it("offers before anything is typed only what the user made", function()
    local prompt = require "penumbra.prompt"
    local known = prompt.known
    prompt.known = {}
    for name in next, _G do prompt.known[name] = name ~= "zoo" or nil end
    assert.equal("zoo", (complete "x = "))
    assert.equal("pairs", (complete "x = pairs"))
    prompt.known = known
  end)

  it("knows what a call of the library gives, by its signature and without calling it", function()
    _G.pn = pn
    assert.equal("norm", complete "pn.vec{1, 2}:nor")
    assert.equal("norm", complete "x = pn.vec.zeros(f(3), {2}):nor")
    assert.equal("theta", complete "pn.solve.sgd(obj, {epsilon = 1}).thet")
    assert.equal("clip_labels\nclip_rows", complete "(pn.data.synthetic.lasso{n = 2}):cl")
    assert.equal("add_bias", complete 'pn.data.csv "x.csv":clip_rows("l2", 1):add')
    assert.equal("progress=", complete "pn.solve.sgd.plan(obj, {}):run{prog")
    assert.equal("high", complete "pn.width(C).hi")
    assert.equal("", complete "pn.vec{1, 2}[1].no")
    assert.equal("", complete "(1 + pn.vec{1}):no")
    _G.pn = nil
  end)

  it("offers the keys of a table in brackets, and the parameters of a function", function()
    assert.equal('two words"]', complete 'zoo["two')
    assert.equal("leopard\nlion\nlioness\ntwo words", complete "x = zoo['")
    assert.equal("", complete 'zoo.lion["')
    assert.equal("keeper", complete "function f(animal, keeper) return keep")
    assert.equal("keeper", complete "map(function(keeper) return keep")
  end)

  it("offers files, and nothing else, behind %run and %save", function()
    local folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
    io.open(folder .. "/zoo.lua", "w"):close()
    package.loaded["penumbra.terminal"] = { files = function(at) return at == folder .. "/" and { "zoo.lua" } or {} end }
    assert.equal("zoo.lua", (complete("%run " .. folder .. "/z")))
    assert.equal("zoo.lua", (complete("%save \"" .. folder .. "/z")))
    assert.equal("", (complete "%edit zo"))
    assert.equal("zoo", (complete "%time zo"))
    package.loaded["penumbra.terminal"] = nil
    os.execute("rm -r " .. folder)
  end)

  it("offers nothing where nothing is known", function()
    for _, line in ipairs { "zoo.unicorn", "nothing.at.all", "f().x", "12", "1.5", "zoo.lion.x" } do
      assert.equal("", complete(line), line)
    end
  end)

  it("does not run a table's __index", function()
    _G.zoo = setmetatable({}, { __index = function() error "was called" end })
    assert.equal("", complete "zoo.lion.x")
  end)

  it("sees the whole entry: options given before, nested calls, earlier lines", function()
    _G.pn = pn
    assert.equal("delta=", (complete "pn.solve.svrg(obj, {\n  epsilon = f(2, {3}),\n  del"))
    assert.equal("", (complete "pn.solve.svrg(obj, {delta = 1, del"))
    assert.equal("ledger=", (complete "pn.solve.svrg(obj, {led"))
    assert.equal("delta=", (complete "x = {} pn.solve.svrg(obj, {note = '}{', del"))
    _G.pn = nil
  end)

  it("offers the values that an option may have", function()
    _G.pn = pn
    assert.equal('"add_remove"\n"replace_one"\n"zero_out"', (complete "pn.solve.svrg(obj, {neighbours = "))
    local names, start = complete 'pn.solve.svrg(obj, {neighbours = "add'
    assert.equal('add_remove"', names)
    assert.equal(#'pn.solve.svrg(obj, {neighbours = "' + 1, start)
    assert.equal("false\ntrue", (complete "pn.solve.svrg(obj, {privacy = "))
    assert.equal("false", (complete "pn.solve.svrg(obj, {privacy = f"))
    _G.pn = nil
  end)

  it("follows literal indices, and what a raw field is without looking at it", function()
    _G.zoo[1] = { cub = 1 }
    assert.equal("cub", (complete "zoo[1].c"))
    assert.equal("cub", (complete "x = zoo[ 1 ].c"))
    _G.zoo.data = pn.data.synthetic.lasso { n = 4, p = 2, sparsity = 1, noise = 0.1, seed = 1 }
    assert.equal("rows", (complete "zoo.data.X.row"))
    assert.equal("", (complete "zoo.data.n.row"))
  end)

  it("offers locals of the entry, words of the prompt, and names with help", function()
    assert.equal("zebra\nzoo", (complete "local zebra = 1\nreturn z"))
    assert.equal("%history", (complete "%hi"))
    assert.truthy((complete "?frank_w"):find("frank_wolfe\n", 1, true))
    assert.equal('frank_wolfe_convex"', (complete 'help "frank_wolfe_c'))
  end)

  it("offers nothing in a comment or after a number", function()
    assert.equal("", (complete "x = 1 -- zo"))
    assert.equal("", (complete "12.zo"))
  end)
end)
