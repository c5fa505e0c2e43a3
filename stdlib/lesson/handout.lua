-- lesson_handout.lua -- a lesson on paper: one HTML file with its pictures in it, or a PDF that a program of the system makes.
-- Depends on: penumbra.escape, penumbra.lesson.blocks, _course, _show, _world, penumbra.plot.show.
-- Used by: penumbra.programs.lesson.
local escaped = require "penumbra.escape"
local blocks = require "penumbra.lesson.blocks"
local course = require "penumbra.lesson.course"
local look = require "penumbra.lesson.show"
local world = require "penumbra.lesson.world"

local handout = {}

local STYLE = [[
body { font: 11pt/1.5 Georgia, serif; color: #1c1e24; max-width: 42rem; margin: 2.5rem auto; padding: 0 1.2rem }
h1 { font-size: 1.7rem; margin-bottom: .2rem }
h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; border-bottom: 1px solid #d6d9e0 }
h2 small { float: right; color: #6b7180; font-weight: normal }
p { margin: .6rem 0 }
.source { color: #6b7180; font-style: italic }
code, pre { font: .88em/1.45 ui-monospace, "DejaVu Sans Mono", monospace }
pre { background: #f4f5f8; border-left: 3px solid #b9c0cf; padding: .5rem .8rem; overflow-x: auto; white-space: pre-wrap }
pre.block { background: none; border-color: #e3e6ec }
.exercise { border: 1px solid #b9c0cf; border-radius: 4px; padding: .2rem .9rem; margin: .8rem 0; break-inside: avoid }
.room { height: 4.5em }
figure { margin: 1rem 0; break-inside: avoid }
svg { max-width: 100%; height: auto }
h2 { break-after: avoid }
.answers { break-before: page }
@page { size: A4; margin: 18mm }
@media print { body { margin: 0; max-width: none } pre { break-inside: avoid } }
]]

-- ---- texts ----

-- "two-things" as "Two things".
local function heading(id)
  return (id:gsub("[-_]", " "):gsub("^%l", string.upper))
end

local function prose(text)
  return (escaped(text):gsub("`([^`]+)`", "<code>%1</code>"))
end

local function code(text, class)
  return ("<pre%s>%s</pre>\n"):format(class and (' class="%s"'):format(class) or "", escaped(look.trim(text)))
end

local function html_of(text)
  local parts = {}
  for k, block in ipairs(blocks(text)) do
    parts[k] = block.kind == "prose" and "<p>" .. prose(block.text) .. "</p>\n" or code(block.text, "block")
  end
  return table.concat(parts)
end

-- ---- pictures ----

-- An SVG as a part of a page with others: its names are its own, and what only files have is gone.
local function inlined(svg, number, title)
  local prefix = ("p%d-"):format(number)
  svg = svg:match "<svg.*</svg>" or error("the picture is no SVG", 0)
  svg = svg:gsub("(%sid=['\"])", "%1" .. prefix):gsub("(href=['\"]#)", "%1" .. prefix):gsub("(url%(#)", "%1" .. prefix)
  svg = svg:gsub("<title>Gnuplot</title>", function() return "<title>" .. escaped(title) .. "</title>" end)
    :gsub("<desc>.-</desc>", "")
  return svg
end

-- What a step draws, as SVGs.
local function pictures_of(taken, step, count)
  local window, drawn = require "penumbra.plot.show", {}
  local before = window.display
  window.display = function(svg, title) drawn[#drawn + 1] = inlined(svg, count + #drawn + 1, title) end
  local fine, message = pcall(step.plot, world.view(taken.env, taken.originals, taken.lessons_world))
  window.display = before
  if not fine then error(("the picture of step %s: %s"):format(step.id, tostring(message)), 0) end
  return drawn
end

-- ---- the page ----

local function exercise(step, number)
  return ('<div class="exercise">%s<div class="room"></div></div>\n'):format(
    (html_of(step.ask):gsub("^<p>", ("<p><b>Exercise %d.</b> "):format(number), 1)))
end

local function answers_of(lesson)
  local parts, number = { '<section class="answers">\n<h1>Answers</h1>\n' }, 0
  for _, step in ipairs(lesson.steps) do
    if step.ask then
      number = number + 1
      parts[#parts + 1] = ("<p><b>Exercise %d</b> (%s)</p>\n%s"):format(number, escaped(heading(step.id)), code(step.answer))
    end
  end
  parts[#parts + 1] = "</section>\n"
  return table.concat(parts)
end

local function head(lesson)
  local title = escaped(lesson.title or lesson.name)
  local source = lesson.source and ('<p class="source">From: %s</p>\n'):format(escaped(lesson.source)) or ""
  return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>%s</title>\n<style>\n%s</style>\n</head>\n'
    .. "<body>\n<h1>%s</h1>\n%s%s"):format(title, STYLE, title, html_of(lesson.about or ""), source)
end

local function needs_gnuplot(lesson)
  for _, step in ipairs(lesson.steps) do
    if step.plot then return true end
  end
  return false
end

-- The page as text; it plays the lesson for what its pictures show.
function handout.html(lesson, answers)
  if needs_gnuplot(lesson) and not require "penumbra.plot.show".installed() then
    error("the pictures of a handout need gnuplot: sudo apt install gnuplot-nox", 0)
  end
  local taken, parts, exercises, pictures = course.new(lesson), { head(lesson) }, 0, 0
  local function add(...) parts[#parts + 1] = table.concat { ... } end
  for k, step in ipairs(lesson.steps) do
    add(("<h2>%s <small>%d of %d</small></h2>\n"):format(escaped(heading(step.id)), k, #lesson.steps), html_of(step.text or ""))
    if step.plot then
      taken:prepare(k)
      for _, svg in ipairs(pictures_of(taken, step, pictures)) do
        pictures = pictures + 1
        add("<figure>", svg, "</figure>\n")
      end
    end
    if step.ask then
      exercises = exercises + 1
      add(exercise(step, exercises))
    elseif step.code then
      add(code(step.code))
    end
  end
  if answers then add(answers_of(lesson)) end
  return table.concat(parts) .. "</body>\n</html>\n"
end

-- ---- PDF ----

-- Programs that print a page, the best first: command, and its words for an input and an output.
local printers = {
  { "chromium", "timeout 300 chromium --headless --disable-gpu $(test $(id -u) != 0 || echo --no-sandbox) --no-pdf-header-footer "
    .. "--user-data-dir=OUT.profile --print-to-pdf=OUT file://IN" },
  { "weasyprint", "weasyprint IN OUT" },
  { "wkhtmltopdf", "wkhtmltopdf -q IN OUT" },
}

local function printer()
  for _, row in ipairs(printers) do
    if os.execute(("command -v %s >/dev/null 2>&1"):format(row[1])) then return row[1], row[2] end
  end
  error("--pdf needs chromium, weasyprint or wkhtmltopdf: sudo apt install weasyprint", 0)
end

-- The page as a PDF.  No word of the caller's is in the command: both files have names from os.tmpname.
function handout.pdf(lesson, answers)
  local name, command = printer()
  local page = handout.html(lesson, answers)
  local base = os.tmpname()
  local input, output = base .. ".html", base .. ".pdf"
  local written, why = require "penumbra.files".put(input, page)
  local ran = written and os.execute((command:gsub("IN", input):gsub("OUT", output)) .. " >/dev/null 2>&1")
  local made = io.open(output, "rb")
  local text = ""
  if made then text, why = made:read "a" end
  if made and why then why = ("%s: %s"):format(output, why) end
  if made then made:close() end
  os.execute(("rm -rf '%s' '%s' '%s' '%s.profile'"):format(base, input, output, output))
  if why then error(why, 0) end
  if not (ran and text:find "^%%PDF") then error(("%s made no PDF of the page"):format(name), 0) end
  return text
end

return handout
