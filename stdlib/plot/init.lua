-- plot.lua -- pn.plot: pictures by gnuplot, in the terminal, in a file or as a string.
-- Depends on: penumbra.plot.values, plot_show and the builders plot_series, plot_sets, plot_privacy.  Used by: penumbra (pn.plot).
local values = require "penumbra.plot.values"

local plot = {}

-- ---- what all of them take ----

local shared = {
  { name = "title", expects = "a string", doc = "a line above the picture, taken literally" },
  { name = "file", expects = "a path that ends in .svg, .png or .pdf",
    doc = "write there instead of drawing on the terminal; the path is returned" },
  { name = "as", expects = "one of the listed names", choices = { "text", "svg" },
    doc = "return the drawing as a string: characters without escapes, or SVG" },
  { name = "width", expects = "a whole number",
    doc = "columns on a terminal (the window's, at most 120) and as text (80), pixels in a file (800)" },
  { name = "height", expects = "a whole number", doc = "lines on a terminal and as text (22), pixels in a file (500)" },
}
local axes = {
  { name = "xlabel", expects = "a string", doc = "what the horizontal axis is" },
  { name = "ylabel", expects = "a string", doc = "what the vertical axis is" },
  { name = "xrange", expects = "{low, high}", doc = "ends of the horizontal axis; those of the data when left out" },
  { name = "yrange", expects = "{low, high}", doc = "ends of the vertical axis; those of the data when left out" },
}
local logs = {
  { name = "logx", expects = "true or false", default = "false", doc = "a logarithmic horizontal axis: every x must be positive" },
  { name = "logy", expects = "true or false", default = "false", doc = "a logarithmic vertical axis: every y must be positive" },
}

local function together(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

local function check_shared(owner, options)
  for _, name in ipairs { "title", "xlabel", "ylabel", "zlabel", "file" } do values.text(owner, name, options[name]) end
  values.range(owner, "xrange", options.xrange)
  values.range(owner, "yrange", options.yrange)
  for _, axis in ipairs { "x", "y" } do
    local range = options[axis .. "range"]
    if values.flag(owner, "log" .. axis, options["log" .. axis]) and range then
      values.positive(owner, axis .. "range", range)
    end
  end
  local as, pixels = options.as, options.file or options.as == "svg"
  if as ~= nil and as ~= "text" and as ~= "svg" then
    values.refuse(owner, "as must be 'text' or 'svg', got %s", values.shown(as))
  end
  if as and options.file then values.refuse(owner, "give file or as, not both") end
  values.whole(owner, "width", options.width, pixels and 100 or 20)
  values.whole(owner, "height", options.height, pixels and 100 or 8)
  for _, name in ipairs { "width", "height" } do
    if (options[name] or 0) > 10000 then values.refuse(owner, "%s must be at most 10000, got %d", name, options[name]) end
  end
end

-- Makes plot[name]: reads the call into options, checks them, builds the figure, shows it.  from: the module with the builder;
-- read(owner, ...) -> options when the call is not one table.
local rows = {
  plot = {
    kind = "library", reveals = "nothing", signature = "pn.plot.line, pn.plot.set2d, ...",
    doc = "Pictures by gnuplot, on the terminal, in a file (file=) or as a string (as=): numbers, sets, runs and privacy.",
  },
}

local function define(name, row)
  local owner, params = "plot." .. name, row.params
  rows[owner] = {
    kind = "function", reveals = "nothing", touches = "files, processes", signature = row.signature, doc = row.doc, params = params,
  }
  plot[name] = function(...)
    local options, given = ...
    if row.read then
      options, given = row.read(owner, ...)
    elseif type(options) ~= "table" or select("#", ...) > 1 then
      values.refuse(owner, "expected one table, got %s", select("#", ...) > 1 and "several arguments" or values.shown(options))
    end
    values.known(owner, options, params)
    options = values.copy(options) -- builders fill in what was left out, and the table is the caller's
    check_shared(owner, options)
    local figure = require(row.from)[name](owner, options, given)
    for _, key in ipairs { "title", "xlabel", "ylabel", "zlabel", "xrange", "yrange" } do
      figure[key] = options[key] or figure[key]
    end
    return require "penumbra.plot.show".figure(owner, figure, options)
  end
end

-- (thing, thing, ..., {options}) or a table of things with the options beside them.
local function things_then_options(wanted)
  return function(owner, ...)
    local count, things, options = select("#", ...), {}, {}
    for i = 1, count do
      local value = select(i, ...)
      if type(value) == "table" and i == count and count > 1 then
        options = value
      elseif type(value) == "table" and count == 1 then
        for k, v in pairs(value) do
          if math.type(k) == "integer" then things[k] = v else options[k] = v end
        end
      else
        things[i] = value
      end
    end
    if #things == 0 and not wanted.optional then values.refuse(owner, "expected %s, got nothing", wanted.what) end
    return options, things
  end
end

-- ---- the functions ----

local series = {
  { name = "x", expects = "a vector or list",
    doc = "of a single series given without a table of its own; 1, 2, ... when left out" },
  { name = "y", expects = "a vector or list", doc = "of a single series given without a table of its own" },
  { name = "label", expects = "a string", doc = "of a single series: its name in the legend" },
}

define("line", {
  signature = "pn.plot.line{{x=, y=, label=, low=, high=, error=, dashed=, marks=, colour=}, ..., " ..
    "title=, file=} -> path, string or nothing",
  doc = "Lines through (x[i], y[i]), one for each series, with bands from low to high or error bars; one series needs " ..
    "no table of its own: pn.plot.line{y = v}.  A series takes x, y, label, low, high, error, dashed, marks and " ..
    "colour; x is 1, 2, ... when left out.  Drawn by gnuplot on the terminal (graphics where it has them, else " ..
    "braille or what PENUMBRA_PLOT says: sixel, kitty, block, braille, ascii); without gnuplot in plain characters. " ..
    "Returns the path with file=, the drawing with as=, else nothing.  Errors: numbers that are not finite, with " ..
    "their place; x and y of unequal lengths; what is not positive on a logarithmic axis.",
  from = "penumbra.plot.series",
  params = together(series, {
    { name = "low", expects = "a vector or list", doc = "of a single series: lower ends of a band around it" },
    { name = "high", expects = "a vector or list", doc = "of a single series: upper ends of the band" },
    { name = "error", expects = "a vector or list", doc = "of a single series: half lengths of error bars" },
    { name = "dashed", expects = "true or a whole number", doc = "of a single series: a dashed line, or gnuplot's dash type" },
    { name = "marks", expects = "true or false", default = "false", doc = "of a single series: mark the points" },
    { name = "colour", expects = "a whole number from 1",
      doc = "of a single series: which colour; series of one colour belong together" },
  }, axes, logs, shared),
})
define("scatter", {
  signature = "pn.plot.scatter{{x=, y=, label=, groups=, values=, sizes=, colour=}, ..., " ..
    "title=, file=} -> path, string or nothing",
  doc = "Points at (x[i], y[i]), without lines; otherwise as plot.line.  A series takes x, y, label, groups, values, " ..
    "sizes and colour.",
  from = "penumbra.plot.series",
  params = together(series, {
    { name = "groups", expects = "a list of names",
      doc = "of a single series: one name for each point; each group gets a colour and a place in the legend" },
    { name = "values", expects = "a vector or list",
      doc = "of a single series: one number for each point, shown as its colour in files" },
    { name = "sizes", expects = "a vector or list",
      doc = "of a single series: one positive number for each point, shown as its size in files" },
    { name = "colour", expects = "a whole number from 1", doc = "of a single series: which colour" },
    { name = "zlabel", expects = "a string", doc = "what the colours of values are" },
  }, axes, logs, shared),
})
define("heat", {
  signature = "pn.plot.heat{z=, x=, y=, zlabel=, title=, file=} -> path, string or nothing",
  doc = "A map of the matrix z: each number is a colour, from dark (low) to light (high), at the place of its column on " ..
    "the horizontal and of its row on the vertical axis; the first row is at the bottom.  Places need not be evenly " ..
    "spaced.",
  from = "penumbra.plot.series",
  params = together({
    { name = "z", expects = "a matrix or list of rows", required = true, doc = "the numbers: z[i][j] is drawn at (x[j], y[i])" },
    { name = "x", expects = "a vector or list", doc = "the places of the columns, increasing; 1, 2, ... when left out" },
    { name = "y", expects = "a vector or list", doc = "the places of the rows, increasing; 1, 2, ... when left out" },
    { name = "zlabel", expects = "a string", doc = "what the colours are" },
  }, axes, logs, shared),
})
define("histogram", {
  signature = "pn.plot.histogram{{samples=, label=, density=, mechanism=, draws=, seed=}, ..., " ..
    "bins=, title=, file=} -> path, string or nothing",
  doc = "How often samples fall into bins of one width, as shares per unit, so that a density can be drawn over them; " ..
    "one series needs no table of its own.  mechanism=m draws that many times the noise of a Gaussian or Laplace " ..
    "mechanism at 0, by a seeded stream (a simulation, charged to a ledger of its own), against the law that it " ..
    "rounds to a lattice of 2^-40 of its scale.  A series takes samples, label, density, mechanism, draws and seed.",
  from = "penumbra.plot.series",
  params = together({
    { name = "samples", expects = "a vector or list", doc = "of a single series: the numbers to count" },
    { name = "label", expects = "a string", doc = "of a single series: its name in the legend" },
    { name = "density", expects = "a function of a number", doc = "of a single series: the law to draw over it" },
    { name = "mechanism", expects = "a gaussian or laplace mechanism",
      doc = "draw its noise at 0 by a seeded stream, a simulation, and its law over it" },
    { name = "draws", expects = "a whole number", default = 2000, doc = "how much noise of the mechanism is drawn" },
    { name = "seed", expects = "a whole number", default = 1, doc = "of the stream that draws it" },
    { name = "bins", expects = "a whole number",
      doc = "how many bins of one width; by the rule of Freedman and Diaconis when left out" },
  }, axes, shared),
})
define("trace", {
  signature = "pn.plot.trace(fit, ..., {x=, reference=, labels=, title=, file=}) -> path, string or nothing",
  doc = "The objective along the runs, fit.trace, against steps or gradient evaluations; the excess over reference= " ..
    "when given, on a logarithmic axis.  The legend says what each run states to have cost.  The values of a private run are " ..
    "not released and not in its trace: an error; runs by a seeded stream (simulations) and without privacy have " ..
    "them.",
  from = "penumbra.plot.privacy", read = things_then_options { what = "fits" },
  params = together({
    { name = "x", expects = "one of the listed names", choices = { "step", "gradients" }, default = "step",
      doc = "against steps or per-record gradient evaluations" },
    { name = "reference", expects = "a number or a table with value",
      doc = "the minimum, as solve.exact gives it: the excess is drawn, on a logarithmic axis" },
    { name = "labels", expects = "a list of strings", doc = "names of the fits in the legend; solver and budget when left out" },
  }, axes, logs, shared),
})
define("set2d", {
  signature = "pn.plot.set2d(C, ..., {gauge=, path=, points=, dims=, at=, title=, file=}) -> path, string or nothing",
  doc = "The outlines of bounded sets in the plane, through support points in 360 directions, with contours of the " ..
    "gauge and points that walk.  Of a set with more than two dimensions dims={i, j} draws the projection onto two " ..
    "coordinates, or with at=v the slice through v on which the other coordinates stay; without a title of its own it says which.",
  from = "penumbra.plot.sets", read = things_then_options { what = "sets" },
  params = together({
    { name = "gauge", expects = "true, a whole number or a list",
      doc = "contours of the first set's gauge: t C for t at a quarter, half, ..., or at these t; at most 50" },
    { name = "path", expects = "a matrix or list of points",
      doc = "points walked in this order, such as the state.theta:copy() of plan:run{on_step=}; several as {path, path}" },
    { name = "points", expects = "a matrix or list of points", doc = "points without lines between them" },
    { name = "dims", expects = "{i, j}",
      doc = "the two coordinates to draw of a set with more; the projection onto them, or the slice with at=" },
    { name = "at", expects = "a vector",
      doc = "a point of the set: draw the slice through it on which the other coordinates stay as they are there" },
    { name = "labels", expects = "a list of strings", doc = "names of the sets in the legend; their own when left out" },
  }, axes, shared),
})
define("privacy", {
  signature = "pn.plot.privacy(e, ..., {against=, accountants=, delta=, steps=, title=, file=}) -> path, string or nothing",
  doc = "Certified epsilon against delta, or at one delta against how many times the event happens, for events, plans, " ..
    "mechanisms and accountants; several, or several accountants={\"rdp\", \"pld\"}, are drawn together to be compared. " ..
    "Where no finite epsilon is certified there is no point.  From public numbers alone: nothing is spent.",
  from = "penumbra.plot.privacy", read = things_then_options { what = "events, plans or accountants" },
  params = together({
    { name = "against", expects = "one of the listed names", choices = { "delta", "steps" }, default = "delta",
      doc = "epsilon against delta, or against how many times the event happens" },
    { name = "delta", expects = "a number between 0 and 1", default = "1e-6",
      doc = "where epsilon is read when it is drawn against steps" },
    { name = "steps", expects = "a whole number or list", default = 1000,
      doc = "the largest number of steps, or the numbers themselves" },
    { name = "deltas", expects = "{low, high}", default = "{1e-12, 1e-2}", doc = "the ends of the axis of delta" },
    { name = "accountants", expects = "a list of accountant names", default = '{"rdp"}',
      doc = "how the events are composed: rdp, zcdp, pld, advanced; one curve each" },
    { name = "labels", expects = "a list of strings", doc = "names of the curves in the legend; the things' own when left out" },
  }, axes, logs, shared),
})

plot.rows = rows
return plot
