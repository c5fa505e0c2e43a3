-- course.lua -- the program `penumbra course`: make a course of lessons, take it, check it, grade what learners hand in.
-- Depends on: penumbra.files, penumbra.terminal, penumbra.course.file, _grade, _play, _submission, _template,
-- penumbra.programs.main, _config, _config_guard.  Used by: bindings/prompt/main.c.
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra course new DIR [--title TITLE]
       penumbra course check DIR [--seconds N] [--memory MB]
       penumbra course play DIR [--name NAME] [--file FILE]
       penumbra course grade DIR SUBMISSION... [--out FILE] [--seconds N] [--memory MB]
new writes course.lua, with comments, and an example of a lesson of your own into DIR, which must be empty or not there.
check reads course.lua, plays every lesson with its own answers, and lists what will be graded.
play opens the prompt with the lessons of the course: lesson() lists them, lesson "NAME" takes one.  What is typed there goes into
the learner's submission, the file to hand in.
grade plays all answers of the submissions again, each learner's lesson in a process that may open no file and no connection, and
writes a line of CSV for each lesson of each learner, and a total.  guide "teach and explore" says what shows a forged or copied
submission, and what does not.
  --title TITLE   of the course; default: the name of its folder
  --name NAME     of the learner: begins the submission
  --file FILE     the submission; default: DIR/submission.txt
  --out FILE      write the CSV to FILE, whole or not at all; default: standard output
  --seconds N     of processor time that a lesson of a learner may take; default 20
  --memory MB     that it may take; default 512
  -h, --help      print this
Exit status: 0 done; 1 no course, a submission that could not be graded (the others are), or a file that could not be written;
2 wrong usage.
]]

local takes = { ["--title"] = "title", ["--name"] = "name", ["--file"] = "file", ["--out"] = "out", ["--seconds"] = "seconds",
  ["--memory"] = "memory" }
local allowed = { new = { title = true }, check = { seconds = true, memory = true }, play = { name = true, file = true },
  grade = { out = true, seconds = true, memory = true } }

local function parse(words)
  local asked, wrong = main.words(words, takes, {})
  if not asked or asked.help then return asked, wrong end
  local mine = allowed[asked[1]]
  if not mine then
    return nil, asked[1] and ("unknown word '%s', expected new, check, play or grade"):format(asked[1])
      or "expected new, check, play or grade"
  end
  for _, name in pairs(takes) do
    if asked[name] and not mine[name] then return nil, ("%s takes no --%s"):format(asked[1], name) end
  end
  if not asked[2] then return nil, ("expected the folder of the course after %s"):format(asked[1]) end
  if asked[1] == "grade" and not asked[3] then return nil, "expected a submission or several after the folder" end
  if asked[1] ~= "grade" and asked[3] then return nil, ("unexpected word '%s'"):format(asked[3]) end
  for name, most in pairs { seconds = 3600, memory = 1 << 20 } do
    local number = math.tointeger(tonumber(asked[name] or 1))
    if not number or number < 1 or number > most then
      return nil, ("--%s takes a whole number from 1 to %d, got '%s'"):format(name, most, asked[name])
    end
  end
  return asked
end

local function limits_of(asked)
  return { seconds = tonumber(asked.seconds or 20) // 1, megabytes = tonumber(asked.memory or 512) // 1 }
end

local function put(path, text)
  local fine, why = require "penumbra.files".put(path, text)
  if not fine then error(why, 0) end
end

-- ---- new ----

-- Whether nothing is in a folder but files of these two names; where that cannot be told, why.
local function has_only(folder, whole, begun)
  local names, why = require "penumbra.terminal".files(folder)
  if why then return false, ("%s: %s"):format(folder, why) end
  for _, name in ipairs(names) do
    if name ~= whole and not name:find(begun) then return false end
  end
  return true
end

-- Nothing is in the folder but what `new` puts there before course.lua, unchanged: it was killed, or the disk was full.
-- Then why that cannot be told.
local function is_free(folder, lesson)
  local free, why = has_only(folder, "lessons/", "^course%.lua%.tmp%-%x+$")
  if free then free, why = has_only(folder .. "/lessons", "first.lua", "^first%.lua%.tmp%-%x+$") end
  if not free then return false, why end
  local file <close>, unread, number = io.open(folder .. "/lessons/first.lua", "rb")
  if file then return file:read "a" == lesson end
  return number == 2 or number == 20, unread -- ENOENT, ENOTDIR
end

local function new(asked)
  local template, folder = require "penumbra.course.template", asked[2]:gsub("(.)/+$", "%1")
  local file = io.open(folder, "rb")
  local unreadable = file and select(2, file:read(0)) -- a folder opens, but cannot be read
  if file then file:close() end
  if file and not unreadable then error(folder .. " is a file; a course needs a folder", 0) end
  local free, why = is_free(folder, template.lesson)
  if not free then
    error(why or folder .. " is not empty; name a folder that is empty or not there yet", 0)
  end
  local there
  there, why = require "penumbra.files".folder(folder .. "/lessons")
  if not there then error("the folder could not be made: " .. why, 0) end
  local title = asked.title or folder:match "([^/]*)$"
  local filled = { TITLE = ("%q"):format(title):sub(2, -2):gsub("\n", "n"),
    ID = require "penumbra.course.submission".random_hex(8) }
  put(folder .. "/lessons/first.lua", template.lesson)
  put(folder .. "/course.lua", (template.course:gsub("%%(%u+)%%", filled)))
  return ("wrote %s/course.lua and %s/lessons/first.lua\n"):format(folder, folder)
    .. "Edit course.lua, try the course with `penumbra course check` and `penumbra course play`,\n"
    .. "and give learners a copy of the folder.\n"
end

-- ---- check and grade ----

local function not_graded_text(made, not_graded)
  local lines = {}
  for _, lesson in ipairs(made.lessons) do
    if not_graded[lesson.name] then
      local steps = table.concat(not_graded[lesson.name], " ")
      lines[#lines + 1] = ("%s: not graded, as the lesson's own answers fail where no file may be opened: %s\n"):format(
        lesson.name, steps)
    end
  end
  return table.concat(lines)
end

local function check(asked)
  local made = require "penumbra.course.file".read(asked[2])
  local steps, not_graded = require "penumbra.course.grade".gradable(made, limits_of(asked))
  local lines = { made.title, "\n" }
  for k, lesson in ipairs(made.lessons) do
    lines[#lines + 1] = ("%2d  %-18s %2d steps to pass%s\n"):format(k, lesson.name, steps[lesson.name].count,
      lesson.note and ", " .. lesson.note or "")
  end
  return table.concat(lines) .. not_graded_text(made, not_graded)
end

local function grade(asked)
  local made = require "penumbra.course.file".read(asked[2])
  local paths = table.move(asked, 3, #asked, 1, {})
  if asked.out then
    require "penumbra.programs.config".writable(asked.out, "course grade", "--out") -- before the work
  end
  local visible = require "penumbra.programs.config_guard".visible
  local text, not_graded, bad, count = require "penumbra.course.grade".grade(made, paths, limits_of(asked))
  io.stderr:write(not_graded_text(made, not_graded))
  for _, one in ipairs(bad) do io.stderr:write("penumbra course: not graded: ", visible(one.why), "\n") end
  asked.bad = #bad
  if not asked.out then return text end
  put(asked.out, text)
  return ("wrote %s: %d learners\n"):format(asked.out, count)
end

-- ---- play ----

local function play(asked)
  local made = require "penumbra.course.file".read(asked[2])
  local submission = require "penumbra.course.submission"
  local wrong = asked.name and submission.unfit(asked.name)
  if wrong then error(("--name: %s"):format(wrong), 0) end
  local path = asked.file or made.folder .. "/submission.txt"
  local head, why = require "penumbra.course.play"(made, path, asked.name)
  if not head then error(why, 0) end
  require "penumbra.lesson".run()
  asked.prompt = true
  return ("%s works on %s, the file to hand in.\n"):format(head.name, path)
end

local work = { new = new, check = check, grade = grade, play = play }

-- As other programs, but that play goes on with the prompt.
return function(...)
  local mine
  local status = main.program("penumbra course", usage, function(words)
    local asked, wrong = parse(words)
    mine = asked
    return asked, wrong
  end, function(asked)
    return work[asked[1]](asked)
  end)(...)
  if status == 0 and mine.prompt then return "prompt" end
  return status == 0 and (mine.bad or 0) > 0 and 1 or status
end
