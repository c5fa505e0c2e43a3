-- documents.lua -- the Markdown documents of the source tree as pages: the README is the start page, then come the handbook, the
-- derivations beside the code, examples and measurements, and what concerns the project.  Pandoc reads them all in one process.
-- Depends on: reader.lua, markup.lua, derivations.lua, penumbra.guide (the order of the handbook), pandoc.  Used by: docs.lua.
local derivations = require "derivations"
local markup = require "markup"
local guide = require "penumbra.guide"

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local documents = {}

-- The first pattern that fits says where a document belongs; `order`: beginnings of paths that come first, in this order.
local GROUPS = {
  { id = "start", pattern = "^README%.md$" },
  { id = "handbook", title = "Handbook", pattern = "^stdlib/handbook/", about = "What to do, one task a page." },
  { id = "project", title = "Project", pattern = "^[^/]+%.md$", order = { "CONTRIBUTING", "SECURITY", "bindings", "runtime" },
    about = "How to contribute, what is defended, formats, and what changed." },
  { pattern = "^bindings/", into = "project" },
  { pattern = "^runtime/model/", into = "project" },
  { pattern = "^runtime/README%.md$", into = "project" },
  { id = "theory", title = "Theory", pattern = "^runtime/", about = "Where every constant of a plan comes from.",
    order = { "runtime/geometry", "runtime/random", "runtime/privacy", "runtime/continual", "runtime/oracle",
      "runtime/solvers/engine", "runtime/solvers/first_order", "runtime/solvers/frank_wolfe", "runtime/solvers/variance_reduced",
      "runtime/solvers/perturbation", "runtime/solvers/zeroth_order", "runtime/solvers/second_order", "runtime/federated",
      "runtime/recipe" } },
  { pattern = "^tests/fuzz/", into = "project" },
  { pattern = "^tests/", into = "examples" },
  { id = "examples", title = "Examples", pattern = "^examples/", about = "Programs to read and to run, and what was measured.",
    order = { "examples/embed", "examples" } },
}

local function group_of(path)
  for _, group in ipairs(GROUPS) do
    if path:find(group.pattern) then return group.into or group.id end
  end
  error(path .. ": documents.lua does not say where this document belongs")
end

-- "runtime/random/noise.md" -> "theory.noise.html", "examples/embed/README.md" -> "examples.embed.html"
local function file_of(path, group)
  if group == "start" then return "index.html" end
  local name = path:gsub("%.md$", ""):gsub("/README$", "")
  if group == "handbook" or group == "theory" then return group .. "." .. name:match "[^/]+$" .. ".html" end
  return name:gsub("/", "."):lower() .. ".html"
end

-- The place of a path in its group: what `order` names, and then by path.
local function rank(path, order)
  for i, beginning in ipairs(order) do
    if path:sub(1, #beginning) == beginning then return ("%03d %s"):format(i, path) end
  end
  return "999 " .. path
end

-- Pages without their contents, in groups, and { path = file }.
local function places(paths)
  local groups, files, taken = {}, {}, {}
  for _, path in ipairs(paths) do
    local id = group_of(path)
    local file = file_of(path, id)
    assert(not taken[file], ("%s and %s would be one page, %s"):format(path, taken[file], file))
    groups[id] = groups[id] or {}
    table.insert(groups[id], { id = file:gsub("%.html$", ""), file = file, path = path })
    files[path], taken[file] = file, path
  end
  for _, group in ipairs(GROUPS) do
    local order = group.id == "handbook" and documents.handbook_order() or group.order or {}
    table.sort(groups[group.id] or {}, function(a, b) return rank(a.path, order) < rank(b.path, order) end)
  end
  return groups, files
end

-- ---- pandoc ----

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function as_lua(tables)
  local out = { "return {" }
  for name, map in pairs(tables) do
    out[#out + 1] = name .. " = {"
    for key, value in pairs(map) do out[#out + 1] = ("[%q] = %q,"):format(key, value) end
    out[#out + 1] = "},"
  end
  return table.concat(out, "\n") .. "}\n"
end

-- { path = HTML }
local function converted(paths, links)
  local name = os.tmpname()
  local file <close> = assert(io.open(name, "w"))
  assert(file:write(as_lua(links)) and file:flush())
  local words = {}
  for i, path in ipairs(paths) do words[i] = quoted(path) end
  local pipe = assert(io.popen(("SITE_LINKS=%s pandoc --from %s --to html --mathml --wrap=none --no-highlight %s"):format(
    quoted(name), quoted(here .. "reader.lua"), table.concat(words, " "))))
  local all = pipe:read "a"
  local fine = pipe:close()
  os.remove(name)
  assert(fine, "pandoc failed")
  local out = {}
  for path, html in all:gmatch "<!%-%-document ([^\n]-)%-%->\n(.-)<!%-%-end%-%->" do out[path] = html end
  return out
end

function documents.possible()
  return os.execute "command -v pandoc >/dev/null" == true
end

-- ---- pages ----

local function coloured(html)
  local function with(colours)
    return function(open, text, close) return open .. colours(markup.plain(text)) .. close end
  end
  html = html:gsub('(<pre class="lua"><code>)(.-)(</code></pre>)', with(markup.code))
  return (html:gsub('(<pre class="session"><code>)(.-)(</code></pre>)', with(markup.session)))
end

-- Headings of the second and third level: {id=, title=, level=, text=}.
local function sections(html)
  local out = {}
  for level, id, title, at in html:gmatch '<h([23]) id="([^"]*)">(.-)</h%1>()' do
    local text = html:sub(at, (html:find("<h[1-3] ", at) or 0) - 1)
    out[#out + 1] = { id = id, title = markup.plain(title), level = tonumber(level),
      text = markup.plain(text) }
  end
  return out
end

local function fill(page, html, group)
  page.title = markup.plain(assert(html:match "<h1[^>]*>(.-)</h1>", page.path .. " has no title: a first line that begins with #"))
  page.summary = html:match "</h1>%s*<p>(.-)</p>" or ""
  page.sections, page.class = sections(html), "document"
  local lines
  html, lines = derivations.tables(html, page)
  page.content = coloured(html:gsub("<table", '<div class="scroll"><table'):gsub("</table>", "</table></div>"):gsub(
    '(<h[234] id="([^"]*)">.-)(</h[234]>)', '%1 <a class="anchor" href="#%2">#</a>%3'))
  page.rows = { { page.file, page.title, group, markup.summed_up(markup.plain(page.summary)) } }
  for _, section in ipairs(page.sections) do
    page.rows[#page.rows + 1] = { page.file .. "#" .. section.id, section.title, page.title, markup.summed_up(section.text) }
  end
  table.move(lines, 1, #lines, #page.rows + 1, page.rows)
end

-- { path = file }
function documents.files(paths)
  local _, files = places(paths)
  return files
end

-- paths: of all Markdown documents; pictures: { path = file on the site }; names: { name of the reference = address }.
-- The groups { id=, title=, about=, pages= } that have pages, by their id.
function documents.groups(paths, pictures, names)
  local by_group, files = places(paths)
  local html = converted(paths, { pages = files, pictures = pictures, names = names })
  local out = {}
  for _, group in ipairs(GROUPS) do
    local list = by_group[group.id]
    for i, page in ipairs(list or {}) do
      fill(page, assert(html[page.path], page.path), group.title or "Penumbra")
      if group.id == "handbook" then page.before, page.after = list[i - 1], list[i + 1] end
    end
    if list and group.id then out[group.id] = { id = group.id, title = group.title, about = group.about, pages = list } end
  end
  return out
end

-- The order that guide() has.
function documents.handbook_order()
  local order = {}
  for i, page in ipairs(guide.pages()) do order[i] = "stdlib/handbook/" .. page.id .. ".md" end
  return order
end

return documents
