-- help.lua -- help(x): signature, meaning, options, what it reveals, source, all from the reference; for other words what of the
-- reference and the handbook holds them.
-- Depends on: penumbra.core, penumbra.prompt.names, penumbra.prompt.terms, penumbra.wrap, penumbra.colour, penumbra.words,
-- penumbra.usage (examples), penumbra.guide, penumbra.theory.
-- Used by: penumbra (pn.help), the prompt.
local pn = require "penumbra.core"
local names = require "penumbra.prompt.names"
local terms = require "penumbra.prompt.terms"
local wrap = require "penumbra.wrap"
local colour = require "penumbra.colour"
local words = require "penumbra.words"
local guide = require "penumbra.guide"
local theory = require "penumbra.theory"

local MOST_ROWS, MOST_PAGES = 8, 3 -- of what words find

local reveals_in_words = {
  nothing = "nothing about the records: public facts and plans.",
  paid = "only what a charged mechanism released.",
  raw = "values computed from the records without noise: not for publication.",
}

-- What analysts do not get, though it reveals no more than others.
local touches = {
  files = "files",
  processes = "other processes and machines",
  clock = "the clock",
  callbacks = "functions of yours, which it hands values that were not released",
  budgets = "budgets",
  seeded = "noise that can be repeated",
  failure = "the records in whether it fails",
  modules = "modules that it loads",
}

local function touches_in_words(list)
  return (list:gsub("%w+", touches)) .. "."
end

-- ---- text ----

-- What fits in a list: the first sentence, and of a long one what stands before a colon or semicolon.
local function first_sentence(text)
  local sentence = (text or ""):match "^(.-%.)%s" or text or ""
  local head = #sentence > 56 and sentence:match "^(.-[%w)])[;:]%s"
  local inside = head and head:gsub("%b()", ""):gsub("%b{}", ""):find "[({]" -- a bracket that would stay open
  return head and not inside and head .. "." or sentence
end

-- Rows { left, right } as two columns.
local function columns(rows)
  local out, width = {}, 0
  for _, row in ipairs(rows) do
    if #row[1] <= 24 then
      width = math.max(width, #row[1])
    end
  end
  for _, row in ipairs(rows) do
    if #row[1] <= width then
      out[#out + 1] = wrap("  " .. row[1] .. (" "):rep(width - #row[1] + 2), row[2], width + 4)
    else
      out[#out + 1] = "  " .. row[1] .. "\n" .. wrap((" "):rep(width + 4), row[2], width + 4)
    end
  end
  return table.concat(out)
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- ---- entries ----

local function number_text(value)
  return math.tointeger(value) and tostring(math.tointeger(value)) or tostring(value)
end

-- "the largest l1 norm (a positive number)"
local function meaning_text(param)
  local text = param.expects or ""
  if param.choices and not text:find(param.choices[1] or "", 1, true) then
    text = text .. ": " .. table.concat(param.choices, ", ")
  end
  local doc = param.doc or ""
  return doc == "" and text or ("%s (%s)"):format(doc, text)
end

local function default_text(param)
  return param.required and "required" or param.default ~= nil and number_text(param.default) or ""
end

-- Names, defaults, and what they mean with their range.
local function options_text(params)
  if not params or #params == 0 then
    return ""
  end
  local left, right, rows = #"Options", 0, {}
  for _, param in ipairs(params) do
    if #param.name <= 22 then left = math.max(left, #param.name + 2) end
    right = math.max(right, #default_text(param))
  end
  for i, param in ipairs(params) do
    local name = ("  %-" .. left - 2 .. "s"):format(param.name)
    local default = default_text(param)
    local lead = (name .. "  " .. default .. (" "):rep(right - #default)):gsub("%s+$", "")
    local indent = left + (right > 0 and right + 4 or 2)
    local long = #lead > indent - 2
    rows[i] = (long and lead .. "\n" or "") .. wrap(long and (" "):rep(indent) or lead .. (" "):rep(indent - #lead),
      meaning_text(param), indent)
  end
  local head = right > 0 and ("Options%sdefault"):format((" "):rep(left - 5)) or "Options"
  return "\n" .. head .. "\n" .. table.concat(rows)
end

-- A line of code that is too long for the screen, broken behind a comma or a blank.
local function broken(line)
  local out, lead = {}, "  "
  local code, comment = line:match "^(.-)%s+(%-%- .*)$"
  if code and #line > 78 then
    if #code + #comment > 76 then out[1] = lead .. comment end
    line = out[1] and code or code .. "  " .. comment
  end
  while #lead + #line > 80 do
    local at = line:sub(1, 78 - #lead):match "^.*[,;]()%s" or line:sub(1, 78 - #lead):match "^.*%s()"
    if not at or at == 1 then break end
    local inside = select(2, line:sub(1, at - 1):gsub('"', "")) % 2 == 1 -- of a string: "\\z" skips to where it goes on
    out[#out + 1] = lead .. line:sub(1, at - 1) .. (inside and (line:find("^%s", at) and " \\z" or "\\z") or "")
    lead, line = (" "):rep(6), line:sub(at):gsub("^%s+", "")
  end
  out[#out + 1] = lead .. line
  return table.concat(out, "\n")
end

-- A program of a few lines that runs.
local function example_text(name)
  local fine, usage = pcall(require, "penumbra.usage")
  local code = fine and usage[name]
  if not code then return "" end
  local lines = {}
  for line in (code:gsub("%s+$", "") .. "\n"):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line == "" and "" or broken(line)
  end
  return "\nExample\n" .. table.concat(lines, "\n") .. "\n"
end

-- Entries that belong to a library ("set.") or class ("pn.vec:", "pn.vec."), as rows of a heading each.
local function members_text(name)
  local groups = { ["function"] = {}, field = {}, method = {}, meta = {} }
  for _, key in ipairs(sorted_keys(pn.reference())) do
    local rest = key:sub(1, #name) == name and key:sub(#name + 1):match "^[.:](.+)$"
    local entry = pn.reference()[key]
    if rest and groups[entry.kind] then
      local shown = entry.kind == "meta" and entry.signature or rest
      table.insert(groups[entry.kind], { shown, first_sentence(entry.doc) })
    end
  end
  local out = {}
  for _, group in ipairs { { "function", "Functions" }, { "field", "Fields" }, { "method", "Methods" },
                           { "meta", "Operators" } } do
    if #groups[group[1]] > 0 then
      out[#out + 1] = "\n" .. group[2] .. "\n" .. columns(groups[group[1]])
    end
  end
  return table.concat(out)
end

local function entry_text(name)
  local entry = pn.reference()[name]
  local out = { wrap("", entry.signature or name, 4), "\n", wrap("  ", entry.doc or "", 2), options_text(entry.params) }
  out[#out + 1] = members_text(name)
  out[#out + 1] = example_text(name)
  if entry.kind ~= "library" and entry.kind ~= "class" then
    out[#out + 1] = "\n" .. wrap("Reveals ", reveals_in_words[entry.reveals] or "unknown.", 8)
    if entry.touches then out[#out + 1] = wrap("Touches ", touches_in_words(entry.touches), 8) end
  end
  if entry.source then
    out[#out + 1] = wrap("Source: ", entry.source, 8)
  end
  local derivation = theory(name)
  if derivation then out[#out + 1] = wrap("Theory: ", derivation, 8) end
  return table.concat(out)
end

-- ---- the overview ----

-- What people come for, and what to type next.
local tasks = {
  { "learn", "lesson()" },
  { "train a model", 'guide "train a model"' },
  { "release a mean", 'help "query.mean"' },
  { "check a budget", 'session(), or print(ledger); guide "spend a budget"' },
  { "see a price first", 'help "event", help "calibrate"' },
  { "read a file", 'help "recipe", help "data.csv"' },
  { "pick a solver or a set", 'help "advise", guide "choose a constraint set"' },
  { "write a loss or a solver", 'guide "write a loss", guide "write a solver"' },
  { "compare runs", 'help "experiment", help "tune"' },
  { "draw", 'help "plot"' },
}

-- Names of the reference of one kind, as functions {"tune", ...}.
local function of_kind(kind)
  local found = {}
  for _, name in ipairs(sorted_keys(pn.reference())) do
    local fits = pn.reference()[name].kind == kind and (kind == "library" or kind == "class" or not name:find "[.:]")
    if fits then found[#found + 1] = name end
  end
  return found
end

-- Tasks and the libraries, as high as a screen of 24 lines with the prompt below it.
local function overview()
  local libraries = wrap("  ", table.concat(of_kind "library", ", "), 2)
  return table.concat {
    "Penumbra ", pn.version, ": differentially private optimization.\n\n",
    ("%-26s  type\n"):format "To", columns(tasks), "\nLibraries\n", libraries,
    '\nhelp "frank_wolfe", help "pn.vec:dot", help(object): a name or a value.\n',
    'help "logistic regression" looks for words, help(pn) lists every name,\nguide() lists the handbook.\n',
  }
end

-- Every library, function and class.
local function everything()
  local rows = {}
  for i, name in ipairs(of_kind "library") do rows[i] = { name, first_sentence(pn.reference()[name].doc) } end
  return table.concat {
    "Penumbra ", pn.version, ": differentially private optimization.\n\nLibraries\n", columns(rows),
    "\nFunctions\n", wrap("  ", table.concat(of_kind "function", ", "), 2),
    "\nObjects\n", wrap("  ", table.concat(of_kind "class", ", "), 2),
    '\nhelp "set" lists what a library has, help "pn.vec" what an object can do.\n',
  }
end

-- ---- asking ----

local function option_of_text(text, options)
  return ('"%s" is an option of:\n'):format(text:match "[%w_]+") .. columns(options)
end

-- Entries whose name, text or options have all words, best first; those of `but` are left out.
local function by_words(text, but)
  local wanted, found, rows = words.of(text), {}, {}
  for name, entry in pairs(#wanted > 0 and pn.reference() or {}) do
    local parts = { name, entry.signature or "", entry.doc or "", entry.source or "" }
    for _, param in ipairs(entry.params or {}) do parts[#parts + 1] = param.name .. " " .. (param.doc or "") end
    local points = not but[name] and words.score(table.concat(parts, "\n"), wanted)
    if points then
      local named = words.score(name .. "\n" .. first_sentence(entry.doc), wanted) or 0
      found[#found + 1] = { name = name, points = points + 100 * named }
    end
  end
  table.sort(found, function(a, b)
    if a.points ~= b.points then return a.points > b.points end
    return a.name < b.name
  end)
  for i = 1, math.min(MOST_ROWS, #found) do rows[i] = { found[i].name, first_sentence(pn.reference()[found[i].name].doc) } end
  return rows
end

-- Pages of the handbook; with `about`, those that are about the words, not those that have them somewhere.
local function handbook_text(text, about)
  local found = guide.find(text, MOST_PAGES, about)
  return #found > 0 and "\nHandbook\n" .. guide.rows_text(found) or ""
end

local function rows_of(found)
  local rows = {}
  for i, name in ipairs(found) do rows[i] = { name, first_sentence(pn.reference()[name].doc) } end
  return rows
end

-- A term of the field that the library calls otherwise.
local function term_text(text, found)
  local seen = { help = true }
  for _, name in ipairs(found) do seen[name] = true end
  local more, pages = by_words(text, seen), handbook_text(text)
  return ('For "%s" see:\n'):format(text) .. columns(rows_of(found))
    .. (#more > 0 and "\nReference\n" .. columns(more) or "") .. pages
end

local function unknown_text(text)
  local near, options = names.suggest(text, MOST_ROWS), names.with_option(text)
  local seen = { help = true } -- its text has examples of questions
  for _, name in ipairs(near) do seen[name] = true end
  local rows, more, pages = rows_of(near), by_words(text, seen), handbook_text(text)
  local out = #options > 0 and option_of_text(text, options) or ('Nothing is named "%s".'):format(text)
  if #options == 0 then
    local owner = text:match "^(.+)[.:][^.:]*$"
    if #rows + #more > 0 then
      out = out .. (#rows > 0 and "  " or "\n")
    elseif pages ~= "" then
      return out .. "\n" .. pages
    else
      return ("%s  %s shows what there is.\n"):format(out,
        owner and #names.matches(owner) == 1 and ('help "%s"'):format(owner) or "help()")
    end
  end
  return out .. (#rows > 0 and "Near it:\n" .. columns(rows) or "")
    .. (#more > 0 and "\nReference\n" .. columns(more) or "") .. pages
end

-- Names are tried as they are typed, then in small letters.
local function text_for_name(text)
  local found = names.matches(text)
  if #found == 0 then found = names.matches(text:lower()) end
  if #found == 0 then
    local others = terms.find(text)
    return others and term_text(text, others) or unknown_text(text)
  end
  local pages = text:find "[.:]" and "" or handbook_text(text, true)
  if #found == 1 then
    local options = found[1]:find "[.:]" and names.with_option(text) or {}
    return entry_text(found[1]) .. (#options > 0 and not text:find "[.:]" and "\n" .. option_of_text(text, options) or "") .. pages
  end
  return ('"%s" is the name of several:\n'):format(text) .. columns(rows_of(found)) .. pages
end

local function text_for_value(value)
  local name = names.of(value)
  if name then
    return entry_text(name)
  end
  return ("There is no help for this %s: it is not part of Penumbra.\n"):format(type(value))
end

-- ---- colour ----

local sections = {}
for word in ("Options Functions Fields Methods Operators Libraries Example Reference"):gmatch "%a+" do sections[word] = "names" end
sections.Objects, sections.Handbook, sections.To, sections.For = "text", "text", "text", "names"

-- Headings, the names on the left of a list, examples, and the words before what follows.
local function paint(text)
  if not colour.wanted() then return text end
  local section, out = nil, {}
  for line in text:gmatch "([^\n]*)\n" do
    local word = line:match "^(%a+)"
    if word and sections[word] and line:find("^" .. word .. "%s*%a*$") then
      section, line = word, colour.paint(line, "heading")
    elseif word then
      section = nil
      for _, lead in ipairs { "Reveals", "Source:", "Theory:" } do line = line:gsub("^" .. lead, colour.paint("%0", "heading")) end
    elseif section == "Example" then
      line = colour.code(line)
    elseif sections[section] == "names" then
      line = line:gsub("^  (%S+)", function(name) return "  " .. colour.paint(name, "name") end)
    end
    if #out == 0 then line = colour.paint(line, "heading") end
    out[#out + 1] = line .. "\n"
  end
  return table.concat(out)
end

local function write(text)
  io.write(paint(text))
end

local help = {}

function help.run(...)
  local x = ...
  if select("#", ...) == 0 then
    write(overview())
  elseif rawequal(x, pn) then
    write(everything())
  elseif x == nil then
    io.write 'This is nil.  Give help a name in quotes, as help "frank_wolfe", or nothing for an overview.\n'
  elseif type(x) == "string" then
    write(text_for_name(x))
  elseif rawequal(x, pn.help) then
    write(entry_text "help")
  else
    write(text_for_value(x))
  end
end

help.rows = {
  help = {
    signature = 'pn.help(x)',
    doc = 'Print what is known about x: a name ("frank_wolfe", "set.l1_ball", "pn.vec:dot"), a function, a library, '
      .. 'an object (then its class), pn for a list of every name, or nothing for tasks and what to type for each.  '
      .. 'Other words are looked up in the reference and the handbook, and a name that is not known is answered with the '
      .. 'nearest ones.  Returns nothing.',
    reveals = 'nothing', touches = 'modules',
    kind = 'function',
  },
}

return help
