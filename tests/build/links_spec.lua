-- links_spec.lua -- relative links of Markdown files lead to files and headings that are there.
local program = require "tests.tools.program"

-- What is text: no code.
local function prose(text)
  return (("\n" .. text):gsub("\n *```.-\n *```", "\n"):gsub("`[^`\n]*`", ""))
end

-- The anchors of headings, as GitHub makes them, and those that are written out.
local function anchors(text)
  local out = {}
  for id in text:gmatch '<a id="([^"]+)">' do out[id] = true end
  for heading in ("\n" .. text):gsub("\n```.-\n```", "\n"):gmatch "\n#+ +([^\n]+)" do
    local name = heading:gsub("%]%b()", "]"):lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")
    local again, count = name, 0
    while out[again] do
      count = count + 1
      again = name .. "-" .. count
    end
    out[again] = true
  end
  return out
end

-- "a/b/../c.md" is "a/c.md".
local function joined(folder, target)
  local parts = {}
  for part in (folder .. target):gmatch "[^/]+" do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

-- Links of a document that lead nowhere, and how many there are.
local function dangling(path, text)
  local wrong, count = {}, 0
  for link in prose(text):gmatch "%]%(([^%s()]+)%)" do
    local target, anchor = link:match "^([^#]*)#?(.*)$"
    if not link:find "^%a+:" then
      count = count + 1
      local file = joined(path:match "^.*/" or "", target)
      local there = target == "" or io.open(file) -- folders open, too
      if io.type(there) then there:close() end
      local known = there and (anchor == "" or anchors(target == "" and text or program.read_all(file))[anchor])
      if not known then wrong[#wrong + 1] = path .. " -> " .. link end
    end
  end
  return wrong, count
end

describe("Markdown files", function()
  it("have relative links that lead to files and headings", function()
    local files = program.shell "git ls-files '*.md' 2>/dev/null || true"
    if files == "" then files = program.shell "find . -name '*.md' ! -path './build*' | sed 's|^./||'" end
    local wrong, documents, links = {}, 0, 0
    for path in files:gmatch "[^\n]+" do
      local some, count = dangling(path, program.read_all(path))
      table.move(some, 1, #some, #wrong + 1, wrong)
      documents, links = documents + 1, links + count
    end
    assert.equal("", table.concat(wrong, "\n"))
    assert.is_true(documents >= 25 and links >= 100, ("%d links in %d files"):format(links, documents))
  end)

  it("have no angle brackets in text that would be read as a tag of HTML and vanish", function()
    for path in program.shell "ls README.md stdlib/handbook/*.md":gmatch "[^\n]+" do
      assert.is_nil(prose(program.read_all(path)):match "<%a[^>]*>", path)
    end
  end)

  it("are read as GitHub reads them", function()
    assert.same({ ["a-b_c--d"] = true, ["t"] = true, ["t-1"] = true }, anchors "# A `b_c` & d\n\n## T\n\n### T\n```\n# no\n```\n")
    local text = "# One\n[a](teach.md#plot) [b\nc](no.md#x) `[d](no.md)` [e](https://x.y) [f](#one) [g](#two) [h](../solvers)\n"
      .. "```\n[i](no.md)\n```\n"
    local wrong, count = dangling("stdlib/handbook/x.md", text)
    assert.equal(5, count)
    assert.same({ "stdlib/handbook/x.md -> no.md#x", "stdlib/handbook/x.md -> #two" }, wrong)
  end)
end)
