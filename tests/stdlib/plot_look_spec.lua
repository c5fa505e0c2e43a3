-- plot_look_spec.lua -- what a picture of pn.plot looks like: numbers beside the axes that can be read and are where they belong,
-- colours that stand for the numbers, points that can be told apart, texts that end where the picture does.
local pn = require "penumbra"
local plot = pn.plot
local program = require "penumbra.plot.program"
local ticks = require "penumbra.plot.ticks"
local series = require "penumbra.plot.series"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

local has_gnuplot = os.execute "command -v gnuplot >/dev/null 2>&1"

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

-- The numbers beside the vertical axis, from below, and those below the horizontal one.
local function numbers_of(text)
  local up, across = {}, {}
  for _, line in ipairs(lines_of(text)) do
    local number = tonumber(line:match "^ +([-+.%de]+) [^%w ]")
    if number then table.insert(up, 1, number) end
    if line:find "^ +[-.%d][-+.%de ]*$" then
      for word in line:gmatch "%S+" do across[#across + 1] = tonumber(word) or word end
    end
  end
  return up, across
end

-- Numbers of an axis that stand at even places on it, in order; `what` for the message.
local function assert_even(list, what)
  assert.is_true(#list >= 1, what) -- of the smallest drawings
  for i = 2, #list do
    local step = list[i] - list[i - 1]
    assert.is_true(math.abs(step - (list[2] - list[1])) <= 1e-6 * math.abs(step), what)
    assert.is_true(step ~= 0, what)
  end
end

-- What gnuplot is given for a file.
local function program_of(name, options, given)
  local from = ({ set2d = "sets", trace = "privacy", privacy = "privacy" })[name] or "series"
  local figure = require("penumbra.plot." .. from)[name]("plot." .. name, options, given)
  for _, key in ipairs { "title", "xlabel", "ylabel", "zlabel" } do figure[key] = options[key] or figure[key] end
  return program.picture(figure, "png", 800, 500)
end

local function box(lower, upper) return pn.set.box { lower = lower, upper = upper } end

describe("the numbers beside the axes", function()
  law("are even and differ, whatever is drawn and however small the drawing is", function()
    if not has_gnuplot then return end
    local calls = {
      { "line", { y = { 5, 5, 5, 5 } } }, -- gnuplot wrote 5 over 4.99: "4.95", twice
      { "line", { y = { 5 } } },
      { "line", { y = { 1e9 + 1, 1e9 + 2, 1e9 + 3 } } }, -- with six digits all of them are 1e+09
      { "line", { y = { 0.69314718, 0.69314725 } } },
      { "line", { x = { 1e-12, 3e-12 }, y = { -1e-20, 2e-20 } } },
      { "scatter", { x = { -1, 7 }, y = { 0.01, 0.02 } } },
      { "set2d", { box({ 1, 1 }, { 1, 1 }) } }, -- were "0.60.811.21.4"
      { "set2d", { box({ 0, 0 }, { 50, 1 }) } },
      { "set2d", { 1e9 * pn.set.l1_ball { dim = 2, radius = 1 } } },
      { "heat", { z = { { 1, 2 }, { 3, 4 } } } },
    }
    for k, call in ipairs(calls) do
      for height = 8 + k % 3 * 2, 22, tier.times(6, 2) do -- each drawing is a process
        local name, options = call[1], call[2]
        options.as, options.height = "text", height
        local text = plot[name](options)
        local up, across = numbers_of(text)
        assert_even(up, ("%d in %d lines:\n%s"):format(k, height, text))
        assert_even(across, ("%d in %d lines:\n%s"):format(k, height, text))
      end
    end
  end)

  it("are there on a logarithmic axis without a power of ten, too", function()
    local marks = program_of("line", { y = { 3.1, 4.2 }, logy = true }):match "set ytics %(([^)]+)%)"
    local list = {}
    for mark in marks:gmatch "[^, ]+" do list[#list + 1] = tonumber(mark) end
    assert_even(list, marks)
    assert.is_true(list[1] >= 3 and list[#list] <= 4.3, marks)
  end)

  it("are 1, 2 and 5 times the powers of ten where they have room, or powers of ten that are as far apart as others", function()
    assert.same({ 0.5, 1, 2, 5, 10, 20 }, (ticks.logarithmic(0.5, 20, { columns = 80 })))
    assert.same({ 1, 10 }, (ticks.logarithmic(0.5, 20, { rows = 7 })))
    assert.same({ 1e-8, 1e-6, 1e-4, 1e-2, 1 }, (ticks.logarithmic(1e-9, 1, { rows = 9 })))
    assert.same({ 1e-200, 1, 1e200 }, (ticks.logarithmic(1e-300, 1e300, { rows = 9 })))
  end)

  it("stand for a range around data that are one number", function()
    local low, high = ticks.apart(5, 5)
    assert.is_true(low < 5 and high > 5)
    assert.same({ -1, 1 }, { ticks.apart(0, 0) })
    assert.same({ 1, 4 }, { ticks.apart(2, 2, true) })
    assert.same({ 1, 2 }, { ticks.apart(1, 2) })
  end)

  it("leave no dot or bar on the frame", function()
    local text = program_of("line", { x = { 1, 2 }, y = { 1, 3 }, error = { 0.5, 0.5 } })
    local low, high = text:match "set xrange %[([^:]+):([^]]+)%]"
    assert.is_true(tonumber(low) < 1 and tonumber(high) > 2)
    low, high = text:match "set yrange %[([^:]+):([^]]+)%]"
    assert.is_true(tonumber(low) < 0.5 and tonumber(high) > 3.5)
  end)
end)

describe("the colours of numbers", function()
  it("go from the least to the greatest number, on logarithmic axes too", function()
    local options = { z = { { 1, 2, 3 }, { 4, 5, 6 } }, x = { 1, 10, 100 }, logx = true }
    assert.is_truthy(program_of("heat", options):find("set cbrange [1:6]", 1, true))
    assert.is_truthy(program_of("scatter", { y = { 1, 2 }, values = { -3, 8 } }):find("set cbrange [-3:8]", 1, true))
    if not has_gnuplot then return end
    options.as = "text"
    local drawing = plot.heat(options)
    for _, shade in ipairs { "░", "▒", "▓", "█" } do assert.is_truthy(drawing:match("\n[^\n]*" .. shade .. shade), drawing) end
  end)
end)

describe("what is drawn in characters", function()
  it("tells each point of a group from those of others without colour", function()
    if not has_gnuplot then return end
    local text = plot.scatter { x = { 1, 2, 3, 4, 5, 6 }, y = { 1, 2, 3, 4, 5, 6 }, groups = { "a", "b", "a", "b", "a", "b" },
      as = "text" }
    local inside = text:gsub("\n[^\n]*\n$", "")
    assert.same({ 3, 3 }, { select(2, inside:gsub("A", "")), select(2, inside:gsub("B", "")) })
  end)

  law("has a mark on the frame for each number below it, and no other", function()
    if not has_gnuplot then return end
    for height = 10, 24 do
      local text = plot.scatter { x = { -2, 0.5, 5 }, y = { 0, -3.6, 2 }, as = "text", width = 60, height = height }
      local up, across = numbers_of(text)
      assert.equal(#across, select(2, text:gsub("┬", "")), text)
      local on_corner = text:find "[%d.] └" and 1 or 0
      assert.equal(#up, select(2, text:gsub("┤", "")) + on_corner, text)
    end
  end)

  it("has bars of errors without gaps", function()
    if not has_gnuplot then return end
    local text = plot.line { x = { 1, 2, 3 }, y = { 1, 1, 1 }, error = { 0, 1, 0 }, as = "text" }
    local rows, full = 0, 0
    for _, line in ipairs(lines_of(text)) do
      if line:find "│" or line:find "┤" then rows = rows + 1 end
      if line:find "⢸" or line:find "⡇" then full = full + 1 end
    end
    assert.is_true(full >= rows - 2, text) -- but for the top end and where the line crosses
    assert.is_true(rows >= 16, text)
  end)

  it("has the box of a histogram of one value", function()
    local boxes = { kind = "boxes", x = { 2 }, y = { 1 }, low = { 1.5 }, high = { 2.5 } }
    local layer = require("penumbra.plot.cells").figure({ layers = { boxes } }).layers[1]
    assert.same({ { 1.5, 1.5, 2.5, 2.5 }, { 0, 1, 1, 0 } }, { layer.x, layer.y })
    if not has_gnuplot then return end
    local text = plot.histogram { samples = { 2, 2 }, as = "text" }
    assert.is_truthy(text:find("⠉⠉⠉⠉⠉⠉⠉⠉", 1, true), text)
  end)

  it("refuses more contours than can be seen", function()
    local C = pn.set.l1_ball { dim = 2, radius = 1 }
    refused("plot.set2d: gauge must be at most 50 contours, got 100000", plot.set2d, C, { gauge = 100000 })
    local text = has_gnuplot and plot.set2d(C, { gauge = 4, as = "text" }) or "gauge 0.25, 0.5, 0.75, 1"
    assert.is_truthy(text:find("gauge 0.25, 0.5, 0.75, 1", 1, true), text)
  end)
end)

describe("what is drawn of very many numbers", function()
  it("is one point for each place, and of a band the outermost ends", function()
    local x, y, low, high = {}, {}, {}, {}
    for i = 1, 50000 do x[i], y[i], low[i], high[i] = i, i % 2, -1, 1 end
    low[12345], high[23456] = -7, 9
    local out = {}
    program.data(series.scatter("plot.scatter", { x = x, y = y }), out)
    assert.is_true(#out > 1900 and #out < 2100, #out) -- two heights at each of 1000 places
    out = {}
    program.data(series.line("plot.line", { y = y, low = low, high = high }), out)
    local least, most, count = 0, 0, 0
    for _, line in ipairs(out) do
      local a, b = line:match "^%d+ (%S+) (%S+) \n$"
      if a then least, most, count = math.min(least, tonumber(a)), math.max(most, tonumber(b)), count + 1 end
    end
    assert.same({ -7, 9 }, { least, most })
    assert.is_true(count > 4000 and count < 5100, count)
  end)
end)

describe("the words of a picture", function()
  it("end where the picture does", function()
    local long = ("word "):rep(100)
    local text = program_of("line", { { y = { 1, 2 }, label = long }, title = long, xlabel = long, ylabel = long })
    for _, name in ipairs { "set title", "set xlabel", "set ylabel", "notitle title", "title" } do
      for words in text:gmatch("\n[^\n]*" .. name .. " (%b\"\")") do
        local most = 0
        for line in (words:gsub("\\n", "\n"):gsub("\\%d%d%d", ".")):gmatch "[^\n]+" do most = math.max(most, #line) end
        assert.is_true(most <= 100, name .. words)
      end
    end
    assert.is_falsy(program_of("line", { y = { 1, 2 }, title = "short" }):find("\\056\\056\\056", 1, true)) -- "..."
  end)

  it("say whose law is drawn, and what the axis is", function()
    local m = pn.mechanism
    local text = program_of("histogram", { { mechanism = m.gaussian { sigma = 3, sensitivity = 1 } },
      { mechanism = m.laplace { scale = 2, sensitivity = 1 } } })
    assert.is_truthy(text:find(program.quoted "law of gaussian(3)", 1, true))
    assert.is_truthy(text:find(program.quoted "law of laplace(2)", 1, true))
    assert.is_truthy(text:find("set xlabel " .. program.quoted "noise", 1, true))
  end)

  it("say the relation of epsilon, once where it is the same and with each curve where not", function()
    local event = pn.event
    local a, b = event.gaussian { sigma = 3, sensitivity = 1 }, event.laplace { scale = 2, sensitivity = 1 }
    local c = event.laplace { scale = 2, sensitivity = 1, neighbours = "add_remove" }
    local privacy = require("penumbra.plot.privacy").privacy
    local same, mixed = privacy("plot.privacy", {}, { a, b }), privacy("plot.privacy", {}, { a, c })
    assert.equal("epsilon, replace_one", same.ylabel)
    assert.equal("laplace(scale=2, sensitivity=1)", same.layers[2].label)
    assert.equal("epsilon", mixed.ylabel)
    assert.same({ "gaussian(sigma=3, sensitivity=1), replace_one", "laplace(scale=2, sensitivity=1), add_remove" },
      { mixed.layers[1].label, mixed.layers[2].label })
    local two = privacy("plot.privacy", { accountants = { "rdp", "pld" } }, { a })
    assert.same({ "gaussian(sigma=3, sensitivity=1)", "rdp", "pld" }, { two.title, two.layers[1].label, two.layers[2].label })
  end)
end)

describe("a number to be drawn", function()
  it("is at most 1e305, beyond which nothing would be seen", function()
    refused("plot.line: y[2] is -1.5e+308; numbers up to 1e+305 can be drawn", plot.line, { y = { 1, -1.5e308 } })
    refused("plot.histogram: samples[1] is 1e+308", plot.histogram, { samples = { 1e308, -1e308 } })
    assert.is_true(#plot.histogram { samples = { 1e305, -1e305 }, as = "text" } > 100)
    assert.is_true(#plot.line { y = { 1e305, -1e305 }, as = "text" } > 100)
  end)
end)

describe("a plot's file", function()
  it("has a name without zero bytes, behind which the operating system would see another", function()
    refused("plot.line: a file name must not contain a zero byte", plot.line, { y = { 1 }, file = "a\0b.svg" })
  end)
end)
