-- html.lua -- the reference as HTML, a page for each library and class; works from a folder, without a server or script.
-- Depends on: pages.lua, c_pages.lua.  Used by: docs.lua.
local pages = require "pages"

local html = {}

local REVEALS = {
  nothing = "nothing about the records: public facts and plans",
  paid = "only what a charged mechanism released",
  raw = "values computed from the records without noise: not for publication",
}
local HEADINGS = { ["function"] = "Functions", field = "Fields", method = "Methods", meta = "Operators" }

html.css = [[
:root { --ink: #1d2330; --dim: #5b6475; --line: #d9dde5; --back: #ffffff; --soft: #f5f6f9;
  --link: #2a52be; --raw: #a33a2a; --paid: #2f7d4f }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ee; --dim: #9aa3b5; --line: #343b4a; --back: #161a22; --soft: #1e242f;
    --link: #8fb0ff; --raw: #f09080; --paid: #7fd0a0 }
}
* { box-sizing: border-box }
body { margin: 0; display: flex; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back) }
nav { width: 15rem; flex: none; height: 100vh; position: sticky; top: 0; overflow-y: auto; padding: 1.2rem; background: var(--soft);
  border-right: 1px solid var(--line); font-size: .9rem }
nav b { display: block; margin-top: 1rem; color: var(--dim); font-weight: 600 }
nav a { display: block; padding: .05rem 0 }
nav a.here { font-weight: 700; color: var(--ink) }
main { padding: 1.5rem 2.5rem 5rem; max-width: 62rem; min-width: 0; flex: 1 }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
h1 { font-size: 1.7rem; margin: 0 0 .5rem }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; color: var(--dim) }
section { border-top: 1px solid var(--line); padding: .9rem 0 .6rem; scroll-margin-top: 1rem }
h3[id] { scroll-margin-top: 1rem }
section:target, h3:target { background: var(--soft); box-shadow: 0 0 0 .8rem var(--soft) }
h3 { font: 600 .98rem/1.4 ui-monospace, monospace; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
h4 { margin: .9rem 0 .2rem; font-size: .95rem }
p { margin: .4rem 0 }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .6rem .8rem; overflow-x: auto;
  margin: .6rem 0;  font: .85rem/1.45 ui-monospace, monospace }
pre.comment { white-space: pre-wrap; overflow-wrap: break-word }
code { font: .92em ui-monospace, monospace }
table { border-collapse: collapse; margin: .6rem 0; font-size: .9rem; width: 100% }
th { text-align: left; color: var(--dim); font-weight: 600 }
th, td { padding: .2rem .8rem .2rem 0; vertical-align: top; border-bottom: 1px solid var(--line) }
td:first-child { font-family: ui-monospace, monospace; white-space: nowrap }
.small { color: var(--dim); font-size: .88rem }
.raw { color: var(--raw) } .paid { color: var(--paid) }
.menu { display: none }
@media (max-width: 50rem) {
  body { flex-direction: column }
  nav { order: 1; width: auto; height: auto; position: static; columns: 2; border: 0 }
  nav a { overflow-wrap: anywhere }
  main { padding: 1rem; width: 100% }
  .menu { display: block; text-align: right; font-size: .9rem }
}
]]

function html.escape(text)
  return (tostring(text):gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end
local escape = html.escape

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
  local rows = { "<table><tr><th>option</th><th>is</th><th>default</th><th></th></tr>\n" }
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
  rows[#rows + 1] = "</table>\n"
  return table.concat(rows)
end

local function body(entry, example, name)
  local out = { "<p>", linked(entry.doc or "", name), "</p>\n", options(entry.params) }
  if example then out[#out + 1] = "<pre>" .. escape(example) .. "</pre>\n" end
  if entry.kind ~= "library" and entry.kind ~= "class" then
    out[#out + 1] = ('<p class="small">Reveals <span class="%s">%s</span>.</p>\n'):format(entry.reveals, REVEALS[entry.reveals]
      or "unknown")
  end
  if entry.source then out[#out + 1] = ('<p class="small">Source: %s</p>\n'):format(escape(entry.source)) end
  return table.concat(out)
end

-- ---- pages ----

local function first_sentence(text)
  return (text or ""):match "^(.-[^.]%.)%s" or text or "" -- "1 .. K" is no end
end

local function navigation(here, extra)
  local out = { '<nav id="contents"><a href="index.html"><strong>Penumbra ', pages.version, "</strong></a>\n" }
  for _, group in ipairs { { "library", "Libraries" }, { "class", "Objects" } } do
    out[#out + 1] = "<b>" .. group[2] .. "</b>\n"
    for _, page in ipairs(pages.list) do
      if page.entry.kind == group[1] then
        out[#out + 1] = ('<a%s href="%s">%s</a>\n'):format(page.id == here and ' class="here"' or "", page.file, escape(page.id))
      end
    end
  end
  out[#out + 1] = "<b>C</b>\n"
  for _, page in ipairs(extra) do
    out[#out + 1] = ('<a%s href="%s">%s</a>\n'):format(page.id == here and ' class="here"' or "", page.file, escape(page.title))
  end
  out[#out + 1] = "</nav>\n"
  return table.concat(out)
end

-- A whole page.  `extra` are the pages that do not come from the table (C), for the navigation.
function html.page(id, title, content, extra)
  return table.concat {
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>', escape(title), " - Penumbra ", pages.version,
    '</title>\n<link rel="stylesheet" href="style.css">\n</head>\n<body>\n', navigation(id, extra),
    '<main>\n<a class="menu" href="#contents">Contents</a>\n', content, "</main>\n</body>\n</html>\n",
  }
end

-- What is on a page, in its order.
local function members(page)
  local out = {}
  for _, member in ipairs(page.members) do
    if member.entry.kind ~= "meta" then out[#out + 1] = link(member.name, member.short) end
  end
  return table.concat(out, "\n")
end

local function reference_page(page, extra)
  local out = { "<h1>", escape(page.id), "</h1>\n" }
  if page.entry.kind == "library" and page.entry.signature ~= page.id then
    out[#out + 1] = "<h3>" .. signature(page.entry.signature, page.id) .. "</h3>\n"
  end
  out[#out + 1] = body(page.entry, page.example, page.id)
  if #page.members > 5 then out[#out + 1] = "<p>" .. members(page) .. "</p>\n" end
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
  return html.page(page.id, page.id, table.concat(out), extra)
end

local function index_page(extra)
  local out = { "<h1>Penumbra ", pages.version,
    "</h1>\n<p>Differentially private optimization: the reference, as <code>help</code> shows it.  ",
    "Each entry has its options with what they take, an example that runs as it stands, what it reveals, and the paper.</p>\n" }
  for _, group in ipairs { { "library", "Libraries" }, { "class", "Objects" } } do
    out[#out + 1] = ("<h2>%s</h2>\n<table>\n"):format(group[2])
    for _, page in ipairs(pages.list) do
      if page.entry.kind == group[1] then
        out[#out + 1] = ('<tr><td><a href="%s">%s</a></td><td>%s</td></tr>\n'):format(page.file, escape(page.id),
          escape(first_sentence(page.entry.doc)))
      end
    end
    out[#out + 1] = "</table>\n"
  end
  out[#out + 1] = "<h2>C</h2>\n<table>\n"
  for _, page in ipairs(extra) do
    out[#out + 1] = ('<tr><td><a href="%s">%s</a></td><td>%s</td></tr>\n'):format(page.file, escape(page.title), escape(page.about))
  end
  out[#out + 1] = "</table>\n<h2>All names</h2>\n<p>"
  local names = {}
  for name, entry in pairs(pages.reference) do
    if entry.kind ~= "meta" and entry.kind ~= "field" then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do out[#out + 1] = link(name) .. "\n" end
  out[#out + 1] = "</p>\n"
  return html.page("index", "Reference", table.concat(out), extra)
end

-- { file = text }; `extra`: { {id=, file=, title=, about=, content=}, ... }.
function html.all(extra)
  local files = { ["style.css"] = html.css, ["index.html"] = index_page(extra) }
  for _, page in ipairs(pages.list) do files[page.file] = reference_page(page, extra) end
  for _, page in ipairs(extra) do files[page.file] = html.page(page.id, page.title, page.content, extra) end
  return files
end

return html
