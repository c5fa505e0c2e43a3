-- luals.lua -- annotation files for lua-language-server, from the reference: classes, their fields and methods, and a class for the
-- options of every function that takes a table.
-- Depends on: pages.lua.  Used by: docs.lua.
local pages = require "pages"

local luals = {}

-- ---- types ----

local BY_WORDS = {
  { "whole number", "integer" }, { "true or false", "boolean" }, { "vector", "pn.vec|number[]" }, { "matrix", "pn.mat|number[][]" },
  { "function or a boolean", "boolean|function" }, { "function", "function" }, { "string or number", "string|number" },
  { "table or a number", "table|number" }, { "a table", "table" },
  { "string", "string" }, { "list", "table" }, { "number", "number" },
}

local SCHEDULE = "a list of one for each step, or a function of the step"
local BY_SCHEDULE = "number|number[]|pn.vec|fun(t: integer): number"

local function option_type(param)
  local expects = param.expects or ""
  if param.choices and expects:find("listed names", 1, true) then
    local out = {}
    for i, choice in ipairs(param.choices) do out[i] = ('"%s"'):format(choice) end
    if expects:find(SCHEDULE, 1, true) then out[#out + 1] = BY_SCHEDULE end
    return table.concat(out, "|")
  end
  if expects:find(SCHEDULE, 1, true) then return BY_SCHEDULE end
  local class = expects:match "pn%.[%w_]+"
  if class and pages.by_id[class] then return class end
  for _, row in ipairs(BY_WORDS) do
    if expects:find(row[1], 1, true) then return row[2] end
  end
  return "any"
end

-- Names that signatures use for objects.
local RESULTS = {
  number = "number", integer = "integer", boolean = "boolean", string = "string", table = "table", data = "pn.dataset",
    train = "pn.dataset",
  test = "pn.dataset", epsilon = "number", order = "number", low = "number", high = "number", sigma = "number", scale = "number",
  rho = "number", count = "integer", value = "number", i = "integer", q = "number", x = "number", variance = "number",
    acc = "pn.accountant",
  sampling = "pn.block_sampling", L = "pn.ledger", v = "pn.vec", A = "pn.mat", record = "table", report = "table", ["nil"] = "nil",
  truth = "pn.vec", state = "table", release = "pn.release", run = "pn.sparse_run",
}

local function result_type(text)
  local out = {}
  for word in text:gsub(" or ", "|"):gmatch "[^|]+" do
    local name = word:match "^%s*([%w_.]+)%s*$"
    local class = name and (pages.by_id["pn." .. name] and "pn." .. name or pages.by_id[name] and name)
    if class and pages.by_id[class].entry.kind ~= "class" then class = nil end
    out[#out + 1] = name and (RESULTS[name] or class) or word:find "^%s*{" and "table" or "any"
  end
  return table.concat(out, "|")
end

-- What arguments are called says what they are.
local NAMED = {
  obj = "pn.objective", rng = "pn.rng", e = "pn.event", C = "pn.set", D = "pn.set", d = "pn.dataset", data = "pn.dataset",
    loss = "pn.loss",
  v = "pn.vec|number[]", w = "pn.vec|number[]", g = "pn.vec|number[]", u = "pn.vec|number[]", theta = "pn.vec|number[]",
    path = "string",
  delta = "number", epsilon = "number", alpha = "number", count = "integer", n = "integer", i = "integer", j = "integer",
    rows = "integer",
  cols = "integer", lambda = "number", label = "string", batch = "integer[]", ranks = "pn.ranks", f = "function",
    sampling = "pn.block_sampling",
}

-- Parts of a list at the top level.
local function split(text)
  local out, depth, from = {}, 0, 1
  for at, character in text:gmatch "()([%[%](){},])" do
    if character == "," then
      if depth == 0 then
        out[#out + 1] = text:sub(from, at - 1)
        from = at + 1
      end
    else
      depth = depth + (character:find "[%[({]" and 1 or -1)
    end
  end
  if text:sub(from):find "%S" then out[#out + 1] = text:sub(from) end
  return out
end

-- ---- signatures ----

local KEYWORD = { ["end"] = true, ["function"] = true, ["local"] = true, ["repeat"] = true, ["for"] = true }

-- What stands between the brackets of a call, as it is written.
local function arguments_of(signature, short)
  local call = signature:match(short:gsub("[.:]", "%%%0") .. "%s*(%b())") or signature:match(short .. "%s*(%b{})")
    or signature:match "%b()" or signature:match "%b{}"
  if not call then return {} end
  if call:sub(1, 1) == "{" then return { call } end
  return split((call:sub(2, -2):gsub("%[, *", ", "):gsub("[%[%]]", "")))
end

-- Names of options that a table in a signature mentions: "{epsilon=, delta=}".
local function mentioned(text)
  local names = {}
  for name in text:gmatch "([%a_][%w_]*) ?=" do
    if not names[name] then
      names[name] = true
      names[#names + 1] = name
    end
  end
  return names
end

local function option_class(out, name, entry, text)
  local class, known = name:gsub(":", ".") .. ".options", {}
  if not class:find "^pn%." then class = "pn." .. class end
  if name:find "^solve%..+%.plan$" then return (class:gsub("%.plan%.", ".")) end -- those of the run
  out[#out + 1] = "---@class " .. class
  for _, param in ipairs(entry.params or {}) do
    if not param.name:find "%." then
      known[param.name] = true
      local note = param.doc and param.doc ~= "" and " " .. param.doc:gsub("%s+", " ") or ""
      out[#out + 1] = ("---@field %s%s %s%s"):format(param.name, param.required and "" or "?", option_type(param), note)
    end
  end
  for _, option in ipairs(mentioned(text)) do
    if not known[option] then out[#out + 1] = ("---@field %s? any"):format(option) end
  end
  out[#out + 1] = ""
  return class
end

local function text_lines(out, entry, example)
  for line in (entry.doc or ""):gmatch "[^\n]+" do out[#out + 1] = "---" .. line end
  out[#out + 1] = "---"
  out[#out + 1] = "---Reveals " .. entry.reveals .. "."
  if entry.source then out[#out + 1] = "---Source: " .. entry.source:gsub("\n", " ") end
  if example then out[#out + 1] = "---```lua\n---" .. example:gsub("\n", "\n---") .. "\n---```" end
end

-- Its parameters: { { name=, type=, optional= }, ... }; the class of an option table goes to `out` before.
local function parameters(out, member)
  local entry, list, seen = member.entry, {}, {}
  for i, argument in ipairs(arguments_of(entry.signature, member.short:match "[^.:]+$")) do
    local word = argument:match "^%s*(.-)%s*$"
    local name, optional = word:match "^[%a_][%w_]*", i > 1 or entry.kind == "method"
    local type_name = NAMED[name] or "any"
    if word:find "^{" then
      local has_options = entry.params and #entry.params > 0 or #mentioned(word) > 0
      name, type_name = "options", has_options and option_class(out, member.name, entry, word) or "table"
      optional = true
      for _, param in ipairs(entry.params or {}) do optional = optional and not param.required end
    elseif word:find "^%.%.%." then
      name, optional = "...", false
    elseif word:find "^function" then
      name, type_name = "f", "function"
    elseif not name or KEYWORD[name] then
      name, type_name = "argument" .. i, "any"
    end
    while seen[name] do name = name .. i end
    seen[name] = true
    list[i] = { name = name, type = type_name, optional = optional }
    if name == "..." then break end -- what may follow, as options, is one of these
  end
  return list
end

local function results(entry)
  local text = entry.signature:match "%->%s*(.+)$"
  local list = text and not text:find "^error" and split(text) or {}
  for i, word in ipairs(list) do list[i] = result_type(word) end
  return list
end

-- One function or method, `called` as it is defined: "pn.set.l1_ball", "class:dot".
local function define(out, called, member)
  local params, names = parameters(out, member), {}
  text_lines(out, member.entry, member.example)
  for i, param in ipairs(params) do
    names[i] = param.name
    out[#out + 1] = ("---@param %s%s %s"):format(param.name, param.optional and "?" or "", param.type)
  end
  for _, result in ipairs(results(member.entry)) do out[#out + 1] = "---@return " .. result end
  out[#out + 1] = ("function %s(%s) end\n"):format(called, table.concat(names, ", "))
end

-- What can be called and has members, as solve.frank_wolfe has plan.
local function define_callable(out, called, member)
  local params, words = parameters(out, member), {}
  text_lines(out, member.entry, member.example)
  for i, param in ipairs(params) do words[i] = ("%s%s: %s"):format(param.name, param.optional and "?" or "", param.type) end
  out[#out + 1] = ("---@class %s"):format(called)
  out[#out + 1] = ("---@overload fun(%s): %s"):format(table.concat(words, ", "), table.concat(results(member.entry), ", "))
  out[#out + 1] = ("%s = {}\n"):format(called)
end

-- ---- files ----

local OPERATORS = { __add = "add", __sub = "sub", __mul = "mul", __div = "div", __unm = "unm", __len = "len", __pow = "pow",
  __call = "call" }

local function class_file(page)
  local out = { "---@meta\n" }
  for line in (page.entry.doc or ""):gmatch "[^\n]+" do out[#out + 1] = "---" .. line end
  out[#out + 1] = "---@class " .. page.id
  for _, member in ipairs(page.members) do
    local kind, entry = member.entry.kind, member.entry
    if kind == "field" then
      local result = entry.signature:match "%->%s*(.+)$" or "any"
      out[#out + 1] = ("---@field %s %s %s"):format(member.short, result_type(split(result)[1] or "any"), (entry.doc
        or ""):gsub("%s+", " "))
    elseif OPERATORS[member.short] then
      local result = result_type(split(entry.signature:match "%->%s*(.+)$" or "any")[1] or "any")
      local unary = member.short == "__unm" or member.short == "__len"
      out[#out + 1] = ("---@operator %s%s: %s"):format(OPERATORS[member.short], unary and "" or "(any)", result)
    end
  end
  out[#out + 1] = "local class = {}\n"
  for _, member in ipairs(page.members) do
    if member.entry.kind == "method" then define(out, "class:" .. member.short, member) end
  end
  return table.concat(out, "\n") .. "\n"
end

local function library_body(out, page)
  for _, member in ipairs(page.members) do
    if member.entry.kind == "function" and member.name ~= "version" then
      local callable = pages.reference[member.name .. ".plan"] or pages.reference[member.name .. ".resume"]
        or pages.reference[member.name .. ".from_json"]
      local write = callable and define_callable or define
      write(out, "pn." .. member.name, member)
    end
  end
end

local function module_file()
  local out = { '---@meta penumbra\n', "---Penumbra: differentially private optimization.", "local pn = {}\n",
    "---The version of Penumbra.", "---@type string", "pn.version = nil\n" }
  for _, page in ipairs(pages.list) do
    if page.entry.kind == "library" and page.id ~= "pn" then
      for line in (page.entry.doc or ""):gmatch "[^\n]+" do out[#out + 1] = "---" .. line end
      local class = page.entry.signature:match "%-> ([%w_]+)$"
      out[#out + 1] = ("---@type table%s"):format(class and "|fun(values): pn." .. class or "")
      out[#out + 1] = ("pn.%s = {}\n"):format(page.id)
    end
  end
  for _, page in ipairs(pages.list) do
    if page.entry.kind == "library" then library_body(out, page) end
  end
  out[#out + 1] = "return pn\n"
  return table.concat(out, "\n")
end

-- { file = text }
function luals.all()
  local files = { ["penumbra.lua"] = module_file() }
  for _, page in ipairs(pages.list) do
    if page.entry.kind == "class" then files[page.id .. ".lua"] = class_file(page) end
  end
  return files
end

return luals
