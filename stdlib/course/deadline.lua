-- course_deadline.lua -- when something is due: "2026-12-08", "2026-12-08 18:00", with Z or +01:00 behind where it is not the
-- clock of this machine that counts.
-- Depends on: nothing.  Used by: penumbra.course.file.
local deadline = {}

-- Days from 1970-01-01 to a date of the Gregorian calendar.
local function days(year, month, day)
  if month < 3 then year, month = year - 1, month + 12 end
  local era_days = 365 * year + year // 4 - year // 100 + year // 400
  return era_days + (153 * (month - 3) + 2) // 5 + day - 719469
end

local MONTHS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function is_date(year, month, day)
  if year < 1970 or month < 1 or month > 12 or day < 1 then return false end
  local leap = month == 2 and (year % 4 == 0 and year % 100 ~= 0 or year % 400 == 0)
  return day <= MONTHS[month] + (leap and 1 or 0)
end

-- Seconds that a zone is ahead of UTC; nil for what is none.
local function offset(zone)
  if zone == "Z" then return 0 end
  local sign, hours, minutes = zone:match "^([+-])(%d%d):?(%d%d)$"
  if not sign or tonumber(hours) > 14 or tonumber(minutes) > 59 then return nil end
  return (sign == "-" and -1 or 1) * (3600 * hours + 60 * minutes)
end

-- The last second that is in time, since 1970; or nil and what is wrong.
function deadline.parse(text)
  local shape = 'expected a day or a minute, such as "2026-12-08", "2026-12-08 18:00" or "2026-12-08 18:00 +01:00", got '
  if type(text) ~= "string" then return nil, shape .. "a " .. type(text) end
  local year, month, day, rest = text:match "^(%d%d%d%d)-(%d%d)-(%d%d)(.*)$"
  if not year then return nil, shape .. "'" .. text .. "'" end
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  local hour, minute, zone = rest:match "^[ T](%d%d):(%d%d) ?(.*)$"
  if rest == "" then hour, minute, zone = 23, 59, "" end
  hour, minute = tonumber(hour), tonumber(minute)
  local ahead = zone and zone ~= "" and offset(zone)
  if not hour or zone ~= "" and not ahead then return nil, shape .. "'" .. text .. "'" end
  if not is_date(year, month, day) or hour > 23 or minute > 59 then
    return nil, ("there is no such day or time: '%s'"):format(text)
  end
  if ahead then return days(year, month, day) * 86400 + hour * 3600 + minute * 60 + 59 - ahead end
  return os.time { year = year, month = month, day = day, hour = hour, min = minute, sec = 59 }
end

return deadline
