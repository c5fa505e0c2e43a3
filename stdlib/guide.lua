-- guide.lua -- guide() lists the pages of the handbook, guide "train a model" shows one.  The pages are the Markdown files of the
-- folder handbook/ beside this file, or, in states without files, the modules that the library has of them; no other file is read.
-- Depends on: penumbra.colour, penumbra.prompt.names, penumbra.prompt.markdown, penumbra.words.
-- Used by: penumbra (pn.guide), penumbra.prompt.help, penumbra.prompt.complete, tests.
local colour = require "penumbra.colour"
local markdown = require "penumbra.prompt.markdown"
local names = require "penumbra.prompt.names"
local words = require "penumbra.words"

local _, own_path = ... -- nil where the library loads its own modules

-- The pages by the names of their files, in the order in which they are listed.
local ORDER = {
  "train-a-model", "spend-a-budget", "corrupt-a-ledger", "write-a-loss", "choose-a-set", "write-a-solver", "zeroth-order",
  "variance-reduction", "second-order-points", "running-sums", "embed", "host-analysts", "vertical-federated-learning", "teach",
  "reproduce-the-articles", "performance-and-accuracy", "privacy-in-one-page",
}

local function read(id)
  local folder = own_path and own_path:match "^(.*)guide%.lua$"
  if not folder then return require("penumbra.handbook." .. id) end
  local file = assert(io.open(folder .. "handbook/" .. id .. ".md"))
  local text = file:read "a"
  file:close()
  return text
end

local guide, pages = {}, nil

-- Every page in order: {id=, title=, summary=, text=}.
function guide.pages()
  if pages then return pages end
  local all = {}
  for i, id in ipairs(ORDER) do
    local text = read(id)
    local title, summary = text:match "^# ([^\n]+)\n\n(.-)\n\n"
    all[i] = { id = id, title = title, summary = summary:gsub("\n", " "), text = text }
  end
  pages = all
  return pages
end

-- How much a page is about the words: nil unless all of them are there.  What its title, summary and headings hold counts for more.
local function score(page, wanted)
  local head = { page.title, page.summary, (page.id:gsub("-", " ")) }
  for heading in page.text:gmatch "\n#+ ([^\n]+)" do head[#head + 1] = heading end
  local in_head, in_text = words.score(table.concat(head, "\n"), wanted), words.score(page.text, wanted)
  return in_text and (in_head and 1000 or 0) + in_text
end

-- At most `count` pages that hold all words of a text, best first; with `about`, only those whose title, summary or headings do.
function guide.find(text, count, about)
  local wanted, found = words.of(text), {}
  for i, page in ipairs(#wanted > 0 and guide.pages() or {}) do
    local points = score(page, wanted)
    if points and (points >= 1000 or not about) then found[#found + 1] = { page = page, points = points, place = i } end
  end
  table.sort(found, function(a, b)
    if a.points ~= b.points then return a.points > b.points end
    return a.place < b.place
  end)
  local out = {}
  for i = 1, math.min(count, #found) do out[i] = found[i].page end
  return out
end

-- "train a model" of "Train a model", "train-a-model" and " Train-A-Model ".
local function plain(name)
  return (name:lower():gsub("[^%w]+", " "):gsub("^ ", ""):gsub(" $", ""))
end

-- The page of that title or file name, or whose title alone has it in it.
local function named(text)
  local wanted, inside, many = plain(text), nil, false
  for _, page in ipairs(guide.pages()) do
    local title, id = plain(page.title), plain(page.id)
    if title == wanted or id == wanted then return page end
    if #wanted >= 3 and (" " .. title .. " " .. id):find(" " .. wanted, 1, true) then inside, many = page, inside ~= nil end
  end
  return not many and inside or nil
end

-- The pages whose titles or file names are near, nearest first.
local function near(text)
  local wanted, found = plain(text), {}
  for _, page in ipairs(guide.pages()) do
    local away = math.min(names.distance(wanted, plain(page.title)), names.distance(wanted, plain(page.id)))
    if away <= math.max(1, #wanted // 3) then found[#found + 1] = { page = page, away = away } end
  end
  table.sort(found, function(a, b) return a.away < b.away end)
  for i, one in ipairs(found) do found[i] = one.page end
  return found
end

-- Pages as what to type for each, and what it is about.
function guide.rows_text(list)
  local out = {}
  for i, page in ipairs(list) do out[i] = ('  guide "%s"\n      %s\n'):format(page.title:lower(), page.summary) end
  return table.concat(out)
end

-- A line a page: together they fit a screen of 80 columns and 24 lines.
local function overview()
  local width, out = 0, {}
  for _, page in ipairs(guide.pages()) do width = math.max(width, #page.title) end
  for i, page in ipairs(guide.pages()) do
    out[i] = ("  %s%s  %s\n"):format(colour.paint(page.title, "name"), (" "):rep(width - #page.title), page.summary)
  end
  return colour.paint("The handbook", "heading") .. "\n" .. table.concat(out)
    .. '\nguide "train a model" shows a page; help "LASSO" looks for words in all of them.\n'
end

local function unknown(text)
  local found, seen = near(text), {}
  for _, page in ipairs(found) do seen[page] = true end
  for _, page in ipairs(guide.find(text, 4)) do
    if not seen[page] then found[#found + 1] = page end
  end
  if #found == 0 then return ('No page is named "%s".  guide() lists them.\n'):format(text) end
  return ('No page is named "%s".  Near it:\n'):format(text) .. guide.rows_text(found)
end

function guide.run(...)
  local name = ...
  if select("#", ...) == 0 then
    io.write(overview())
  elseif type(name) ~= "string" then
    error(('guide: expected the title of a page, as in guide "train a model", got %s'):format(type(name)), 2)
  else
    local page = named(name)
    io.write(page and markdown(page.text) or unknown(name))
  end
end

guide.rows = {
  guide = {
    signature = "pn.guide(title)",
    doc = 'Show a page of the handbook, which has one for each task: guide() lists them, guide "train a model" shows one.  '
      .. "A title that is not known is answered with the nearest ones and with the pages that hold its words.  Returns nothing.",
    reveals = "nothing", touches = "modules",
    kind = "function",
  },
}

return guide
