-- html.lua -- the reference as pages of the site: one for each library and class, and the list of all.
-- Depends on: pages.lua, markup.lua, derivations.lua, penumbra.theory.  Used by: docs.lua.
local pages = require "pages"
local derivations = require "derivations"
local theory_of = require "penumbra.theory"
local markup = require "markup"
local escape = markup.escape

local html = {}

local page_of_document = {} -- { path = page }

local REVEALS = {
  nothing = "nothing about the records: public facts and plans",
  paid = "only what a charged mechanism released",
  raw = "values computed from the records without noise: not for publication",
}
local HEADINGS = { ["function"] = "Functions", field = "Fields", method = "Methods", meta = "Operators" }

local function link(name, text)
  local page = pages.page_of[name]
  local fragment = page.id == name and "" or "#" .. escape(name)
  return ('<a href="%s%s">%s</a>'):format(page.file, fragment, escape(text or name))
end

-- Names in running text become links; everything else is escaped.
local function linked(text, except)
  local out, position = {}, 1
  while true do
    local from, word, to = text:match("()(%f[%a_][%a_][%w_]*[.:][%a_][%w_.:]*)()", position)
    if not from then break end
    local kept = word:gsub("[.:]+$", "")
    local name = pages.named(kept)
    out[#out + 1] = escape(text:sub(position, from - 1))
    out[#out + 1] = name and name ~= except and link(name, kept) or escape(kept)
    position = to - (#word - #kept)
  end
  out[#out + 1] = escape(text:sub(position))
  return (table.concat(out):gsub("`([^`]+)`", "<code>%1</code>"))
end

-- What stands behind the arrow: "-> set" means an object of pn.set.
local function signature(text, name)
  local head, tail = text:match "^(.*)( %-> .*)$"
  if not head then return escape(text) end
  return escape(head) .. escape(tail):gsub("%f[%w_.][%a_.]+", function(word)
    local class = pages.by_id["pn." .. word] and "pn." .. word or pages.by_id[word] and word
    if word == "data" then class = "pn.dataset" elseif word == "sampling" then class = "pn.block_sampling" end
    local known = class and pages.by_id[class]
    return known and known.entry.kind == "class" and class ~= name and ('<a href="%s">%s</a>'):format(known.file, word) or nil
  end)
end

local function number(value)
  return math.type(value) == "float" and math.tointeger(value) and ("%d"):format(math.tointeger(value)) or tostring(value)
end

local function options(params)
  if not params or #params == 0 then return "" end
  local rows = { '<div class="scroll"><table class="options"><tr><th>option</th><th>is</th><th>default</th><th></th></tr>\n' }
  for _, param in ipairs(params) do
    local expects = param.expects or ""
    if param.choices and not expects:find(param.choices[1] or "", 1, true) then
      local names = table.concat(param.choices, ", ")
      expects = expects:find("^one of the listed names,") and expects:gsub("^one of the listed names", names, 1) or names
    end
    local default = param.required and "required" or param.default ~= nil and number(param.default) or ""
    rows[#rows + 1] = ("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n"):format(
      escape(param.name), escape(expects), escape(default), linked(param.doc or ""))
  end
  rows[#rows + 1] = "</table></div>\n"
  return table.concat(rows)
end

-- Where the constants are derived; the section that explains the lines of a plan, where the document has one.
local function theory(name)
  local path = theory_of(name)
  if not path then return "" end
  local page = page_of_document[path]
  if not page then return ('<p class="small">Theory: <code>%s</code></p>\n'):format(path) end
  local id, heading = derivations.section(page)
  return ('<p class="small">Theory: <a href="%s">%s</a>%s</p>\n'):format(page.file, escape(page.title),
    id and ('; <a href="%s#%s">%s</a>'):format(page.file, id, escape(heading)) or "")
end

local function body(entry, example, name)
  local out = { "<p>", linked(entry.doc or "", name), "</p>\n", options(entry.params) }
  if example then out[#out + 1] = "<pre>" .. markup.code(example) .. "</pre>\n" end
  if entry.kind ~= "library" and entry.kind ~= "class" then
    out[#out + 1] = ('<p class="small">Reveals <span class="%s">%s</span>.</p>\n'):format(entry.reveals, REVEALS[entry.reveals]
      or "unknown")
  end
  if entry.source then out[#out + 1] = ('<p class="small">Source: %s</p>\n'):format(escape(entry.source)) end
  return table.concat(out) .. theory(name)
end

-- ---- pages ----

local function first_sentence(text)
  return (text or ""):match "^(.-[^.]%.)%s" or text or "" -- "1 .. K" is no end
end

-- What is on a page, in its order.
local function members(page)
  local out = {}
  for _, member in ipairs(page.members) do
    local beside = member.short:match "^(.*)%.plan$" -- of a solver that is listed
    if member.entry.kind ~= "meta" and not (beside and pages.reference[page.id .. "." .. beside]) then
      out[#out + 1] = link(member.name, member.short)
    end
  end
  return table.concat(out, "\n")
end

local function content(page)
  local out = { "<h1>", escape(page.id), "</h1>\n" }
  if page.entry.kind == "library" and page.entry.signature ~= page.id then
    out[#out + 1] = "<h3>" .. signature(page.entry.signature, page.id) .. "</h3>\n"
  end
  out[#out + 1] = body(page.entry, page.example, page.id)
  if #page.members > 5 then out[#out + 1] = '<p class="members">' .. members(page) .. "</p>\n" end
  local heading
  for _, member in ipairs(page.members) do
    if member.entry.kind ~= heading then
      heading = member.entry.kind
      out[#out + 1] = ("<h2>%s</h2>\n"):format(HEADINGS[heading])
    end
    out[#out + 1] = ('<section id="%s">\n<h3>%s</h3>\n%s</section>\n'):format(
      escape(member.name), signature(member.entry.signature, page.id),
      body(member.entry, member.example, member.name))
  end
  return table.concat(out)
end

-- What a search finds: the names of options, too.
local function row(url, name, entry)
  local more = {}
  for i, param in ipairs(entry.params or {}) do more[i] = param.name end
  return { url, name, entry.kind, markup.summed_up(entry.doc or "", table.concat(more, " ")) }
end

local function rows(page)
  local out = { row(page.file, page.id, page.entry) }
  for _, member in ipairs(page.members) do
    if member.entry.kind ~= "meta" then
      out[#out + 1] = row(page.file .. "#" .. member.name, member.name, member.entry)
    end
  end
  return out
end

-- All names, as { name = address }.
function html.names()
  local out = {}
  for name in pairs(pages.reference) do
    local page = pages.page_of[name]
    out[name] = page.file .. (page.id == name and "" or "#" .. name)
  end
  return out
end

local function index_page(groups)
  local out = { "<h1>Reference</h1>\n<p>Penumbra as <code>help</code> shows it.  Each entry has its options with what they take, "
    .. "an example that runs as it stands, what it reveals, and the paper.</p>\n" }
  for _, group in ipairs(groups) do
    out[#out + 1] = ('<h2>%s</h2>\n<div class="scroll"><table>\n'):format(group.title)
    for _, page in ipairs(group.pages) do
      out[#out + 1] = ('<tr><td><a href="%s">%s</a></td><td>%s</td></tr>\n'):format(page.file, escape(page.title),
        escape(page.about))
    end
    out[#out + 1] = "</table></div>\n"
  end
  out[#out + 1] = '<h2>All names</h2>\n<p class="members">'
  local names = {}
  for name, entry in pairs(pages.reference) do
    if entry.kind ~= "meta" and entry.kind ~= "field" then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do out[#out + 1] = link(name) .. "\n" end
  out[#out + 1] = "</p>\n"
  return { id = "reference", file = "reference.html", title = "Reference", class = "reference", content = table.concat(out) }
end

-- The page of all, and the groups { id=, title=, pages= }.  c: the pages of the headers; documents: { path = page }, for links to
-- derivations, as far as there are any.
function html.groups(c, documents)
  page_of_document = documents
  local groups = { { id = "libraries", title = "Libraries", pages = {} }, { id = "objects", title = "Objects", pages = {} },
    { id = "c", title = "C", pages = c } }
  for _, page in ipairs(pages.list) do
    local group = page.entry.kind == "library" and groups[1] or groups[2]
    table.insert(group.pages, { id = page.id, file = page.file, title = page.id, about = first_sentence(page.entry.doc),
      class = "reference", content = content(page), rows = rows(page) })
  end
  return index_page(groups), groups
end

return html
