-- lesson_sample.lua -- what the tests of lessons share: a small lesson, a course of it that has begun, and what a text holds.
-- Depends on: penumbra, luassert.  Used by: tests/stdlib/lesson_spec.lua, lesson_kept_spec.lua.
local pn = require "penumbra"
local lesson = require "penumbra.lesson"
local assert = require "luassert"

-- A small lesson with one step of each kind, and more where a case wants them.
local function sample(more)
  local made = {
    name = "sample", title = "A sample", minutes = 1, about = "What the engine does.", source = "nobody",
    setup = function(env) env.data = pn.vec { 1, 2, 3 } end,
    steps = {
      { id = "hello", text = "Welcome to `data`." },
      { id = "type", text = "Add them up.", code = "total = data:sum()", defines = { "total" } },
      { id = "twice", text = "Now double it.", ask = "Set `double` to twice the total.", answer = "double = 2 * total",
        wrong = { "double = 3", "double = 'x'" }, hint = { "Multiply.", "By two." },
        check = function(env)
          if env.double == nil then return false, "double is not there" end
          return math.abs(env.double - 12) < 1e-9, "double is off"
        end },
      { id = "picture", text = "Look.", plot = function() io.write "[a picture]\n" end },
      { id = "value", text = "And last.", ask = "What is one and one?", answer = "1 + 1", wrong = { "3" }, hint = "Count.",
        check = function(_, value) return value == 2, "not two" end },
    },
  }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

-- A course that has begun, at a step.
local function begin(id, more, options)
  local course = lesson.course(sample(more), options)
  local said = course:collect(course.start, course, id)
  return course, said
end

local function has(text, part)
  assert.truthy(text:find(part, 1, true), ("no '%s' in:\n%s"):format(part, text))
end

local function lacks(text, part)
  assert.falsy(text:find(part, 1, true), ("'%s' in:\n%s"):format(part, text))
end

return { sample = sample, begin = begin, has = has, lacks = lacks }
