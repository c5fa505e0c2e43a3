-- writers.lua -- everything that writes a file: how it is written, and how far what is there has come.
--   name, sources     what it is, and the files of the sources that open, write or name it for this row
--   put(made, n, tell) writes the n-th state, or moves what is there on to it; raises, or gives nil and why not.  tell() after each
--                      step that may be acted upon, `steps` of them; without `steps` there is one, and it is told by returning
--   get(made)          how many steps the files have come; 0: there is nothing; raises when they are damaged
--   files              what is there afterwards; says: words of which a failure has one, where that is not a file's name;
--                      enough: words of which one makes a failure clear without the system's reason
--   make()             what put and get need, made once;  before(made): files that must be there
--   exclusive          a second put is refused
--   hints              "close": some of the bytes need not be durable
--   dear               fewer points in the fast tier
-- Depends on: penumbra.  Used by: campaign.lua, writers_spec.lua.
local pn = require "penumbra"

-- ---- looking ----

-- The text of a file, nil where there is none.
local function read(path)
  local file <close>, why, number = io.open(path, "rb")
  if not file then return number ~= 2 and error(why, 0) or nil end
  local text
  text, why = file:read "a"
  return text or error(path .. ": " .. why, 0)
end

local function write(path, text)
  assert(require "penumbra.files".put(path, text))
end

-- What `value` says of the file at `path`; 0 without one.
local function of(path, value)
  return function(made)
    local text = read(path)
    return text and value(text, made) or 0
  end
end

-- The number in a text that is `format` with a number, and nothing else.
local function number_in(format)
  local before, after = format:match "^(.*)%%d(.*)$"
  return function(text)
    local n = math.tointeger(tonumber(text:sub(#before + 1, #text - #after)))
    if not n or format:format(n) ~= text then error("damaged: " .. text, 0) end
    return n
  end
end

-- ---- doing ----

local function program(name, ...)
  local status = require("penumbra.programs." .. name)(name, ...)
  if status ~= 0 then return nil, "status " .. status .. "; " end
end

local function lasso()
  return pn.data.synthetic.lasso { n = 40, p = 3, seed = 1 }:clip_rows("linf", 1):clip_labels(-1, 1)
end

-- Fits that differ in how many steps they took.
local function fits()
  local objective = pn.objective { data = lasso(), loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 3 } }
  local list = {}
  for n = 1, 4 do list[n] = pn.solve.mirror_descent(objective, { privacy = false, iterations = n, progress = false }) end
  return list
end

local function model_of(n)
  return pn.load(n).plan.iterations
end

-- Entry j of a vector is n + j, so that halves of two show.
local function numbers(n)
  local list = {}
  for j = 1, 3000 do list[j] = n + j end
  return pn.vec(list)
end

local function number_of(path)
  local v = pn.load(path)
  local n = v[1] - 1
  if v ~= numbers(n) then error("damaged", 0) end
  return math.tointeger(n)
end

local function charges(path)
  local ledger = pn.ledger { path = path, epsilon = 100 }
  local spent = math.tointeger(ledger.spent)
  ledger:close()
  return spent
end

-- Runs of an experiment whose line is whole.
local function done_in(text)
  local count = 0
  for line in text:gmatch "[^\n]*\n" do
    if line:find "\tdone\t" then count = count + 1 end
  end
  return count
end

-- What other programs, and Lua's os.tmpname, say of temporary files, without the system's reason.
local TEMPORARY = { "gnuplot failed", "unable to generate a unique filename", "made no PDF" }

local SUMS = { dim = 1, horizon = 64, sensitivity = 1, rho = 0.5 }

local function count_of(path)
  local tree = pn.tree.resume(path)
  local count = tree.count
  tree:close()
  return count
end

local FEDERATED = { "books", "books.key", "books.head", "notes" }

local function forget() crash.forget() end

local rows = {
  -- ---- what is paid for ----
  { name = "ledger", files = { "ledger", "ledger.key", "ledger.head" }, steps = 2,
    hints = "close", -- who has it open stands in the head's last slot, which counts for nothing
    sources = { "runtime/privacy/ledger/ledger_disk.c", "runtime/privacy/ledger/ledger_file.c",
      "runtime/privacy/ledger/ledger_head.c", "runtime/privacy/ledger/ledger_open.c" },
    put = function(_, _, tell)
      local ledger = pn.ledger { path = "ledger", epsilon = 100 }
      for _ = 1, 2 do
        ledger:spend(pn.event.pure { epsilon = 1 }, "a release")
        tell()
      end
      ledger:close()
    end,
    get = of("ledger", function() return charges "ledger" end) },
  { name = "tree that follows", sources = { "runtime/continual/checkpoint.c", "runtime/continual/checkpoint_file.c" },
    files = { "sums" }, steps = 2,
    put = function(_, _, tell)
      local there = read "sums"
      local tree = there and pn.tree.resume "sums" or pn.tree { dim = 1, horizon = 64, sensitivity = 1, rho = 0.5, path = "sums" }
      for _ = 1, 2 do
        tree:push { 1 }
        tell()
      end
      tree:close()
    end,
    get = of("sums", function() return count_of "sums" end) },
  { name = "tree:save", sources = { "runtime/continual/checkpoint.c" }, files = { "sums" }, exclusive = true,
    put = function()
      local tree = pn.tree(SUMS)
      tree:push { 1 }
      tree:save "sums"
    end,
    get = of("sums", function() return count_of "sums" end) },

  -- ---- federated runs: a ledger and a checkpoint, which have to fit each other ----
  { name = "party of a federated run", sources = { "runtime/federated/party/party_checkpoint.c" }, dear = true,
    files = FEDERATED, says = { "books", "notes" }, steps = 2, hints = "close", make = forget, before = forget,
    put = function(_, _, tell) crash.party(tell) end,
    get = of("notes", function() return crash.party() end) },
  { name = "server of a federated run", sources = { "runtime/federated/server/server_state.c" }, dear = true,
    files = FEDERATED, says = { "books", "notes" }, steps = 2, hints = "close", make = forget, before = forget,
    put = function(_, _, tell) crash.server(tell) end,
    get = of("notes", function() return crash.server() end) },

  -- ---- models ----
  { name = "fit:save", sources = { "runtime/model/model_file.c" }, files = { "model" }, make = fits,
    put = function(made, n) made[n]:save "model" end,
    get = of("model", function() return model_of "model" end) },
  { name = "fit:export to JSON", sources = { "runtime/model/model_json.c" }, files = { "model.json" }, make = fits,
    put = function(made, n) made[n]:export "model.json" end,
    get = of("model.json", function() return model_of "model.json" end) },
  { name = "fit:export to CSV", sources = { "bindings/solvers/lfit_export.c" }, files = { "model.csv" },
    make = function()
      local list, texts = fits(), {}
      for n, fit in ipairs(list) do
        fit:export "/tmp/lua_model.csv"
        texts[read "/tmp/lua_model.csv"] = n
      end
      os.remove "/tmp/lua_model.csv"
      return { fits = list, numbers = texts }
    end,
    put = function(made, n) made.fits[n]:export "model.csv" end,
    get = of("model.csv", function(text, made) return made.numbers[text] or error("damaged: " .. text, 0) end) },
  { name = "receipt:save", sources = { "bindings/privacy/lreceipt.c" }, files = { "receipt" },
    put = function(_, n)
      local ledger = pn.ledger { epsilon = 100 }
      for i = 1, n do ledger:spend(pn.event.pure { epsilon = 1 }, "release " .. i) end
      ledger:receipt():save "receipt"
    end,
    get = of("receipt", function() return #pn.receipt("receipt"):table().ledger.entries end) },

  -- ---- numbers and records ----
  { name = "vec:save", sources = { "runtime/numeric/npy_save.c" }, files = { "v.npy" },
    put = function(_, n) numbers(n):save "v.npy" end,
    get = of("v.npy", function() return number_of "v.npy" end) },
  { name = "data.store", sources = { "runtime/data/files/stored.c", "runtime/core/vault.c" }, files = { "d.pnd" },
    says = { "d.pnd", "folder ." },
    put = function(_, n)
      pn.data.store("d.pnd", pn.data.synthetic.logistic, { n = 100 + n, p = 5, seed = 1 })
    end,
    get = of("d.pnd", function() return pn.data.store("d.pnd").n - 100 end) },
  { name = "federated.keygen", sources = { "runtime/federated/transport/zeromq_keys.c" }, exclusive = true,
    files = { "k", "k.pub" },
    put = function() pn.federated.keygen "k" end,
    get = of("k.pub", function(text) return #(read "k") > 0 and text:find "public %S+\n$" and 1 end) },
  { name = "federated.align", sources = { "runtime/data/alignment.c" }, files = { "people.key" }, exclusive = true,
    put = function() pn.federated.align(lasso():take(2), { key = "people.key", ids = { "ann", "bob" } }) end,
    get = of("people.key", function(text) return #text == 65 and 1 end) },

  -- ---- experiments, pictures ----
  { name = "experiment", sources = { "stdlib/experiment/record.lua" }, files = { "runs" }, steps = 2,
    put = function(_, _, tell)
      local done = done_in(read "runs" or "")
      local grid = {}
      for i = 1, done + 2 do grid[i] = i end
      pn.experiment { grid = { i = grid }, path = "runs", processes = 1, progress = false, run = function(row)
        if row.i == done + 2 then tell() end
        return { i = row.i }
      end }
      tell()
    end,
    get = of("runs", done_in) },
  { name = "experiment's table", sources = { "stdlib/experiment/result.lua" }, files = { "table.csv" },
    put = function(_, n)
      pn.experiment { rows = { { n = n } }, seed = false, processes = 1, progress = false,
        run = function(row) return { twice = 2 * row.n } end }:save "table.csv"
    end,
    get = of("table.csv", function(text)
      local n, twice = text:match "^[^\n]*\n(%d+),%d+,(%d+),[^\n]*\n$"
      return n and 2 * n == twice + 0 and math.tointeger(n) or error("damaged: " .. text, 0)
    end) },
  { name = "plot", sources = { "stdlib/plot/show.lua" }, files = { "p.svg" }, dear = true,
    put = function(_, n) pn.plot.line { x = { 1, 2 }, y = { 1, 2 }, title = ("number %d"):format(n), file = "p.svg" } end,
    says = { "p.svg" }, enough = TEMPORARY,
    get = of("p.svg", function(text)
      return text:find "</svg>%s*$" and math.tointeger(text:match "number (%d+)") or error("damaged", 0)
    end) },

  -- ---- lessons and courses ----
  { name = "progress of lessons", sources = { "stdlib/lesson/progress.lua" }, files = { "data/progress" }, says = { "data" },
    put = function(_, n)
      local progress = require "penumbra.lesson.progress"
      return progress.write("data/progress", "lesson" .. n, { done = { first = "done" }, at = "second" })
    end,
    get = of("data/progress", function()
      local n, records, why = 0, require "penumbra.lesson.progress".read "data/progress"
      if why then error(why, 0) end
      while records["lesson" .. n + 1] do n = n + 1 end
      return n
    end) },
  { name = "submission", sources = { "stdlib/course/submission.lua" }, files = { "submission" },
    put = function(_, n)
      local submission = require "penumbra.course.submission"
      local head, why = submission.open("submission", "course", "Ann")
      if not head then return nil, why end
      if n > 1 then return submission.append("submission", head, "typed", "lesson", "step", ("x = %d\n"):format(n):rep(20)) end
    end,
    get = of("submission", function()
      local made, why = require "penumbra.course.submission".open "submission" -- drops a line that was cut off
      if not made or made.flaw then error(why or made.flaw, 0) end
      return #made.entries + 1
    end) },
  { name = "course new", sources = { "stdlib/programs/course.lua" }, exclusive = true,
    files = { "course/course.lua", "course/lessons/first.lua" }, says = { "course" },
    put = function() return program("course", "new", "course") end,
    get = of("course/course.lua", function()
      require "penumbra.course.file".read "course"
      return read "course/lessons/first.lua" and 1
    end) },
  { name = "lesson export", sources = { "stdlib/programs/lesson.lua" }, files = { "lesson.html" }, dear = true,
    says = { "lesson.html" }, enough = TEMPORARY,
    put = function(_, n) return program("lesson", "export", tostring(n), "--html", "--force", "-o", "lesson.html") end,
    get = of("lesson.html", function(text)
      for n = 1, 4 do
        local title = require "penumbra.lesson.files".find(n).title
        if text:find(title, 1, true) and text:find "</html>%s*$" then return n end
      end
    end) },

  -- ---- programs and the prompt ----
  { name = "predict --output", sources = { "stdlib/programs/main.lua" }, files = { "out.csv", "people.csv", "model.json" },
    make = function()
      local recipe = pn.recipe { label = { y = { 0, 1 } }, features = { x = { 0, 100 } } }
      write("/tmp/lua_people.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n")
      local data = recipe:data "/tmp/lua_people.csv"
      local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 2 } }
      local fit = pn.solve.mirror_descent(objective, { privacy = false, iterations = 2, progress = false })
      fit:export "/tmp/lua_model.json"
      local text = read "/tmp/lua_model.json"
      os.remove "/tmp/lua_people.csv"
      os.remove "/tmp/lua_model.json"
      return text
    end,
    before = function(model) write("model.json", model) end,
    put = function(_, n)
      write("people.csv", "x,y\n" .. ("1,0\n"):rep(n))
      return program("predict", "model.json", "people.csv", "-o", "out.csv")
    end,
    get = of("out.csv", function(text)
      local lines = text:match "^prediction\n(.*)$"
      return select(2, lines:gsub("0%.%d+\n", ""))
    end) },
  { name = "kernel --install", sources = { "stdlib/programs/kernel.lua" }, files = { "share/jupyter/kernels/penumbra/kernel.json" },
    says = { "share" },
    put = function(_, n) return program("kernel", "--install", "--prefix", ".", "--program", "p" .. n) end,
    get = of("share/jupyter/kernels/penumbra/kernel.json", function(text)
      return math.tointeger(require "penumbra.kernel".decode(text).argv[1]:match "^p(%d+)$")
    end) },
  { name = "%save", sources = { "stdlib/prompt/magic.lua" }, files = { "work.lua" },
    put = function(_, n)
      local prompt = require "penumbra.prompt"
      prompt.entries[1], prompt.numbers[1] = ("x = %d"):format(n), nil
      require "penumbra.prompt.magic".read("%save work.lua 1").run()
    end,
    get = of("work.lua", number_in "x = %d\n") },
  { name = "history", sources = { "bindings/prompt/repl_input.c" }, files = { "history" },
    put = function(_, n)
      if not crash.remember("history", ("x = %d"):format(n)) then return nil, "" end
    end,
    get = of("history", function(text)
      local count = 0
      for line in text:gmatch "[^\n]+\n" do
        if line == ("x = %d\n"):format(count + 1) then count = count + 1
        elseif not line:find "^#%d+\n$" then error("damaged: " .. text, 0) end
      end
      return count
    end) },
  { name = "lesson as PDF", sources = { "stdlib/lesson/handout.lua" }, files = { "lesson.pdf" }, dear = true,
    says = { "lesson.pdf", "/tmp/lua_" }, enough = { "made no PDF of the page", table.unpack(TEMPORARY) },
    careless = true, -- the page for the printer, which cat writes here, is gone after it
    put = function(_, n)
      local execute = os.execute
      os.execute = function(line) -- a printer that puts four bytes before the page
        if line:find "^command %-v chromium" then return true end
        local from, to = line:match "print%-to%-pdf=(%S+) file://(%S+)"
        return execute(from and ("{ printf %%%%PDF; cat '%s'; } >'%s'"):format(to, from) or line)
      end
      return program("lesson", "export", tostring(n), "--pdf", "--force", "-o", "lesson.pdf")
    end,
    get = of("lesson.pdf", function(text)
      for n = 1, 4 do
        local title = require "penumbra.lesson.files".find(n).title
        if text:find(title, 1, true) and text:find "</html>%s*$" then return n end
      end
    end) },
}

-- What else writes, and why it has no row.
local others = {
  ["bindings/core/lfiles.c"] = "the door of the Lua half, through which the rows in Lua go",
  ["bindings/prompt/lconfined.c"] = "/dev/null",
  ["runtime/data/shared.c"] = "memory without a name, for other processes",
  ["stdlib/lessons/18_csv_model.lua"] = "a file of the lesson's own, gone with it",
  ["stdlib/notebook/init.lua"] = "what a call prints, in a file without a name",
  ["stdlib/programs/config.lua"] = "asks whether a file can be written: an empty one, which the next asking removes, too",
  ["examples/federated/make_data.lua"] = "one files.put for each table",
  ["examples/reproduce/common.lua"] = "one files.put for each table",
  ["examples/private_mean.lua"] = "the name of a folder for a ledger",
  ["examples/tree.lua"] = "the name of a checkpoint",
}

return rows, others
