local csv = require "penumbra.course.csv"

describe("a table as CSV", function()
  it("quotes separators and quotes, and leaves plain texts and numbers alone", function()
    assert.equal('Ada,3,0\n"a,b","say ""x""","1;2"\n', csv { { "Ada", 3, 0 }, { "a,b", 'say "x"', "1;2" } })
  end)

  it("gives no text that a spreadsheet takes for a formula", function()
    for _, text in ipairs { "=1+1", "+1", "-1", "@SUM(A1)", " =1", "=cmd|'/c calc'!A1" } do
      assert.equal("'" .. text .. "\n", csv { { text } })
    end
    assert.equal('"\'=HYPERLINK(""http://x"",""y"")"\n', csv { { '=HYPERLINK("http://x","y")' } })
  end)

  it("keeps a cell on one line: control characters and what is no UTF-8 are \\xHH", function()
    assert.equal("a\\x0ab\\x09=1\\x1b[31m\\x0d\n", csv { { "a\nb\t=1\27[31m\r" } })
    assert.equal("\\x09=1\n", csv { { "\t=1" } })
    assert.equal("\\xff\\x00é\n", (csv { { "\xff\0é" } }):gsub("\\xc3\\xa9", "é"))
    assert.equal("Zoë/O'Neil\n", csv { { "Zoë/O'Neil" } })
  end)
end)
