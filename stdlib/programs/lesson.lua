-- lesson.lua -- the program `penumbra lesson export`: lessons as notebooks and handouts.
-- Depends on: penumbra.files, penumbra.lesson.files, _cells, _handout, penumbra.programs.main.  Used by: bindings/prompt/main.c.
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra lesson export NAME [--notebook | --html | --pdf] [--answers] [-o FILE] [--force]
       penumbra lesson export --all DIR [--notebook | --html | --pdf] [--answers] [--force]
NAME is the name or number of a lesson, or the .lua file of one of your own; `penumbra -e 'lesson()'` lists them.  With --all,
DIR gets a file for each lesson, such as 02_gaussian.ipynb.
  --notebook         a Jupyter notebook, the default: its exercises check their answers in the kernel (penumbra kernel --install)
  --html             a handout: one HTML file, with its pictures in it
  --pdf              the handout as PDF, by chromium, weasyprint or wkhtmltopdf, whichever is installed
  --answers          the lecturer's copy: the notebook's exercises are answered, the handout's answers stand at its end
  -o, --output FILE  write to FILE, - is standard output; default: NAME.ipynb, NAME.html or NAME.pdf
  --force            overwrite files that are there
  -h, --help         print this
Exit status: 0 done; 1 no such lesson, or a file could not be written; 2 wrong usage.
]]

local takes = { ["--all"] = "all", ["-o"] = "output", ["--output"] = "output" }
local flags = { ["--notebook"] = "ipynb", ["--html"] = "html", ["--pdf"] = "pdf", ["--answers"] = "answers", ["--force"] = "force" }

local function parse(words)
  local asked, wrong = main.words(words, takes, flags)
  if not asked or asked.help then return asked, wrong end
  if asked[1] ~= "export" then
    return nil, asked[1] and ("unknown word '%s', expected export"):format(asked[1]) or "expected export and a lesson"
  end
  for _, name in ipairs { "ipynb", "html", "pdf" } do
    if asked[name] and asked.ending then return nil, "give one of --notebook, --html and --pdf" end
    asked.ending = asked[name] and name or asked.ending
  end
  asked.ending = asked.ending or "ipynb"
  if asked.all then
    if #asked > 1 then return nil, ("unexpected word '%s' beside --all"):format(asked[2]) end
    if asked.output then return nil, "--output is for one lesson; --all writes into its folder" end
  elseif #asked ~= 2 then
    return nil, #asked < 2 and "expected the name of a lesson, or --all DIR" or ("unexpected word '%s'"):format(asked[3])
  end
  return asked
end

-- ---- lessons ----

local function find(which)
  local files = require "penumbra.lesson.files"
  local fine, lesson = pcall(files.find, which)
  if not fine then error((tostring(lesson):gsub("^lesson: ", "")), 0) end
  return files.must_be_named(lesson, which)
end

local function text_of(lesson, name, asked)
  if asked.ending == "ipynb" then return require "penumbra.lesson.cells"(lesson, name, asked.answers) end
  return require "penumbra.lesson.handout"[asked.ending](lesson, asked.answers)
end

-- ---- files ----

local function must_be_free(path, asked)
  if asked.force then return end
  local file, why, number = io.open(path, "rb")
  if not file and (number == 2 or number == 20) then return end -- ENOENT, ENOTDIR
  if not file then error(why, 0) end
  file:close()
  error(("%s is there already; --force overwrites it"):format(path), 0)
end

local function put(path, text)
  local fine, why = require "penumbra.files".put(path, text)
  if not fine then error(why, 0) end
  io.stdout:write("wrote ", path, "\n")
end

local function export_one(asked)
  local which = asked[2]
  local lesson = find(which)
  local path = asked.output or ("%s.%s"):format(lesson.name, asked.ending)
  if path ~= "-" then must_be_free(path, asked) end
  local text = text_of(lesson, which:find "%.lua$" and which or lesson.name, asked)
  if path == "-" then return text end
  put(path, text)
  return ""
end

local function export_all(asked)
  local folder, lessons, paths = asked.all, require "penumbra.lesson.files".all(), {}
  for k, lesson in ipairs(lessons) do
    if lesson.problem then error(lesson.problem, 0) end
    paths[k] = ("%s/%s.%s"):format(folder, lesson.file, asked.ending)
    must_be_free(paths[k], asked)
  end
  local there, why = require "penumbra.files".folder(folder)
  if not there then error("--all: the folder could not be made: " .. why, 0) end
  for k, lesson in ipairs(lessons) do put(paths[k], text_of(lesson, lesson.name, asked)) end
  return ""
end

return main.program("penumbra lesson", usage, parse, function(asked)
  return (asked.all and export_all or export_one)(asked)
end)
