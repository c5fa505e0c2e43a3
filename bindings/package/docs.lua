-- docs.lua -- make docs: the site, the manual page and the annotations for editors.  The reference in all of them is the table that
-- help shows; the other pages of the site are the Markdown documents of the source tree, for which pandoc is needed.
--   penumbra docs.lua FOLDER FILE ...      writes FOLDER/html, FOLDER/man, FOLDER/luals
-- FILE: the installed headers, the Markdown documents and the pictures that these show, told apart by the ends of their names.
-- Depends on: site.lua, html.lua, c_pages.lua, documents.lua, man.lua, luals.lua beside it.  Used by: Makefile.
local here = arg[0]:match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local documents = require "documents"
local html = require "html"
local site = require "site"

local out, headers, texts, drawings = arg[1], {}, {}, {}
local kinds = { h = headers, md = texts, svg = drawings }
for i = 2, #arg do table.insert(kinds[arg[i]:match "%.(%l+)$"], arg[i]) end

local function write(folder, files)
  assert(os.execute(("mkdir -p '%s'"):format(folder)))
  for name, text in pairs(files) do
    local file <close> = assert(io.open(folder .. "/" .. name, "w"))
    assert(file:write(text))
  end
end

-- { NAME = text } and { path = "pictures/NAME" }
local function pictures()
  local files, places = {}, {}
  for _, path in ipairs(drawings) do
    local file <close> = assert(io.open(path))
    local name = path:match "[^/]+$"
    assert(not files[name], path .. ": two pictures have this name")
    files[name], places[path] = file:read "a", "pictures/" .. name
  end
  return files, places
end

-- The documents by group, or none where pandoc is missing.
local function documented(places)
  if documents.possible() then return documents.groups(texts, places, html.names()) end
  io.stderr:write(("docs: there is no pandoc, so the site has the reference alone; left out are its start page and %d other "
    .. "documents, which are Markdown files of the source tree.  Install pandoc and run make docs again.\n"):format(#texts - 1))
  return {}
end

local files, places = pictures()
local by_id = documented(places)
local page_of = {}
for _, group in pairs(by_id) do
  for _, page in ipairs(group.pages) do page_of[page.path] = page end
end
local index, reference = html.groups(require "c_pages"(headers), page_of)
reference[1].front = index
if not by_id.start then index.file = "index.html" end

local groups = {}
for _, group in ipairs { "start", "handbook", "theory", "reference", "examples", "project" } do
  for _, one in ipairs(group == "reference" and reference or { by_id[group] }) do groups[#groups + 1] = one end
end
write(out .. "/html", site.all(groups))
write(out .. "/html/pictures", files)
write(out .. "/luals", require("luals").all())
write(out .. "/man", { ["penumbra.1"] = require "man" })
