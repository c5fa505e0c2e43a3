-- embed.lua OUT FILE ... -- C source with Lua files of stdlib/ in it, for states without files: pnl_lua_half[] of
-- bindings/embed/open.c.  A page of the handbook is a module that returns its text.
-- Used by: Makefile.
local out = assert(io.open(arg[1], "w"))

-- stdlib/init.lua is penumbra, stdlib/lessons/init.lua penumbra.lessons, stdlib/lessons/01_x.lua penumbra.lessons.01_x.
local function module_of(path)
  local name = "penumbra." .. path:match("stdlib/(.*)%.%a+$"):gsub("/", ".")
  return (name:gsub("%.init$", ""))
end

local escapes = { ["\n"] = "\\n", ['"'] = '\\"', ["\\"] = "\\\\", ["?"] = "\\?" }
local function quoted(line)
  return '"' .. line:gsub("[%c\"\\?\128-\255]", function(c) return escapes[c] or ("\\%03o"):format(c:byte()) end) .. '"'
end

out:write("/* Made by tests/tools/embed.lua from stdlib/. */\n#include \"bindings/embed/open.h\"\n\n")
out:write("const pnl_lua_file pnl_lua_half[] = {\n")
for i = 2, #arg do
  local file = assert(io.open(arg[i], "rb"))
  local text = file:read("a")
  file:close()
  if arg[i]:find("%.md$") then
    text = "return [==[\n" .. text .. "]==]\n"
  end
  out:write(("    { \"%s\", \"@%s\", %d,\n"):format(module_of(arg[i]), arg[i], #text))
  for line in text:gmatch("[^\n]*\n?") do
    if line ~= "" then
      out:write("      ", quoted(line), "\n")
    end
  end
  out:write("    },\n")
end
out:write("    { 0 },\n};\n")
assert(out:close())
