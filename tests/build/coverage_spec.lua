-- coverage_spec.lua -- the table that make coverage prints of gcovr's.
local program = require "tests.tools.program"

describe("coverage.awk", function()
  it("adds up files by rooms, whatever ends the lines, and divides by no zero", function()
    local columns = "filename,line_total,line_covered,line_percent,branch_total,branch_covered,branch_percent"
    local rows = "runtime/core/a.c,10,5,0.5,4,1,0.25\nruntime/data/b.c,0,0,,0,0,\nbindings/core/c.c,3,3,1.0,2,2,1.0\n"
    for _, ending in ipairs { "\n", "\r\n" } do
      local path = os.tmpname()
      program.write_all(path, ((columns .. "\n" .. rows):gsub("\n", ending)))
      local out, err, code = program.shell("awk -f tests/tools/coverage.awk " .. path)
      os.remove(path)
      assert.equal("", err)
      assert.equal(0, code)
      assert.equal([[
| room | files | lines | run | branches | taken |
|---|---:|---:|---:|---:|---:|
| bindings/core | 1 | 3 | 100.0 % | 2 | 100.0 % |
| runtime/core | 1 | 10 | 50.0 % | 4 | 25.0 % |
| runtime/data | 1 | 0 | - | 0 | - |
| all | 3 | 13 | 61.5 % | 6 | 50.0 % |
]], out)
    end
  end)
end)
