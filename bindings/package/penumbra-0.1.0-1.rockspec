-- From a checkout, with Debian's luarocks:
--   luarocks --lua-version 5.4 --local make bindings/package/penumbra-0.1.0-1.rockspec
-- make finds (on Debian: installs) what the build needs, and says what is missing elsewhere.
rockspec_format = "3.0"
package = "penumbra"
version = "0.1.0-1"
source = {
  url = "git+file://.", -- built where it stands: luarocks make
}
description = {
  summary = "Differentially private optimization in C, with a Lua front",
  detailed = [[
A runtime that certifies sensitivities, plans noise, charges a ledger before each noise is drawn, and trains: constraint sets,
potentials, losses and solvers that compose in Lua, while every loop over records or coordinates runs in C.]],
  license = "MIT",
}
dependencies = {
  "lua >= 5.4, < 5.5",
}
build = {
  type = "make",
  build_target = "all",
  -- Flags are those of the Makefile; luarocks' own are for a single file.
  build_variables = {},
  install_target = "install-rock",
  install_variables = {
    ROCK_LUA = "$(LUADIR)",
    ROCK_LIB = "$(LIBDIR)",
  },
}
