-- c_pages.lua -- the installed C headers as pages, one for each room: every declaration with the comment that stands before it.
-- Depends on: headers.lua, html.lua.  Used by: docs.lua.
local headers = require "headers"
local html = require "html"

local ABOUT = {
  [""] = "The whole library in one include.", bindings = "Penumbra in a host's Lua: penumbra_lua.h.",
  core = "Status codes, memory, parameter tables, tasks, ranks.", numeric = "Sparse matrices.",
  random = "Random streams, noise on the lattice, private selection, samplings.",
    expr = "Expression graphs, intervals, certified bounds.",
  data = "Data sets and their loaders.", geometry = "Sets, norms, potentials, proximal operators, widths.",
  privacy = "Events, accountants, mechanisms, samplers, ledgers, audits.", continual = "Private prefix sums.",
  objective = "Losses, regularisers, objectives.", solvers = "Plans, steps, runs.", federated = "Parties, servers, transports.",
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

local function section(path, text)
  local parsed = headers.parse(text)
  local out = { ('<h2 id="%s">%s</h2>\n<pre class="small comment">%s</pre>\n'):format(html.escape(path), html.escape(path),
    html.escape(plain(parsed.about or ""))) }
  local comment -- of the section that is open
  local function close()
    out[#out + 1] = (comment and ('<pre class="comment">%s</pre>\n'):format(html.escape(plain(comment))) or "") .. "</section>\n"
  end
  for i, item in ipairs(parsed.items) do
    local id = item[1] and (' id="%s"'):format(html.escape(item[1])) or ""
    local code = item.code .. (item.after and " " .. item.after or "")
    if item.joined and FUNCTION[item.kind] and FUNCTION[parsed.items[i - 1].kind] then
      out[#out + 1] = ("<h3%s>%s</h3>\n"):format(id, html.escape(code))
    else
      if i > 1 then close() end
      out[#out + 1] = ("<section>\n<h3%s>%s</h3>\n"):format(id, html.escape(code))
      comment = item.comment
    end
  end
  if #parsed.items > 0 then close() end
  return table.concat(out)
end

-- paths of headers below runtime/, in their order, and bindings/embed/penumbra_lua.h.
return function(paths)
  local rooms, order = {}, {}
  for _, path in ipairs(paths) do
    local below = path:gsub("^runtime/", "")
    local room = below:match "^(.-)/" or ""
    if room ~= "" then
      if not rooms[room] then
        rooms[room] = {}
        order[#order + 1] = room
      end
      local file <close> = assert(io.open(path))
      table.insert(rooms[room], section(room == "bindings" and "penumbra_lua.h" or below, file:read "a"))
    end
  end
  local list = {}
  for _, room in ipairs(order) do
    local title = room == "bindings" and "penumbra_lua.h" or room .. "/"
    list[#list + 1] = { id = "c." .. room, file = "c." .. room .. ".html", title = title, about = ABOUT[room] or "",
      content = ("<h1>C: %s</h1>\n<p>%s  <code>#include &lt;%s.h&gt;</code></p>\n%s"):format(title, html.escape(ABOUT[room] or ""),
        room == "bindings" and "penumbra_lua" or "penumbra", table.concat(rooms[room])) }
  end
  return list
end
