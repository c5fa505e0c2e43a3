-- plot_spec.lua -- pn.plot: what is drawn is what was given, wrong calls are refused, texts are never commands, and without gnuplot
-- there is a plain drawing and a line that says what to install.
local pn = require "penumbra"
local plot = pn.plot
local program = require "penumbra.plot.program"
local cells = require "penumbra.plot.cells"
local show = require "penumbra.plot.show"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local of_law = tier.law(it)

local build = os.getenv "PENUMBRA" or "build/penumbra"
local has_gnuplot = os.execute "command -v gnuplot >/dev/null 2>&1"

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

local function widest(text)
  local most = 0
  for _, line in ipairs(lines_of(text)) do most = math.max(most, (assert(utf8.len(line)))) end
  return most
end

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- The program for a file, and the layers, of a call: what gnuplot is given.
local function figure_of(name, options, given)
  local from = ({ set2d = "sets", trace = "privacy", privacy = "privacy" })[name] or "series"
  return require("penumbra.plot." .. from)[name]("plot." .. name, options, given)
end

describe("a plot's call", function()
  it("names a number that is not finite with its place", function()
    refused("plot.line: y[2] is not a finite number: ", plot.line, { y = { 1, 0 / 0, 3 } })
    refused("plot.line: series 2: x[1] is not a finite number: inf", plot.line, { { y = { 1 } }, { x = { math.huge }, y = { 1 } } })
    refused("plot.histogram: samples[3] is not a finite number: -inf", plot.histogram, { samples = { 1, 2, -math.huge } })
    refused("plot.heat: z[2][1] is not a finite number", plot.heat, { z = { { 1, 2 }, { 0 / 0, 2 } } })
    refused("plot.scatter: y[1] must be a number, got 'a'", plot.scatter, { y = { "a" } })
    refused("plot.line: y[2] is not a finite number", plot.line, { y = pn.vec { 1, 2 } / pn.vec { 1, 0 } })
  end)

  it("names unequal lengths and what is empty or missing", function()
    refused("plot.line: x has 3 numbers and y has 2", plot.line, { x = { 1, 2, 3 }, y = { 1, 2 } })
    refused("plot.line: low has 1 numbers and y has 2", plot.line, { y = { 1, 2 }, low = { 1 }, high = { 1, 2 } })
    refused("plot.line: low is given without high", plot.line, { y = { 1, 2 }, low = { 1, 1 } })
    refused("plot.heat: z[2] has 1 numbers and z[1] has 2", plot.heat, { z = { { 1, 2 }, { 1 } } })
    refused("plot.heat: x has 3 numbers and z has 2 columns", plot.heat, { z = { { 1, 2 } }, x = { 1, 2, 3 } })
    refused("plot.line: y is empty", plot.line, { y = {} })
    refused("plot.line: y must be a vector or a list of numbers, got nothing", plot.line, { x = { 1 } })
    refused("plot.scatter: groups must be a list of 2 names", plot.scatter, { y = { 1, 2 }, groups = { "a" } })
  end)

  it("refuses what has no place on a logarithmic axis", function()
    refused("plot.line: y[2] is 0, which has no place on a logarithmic axis", plot.line, { y = { 1, 0 }, logy = true })
    refused("plot.scatter: x[1] is -1", plot.scatter, { x = { -1 }, y = { 1 }, logx = true })
    refused("plot.line: yrange[1] is -1, which has no place", plot.line, { y = { 1 }, logy = true, yrange = { -1, 2 } })
    refused("plot.line: low[1] is -2", plot.line, { y = { 1 }, low = { -2 }, high = { 2 }, logy = true })
  end)

  it("names an unknown option, and says what there is", function()
    refused("plot.line: unknown option 'tilte'; it takes ", plot.line, { y = { 1 }, tilte = "x" })
    refused("title", plot.line, { y = { 1 }, tilte = "x" })
    refused("plot.line: unknown field 'lable' of series 1; it takes x, y, label", plot.line, { { y = { 1 }, lable = "x" } })
    refused("plot.line: label is beside the series", plot.line, { { y = { 1 } }, label = "x" })
    refused("plot.set2d: unknown option 'guage'", plot.set2d, pn.set.l1_ball { dim = 2, radius = 1 }, { guage = true })
    refused("plot.privacy: against must be 'delta' or 'steps', got 'alpha'", plot.privacy,
      pn.event.gaussian { sigma = 1, sensitivity = 1 }, { against = "alpha" })
    refused("plot.line: expected one table, got 3", plot.line, 3)
    refused("plot.trace: expected fits, got nothing", plot.trace)
    refused("plot.trace: argument 1 must be a fit, got 3", plot.trace, 3)
  end)

  it("refuses sizes, ranges and ways that are none", function()
    refused("plot.line: as must be 'text' or 'svg', got 'braille'", plot.line, { y = { 1 }, as = "braille" })
    refused("plot.line: give file or as, not both", plot.line, { y = { 1 }, as = "svg", file = "x.svg" })
    refused("plot.line: width must be a whole number from 20, got 3", plot.line, { y = { 1 }, width = 3 })
    refused("plot.line: height must be at most 10000", plot.line, { y = { 1 }, height = 20000, as = "svg" })
    refused("plot.line: xrange must be {low, high}", plot.line, { y = { 1 }, xrange = { 2, 1 } })
    refused("plot.line: title must be a string, got 3", plot.line, { y = { 1 }, title = 3 })
    refused("plot.histogram: bins must be a whole number from 1, got 0", plot.histogram, { samples = { 1 }, bins = 0 })
    refused("cannot tell from 'x.gif' what to write; the name must end in .pdf, .png or .svg", plot.line,
      { y = { 1 }, file = "x.gif" })
  end)
end)

describe("a table of options", function()
  it("stays the caller's: what a plot fills in is not in the next one", function()
    local how = { as = "text" }
    plot.privacy(pn.event.gaussian { sigma = 1, sensitivity = 1 }, how)
    assert.same({ as = "text" }, how)
  end)
end)

describe("the reference of plots", function()
  it("says that each of them runs gnuplot and may write a file, so that analysts do not get it", function()
    local reference = pn.reference()
    for _, name in ipairs { "line", "scatter", "heat", "histogram", "set2d", "trace", "privacy" } do
      assert.equal("files, processes", reference["plot." .. name].touches)
    end
  end)
end)

describe("what is drawn", function()
  it("is the numbers that were given", function()
    local figure = figure_of("line", { { x = { 1, 2 }, y = pn.vec { 3, 4.5 }, low = { 2, 4 }, high = { 4, 5 } } })
    local out = {}
    program.data(figure, out)
    assert.equal("$d1 << EOD\n1 2 4 \n2 4 5 \nEOD\n$d2 << EOD\n1 3 \n2 4.5 \nEOD\n", table.concat(out))
  end)

  it("keeps the ends and extremes of a line of very many points", function()
    local y = {}
    for i = 1, 50000 do y[i] = math.sin(i / 1000) end
    y[12345], y[23456] = 7, -7
    local out, seen = {}, {}
    program.data(figure_of("line", { y = y, logx = true }), out)
    assert.is_true(#out < 21000)
    for _, line in ipairs(out) do
      local place, value = line:match "^(%d+) (%S+) \n$"
      if place then
        assert.is_true(math.abs(value - y[tonumber(place)]) < 1e-11)
        seen[tonumber(place)] = true
      end
    end
    for _, place in ipairs { 1, 2, 100, 12345, 23456, 50000 } do assert.is_true(seen[place], place) end
  end)

  it("is a histogram whose area is one", function()
    local samples = { 1, 1, 2, 3, 3, 3, 4, 9 }
    local layer = figure_of("histogram", { samples = samples, bins = 4 }).layers[1]
    assert.same({ 3 / 16, 4 / 16, 0, 1 / 16 }, layer.y) -- 1, 1, 2 / 3, 3, 3, 4 / none / 9, of eight, in bins of width 2
  end)

  it("is the law of a mechanism over draws of its noise", function()
    local m = pn.mechanism.laplace { scale = 2, sensitivity = 1, dim = 3 }
    local figure = figure_of("histogram", { mechanism = m, draws = 1000, seed = 3 })
    local boxes, law = figure.layers[1], figure.layers[2]
    local area = 0
    for i = 1, #boxes.x do area = area + boxes.y[i] * (boxes.high[i] - boxes.low[i]) end
    assert.is_true(math.abs(area - 1) < 1e-9)
    for i = 1, #law.x do assert.is_true(math.abs(law.y[i] - math.exp(-math.abs(law.x[i]) / 2) / 4) < 1e-12) end
    assert.is_truthy(boxes.label:find "simulation")
  end)

  it("is the outline of a set: of gauge 1, and t for its contours", function()
    local C = pn.set.l1_ball { dim = 2, radius = 2 }
    local figure = figure_of("set2d", { gauge = { 0.5 }, path = { { 0, 0 }, { 1, 0.5 } } }, { C })
    local contour, outline, path = figure.layers[1], figure.layers[2], figure.layers[3]
    for i = 1, #outline.x do assert.is_true(math.abs(C:gauge { outline.x[i], outline.y[i] } - 1) < 1e-9) end
    for i = 1, #contour.x do assert.is_true(math.abs(C:gauge { contour.x[i], contour.y[i] } - 0.5) < 1e-9) end
    assert.same({ { 0, 1 }, { 0, 0.5 } }, { path.x, path.y })
  end)

  it("is a projection or a slice of a set with more dimensions, and says so", function()
    local C = pn.set.l2_ball { dim = 3, radius = 1 }
    refused("set 1 has 3 dimensions; say which two to draw", plot.set2d, C)
    local function radius(layer)
      local low, high = math.huge, 0
      for i = 1, #layer.x do
        local r = math.sqrt(layer.x[i] ^ 2 + layer.y[i] ^ 2)
        low, high = math.min(low, r), math.max(high, r)
      end
      return low, high
    end
    local whole = figure_of("set2d", { dims = { 1, 3 } }, { C })
    local low, high = radius(whole.layers[1])
    assert.is_true(math.abs(low - 1) < 1e-9 and math.abs(high - 1) < 1e-9)
    assert.equal("projection onto x[1], x[3]", whole.title)
    local part = figure_of("set2d", { dims = { 1, 3 }, at = { 0, 0.6, 0 } }, { C }) -- a circle of radius sqrt(1 - 0.36)
    low, high = radius(part.layers[1])
    assert.is_true(math.abs(low - 0.8) < 1e-6 and math.abs(high - 0.8) < 1e-6)
    assert.equal("slice at x[2] = 0.6", part.title)
    refused("at is not in set 1", plot.set2d, C, { dims = { 1, 2 }, at = { 0, 0, 2 } })
    refused("set 1 is not bounded", plot.set2d, pn.set.halfspace { normal = { 1, 1 }, offset = 1 })
  end)

  it("is the epsilon that the event certifies", function()
    local e = pn.event.gaussian { sigma = 3, sensitivity = 1 }
    local layer = figure_of("privacy", {}, { e }).layers[1]
    assert.is_true(#layer.x > 20)
    for i = 1, #layer.x do assert.equal((e:epsilon(layer.x[i])), layer.y[i]) end
    local options = { against = "steps", steps = { 1, 10 }, delta = 1e-5, accountants = { "zcdp", "rdp" } }
    local steps = figure_of("privacy", options, { e })
    assert.same({ 1, 10 }, steps.layers[1].x)
    assert.equal((pn.accountant.zcdp {}:add(e, 10):epsilon(1e-5)), steps.layers[1].y[2])
    assert.equal((pn.accountant.rdp {}:add(e, 10):epsilon(1e-5)), steps.layers[2].y[2])
    assert.equal("rdp", steps.layers[2].label)
    refused("accountants[1]: there is no accountant 'magic'; known are advanced, pld, rdp, zcdp", plot.privacy, e,
      { accountants = { "magic" } })
  end)

  it("is the trace of a simulation; that of a private run has no values", function()
    local data = pn.data.synthetic.logistic { n = 100, p = 3, seed = 1 }
    local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3, radius = 1 } }
    local plan = pn.solve.gradient_descent.plan(obj, { epsilon = 1, delta = 1e-5 })
    local fit, best = plan:run { rng = pn.rng.seeded(1) }, pn.solve.exact(obj)
    local layer = figure_of("trace", { reference = best, x = "gradients" }, { fit }).layers[1]
    assert.equal(fit.trace[2].gradients, layer.x[2])
    assert.equal(fit.trace[2].value - best.value, layer.y[2])
    assert.is_truthy(layer.label:find("epsilon 1, delta 1e-05, simulation", 1, true), layer.label)
    refused("it was a private run", plot.trace, plan:run())
  end)
end)

describe("a text in a plot", function()
  local nasty = {
    '"; system("touch %s"); "', "'; system 'touch %s'; '", "`touch %s`", "$(touch %s)", "\\\"`touch %s`", "x\n! touch %s\n",
    "x\nset output '|touch %s'\n",
    "EOD\nsystem('touch %s')\nEOD",
    "@x _{a} ^b \\n %% & < > é", "\27]0;x\7\27[31m", "\0", "\xff\xfe", "#12 \\101",
  }

  it("is the same text for gnuplot, whatever is in it", function()
    if not has_gnuplot then return end
    for _, text in ipairs { '"', "'", "`id`", "\\", "@x", "_{a}", "$(id)", "#12", "7\\7", "é", "%d", "{/Bold x}",
      "a\tb", "~0", "&<>" } do
      local output = assert(show.gnuplot("set encoding utf8\nset print '-'\nprint " .. program.quoted(text) .. "\n"))
      assert.equal((text:gsub("\t", " ")) .. "\n", output)
    end
  end)

  it("never runs a command and never reaches the terminal as an escape", function()
    local mark = os.tmpname()
    for _, text in ipairs(nasty) do
      os.remove(mark)
      text = text:gsub("%%s", mark)
      local given = { { y = { 1, 2 }, label = text }, { y = { 2, 1 }, label = text }, title = text, xlabel = text, ylabel = text }
      for _, as in ipairs(has_gnuplot and { "text", "svg" } or { "text" }) do
        given.as = as
        local drawing = plot.line(given)
        assert.is_falsy(drawing:find "[\1-\8\11-\31]", text)
        assert.is_true(#drawing > 100)
      end
      assert.is_nil(read(mark), text)
    end
    os.remove(mark)
  end)

  it("stands in the picture as it was written", function()
    if not has_gnuplot then return end
    local drawing = plot.line { y = { 1, 2 }, title = "a_{b} `c` @d \\e", as = "text" }
    assert.is_truthy(drawing:find("a_{b} `c` @d \\e", 1, true), drawing)
    drawing = plot.line { y = { 1, 2 }, title = "a_{b} `c` <d> & \\e", as = "svg" }
    assert.is_truthy(drawing:find("a_{b} `c` &lt;d> &amp; \\e", 1, true), drawing)
  end)
end)

describe("a drawing in characters", function()
  of_law("is never wider or higher than asked", function()
    local long = ("a long label "):rep(20)
    local e = pn.event.gaussian { sigma = 3, sensitivity = 1 }
    local C = pn.set.l1_ball { dim = 2, radius = 1 }
    for _, size in ipairs { { 40, 12 }, { 80, 22 }, { 100, 30 } } do
      local width, height = size[1], size[2]
      local all = {
        plot.line { { y = { 1, 2, 3 }, label = long }, { y = { 3, 2, 1 }, label = "b" }, title = long,
          width = width, height = height, as = "text" },
        plot.heat { z = { { 1, 2 }, { 3, 4 } }, width = width, height = height, as = "text" },
        plot.set2d(C, { width = width, height = height, as = "text" }),
        plot.privacy(e, { width = width, height = height, as = "text", title = "t" }),
      }
      for k, text in ipairs(all) do
        assert.is_true(widest(text) <= width, ("%d: %d columns"):format(k, widest(text)))
        assert.is_true(#lines_of(text) <= height, ("%d: %d lines\n%s"):format(k, #lines_of(text), text))
        assert.is_falsy(text:find "\27")
      end
    end
  end)

  it("can be made of any finite numbers that gnuplot can take", function()
    local ways = {
      { y = { 1, 1, 1 } }, { y = { 5 } }, { y = { 5 }, logx = true, logy = true }, { y = { 1e300, -1e300 } },
      { y = { 5e-324, 1 }, logy = true },
      { y = { 1e-300, 1e300 }, logy = true }, { y = { 1, 1 + 1e-15 } }, { y = { 1, 2 }, yrange = { 10, 20 } },
      { y = { 1, 2 }, width = 20, height = 8, title = ("long "):rep(9), ylabel = "y" },
    }
    for k, options in ipairs(ways) do
      options.as = "text"
      assert.is_true(#plot.line(options) > 100, k)
    end
    assert.is_true(widest(plot.heat { z = { { 0, 0 }, { 0, 0 } }, as = "text" }) > 74) -- no room is kept for a bar of colours
    assert.is_true(#plot.set2d { pn.set.box { lower = { 0, 0 }, upper = { 0.001, 1000 } }, as = "text" } > 100)
  end)

  it("leaves no file behind, whether gnuplot fails or not", function()
    if not has_gnuplot then return end
    local made, tmpname = {}, os.tmpname
    os.tmpname = function() -- luacheck: ignore
      made[#made + 1] = tmpname()
      return made[#made]
    end
    local ok, result = pcall(function()
      plot.line { y = { 1, 2 }, as = "text" }
      local output, why = show.gnuplot "set terminal dumb\nplot nothing_of_this_name\n"
      assert.is_nil(output)
      assert.is_truthy(why:find "undefined variable: nothing_of_this_name")
    end)
    os.tmpname = tmpname -- luacheck: ignore
    assert.is_true(ok, result)
    assert.equal(4, #made)
    for _, path in ipairs(made) do assert.is_nil(read(path)) end
  end)

  it("reads sixels: repeats, palettes, bands of six rows", function()
    local rows, palette = cells.pixels '\27P0;0;0q"1;1;3;8#0;2;100;100;100#1;2;20;0;0#0!3~$#1@?A-#1??@\27\\'
    assert.same({ 20, 0, 0 }, palette[1])
    assert.same({ 1, 0, 0 }, { rows[0][0], rows[0][1], rows[0][2] })
    assert.equal(1, rows[1][2])
    assert.equal(1, rows[6][2])
    assert.is_nil(rows[7])
  end)

  it("shows a rising line as one: each column's mark is not below that of the column before", function()
    local text, before, seen = plot.line { y = { 0, 1, 2, 3 }, as = "text", width = 60, height = 16 }, -1, 0
    local columns = {}
    for k, line in ipairs(lines_of(text)) do
      local column = 0
      for _, code in utf8.codes(line) do
        column = column + 1
        if code > 0x2800 and code <= 0x28ff then columns[column] = math.max(columns[column] or 0, 100 - k) end
      end
    end
    for column = 1, 60 do
      if columns[column] then
        assert.is_true(columns[column] >= before, text)
        before, seen = columns[column], seen + 1
      end
    end
    if has_gnuplot then assert.is_true(seen > 40, text) end
  end)

  it("tells several series apart without colour by letters that the legend names", function()
    if not has_gnuplot then return end
    local text = plot.line { { y = { 1, 2 }, label = "up" }, { y = { 2, 1 }, label = "down" }, as = "text" }
    assert.is_truthy(text:find("A⠤ up", 1, true))
    assert.is_truthy(text:find("B⠤ down", 1, true))
    assert.is_truthy(text:match "\n[^\n]*│[^\n]*A")
    local dot = plot.scatter { { y = { 1, 2, 3 }, label = "up" }, { x = { 2.7 }, y = { 1 }, label = "dot" }, as = "text" }
    assert.is_truthy(dot:match "\n[^\n]*[│┤└][^\n]*B", dot)
    assert.is_truthy(text:match "\n[^\n]*│[^\n]*B")
  end)
end)

-- Runs a script in a process of its own and gives its output.
local function run(environment, script)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script)
  file:close()
  local pipe = assert(io.popen(("env -u NO_COLOR %s %s %s 2>&1"):format(environment, build, path)))
  local text = pipe:read "a"
  local ok = pipe:close()
  os.remove(path)
  return text, ok
end

describe("the way of drawing", function()
  local line = 'local pn = require "penumbra" pn.plot.line { y = { 1, 2, 3 }, label = "a" }'

  it("follows PENUMBRA_PLOT", function()
    if not has_gnuplot then return end
    assert.is_truthy(run("PENUMBRA_PLOT=sixel", line):find "^\27P")
    assert.is_truthy(run("PENUMBRA_PLOT=kitty", line):find "^\27_Ga=T,f=100,c=80,r=22,m=%d;iVBOR")
    assert.is_truthy(run("PENUMBRA_PLOT=block", line):find "[▖▘▝▗▀▄]")
    assert.is_truthy(run("PENUMBRA_PLOT=braille", line):find "⠤")
    assert.is_falsy(run("PENUMBRA_PLOT=ascii", line):find "[\x80-\xff]")
    local wanted = "PENUMBRA_PLOT must be sixel, kitty, block, braille or ascii, got 'paper'"
    assert.is_truthy(run("PENUMBRA_PLOT=paper", line):find(wanted, 1, true))
  end)

  it("has colour only where it is wanted", function()
    if not has_gnuplot then return end
    local plain = run("LC_ALL=C.UTF-8 TERM=xterm", line)
    assert.is_falsy(plain:find "\27")
    assert.is_truthy(plain:find "[⠤⣀]")
    assert.is_truthy(run("LC_ALL=C.UTF-8 PENUMBRA_COLOR=always", line):find "\27%[38;5;")
    assert.is_falsy(run("LC_ALL=C TERM=xterm", line):find "[\x80-\xff]")
  end)

  it("writes kitty's chunks of at most 4096 characters, the last of them marked", function()
    assert.equal("TWFuIGlz", show.base64 "Man is")
    assert.equal("TWE=", show.base64 "Ma")
    assert.equal("TQ==", show.base64 "M")
    local text, chunks, last = show.kitty(("x"):rep(7000), 10, 5), 0, nil
    for more, chunk in text:gmatch "m=(%d);(.-)\27\\" do
      chunks, last = chunks + 1, more
      assert.is_true(#chunk <= 4096)
    end
    assert.same({ 3, "0" }, { chunks, last })
  end)
end)

describe("a plot in a file", function()
  local folder = os.tmpname()

  setup(function()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
  end)

  teardown(function() os.execute("rm -rf " .. folder) end)

  it("is SVG, PNG or PDF by its ending, and its path is returned", function()
    if not has_gnuplot then return end
    for ending, start in pairs { svg = "^<%?xml", png = "^\x89PNG", pdf = "^%%PDF", PNG = "^\x89PNG" } do
      local path = folder .. "/a " .. ending .. "'$x." .. ending
      assert.equal(path, plot.line { y = { 1, 2 }, file = path })
      assert.is_truthy(read(path):find(start), ending)
      assert.is_nil(read(path .. ".part"))
    end
    local svg = plot.line { y = { 1, 2 }, as = "svg", width = 640, height = 400 }
    assert.is_truthy(svg:find('viewBox="0 0 640 400"', 1, true))
  end)

  it("is of every kind", function()
    if not has_gnuplot then return end
    local e = pn.event.gaussian { sigma = 3, sensitivity = 1 }
    local C = pn.set.l1_ball { dim = 2, radius = 1 }
    local calls = {
      function(file) return plot.line { y = { 1, 2 }, error = { 0.1, 0.2 }, dashed = true, label = "a", file = file } end,
      function(file) return plot.scatter { y = { 1, 2, 3 }, groups = { "a", "b", "a" }, sizes = { 1, 2, 3 }, file = file } end,
      function(file) return plot.scatter { y = { 1, 2, 3 }, values = { 1, 2, 3 }, sizes = { 1, 2, 3 }, file = file } end,
      function(file)
        return plot.heat { z = pn.mat { { 1, 2 }, { 3, 4 } }, x = { 1, 10 }, logx = true, zlabel = "z", file = file }
      end,
      function(file) return plot.heat { z = { { 1 } }, file = file } end,
      function(file) return plot.histogram { samples = { 1, 1 }, density = function() return 1 end, file = file } end,
      function(file)
        local path = { { { 0, 0 } }, { { 1, 0 }, { 0, 1 } } }
        return plot.set2d(C, 2 * C, { gauge = 3, path = path, points = { { 0, 1 } }, file = file })
      end,
      function(file) return plot.privacy(e, pn.accountant.rdp {}:add(e, 3), { file = file, labels = { "one", "three" } }) end,
    }
    for k, call in ipairs(calls) do
      local path = ("%s/%d.png"):format(folder, k)
      assert.equal(path, call(path))
      assert.is_truthy(read(path):find "^\x89PNG", k)
    end
  end)

  it("leaves nothing behind where it cannot be written", function()
    if not has_gnuplot then return end
    local path = folder .. "/none/x.svg"
    refused("plot.line: cannot write " .. path .. ": No such file or directory", plot.line, { y = { 1 }, file = path })
    os.execute("mkdir -p '" .. folder .. "/d.svg'")
    refused("plot.line: cannot write ", plot.line, { y = { 1 }, file = folder .. "/d.svg" })
    assert.is_nil(read(folder .. "/d.svg.part"))
  end)
end)

describe("without gnuplot", function()
  local bin = os.tmpname()

  setup(function()
    os.remove(bin)
    assert(os.execute("mkdir " .. bin .. " && for c in sh env test stty; do ln -s $(command -v $c) " .. bin .. "/$c; done"))
  end)

  teardown(function() os.execute("rm -r " .. bin) end)

  it("draws in plain characters and says once what to install", function()
    local text, ok = run("PATH=" .. bin .. " PENUMBRA_PLOT=ascii", [[
      local pn = require "penumbra"
      pn.plot.line { { x = { 0, 10 }, y = { -2, 5 }, label = "up" }, title = "title", xlabel = "time", ylabel = "height" }
    ]])
    assert.is_truthy(ok, text)
    local hint = "gnuplot is not installed: for finer plots, sudo apt install gnuplot-nox"
    for _, word in ipairs { "title", "time", "height", " up", " 5 |", " -2 |", hint } do
      assert.is_truthy(text:find(word, 1, true), word .. "\n" .. text)
    end
    local lines = lines_of(text)
    local top, bottom
    for k, line in ipairs(lines) do
      if line:find " 5 |" then top = k end
      if line:find " %-2 |" then bottom = k end
    end
    assert.is_truthy(lines[top]:find "%*$", text) -- the last point, at the right end
    assert.is_truthy(lines[bottom]:find "|%*", text) -- the first, at the left end
    assert.is_truthy(lines[bottom + 2]:find "^%s+0%s+5%s+10$", text)
  end)

  it("draws as plainly with a gnuplot that was built without sixels, and says so", function()
    local poor = os.tmpname()
    os.remove(poor)
    finally(function() os.execute("rm -r " .. poor) end)
    assert(os.execute("cp -r " .. bin .. " " .. poor))
    local file = assert(io.open(poor .. "/gnuplot", "w"))
    file:write '#!/bin/sh\necho " line 3: unknown or ambiguous terminal type; type just set terminal for a list" >&2\nexit 1\n'
    file:close()
    os.execute("chmod +x " .. poor .. "/gnuplot")
    local text, ok = run("PATH=" .. poor, [[
      local pn = require "penumbra"
      pn.plot.line { x = { 0, 10 }, y = { -2, 5 } }
      print(pcall(pn.plot.line, { y = { 1 }, file = "x.png" }))
    ]])
    assert.is_truthy(ok, text)
    assert.is_truthy(text:find(" 5 |", 1, true), text)
    assert.is_truthy(text:find("gnuplot is installed without this way of drawing: for finer plots, sudo apt", 1, true), text)
    assert.is_truthy(text:find("cannot write x.png: gnuplot is installed without this way of drawing; install", 1, true), text)
  end)

  it("names the curves by the marks that it draws, whatever was to be drawn with gnuplot", function()
    local text = run("PATH=" .. bin .. " PENUMBRA_PLOT=braille", [[
      local pn = require "penumbra"
      pn.plot.line { { x = { 0, 10 }, y = { 0, 5 }, label = "up" }, { x = { 0, 10 }, y = { 5, 0 }, label = "down" } }
    ]])
    assert.is_truthy(text:find("* up   o down", 1, true), text)
    assert.falsy(text:find("⠤", 1, true), text)
  end)

  it("draws every kind, and refuses files with what to install", function()
    local text = run("PATH=" .. bin, [[
      local pn = require "penumbra"
      local C = pn.set.l1_ball { dim = 2, radius = 1 }
      io.write(pn.plot.set2d(C, { gauge = true, as = "text" }))
      io.write(pn.plot.heat { z = { { 1, 2 }, { 3, 4 } }, as = "text" })
      io.write(pn.plot.scatter { y = { 1, 10, 100 }, logy = true, as = "text" })
      io.write(pn.plot.histogram { samples = { 1, 2, 2, 3 }, as = "text" })
      io.write(pn.plot.line { y = { 1 }, as = "text" })
      print(pcall(pn.plot.line, { y = { 1 }, file = "x.svg" }))
    ]])
    local refusal = "plot.line: cannot write x.svg: gnuplot is not installed; install it with: sudo apt install gnuplot-nox"
    assert.is_truthy(text:find("false\t" .. refusal, 1, true), text)
    assert.is_nil(read "x.svg")
  end)
end)
