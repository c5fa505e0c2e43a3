-- npy_spec.lua -- v:save, A:save and pn.load.  Files are built here byte by byte as numpy.lib.format describes them.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like

local path = os.tmpname()

local function write(bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

local function npy(header, body, version)
  local length = version == 2 and "<I4" or "<I2"
  header = header .. "\n"
  return "\x93NUMPY" .. string.char(version or 1, 0) .. length:pack(#header) .. header .. body
end

local function header(descr, shape, fortran)
  return ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"):format(descr, fortran and "True" or "False", shape)
end

local function load(...)
  write(npy(...))
  return pn.load(path)
end

describe("npy files", function()
  teardown(function()
    os.remove(path)
  end)

  it("give back the vector or matrix that was saved, bit for bit", function()
    local v = pn.vec { 0.1, -0.0, 1e-320, 1.7e308, 3 }
    v:save(path)
    local w = pn.load(path)
    assert.equal(v, w)
    assert.equal(-math.huge, 1 / w[2])
    local A = pn.vec.linspace(1, 30000, 30000):reshape(100, 300)
    A:save(path)
    assert.equal(A, pn.load(path))
    A[3]:save(path)
    assert.equal(A[3], pn.load(path))
    w[1] = 5
    assert.equal(5, w[1])
  end)

  it("replace an older file as a whole and leave nothing beside it", function()
    pn.vec({ 1 }):save(path)
    pn.vec({ 2, 3 }):save(path)
    assert.equal(pn.vec { 2, 3 }, pn.load(path))
    local listing = io.popen("ls " .. path .. "*")
    assert.equal(path .. "\n", listing:read "a")
    listing:close()
  end)

  it("are read in every type of number that a double can hold", function()
    assert.same({ 1.5, -2 }, load(header("<f8", "(2,)"), ("<dd"):pack(1.5, -2)):table())
    assert.same({ 1.5, -2 }, load(header("<f4", "(2,)"), ("<ff"):pack(1.5, -2)):table())
    assert.same({ 1, -(1 << 53) }, load(header("<i8", "(2,)"), ("<i8i8"):pack(1, -(1 << 53))):table())
    assert.same({ 7, -(1 << 31) }, load(header("<i4", "(2,)"), ("<i4i4"):pack(7, -(1 << 31))):table())
    assert.same({ 7, -32768 }, load(header("<i2", "(2,)"), ("<i2i2"):pack(7, -32768)):table())
    assert.same({ 127, -128 }, load(header("|i1", "(2,)"), ("<i1i1"):pack(127, -128)):table())
    assert.same({ 7, 2 ^ 63 }, load(header("<u8", "(2,)"), ("<I8i8"):pack(7, math.mininteger)):table())
    assert.same({ 7, 2 ^ 32 - 1 }, load(header("<u4", "(2,)"), ("<I4I4"):pack(7, (1 << 32) - 1)):table())
    assert.same({ 7, 65535 }, load(header("<u2", "(2,)"), ("<I2I2"):pack(7, 65535)):table())
    assert.same({ 7, 255 }, load(header("|u1", "(2,)"), "\7\255"):table())
    assert.same({ 1, 0 }, load(header("|b1", "(2,)"), "\1\0"):table())
  end)

  it("are read in C and in Fortran order, from versions 1 and 2", function()
    local body = ("<dddddd"):pack(1, 2, 3, 4, 5, 6)
    assert.equal(pn.mat { { 1, 2, 3 }, { 4, 5, 6 } }, load(header("<f8", "(2, 3)"), body))
    assert.equal(pn.mat { { 1, 3, 5 }, { 2, 4, 6 } }, load(header("<f8", "(2, 3)", true), body))
    assert.equal(pn.mat { { 1, 2, 3 }, { 4, 5, 6 } }, load(header("<f8", "(2, 3)"), body, 2))
    assert.equal(pn.vec { 1, 2, 3, 4, 5, 6 }, load(header("<f8", "(6,)", true), body))
    assert.equal(0, #load(header("<f8", "(0,)"), ""))
  end)

  it("may have their header's keys in any order and spacing", function()
    local v = load('{"shape":(1,),"fortran_order":False , "descr":"<f8"}   ', ("<d"):pack(4))
    assert.same({ 4 }, v:table())
  end)

  it("are refused with the position of what is not finite or not exact", function()
    local inf, nan = math.huge, 0 / 0
    refused_like("entry 2 is not finite", load, header("<f8", "(2,)"), ("<dd"):pack(1, inf))
    refused_like("entry %(2, 1%) is not finite", load, header("<f8", "(2, 2)"), ("<dddd"):pack(1, 2, nan, 4))
    refused_like("entry %(1, 2%) is not finite", load, header("<f8", "(2, 2)", true), ("<dddd"):pack(1, 2, nan, 4))
    refused_like("entry 1 is not finite", load, header("<f4", "(1,)"), ("<f"):pack(-inf))
    refused_like("entry 1 is a whole number beyond 2%^53", load, header("<i8", "(1,)"), ("<i8"):pack((1 << 53) + 1))
    refused_like("entry 1 is a whole number beyond 2%^53", load, header("<i8", "(1,)"), ("<i8"):pack(math.maxinteger))
    refused_like("entry 1 is a whole number beyond 2%^53", load, header("<u8", "(1,)"), ("<i8"):pack(-1))
    refused_like("entry 2 is neither 0 nor 1", load, header("|b1", "(2,)"), "\1\2")
  end)

  it("are refused in other types and shapes, which are named", function()
    local number = ("<d"):pack(1)
    refused_like("type '>f8'; '<f8', '<f4', whole numbers %('<i8', '<u2', '|u1' and the like%) and '|b1' are read", load,
      header(">f8", "(1,)"), number)
    refused_like("type '<c16'", load, header("<c16", "(1,)"), number .. number)
    refused_like("type '<f2'", load, header("<f2", "(1,)"), "\1\1")
    refused_like("type '|S1'", load, header("|S1", "(1,)"), "a")
    refused_like("entries are records", load, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", number)
    refused_like("3 dimensions; 1 and 2 are read", load, header("<f8", "(1, 1, 1)"), number)
    refused_like("0 dimensions", load, header("<f8", "()"), number)
    refused_like("an empty matrix, 0 x 3", load, header("<f8", "(0, 3)"), "")
    refused_like("version 9", load, header("<f8", "(1,)"), number, 9)
  end)

  it("are refused when cut short, padded or malformed", function()
    local number = ("<d"):pack(1)
    refused_like("announces 16 bytes of entries, the file has 8", load, header("<f8", "(2,)"), number)
    refused_like("announces 8 bytes of entries, the file has 16", load, header("<f8", "(1,)"), number .. number)
    refused_like("announces 800000000000000 bytes", load, header("<f8", "(100000000000000,)"), number)
    refused_like("beyond any memory", load, header("<f8", "(9999999999, 9999999999)"), number)
    refused_like("below 2%^64", load, header("<f8", "(99999999999999999999,)"), number)
    refused_like("a number of entries", load, header("<f8", "(-1,)"), number)
    refused_like("unknown key 'colour'", load, "{'colour': 1}", number)
    refused_like("descr, fortran_order and shape are needed", load, "{'descr': '<f8'}", number)
    refused_like("True or False", load, "{'fortran_order': 1}", number)
    refused_like("malformed", load, "{'descr': '<f8'", number)
    refused_like("malformed", load, "", number)
    write "\x93NUMPY\1\0\xff\0{'descr'"
    refused_like("header is cut short", pn.load, path)
    write "\x93NUM"
    refused_like("not a .npy file", pn.load, path)
    write "1,2,3\n4,5,6\n7,8,9\n"
    refused_like("not a .npy file", pn.load, path)
  end)

  it("survive every cut and every changed byte of a header without a crash", function()
    local whole = npy(header("<f8", "(2, 2)"), ("<dddd"):pack(1, 2, 3, 4))
    local loaded = 0
    for length = 0, #whole - 1 do
      write(whole:sub(1, length))
      assert.is_false((pcall(pn.load, path)))
    end
    for at = 1, #whole - 32 do
      for _, byte in ipairs { "\0", "'", "9", "(", "\xff" } do
        write(whole:sub(1, at - 1) .. byte .. whole:sub(at + 1))
        local ok, value = pcall(pn.load, path)
        assert.is_string(type(value))
        loaded = loaded + (ok and 1 or 0)
      end
    end
    assert.is_true(loaded < 60) -- a few changes, in the padding or the minor version, are harmless
  end)

  it("say why they cannot be opened or written", function()
    refused_like("/nowhere/x.npy: No such file", pn.load, "/nowhere/x.npy")
    refused_like("/nowhere/x.npy: No such file", function()
      pn.vec({ 1 }):save "/nowhere/x.npy"
    end)
    refused_like("zero byte", pn.load, "a\0b")
    refused_like("expected the path of a file", pn.load)
    refused_like("/: ", pn.load, "/")
  end)
end)
