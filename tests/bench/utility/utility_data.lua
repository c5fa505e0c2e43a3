-- utility_data.lua -- the data sets of utility_bench.lua, with rows in the unit l2 ball and labels that suit a kind of loss.
-- Ranges come from units and from how the features were made, never from the values.  Used by: utility_bench.lua.
local pn = require "penumbra"

local data = {}

local folder = os.getenv "PENUMBRA_DATA"
data.folder = folder ~= "" and folder or nil -- nil: there are no files

local function path(name) return data.folder .. "/" .. name end

local function zeros(count)
  local list = {}
  for j = 1, count do list[j] = 0 end
  return list
end

-- Metres, degrees, 8-bit shades; then one wilderness area and one soil type, one-hot, which stay as they are.
local function covertype(rows)
  local low = { 1500, 0, 0, 0, -200, 0, 0, 0, 0, 0 }
  local high = { 4350, 360, 90, 1500, 600, 7200, 255, 255, 255, 7200 }
  for j = 11, 54 do low[j], high[j] = -1, 1 end
  return rows:rescale(low, high)
end

-- read: the rows as they are scaled; labels: their range; over: above it a binary label is 1; classes: their number and the first
-- one; text: the file whose rows clipped to norm 1 are the same, where a dense copy would not fit.
local sources = {
  a9a = { read = function() return pn.data.libsvm(path "a9a.gz", { cols = 123 }) end, labels = { -1, 1 }, over = 0 },
  ijcnn1 = { read = function() return pn.data.libsvm(path "ijcnn1.gz", { cols = 22 }) end, labels = { -1, 1 }, over = 0 },
  reuters = {
    read = function() return pn.data.libsvm(path "reuters.money-fx.train.libsvm.gz", { cols = 8315, labels = "binary" }) end,
    labels = { -1, 1 }, over = 0, text = "reuters.money-fx.train.libsvm.gz",
  },
  news20 = {
    read = function() return pn.data.libsvm(path "news20.libsvm.gz", { cols = 62061 }) end,
    labels = { 1, 20 }, over = 10.5, classes = 20, first = 1, text = "news20.libsvm.gz",
  },
  covertype = {
    read = function()
      return covertype(pn.data.libsvm(path "covtype.libsvm.binary.gz", { labels = "binary", sparse = false }))
    end,
    labels = { -1, 1 }, over = 0,
  },
  covertype7 = {
    read = function() return covertype(pn.data.csv(path "covtype.sample50k.csv.gz")) end,
    labels = { 1, 7 }, over = 1.5, classes = 7, first = 1,
  },
  usps = {
    read = function() return pn.data.libsvm(path "usps.train.libsvm.gz") end,
    labels = { 0, 9 }, over = 4.5, classes = 10, first = 0,
  },
  -- Degrees of the state, years, counts of a census block, 10,000 dollars; labels in dollars.
  cal_housing = {
    read = function()
      return pn.data.csv(path "cal_housing.csv.gz")
          :rescale({ -125, 32, 0, 0, 0, 0, 0, 0 }, { -114, 42, 60, 10000, 2000, 5000, 2000, 10 }):add_bias()
    end,
    labels = { 0, 500001 }, over = 180000,
  },
  abalone = {
    read = function() return pn.data.libsvm(path "abalone.libsvm.gz"):add_bias() end,
    labels = { 0, 30 }, over = 9.5,
  },
  -- Calls, blocks and pages a second, and words of free memory, of one machine.
  cpusmall = {
    read = function()
      return pn.data.libsvm(path "cpusmall.libsvm.gz"):rescale(zeros(12),
        { 2000, 1000, 13000, 6000, 6000, 30, 70, 3e6, 2e6, 3000, 13000, 2.5e6 }):add_bias()
    end,
    labels = { 0, 100 }, over = 88.5,
  },
  -- Litre concentrations, pH and per cent of wine, as oenology has them; grades.
  wine = {
    read = function()
      return pn.data.csv(path "winequality-red.csv.gz", { sep = ";" }):rescale(
        { 3, 0, 0, 0, 0, 0, 0, 0.985, 2.5, 0, 7 }, { 17, 2, 1, 20, 0.7, 80, 300, 1.01, 4.5, 2.5, 16 }):add_bias()
    end,
    labels = { 0, 10 }, over = 5.5,
  },
  -- Years, 1 or 2, kg/m^2, mm of mercury, and six values of blood serum.
  diabetes = {
    read = function()
      return pn.data.csv(path "diabetes.csv.gz"):rescale(
        { 18, 1, 15, 50, 80, 30, 10, 1, 2.5, 50 }, { 90, 2, 50, 150, 350, 250, 100, 10, 7, 150 }):add_bias()
    end,
    labels = { 0, 350 }, over = 140,
  },
  -- Ten measures of nuclei in pictures: their mean, standard error and largest value; ranges are round numbers above.
  breast_cancer = {
    read = function()
      return pn.data.csv(path "breast_cancer.csv.gz", { header = true }):rescale(zeros(30),
        { 40, 50, 250, 3000, 0.2, 0.5, 0.5, 0.3, 0.4, 0.1, 3, 5, 25, 600, 0.05, 0.2, 0.5, 0.1, 0.1, 0.05,
          50, 60, 300, 5000, 0.3, 1.5, 1.5, 0.4, 0.7, 0.3 }):add_bias()
    end,
    labels = { 0, 1 }, over = 0.5,
  },
  arcene = {
    read = function() return pn.data.libsvm(path "arcene.train.libsvm.gz", { cols = 10000 }) end,
    labels = { -1, 1 }, over = 0,
  },
  dorothea = {
    read = function() return pn.data.libsvm(path "dorothea.train.libsvm.gz", { cols = 88119 }) end,
    labels = { -1, 1 }, over = 0, text = "dorothea.train.libsvm.gz",
  },
}

local kinds = {}

function kinds.binary(rows, of)
  return rows:with_labels(rows.y:map(function(y) return 2 * pn.gt(y, of.over) - 1 end)):clip_labels(-1, 1)
end

-- A number in [-1, 1].
function kinds.real(rows, of)
  local low, high = of.labels[1], of.labels[2]
  return rows:with_labels((rows.y - (low + high) / 2) * (2 / (high - low))):clip_labels(-1, 1)
end

-- A number in [0, 10].
function kinds.count(rows, of)
  local low, high = of.labels[1], of.labels[2]
  return rows:with_labels((rows.y - low) * (10 / (high - low))):clip_labels(0, 10)
end

-- 1 to `classes`; without classes: 1 and 2 of the binary labels.
function kinds.class(rows, of)
  if not of.classes then return rows:with_labels((kinds.binary(rows, of).y + 3) / 2):clip_labels(1, 2), 2 end
  return rows:with_labels(rows.y + (1 - of.first)):clip_labels(1, of.classes), of.classes
end

-- The data set, and its number of classes for kind "class".
function data.load(name, kind)
  local of = sources[name] or error("utility_data: no data set is called " .. name, 0)
  return kinds[kind](of.read():clip_rows("l2", 1), of)
end

function data.text(name) return sources[name].text and path(sources[name].text) end

return data
