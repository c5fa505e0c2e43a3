/* lask_class.c -- pn.oracle: its constructor, its questions as methods, what is public about them, and what help says.
 * Depends on: lask.h, oracle/question.h, shared_stream.h.  Used by: lsolver.c. */
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/solvers/lask.h"
#include "bindings/solvers/lsolve.h"
#include "random/shared_stream.h"

enum { KEPT_OBJECTIVE = 1 };

static pnl_ask *ask_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_ask_class);
}

static void ask_free(void *object)
{
    pnl_ask_free(object);
}

#define METHOD(name)                                                                                                   \
    static int ask_##name(lua_State *L)                                                                                \
    {                                                                                                                  \
        return pnl_ask_kind(L, &pn_question_##name);                                                                   \
    }
METHOD(gradient)
METHOD(moment)
METHOD(difference)
METHOD(hessian)
METHOD(hvp)
METHOD(mean)
METHOD(within)
METHOD(value)
METHOD(values)
METHOD(differences)
METHOD(vertex)
METHOD(choose)

/* ---- what is public ---- */

const pn_question_ops *pnl_ask_question(lua_State *L, int index, const char *owner, const char *where)
{
    const char *name = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    const pn_question_ops *ops = name ? pn_question_find(name) : NULL;
    const pn_question_ops *const *table = pn_question_table();
    luaL_Buffer names;

    if (ops && pn_question_is_open(ops))
        return ops;
    luaL_buffinit(L, &names);
    for (size_t i = 0; table[i]; i++) {
        if (pn_question_is_open(table[i])) {
            luaL_addstring(&names, i ? ", " : "");
            luaL_addstring(&names, table[i]->name);
        }
    }
    luaL_pushresult(&names);
    pnl_error(L, "%s: %sthere is no question %s; there are %s", owner, where, pnl_got(L, index), lua_tostring(L, -1));
    return NULL;
}

static int objective_field(lua_State *L, const char *field)
{
    (void)ask_of(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_OBJECTIVE);
    lua_getfield(L, -1, field);
    return 1;
}

static int ask_set(lua_State *L)
{
    return objective_field(L, "set");
}

static int ask_bounds(lua_State *L)
{
    return objective_field(L, "bounds");
}

PNL_GETTER(ask_n, pn_objective_data(ask_of(L)->objective)->n);
PNL_GETTER(ask_dim, pn_objective_dim(ask_of(L)->objective));
PNL_GETTER(ask_relation, (char *)(size_t)pn_neighbours_names[ask_of(L)->neighbours]);
PNL_GETTER_IF(ask_spent, ask_of(L)->ledger != NULL, pn_ledger_spent(ask_of(L)->ledger));
PNL_GETTER_IF(ask_left, ask_of(L)->ledger != NULL, pn_ledger_remaining(ask_of(L)->ledger));

/* ask:noise(name): of the plan; by itself of the last answer. */
static int ask_noise(lua_State *L)
{
    const pnl_ask *self = ask_of(L);
    const pn_question_ops *ops = pnl_ask_question(L, 2, self->owner, "noise: ");

    if (self->mode != PNL_ASK_RUNS || !self->plan) {
        lua_pushnumber(L, self->last == ops ? self->noise : 0.0); /* 0 while a solver is planned */
        return 1;
    }
    for (size_t i = 0; i < self->plan->question_count; i++) {
        if (self->plan->questions[i].ops == ops) {
            lua_pushnumber(L, self->plan->questions[i].exact ? 0.0 : pn_question_sigma(&self->plan->questions[i]));
            return 1;
        }
    }
    return pnl_error(L, "%s: noise: the plan does not ask %s", self->owner, ops->name);
}

static int ask_tostring(lua_State *L)
{
    const pnl_ask *self = ask_of(L);

    lua_pushfstring(L, "oracle: %s neighbours, %d records, theta of %d numbers; %s",
                    pn_neighbours_names[self->neighbours], (int)pn_objective_data(self->objective)->n,
                    (int)pn_objective_dim(self->objective),
                    self->mode == PNL_ASK_ONCE ? "every answer is charged to its ledger" : "of a solver's step");
    return 1;
}

/* ---- what help says ---- */

#define IN_A_STEP                                                                                                      \
    "In a step of pn.solver the plan pays, and a price is refused; share= (default 1) is this question's precision "   \
    "relative to the step's others.  "
#define PRICE                                                                                                          \
    "Options: at the prompt the price of this answer, one of sigma= (standard deviation of the noise on each "         \
    "number), rho=, or epsilon= with delta=.  " IN_A_STEP
#define PRICE_OF_CHOICE                                                                                                \
    "Options: at the prompt the price of this answer, rho= or epsilon=, with delta= or without.  " IN_A_STEP
#define BATCH "batch= asks a secret batch of the records in place of all (guide \"write a solver\").  "
#define WIDTH                                                                                                          \
    "at most the width of that range over n (zero_out: or its largest absolute value over n, where that is more)"
#define PHI                                                                                                            \
    "phi(z, y), of a record's margin z = <x_i, x> and label y, is traced as in pn.loss.glm; x has as many entries as " \
    "the data have columns.  "

static const pnl_row ask_rows[] = {
    { "gradient", ask_gradient, PNL_METHOD, PNL_PAID, "ask:gradient(x, {options}) -> vec",
      "The gradient of the objective at x, with Gaussian noise.  One record moves the mean gradient of the losses by "
      "at most 2 L/n in l2 (zero_out: L/n), L = ask.bounds.lipschitz.l2; the regulariser's gradient is public, and "
      "added after the noise.  clip=, a positive number, scales each record's gradient down to that l2 norm for this "
      "answer, and the noise with it: sigma= is then that of clip=1.  " BATCH PRICE "Refused where no bound on a "
      "record's gradient is certified: scale the columns by public ranges (d:rescale, pn.recipe), or give pn.objective "
      "a clip=.  Source: Bassily, Smith, Thakurta (2014)." },
    { "moment", ask_moment, PNL_METHOD, PNL_PAID, "ask:moment(phi, x, {options}) -> vec",
      "The mean of phi(z, y) x_i over the records (x_i, y), with Gaussian noise.  " PHI "One record moves it by at "
      "most 2 max |phi| R/n in l2 (zero_out: half), R the largest norm of a row.  " BATCH PRICE
      "Refused where phi is not certified to be bounded over the margins and labels that can occur, and for "
      "losses of several margins." },
    { "difference", ask_difference, PNL_METHOD, PNL_PAID, "ask:difference(x, y, {options}) -> vec",
      "The gradient at x less the gradient at y, with noise that shrinks with ||x - y||.  Each record's part is "
      "scaled down to length t, the least of 2 L and reach x (smoothness of a record's loss) x ||x - y||; reach= is "
      "1 by default.  One record moves the mean by at most 2 t/n (zero_out: t/n); sigma= is the noise for t = 1.  "
      "The regulariser's difference is added after the noise.  " BATCH PRICE "Refused for losses that are not "
      "certified to be smooth.  Source: Wang, Ye, Xu (2017)." },
    { "hessian", ask_hessian, PNL_METHOD, PNL_PAID, "ask:hessian(x, {options}) -> mat",
      "The Hessian of the objective at x, dim x dim, with symmetric noise.  One record moves the mean Hessian of the "
      "losses by at most 2 max l'' R^2/n in Frobenius norm, sqrt(2) max l'' R^2/n where the loss is convex; the "
      "regulariser's is added after the noise.  A secret batch= is of a fixed size, for replace_one.  " PRICE
      "Refused for losses without a second derivative, and where no bound on it or on the rows is certified.  "
      "Source: Gao, Wright." },
    { "hvp", ask_hvp, PNL_METHOD, PNL_PAID, "ask:hvp(x, v, {options}) -> vec",
      "The Hessian at x times v, with noise in proportion to ||v||.  One record moves it by at most 2 M ||v||/n, M "
      "the certified smoothness of a record's loss; by M ||v||/n where the loss is convex, and for zero_out.  sigma= "
      "is the noise for ||v|| = 1.  The regulariser's part is added after the noise.  " BATCH PRICE
      "Refused for losses that are not certified to be smooth, of several margins, and for clipped gradients." },
    { "mean", ask_mean, PNL_METHOD, PNL_PAID, "ask:mean(phi, x, {options}) -> number",
      "The mean of phi(z, y) over the records, with Gaussian noise.  " PHI "Each record's phi is clipped to "
      "clip={low, high} (clip=c: {-c, c}), by default to its certified range; one record moves the mean by " WIDTH
      ".  " PRICE "Refused where phi is not certified to be bounded and no clip= is given, and for losses of "
      "several margins." },
    { "within", ask_within, PNL_METHOD, PNL_PAID, "ask:within(x, length, {options}) -> number",
      "The share of records whose gradient at x has an l2 norm of at most `length`, with Gaussian noise.  length is "
      "any positive number; noise may take the answer out of [0, 1].  One record moves it by at most 1/n.  " PRICE
      "Refused for black boxes.  Source: Andrew, Thakkar, McMahan, Ramaswamy (2021)." },
    { "value", ask_value, PNL_METHOD, PNL_PAID, "ask:value(x, {options}) -> number",
      "The value of the objective at x, with Gaussian noise.  Each record's loss is clipped to clip={low, high} "
      "(clip=c: {-c, c}), by default to its certified range; one record moves the mean by " WIDTH
      ".  The regulariser's value is added after the noise.  " PRICE "Refused where the loss is not certified to "
      "be bounded and no clip= is given." },
    { "values", ask_values, PNL_METHOD, PNL_PAID, "ask:values(points, {options}) -> vec",
      "The values of the objective at 1 to 4096 points, released together.  points: a mat with a row for each, or a "
      "list of vectors.  clip= as in ask:value; one record moves k of them by at most sqrt(k) times as much.  " PRICE },
    { "differences", ask_differences, PNL_METHOD, PNL_PAID, "ask:differences(x, U, {radius=, options}) -> vec",
      "Slopes along directions, from values alone: (f(x + radius u) - f(x - radius u))/(2 radius) for each row u of "
      "U.  f is the mean loss, without the regulariser; radius > 0 is required; U is a mat or a list of 1 to 4095 "
      "vectors.  Each record's number is clipped to [-L, L], L = ask.bounds.lipschitz.l2, or by clip=c to [-c, c]; "
      "one record moves k of them by at most 2 L sqrt(k)/n in l2.  " PRICE "Source: Nesterov, Spokoiny (2017)." },
    { "vertex", ask_vertex, PNL_METHOD, PNL_PAID, "ask:vertex(x, {options}) -> vec, integer",
      "The vertex v of the set with the least <v, gradient at x>, and its number from 1, by private choice.  The "
      "exponential mechanism chooses among scores that one record moves by at most 2 max |<v, record's gradient>|/n; "
      "ask:noise \"vertex\" is the Gumbel scale.  " PRICE_OF_CHOICE "Refused for sets without vertices: take an "
      "l1_ball, a simplex or a polytope.  Source: Talwar, Thakurta, Zhang (2014), Algorithm 4." },
    { "choose", ask_choose, PNL_METHOD, PNL_PAID, "ask:choose(points, {options}) -> integer",
      "Which of the points has the least mean loss, by private choice: its number, from 1.  points as in ask:values, "
      "clip= as in ask:value; one record moves each score by as much.  The regulariser is left out.  " PRICE_OF_CHOICE
      "Source: McSherry, Talwar (2007)." },
    { "prefix", pnl_ask_prefix, PNL_METHOD, PNL_PAID, "ask:prefix{factorization=, batch=, ...} -> sums",
      "A running sum of gradients: sums:push(x) adds the mean gradient of the losses at x and returns the sum so "
      "far.  Its noise is that of a factorization of prefix sums (factorization=, bands=, buffers=, matrix= and "
      "the others as in pn.tree), and one charge pays for all pushes.  batch={scheme=\"shuffled\", size=} pushes "
      "batches of an order that is drawn once, so that a record is in one batch a pass; without, each push takes "
      "all records.  In a step the same options are the same stream, and the run's steps its horizon; at the "
      "prompt horizon=, the most pushes, and a price are required: rho=, epsilon= with delta=, or sigma=.  The "
      "regulariser is not in the sums.  Source: Kairouz et al. (2021); Choquette-Choo et al. (2023); Dvijotham et "
      "al. (2024)." },
    { "watch", pnl_ask_watch, PNL_METHOD, PNL_PAID, "ask:watch{threshold=, answers=, phi=, clip=, ...} -> watch",
      "A watch on a mean, by the sparse vector technique: watch:above(x) says whether it is at or above "
      "threshold=.  The mean is that of the losses at x or, with phi=, of phi(z, y) as in ask:mean; clip= as "
      "there.  One charge pays until it has said true answers= times (default 1).  In a step the same options are "
      "the same watch; at the prompt it takes a price, epsilon= or rho=.  Source: Dwork, Roth (2014), section 3.6." },
    { "noise", ask_noise, PNL_METHOD, PNL_NOTHING, "ask:noise(question) -> number",
      "The standard deviation of the plan's noise on each number of an answer to that question, \"gradient\" "
      "say.  Of difference and hvp it is that for length 1, of a gradient with clip= that for clip 1, of prefix "
      "that on the last sum, of vertex, choose and above (a watch) the scale of the choice.  At the prompt, where "
      "each answer has a price of its own, that of the last answer, 0 where it was to another question.  0 while "
      "the solver is planned, and without privacy." },
    { "n", ask_n, PNL_FIELD, PNL_NOTHING, "ask.n -> integer", "The number of records; public." },
    { "dim", ask_dim, PNL_FIELD, PNL_NOTHING, "ask.dim -> integer", "The number of entries of theta." },
    { "set", ask_set, PNL_FIELD, PNL_NOTHING, "ask.set -> pn.set or nil",
      "The constraint set of the objective; nil where it has none." },
    { "bounds", ask_bounds, PNL_FIELD, PNL_NOTHING, "ask.bounds -> table",
      "What is certified of the objective: obj.bounds." },
    { "relation", ask_relation, PNL_FIELD, PNL_NOTHING, "ask.relation -> string",
      "The neighbouring relation: \"replace_one\" or \"zero_out\"." },
    { "spent", ask_spent, PNL_FIELD, PNL_NOTHING, "ask.spent -> number or nil",
      "What its ledger has been charged, by all who use it, in the ledger's unit; nil in a run without privacy." },
    { "left", ask_left, PNL_FIELD, PNL_NOTHING, "ask.left -> number or nil",
      "What its ledger has left, in the ledger's unit; nil in a run without privacy." },
    { "__tostring", ask_tostring, PNL_META, PNL_NOTHING, "tostring(ask)", "What it is about." },
    PNL_ROW_END,
};

const pnl_class pnl_ask_class = {
    "pn.oracle", ask_free,
    ask_rows,    "Questions about the records, answered with noise and charged: guide \"write a solver\".",
    NULL,        NULL
};

/* ---- the constructor ---- */

static const char *const objective_name[] = { "pn.objective", NULL };

static const pn_param oracle_params[] = {
    { "objective", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, objective_name, "what is asked about" },
    PN_PARAM_END,
};

/* The same for the reference, with what is read here. */
static const pn_param oracle_options[] = {
    { "objective", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, objective_name, "what is asked about" },
    { "ledger", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "pn.ledger", NULL },
      "what every answer is charged to; its relation is that of the answers; it may be left out where the data set has "
      "a pn.budget" },
    { "batch", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "table or a number of records", NULL },
      "the batch of questions that take one and name none: {scheme=, size=} or {scheme=, rate=}; by default all "
      "records" },
    { "rng", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "pn.rng", NULL },
      "the stream of the noise; by default a secure one, a seeded one needs a ledger with teaching = true" },
    PN_PARAM_END,
};

/* Ranks that draw different noise would each release an answer, and pay for one: as walks have it. */
static void check_ranks(lua_State *L, const pnl_ask *self)
{
    size_t ranks = pn_ranks_size(pn_objective_ranks(self->objective));
    pn_err err;

    if (ranks > 1 && !(self->rng && (pn_rng_simulated(self->rng) || pn_rng_is_shared(self->rng))))
        pnl_status(L,
                   pn_fail(&err, PN_EPRIVACY,
                           "oracle: %zu ranks share the work, and each would draw noise of its own; give "
                           "rng=ranks:rng(), which is the same stream for all",
                           ranks),
                   &err);
}

/* In place of a nil on the top: the budget of the data set, if it has one. */
static void push_budget(lua_State *L, const pn_objective *objective)
{
    const pn_bill *account = lua_isnil(L, -1) ? pnl_bill_known(L, pn_objective_data(objective)) : NULL;

    if (!account || !account->budget)
        return;
    pnl_push_budget_of(L, account);
    lua_replace(L, -2);
}

int pnl_oracle_new(lua_State *L)
{
    static const char *const extra[] = { "ledger", "batch", "rng", NULL };
    pn_arg args[1];
    pnl_ask *self;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "oracle", oracle_params, args, extra);
    pnl_status(L, pn_args_check("oracle", oracle_params, args, &err), &err);
    pnl_push_ledger(L, 1, "oracle");
    push_budget(L, args[0].object);
    if (!pnl_test(L, -1, &pnl_ledger_class))
        return pnl_error(L,
                         "oracle: ledger must be a pn.ledger, which its answers are charged to (or give the data a "
                         "pn.budget), got %s",
                         pnl_got(L, -1));
    lua_getfield(L, 1, "objective");
    self = pnl_new_ask(L, -1, PNL_ASK_ONCE, "oracle");
    self->ledger = pnl_check(L, -3, &pnl_ledger_class);
    self->neighbours = pn_ledger_budget(self->ledger)->neighbours;
    pnl_keep(L, -1, -3);
    if (lua_getfield(L, 1, "rng") != LUA_TNIL) {
        if (!pnl_test(L, -1, &pnl_rng_class))
            return pnl_error(L, "oracle: rng must be a pn.rng, got %s", pnl_got(L, -1));
        self->rng = pnl_check(L, -1, &pnl_rng_class);
        pnl_keep(L, -2, -1);
    }
    lua_pop(L, 1);
    check_ranks(L, self);
    if (lua_getfield(L, 1, "batch") != LUA_TNIL)
        pnl_ask_batch(L, -1, self, &self->batch);
    lua_pop(L, 1);
    return 1;
}

void pnl_open_oracle(lua_State *L)
{
    pnl_open_class(L, &pnl_ask_class);
    pnl_open_class(L, &pnl_sums_class);
    pnl_open_class(L, &pnl_watch_class);
    lua_pushcfunction(L, pnl_oracle_new);
    lua_setfield(L, -2, "oracle");
    pnl_reference(L, "", "oracle", PNL_NOTHING, "pn.oracle{objective=, ledger=, batch=, rng=} -> oracle",
                  "Private answers to questions about the records.  Each question names its price; the answer's "
                  "sensitivity is certified, the price charged to the ledger, and the noise drawn, in this order.  In "
                  "a solver of your own (pn.solver) the same questions are asked of `ask`, and the plan pays.",
                  NULL, oracle_options);
}
