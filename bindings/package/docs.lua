-- docs.lua -- make docs: the HTML reference, the manual page and the annotations for editors, all from the table that help shows.
--   penumbra docs.lua FOLDER HEADER ...      writes FOLDER/html, FOLDER/man, FOLDER/luals
-- Depends on: html.lua, c_pages.lua, man.lua, luals.lua beside it.  Used by: Makefile.
local here = arg[0]:match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path

local out, headers = arg[1], table.pack(table.unpack(arg, 2))

local function write(folder, files)
  assert(os.execute(("mkdir -p '%s'"):format(folder)))
  for name, text in pairs(files) do
    local file <close> = assert(io.open(folder .. "/" .. name, "w"))
    assert(file:write(text))
  end
end

write(out .. "/html", require("html").all(require "c_pages"(headers)))
write(out .. "/luals", require("luals").all())
write(out .. "/man", { ["penumbra.1"] = require "man" })
