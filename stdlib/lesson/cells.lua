-- lesson_cells.lua -- a lesson as a Jupyter notebook (nbformat 4.5), whose exercises are live: see lesson_live.lua.
-- Depends on: penumbra.kernel, penumbra.lesson.blocks, penumbra.lesson.live.  Used by: penumbra.programs.lesson.
-- Source: nbformat documentation, "The Notebook file format", version 4.5.
local blocks = require "penumbra.lesson.blocks"
local kernel = require "penumbra.kernel"
local live = require "penumbra.lesson.live"

-- ---- Markdown ----

-- Prose in which nothing but backquotes means anything.
local function plain(text)
  return (text:gsub("[\\*_#$~|<>%[%]]", "\\%0"):gsub("&", "&amp;"))
end

local function prose(text)
  local out, at = {}, 1
  for before, name, after in text:gmatch "([^`]*)(`[^`]+`)()" do
    out[#out + 1] = plain(before) .. name
    at = after
  end
  text = table.concat(out) .. plain(text:sub(at))
  return (text:gsub("^(%d+)([.)])", "%1\\%2"):gsub("^[-+=]", "\\%0"))
end

local function markdown(text)
  local parts = {}
  for k, block in ipairs(blocks(text)) do
    parts[k] = block.kind == "prose" and prose(block.text) or "```text\n" .. block.text .. "\n```"
  end
  return table.concat(parts, "\n\n")
end

-- ---- cells ----

local function text_cell(id, source)
  return { cell_type = "markdown", id = id, metadata = {}, source = source }
end

local function code_cell(id, source, tag)
  return { cell_type = "code", id = id, metadata = tag and { tags = { tag } } or {}, source = source, outputs = kernel.none,
    execution_count = kernel.null }
end

local WELCOME = [[
Run the cells from top to bottom. The answer to an exercise belongs into the cell below it, under its first line (such as
`-- Exercise: %s`), which stays. Run that cell, and it says whether the answer is right. You may run cells again and in any order.
`lesson.hint "%s"` helps, `lesson.skip "%s"` shows an answer and runs it, and `lesson.check()` lists what is done. The cell that
opens the lesson starts over.]]

local function head(lesson)
  local parts = { "# " .. plain(lesson.title or lesson.name), markdown(lesson.about or "") }
  if lesson.source then parts[#parts + 1] = "From: " .. plain(lesson.source) end
  for _, step in ipairs(lesson.steps) do
    if step.ask then
      parts[#parts + 1] = WELCOME:gsub("%%s", step.id):gsub("\n", " ")
      break
    end
  end
  return table.concat(parts, "\n\n")
end

local function add_step(cells, lesson, k, answers)
  local step = lesson.steps[k]
  local function add(cell) cells[#cells + 1] = cell end
  add(text_cell("text-" .. step.id, ("### %d of %d: %s\n\n%s"):format(k, #lesson.steps, step.id, markdown(step.text or ""))))
  if step.plot then add(code_cell("picture-" .. step.id, ("lesson.picture %q"):format(step.id))) end
  if step.ask then
    add(text_cell("exercise-" .. step.id, "**Exercise.** " .. markdown(step.ask)))
    add(code_cell("answer-" .. step.id, live.mark(step.id) .. "\n" .. (answers and step.answer or ""), "exercise"))
  elseif step.code then
    add(code_cell("code-" .. step.id, step.code))
  end
end

-- The notebook as text; `name`: how it asks for the lesson.  answers: the cells of exercises hold them.
return function(lesson, name, answers)
  local cells = { text_cell("head", head(lesson)), code_cell("open", ("lesson(%q, {notebook = true})"):format(name)) }
  for k in ipairs(lesson.steps) do add_step(cells, lesson, k, answers) end
  cells[#cells + 1] = code_cell("check", "lesson.check()")
  return kernel.encode {
    nbformat = 4, nbformat_minor = 5, cells = cells,
    metadata = {
      title = lesson.title,
      kernelspec = { name = "penumbra", display_name = "Penumbra", language = "lua" },
      language_info = { name = "lua", file_extension = ".lua", mimetype = "text/x-lua" },
    },
  } .. "\n"
end
