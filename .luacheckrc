-- Lua 5.4; busted's names in the specs.
std = "lua54"
max_line_length = 120
files["tests/**/*_spec.lua"] = { std = "lua54+busted" }
exclude_files = { "build*" }
