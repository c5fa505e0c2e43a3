-- site_spec.lua -- the site is whole: every document and every entry of help has its page, every link, picture and row of the
-- search leads somewhere, nothing comes from elsewhere, and from a solver it is one step to the derivation of its constants.
local pn = require "penumbra"
local theory = require "penumbra.theory"
local tier = require "tests.tools.tier"
package.path = "bindings/package/?.lua;" .. package.path
local headers = require "headers"

local build = os.getenv("PN_BUILD") or "build"
local program = os.getenv "PENUMBRA" or build .. "/penumbra"
local folder = build .. "/docs/html"
local pandoc = os.execute "command -v pandoc >/dev/null" == true

local function run(command, ...)
  local line = select("#", ...) > 0 and command:format(...) or command
  local pipe = assert(io.popen("{ " .. line .. "; } 2>&1"))
  local text = pipe:read("a")
  assert(pipe:close(), line .. "\n" .. text)
  return text
end

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function lines(command)
  local out = {}
  for line in run(command):gmatch "[^\n]+" do out[#out + 1] = line end
  return out
end

local function exists(path)
  local file = io.open(path)
  return file ~= nil and file:close()
end

-- { page = text } and { page = { anchor = true } } of a folder.
local function site(where)
  local pages, anchors = {}, {}
  for _, path in ipairs(lines("ls " .. where .. "/*.html")) do
    local name = path:match "[^/]+$"
    pages[name], anchors[name] = read(path), {}
    for id in pages[name]:gmatch '%sid="([^"]*)"' do anchors[name][id] = true end
  end
  return pages, anchors
end

-- What a list of "page -> address" has that leads nowhere, and how many there were.
local function dangling(where, pages, anchors, links)
  local out = {}
  for _, link in ipairs(links) do
    local name, target = link:match "^(%S+) %-> (.*)$"
    local file, anchor = target:match "^([^#]*)#?(.*)$"
    if file == "" then file = name end
    local there = pages[file] and (anchor == "" or anchors[file][anchor]) or not pages[file] and exists(where .. "/" .. file)
    if not there then out[#out + 1] = link end
  end
  return out
end

local function links_of(pages)
  local out = {}
  for name, text in pairs(pages) do
    for attribute in ("href src"):gmatch "%a+" do
      for target in text:gmatch(attribute .. '="([^"]*)"') do
        if not target:find "^https?:" then out[#out + 1] = name .. " -> " .. target end
      end
    end
  end
  return out
end

-- The headers that are installed, and the documents, as the Makefile finds them.
local installed = lines "ls bindings/embed/penumbra_lua.h runtime/include/penumbra.h runtime/include/penumbra/*.h"
local documents = lines "ls *.md; find bindings examples runtime stdlib tests -name '*.md'"

describe("the site", function()
  local pages, anchors

  setup(function() pages, anchors = site(folder) end)

  it("has no link and no picture that leads nowhere", function()
    local links = links_of(pages)
    assert.same({}, dangling(folder, pages, anchors, links))
    assert.is_true(#links > 3000)
    assert.same({ "index.html -> set.html#set.attic", "index.html -> pictures/none.svg" }, dangling(folder, pages, anchors,
      { "index.html -> set.html#set.attic", "index.html -> set.html#set.box", "index.html -> pictures/none.svg" }))
  end)

  it("asks for nothing from elsewhere", function()
    local asked = {}
    for name, text in pairs(pages) do
      for tag in text:gmatch "<%a[^>]*[:(][^>]*>" do
        local outward = tag:find 'href="%a+:' or tag:find 'src="%a+:' or tag:find "url%("
        if outward and not tag:find "^<a " then asked[#asked + 1] = name .. ": " .. tag end
      end
    end
    assert.same({}, asked)
    local style, search = read(folder .. "/style.css"), read(folder .. "/search.js")
    assert.is_nil(style:find "url%(" or style:find "@import")
    assert.is_nil(search:find "https?:" or search:find "fetch%(" or search:find "XMLHttp")
  end)

  it("closes what it opens", function()
    local open = {}
    for name, text in pairs(pages) do
      for slash, tag in text:gmatch "<(/?)(%w+)" do
        local key = name .. ": " .. tag
        open[key] = (open[key] or 0) + (slash == "" and 1 or -1)
      end
    end
    for key, count in pairs(open) do
      local tag = key:match "%w+$"
      local void = tag == "meta" or tag == "link" or tag == "input" or tag == "img" or tag == "br" or tag == "hr" or tag == "col"
      if not void and count ~= 0 then assert.equal(key, count) end
    end
  end)

  it("has every id once on a page", function()
    for name, text in pairs(pages) do
      local seen = {}
      for id in text:gmatch '%sid="([^"]*)"' do
        assert.is_nil(seen[id], name .. "#" .. id)
        seen[id] = true
      end
    end
  end)

  it("has a search whose rows lead somewhere, with every page, heading and entry", function()
    local index, rows, found = read(folder .. "/search-index.js"), {}, {}
    for line in index:gmatch '[^\n]+' do
      local address = line:match '^%["([^"]+)","'
      if address then
        rows[#rows + 1], found[address] = "index.html -> " .. address, true
      end
    end
    assert.same({}, dangling(folder, pages, anchors, rows))
    for name, entry in pairs(pn.reference()) do
      local page = require("pages").page_of[name]
      local address = page.file .. (page.id == name and "" or "#" .. name)
      if entry.kind ~= "meta" then assert.is_true(found[address], address) end
    end
    for name in pairs(pages) do
      if name:find "^theory%..*%.html" or name:find "^handbook%..*%.html" then assert.is_true(found[name], name) end
    end
  end)
end)

describe("the documents on the site", function()
  if not pandoc then
    pending "there is no pandoc"
    return
  end
  local pages

  setup(function() pages = site(folder) end)

  it("are all there, with their titles in the navigation", function()
    local files = require("documents").files(documents)
    for _, path in ipairs(documents) do
      local page = pages[files[path]]
      assert.is_string(page, path)
      local title = read(path):match "^# ([^\n]+)"
      assert.is_string(title, path .. " begins with a title")
      local shown = page:match "<h1[^>]*>(.-)</h1>":gsub("<[^>]*>", "")
      assert.equal(require("markup").escape(title:gsub("`", "")), shown:gsub('"', "&quot;"), path)
      assert.truthy(pages["reference.html"]:find(('href="%s"'):format(files[path]), 1, true), path)
    end
  end)

  it("keep the anchors of their links, which became links between pages", function()
    local files, anchored = require("documents").files(documents), 0
    for _, path in ipairs(documents) do
      local text = ("\n" .. read(path)):gsub("\n```.-\n```", ""):gsub("`[^`\n]*`", "")
      for target in text:gmatch "%]%(([^%s)]+)%)" do
        local anchor = target:match "%.md(#.+)$"
        if anchor then
          anchored = anchored + 1
          assert.truthy(pages[files[path]]:find('href="[%w._-]+' .. anchor:gsub("%p", "%%%0") .. '"'), path .. " -> " .. target)
        end
      end
    end
    assert.is_true(anchored > 0)
  end)

  it("have the handbook in the order of guide()", function()
    local titles, shown = {}, {}
    for i, page in ipairs(require("penumbra.guide").pages()) do titles[i] = page.title end
    for title in pages["handbook.html"]:gmatch "<dt><a [^>]*>(.-)</a></dt>" do shown[#shown + 1] = title end
    assert.same(titles, shown)
  end)

  it("have no formula that could not be shown", function()
    for name, text in pairs(pages) do assert.is_nil(text:find('class="math', 1, true), name) end
  end)

  it("take links to source files for text", function()
    local security = pages["security.html"]
    assert.truthy(security:find('<a href="bindings.curator.curator.html"', 1, true))
    assert.is_nil(security:find('href="[^"]*%.h"'))
    assert.truthy(security:find("<code>runtime/core/file.h</code>", 1, true) or security:find("runtime/core/file.h", 1, true))
  end)

  it("lead from a line of a plan to the section that derives it", function()
    local count = 0
    for name, text in pairs(pages) do
      for cell in text:gmatch '<tr id="line%-[^"]*">.-</td>.-</td>%s*<td>(.-)</td>' do
        count = count + 1
        assert.is_nil(cell:gsub("<a .-</a>", ""):find "%d", name .. ": a section that is not there: " .. cell)
      end
    end
    assert.is_true(count > 200)
  end)

  it("lead from a solver to the derivation of its constants in one step, and on to the lines of its plan", function()
    local files = require("documents").files(documents)
    for name in pairs(pn.reference()) do
      local path = name:find "^solve%." and theory(name)
      if path then
        assert.is_true(exists(path), name .. ": " .. path)
        local entry = pages["solve.html"]:match('<section id="' .. name:gsub("%p", "%%%0") .. '">(.-)</section>')
        assert.truthy(entry:find(('Theory: <a href="%s">'):format(files[path]), 1, true), name)
      end
    end
  end)
end)

describe("the reference on the site", function()
  local pages, anchors

  setup(function() pages, anchors = site(folder) end)

  it("has a place for every entry that help has, with its options", function()
    local missing, pages_by_name, escape = {}, require "pages".page_of, require("markup").escape
    for name, entry in pairs(pn.reference()) do
      local page = pages_by_name[name]
      local whole = entry.kind == "library" or entry.kind == "class"
      if not page or not pages[page.file] or not (whole or anchors[page.file][name]) then missing[#missing + 1] = name end
      for _, param in ipairs(entry.params or {}) do
        if not pages[page.file]:find("<td>" .. escape(param.name) .. "</td>", 1, true) then
          missing[#missing + 1] = name .. "." .. param.name
        end
      end
    end
    assert.same({}, missing)
  end)

  it("lists what is on a page before its entries, ends sentences where they end, and links no word of Lua", function()
    assert.truthy(pages["set.html"]:match '<p class="members"><a href="set.html#set.affine">affine</a>.-<h2>')
    assert.truthy(pages["reference.html"]:find("over subsets of 1 .. d.", 1, true))
    assert.truthy(pages["set.html"]:find('-&gt; <a href="pn.set.html">set</a>', 1, true))
    assert.is_nil(pages["set.html"]:find '<a href="pn.function.html">function</a>%(')
    assert.is_nil(pages["pn.fit.html"]:find "`")
  end)

  it("breaks the comments of C where they begin something, not where the header's line was full", function()
    assert.truthy(pages["c.solvers.html"]:find("when it is complete and on disk.\n  value  the objective", 1, true))
    assert.truthy(pages["c.core.html"]:find("Returns the account before, which the caller enters again.", 1, true))
  end)

  it("lists every function of the installed headers", function()
    local all = {}
    for name, text in pairs(pages) do
      if name:match "^c%." then all[#all + 1] = text end
    end
    all = table.concat(all)
    local missing, count = {}, 0
    for _, path in ipairs(installed) do
      for _, item in ipairs(headers.read(path).items) do
        count = count + 1
        if not all:find((' id="%s">'):format(item[1]), 1, true) then missing[#missing + 1] = tostring(item[1]) end
      end
    end
    assert.same({}, missing)
    assert.is_true(count > 300)
  end)
end)

describe("without pandoc, make docs", function()
  local place, bin

  setup(function()
    place, bin = run "mktemp -d":match "%S+", run "mktemp -d":match "%S+"
    run("for tool in sh mkdir; do ln -s \"$(command -v $tool)\" '%s/'; done", bin)
  end)
  teardown(function() run("rm -r '%s' '%s'", place, bin) end)

  it("makes the reference and the manual, and says what it left out", function()
    local said = run("PATH='%s' PENUMBRA='%s' '%s' bindings/package/docs.lua '%s' %s %s", bin, program, program, place,
      table.concat(installed, " "), table.concat(documents, " "))
    assert.truthy(said:find(("there is no pandoc.-start page and %d other documents"):format(#documents - 1)), said)
    local pages, anchors = site(place .. "/html")
    assert.same({}, dangling(place .. "/html", pages, anchors, links_of(pages)))
    assert.truthy(pages["index.html"]:find("All names", 1, true))
    assert.truthy(pages["solve.html"]:find("Theory: <code>runtime/solvers/frank_wolfe/frank-wolfe.md</code>", 1, true))
    assert.truthy(read(place .. "/man/penumbra.1"):find ".SH NAME")
  end)
end)

describe("a browser", function()
  local chromium = io.popen "command -v chromium chromium-browser google-chrome":read "l"

  tier.it(it)("opens the site from its folder, and finds what was searched", function()
    if not chromium then return pending "there is no Chromium" end
    local place = run "mktemp -d":match "%S+"
    local address = "file://" .. (folder:find "^/" and folder or run "pwd":match "[^\n]+" .. "/" .. folder) .. "/index.html"
    local dom = run("HOME='%s' timeout 120 '%s' --headless --no-sandbox --disable-gpu --user-data-dir='%s/profile' "
      .. "--window-size=1280,1000 --screenshot='%s/page.png' --dump-dom '%s?q=frank-wolfe' 2>/dev/null", place, chromium, place,
      place, address)
    local picture = read(place .. "/page.png")
    run("rm -r '%s'", place)
    assert.equal("\137PNG", picture:sub(1, 4))
    assert.truthy(dom:match '<ul id="found"><li><a href="solve.html#solve.frank_wolfe">')
  end)
end)
