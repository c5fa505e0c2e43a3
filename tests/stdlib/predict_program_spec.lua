-- predict_program_spec.lua -- `penumbra predict` and examples/score.py: files in, predictions out, the same numbers; what is
-- refused ends with a message and a status, and leaves no file.
local pn = require "penumbra"
local people = require "tests.tools.people"
local program = require "tests.tools.program"
local law = require("tests.tools.tier").law(it)

local csv, model, out = people.write(120), os.tmpname() .. ".json", os.tmpname()
teardown(function()
  for _, path in ipairs { csv, model, out } do os.remove(path) end
end)

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

local function fields_of(line)
  local fields = {}
  for field in (line .. ","):gmatch "([^,]*)," do fields[#fields + 1] = field end
  return fields
end

local function predict(...)
  return program.run { "predict", ... }
end

-- One that has numpy: the machine's own may hide Debian's.
local function python()
  for _, name in ipairs { os.getenv "PYTHON" or "python3", "/usr/bin/python3" } do
    local _, _, code = program.shell(name .. " -c 'import numpy'")
    if code == 0 then return name end
  end
end

describe("penumbra predict", function()
  it("writes what fit:predict and fit:probabilities say", function()
    local fit = people.fit(csv, "logistic")
    fit:export(model)
    local names, p = fit:predict(csv, { labels = true }), fit:probabilities(csv)
    local text, err, code = predict(model, csv, "--probabilities")
    assert.same({ "", 0 }, { err, code })
    local lines = lines_of(text)
    assert.equal("prediction,probability <=50K,probability >50K", lines[1])
    assert.equal(121, #lines)
    for i = 1, 120 do
      local fields = fields_of(lines[i + 1])
      assert.same({ names[i], p[i][1], p[i][2] }, { fields[1], tonumber(fields[2]), tonumber(fields[3]) })
    end
    fit:save(out)
    assert.equal(text, (predict(out, csv, "--probabilities")))
  end)

  it("writes a file whole", function()
    local fit = people.fit(csv, "squared")
    fit:export(model)
    local text, err, code = predict(model, csv, "--output", out)
    assert.same({ "", "", 0 }, { text, err, code })
    local lines, values = lines_of(program.read_all(out)), fit:predict(csv)
    assert.equal("prediction", lines[1])
    for i = 1, 120 do assert.equal(values[i], tonumber(lines[i + 1])) end
  end)

  it("copies columns of the file in front of the predictions", function()
    local fit = people.fit(csv, "squared")
    fit:export(model)
    local values, lines = fit:predict(csv), lines_of((predict(model, csv, "--keep", "job,born")))
    local texts = pn.recipe.texts(csv, { "job", "born" })
    assert.same({ "job,born,prediction", 121 }, { lines[1], #lines })
    for i = 1, 120 do
      local job = texts.job[i]
      assert.equal(("%s,%s,%.17g"):format(job:find "," and '"' .. job .. '"' or job, texts.born[i], values[i]), lines[i + 1])
    end
  end)

  it("writes a JSON object for each record", function()
    local file = os.tmpname()
    program.write_all(file, 'age,job,born,member,"i,d"\n30,cook,1980-01-01,yes,"a ""b""\\\n\1é"\n40,x,1990-01-01,no,007\n')
    local fit = people.fit(csv, "logistic")
    fit:export(model)
    local text, err, code = predict(model, file, "--keep", '"i,d",age', "--format", "jsonl", "--probabilities")
    assert.same({ "", 0 }, { err, code })
    local names, p = fit:predict(file, { labels = true }), fit:probabilities(file)
    local wanted = { [["a \"b\"\\\n\u0001é"]], '"007"' }
    local lines = {}
    for i, id in ipairs(wanted) do
      lines[i] = ('{"i,d": %s, "age": "%d", "prediction": "%s", "probability <=50K": %.17g, "probability >50K": %.17g}\n')
        :format(id, 20 + 10 * i, names[i], p[i][1], p[i][2])
    end
    assert.equal(table.concat(lines), text)
    people.fit(csv, "squared"):export(model)
    program.write_all(model, (program.read_all(model):gsub('("theta": *%[)[^,]*', "%11e308", 1)))
    text = predict(model, file, "--format", "jsonl")
    assert.matches('^{"prediction": null}\n', text) -- what has no number in JSON
    os.remove(file)
  end)

  it("reads files without a line of names", function()
    people.fit(csv, "squared"):export(model)
    local lines = lines_of(program.read_all(csv))
    local head = table.remove(lines, 1)
    local bare = os.tmpname()
    program.write_all(bare, table.concat(lines, "\n") .. "\n")
    assert.equal((predict(model, csv, "--keep", "visits")), (predict(model, bare, "--keep", "visits", "--header", head)))
    os.remove(bare)
  end)

  it("ends with a message and a status, and no file, where it cannot", function()
    local taken, latin = os.tmpname(), os.tmpname()
    program.write_all(taken, "age,job,born,member,prediction\n30,cook,1980-01-01,yes,1\n")
    program.write_all(latin, "age,job,born,member,city\n30,cook,1980-01-01,yes,Z\xFCrich\n")
    people.fit(csv, "squared"):export(model)
    os.remove(out)
    local holes = os.tmpname()
    program.write_all(holes, "age,job,born,member\n30,cook,,yes\n")
    local bad = os.tmpname()
    program.write_all(bad, '{"format": "penumbra model"')
    local npy = os.tmpname()
    pn.vec { 1, 2 }:save(npy)
    for k, case in ipairs {
      { 1, "column 'born'", model, holes }, { 1, "no column 'age'", model, model }, { 1, "this file is not a model", npy, csv },
      { 1, "JSON", bad, csv }, { 1, "No such file", "/nowhere", csv }, { 1, "No such file", model, "/nowhere" },
      { 1, "no likelihood", model, csv, "--probabilities" }, { 2, "unknown option '%-%-moon'", model, csv, "--moon" },
      { 2, "missing after '%-%-sep'", model, csv, "--sep" }, { 2, "expected a model", model },
      { 2, "%-%-decimal takes", model, csv, "--decimal", ";" },
      { 2, "%-%-sep takes one character, got 'ab'", model, csv, "--sep", "ab" },
      { 2, "%-%-encoding takes .*, got 'latin1'", model, csv, "--encoding", "latin1" },
      { 2, "%-%-header takes names .*, got 'a,,b'", model, csv, "--header", "a,,b" },
      { 2, "%-%-keep takes names .*, got 'a,'", model, csv, "--keep", "a," },
      { 2, "%-%-keep takes names .*, got '\"a\"b'", model, csv, "--keep", '"a"b' },
      { 2, "%-%-format takes csv or jsonl, got 'xml'", model, csv, "--format", "xml" },
      { 1, "%-%-keep: .*: there is no column 'jobs', the nearest is 'job'", model, csv, "--keep", "jobs" },
      { 1, "%-%-keep: .*: column 'job' is asked for twice", model, csv, "--keep", "job,job" },
      { 1, "%-%-keep: the output has a column 'prediction' of its own; rename", model, taken, "--keep", "prediction" },
      { 1, "%-%-format jsonl: 'Z%?rich' is not UTF%-8; %-%-encoding windows%-1252", model, latin, "--keep", "city", "--format",
        "jsonl" },
    } do
      local words = { "predict", "--output", out, table.unpack(case, 3) }
      local text, err, code = (k == 1 and program.run or program.call)(words)
      assert.same({ "", case[1] }, { text, code }, case[2])
      assert.matches(case[2], err)
      assert.is_nil(err:find("%.lua:%d"), err)
      assert.is_nil(io.open(out), case[2])
    end
    for path, why in pairs { ["/nowhere/x"] = "No such file", ["/dev/full"] = "No space left" } do -- devices are written to
      local _, err, code = predict(model, csv, "-o", path)
      assert.equal(1, code)
      assert.matches(why, err)
    end
    local text, _, code = predict(model, csv, "-o", "/dev/stdout")
    assert.same({ 121, 0 }, { #lines_of(text), code })
    for _, path in ipairs { holes, bad, npy, taken, latin } do os.remove(path) end
  end)
end)

describe("examples/score.py", function()
  law("gets the same numbers from the JSON alone", function()
    local name = assert(python(), "python3-numpy is missing: tests/tools/setup.sh installs it")
    for _, case in ipairs { { "logistic" }, { "squared" }, { "softmax" }, { "poisson" },
      { "logistic", { clip = 1.3, norm = "l1" } }, { "squared", { intercept = false, clip = 1.2 } },
      { "logistic", { features = { age = { 17, 90, missing = 40 }, job = { "cook", "clerk", "b,oss" } } } } } do
      local fit = people.fit(csv, case[1], case[2])
      fit:export(model)
      local text, err, code = program.shell(("%s examples/score.py %s %s"):format(name, program.quote(model), program.quote(csv)))
      assert.same({ "", 0 }, { err, code })
      local lines, class = lines_of(text), case[1] == "logistic" or case[1] == "softmax"
      local values, p = fit:predict(csv, { labels = class }), class and fit:probabilities(csv)
      assert.equal(120, #lines)
      for i = 1, 120 do
        local fields = fields_of(lines[i])
        if class then
          assert.equal(values[i], fields[1])
          for k = 2, #fields do assert.near(p[i][k - 1], tonumber(fields[k]), 1e-13) end
        else
          assert.near(values[i], tonumber(fields[1]), 1e-8)
        end
      end
    end
  end)
end)
