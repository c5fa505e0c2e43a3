-- reader.lua -- a reader for pandoc: all Markdown documents in one process, with their links made links between pages.
--   SITE_LINKS=FILE pandoc --from reader.lua ... DOCUMENT ...
-- FILE is Lua: {pages = {path = page}, pictures = {path = copy}, names = {name of the reference = page with anchor}}.
-- Depends on: pandoc 2.17 or later.  Used by: documents.lua, which splits what comes out at <!--document PATH--> and <!--end-->.
local links = dofile(os.getenv "SITE_LINKS")

-- "tests/bench" and "../build" -> "tests/build"
local function resolved(folder, target)
  local parts = {}
  for part in (folder .. "/" .. target):gmatch "[^/]+" do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

-- A source file is not part of the site: its path is shown where the text of the link does not have it.
local function unlinked(content, path)
  if not pandoc.utils.stringify(content):find(path:match "[^/]+$", 1, true) then
    content:extend { pandoc.Str " (", pandoc.Code(path), pandoc.Str ")" }
  end
  return content
end

local function link(folder, it)
  local path, anchor = it.target:match "^([^#]*)(.*)$"
  if path == "" or path:find "^%a[%w+.-]*:" then return it, false end
  path = resolved(folder, path)
  if not links.pages[path] then return unlinked(it.content, path), false end
  it.target = links.pages[path] .. anchor
  return it, false
end

-- The page of a document by its path, or by the end of it that no other has.
local function document(text)
  local ending, found = "/" .. text, nil
  for path, page in pairs(text:find "%.md$" and links.pages or {}) do
    if path == text then return page end
    if path:sub(-#ending) == ending then found = found == nil and page end
  end
  return found
end

-- The page of a document or of an entry whose name this code is: `runtime/oracle.md`, `pn.set.l1_ball`, `pn.fit:card()`.
local function code(it)
  local name = it.text:match "^[%w_.:]+" or ""
  local rest = it.text:sub(#name + 1)
  local page = document(it.text)
  if not page and name:find "%w[.:]%w" and (rest == "" or rest:find "^%b()$" or rest:find "^%b{}$") then
    page = links.names[name] or links.names[name:match "^pn%.(.*)$"]
  end
  return page and pandoc.Link({ it }, page), false
end

local function read(path, text)
  local folder = path:match "^(.*)/" or "."
  return pandoc.read(text, "gfm+tex_math_dollars"):walk {
    traverse = "topdown",
    Header = function(it) return it, false end,
    Link = function(it) return link(folder, it) end,
    Code = code,
    Image = function(it)
      it.src = links.pictures[resolved(folder, it.src)] or it.src
      return it
    end,
    Note = function(it)
      return { pandoc.Str " (", pandoc.Span(pandoc.utils.blocks_to_inlines(it.content)), pandoc.Str ")" }
    end,
    CodeBlock = function(it)
      local shown = "\n" .. it.text
      if #it.classes == 0 and (shown:find "\npn> " or shown:find "\n%$ ") then it.classes = { "session" } end
      return it
    end,
  }.blocks
end

function Reader(inputs)
  local blocks = pandoc.List()
  for _, input in ipairs(inputs) do
    blocks:insert(pandoc.RawBlock("html", "<!--document " .. input.name .. "-->"))
    blocks:extend(read(input.name, input.text))
    blocks:insert(pandoc.RawBlock("html", "<!--end-->"))
  end
  return pandoc.Pandoc(blocks)
end
