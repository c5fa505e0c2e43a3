-- site.lua -- the frame around the pages: one template, the navigation, a page for each group, the index of the search.  It works
-- from a folder: nothing is fetched, and without scripts all but the search is there.
-- Depends on: markup.lua, search.lua, pages.lua (the version); site/style.css, site/search.js.  Used by: docs.lua.
--
-- A page is { id=, file=, title=, content=, class=, rows= }, where it is a document also { summary=, sections=, before=, after= }.
local markup = require "markup"
local search = require "search"
local version = require "pages".version
local escape = markup.escape

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local site = {}

local TEMPLATE = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title - Penumbra $version</title>
<link rel="stylesheet" href="style.css">
<script src="search.js" defer></script>
</head>
<body>
<header>
<a class="brand" href="index.html"><i></i>Penumbra <small>$version</small></a>
<div class="tabs">$tabs</div>
<div id="search"></div>
<label for="menu" class="menu">Menu</label>
</header>
<input type="checkbox" id="menu" aria-label="Menu">
<nav aria-label="Contents">
$navigation</nav>
<main class="$class">
$content</main>
</body>
</html>
]]

local function link(page, title, here_id)
  return ('<a%s href="%s">%s</a>'):format(page.id == here_id and ' class="here"' or "", page.file, escape(title or page.title))
end

-- The headings of a page, below its place in the navigation.
local function outline(page)
  local out = {}
  for _, section in ipairs(page.sections or {}) do
    if section.level == 2 then
      out[#out + 1] = ('<li><a href="#%s">%s</a></li>\n'):format(section.id, escape(section.title))
    end
  end
  return #out > 1 and '<ul class="outline">\n' .. table.concat(out) .. "</ul>\n" or ""
end

-- The group of the page is open, and under the page stands what is on it.
local function navigation(groups, page)
  local out = {}
  for _, group in ipairs(groups) do
    local rows, open = {}, group.front == page
    for i, one in ipairs(group.pages) do
      local below = one == page and "\n" .. outline(page) or ""
      rows[i] = "<li>" .. link(one, not group.title and "Start", page.id) .. below .. "</li>\n"
      open = open or one == page
    end
    if group.title then
      out[#out + 1] = ("<details%s><summary>%s</summary>\n<ul>\n%s</ul>\n</details>\n"):format(open and " open" or "",
        escape(group.title), table.concat(rows))
    else
      out[#out + 1] = '<ul class="start">\n' .. table.concat(rows) .. "</ul>\n"
    end
  end
  return table.concat(out)
end

local function neighbours(page)
  if not page.before and not page.after then return "" end
  return ('<div class="neighbours">%s%s</div>\n'):format(
    page.before and ('<a href="%s">&larr; %s</a>'):format(page.before.file, escape(page.before.title)) or "<span></span>",
    page.after and ('<a href="%s">%s &rarr;</a>'):format(page.after.file, escape(page.after.title)) or "")
end

-- A page that lists the pages of a group with their summaries.
local function front(group)
  local out = { ("<h1>%s</h1>\n<p>%s</p>\n<dl>\n"):format(escape(group.title), escape(group.about)) }
  for _, page in ipairs(group.pages) do
    out[#out + 1] = ("<dt>%s</dt>\n<dd>%s</dd>\n"):format(link(page), page.summary)
  end
  out[#out + 1] = "</dl>\n"
  return { id = group.id, file = group.id .. ".html", title = group.title, class = "document", content = table.concat(out) }
end

local function read(name)
  local file <close> = assert(io.open(here .. "site/" .. name))
  return file:read "a"
end

-- groups: { {id=, title=, about=, pages=}, ... }, in the order of the navigation; one with `about` gets a page that lists its
-- pages.  Returns { file = text }.
function site.all(groups)
  local files, fronts = { ["style.css"] = read "style.css", ["search.js"] = read "search.js",
    ["search-index.js"] = search(groups) }, {}
  for _, group in ipairs(groups) do
    if group.about then group.front = front(group) end
    fronts[#fronts + 1] = group.front
  end
  local function frame(page)
    local tabs = {}
    for i, one in ipairs(fronts) do tabs[i] = link(one, nil, page.id) end
    local parts = { title = escape(page.title), version = version, tabs = table.concat(tabs, "\n"), class = page.class,
      navigation = navigation(groups, page), content = page.content .. neighbours(page) }
    assert(not files[page.file], page.file .. " is there twice")
    files[page.file] = TEMPLATE:gsub("%$(%l+)", parts)
  end
  for _, page in ipairs(fronts) do frame(page) end
  for _, group in ipairs(groups) do
    for _, page in ipairs(group.pages) do frame(page) end
  end
  return files
end

return site
