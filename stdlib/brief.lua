-- brief.lua -- what a set is, without how large: for tables and sentences that name it.
-- Depends on: nothing.  Used by: advise, check.
return function(set)
  return (tostring(set):gsub("%s*\n    ", " "):gsub(":? *\n? *l2 radius .*$", ""):gsub(": unbounded$", ""))
end
