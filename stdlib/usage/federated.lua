-- federated.lua -- examples for columns in different hands and for processes under mpirun.
-- Depends on: nothing.  Used by: penumbra.usage.
local SETUP = [[
    d = pn.data.synthetic.lasso{n = 500, p = 6, seed = 1}:clip_rows("linf", 1):clip_labels(-1, 1)
    obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 6}}
    transport = pn.federated.in_process{columns = {4, 2}}    -- two parties
]]
local OPTIONS = "{transport = transport, epsilon = 3, delta = 1e-6, iterations = 5}"

local usage = {
  ["federated.in_process"] = SETUP .. "    print(pn.solve.federated_frank_wolfe(obj, " .. OPTIONS .. "))\n    print(transport)",
  ["solve.federated_frank_wolfe"] = SETUP .. "    print(pn.solve.federated_frank_wolfe(obj, " .. OPTIONS .. "))\n" .. [[
    -- each party in a set of its own: the objective's is their product
    own = pn.set.simplex{dim = 4}:product(pn.set.box{lower = {-1, -1}, upper = {1, 1}})
    obj = pn.objective{data = d, loss = pn.loss.squared(), set = own}
    print(pn.solve.federated_frank_wolfe(obj, ]] .. OPTIONS .. "))",
  ["solve.federated_frank_wolfe.plan"] = SETUP .. "    print(pn.solve.federated_frank_wolfe.plan(obj, " .. OPTIONS .. "))",
  ["pn.transport:report"] = SETUP .. "    pn.solve.federated_frank_wolfe(obj, " .. OPTIONS .. ")\n"
    .. "    for _, party in ipairs(transport:report()) do print(party.name, party.columns, party.bytes_up) end",
  ["pn.transport:close"] = SETUP .. "    transport:close()",
  ["federated.keygen"] = [[
    print(pn.federated.keygen("clinic.key"))    -- the public key, for the server's list]],
  ["federated.align"] = [[
    d = pn.data.from({{1}, {2}, {3}}, {1, -1, 1})
    sorted, digest = pn.federated.align(d, {key = "people.key", ids = {"ann", "bob", "cy"}})
    print(sorted.n, digest)]],
  ["federated.failure"] = [[
    pcall(pn.load, "nothing.npy")
    print(pn.federated.failure())]],
  ["federated.server"] = [[
    party = pn.federated.keygen("lab.key")
    pn.federated.keygen("server.key")
    server = pn.federated.server{listen = "tcp://127.0.0.1:*", keys = "server.key",
      parties = {{name = "lab", key = party}}}
    print(server)    -- then server:data() waits for the parties]],
  ["federated.party"] = [[
    pn.federated.keygen("ward.key")
    d = pn.data.from({{1}, {0.5}, {-1}}, {1, -1, 1}):clip_rows("linf", 1):clip_labels(-1, 1)
    party = pn.federated.party{connect = "tcp://127.0.0.1:5571", server = pn.federated.keygen("theirs.key"),
      keys = "ward.key", data = d, ledger = pn.ledger{epsilon = 1, delta = 1e-6}}
    print(party)    -- then party:serve() answers the server]],
  ["ranks"] = [[
    -- mpirun -n 2 penumbra script.lua
    ranks = pn.ranks()
    print(ranks.rank, ranks.size)]],
  ["pn.ranks:barrier"] = [[
    -- mpirun -n 2 penumbra script.lua
    pn.ranks():barrier()]],
  ["pn.ranks:rng"] = [[
    -- mpirun -n 2 penumbra script.lua
    print(pn.ranks():rng():uniform())    -- the same on every rank]],
  ["pn.dataset:share"] = [[
    -- mpirun -n 2 penumbra script.lua
    ranks = pn.ranks()
    d = pn.data.synthetic.logistic{n = 500, p = 4, seed = 1}:clip_rows("l2", 1):share(ranks)
    print(pn.objective{data = d, loss = pn.loss.logistic(), ranks = ranks}:value{0, 0, 0, 0})]],
  ["federated.mpi"] = [[
    -- mpirun -n 3 penumbra script.lua
    ranks = pn.ranks()
    d = pn.data.synthetic.lasso{n = 500, p = 3, seed = 1 + ranks.rank}:clip_rows("linf", 1)
    d = d:with_labels(pn.vec.ones(d.n)):clip_labels(-1, 1)
    if ranks.rank > 0 then pn.federated.party{ranks = ranks, data = d, ledger = pn.ledger{epsilon = 3,
      delta = 1e-6}}:serve() return end
    transport = pn.federated.mpi{ranks = ranks}
    obj = pn.objective{data = transport:data(), loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 6}}
    print(pn.solve.federated_frank_wolfe(obj, {transport = transport, epsilon = 3, delta = 1e-6, iterations = 3}))]],
}

return usage
