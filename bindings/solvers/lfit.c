/* lfit.c -- fits: the model, what it cost, how it came about.  One that was loaded has no plan,
 * but what its file says of it.
 * Depends on: lsolve.h, lnumbers.h, progress.h.  Used by: lsolve.c, lwalk.c, lfit_save.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/recipe/lrecipe.h"
#include "bindings/solvers/lsolve.h"

enum { KEPT_PLAN = 1 }; /* a plan or, of a fit that was loaded, what its file says */

static pn_fit *fit_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_fit_class);
}

pn_fit **pnl_new_fit(lua_State *L, int plan_index)
{
    pn_fit **slot;

    plan_index = lua_absindex(L, plan_index);
    slot = (pn_fit **)pnl_newbox(L, &pnl_fit_class);
    pnl_keep(L, -1, plan_index);
    return slot;
}

static int fit_theta(lua_State *L)
{
    pn_fit *fit = fit_of(L);

    pnl_view_vec(L, fit->theta, fit->p, 1);
    return 1;
}

static const char trace_key = 't';

/* The text is Lua's (stdlib/trace.lua). */
static int trace_tostring(lua_State *L)
{
    lua_settop(L, 1);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.trace");
    lua_call(L, 1, 1);
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* The table on the top gets a text of its own; analysts, for whom nothing is loaded, a plain one. */
static void name_trace(lua_State *L)
{
    if (pnl_curated(L)) {
        pnl_list(L);
        return;
    }
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &trace_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, trace_tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &trace_key);
    }
    lua_setmetatable(L, -2);
}

static int fit_trace(lua_State *L)
{
    pn_fit *fit = fit_of(L);

    lua_createtable(L, (int)fit->rows, 0);
    for (size_t i = 0; i < fit->rows; i++) {
        pnl_push_row(L, &fit->trace[i], NULL, 0);
        if (pnl_curated(L))
            pnl_list(L);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    name_trace(L);
    return 1;
}

static int fit_plan(lua_State *L)
{
    (void)fit_of(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_PLAN);
    return 1;
}

/* Push the plan and return it; NULL, with nothing pushed, for a fit that was loaded. */
pn_plan *pnl_fit_plan(lua_State *L)
{
    pn_plan *plan;

    fit_plan(L);
    lua_remove(L, -2);
    plan = pnl_test(L, -1, &pnl_plan_class);
    if (!plan)
        lua_pop(L, 1);
    return plan;
}

void pnl_fit_about(lua_State *L, pn_model_about *out)
{
    fit_plan(L);
    if (pnl_test(L, -1, &pnl_saved_plan_class))
        *out = *(const pn_model_about *)pnl_check(L, -1, &pnl_saved_plan_class);
    else
        pn_model_about_of(out, pnl_check(L, -1, &pnl_plan_class));
    lua_pop(L, 2);
}

double pnl_fit_evaluate(lua_State *L)
{
    pn_fit *fit = fit_of(L);
    pn_plan *plan = pnl_fit_plan(L);
    double value = 0.0;
    pn_model_about about;
    pn_err err;
    pn_status status;

    if (!plan) {
        pnl_fit_about(L, &about);
        if (isnan(about.value) && about.declared[0] && !about.version)
            pnl_error(L, "fit.value: the run's objective is in other coordinates; obj:value(fit.theta) gives the value "
                         "of one in these");
        if (isnan(about.value))
            pnl_error(L, "fit.value: the file does not hold it, since it is not private; fit:save(path, {raw = "
                         "true}) keeps it");
        return about.value;
    }
    pnl_run_begin(L, true);
    status = pn_objective_evaluate(pn_plan_objective(plan), fit->theta, &value, NULL, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return value;
}

PNL_GETTER(fit_value, pnl_fit_evaluate(L));

/* fit:excess(tol): beside the bound of the theorem. */
static int fit_excess(lua_State *L)
{
    pn_fit *fit = fit_of(L);
    double tol = lua_isnoneornil(L, 2) ? 1e-8 : pnl_check_finite(L, 2, "fit:excess: tol"), best = 0.0, gap = 0.0;
    double *theta = pnl_new_vec(L, fit->p);
    pn_plan *plan = pnl_fit_plan(L);
    pn_err err;
    pn_status status;

    if (!plan)
        return pnl_error(L, "fit:excess: a fit that was loaded has no objective; obj:value(fit.theta) of the objective "
                            "made again, less pn.solve.exact(obj).value, is its excess risk");
    pnl_run_begin(L, true);
    status = pn_objective_minimise(pn_plan_objective(plan), tol, 100000, theta, &best, &gap, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, pnl_fit_evaluate(L) - best);
    if (isnan(plan->bound))
        lua_pushnil(L);
    else
        lua_pushnumber(L, plan->bound);
    return 2;
}

static void set_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* Seeded noise protects nobody: its epsilon is infinite, and what it would have been stands beside it. */
static int fit_privacy(lua_State *L)
{
    pn_fit *fit = fit_of(L);
    pn_model_about about;

    if (!fit->is_private) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 11);
    set_number(L, "epsilon", fit->simulated ? (isnan(fit->epsilon) ? NAN : INFINITY) : fit->epsilon);
    set_number(L, "delta", fit->delta);
    set_number(L, "rho", fit->simulated ? INFINITY : fit->rho);
    if (fit->simulated) {
        set_number(L, "nominal_epsilon", fit->epsilon);
        set_number(L, "nominal_rho", fit->rho);
    }
    lua_pushstring(L, pn_neighbours_names[fit->neighbours]);
    lua_setfield(L, -2, "neighbours");
    pnl_fit_about(L, &about);
    if (about.adaptive || fit->charged_epsilon < fit->epsilon || fit->charged_rho < fit->rho) {
        set_number(L, "charged_epsilon", fit->charged_epsilon);
        set_number(L, "charged_rho", fit->charged_rho);
    }
    lua_pushstring(L, about.accountant);
    lua_setfield(L, -2, "accountant");
    lua_pushboolean(L, fit->simulated);
    lua_setfield(L, -2, "simulated");
    lua_pushboolean(L, !fit->simulated);
    lua_setfield(L, -2, "private");
    pnl_list(L);
    return 1;
}

/* What the released numbers prove of theta; nil for solvers that prove nothing. */
static int fit_certificate(lua_State *L)
{
    const pn_certificate *of = &fit_of(L)->certificate;

    if (!of->status) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 10);
    lua_pushstring(L, of->status);
    lua_setfield(L, -2, "status");
    set_number(L, "gradient_norm", of->gradient_norm);
    set_number(L, "eigenvalue", of->eigenvalue);
    set_number(L, "probability", 1.0 - of->failure);
    set_number(L, "released_gradient_norm", of->noisy_gradient_norm);
    set_number(L, "released_eigenvalue", of->noisy_eigenvalue);
    set_number(L, "gradient_error", of->gradient_error);
    set_number(L, "hessian_error", of->hessian_error);
    set_number(L, "gradient_target", of->gradient_target);
    set_number(L, "eigenvalue_target", of->eigenvalue_target);
    pnl_list(L);
    return 1;
}

static int not_saved(lua_State *L, const char *what)
{
    return pnl_error(L,
                     "fit.%s: the file does not hold it, since that of a private run is not private; "
                     "fit:save(path, {raw = true}) keeps it",
                     what);
}

static int fit_seconds(lua_State *L)
{
    const pn_fit *fit = fit_of(L);

    if (isnan(fit->seconds))
        return not_saved(L, "seconds");
    lua_pushnumber(L, fit->seconds);
    return 1;
}

static int fit_gradients(lua_State *L)
{
    const pn_fit *fit = fit_of(L);

    if (fit->gradients == PN_NOT_SAVED)
        return not_saved(L, "gradients");
    lua_pushinteger(L, (lua_Integer)fit->gradients);
    return 1;
}

PNL_GETTER(fit_steps, fit_of(L)->steps);
PNL_GETTER(fit_stopped, fit_of(L)->stopped);
PNL_GETTER_IF(fit_remark, fit_of(L)->remark[0], (const char *)fit_of(L)->remark);

size_t pnl_fit_nonzeros(const pn_fit *fit)
{
    size_t count = 0;

    for (size_t j = 0; j < fit->p; j++)
        count += fit->theta[j] != 0.0;
    return count;
}

PNL_GETTER(fit_nonzeros, pnl_fit_nonzeros(fit_of(L)));

static int fit_declared(lua_State *L)
{
    pn_model_about about;

    (void)fit_of(L);
    pnl_fit_about(L, &about);
    lua_pushstring(L, about.declared[0] ? about.declared : NULL);
    return 1;
}

static int fit_recipe(lua_State *L)
{
    pn_model_about about;

    (void)fit_of(L);
    pnl_fit_about(L, &about);
    (void)pnl_push_recipe(L, about.recipe);
    return 1;
}

static const pnl_row fit_rows[] = {
    { "theta", fit_theta, PNL_FIELD, PNL_PAID, "fit.theta -> vec", "The model [p], a view." },
    { "trace", fit_trace, PNL_FIELD, PNL_PAID, "fit.trace -> table",
      "One row a step: step, atom (the chosen vertex), step_size, gradients; value and gap only where the run was not "
      "private or its noise was simulated; certificate where an epoch of zeroth_order ended: the norm of its mean "
      "released gradient; of second-order solvers kind (what the step was), gradient_norm and eigenvalue (of what was "
      "released)." },
    { "certificate", fit_certificate, PNL_FIELD, PNL_PAID, "fit.certificate -> table or nil",
      "What the released numbers prove of theta: status (\"certified\", or why not), and with probability "
      "`probability` that the norm of the gradient of f is at most gradient_norm and the least eigenvalue of its "
      "Hessian at least eigenvalue; released_gradient_norm and released_eigenvalue as they were released, "
      "gradient_error and hessian_error what lies between, gradient_target and eigenvalue_target what was asked for.  "
      "nil for solvers that prove nothing of the kind." },
    { "plan", fit_plan, PNL_FIELD, PNL_NOTHING, "fit.plan -> plan",
      "The plan that was run.  Of a fit that was loaded what its file says of it, a pn.saved_plan: tostring(fit.plan) "
      "is the plan's explanation." },
    { "value", fit_value, PNL_FIELD, PNL_RAW, "fit.value -> number",
      "The objective at theta, computed from the exact data when it is asked for.  Of a fit that was loaded the value "
      "that was saved with raw = true; an error without." },
    { "excess", fit_excess, PNL_METHOD, PNL_RAW, "fit:excess(tol) -> number, number or nil",
      "The excess risk that was reached, value - minimum over the set (found by solve.exact to a duality gap of tol, "
      "1e-8), and beside it the bound on its expectation that the plan's theorem gives.  Computed from the exact "
      "data." },
    { "privacy", fit_privacy, PNL_FIELD, PNL_NOTHING, "fit.privacy -> table or nil",
      "{epsilon=, delta=, rho=, neighbours=, accountant=, simulated=, private=}: what holds of the run; nil without "
      "privacy. Wherever a run ends before its last step, by itself, by on_step, Ctrl-C, a limit or walk:fit(), "
      "epsilon and rho are the whole plan's, because whoever ended it may have seen what it released; they are 0 "
      "when nothing was.  Beside them charged_epsilon and charged_rho are the price of the releases that were made, "
      "which a ledger was charged: they are not a guarantee. Of seeded noise epsilon is infinite and "
      "nominal_epsilon is what secure noise would have given." },
    { "seconds", fit_seconds, PNL_FIELD, PNL_RAW | PNL_CLOCK, "fit.seconds -> number",
      "Time inside the solver.  It is not private: how long a minimum takes depends on the records." },
    { "gradients", fit_gradients, PNL_FIELD, PNL_RAW, "fit.gradients -> integer",
      "Per-record gradient evaluations; a full gradient counts n." },
    { "steps", fit_steps, PNL_FIELD, PNL_PAID, "fit.steps -> integer", "Steps made." },
    { "remark", fit_remark, PNL_FIELD, PNL_PAID, "fit.remark -> string or nil",
      "How many mirror steps without a formula ended after 500 iterations, farther from their minimum than the plan "
      "asked for; nil when none did." },
    { "stopped", fit_stopped, PNL_FIELD, PNL_PAID, "fit.stopped -> string or nil",
      "nil after a full run, else why it ended early: \"interrupted\", \"limit\" (of time), \"budget\", \"converged\", "
      "\"certified\"." },
    { "nonzeros", fit_nonzeros, PNL_FIELD, PNL_PAID, "fit.nonzeros -> integer",
      "Coordinates of theta that are not zero." },
    { "recipe", fit_recipe, PNL_FIELD, PNL_NOTHING, "fit.recipe -> recipe or nil",
      "The recipe that made the data set, or its file's; nil without one, and where columns, scales or labels were "
      "changed after it." },
    { "declared", fit_declared, PNL_FIELD, PNL_NOTHING, "fit.declared -> string or nil",
      "Which numbers in theta were declared public, so that the guarantee does not cover them (fit:in_terms_of); nil: "
      "none." },
    { "predict", pnl_fit_predict, PNL_METHOD, PNL_PAID,
      "fit:predict(X, {labels=false, ...}) -> vec, mat, number or list",
      "Predict records.  With a recipe, X is the path of a CSV file, a table of columns {age = {31, 58}, ...}, or a "
      "data set of the same recipe, none of which needs a label; the result is the label of each record in its own "
      "unit, or as data sets have it: -1 or 1, or 1, 2, ..., K.  labels = true gives a list of the classes' names, as "
      "scikit-learn's predict does; further options are those of recipe:data.  A poisson model gives the mean.  "
      "Values are not clipped to the label's range.  Otherwise X is a matrix, a sparse matrix, a table of rows, a "
      "vec, or a data set, and the result is <x, theta> for each of the n rows x, a number for a vec; for softmax it "
      "is a matrix n x classes, whose largest entry in a row belongs to the likeliest class; for margins it is a "
      "matrix n x k of z, the arguments of the formula.  As private as theta when X is the caller's own.  Errors: "
      "rows that do not have the model's features; a data set of another recipe, or changed since; a loss whose "
      "margins have no known meaning." },
    { "probabilities", pnl_fit_probabilities, PNL_METHOD, PNL_PAID, "fit:probabilities(X, {...}) -> mat or vec, list",
      "The model's probability of each class, n x classes (a vec for one vec), for X as predict takes it, and the "
      "names of the classes in the order of the columns; of two classes that of -1 comes first.  For logistic and "
      "softmax; other losses are not likelihoods of classes, and are refused.  Noise and regularisation move the "
      "probabilities towards 1/K." },
    { "coefficients", pnl_fit_coefficients, PNL_METHOD, PNL_PAID, "fit:coefficients() -> table",
      "A list of {name=, column=, kind=, class=, scaled=, original=, per=}, one for each feature and class, that "
      "prints as a table.  scaled is theta's entry.  original, for a fit that has a recipe, is the coefficient in "
      "the column's own unit (`per` names it: \"1\" of a number, \"day\"), and in the label's unit where the label "
      "is a range; the last row, \"(constant)\", is the constant that goes with them.  Categories have no reference "
      "level: each has a coefficient, which counts where the record has it.  A missing value with an indicator "
      "counts as the middle of the range." },
    { "card", pnl_fit_card, PNL_METHOD, PNL_PAID, "fit:card() -> string",
      "A model card, plain text 80 columns wide: what the model predicts, from which columns with which public ranges, "
      "on how many records it was trained, the privacy price and its relation, and what that does not promise." },
    { "receipt", pnl_fit_receipt, PNL_METHOD, PNL_PAID, "fit:receipt() -> receipt",
      "What was done to the records, as JSON from which others work out every sensitivity and price again: relation, "
      "losses and bounds, the plan's events and where their sensitivities come from, what was charged, what holds at "
      "every stop.  print(r) says it in a few lines; r.json, r:save(path).  Nothing in it depends on the records but "
      "what was released.  Errors: a run without privacy; a fit that was loaded from a file without one." },
    { "export", pnl_fit_export, PNL_METHOD, PNL_RAW | PNL_FILES, "fit:export(path, {format=}) -> path",
      "Write the model for others, mode 600, complete or not at all; by the end of the path, or format=.  \"json\": "
      "all that fit:save keeps but trace, certificate, moments and curvature, with the features and the recipe, in the "
      "schema that runtime/model documents; pn.load reads it, and examples/score.py scores with it.  \"csv\": "
      "fit:coefficients(), one a line.  \"npy\": theta.  As private as theta.  Errors: a theta that is not finite; an "
      "end that is none of these." },
    { "moments", pnl_fit_moments, PNL_FIELD, PNL_PAID, "fit.moments -> table or nil",
      "What solve.sufficient_statistics released: matrix, the mean of v v^T over the records, v = (x/row_bound, "
      "tau (y - middle)/label_bound), the constant of add_bias() as kappa; noise, the standard deviation on its "
      "diagonal (beside it 1/sqrt(2) of that).  nil for other solvers." },
    { "curvature", pnl_fit_curvature, PNL_FIELD, PNL_PAID, "fit.curvature -> table or nil",
      "What solve.newton released of second derivatives, from which fit:intervals follows: matrix, the Hessian of the "
      "mean loss that it released last, without the regulariser; noise, the standard deviation on its diagonal "
      "(beside it 1/sqrt(2) of that where frobenius is true); gradient_noise, that of each coordinate of the gradient "
      "which theta follows from; damping and pull, the damping of the last step and what it adds to the gradient; "
      "clip, of the objective, 0 without; "
      "regular_gradient and regular_diagonal, of the regulariser at theta.  nil for other solvers." },
    { "path", pnl_fit_path, PNL_METHOD, PNL_PAID, "fit:path{ridge=, columns=} -> list",
      "Models from the released moments, at no further cost: one for each ridge (as lambda of pn.reg.l2, the constant "
      "left out), of the features in columns, by default all; without ridge= the one that the noise asks for.  Each is "
      "{theta=, ridge=, mse=, mse_noise=}: theta with zeros for features that are left out, and the mean squared error "
      "as released with the standard deviation of its noise: not for choosing finely, its least value follows the "
      "noise.  The objective's set and regulariser have no part in them.  Errors: fits of other solvers; a ridge too "
      "small for the released matrix.  Source: Wang (2018)." },
    { "covariance", pnl_fit_covariance, PNL_METHOD, PNL_PAID, "fit:covariance{of=, ridge=, columns=} -> mat",
      "Of theta as fit:path has it, from the released moments, at no further cost: of=\"privacy\", what noise does "
      "(about the answer without it), or \"total\", and what the draw of the records does (about the population's, "
      "of a linear model).  theta[j] +- 1.96 sqrt(C[j][j]) is 95 %, approximately: first order in the noise; bias by "
      "a ridge, a set, a regulariser or clipping is not covered, nor a model that was chosen among several.  Errors: "
      "fits of other solvers; fewer records than columns." },
    { "intervals", pnl_fit_intervals, PNL_METHOD, PNL_PAID,
      "fit:intervals{level=, target=, joint=, debias=, ledger=, rho=, released=} -> list",
      "How far coefficients may be from what they estimate: of each {name=, estimate=, low=, high=, sd_privacy=, "
      "sd_sampling=, kind=, bias=}, in the units of the columns where the fit has a recipe; it prints itself with what "
      "is not covered.  target = \"population\" (default) counts the noise and that the records are a sample, "
      "\"records\" the noise alone: where the answer without it would be.  level: 0.95 by default.  joint = "
      "\"bonferroni\": all at once.  debias = true takes away, to first order, what a regulariser, damping, the "
      "quadratic term of objective_perturbation and steps that end early do, which `bias` is otherwise.  kind is "
      "\"exact\" (output_perturbation without a set, with Gaussian noise, of the records), \"approx\" (first order in "
      "the noise; of the population sufficient_statistics for a linear model, others for a likelihood: logistic, "
      "Poisson, softmax) or \"heuristic\" (a set, a regulariser or clipped gradients moved the answer: no coverage is "
      "claimed).  undetermined = true in place of low and high: the released Hessian is lost in its noise there.  It "
      "costs nothing for sufficient_statistics, newton and output_perturbation.  gradient_descent, sgd and "
      "objective_perturbation release no Hessian: ledger= and rho= (or epsilon= and delta=; rng= as for pn.oracle) pay "
      "for one at theta, charged before its noise is drawn, and released = an earlier answer's `released` takes that "
      "again.  simulated: of seeded noise.  Errors: other solvers, which release nothing that says it; runs that ended "
      "early; fits that were loaded, but of sufficient_statistics and newton; a loss that is no likelihood, of the "
      "population." },
    { "in_terms_of", pnl_fit_in_terms_of, PNL_METHOD, PNL_PAID,
      "fit:in_terms_of(data, {map=, shift=, declared=}) -> fit",
      "The same model for records as they were before public numbers changed them: theta becomes shift + P^T theta, "
      "P the map= of data:transform(P) and shift= the theta of data:offset_labels(theta, bound) (each margin has its "
      "own part), so that predict, coefficients, card, save and export speak of the features, the recipe and the "
      "bounds of `data`, which are the records that the changes began with.  The privacy statement is the fit's: "
      "this is post-processing, of numbers that the caller declares public.  declared= says in words what is public, "
      "as the card and the print-out do: \"not covered by the guarantee\".  Of the run it keeps what a file would, "
      "less set, regulariser, certificate, moments and curvature.  Errors: sizes that do not agree; data of another "
      "number of records." },
    { "save", pnl_fit_save, PNL_METHOD, PNL_RAW | PNL_FILES, "fit:save(path, {raw=false}) -> path",
      "Write a model file, which pn.load(path) reads: theta, the plan's explanation, the privacy statement, steps, why "
      "it stopped, the certificate, what was released of each step, what predict needs, the version; with a checksum, "
      "readable by you alone (mode 600), complete or not at all.  The file of a private run is as private as theta: "
      "what is not private is left out, and is kept with raw = true (value, the trace's values, seconds, gradients), "
      "which the file then says.  seconds and gradients of a run without privacy are always kept.  The objective and "
      "the loss are not: make them again to go on from theta.  Errors: a theta that is not finite." },
    { "__tostring", pnl_fit_tostring, PNL_META, PNL_PAID, "tostring(fit)",
      "Steps, time, the privacy statement, the course of the trace, the model shortened, and the certificate of "
      "solvers that have one." },
    PNL_ROW_END,
};

const pnl_class pnl_fit_class = { "pn.fit", (void (*)(void *))pn_fit_free,
                                  fit_rows, "A fitted model with its privacy statement.",
                                  NULL,     NULL };
