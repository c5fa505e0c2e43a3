-- mutants_spec.lua -- audits catch deliberate faults in every mechanism, and find none where none is.
--
-- The fast tier plants each fault once, where it shows soonest, and makes two fifths of the trials; the thorough one plants it
-- in every mechanism, and audits these without a fault too.
-- mutants.lua runs in a child, against the module that `make test` builds with -DPN_MUTANTS; PENUMBRA_MUTANT names the fault.
-- Each audit states a bound with confidence 1 - 1e-8, and a sound mechanism meets up to ten of them: over the 28 mechanisms
-- the chance of a false alarm is at most 9.8e-7, whatever the seed, to which the twelve questions, least squares, paid
-- intervals and mirror descent, at 1 - 1e-9, add 1.5e-8.
-- Trials are such that noise times 0.8, the faintest fault, is missed with chance below 1e-6 (both bounds and 5.5 standard
-- deviations fit between it and the claim).
local tier = require "tests.tools.tier"
local build = os.getenv("PN_BUILD") or "build"
local lua = os.getenv("PN_LUA") or "lua5.4"

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- Faults that double what is shown: a part of the trials will do.
local shares = { sensitivity_half = 0.25, question_sensitivity_half = 0.25, leaf_sensitivity = 0.25, participates_once = 0.25,
                 leaf_sensitivity_half = 0.5,
                 records_again = 0.5, hessian_sensitivity_half = 0.5, second_order_value_folded = 0.25 }

local function processors()
  local pipe <close> = assert(io.popen "nproc")
  return tonumber(pipe:read "a") or 1
end

-- Children that nobody has waited for yet, the oldest first: at most one on each processor.
local running, most_running = {}, processors()

local function wait(child)
  if child.pipe then
    child.text = child.pipe:read("a")
    child.pipe:close()
    child.pipe = nil
  end
  return child.text
end

-- Start a child; the function that comes back waits for its line.
local function start(mechanism, kind, mutant, module)
  while #running >= most_running do wait(table.remove(running, 1)) end
  local paths = ("LUA_PATH='./?.lua;%s/lua/?.lua;%s/lua/?/init.lua;;' LUA_CPATH='%s/%s/?.so;;'"):format(build, build, build,
    module or "mutants")
  local command = ("env PENUMBRA_THREADS=1 PENUMBRA_MUTANT=%s %s %s tests/regress/mutants.lua %s %s %g 2>&1"):format(
    mutant, paths, quote(lua), mechanism, kind, (shares[mutant] or 1) * tier.times(0.4, 1))
  local child = { pipe = assert(io.popen(command)) }
  running[#running + 1] = child
  return function()
    local text = wait(child)
    return text:match("^(%a+)\t") or text, text
  end
end

local faults = { noise_scale = "law", sensitivity_half = "law", noise_reuse = "reuse", charge_after = "order" }
-- Of solvers with faults of their own.  What is drawn before it is refused, output perturbation keeps to itself.
local own = {
  output_perturbation = { noise_scale = "law", sensitivity_half = "law", noise_reuse = "reuse", output_sensitivity = "law",
                          output_steps = "law" },
  gradient_descent = { noise_scale = "law", sensitivity_half = "law", noise_reuse = "reuse", charge_after = "order",
                       clip_missing = "law", step_without_noise = "steps" },
  mirror_descent = { noise_scale = "law", charge_after = "order" },
  sgd = { noise_scale = "law", sensitivity_half = "law", noise_reuse = "reuse", charge_after = "order",
          batch_sensitivity = "law", batch_reuse = "batches" },
  accelerated_mirror_descent = { noise_scale = "law", sensitivity_half = "law", noise_reuse = "reuse", charge_after = "order",
                                 clip_missing = "law", step_without_noise = "steps", exact_y_step = "printed" },
  svrg = { noise_scale = "law", anchor_missing = "law", noise_reuse = "reuse", charge_after = "order", clip_missing = "inner",
           tau_twice = "inner", batch_sensitivity = "inner", batch_reuse = "batches", sensitivity_half = "printed" },
  svrg_pp = { anchor_missing = "law", charge_after = "order", clip_missing = "inner", sensitivity_half = "law",
              batch_sensitivity = "coins" },
  tree_plain = { noise_scale = "law", leaf_sensitivity = "law", noise_reuse = "reuse", node_redrawn = "average",
                 node_skipped = "average", charge_after = "order", taken_unmarked = "resumed" },
  tree_honaker = { leaf_sensitivity = "law", noise_reuse = "reuse" },
  tree_full = { leaf_sensitivity = "law", noise_reuse = "reuse" },
  tree_sqrt = { leaf_sensitivity = "law", noise_reuse = "reuse" },
  tree_banded = { leaf_sensitivity = "law", noise_reuse = "reuse" },
  tree_blt = { noise_scale = "law", leaf_sensitivity = "law", noise_reuse = "reuse" },
  tree_matrix = { leaf_sensitivity = "law", participates_once = "law", noise_reuse = "reuse" },
  tree_doubling = { leaf_sensitivity = "law", noise_reuse = "reuse", epochs_alike = "epochs" },
  zeroth_order = { leaf_sensitivity_half = "law", records_again = "law", noise_reuse = "reuse", clip_missing = "clip",
                   pass_unpaid = "order", charge_after = "order" },
  zeroth_order_naive = { leaf_sensitivity_half = "law", records_again = "law", noise_reuse = "reuse", clip_missing = "clip",
                         pass_unpaid = "order", charge_after = "order" },
  second_order = { noise_scale = "law", sensitivity_half = "law", noise_reuse = "reuse", hessian_sensitivity_half = "hessian",
                   hessian_not_symmetric = "beside", hessian_noise_reused = "twice", search_sensitivity_half = "search",
                   search_unpaid = "spent", second_order_value_folded = "value", batch_sensitivity = "batch",
                   charge_after = "order" },
  trust_region = { sensitivity_half = "law", hessian_sensitivity_half = "hessian", noise_reuse = "reuse", charge_after = "order" },
  newton = { sensitivity_half = "law", hessian_sensitivity_half = "hessian", noise_reuse = "steps", charge_after = "order" },
  sufficient_statistics = { question_sensitivity_half = "law", moments_constant_free = "law" },
  ask_gradient = { question_sensitivity_half = "law", answer_reused = "again", asked_again = "again",
                   share_ignored = "share", batch_reuse = "batches", charge_after = "order" },
  ask_moment = { question_sensitivity_half = "law", charge_after = "order" },
  ask_difference = { question_sensitivity_half = "law", question_unpaid = "spent", charge_after = "order" },
  intervals = { noise_scale = "law", charge_after = "order" },
  ask_hessian = { noise_scale = "law", question_sensitivity_half = "law", hessian_sensitivity_half = "law",
                  charge_after = "order" },
  ask_hvp = { question_sensitivity_half = "law", question_unpaid = "spent", charge_after = "order" },
  ask_convex_hvp = { question_sensitivity_half = "law" },
  ask_mean = { question_sensitivity_half = "law", charge_after = "order" },
  ask_value = { question_sensitivity_half = "law" },
  ask_values = { noise_scale = "law", question_sensitivity_half = "law" },
  ask_differences = { question_sensitivity_half = "law" },
  ask_vertex = { question_sensitivity_half = "law", charge_after = "order" },
  ask_choose = { question_sensitivity_half = "law" },
  tune = { score_unpaid = "law", selection_root_low = "price", selection_runs_fixed = "runs", either_first_only = "worse" },
}

-- Where the fast tier plants a fault.
local soonest = {
  permute_and_flip = { "noise_scale", "sensitivity_half" },
  laplace = { "charge_after" },
  output_perturbation = { "output_sensitivity", "output_steps" },
  accelerated_mirror_descent = { "exact_y_step", "step_without_noise" },
  intervals = { "charge_after" },
  sgd = { "batch_reuse" },
  svrg = { "anchor_missing", "tau_twice" },
  tree_plain = { "node_redrawn", "node_skipped", "taken_unmarked" },
  tree_banded = { "leaf_sensitivity" },
  tree_matrix = { "participates_once" },
  tree_doubling = { "epochs_alike" },
  zeroth_order = { "leaf_sensitivity_half", "records_again", "clip_missing", "pass_unpaid" },
  second_order = { "noise_reuse", "hessian_sensitivity_half", "hessian_not_symmetric", "hessian_noise_reused",
                   "search_sensitivity_half", "search_unpaid", "second_order_value_folded", "batch_sensitivity" },
  sufficient_statistics = { "moments_constant_free" },
  ask_gradient = { "question_sensitivity_half", "answer_reused", "asked_again", "share_ignored", "batch_reuse" },
  ask_hvp = { "question_unpaid" },
  tune = { "score_unpaid", "selection_root_low", "selection_runs_fixed", "either_first_only" },
}

-- The faults of a mechanism in this tier, each with its audit.
local function planted_in(mechanism)
  local all, some = own[mechanism] or faults, {}
  if tier.thorough then return all end
  for _, fault in ipairs(soonest[mechanism] or {}) do some[fault] = all[fault] end
  return some
end

-- The audits in which those faults show, each once.
local function kinds_of(planted)
  local seen, kinds = {}, {}
  for _, kind in pairs(planted) do
    if not seen[kind] then kinds[#kinds + 1] = kind end
    seen[kind] = true
  end
  return kinds
end

describe("an audit of", function()
  it("anything needs the module with faults, which make test builds", function()
    local file = io.open(build .. "/mutants/penumbra/core.so", "rb")
    assert.is_not_nil(file, "run the tests by `make test`")
    file:close()
  end)

  it("some mechanism meets every fault in the fast tier", function()
    local met = {}
    for mechanism, some in pairs(soonest) do
      for _, fault in ipairs(some) do met[fault] = (own[mechanism] or faults)[fault] end
    end
    for _, all in pairs(own) do
      for fault in pairs(all) do assert.is_not_nil(met[fault], fault) end
    end
    for fault in pairs(faults) do assert.is_not_nil(met[fault], fault) end
  end)

  for _, mechanism in ipairs {
    "gaussian", "analytic_gaussian", "laplace", "exponential", "permute_and_flip", "report_noisy_max", "sparse_vector",
    "frank_wolfe", "output_perturbation", "gradient_descent", "mirror_descent", "accelerated_mirror_descent", "sgd", "svrg",
    "svrg_pp",
    "tree_plain", "tree_honaker", "tree_full", "tree_sqrt", "tree_banded", "tree_blt", "tree_matrix", "tree_doubling",
    "zeroth_order",
    "zeroth_order_naive", "second_order", "trust_region", "newton", "sufficient_statistics",
    "intervals", "ask_gradient", "ask_moment", "ask_difference", "ask_hessian",
    "ask_hvp", "ask_convex_hvp", "ask_mean", "ask_value", "ask_values", "ask_differences", "ask_vertex", "ask_choose",
    "tune",
  } do
    describe(mechanism, function()
      local found = {}
      local planted = planted_in(mechanism)
      local kinds = tier.thorough and kinds_of(planted) or {}
      local thorough_it = tier.it(it)

      setup(function()
        for fault, kind in pairs(planted) do
          found[fault] = start(mechanism, kind, fault)
        end
        for _, kind in ipairs(kinds) do
          found[kind] = start(mechanism, kind, "none")
        end
      end)

      thorough_it("refutes nothing that it promises", function()
        for _, kind in ipairs(kinds) do
          local verdict, text = found[kind]()
          assert.equal("passed", verdict, text)
        end
      end)

      for fault in pairs(planted) do
        it("catches " .. fault, function()
          local verdict, text = found[fault]()
          assert.equal("caught", verdict, text)
        end)
      end
    end)
  end
end)

describe("the module that is installed", function()
  it("has no switch for faults", function()
    for fault, kind in pairs(faults) do
      assert.equal("passed", start("laplace", kind, fault, "lua")())
    end
    local file <close> = assert(io.open(build .. "/lua/penumbra/core.so", "rb"))
    assert.is_nil(file:read("a"):find("PENUMBRA_MUTANT", 1, true))
  end)
end)
