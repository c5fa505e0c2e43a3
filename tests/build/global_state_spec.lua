-- global_state_spec.lua -- many states may run in many threads: nothing in the library or the Lua module is a variable of the whole
-- process but what is listed here, each with its reason.
local build = os.getenv("PN_BUILD") or "build"

local reasons = {
  ["core/account current"] = "of each thread",
  ["core/alloc current"] = "the process's allocator, set before the first object",
  ["core/process page"] = "atomic; the number of the process, emptied in a child",
  ["core/stop current"] = "of each thread",
  ["core/vault vault"] = "the protection of pages is of the process; armed in one that runs a single script",
  ["core/vault paged_first"] = "blocks on disk, freed from any thread: their list,",
  ["core/vault paged_lock"] = "its lock,",
  ["core/vault paged_count"] = "and atomic, how many there are",
  ["core/vault place"] = "of each thread,",
  ["core/vault lack"] = "and why it had no room",
  ["numeric/blas_threads lock"] = "OpenBLAS has one number of threads for the process: a lock,",
  ["numeric/blas_threads users"] = "how many want it to be one,",
  ["numeric/blas_threads before"] = "and what it was",
  ["simd/simd best"] = "atomic; found once, the same by every thread",
  ["random/rng pn_process_generation"] = "atomic; counts forks, so that two processes do not draw the same noise",
  ["random/rng process_once"] = "libsodium is started once,",
  ["random/rng process_status"] = "and this says whether it did; written under pthread_once alone",
  ["random/keystream cipher"] = "libcrypto's, fetched with that, where a build asks for it",
  ["random/rng exposed"] = "atomic; counts secrets in plain memory, for tests",
  ["catalogue/solvers rows"] = "solvers of other libraries, added under a lock",
  ["catalogue/solvers lock"] = "that lock",
  ["ledger/ledger_watch current"] = "of each thread",
  ["mpi/lmpi world"] = "MPI is of the process",
  ["mpi/lmpi counts"] = "and room for one call of it",
}

local function is_variable(kind, section)
  return (kind == "OBJECT" or kind == "TLS") and section:match("^%.[td]?[db][as][ts][as]?") ~= nil
    and not section:match("^%.data%.rel%.ro") and not section:match("DW%.ref")
end

describe("the library", function()
  it("has no state of the whole process but what is known", function()
    local found, objects, file = {}, 0, nil
    local symbols = assert(io.popen(("find '%s/runtime' '%s/bindings' -name '*.o' -exec nm --format=sysv {} +"):format(
      build, build)))
    for line in symbols:lines() do
      local path = line:match("^Symbols from .-([^/]+/[^/]+)%.o:$")
      if path then
        file = path:gsub("^bindings/", "")
        objects = objects + 1
      end
      local name, kind, section = line:match("^(%S+)%s*|[^|]*|[^|]*|%s*(%S+)|[^|]*|[^|]*|(%S+)")
      -- The program, in prompt/, is one process with one state.
      if name and is_variable(kind, section) and not file:match("^prompt/") then
        found[("%s %s"):format(file, name:gsub("%.%d+$", ""))] = true
      end
    end
    symbols:close()
    assert.is_true(objects > 200)
    assert.is_true(found["random/rng process_once"]) -- it can see them
    for name in pairs(found) do
      assert.is_string(reasons[name], name .. " is a variable of the whole process")
    end
  end)
end)
