-- lesson_blocks.lua -- the text of a step as paragraphs, whose lines are filled, and blocks of indented lines, which stay as they
-- are: {kind = "prose" or "block", text=}.  `names` in backquotes stay in prose.
-- Depends on: nothing.  Used by: penumbra.lesson.cells, penumbra.lesson.handout.

-- Without the columns that all lines are indented by.
local function outdented(lines)
  local least = math.huge
  for _, line in ipairs(lines) do
    if line ~= "" then least = math.min(least, #line:match "^ *") end
  end
  for k, line in ipairs(lines) do lines[k] = line:sub(least + 1) end
  return table.concat(lines, "\n")
end

local function finished(kind, lines)
  while lines[#lines] == "" do lines[#lines] = nil end
  return { kind = kind, text = kind == "prose" and table.concat(lines, " ") or outdented(lines) }
end

return function(text)
  local out, kind, lines = {}, nil, {}
  local function close()
    if #lines > 0 then out[#out + 1] = finished(kind, lines) end
    kind, lines = nil, {}
  end
  for line in (text .. "\n"):gmatch "([^\n]-)[ \t\r]*\n" do
    local this = line:find "^%s+%S" and "block" or line ~= "" and "prose" or kind == "block" and "block" or nil
    if this ~= kind then close() end
    kind = this
    if kind then lines[#lines + 1] = line end
  end
  close()
  return out
end
