-- check_layers_spec.lua -- the layer check passes this tree and catches what is planted in its empty folders.
local lua = os.getenv("PN_LUA") or "lua5.4"
local cc = os.getenv("PN_CC") or "cc"

-- Exit success and output of a shell command.
local function sh(command)
  local pipe = assert(io.popen("{ " .. command .. "; } 2>&1"))
  local text = pipe:read("a")
  return pipe:close() == true, text
end

local function check(root, objects)
  return sh(("%s tests/tools/check_layers.lua '%s' %s"):format(lua, root, objects and "'" .. objects .. "'" or ""))
end

describe("check-layers", function()
  local copy

  before_each(function()
    copy = os.tmpname()
    os.remove(copy)
    assert.is_true(sh(("find runtime -type d | sed 's|^|%s/|' | xargs mkdir -p"):format(copy)))
  end)

  after_each(function()
    assert.is_true(sh(("rm -r '%s'"):format(copy)))
  end)

  local function plant(path, text)
    local file = assert(io.open(copy .. "/" .. path, "w"))
    file:write(text, "\n")
    file:close()
  end

  -- `text` stands in line 2.
  local function finds(path, text, rule, line)
    plant(path, "\n" .. text)
    local ok, said = check(copy)
    assert.is_false(ok)
    assert.truthy(said:find(("%s:%d: "):format(path, line or 2), 1, true), said)
    assert.truthy(said:find(rule, 1, true), said)
    assert.truthy(said:find("%d+ files, 1 breaches"), said)
  end

  it("passes the tree as it is", function()
    local ok, said = check(".")
    assert.is_true(ok, said)
  end)

  it("fails on a public header of a room above", function()
    finds("runtime/core/status.c", '#include "penumbra/set.h"', 'may not include "penumbra/set.h": core/ may open no other room')
  end)

  it("fails on a public header that includes one of a room above", function()
    finds("runtime/include/penumbra/set.h", '#include "penumbra/plan.h"', "geometry/ may open core, numeric, random, expr")
  end)

  it("fails on a public header that knows the inside", function()
    finds("runtime/include/penumbra/set.h", '#include "geometry/convex/set.h"', "what hosts include knows nothing of runtime/")
  end)

  it("fails on a public header without a room", function()
    finds("runtime/include/penumbra/new.h", "", "no room has this header", 1)
  end)

  it("fails on an include that points upward, with file, line and rule", function()
    finds("runtime/core/status.c", '#include "data/dataset.h"', 'may not include "data/dataset.h": core/ may open no other room')
  end)

  it("fails on an include that points upward between the floors of a room, or across to one beside it", function()
    finds("runtime/privacy/event/planted.c", '#include "privacy/ledger/ledger.h"', "privacy/ledger is not below privacy/event")
    os.remove(copy .. "/runtime/privacy/event/planted.c")
    finds("runtime/solvers/frank_wolfe/planted.c", '#include "solvers/first_order/sgd.h"', "is not below solvers/frank_wolfe")
    os.remove(copy .. "/runtime/solvers/frank_wolfe/planted.c")
    finds("runtime/numeric/simd/planted.c", '#include "numeric/blas.h"', "numeric/ is not below numeric/simd")
  end)

  it("fails on a file beside the floors of a room, and on a floor that the table does not know", function()
    finds("runtime/privacy/planted.c", "int x;", "'privacy/' is no floor", 1)
    os.remove(copy .. "/runtime/privacy/planted.c")
    assert.is_true(sh(("mkdir '%s/runtime/privacy/attic'"):format(copy)))
    finds("runtime/privacy/attic/planted.c", "int x;", "'privacy/attic' is no floor", 1)
  end)

  it("fails on an extern that reaches upward, which only objects show", function()
    local objects = copy .. "/objects"
    local function compile(path, text)
      plant("runtime/" .. path .. ".c", text)
      local command = "mkdir -p '%s/%s' && %s -c '%s/runtime/%s.c' -o '%s/%s.o'"
      assert.is_true(sh(command:format(objects, path:match "^(.*)/", cc, copy, path,
        objects, path)))
    end
    compile("solvers/catalogue/planted_row", "int planted_row = 1;")
    compile("solvers/catalogue/planted_user", "extern int planted_row; int planted_user(void) { return planted_row; }")
    assert.is_true(check(copy, objects))
    compile("solvers/engine/planted_user", "extern int planted_row; int planted_again(void) { return planted_row; }")
    local ok, said = check(copy, objects)
    assert.is_false(ok)
    local breach = "runtime/solvers/engine/planted_user.c:1: may not use planted_row of solvers/catalogue/planted_row"
    assert.truthy(said:find(breach, 1, true), said)
  end)

  it("fails on an include between rooms that do not know each other", function()
    finds("runtime/geometry/sets/planted.c", '#include "privacy/event/event.h"', "geometry/ may open core, numeric, random, expr")
  end)

  it("fails on an include with unusual blanks", function()
    finds("runtime/numeric/planted.h", '  #  include   "solvers/engine/solver.h"', "numeric/ may open core")
  end)

  it("fails on a header of Lua or of the terminal in the runtime", function()
    finds("runtime/solvers/engine/planted.c", "#include <lua.h>", "Lua stays in bindings/")
  end)

  it("fails on a call that prints, exits or jumps", function()
    finds("runtime/core/planted.c", 'static void f(void) { printf("hello"); }', "the runtime never prints")
    os.remove(copy .. "/runtime/core/planted.c")
    finds("runtime/core/planted.c", "static void f(void) { abort(); }", "the runtime never exits")
    os.remove(copy .. "/runtime/core/planted.c")
    finds("runtime/core/planted.c", "static void f(void) { fputs(text, stderr); }", "the runtime never prints")
  end)

  it("fails on a descriptor that does not come from its door", function()
    for _, call in ipairs { "open(path, 0)", "fopen(path, mode)", "pipe2(ends, 0)", "mkstemp(name)", "gzopen(path, mode)" } do
      finds("runtime/data/planted.c", ("static int f(void) { return %s; }"):format(call), "descriptors come from core/file.h")
      os.remove(copy .. "/runtime/data/planted.c")
    end
    assert.is_true(sh(("mkdir '%s/bindings'"):format(copy)))
    finds("bindings/planted.c", "static int f(void) { return socket(1, 2, 3); }", "descriptors come from core/file.h")
  end)

  it("fails on memory that does not come from the allocator", function()
    finds("runtime/data/planted.c", "static void *f(void) { return malloc(8); }", "pn_alloc")
  end)

  it("fails on a room that the table does not know", function()
    assert.is_true(sh(("mkdir '%s/runtime/attic'"):format(copy)))
    finds("runtime/attic/planted.c", "int x;", "'attic' is no room", 1)
  end)

  it("lets comments, strings and members say what code may not", function()
    plant("runtime/core/planted.c", [[
/* printf(), then exit()
 * and malloc() */
static const char *text = "abort() \" longjmp()"; // puts()
static char quote = '"', other = '\'';
static void f(struct ops *ops) { ops->free(ops); ops.exit(1); snprintf(text, 1, ""); fprintf(file, ""); }]])
    local ok, said = check(copy)
    assert.is_true(ok, said)
  end)
end)
