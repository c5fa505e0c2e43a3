-- Ledgers, fits and plans as HTML tables.
local pn = require "penumbra"
local html = require "penumbra.notebook.html"

local function cell(text) return '<td style="text-align:left">' .. text .. "</td>" end

describe("a page as HTML", function()
  it("keeps apart what the budget row of a ledger says in two sentences, and its charges in rows", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    L:spend(pn.event.gaussian { sigma = 20, sensitivity = 1 }, "a look")
    L:spend(pn.event.gaussian { sigma = 40, sensitivity = 1 }, "another")
    local shown = html(tostring(L))
    assert.matches("% of 1 spent<br>a further run may cost", shown, 1, true)
    assert.matches(cell "a look" .. "</tr><tr>", shown, 1, true)
    assert.matches("<th style=\"text%-align:left\"></th>" .. ".-another</td></tr>", shown)
  end)

  it("joins what the width of the page has parted", function()
    local filled = "plan: a walk\n  over     the hill and far away, where the grass is always greener than here and\n"
      .. "           the sky is blue\n  steps    two & two"
    local shown = html(filled)
    assert.matches(cell "the hill and far away, where the grass is always greener than here and the sky is blue", shown, 1, true)
    assert.matches(cell "two &amp; two", shown, 1, true)
    assert.is_nil(shown:find "<br>")
  end)
end)
