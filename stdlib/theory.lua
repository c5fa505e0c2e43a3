-- theory.lua -- where the constants of an entry of the reference are derived: theory(name) is the path of a document in the source
-- tree, or nil.  The table has solvers, for which the document also explains each line of their plans, and libraries.
-- Depends on: nothing.  Used by: penumbra.prompt.help, the generated documents.
local documents = {}
for path, names in pairs {
  ["runtime/solvers/engine/plans.md"] = "solve pn.plan",
  ["runtime/solvers/first_order/mirror-descent.md"] = "solve.mirror_descent solve.accelerated_mirror_descent "
    .. "solve.gradient_descent solve.sgd",
  ["runtime/solvers/frank_wolfe/frank-wolfe.md"] = "solve.frank_wolfe solve.frank_wolfe_convex solve.block_frank_wolfe",
  ["runtime/solvers/variance_reduced/variance-reduced.md"] = "solve.svrg solve.svrg_pp",
  ["runtime/solvers/perturbation/perturbation.md"] = "solve.objective_perturbation solve.output_perturbation",
  ["runtime/solvers/zeroth_order/zeroth-order.md"] = "solve.zeroth_order solve.zeroth_order_naive",
  ["runtime/solvers/second_order/second-order.md"] = "solve.second_order solve.trust_region solve.newton",
  ["runtime/federated/distributed-frank-wolfe.md"] = "solve.federated_frank_wolfe federated",
  ["runtime/recipe/model-building.md"] = "solve.sufficient_statistics recipe model",
  ["runtime/oracle.md"] = "oracle solver solve.adam solve.adaptive_clipping solve.coordinate_descent solve.heavy_ball "
    .. "solve.nesterov solve.noisy_sgd",
  ["runtime/continual/tree-mechanism.md"] = "tree solve.ftrl solve.matrix_factorization_sgd",
  ["runtime/privacy/accounting/accounting.md"] = "accountant event ledger sampler",
  ["runtime/random/noise.md"] = "mechanism calibrate rng",
  ["runtime/geometry/geometry.md"] = "set norm potential prox",
} do
  for name in names:gmatch "%S+" do documents[name] = path end
end

-- `name` as in the reference; of a solver's plan, the solver's.
return function(name)
  return documents[name] or documents[name:match "^(.*)%.plan$"]
end
