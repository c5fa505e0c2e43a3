-- boundary.lua -- calls at the boundaries of numbers, generated from the reference: every numeric argument and option of every
-- function and method, one at a time, in a call whose other arguments are valid.  The valid call is the one that the example of the
-- function makes (penumbra.usage), caught where it is made: an example is all that a new function needs.  `instead` and `excused`
-- name what differs.
-- luacheck: globals examples method_of classes proxied stand_ins late cases data CALL PROBE pn print
-- Depends on: penumbra, boundary_calls.lua, boundary_budgets.lua.  Used by: boundary_test.c, in a host.
local engine, run_cases, budgets = ... -- the texts of boundary_calls.lua, boundary_curated.lua and boundary_budgets.lua

local pn = require "penumbra"
local usage = require "penumbra.usage"
local reference = pn.reference()

-- Calls that differ from those of the examples, which take too long, print pages, or call it with nothing that is a number.
local instead = {
  audit = [[pn.audit(function(data, rng) return data.value + rng:uniform() end, {neighbours = {{value = 0}, {value = 1}},
    trials = 200, rng = pn.rng.seeded(1), progress = false})]],
  experiment = [[pn.experiment{grid = {a = {1}}, repeats = 1, processes = 1, seed = 1, progress = false,
    run = function() return {x = 1} end}]],
  advise = [[pn.advise(pn.data.synthetic.logistic{n = 40, p = 3, seed = 1}:clip_rows("l2", 1), pn.loss.logistic(),
    {epsilon = 1, delta = 1e-3, solvers = {"frank_wolfe"}, progress = false})]],
  help = [[pn.help "frank_wolfe"]],
  width = [[pn.width(pn.set.l1_ball{dim = 4} + pn.set.l2_ball{dim = 4}, {draws = 100, rng = pn.rng.seeded(1)})]],
  curator = [[d = pn.data.synthetic.logistic{n = 40, p = 3, seed = 1}:clip_rows("l2", 1)
    pn.curator{data = {d = d}, ledger = pn.ledger{epsilon = 1, delta = 1e-6}, memory = 64, seconds = 1,
      instructions = 10^6, threads = 1}]],
  ["pn.vec.__index"] = "PROBE(function(v, i) return v[i] end, pn.vec{1, 2}, 1)",
  ["pn.vec.__newindex"] = "PROBE(function(v, i, x) v[i] = x end, pn.vec{1, 2}, 1, 2)",
  ["pn.vec.__pow"] = "PROBE(function(v, p) return v ^ p end, pn.vec{1, 2}, 2)",
  ["pn.vec.__mul"] = "PROBE(function(v, p) return v * p end, pn.vec{1, 2}, 2)",
  ["pn.mat.__index"] = "PROBE(function(A, i) return A[i] end, pn.mat{{1, 2}, {3, 4}}, 1)",
  ["pn.mat.__mul"] = "PROBE(function(A, x) return A * x end, pn.mat{{1, 2}, {3, 4}}, 2)",
  ["pn.set.__mul"] = "PROBE(function(C, x) return x * C end, pn.set.l1_ball{dim = 3}, 2)",
  ["pn.norm.__call"] = "PROBE(function(N, v) return N(v) end, pn.norm.l2(), {1, 2})",
  ["pn.prox.__call"] = "PROBE(function(P, v, step) return P(v, step) end, pn.prox.l1(1), {1, 2}, 1)",
  ["pn.expression.__call"] = "PROBE(function(e, z) return e(z) end, pn.trace(function(z) return z ^ 2 end), 1)",
}

-- What is not called here, and why.
local alone, wire = "needs several ranks, which this process does not have", "needs the other end of a wire"
local excused = {
  ranks = alone, ["federated.mpi"] = alone, ["pn.dataset:share"] = alone, ["pn.ranks:barrier"] = alone, ["pn.ranks:rng"] = alone,
  ["pn.party:report"] = wire, ["pn.party:serve"] = wire, ["pn.transport:data"] = wire,
  ["accountant.selftest"] = "takes no number, and a second",
  ["sampler.with_replacement"] = "always refuses", version = "is a string",
}

-- x:name(...) becomes CALL(x, "name", ...); comments go.
local keywords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true until " ..
  "while"):gmatch "%a+" do
  keywords[word] = true
end

local function tokens_of(code)
  local out, at = {}, 1
  while at <= #code do
    local from, to = code:find("^%s+", at)
    if not from then from, to = code:find("^%-%-[^\n]*", at) end
    if from then
      at = to + 1
    else
      for _, pattern in ipairs { "^%[(=*)%[.-%]%1%]", "^[%a_][%w_]*", "^0x%x+", "^%d+%.?%d*[eE]?[+-]?%d+", "^%d+%.?%d*", "^%.%d+",
        '^"[^"\n]*"', "^'[^'\n]*'", "^%.%.%.", "^%.%.", "^[=~<>]=", "^//", "^::", "^." } do
        from, to = code:find(pattern, at)
        if from then break end
      end
      local text = code:sub(from, to)
      if text:find "^%d" and code:find("^%d+%.%.", at) then text = text:match "^%d+" to = from + #text - 1 end
      out[#out + 1] = text
      at = to + 1
    end
  end
  return out
end

local closers = { ["("] = ")", ["{"] = "}", ["["] = "]" }

local function rewrite(code)
  local tokens, at = tokens_of(code), 1
  local group
  local function is_string(text) return text and (text:find "^[\"']" or text:find "^%[=*%[" and #text > 1) end
  local function sequence(closer)
    local out = {}
    while tokens[at] ~= closer do
      local token = tokens[at]
      assert(token, "unbalanced: " .. code)
      if (token:find "^[%a_]" and not keywords[token]) or token == "(" then
        local text
        if token == "(" then text = group() else text = token at = at + 1 end
        while true do
          local next_one = tokens[at]
          if next_one == "." then
            text = text .. "." .. tokens[at + 1]
            at = at + 2
          elseif next_one == "(" or next_one == "{" or next_one == "[" then
            text = text .. group()
          elseif is_string(next_one) then
            text = text .. " " .. next_one
            at = at + 1
          elseif next_one == ":" then
            local name = tokens[at + 1]
            at = at + 2
            local args
            if tokens[at] == "(" then args = group():sub(2, -2) elseif tokens[at] == "{" then args = group() else
              args = tokens[at]
              at = at + 1
            end
            text = ("CALL(%s, %q%s)"):format(text, name, args:find "%S" and ", " .. args or "")
          else
            break
          end
        end
        out[#out + 1] = text
      elseif closers[token] then
        out[#out + 1] = group()
      else
        out[#out + 1] = token
        at = at + 1
      end
    end
    return table.concat(out, " ")
  end
  function group()
    local opener = tokens[at]
    at = at + 1
    local inner = sequence(closers[opener])
    at = at + 1
    return opener .. inner .. closers[opener]
  end
  return (sequence(nil))
end

-- ---- what the engine looks into ----

examples, method_of, classes, proxied, stand_ins = {}, {}, {}, nil, nil
local texts = {} -- name -> its example, rewritten
local names = {}
for name, row in pairs(reference) do
  local class, kind, member = name:match "^(pn%.[%w_]+)([.:])([%w_]+)$"
  if class and row.kind ~= "meta" then
    classes[class] = classes[class] or { fields = {}, methods = {}, points = {} }
    if row.signature:find "^%w+:[%w_]+%([vg][,)]" then table.insert(classes[class].points, member) end
    table.insert(row.kind == "field" and classes[class].fields or classes[class].methods, member)
  end
  if row.kind == "function" or row.kind == "method" or instead[name] then
    names[#names + 1] = name
    method_of[name] = kind == ":" and member or nil
  end
end
for name in pairs(instead) do if not reference[name] then names[#names + 1] = name end end
for _, class in pairs(classes) do
  table.sort(class.fields)
  table.sort(class.methods)
end
table.sort(names)
for _, name in ipairs(names) do
  local code = instead[name] or usage[name]
  if code then
    texts[name] = rewrite(code)
    examples[name] = assert(load(texts[name], "=" .. name))
  else
    examples[name] = function() error "it has no example" end
  end
end

local capture, put, steps_of, values, proxy, price_by_rho =
  assert(load(engine .. "return capture, put, steps_of, values, proxy, price_by_rho", "=boundary_calls.lua"))()
local budgets_for = assert(load(budgets, "=boundary_budgets.lua"))()
proxied = proxy(pn, "")

-- Examples write files and expect that they are not there yet.
local catch_call = capture
function capture(name)
  if texts[name] and (texts[name]:find("keygen", 1, true) or texts[name]:find('"save"', 1, true)) then
    for _, who in ipairs { "clinic", "lab", "server", "ward", "theirs" } do
      os.remove(who .. ".key")
      os.remove(who .. ".key.pub")
    end
    for _, file in ipairs { "sums", "stream", "people.model" } do os.remove(file) end
  end
  return catch_call(name)
end

-- ---- where numbers go ----

-- The arguments that a signature names: "v:slice(i, j[, k])" -> { "i", "j", "k" }, "f{a=, b=}" -> { "{a=, b=}" }.
local function arguments(signature)
  local open = signature:find "[({]"
  if not open then return {} end
  if signature:sub(open, open) == "{" then return { signature:match("%b{}", open) } end
  local inside, out, depth, part = (signature:match("%b()", open) or "()"):sub(2, -2), {}, 0, ""
  for c in inside:gmatch "." do
    if c == "{" or c == "(" then depth = depth + 1 elseif c == "}" or c == ")" then depth = depth - 1 end
    if c == "," and depth == 0 then
      out[#out + 1] = part
      part = ""
    elseif depth > 0 or not c:find "[%[%]%s]" then
      part = part .. c
    end
  end
  if part ~= "" then out[#out + 1] = part end
  return out
end

-- Objects of which numbers are used afterwards: counts that fit no int, and the reals at the ends.
local used_counts = { [4] = true, [5] = true, [6] = true, [7] = true, [8] = true, [9] = true }
local used_reals = { [10] = true, [11] = true }

local function is_plain(value) return type(value) == "table" and not getmetatable(value) end

-- Paths below args[i]: numbers in lists and tables, and options that the reference has beside those that were given.
local function paths_of(name, args)
  local row, out, seen = reference[name] or {}, {}, {}
  local function add(...)
    local path = { ... }
    local key = table.concat(path, "\0")
    if not seen[key] then
      seen[key] = true
      out[#out + 1] = path
    end
  end
  local function given(value, ...) -- the numbers of what the example gave
    local path = { ... }
    if math.type(value) then
      add(...)
    elseif is_plain(value) and #path < 4 then
      for k, v in pairs(value) do
        if k == 1 or type(k) == "string" then
          path[#path + 1] = k
          given(v, table.unpack(path))
          path[#path] = nil
        end
      end
    end
  end
  local first = method_of[name] and 1 or 0 -- the receiver
  local signed = arguments(row.signature or "")
  local options
  for i, text in ipairs(signed) do
    local at = i + first
    if text:find "^{" then
      options = at
      if is_plain(args[at]) or args[at] == nil then
        for key in text:gmatch "([%a_][%w_]*)%s*=[^=]" do
          local value = is_plain(args[at]) and args[at][key] or nil
          if value == nil and not row.params then add(at, key) end
        end
      end
    elseif args[at] == nil and not text:find "^function" and text ~= "..." then
      add(at)
    end
  end
  for i = first + 1, args.n do given(args[i], i) end
  if options or is_plain(args[first + 1]) and args.n == first + 1 then
    options = options or first + 1
    for _, param in ipairs(row.params or {}) do
      local group, inner = param.name:match "^([^.]+)%.(.+)$"
      if param.expects:find "number" and not param.expects:find "^one of" then
        if group then add(options, group, inner) else add(options, param.name) end
        if is_plain(args[options]) and is_plain(args[options][1]) then add(options, 1, param.name) end -- series of a plot
      end
    end
  end
  return out
end

local function is_count(name, path, args)
  for _, param in ipairs((reference[name] or {}).params or {}) do
    if param.name == path[#path] or param.name == table.concat(path, ".", 2) then return param.expects:find "whole" ~= nil end
  end
  for _, key in ipairs(path) do args = is_plain(args) and args[key] or nil end
  return args == nil or math.type(args) == "integer"
end

-- ---- bases, cases and attempts ----

local bases, cases, results, unclean = {}, {}, nil, {}
local words = { "bad argument", "attempt to", "stack traceback" }

local function judge(who, message)
  if type(message) ~= "string" then return end
  for _, word in ipairs(words) do
    if message:find(word) then unclean[#unclean + 1] = who .. ": " .. message return end
  end
end

-- Whether a solver plans by rho, too.
local function takes_rho(name)
  if not name:find "^solve%." then return false end
  local base = assert(capture(name))
  if not is_plain(base[2]) or not base[2].epsilon then return false end
  price_by_rho(base)
  return (pcall(base.f, table.unpack(base, 1, base.n)))
end

-- Planning takes long: the real options of solvers, which are many and alike, go without some whole numbers between the ends, and
-- a run, which reads the options of its plan, without more of them.
local function spares(name, is_real, v)
  if not (is_real and name:find "^solve%.") then return false end
  return v >= 4 and v <= 8 or reference[name .. ".plan"] and (v == 2 or v == 3 or v == 13)
end

-- Of each function its first case; of all others one in `stride`.
local function thinned(list, stride)
  local kept = {}
  for i, case in ipairs(list) do
    if case.first or i % stride == 0 then kept[#kept + 1] = case end
  end
  return kept
end

-- Each function: its call with valid values -> how many succeeded, and what is wrong with the list.
local function prepare(stride)
  local succeeded, wrong = 0, {}
  for _, name in ipairs(names) do
    local base, why = capture(name)
    local ok = false
    if excused[name] then
      ok = true
    elseif base then
      ok, why = pcall(base.f, table.unpack(base, 1, base.n))
    end
    local small = why
    if not ok then
      wrong[#wrong + 1] = ("%s: no valid call could be made: %s"):format(name, tostring(why))
    elseif not excused[name] then
      succeeded = succeeded + 1
      base = assert(capture(name))
      bases[#bases + 1] = { name = name, paths = paths_of(name, base), small = type(small) == "userdata" and small }
      local rho, counts = takes_rho(name), {}
      for k, path in ipairs(bases[#bases].paths) do
        local key = path[#path]
        local by_rho = rho and key ~= "epsilon" and key ~= "delta"
        local used = is_count(name, path, base) and used_counts or used_reals
        for v = 1, #values do
          if not spares(name, used == used_reals, v) then
            cases[#cases + 1] = { name = name, path = path, also = {}, value = v, used = used[v], first = k == 1 and v == 1,
              rho = by_rho, base = bases[#bases] }
          end
        end
        if used == used_counts then counts[#counts + 1] = path end
      end
      for _, given in ipairs(budgets_for(reference[name:match "^(solve%.[%w_]+)%.plan$" or ""])) do
        cases[#cases + 1] = { name = name, path = { 2, "epsilon" }, also = {}, value = 2, given = given, base = bases[#bases] }
      end
      for v = 4, #counts > 1 and 9 or 0 do -- all counts at once: their products wrap around
        cases[#cases + 1] = { name = name, path = counts[1], also = { table.unpack(counts, 2) }, value = v, used = true, rho = rho,
          base = bases[#bases] }
      end
    end
  end
  for name in pairs(excused) do
    if not reference[name] then wrong[#wrong + 1] = name .. " is excused and does not exist" end
  end
  cases = thinned(cases, stride)
  return succeeded, table.concat(wrong, "\n")
end

local function describe(case)
  if case.given then
    local options = {}
    for option, value in pairs(case.given) do options[#options + 1] = value and ("%s = %s"):format(option, value) or nil end
    table.sort(options)
    return ("%s{%s}"):format(case.name, table.concat(options, ", "))
  end
  return ("%s[%s%s] = %s"):format(case.name, table.concat(case.path, "."), #case.also > 0 and " and all counts" or "",
    values[case.value])
end

local ready -- the call of the case that comes

local exported = {}
function exported.count()
  local numbers = 0
  for _, base in ipairs(bases) do numbers = numbers + #base.paths end
  return #names, #cases, numbers
end
exported.prepare = prepare
function exported.unclean() return table.concat(unclean, "\n") end
function exported.describe(i) return describe(cases[i]) end
-- Unlimited: the arguments of case i.
function exported.ready(i)
  local case = cases[i]
  results = nil
  ready = assert(capture(case.name))
  if case.rho then price_by_rho(ready) end
  put(ready, case.path, values[case.value])
  for _, other in ipairs(case.also) do put(ready, other, values[case.value]) end
  for option, value in pairs(case.given or {}) do ready[2][option] = value or nil end
end
-- Limited: makes the call -> whether it answered.
function exported.attempt()
  local made = table.pack(pcall(ready.f, table.unpack(ready, 1, ready.n)))
  if made[1] then results = made else results = made[2] end
  return made[1]
end
-- What took longer than its limit here takes as long in a curator, where nothing but the whole script has one.
local late_steps = {} -- class -> how often each step of its objects did
local reached -- the step that is being made
function exported.late(i)
  cases[i].late = true
end
function exported.late_step(i)
  local late = late_steps[cases[i].class]
  late[reached] = (late[reached] or 0) + 1
  cases[i].heavy = true
end
-- Unlimited: judges what came of it, and returns how many steps there are to be made with the object that was answered.
local steps = {}
function exported.judge(i)
  local case = cases[i]
  steps, reached = {}, 0
  if type(results) ~= "table" then judge(describe(case), results) return 0 end
  case.answered = true
  for r = 2, results.n do
    local object = results[r]
    local meta = type(object) == "userdata" and debug.getinfo and getmetatable(object)
    if type(meta) == "table" and meta.__name and case.used and not case.class then
      case.class = meta.__name
      late_steps[case.class] = late_steps[case.class] or {}
      for _, step in ipairs(steps_of(object, meta.__name, case.base.small)) do steps[#steps + 1] = step end
    end
  end
  return #steps
end
-- Limited: makes all steps from that after the one it was stopped in.
function exported.step(i)
  local late = late_steps[cases[i].class]
  for k = reached + 1, #steps do
    reached = k
    if (late[k] or 0) < 2 then steps[k]() end
  end
  return true
end
function exported.drop()
  ready, results, steps = nil, nil, {}
  collectgarbage "step"
end

-- ---- the curator's ----


local function path_text(path)
  local keys = {}
  for k, key in ipairs(path) do keys[k] = math.type(key) and tostring(key) or ("%q"):format(key) end
  return "{" .. table.concat(keys, ",") .. "}"
end

-- The script for cases from ... to, those left out that are late unless there is but one.
function exported.script(from, to)
  local out, needed, own_classes = { "examples, method_of, classes, late = {}, {}, {}, {}\n", engine }, {}, {}
  local list = {}
  for i = from, to do
    local case = cases[i]
    local only_base = case.late and from < to
    if not case.given and (not only_base or case.first) then
      local used = case.used and case.class and not case.heavy
      if not needed[case.name] then
        needed[case.name] = true
        out[#out + 1] = ("examples[%q] = function() %s end\n"):format(case.name, texts[case.name])
        local member = method_of[case.name]
        if member then out[#out + 1] = ("method_of[%q] = %q\n"):format(case.name, member) end
      end
      local also = {}
      for k, other in ipairs(case.also) do also[k] = path_text(other) end
      if used and not own_classes[case.class] then
        own_classes[case.class] = true
        local about = classes[case.class] or { fields = {}, methods = {}, points = {} }
        local late = {}
        for k in pairs(late_steps[case.class]) do late[#late + 1] = ("[%d]=true"):format(k) end
        local function quoted(list_of) return ("%q,"):rep(#list_of):format(table.unpack(list_of)) end
        out[#out + 1] = ("classes[%q] = { fields = {%s}, methods = {%s}, points = {%s} } late[%q] = {%s}\n"):format(case.class,
          quoted(about.fields), quoted(about.methods), quoted(about.points), case.class, table.concat(late, ","))
      end
      list[#list + 1] = ("{%q, %s, %d, %s, %s, %s, %s, %s, {%s}},\n"):format(case.name, path_text(case.path), case.value,
        case.class and ("%q"):format(case.class) or "false", tostring(used or false),
        tostring(case.first == true), tostring(case.rho), tostring(only_base or false), table.concat(also, ","))
    end
  end
  if #list == 0 then return "" end
  out[#out + 1] = "cases = {\n" .. table.concat(list) .. "}\n" .. run_cases
  return table.concat(out)
end

return exported
