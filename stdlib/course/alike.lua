-- course_alike.lua -- which submissions have too much in common: one file under two names, or the same entries.
-- Depends on: nothing.  Used by: penumbra.course.grade.

local LONG = 24 -- bytes without spaces: what is shorter is the same by chance
local MANY = 3 -- such entries that two learners have in common
local MOST = 4000 -- entries of a submission that are looked at
local USUAL = 4 -- what more than one learner in so many types is nobody's own

local function squeeze(text)
  return (text:gsub("[%s;]+", ""))
end

-- What the lessons themselves show.
local function shown(lessons)
  local parts = {}
  for _, lesson in ipairs(lessons) do
    for _, step in ipairs(lesson.steps) do
      local hints = type(step.hint) == "table" and step.hint or { step.hint }
      for _, list in ipairs { { step.code or step.answer }, step.wrong or {}, hints } do
        for _, text in ipairs(list) do parts[#parts + 1] = squeeze(text) end
      end
    end
  end
  return table.concat(parts, "\n")
end

-- The longer entries of a learner that no lesson shows, as a set.
local function own_entries(made, lessons_text)
  local set = {}
  for k = 1, math.min(#made.entries, MOST) do
    local entry = made.entries[k]
    local text = (entry.kind == "typed" or entry.kind == "right") and squeeze(entry.text) or ""
    if #text >= LONG and not lessons_text:find(text, 1, true) then set[text] = true end
  end
  return set
end

local function size_of(set)
  local count = 0
  for _ in pairs(set) do count = count + 1 end
  return count
end

-- Take out what so many learners type that it is nobody's own.
local function drop_usual(sets)
  local holders = {}
  for _, set in ipairs(sets) do
    for text in pairs(set) do holders[text] = (holders[text] or 0) + 1 end
  end
  local most = math.max(MANY, #sets // USUAL)
  for _, set in ipairs(sets) do
    for text in pairs(set) do
      if holders[text] > most then set[text] = nil end
    end
  end
end

local function add(remarks, text)
  for _, other in ipairs(remarks) do
    if other == text then return end
  end
  remarks[#remarks + 1] = text
end

local function note_pair(remarks, made, sets, i, j)
  local a, b = made[i], made[j]
  local function both(format, field, ...)
    add(remarks[i], format:format(b[field], ...))
    add(remarks[j], format:format(a[field], ...))
  end
  if a.name == b.name then
    return both(a.nonce == b.nonce and "handed in twice: also as %s" or "another submission has this name: %s", "path")
  elseif a.nonce == b.nonce then
    return both("the same file as that of %s, with another name", "name")
  end
  local common = 0
  for text in pairs(sets[i]) do common = common + (sets[j][text] and 1 or 0) end
  local least = math.min(size_of(sets[i]), size_of(sets[j]))
  if common >= MANY and 2 * common >= least then
    both("%s has %d of the longer entries, too", "name", common)
  end
end

-- For each submission (as penumbra.course.submission reads them, with `path`) a list of remarks.
return function(made, lessons)
  local sets, remarks, text = {}, {}, shown(lessons)
  for k, one in ipairs(made) do sets[k], remarks[k] = own_entries(one, text), {} end
  drop_usual(sets)
  for i = 1, #made do
    for j = i + 1, #made do note_pair(remarks, made, sets, i, j) end
  end
  return remarks
end
