-- boundary_curated.lua -- the end of a curated script: the calls in `cases`, and what came of them: how many bases succeed and how
-- many are not for analysts; how many calls answer, are refused, and are not for analysts; and what fails that succeeds elsewhere.
-- Depends on: boundary_calls.lua before it.  Used by: boundary.lua, as text.
-- luacheck: globals examples method_of classes proxied stand_ins late cases data CALL PROBE pn print
-- luacheck: globals proxy capture price_by_rho put values steps_of
stand_ins = { ["rng.seeded"] = function() return pn.rng.secure() end }
local own_pn = pn
for _, kind in ipairs { "logistic", "lasso" } do
  stand_ins["data.synthetic." .. kind] = function(options)
    local has, found = pcall(function() return data[kind .. options.p] end)
    return has and found or own_pn.data.synthetic[kind] { n = 40, p = options.p, seed = 1 }
  end
end

local analysts = "is not available to analysts"
local tally = { bases = 0, denied = 0, failed = "", answered = 0, refused = 0, denied_calls = 0 }
proxied = proxy(pn, "")
local small -- what the valid call answers
for _, case in ipairs(cases) do
  local name, path, value, class, used, fresh, rho, only_base, also = table.unpack(case, 1, 9)
  if fresh then
    local call, why = capture(name)
    local ok = call ~= nil
    if ok then ok, why = pcall(call.f, table.unpack(call, 1, call.n)) end
    small = ok and why
    if ok then tally.bases = tally.bases + 1
    elseif string.find(tostring(why), analysts) then tally.denied = tally.denied + 1
    else tally.failed = tally.failed .. name .. ": " .. tostring(why) .. "\n" end
  end
  local call = not only_base and capture(name)
  if call then
    if rho then price_by_rho(call) end
    put(call, path, values[value])
    for _, other in ipairs(also) do put(call, other, values[value]) end
    local results = table.pack(pcall(call.f, table.unpack(call, 1, call.n)))
    if results[1] then
      tally.answered = tally.answered + 1
      for i = 2, used and results.n or 0 do
        if type(results[i]) == "userdata" then
          for k, step in ipairs(steps_of(results[i], class, small)) do
            if not late[class][k] then step() end
          end
          break
        end
      end
    elseif string.find(tostring(results[2]), analysts) then tally.denied_calls = tally.denied_calls + 1
    else tally.refused = tally.refused + 1 end
  elseif not only_base then
    tally.denied_calls = tally.denied_calls + 1
  end
end
return tally.bases, tally.denied, tally.answered, tally.refused, tally.denied_calls, tally.failed
