-- c_pages.lua -- the installed C headers as pages, a few to a page: every declaration with the comment that stands before it.
-- Depends on: headers.lua, markup.lua.  Used by: docs.lua.
local headers = require "headers"
local markup = require "markup"
local escape = markup.escape

-- The pages, in their order, and the headers on each.
local PAGES = {
  { "core", "First steps; status codes, options by name, memory, tasks, random streams.",
    "penumbra status version options numbers memory task ranks rng" },
  { "data", "Data sets, their loaders, recipes.", "dataset recipe" },
  { "geometry", "Sets, norms, potentials, proximal operators.", "set norm potential prox" },
  { "privacy", "Events, accountants, ledgers, mechanisms, samplers.", "event accountant ledger mechanism sampler" },
  { "continual", "Private prefix sums.", "prefix" },
  { "objective", "Losses, regularisers, objectives.", "loss regulariser objective" },
  { "solvers", "Plans, runs, fits, models in files.", "plan model" },
  { "federated", "Parties, transports: libpenumbra_federated.", "federated" },
  { "lua", "Penumbra in a host's Lua.", "penumbra_lua" },
}

local WRAPPED = 105 -- columns: where a line ends so far out, a sentence goes on in the next, which pages break elsewhere

-- The text of a comment without its stars.
local function plain(comment)
  local text = comment:gsub("^/%*+[ \n]?", ""):gsub("%s*%*+/$", "")
  text = ("\n" .. text):gsub("\n[ \t]*%* ?", "\n"):gsub("^\n+", "")
  local out, far = {}, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local begins = line:find "^%s*%u[%a ]*:" or line:find "^%s%s+[^%s.]+%s%s" -- "Errors: ...", a row of a table
    if far and not begins and line:find "%S" then
      out[#out] = out[#out] .. " " .. line:match "^%s*(.*)$"
    else
      out[#out + 1] = line
    end
    far = #line > WRAPPED
  end
  return table.concat(out, "\n")
end

-- Declarations that stand together share the comment before the first.
local FUNCTION = { ["function"] = true, object = true }

-- Of a header; what a search finds is added to the page's rows.
local function section(path, text, page)
  local parsed = headers.parse(text)
  local out = { ('<h2 id="%s">%s</h2>\n<pre class="small comment">%s</pre>\n'):format(escape(path), escape(path),
    escape(plain(parsed.about or ""))) }
  local comment -- of the section that is open
  local function close()
    out[#out + 1] = (comment and ('<pre class="comment">%s</pre>\n'):format(escape(plain(comment))) or "") .. "</section>\n"
  end
  for i, item in ipairs(parsed.items) do
    local name = item[1]
    if name and page.ids[name] then name = nil end -- defined again for another compiler
    local id = name and (' id="%s"'):format(escape(name)) or ""
    local code = item.code .. (item.after and " " .. item.after or "")
    if item.joined and FUNCTION[item.kind] and FUNCTION[parsed.items[i - 1].kind] then
      out[#out + 1] = ("<h3%s>%s</h3>\n"):format(id, escape(code))
    else
      if i > 1 then close() end
      out[#out + 1] = ("<section>\n<h3%s>%s</h3>\n"):format(id, escape(code))
      comment = item.comment
    end
    if name then
      page.ids[name] = true
      table.insert(page.rows, { page.file .. "#" .. name, name, "C", markup.summed_up(plain(comment or "")) })
    end
  end
  if #parsed.items > 0 then close() end
  return table.concat(out)
end

-- paths: of all installed headers.
return function(paths)
  local by_name, list = {}, {}
  for _, path in ipairs(paths) do by_name[path:match "([^/]+)%.h$"] = path end
  for _, page in ipairs(PAGES) do
    local id, about, names = table.unpack(page)
    local made = { id = "c." .. id, file = "c." .. id .. ".html", title = id, about = about, rows = {}, ids = {} }
    local sections, last = {}, nil
    for name in names:gmatch "%S+" do
      local path = assert(by_name[name], name .. ".h is not installed")
      local file <close> = assert(io.open(path))
      last = path:gsub("^.*/include/", ""):gsub("^bindings/embed/", "")
      sections[#sections + 1], by_name[name] = section(last, file:read "a", made), nil
    end
    local include = (id == "federated" or id == "lua") and last or "penumbra.h"
    made.class, made.content = "reference", ("<h1>C: %s</h1>\n<p>%s  <code>#include &lt;%s&gt;</code></p>\n%s"):format(id,
      escape(about), include, table.concat(sections))
    list[#list + 1] = made
  end
  local forgotten = next(by_name)
  assert(not forgotten, forgotten and forgotten .. ".h is on no page; the list is in c_pages.lua")
  return list
end
