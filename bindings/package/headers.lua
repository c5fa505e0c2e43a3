-- headers.lua -- reads the installed C headers: what each declares, with the comment that stands before it.
-- It knows the house format (clang-format keeps it), not all of C.
-- Depends on: nothing.  Used by: symbols.lua, c_pages.lua, tests/build/package_spec.lua.
local headers = {}

-- Where the declaration that begins at `from` ends: at a semicolon, or at the brace that closes a function's body.
local function end_of_declaration(text, from)
  local position, depth = from, 0
  while true do
    local at, character = text:match("()([/{}();\"'])", position)
    if not at then return #text end
    position = at + 1
    if character == "/" then
      if text:sub(at, at + 1) == "/*" then position = select(2, text:find("*/", at, true)) + 1 end
    elseif character == '"' or character == "'" then
      position = text:match("^[^\n]-[^\\]()" .. character, at + 1) + 1
    elseif character == "{" or character == "(" then
      depth = depth + 1
    elseif character == ";" then
      if depth == 0 then return at end
    else
      depth = depth - 1
      local function_body = depth == 0 and character == "}" and text:sub(from, at):match "^static inline"
      if function_body then return at end
    end
  end
end

-- Where a directive ends, with its continued lines.
local function end_of_directive(text, from)
  local at = from
  repeat
    local line_end = text:find("\n", at, true) or #text
    local continued = text:sub(line_end - 1, line_end - 1) == "\\"
    at = line_end + 1
  until not continued
  return at - 1
end

local function without_comments(code)
  return (code:gsub("/%*.-%*/", " "))
end

-- The names that a declaration brings and what kind it is.
local function describe(code)
  local bare = without_comments(code):gsub("__extension__%s*", "")
  local define = bare:match "^#define ([%w_]+)"
  if define then return { kind = "macro", define } end
  if bare:match "^typedef" or bare:match "^struct" or bare:match "^enum" then
    local outside = bare:gsub("%b{}", "")
    local name = outside:match "%(%*([%w_]+)%)%s*%(" or outside:match "([%w_]+)%s*;$" or outside:match "^%a+ ([%w_]+)"
    return { kind = "type", name }
  end
  local head = bare:gsub("__attribute__%s*%b()", ""):gsub("PN_PRINTF%b()", "")
  if head:match "^extern" and not head:find "%(" then
    local names = { kind = "object" }
    for name in head:gsub("%b[]", ""):gsub("^extern", ""):gmatch "([%w_]+)%s*[,;]" do names[#names + 1] = name end
    return names
  end
  local inline = head:match "^static inline"
  return { kind = inline and "inline" or "function", head:match "([%w_]+)%s*%(" }
end

-- { about = the header's own comment, items = { {comment=, after=, joined=, code=, kind=, names...}, ... } }; comments as they
-- stand, `after` behind the declaration on its line.  joined: neither comment nor empty line stand between it and the one before.
function headers.parse(text)
  local result, comment, at = { items = {} }, nil, 1
  local finish = 1 -- where the declaration before ended
  text = text:gsub("#ifdef __cplusplus.-#endif\n", "")
  while true do
    at = text:match("^%s*()", at)
    if at > #text then return result end
    if text:sub(at, at + 1) == "/*" then
      local last = select(2, text:find("*/", at, true))
      comment = text:sub(at, last)
      if not result.about then
        result.about, comment = comment, nil
      elseif text:match("^[ \t]*\n[ \t]*\n", last + 1) then -- a heading
        comment = nil
      end
      at = last + 1
    else
      local directive = text:sub(at, at) == "#"
      local last = (directive and end_of_directive or end_of_declaration)(text, at)
      local code = text:sub(at, last):gsub("%s+$", "")
      local guard = code:match "^#define %u[%u%d_]*_H$"
      if not directive or (code:match "^#define" and not guard) then
        local item = describe(code)
        item.comment, item.code = comment, code
        item.joined = not comment and text:match("^\n[ \t]*()", finish) == at
        item.after, finish = text:match("^[ \t]*(/%*.-%*/)()", last + 1)
        finish = finish or last + 1
        result.items[#result.items + 1] = item
        comment = nil
      end
      at = math.max(last + 1, finish)
    end
  end
end

function headers.read(path)
  local file <close> = assert(io.open(path))
  return headers.parse(file:read "a")
end

return headers
