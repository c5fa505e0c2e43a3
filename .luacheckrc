-- Lua 5.4; busted's names in the specs.
std = "lua54"
max_line_length = 132
ignore = { "581" } -- `not (x <= y)` is how a NaN is refused
files["tests/**/*_spec.lua"] = {
  std = "lua54+busted",
  ignore = { "122" }, -- a spec may stand in for io.write
}
files["tests/crash/*.lua"] = { read_globals = { "crash" }, ignore = { "122" } } -- of crash_test.c; a row stands in for os.execute
files["bindings/package/reader.lua"] = { read_globals = { "pandoc" }, globals = { "Reader" } } -- pandoc's
files["examples/embed/*.lua"] = { read_globals = { "pn", "records" } } -- of host.c
exclude_files = { "build*" }
