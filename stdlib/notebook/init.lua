-- notebook.lua -- the Jupyter kernel: what each request means.  Reading, completing, explaining and showing are the prompt's, so
-- that a notebook and the prompt have one state of Lua and one set of rules.
-- Depends on: penumbra.kernel (bindings/kernel), penumbra.prompt, penumbra.prompt.show, .magic, .inspect, penumbra.errors,
-- penumbra.notebook.html, penumbra.plot.show.  Used by: penumbra.programs.kernel.
-- Source: Jupyter client documentation, "Messaging in Jupyter", version 5.3 of the protocol.
local kernel = require "penumbra.kernel"
local errors = require "penumbra.errors"
local prompt = require "penumbra.prompt"
local show = require "penumbra.prompt.show"
local html = require "penumbra.notebook.html"

local MOST_FAILURES = 100 -- one after the other end the kernel; a few, as where memory is short, do not take its names away
local ABORT_MS = 50 -- within this time of each other arrive the cells that were asked for together
local encode, none = kernel.encode, kernel.none

local notebook = {}

local link        -- the sockets, while a kernel runs
local running     -- the execution at hand: {count=, failed=, shown=}
local leaving     -- a shutdown was asked for
local count = 0   -- of executions

-- ---- display ----

-- An answer without keys is {}: encode makes an object of it.
local function bundle(data)
  return { data = data, metadata = {} }
end

local function of_text(text)
  return { ["text/plain"] = kernel.clean(text), ["text/html"] = html(text) and kernel.clean(html(text)) or nil }
end

-- The values of a cell, as the prompt shows them.
function prompt.show_values(values, number)
  if not running then return end
  local content = bundle(of_text(show.texts(table.unpack(values, 1, values.n))))
  if number then content.execution_count = running.count end
  link:publish(number and "execute_result" or "display_data", encode(content))
end

function prompt.report(text)
  if not running then return io.stderr:write(text, "\n") end
  running.failed = { text = text, message = errors.message }
end

-- pn.plot: the picture, and what it says where pictures are not shown.
-- Without the declaration of XML: programs that make pages of notebooks refuse one within a page.
local function show_picture(svg, words)
  svg = svg:gsub("^%s*<%?xml.-%?>%s*", "")
  link:publish("display_data", encode(bundle { ["image/svg+xml"] = kernel.clean(svg), ["text/plain"] = kernel.clean(words) }))
end

-- One line that changes in place, taken away at the end.
local function show_bar(line)
  if not running then return end
  local content = bundle { ["text/plain"] = kernel.clean(line) }
  local first = not running.bar
  running.bar = running.bar or kernel.id()
  content.transient = { display_id = running.bar }
  link:publish(first and "display_data" or "update_display_data", encode(content))
end

-- ---- execution ----

local function lines_of(text)
  local out = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do out[#out + 1] = kernel.clean(line) end
  return out
end

local function failure_content(failed)
  local message = kernel.clean(failed.message or failed.text)
  local name = message:find "interrupted$" and "Interrupted" or "Error"
  return { ename = name, evalue = message, traceback = lines_of(failed.text) }
end

-- The text of values that are shown to nobody.
local function run_silently(code)
  local run, message = prompt.compile(code, prompt.env(), "=cell")
  if not run then return { text = errors.syntax(message), message = message } end
  local fine, text = kernel.call(run)
  return not fine and { text = text, message = errors.message } or nil
end

local function note_stop()
  local stopped, raised = kernel.stopped()
  if stopped and not raised then
    io.stderr:write "(stopped by an interrupt: this is what the run had reached; `paid` is its price so far)\n"
  end
end

local function run_cell(code)
  local fine, run = kernel.call(prompt.begin, code)
  if not fine then return { text = run, message = errors.message } end
  if not run then return running.failed end
  prompt.results = running.count - 1 -- so that _3 is what stands beside Out[3]
  local results = table.pack(kernel.call(run))
  if results[1] then note_stop() end
  local finished, wrong = kernel.call(prompt.finish, table.unpack(results, 1, results.n))
  return not finished and { text = wrong, message = errors.message } or running.failed
end

local function expressions_of(wanted)
  local out = {}
  for name, code in pairs(type(wanted) == "table" and wanted or {}) do
    local run, message = prompt.compile(code, prompt.env(), "=expression")
    local fine, value = false, message
    if run then fine, value = kernel.call(run) end
    if fine then
      out[name] = { status = "ok", data = of_text(show.text(value)), metadata = {} }
    else
      out[name] = failure_content { text = tostring(value), message = tostring(value) }
      out[name].status = "error"
    end
  end
  return out
end

local function execute(content)
  local code, silent = content.code or "", content.silent
  if not silent and code:find "%S" then count = count + 1 end
  running = { count = count }
  if not silent then link:publish("execute_input", encode { code = code, execution_count = count }) end
  local failed
  if silent then failed = run_silently(code) else failed = run_cell(code) end
  local reply = { execution_count = count }
  if failed then
    for key, value in pairs(failure_content(failed)) do reply[key] = value end
    if not silent then link:publish("error", encode(failure_content(failed))) end
    reply.status = "error"
    if content.stop_on_error ~= false then link:hold(ABORT_MS) end -- before anybody knows
  else
    reply.status, reply.payload, reply.user_expressions = "ok", none, expressions_of(content.user_expressions)
  end
  running = nil
  link:reply("execute_reply", encode(reply))
end

-- ---- what else is asked ----

-- What `body` writes.
local function written(body)
  local file, before = io.tmpfile(), io.output()
  if not file then return "" end
  io.output(file)
  local fine, wrong = kernel.call(body)
  io.output(before)
  file:seek "set"
  local text = file:read "a"
  file:close()
  return fine and text or wrong
end

-- The bytes in front of a place that is given in characters.
local function before(code, position)
  local at = math.type(position) == "integer" and position >= 0 and utf8.len(code) and utf8.offset(code, position + 1)
  return at and code:sub(1, at - 1) or code
end

local function complete(content)
  local text = before(content.code or "", content.cursor_pos)
  local fine, names, start = kernel.call(prompt.complete, text)
  local matches = {}
  for name in (fine and names or ""):gmatch "[^\n]+" do matches[#matches + 1] = name end
  local from = fine and utf8.len(text:sub(1, (start or #text + 1) - 1)) or utf8.len(text) or 0
  return { status = "ok", matches = #matches > 0 and matches or none, cursor_start = from, cursor_end = utf8.len(text) or #text,
    metadata = {} }
end

-- The name around the cursor, or of the call that it stands in.
local function name_at(code, position)
  local left = before(code, position)
  local right = code:sub(#left + 1):match "^[%w_]*"
  local name = (left .. right):match "([%a_][%w_.:]*)$"
  return name or left:match "([%a_][%w_.:]*)%s*[({][^(){}]*$"
end

local function inspect(content)
  local name = name_at(content.code or "", content.cursor_pos)
  local fine, known = kernel.call(load("return " .. (name and name:gsub(":", ".") or "nil"), "=name", "t", prompt.env()) or load "")
  local reference = require "penumbra".reference()
  local found = name and (fine and known ~= nil or reference[name])
  local text = found and written(function()
    require "penumbra.prompt.inspect".show(name, (content.detail_level or 0) > 0)
  end) or ""
  return { status = "ok", found = text ~= "", data = text ~= "" and { ["text/plain"] = kernel.clean(text) } or {}, metadata = {} }
end

local function is_complete(content)
  local code = content.code or ""
  local fine, ready = kernel.call(prompt.ready, code)
  if fine and not ready then
    local found, _, indent = kernel.call(prompt.indent, code)
    return { status = "incomplete", indent = (" "):rep(found and math.tointeger(indent) or 0) }
  end
  local run, _, more = prompt.compile(code, prompt.env())
  local invalid = not run and not more and not code:find "^%s*[%%?!]" and not code:find "%?%s*$" and code:find "%S"
  return { status = invalid and "invalid" or "complete" }
end

-- "a*b?" as a pattern of Lua.
local function glob(text)
  return "^" .. text:gsub("[%^%$%(%)%%%.%[%]%+%-]", "%%%0"):gsub("%*", ".*"):gsub("%?", ".") .. "$"
end

-- The numbers of the cells that are asked for, in order.
local function chosen(content)
  local kind, list, seen = content.hist_access_type, {}, {}
  local pattern = kind == "search" and glob(content.pattern or "*")
  for i, text in ipairs(prompt.entries) do
    local inside = kind ~= "range" or i >= (content.start or 0) and i < (content.stop or math.huge)
    if inside and (not pattern or text:find(pattern)) then
      if content.unique and seen[text] then table.remove(list, seen[text]) end
      list[#list + 1] = i
      if content.unique then
        for at, number in ipairs(list) do seen[prompt.entries[number]] = at end
      end
    end
  end
  local most = kind ~= "range" and math.tointeger(content.n) or #list
  return table.move(list, math.max(1, #list - most + 1), #list, 1, {})
end

local function history(content)
  local found = {}
  for k, number in ipairs(chosen(content)) do
    local text = kernel.clean(prompt.entries[number])
    found[k] = { 0, number, content.output and { text, "" } or text }
  end
  return { status = "ok", history = #found > 0 and found or none }
end

local function information()
  local version = require "penumbra".version
  return {
    status = "ok", protocol_version = "5.3", implementation = "penumbra", implementation_version = version,
    language_info = { name = "lua", version = _VERSION:match "%d.*", mimetype = "text/x-lua", file_extension = ".lua",
      pygments_lexer = "lua", codemirror_mode = "lua" },
    banner = ("Penumbra %s (%s): differentially private optimization.  help() shows what there is, ?name explains."):format(version,
      _VERSION),
    help_links = none,
  }
end

local answers = {
  kernel_info_request = information,
  complete_request = complete,
  inspect_request = inspect,
  is_complete_request = is_complete,
  history_request = history,
  comm_info_request = function() return { status = "ok", comms = {} } end,
  interrupt_request = function() return { status = "ok" } end, -- of a run: it has ended before this was read
  shutdown_request = function(content)
    leaving = true
    return { status = "ok", restart = content.restart or false }
  end,
}

-- ---- requests ----

-- A cell that was asked for before it was known that one in front of it failed is `held`.
local function answer(kind, content, held)
  if kind == "execute_request" and held then
    link:reply("execute_reply", encode { status = "aborted", execution_count = count })
  elseif kind == "execute_request" then
    execute(content)
  elseif answers[kind] then
    link:reply(kind:gsub("request$", "reply"), encode(answers[kind](content)))
  end
end

-- Made while there is memory for them.
local BUSY, IDLE = encode { execution_state = "busy" }, encode { execution_state = "idle" }
local NO_MEMORY = encode { status = "error", ename = "Error", evalue = "not enough memory", traceback = { "not enough memory" } }

-- A request that is not as the protocol has it gets no answer; where memory ran out, somebody waits for one.
local function handle(header, content, held)
  link:answers()
  link:publish("status", BUSY)
  local fine, wrong = pcall(answer, header.msg_type, content, held)
  running = nil
  if not fine and tostring(wrong):find("memory", 1, true) then
    link:reply(header.msg_type:gsub("request$", "reply"), NO_MEMORY)
  elseif not fine then
    io.stderr:write(("kernel: %s was not answered: %s\n"):format(header.msg_type, wrong))
  end
  link:publish("status", IDLE)
end

-- The next request; nothing after a signal, or when it is none.
local function next_request()
  local header, content, held = link:receive()
  header, content = header and kernel.decode(header), content and kernel.decode(content)
  local whole = type(header) == "table" and type(header.msg_type) == "string" and type(content) == "table"
  if whole then return header, content, held end
end

local function serve_next()
  local header, content, held = next_request()
  if header then handle(header, content, held) end
end

local function refuse_exit()
  error("exit: the notebook's menu shuts the kernel down", 0)
end

-- Serve until a shutdown is asked for.  `connection`: what the connection file says.
function notebook.serve(connection)
  link = kernel.open(connection)
  link:bar(show_bar)
  require "penumbra.colour".assume(io.stderr)
  require "penumbra.plot.show".display = show_picture
  prompt.opened(false)
  prompt.startup()
  for _, name in ipairs { "exit", "quit" } do rawset(_G, name, refuse_exit) end
  local failures = 0 -- in a row
  while not leaving do
    local fine, wrong = pcall(serve_next)
    running = nil
    failures = fine and 0 or failures + 1
    if failures == MOST_FAILURES then error(wrong, 0) end
    if not fine then pcall(io.stderr.write, io.stderr, "kernel: a request was not answered: ", tostring(wrong), "\n") end
  end
  link:close()
end

return notebook
