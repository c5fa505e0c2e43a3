local deadline = require "penumbra.course.deadline"

describe("a deadline", function()
  it("is the last second of a minute or of a day, by the clock of this machine or in a zone", function()
    assert.equal(59, deadline.parse "1970-01-01 00:00 Z")
    assert.equal(1709164859, deadline.parse "2024-02-29T00:00 Z") -- date -u -d 2024-02-29 +%s, and 59
    assert.equal(1796752859 - 3600, deadline.parse "2026-12-08 18:00 +01:00")
    assert.equal(1796752859 + 5400, deadline.parse "2026-12-08 18:00 -0130")
    local day = deadline.parse "2026-12-08"
    assert.equal("2026-12-08 23:59:59", os.date("%Y-%m-%d %H:%M:%S", day))
    assert.equal("2026-12-08 18:00:59", os.date("%Y-%m-%d %H:%M:%S", deadline.parse "2026-12-08 18:00"))
  end)

  it("refuses what is none, with the value and what would be one", function()
    for _, text in ipairs { "", "tomorrow", "8.12.2026", "2026-12-8", "2026-12-08 6pm", "2026-12-08 18:00 CET",
      "2026-12-08 18:00 +99:00" } do
      local due, why = deadline.parse(text)
      assert.is_nil(due, text)
      assert.truthy(why:find('expected a day or a minute, such as "2026-12-08"', 1, true), why)
      assert.truthy(why:find(("got '%s'"):format(text), 1, true), why)
    end
    for _, text in ipairs { "2026-02-29", "2026-13-01", "2026-00-10", "2100-02-29", "2026-12-08 24:00", "2026-12-08 18:60" } do
      assert.same({ nil, ("there is no such day or time: '%s'"):format(text) }, { deadline.parse(text) })
    end
    assert.truthy(select(2, deadline.parse(5)):find("got a number", 1, true))
  end)
end)
