-- markup.lua -- text as HTML and back: escape, the colours of Lua code and of sessions, what a search shows.
-- Depends on: penumbra.prompt.tokens.  Used by: html.lua, c_pages.lua, documents.lua, derivations.lua, site.lua.
local tokens = require "penumbra.prompt.tokens"

local markup = {}

local ESCAPED = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local PLAIN = { amp = "&", lt = "<", gt = ">", quot = '"', ["#39"] = "'" }

function markup.escape(text)
  return (tostring(text):gsub("[&<>\"]", ESCAPED))
end
local escape = markup.escape

-- What a reader sees of HTML; of a formula, what is shown and not its source.
function markup.plain(html)
  return (html:gsub("<annotation.-</annotation>", ""):gsub("<[^>]*>", ""):gsub("&([%w#]+);", PLAIN))
end

local SHOWN = 160 -- bytes of a text that a search shows

-- Of a text that a search finds: its beginning, to the end of a word, and each of its other words, and those of `more`, once.
function markup.summed_up(text, more)
  text = text:gsub("%s+", " "):gsub("^ ", "")
  local first = #text <= SHOWN and text or text:sub(1, SHOWN):match "^(.*)%s" or ""
  local seen, others = {}, {}
  for word in first:lower():gmatch "[%w_]+" do seen[word] = true end
  for word in (text:sub(#first + 1) .. " " .. (more or "")):lower():gmatch "%f[%w_][%a_][%w_][%w_]+" do
    if not seen[word] then seen[word], others[#others + 1] = true, word end
  end
  return #text <= SHOWN and first or first .. " ...", table.concat(others, " ")
end

local CLASS = { keyword = "k", string = "s", number = "n", comment = "c" }

-- Lua code with its keywords, strings, numbers and comments marked.
function markup.code(text)
  local out = {}
  for i, token in ipairs(tokens(text)) do
    local class = CLASS[token.kind]
    out[i] = class and ('<span class="%s">%s</span>'):format(class, escape(token.text)) or escape(token.text)
  end
  return table.concat(out)
end

-- A session: prompts and what was typed stand out from the answers.
function markup.session(text)
  return ((text .. "\n"):gsub("([^\n]*)\n", function(line)
    local prompt, typed = line:match "^(pn> ?)(.*)$"
    if not prompt then prompt, typed = line:match "^(%.%.> ?)(.*)$" end
    if prompt then return ('<span class="p">%s</span><b>%s</b>\n'):format(escape(prompt), markup.code(typed)) end
    local shell, command = line:match "^(%$ )(.*)$"
    if shell then return ('<span class="p">%s</span><b>%s</b>\n'):format(shell, escape(command)) end
    return escape(line) .. "\n"
  end):gsub("\n$", ""))
end

return markup
