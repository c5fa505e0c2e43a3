-- usage_alloc_more.lua -- what no example of stdlib/usage comes to, and what many come to, shorter: name -> function.  What they
-- start from is made once, so that a run is little more than the calls in question.
-- Depends on: penumbra.
local pn = require "penumbra"

local more = {}

local binary = pn.data.synthetic.logistic { n = 60, p = 4, seed = 1 }:clip_rows("l2", 1)
local numbers = pn.data.synthetic.lasso { n = 60, p = 4, seed = 1 }:clip_rows("l2", 1):clip_labels(-1, 1)

local function logistic(options)
  options.data, options.loss = options.data or binary, options.loss or pn.loss.logistic()
  return pn.objective(options)
end

local free = logistic {}
local ball = logistic { set = pn.set.l2_ball { dim = 4 } }
local cross = logistic { set = pn.set.l1_ball { dim = 4 } }
local ridge = logistic { reg = pn.reg.l2 { lambda = 0.1 } }
local clipped = logistic { clip = 0.5 }
local squares = pn.objective { data = numbers, loss = pn.loss.squared() }

-- The commonest way through a solver, short: what examples share fails here.
more[".fit"] = function()
  local fit = pn.solve.gradient_descent(ball, { epsilon = 2, delta = 1e-6, iterations = 2 })
  tostring(fit)
end

-- A process is started for each script: one that answers, and one that is refused.
for name, script in pairs { answers = "print(data.people) return data.people.n", refuses = "return data.people.X" } do
  more[".curator that " .. name] = function()
    local result = pn.curator { data = { people = binary }, ledger = pn.ledger { rho = 1 } }:run(script)
    if result.error and result.status ~= "EPRIVACY" then error(result.error, 0) end
    if result.ok and result.output == "" then error "what it printed is lost" end
  end
end

more[".curator with a program"] = function() pn.curator { data = {}, ledger = pn.ledger { rho = 1 }, program = "/bin/penumbra" } end

more[".workers"] = function()
  local function note(_, fine, answer)
    if not fine then error(answer, 0) end
  end
  require "penumbra.workers".map(2, 1, tostring, note, false, 0)
end

local example_plan = pn.solve.gradient_descent.plan(ball, { epsilon = 2, delta = 1e-6, iterations = 2 })
local example = example_plan:run()
more[".show a plan"] = function()
  tostring(example_plan)
  return example_plan.lines, example_plan.warnings
end
more[".show a fit"] = function()
  tostring(example)
  tostring(example:coefficients())
end

local shared = pn.objective { data = pn.data.synthetic.lasso { n = 30, p = 4, seed = 1 }:clip_rows("linf", 1):clip_labels(-1, 1),
  loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 4 } }
more[".federated"] = function()
  local transport = pn.federated.in_process { columns = { 2, 2 } }
  tostring(pn.solve.federated_frank_wolfe(shared, { transport = transport, epsilon = 3, delta = 1e-6, iterations = 1 }))
  tostring(transport)
  transport:report()
end

-- Where nobody listens.
local few = pn.data.from({ { 1 }, { 0.5 }, { -1 } }, { 1, -1, 1 }):clip_rows("linf", 1):clip_labels(-1, 1)
more[".federated party"] = function()
  pn.federated.keygen "ward.key"
  local party = pn.federated.party { connect = "tcp://127.0.0.1:1", server = pn.federated.keygen "theirs.key", keys = "ward.key",
    data = few, ledger = pn.ledger { epsilon = 1, delta = 1e-6 }, timeout = 0.01 }
  local fine, message = pcall(party.serve, party)
  if fine or not tostring(message):find "no answer at tcp" then error(message, 0) end
end

local jobs = {}
for i = 1, 300 do jobs[i] = ({ "cook", "clerk", "only " .. i })[i % 3 + 1] end
more[".levels"] = function()
  local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
  pn.query.levels { data = { job = jobs }, columns = "job", epsilon = 0.5, delta = 1e-8, ledger = ledger }
end

-- ---- receipts ----

local function receipt(name, objective, options)
  more[".receipt " .. name] = function()
    options.epsilon, options.delta = 4, 1e-6
    pn.solve[name](objective, options):receipt()
  end
end

receipt("frank_wolfe", cross, { iterations = 2 })
receipt("frank_wolfe_convex", cross, {})
receipt("coordinate_descent", cross, { iterations = 2 })
receipt("sgd", ball, { iterations = 4 })
receipt("noisy_sgd", ball, { iterations = 4 })
receipt("gradient_descent", clipped, { iterations = 2, batch = 10 })
receipt("matrix_factorization_sgd", ball, {})
receipt("ftrl", ball, { iterations = 4 })
receipt("objective_perturbation", free, {})
receipt("output_perturbation", ridge, {})
receipt("sufficient_statistics", squares, {})
receipt("svrg", ball, { epochs = 2, inner = 5, batch = 10 })
receipt("second_order", ball, {})
receipt("zeroth_order", free, {})
receipt("newton", clipped, { iterations = 2 })
receipt("trust_region", free, { iterations = 2 })
receipt("adaptive_clipping", clipped, { iterations = 3 })

-- With a price by rho a plan is found at once.
local function cheap_receipt(name, solver, objective, options)
  options.rho = 4
  more[".receipt of " .. name] = function() pn.solve[solver](objective, options):receipt() end
end

local glm = pn.loss.glm(function(z, y) return pn.softplus(-y * z) end)
cheap_receipt("a minimum", "objective_perturbation", logistic { loss = glm, set = pn.set.l2_ball { dim = 4 } }, {})
cheap_receipt("choices", "frank_wolfe", logistic { set = pn.set.linf_ball { dim = 4 } }, { iterations = 2 })
cheap_receipt("a search", "second_order", ball, { line_search = true })
cheap_receipt("a tree by node", "zeroth_order", free, { distance = 1, first_batch = 20, batch = 10, rounds = 4,
  prefix = { factorization = "binary", scale = "node" } })

local watcher = pn.solver { name = "watcher", step = function(s, ask) ask:watch { threshold = 50, answers = 1 }:above(s.x) end }
more[".receipt of a watch"] = function() watcher(ball, { epsilon = 1, delta = 1e-8, iterations = 1 }):receipt() end

more[".receipt of events"] = function()
  local ledger = pn.ledger { epsilon = 50, delta = 1e-6 }
  ledger:spend(pn.event.selection { event = pn.event.gaussian { sigma = 6, sensitivity = 1 }, law = "poisson", mean = 10 })
  ledger:spend(pn.event.curve { orders = { 2, 4 }, divergences = { 0.1, 0.2 } })
  ledger:receipt()
end

-- Too deep to be written as a ledger's file has it.
local deep = pn.event.gaussian { sigma = 20, sensitivity = 1 }
for i = 1, 18 do deep = pn.event.either { first = deep, second = pn.event.gaussian { sigma = 20 + i, sensitivity = 1 } } end
more[".receipt of a deep event"] = function() pn.ledger { epsilon = 50, delta = 1e-6 }:spend(deep):receipt() end

more[".receipt of a tree of a matrix"] = function()
  pn.tree { dim = 1, horizon = 3, sensitivity = 1, rho = 0.5, factorization = "matrix",
    matrix = { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 } } }:receipt()
end

more[".receipt of slices"] = function()
  local whole = pn.ledger { rho = 1 }
  local slice = pn.ledger { parent = whole, name = "a\xff", rho = 0.5 }
  local parts = { pn.event.gaussian { sigma = 20, sensitivity = 1 }, pn.event.laplace { scale = 10, sensitivity = 1 } }
  slice:spend(pn.event.compose(parts), "some\xffthing", 2)
  whole:receipt()
end

for _, kind in ipairs { "binary", "sqrt", "banded", "blt" } do
  more[".receipt of a tree, " .. kind] = function()
    pn.tree { dim = 1, horizon = 6, sensitivity = 1, rho = 0.5, factorization = kind }:receipt()
  end
end

-- ---- recipes and models ----

more[".recipe"] = function()
  local recipe = pn.recipe {
    features = { day = { "date", from = "2020-01-01", to = "2020-12-31", missing = "2020-06-01" }, is = { "flag" },
      age = { 0, 100, missing = 50 } },
    label = { visits = { count = 20 } }, clip = 0.5 }
  recipe:json()
  recipe:features()
  recipe:data({ day = { "2020-05-05", "" }, is = { "yes", "no" }, age = { "", "7" }, visits = { "1", "2" } })
end

local exported = pn.recipe { features = { a = { -1, 1 }, b = { "x", "y" } }, label = { y = { "no", "yes" } }, intercept = false,
  clip = 0.5 }
local rows = {}
for i = 1, 12 do rows[i] = { a = i / 12, b = i % 2 == 0 and "x" or "y", y = i % 3 == 0 and "yes" or "no" } end
local columns = { a = {}, b = {}, y = {} }
for i, row in ipairs(rows) do
  for name, value in pairs(row) do columns[name][i] = tostring(value) end
end
local function fit_of(data)
  return pn.solve.gradient_descent(logistic { data = data, reg = pn.reg.l2 { lambda = 0.1 } }, { privacy = false, iterations = 3 })
end
local learnt, plain = fit_of(exported:data(columns)), fit_of(binary)

more[".export"] = function() learnt:export "m.json" end
more[".export without a recipe"] = function() plain:export "m.json" end
more[".receipt of a file"] = function()
  example:save "e.model"
  pn.load("e.model"):receipt()
end
more[".save with names"] = function() learnt:save("m.model", { raw = false }) end
local path = os.tmpname()
assert(io.open(path, "w")):write("a,b,y\n0.5,0,1\n-0.5,0.5,-1\n0.25,0.5,1\n"):close()
local named = fit_of(pn.data.csv(path, { header = true, label = "y" }):clip_rows("l2", 1))
os.remove(path)
more[".export with names"] = function()
  named:export "m.json"
  named:save("m.model", { raw = false })
end
more[".stored"] = function() pn.data.store("d.pnd", binary):clip_labels(-1, 1) end
more[".split"] = function() binary:split(0.5) end

-- ---- sets ----

-- An operation that the set has not is refused.
local function try(...)
  local fine, message = pcall(...)
  if not fine and tostring(message):find "memory" then error(message, 0) end
end

local ops = { "support", "gauge", "contains", "project", "dual_norm", "vertex_scores" }

local function all_of(name, set)
  local x = 3 * pn.vec.ones(set.dim)
  local down = -0.1 * pn.vec.linspace(0.5, 1.5, set.dim)
  more[".set " .. name] = function()
    for _, op in ipairs(ops) do
      try(set[op], set, x)
      try(set[op], set, down)
    end
    for _, norm in ipairs { "l1", "l2", "linf" } do
      try(set.radius_in, set, norm)
      try(set.diameter_in, set, norm)
    end
    try(set.center, set)
    try(set.vertices, set)
    try(set.sample, set, pn.rng.seeded(1))
    local fine, norm = pcall(set.norm, set)
    if fine then try(norm, x) end
  end
end

local cloud = pn.set.polytope { vertices = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { -1, -1, -1 } } }
local around = pn.set.l1_ball { dim = 3, radius = 2 }
all_of("image", around:image { { 1, 1, 0 }, { 0, 1, 1 } })
all_of("image of a matrix", pn.set.spectral_ball { rows = 2, cols = 2 }:image(pn.mat { { 1, 1, 0, 0 }, { 0, 1, 1, 0 } }))
all_of("hull", around:hull(pn.set.linf_ball { dim = 3 }))
all_of("hull of far ones", (around + pn.vec { 1, 1, 1 }):hull(pn.set.l2_ball { dim = 3 }))
all_of("sum", around + pn.set.l2_ball { dim = 3 })
all_of("meet", around:intersect(pn.set.box { lower = { 0, 0, 0 }, upper = { 1, 1, 2 } }))
all_of("polar", cloud:polar())
all_of("polar of lp", pn.set.lp_ball { dim = 3, q = 1.5 }:polar())
all_of("polar of a cone", pn.set.second_order_cone { dim = 3 }:polar())
all_of("polar of a slab", pn.set.hyperslab { normal = { 1, 1 }, lower = -0.5, upper = 1 }:polar())
all_of("product", around:product(cloud))
all_of("large", -2 * pn.set.simplex { dim = 300 } + pn.vec.ones(300))
all_of("polytope", cloud)
all_of("ball far away", pn.set.lp_ball { dim = 3, q = 1.5, radius = 1e-9 })
all_of("affine", pn.set.affine { A = { { 1, 1, 1 } }, b = { 0 } })
all_of("ellipsoid", pn.set.ellipsoid { matrix = { { 2, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } } })
all_of("group_ball", pn.set.group_ball { dim = 5, k = 2, radius = 1 })
all_of("custom", pn.set.custom { dim = 3, radius = 1,
  project = function(v) return v:norm() > 1 and v / v:norm() or v end })
all_of("far from k_support", 1e-6 * pn.set.k_support { dim = 3, k = 2 })
all_of("custom by support", pn.set.custom { dim = 3, radius = 1, support = function(g) return g / g:norm() end })

-- The border of a large image, where support points come no nearer from farther out.
local cosines = {}
for i = 1, 8 do
  cosines[i] = {}
  for j = 1, 8 do cosines[i][j] = math.cos(i * j) end
end
local bowl = pn.set.ellipsoid { axes = pn.vec.linspace(0.1, 2, 8) }:image(pn.mat(cosines))
local _, border = bowl:support(pn.vec.ones(8))
more[".set with a curved border"] = function()
  for _, out in ipairs { 1, 1 + 1e-6 } do bowl:project(out * border) end
end

-- ---- potentials ----

local function potential(name, P, sets)
  more[".potential " .. name] = function()
    for _, C in ipairs(sets) do
      local x = pn.vec.ones(C.dim) / C.dim
      try(P.start, P, C)
      try(P.range, P, C)
      try(P.noise_trace, P, C)
      try(P.value, P, x)
      try(P.gradient, P, x)
      try(P.inverse_gradient, P, x)
      try(P.theta, P, x)
      try(P.mirror_step, P, x, pn.vec.basis(C.dim, 1), 0.5, C)
      local data = pn.data.from(pn.mat.zeros(4, C.dim), { 1, -1, 1, -1 }):clip_rows("l2", 1)
      try(pn.solve.mirror_descent.plan, logistic { data = data, set = C },
        { epsilon = 1, delta = 1e-6, iterations = 2, potential = P })
    end
  end
end

local simplex = pn.set.simplex { dim = 3 }
local box = pn.set.box { lower = { 0, 0, 0 }, upper = { 1, 1, 0.4 } }
local kinds = { simplex, box, pn.set.l2_ball { dim = 3 }, around, simplex:intersect(box), cloud, simplex + pn.vec { 0.2, 0.2, 0.2 },
  around:image { { 1, 1, 0 }, { 0, 1, 1 }, { 0, 0, 1 } }, pn.set.permutahedron { vector = { 1, 2, 3 } } }
potential("entropy", pn.potential.entropy {}, kinds)
potential("euclidean", pn.potential.euclidean {}, kinds)
potential("quadratic", pn.potential.quadratic { A = { { 2, 1, 0 }, { 1, 2, 0 }, { 0, 0, 1 } } }, kinds)
potential("lp", pn.potential.lp { q = 1.5 }, kinds)
potential("separable", pn.potential.separable(function(t) return t ^ 2 + t ^ 4 end, { domain = { -1, 2 } }), kinds)
potential("polytope", pn.potential.polytope { set = cloud }, { cloud, simplex })
potential("group", pn.potential.group { dim = 3, k = 2 }, kinds)
more[".potential for sets"] = function()
  for _, C in ipairs(kinds) do try(pn.potential.for_set, C) end
  try(pn.potential.for_set, simplex:product(pn.set.l2_ball { dim = 2 }))
  try(pn.potential.for_set, around:image { { 1, 1, 0 }, { 0, 1, 1 } })
  try(pn.potential.for_set, 2 * simplex + pn.vec { 1, 1, 1 })
end

-- Those of sets made of sets, and over other sets than that for which they are.
local pair = pn.potential.for_set(simplex:product(pn.set.l2_ball { dim = 2 }))
more[".potential of a pair"] = function() pair.norm:dual()(pn.vec { 1, 2, 3, 4, 5 }) end
local cornered = pn.set.simplex { dim = 2 }:product(pn.set.l2_ball { dim = 2 })
more[".potential of an image of a pair"] = function()
  pn.potential.for_set(cornered:image { { 1, 0, 1, 0 }, { 0, 1, 0, 1 }, { 1, 1, 1, 1 } })
end
local moved = pn.potential.for_set(2 * simplex + pn.vec { 1, 1, 1 })
more[".potential moved"] = function()
  moved:value { 1.5, 1.5, 2 }
  try(moved.range, moved, simplex)
end
more[".potential of a meet"] = function() pn.potential.for_set(cloud:intersect(pn.set.linf_ball { dim = 3, radius = 0.9 })) end
more[".potential over a permutahedron"] = function()
  pn.potential.entropy { radius = 6 }:range(pn.set.permutahedron { vector = { 1, 2, 3 } })
end

-- ---- curvature ----

local function curvature(name, set, blocks)
  local data = pn.data.synthetic.lasso { n = 30, p = set.dim, seed = 1 }:clip_rows("l2", 1):clip_labels(-1, 1)
  local objective = pn.objective { data = data, loss = pn.loss.squared(), set = set }
  local public = pn.objective { data = data, loss = pn.loss.squared(), set = set }
  more[".curvature " .. name] = function()
    for _, sampling in ipairs { pn.sampling.serial { blocks = blocks }, pn.sampling.full { blocks = blocks },
      pn.sampling.nice { blocks = blocks, tau = 2 } } do
      try(pn.curvature, objective, sampling)
      try(pn.solve.block_frank_wolfe.plan, public, { privacy = false, iterations = 2, sampling = sampling })
    end
  end
end

local triangle = pn.set.polytope { vertices = { { 0, 0 }, { 1, 0 }, { 0, 1 } } }
curvature("of intervals", pn.set.linf_ball { dim = 3 }, 3)
curvature("of triangles", triangle:product(triangle), 2)
curvature("of balls", pn.set.l2_ball { dim = 2 }:product(pn.set.l2_ball { dim = 2 }), 2)
curvature("of crosses", pn.set.l1_ball { dim = 2 }:product(pn.set.simplex { dim = 3 }), 2)
curvature("of boxes", pn.set.linf_ball { dim = 2 }:product(pn.set.box { lower = { 0, 0 }, upper = { 1, 2 } }), 2)
curvature("of choices", pn.set.k_support { dim = 3, k = 2 }:product(pn.set.hypersimplex { dim = 3, k = 1 }), 2)

local corners = {}
for i = 1, 50 do corners[i] = { math.cos(i), math.sin(i) } end
corners = pn.set.polytope { vertices = corners }
curvature("of many corners", corners:product(corners), 2)

-- ---- solvers ----

local function plan(name, solver, objective, options, runs)
  more[".plan " .. name] = function()
    local made = pn.solve[solver].plan(objective, options)
    tostring(made)
    if runs then made:run() end
  end
end

local entries, signs = { rows = 8, cols = 200, i = {}, j = {}, x = {} }, {}
for i = 1, 8 do
  entries.i[i], entries.j[i], entries.x[i], signs[i] = i, 20 * i, 0.5, i % 2 == 0 and 1 or -1
end
local thin = pn.data.from(pn.sparse(entries), signs):clip_rows("l2", 1)
local ends = pn.set.box { lower = -0.02 * pn.vec.ones(200), upper = 0.015 * pn.vec.ones(200) }
plan("of lazy steps", "svrg", logistic { data = thin, reg = pn.reg.l2 { lambda = 0.1 } },
  { privacy = false, epochs = 2, inner = 20, step = 0.3 }, true)
plan("of lazy steps in a box", "svrg", logistic { data = thin, set = ends },
  { privacy = false, epochs = 2, inner = 20, step = 0.3 }, true)
plan("of lasso steps", "svrg", logistic { data = thin, reg = pn.reg.l1 { lambda = 0.01 } },
  { privacy = false, epochs = 2, inner = 20, step = 0.3 }, true)

local quadratic = pn.reg.quadratic { A = pn.mat { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 2 } },
  center = { 0.1, 0, 0, 0 } }
local PRICE = { epsilon = 2, delta = 1e-6 }
local function priced(options)
  for k, v in pairs(PRICE) do options[k] = v end
  return options
end
plan("with a bent regulariser", "gradient_descent", logistic { reg = quadratic }, priced { iterations = 2 }, true)
local bent = pn.set.l2_ball { dim = 4 }:image { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 1 }, { 0, 0, 0, 1 } }
plan("in an image", "gradient_descent", logistic { set = bent }, priced { iterations = 2 })
plan("perturbed, without privacy", "objective_perturbation", logistic { reg = quadratic, clip = 0.5 }, { privacy = false })
plan("perturbed output", "output_perturbation", logistic { reg = pn.reg.elastic_net { l1 = 0.01, l2 = 0.1 } }, priced {}, true)
plan("perturbed output, steps", "output_perturbation",
  logistic { set = pn.set.l2_ball { dim = 4 }, reg = pn.reg.l2 { lambda = 0.1 } }, priced { method = "sgd" }, true)
plan("of samples", "mirror_descent", ball, { privacy = false, iterations = 2,
  noise = { covariance = pn.mat { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 2 } } } }, true)
plan("of a hopeless run", "gradient_descent", logistic { reg = quadratic }, { epsilon = 0.01, delta = 1e-6, iterations = 5 })
plan("of choices", "frank_wolfe", logistic { set = pn.set.hypersimplex { dim = 4, k = 2 } }, priced { iterations = 2 }, true)
plan("of choices in a product", "frank_wolfe",
  logistic { set = pn.set.hypersimplex { dim = 2, k = 1 }:product(pn.set.l1_ball { dim = 2 }) }, priced { iterations = 2 }, true)
plan("of vertices", "frank_wolfe", logistic { set = pn.set.linf_ball { dim = 4 } }, priced { iterations = 2 }, true)
plan("of a wide lasso", "gradient_descent", logistic { data = thin, reg = pn.reg.l1 { lambda = 0.01 } },
  { privacy = false, iterations = 3 }, true)
plan("of choices in an image", "frank_wolfe",
  logistic { set = pn.set.linf_ball { dim = 2 }:image { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, -1 } } }, priced { iterations = 2 })
plan("in a cube", "gradient_descent", logistic { set = pn.set.linf_ball { dim = 4 } }, priced { iterations = 2 })
plan("in a point", "gradient_descent", logistic { set = pn.set.box { lower = { 1, 1, 1, 1 }, upper = { 1, 1, 1, 1 } } },
  priced { iterations = 2 })
plan("with noise for its own sake", "mirror_descent", ball, { privacy = false, iterations = 2, noise = { covariance = 0.1 } })
plan("of compensated steps", "block_frank_wolfe",
  pn.objective { data = numbers, loss = pn.loss.squared(), set = triangle:product(triangle) },
  { privacy = false, iterations = 2, sampling = pn.sampling.serial { blocks = 2 }, step = "compensated" })
plan("perturbed, of records without bounds", "objective_perturbation",
  pn.objective { data = pn.data.synthetic.lasso { n = 60, p = 4, seed = 1 }, loss = pn.loss.squared(),
    reg = pn.reg.l2 { lambda = 0.1 } }, { privacy = false })
plan("of groups", "gradient_descent",
  logistic { reg = pn.reg.group { lambda = 0.1, groups = { 1, 1, 2, 2 }, weights = { 1, 2 } } }, priced { iterations = 2 }, true)

plan("of weighted groups", "gradient_descent", logistic { reg = pn.reg.group { lambda = 0.1, size = 2, weights = { 1, 2 } } },
  priced { iterations = 2 })
local bounded = pn.data.from(pn.sparse(entries), signs):clip_rows("linf", 1)
plan("of kept gradients", "frank_wolfe", logistic { data = bounded, set = pn.set.l1_ball { dim = 200 } },
  { rho = 4, iterations = 2, selection = "exponential", gradient = "linearised" }, true)

local long = { rows = 8, cols = 600, i = {}, j = {}, x = {} }
for k = 1, 2400 do long.i[k], long.j[k], long.x[k] = (k - 1) // 300 + 1, (k - 1) % 300 * 2 + 1, 0.5 end
long = pn.data.from(pn.sparse(long), signs):clip_rows("l2", 1)
more[".minimum of a wide lasso"] = function() pn.solve.exact(logistic { data = long, reg = pn.reg.l1 { lambda = 0.01 } }) end

-- ---- others ----

local squares_in_ball = pn.objective { data = numbers, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 4 } }
more[".tune by errors"] = function()
  pn.tune { solver = "gradient_descent", objective = squares_in_ball, epsilon = 2, delta = 1e-6, score = "rmse", range = 1,
    grid = { step = { 0.1, 1 }, iterations = { 2 } } }
end

more[".bound over lists"] = function()
  pn.bound(function(a, b) return a * b end, { a = { -1, 1 }, b = { values = pn.vec.linspace(1, 2, 70):table() } })
end

more[".proxes"] = function()
  for _, norm in ipairs { pn.norm.l1(), around:norm(), cloud:polar():norm(), cloud:norm():dual() } do
    try(pn.prox.norm { norm = norm, lambda = 1 }, pn.vec { 3, -1, 0.5 }, 0.5)
  end
end

more[".questions"] = function()
  local ledger = pn.ledger { rho = 10, teaching = true }
  local ask = pn.oracle { objective = ball, ledger = ledger }
  try(ask.hvp, ask, { 0, 0, 0, 0 }, { 1, 0, 0, 0 }, { rho = 0.1 })
  local of_bent = pn.oracle { objective = logistic { reg = quadratic }, ledger = ledger }
  try(of_bent.hvp, of_bent, { 0, 0, 0, 0 }, { 1, 0, 0, 0 }, { rho = 0.1 })
  try(ask.prefix, ask, { horizon = 4, rho = 0.1, factorization = "sqrt" })
  try(ask.prefix, ask, { horizon = 4, rho = 0.1, factorization = "matrix",
    matrix = { { 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 1, 1, 1, 0 }, { 1, 1, 1, 1 } } })
end

more[".ledger file"] = function()
  pn.ledger { path = "l.ledger", rho = 1 }:close()
  os.rename("l.ledger", "real.ledger")
  os.execute "ln -s real.ledger l.ledger; mv l.ledger.head real.head; ln -s real.head l.ledger.head"
  local l = pn.ledger { path = "l.ledger" }
  l:spend(pn.event.gaussian { sigma = 20, sensitivity = 1 }, "one")
  l:close()
  pn.ledger { path = "l2.ledger", key = "l2.key", epsilon = 4, delta = 1e-6, orders = { 2, 8, 32, 64 } }:close()
  pn.ledger { path = "l2.ledger", key = "l2.key" }:close()
end

-- What takes a tenth of a second a time waits for the thorough tier.
if not os.getenv "PN_THOROUGH" then
  for _, name in ipairs { "objective_perturbation", "trust_region", "second_order" } do
    more[".receipt " .. name] = nil
  end
end

return more
