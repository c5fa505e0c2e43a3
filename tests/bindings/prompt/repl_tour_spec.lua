-- A tester at a terminal of 80 columns (tests/tools/tour.lua).
local files = require "penumbra.lesson.files"
local play_lesson = require "tests.tools.lesson_tour"
local tier = require "tests.tools.tier"
local tour = require "tests.tools.tour"

describe("the prompt, to a tester in tmux", function()
  local it_there = tour.available() and it or pending

  for _, feature in ipairs(tour.features) do
    it_there(feature.name, function()
      local screen = tour.open(tour.settings)
      local fine, message = pcall(feature.play, screen)
      screen:close()
      assert(fine, message)
    end)
  end

  it_there("paints the prompt and results, unless NO_COLOR is set or the terminal is dumb", function()
    for settings, painted in pairs { ["NO_COLOR="] = true, ["NO_COLOR=1"] = false, ["TERM=dumb NO_COLOR="] = false,
                                     ["TERM=dumb PENUMBRA_COLOR=always"] = true } do
      local screen = tour.open(settings)
      screen:type '{1, "two"}'
      screen:press "Enter"
      local text = screen:expect("two.*two.*\n", true)
      screen:close()
      assert.equal(painted, text:find "\27%[3%dm" ~= nil, settings .. "\n" .. text)
    end
  end)

  -- In notebooks tests/stdlib/lesson_export_spec.lua plays them.
  for _, one in ipairs(files.all()) do
    tier.it(it_there)("plays the lesson " .. one.name .. " to its end, and nothing to read leaves the screen", function()
      play_lesson(one)
    end)
  end
end)
