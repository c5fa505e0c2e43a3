-- citations_spec.lua -- what a comment cites is in the repository: the document, and the section by its number.
local function lines_of(command)
  local out, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

-- By their last part: {path=, sections={["3"]=true, ...}}.
local function documents()
  local out = {}
  for _, path in ipairs(lines_of "find runtime bindings stdlib examples tests *.md -name '*.md'") do
    local name = path:match "[^/]+$"
    local sections = out[name] and out[name].sections or {} -- pages of the handbook share names with theory
    for heading in ("\n" .. read(path)):gmatch "\n#+ +([%d%.]+)" do sections[heading:gsub("%.$", "")] = true end
    out[name] = { path = path, sections = sections }
  end
  return out
end

-- Comments go on at the next line behind a star or two dashes.
local function joined(text)
  return (text:gsub("\n[ \t]*%*+ ", " "):gsub("\n[ \t]*%-%-+ ", " "))
end

-- The section numbers that begin `text`: "section 2.1", "sections 2, 3.1 and 4 to 6".
local function cited(text)
  local list = text:match "^%s+sections? (%d[%d%., andto]*)"
  local out, last, to = {}, nil, false
  for word in (list or ""):gmatch "%S+" do
    local number = word:match "^(%d[%d%.]*)"
    if word == "to" then
      to = true
    elseif number then
      number = number:gsub("%.+$", "")
      if to and last then
        for k = last + 1, tonumber(number) or last do out[#out + 1] = tostring(k) end
      else
        out[#out + 1] = number
      end
      last, to = math.tointeger(tonumber(number)), false
    end
    if word:find "%.$" then break end
  end
  return out
end

-- {where=, document=, section=} of every citation in sources.
local function citations()
  local out = {}
  local sources = "find runtime bindings stdlib examples tests -name '*.[ch]' -o -name '*.cc' -o -name '*.lua'"
  for _, path in ipairs(lines_of(sources)) do
    local text = joined(read(path))
    for name, at in text:gmatch "([%w_%-]+%.md)()" do
      local of = cited(text:sub(at, at + 80))
      out[#out + 1] = { where = path, document = name }
      for _, section in ipairs(of) do out[#out + 1] = { where = path, document = name, section = section } end
    end
  end
  return out
end

-- Names that tests make up for files of their own.
local own = { ["notes.md"] = true, ["x.md"] = true, ["c.md"] = true, ["no.md"] = true }

describe("a citation", function()
  it("is read with all its sections", function()
    assert.same({ "3" }, cited " section 3. Then")
    assert.same({ "2.1", "2.3", "4" }, cited " sections 2.1, 2.3, 4. */")
    assert.same({ "3", "4", "5", "6" }, cited " sections 3 to 6. */")
    assert.same({ "1", "2", "4" }, cited " sections 1, 2 and 4.")
    assert.same({}, cited " says so")
  end)

  it("names a document that is here, and a section of it", function()
    local known, missing = documents(), {}
    local all = citations()
    for _, at in ipairs(all) do
      local document = known[at.document]
      if not own[at.document] and (not document or at.section and not document.sections[at.section]) then
        missing[#missing + 1] = ("%s cites %s%s"):format(at.where, at.document, at.section and " section " .. at.section or "")
      end
    end
    assert.is_true(#all > 150)
    assert.equal("", table.concat(missing, "\n"))
  end)
end)
