-- lesson_code.lua -- what is typed and what a step shows, as code: compiled as the prompt does it, and the names that it assigns.
-- Depends on: nothing.  Used by: penumbra.lesson, penumbra.lesson.course, penumbra.lesson.judge, penumbra.lesson.check.
local code = {}

-- A text as a function: an expression is worth its values, and so is the last line of several.
function code.compile(text, env)
  local chunk = load("return " .. text, "=lesson", "t", env)
  if chunk then return chunk end
  local message
  chunk, message = load(text, "=lesson", "t", env)
  if chunk then return chunk end
  local head, last = text:match "^(.*\n)([^\n]+)%s*$"
  return head and load(head .. "return " .. last, "=lesson", "t", env) or nil, message
end

local statements = { ["local"] = true, ["for"] = true, ["if"] = true, ["while"] = true, ["return"] = true }

-- The names that a text assigns, in order: with `outermost`, only by lines that are not indented.
local function assigned(text, outermost)
  local names = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local indent, left = line:match "^(%s*)([%a_][%w_%s,]-)%s*=[^=]"
    indent, left = indent or "", left or line:match "^function%s+([%a_][%w_]*)%s*%(" or ""
    if not statements[left:match "^%a*"] and (indent == "" or not outermost) then
      for name in left:gmatch "[%a_][%w_]*" do names[#names + 1] = name end
    end
  end
  return names
end

-- The names that a code step asks for.
function code.asked_for(step)
  return step.defines or assigned(step.code, true)
end

-- The names that an exercise asks for: those in its backquotes that its answer assigns.
function code.wanted(step)
  local set, wanted = {}, {}
  for _, name in ipairs(assigned(step.answer)) do set[name] = true end
  for name in step.ask:gmatch "`([%a_][%w_]*)" do
    if set[name] then wanted[#wanted + 1], set[name] = name, nil end
  end
  return wanted
end

-- The names that a step is there to set: what it asks for, and what its code or answer assigns.
function code.names_of(step)
  local names = {}
  for _, list in ipairs { step.defines or {}, assigned(step.code or step.answer or "") } do
    for _, name in ipairs(list) do names[name] = true end
  end
  return names
end

return code
