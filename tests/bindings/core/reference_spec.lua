local pn = require "penumbra"

local reference = pn.reference()

-- Metamethods that every class has from the shared code: they are not rows.
local shared = { __gc = true, __close = true, __index = true, __newindex = true }

local function classes()
  local found = {}
  for _, value in pairs(debug.getregistry()) do
    if type(value) == "table" and type(rawget(value, "__methods")) == "table" then
      found[rawget(value, "__name")] = value
    end
  end
  return found
end

-- Calls visit(name, value) for what is callable in a library, its sub-libraries included.
local function walk_library(prefix, library, visit)
  for name, value in pairs(library) do
    local metatable = type(value) == "table" and getmetatable(value)
    if type(value) == "function" or (metatable and metatable.__call) then
      visit(prefix .. name)
    end
    if type(value) == "table" then
      walk_library(prefix .. name .. ".", value, visit)
    end
  end
end

local function assert_none(missing, what)
  table.sort(missing)
  assert.same({}, missing, what)
end

describe("the reference", function()
  it("has a signature, a doc and what it reveals for every entry", function()
    local reveals, bad = { nothing = true, paid = true, raw = true }, {}
    for name, entry in pairs(reference) do
      if type(entry.signature) ~= "string" or #entry.signature == 0 then bad[#bad + 1] = name .. ": signature" end
      if type(entry.doc) ~= "string" or #entry.doc < 10 then bad[#bad + 1] = name .. ": doc" end
      if not reveals[entry.reveals] then bad[#bad + 1] = name .. ": reveals" end
    end
    assert_none(bad, "incomplete entries")
  end)

  it("describes every option: its name, what it expects and what it is for", function()
    local bad = {}
    for name, entry in pairs(reference) do
      for _, param in ipairs(entry.params or {}) do
        if #(param.name or "") == 0 or #(param.expects or "") == 0 or #(param.doc or "") < 5 then
          bad[#bad + 1] = name .. "{" .. tostring(param.name) .. "=}"
        end
      end
    end
    assert_none(bad, "undocumented options")
  end)

  it("has every function that pn offers", function()
    local missing, seen = {}, 0
    walk_library("", pn, function(name)
      seen = seen + 1
      if not reference[name] then missing[#missing + 1] = name end
    end)
    assert.is_true(seen > 3)
    assert_none(missing, "functions without an entry")
  end)

  it("has every library of pn", function()
    local missing = {}
    for name, value in pairs(pn) do
      if type(value) == "table" and not reference[name] then missing[#missing + 1] = name end
    end
    assert_none(missing, "libraries without an entry")
  end)

  it("has every class, and every field, method and operator of each", function()
    local missing, seen = {}, 0
    for class, metatable in pairs(classes()) do
      seen = seen + 1
      if not reference[class] then missing[#missing + 1] = class end
      for name in pairs(metatable.__fields) do
        if not reference[class .. "." .. name] then missing[#missing + 1] = class .. "." .. name end
      end
      for name in pairs(metatable.__methods) do
        if not reference[class .. ":" .. name] then missing[#missing + 1] = class .. ":" .. name end
      end
      for name, value in pairs(metatable) do
        if type(value) == "function" and not shared[name] and not reference[class .. "." .. name] then
          missing[#missing + 1] = class .. "." .. name
        end
      end
    end
    assert.is_true(seen > 1)
    assert_none(missing, "members without an entry")
  end)

  it("has no entry for what does not exist", function()
    local offered, gone = { version = true }, {}
    walk_library("", pn, function(name) offered[name] = true end)
    local known = classes()
    for name, entry in pairs(reference) do
      local class, separator, member = name:match "^(pn%.[%w_]+)([.:])([%w_]+)$"
      local metatable = class and known[class]
      local there
      if metatable then
        local place = entry.kind == "field" and metatable.__fields or entry.kind == "method" and metatable.__methods
        there = (place or metatable)[member] ~= nil and (separator == ":") == (entry.kind == "method")
      elseif entry.kind == "class" then
        there = known[name] ~= nil
      elseif entry.kind == "library" then
        there = true
      else
        there = offered[name] or name == "tune" and type(pn.tune.plan) == "function" -- made when it is first used
          or pn.solve[name:match "^solve%.([%w_]+)$" or ""] ~= nil -- an object that is called
      end
      if not there then gone[#gone + 1] = name end
    end
    assert_none(gone, "entries of nothing")
  end)

  it("lets every object print itself", function()
    local silent = {}
    for class, metatable in pairs(classes()) do
      if not metatable.__tostring and class ~= "pn.task" then silent[#silent + 1] = class end
    end
    assert_none(silent, "classes without tostring")
  end)
end)
