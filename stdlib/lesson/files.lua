-- lesson_files.lua -- find lessons by name, number or file, and load them with globals of their own.
-- Depends on: penumbra.lessons (the list), penumbra.lesson.world, penumbra.prompt.names.
-- Used by: penumbra.lesson, penumbra.lesson.check, penumbra.programs.lesson, penumbra.course.file.
local world = require "penumbra.lesson.world"

local files = {}

-- The chunk of a module, through the searchers of `require`, so that embedded ones are found, too.
local function find(module)
  local tried = {}
  for _, searcher in ipairs(package.searchers) do
    local loader, extra = searcher(module)
    if type(loader) == "function" then
      return loader, extra
    end
    tried[#tried + 1] = type(loader) == "string" and loader or nil
  end
  return nil, ("module '%s' not found:%s"):format(module, table.concat(tried))
end

local function run(loader, ...)
  if debug and debug.getupvalue(loader, 1) == "_ENV" then
    debug.setupvalue(loader, 1, world.of_lessons())
  end
  return loader(...)
end

-- The lesson in a file, by its path or by its name in the list ("02_gaussian").
function files.load(name)
  local lesson
  if name:match "%.lua$" then
    lesson = run(assert(loadfile(name, "t")))
  else
    local module = "penumbra.lessons." .. name
    local loader, extra = find(module)
    lesson = run(assert(loader, extra), module, extra)
  end
  if type(lesson) ~= "table" or type(lesson.steps) ~= "table" then
    error(("lesson: %s does not return a lesson, a table with `steps`"):format(name), 0)
  end
  lesson.number = tonumber(name:match "(%d+)_[^/]*$")
  return lesson
end

-- What exports and courses cannot do without, in a lesson of one's own; returns the lesson.
function files.must_be_named(lesson, which)
  local fine = type(lesson.name) == "string" and lesson.name:find "^[%w_-]+$"
  for _, step in ipairs(lesson.steps) do
    fine = fine and type(step) == "table" and type(step.id) == "string" and step.id:find "^[%w_-]+$"
  end
  if not fine then
    error(("%s: a lesson and each of its steps need a name of letters, digits, - and _ (`name`, `id`)"):format(which), 0)
  end
  return lesson
end

-- All lessons of the list, in order; one that does not load is a row with `problem`.
function files.all()
  local all = {}
  for i, name in ipairs(require "penumbra.lessons") do
    local fine, lesson = pcall(files.load, name)
    all[i] = fine and lesson or { name = name:gsub("^%d+_", ""), title = "does not load", steps = {}, problem = tostring(lesson) }
    all[i].number, all[i].file = i, name
  end
  return all
end

local function unknown(name, all)
  local distance = require "penumbra.prompt.names".distance
  local near, least = nil, 4
  for _, lesson in ipairs(all) do
    local away = distance(name:lower(), lesson.name)
    if away < least or lesson.name:find(name:lower(), 1, true) and #name > 2 then
      near, least = lesson.name, math.min(away, least)
    end
  end
  return ('lesson: there is no lesson "%s"%s; lesson() lists them'):format(name,
    near and (', did you mean "%s"?'):format(near) or "")
end

-- A lesson by its name, its number, or its file's path; raises for one that is not there.
function files.find(name)
  if type(name) == "string" and name:match "%.lua$" then
    return files.load(name)
  elseif type(name) ~= "string" and math.type(name) ~= "integer" then
    error(("lesson: expected the name or number of a lesson, got %s"):format(type(name)), 0)
  end
  local all = files.all()
  for _, lesson in ipairs(all) do
    if lesson.name == name or lesson.number == name or lesson.file == name or tostring(lesson.number) == name then
      if lesson.problem then error("lesson: " .. lesson.problem, 0) end
      return lesson
    end
  end
  error(unknown(tostring(name), all), 0)
end

return files
