-- data.lua -- examples for data sets: loaders, synthetic data, what is enforced on records.
-- Depends on: nothing.  Used by: penumbra.usage.
local usage = {
  ["data.libsvm"] = [[
    io.open("people.libsvm", "w"):write("+1 1:0.5 3:1\n-1 2:2\n"):close()
    d = pn.data.libsvm("people.libsvm", {cols = 3}):clip_rows("l2", 1)
    print(d, d.bounds.l2)]],
  ["data.csv"] = [[
    io.open("people.csv", "w"):write("age,city,income\n31,Oslo,1\n58,Lima,-1\n44,Oslo,1\n"):close()
    d = pn.data.csv("people.csv", {header = true, label = "income", one_hot = {"city"}})
    print(d, d.p)]],
  ["recipe"] = [[
    io.open("adults.csv", "w"):write("age,job,income\n31,cook,<=50K\n,clerk,>50K\n44,baker,<=50K\n"):close()
    r = pn.recipe{label = {income = {"<=50K", ">50K"}},
      features = {age = {17, 90, missing = "indicator"}, job = {"cook", "clerk"}}}
    print(r)
    print(r:data("adults.csv"))]],
  ["recipe.columns"] = [[
    io.open("adults.csv", "w"):write("age;job;income\n31;cook;<=50K\n"):close()
    print(table.concat(pn.recipe.columns("adults.csv"), ", "))    -- what a recipe can name]],
  ["recipe.texts"] = [[
    io.open("patients.csv", "w"):write("id,age\n007,31\n008,58\n"):close()
    print(pn.recipe.texts("patients.csv", {"id"}).id[1])    -- "007", as the file has it]],
  ["recipe.estimate"] = [[
    lines = {"age,spent"}
    for i = 1, 4000 do lines[#lines + 1] = 18 + i % 70 .. "," .. i * 37 % 5000 end
    io.open("shop.csv", "w"):write(table.concat(lines, "\n"), "\n"):close()
    r, found = pn.recipe.estimate{data = "shop.csv", recipe = {features = {age = {18, 90}, spent = "number"}}, epsilon = 1,
      ledger = pn.ledger{epsilon = 1}}
    print(found)
    print(r)]],
  ["recipe.from_json"] = [[
    r = pn.recipe.from_json('{"features": {"age": [17, 90], "member": "flag"}, "label": {"y": [0, 100]}}')
    print(r)]],
  ["data.npy"] = [[
    pn.mat{{1, 2}, {3, 4}, {5, 6}}:save("x.npy")
    pn.vec{1, -1, 1}:save("y.npy")
    print(pn.data.npy("x.npy", "y.npy"))]],
  ["data.store"] = [[
    d = pn.data.store("signs.pnd", pn.data.synthetic.logistic, {n = 5000, p = 20})
    print(d)
    print(pn.data.store("signs.pnd").n)]],
  ["data.from"] = [[
    d = pn.data.from({{1, 0}, {0, 1}, {1, 1}}, {1, -1, 1})
    print(d, d:clip_rows("l2", 1).bounds.l2)]],
  ["data.synthetic.lasso"] = [[
    d, truth = pn.data.synthetic.lasso{n = 1000, p = 20, sparsity = 3, seed = 1}
    print(d, truth:norm(1))]],
  ["data.synthetic.logistic"] = [[
    d, truth = pn.data.synthetic.logistic{n = 1000, p = 20, seed = 1}
    print(d:clip_rows("l2", 1))]],
  ["data.synthetic.classification"] = [[
    d, truth = pn.data.synthetic.classification{n = 1000, p = 4, classes = 3, seed = 1}
    d = d:clip_rows("l2", 4)
    obj = pn.objective{data = d, loss = pn.loss.softmax{classes = 3}, set = pn.set.l2_ball{dim = 12, radius = 4}}
    print(d, obj:accuracy(truth:vec()))]],
  ["data.synthetic.low_rank"] = [[
    d, truth = pn.data.synthetic.low_rank{rows = 6, cols = 5, rank = 2, n = 1000, seed = 1}
    obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.nuclear_ball{rows = 6, cols = 5, radius = 0.2}}
    print(d, obj:value(truth:vec()))    -- about half the noise's variance]],
  ["data.synthetic.fingerprint"] = [[
    f = pn.data.synthetic.fingerprint{m = 4, seed = 1}
    print(f)
    print(f:dataset(1))]],
}

local function method(class, object, calls)
  for name, call in pairs(calls) do
    usage[class .. ":" .. name] = object .. "\n    " .. call
  end
end

method("pn.dataset", "    d = pn.data.synthetic.logistic{n = 500, p = 4, seed = 1}", {
  add_bias = "print(d:add_bias().p)    -- one more column, of ones",
  clip_labels = "print(d:clip_labels(-0.5, 0.5).bounds.labels[2])",
  clip_rows = 'd = d:clip_rows("l2", 1)    -- scales down what exceeds\n    print(d.bounds.l2, d.X[1]:norm())',
  float32 = "print(d:float32())",
  offset_labels = "print(d:offset_labels({0.5, 0, 0, 0}, 1).bounds.labels[2])    -- a public theta",
  rescale = "print(d:rescale({-1, -1, -1, -1}, {1, 1, 1, 1}))    -- from public ranges, column by column",
  shuffle = "print(d:shuffle(pn.rng.seeded(2)))",
  split = "train, test = d:split(0.8, pn.rng.seeded(2))\n    print(train.n, test.n)",
  holdout = "train, test = d:holdout(5)    -- one of each five in a row\n    print(train.n, test.n)",
  head = "print(d:head(3))    -- records: for their owner",
  describe = "L = pn.ledger{epsilon = 1}\n    print(d:describe{ledger = L, epsilon = 0.5, columns = {1, 2}})",
  summary = "print(d:summary())",
  transform = "z = d:transform(pn.mat{{2, 0, 0, 0}, {0, 1, 0, 0}})    -- a public map; the bound is renewed\n"
    .. "    print(z.p, z.bounds.l2)",
  take = "print(d:take(10))",
  with_labels = "print(d:with_labels(pn.vec.ones(d.n)))",
})
method("pn.recipe", [[
    r = pn.recipe{label = {bought = {"no", "yes"}}, features = {age = {17, 90}, job = {"cook", "clerk"}}}]], {
  data = 'io.open("new.csv", "w"):write("job,age\\ncook,31\\nbaker,58\\n"):close()\n'
    .. '    print(r:data("new.csv", {label = false}).X)    -- as for training, without labels',
  features = "for _, f in ipairs(r:features()) do print(f.name, f.kind, f.offset, f.scale) end",
  json = "print(r:json())\n    print(pn.recipe.from_json(r:json()).p == r.p)",
  label = "print(r:label().classes[2])    -- the one that is 1",
})
method("pn.fingerprint", "    f = pn.data.synthetic.fingerprint{m = 4, seed = 1}", {
  consensus = "print(f:consensus(1))",
  dataset = "print(f:dataset(1))",
  theta = "print(f:theta(1):norm(1))",
  lemma = "print(f:lemma(f:theta(1), 1).holds)",
  trace = "print(f:trace(f:theta(1)))",
})

return usage
