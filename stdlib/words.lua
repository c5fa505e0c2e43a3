-- words.lua -- the words of a question, and how often a text has them: what help and guide search by.
-- Depends on: nothing.  Used by: penumbra.guide, penumbra.prompt.help.
local words = {}

local function plain(text)
  return " " .. text:lower():gsub("[^%w]+", " ") .. " "
end

-- "DP-SGD" is {"dp", "sgd"}; a plural is found in the singular, too.
function words.of(text)
  local list = {}
  for word in plain(text):gmatch "%w+" do
    list[#list + 1] = #word > 3 and word:gsub("([^s])s$", "%1") or word
  end
  return list
end

-- How often the text has words that begin so, the whole phrase counting for more; nil unless it has all of them.
function words.score(text, list)
  local small = text:lower()
  for _, word in ipairs(list) do
    if not small:find(word, 1, true) then return nil end -- most texts, at a glance
  end
  local within, points = plain(text), 0
  for _, word in ipairs(list) do
    local _, count = within:gsub(" " .. word, "")
    if count == 0 then return nil end
    points = points + math.min(count, 5)
  end
  local _, whole = within:gsub(" " .. table.concat(list, "%w* "), "")
  return points + (#list > 1 and 10 * math.min(whole, 5) or 0)
end

return words
