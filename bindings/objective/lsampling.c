/* lsampling.c -- pn.sampling: which blocks a step of block_frank_wolfe moves; pn.curvature: what that costs.
 * Depends on: pnl.h, lcallback.h, random/block_sampling.h, objective/measures/expected_curvature.h.
 * Used by: module.c, loptions.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "objective/measures/expected_curvature.h"
#include "random/block_sampling.h"

static pn_block_sampling *check_sampling(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_block_sampling_class);
}

/* ---- methods ---- */

static size_t check_block(lua_State *L, int index, const pn_block_sampling *sampling, const char *who)
{
    size_t block = pnl_check_count(L, index, who);

    if (block > sampling->blocks)
        pnl_error(L, "%s must be at most the %zu blocks, got %zu", who, sampling->blocks, block);
    return block - 1;
}

static int sampling_draw(lua_State *L)
{
    const pn_block_sampling *sampling = check_sampling(L, 1);
    pn_rng *rng = pnl_rng(L, 2);
    size_t *indices, count = 0;
    pn_status status;
    pn_err err;

    pnl_pin(L, 1);
    pnl_pin(L, 2);
    indices = lua_newuserdatauv(L, sampling->blocks * sizeof *indices, 0);
    pnl_run_begin(L, false);
    status = pn_block_sampling_draw(sampling, rng, indices, &count, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    pnl_push_indices(L, "sampling:draw", indices, count);
    return 1;
}

static int sampling_inclusion(lua_State *L)
{
    const pn_block_sampling *sampling = check_sampling(L, 1);

    lua_pushnumber(L, sampling->ops->inclusion(sampling, check_block(L, 2, sampling, "sampling:inclusion: i")));
    return 1;
}

static int sampling_pair(lua_State *L)
{
    const pn_block_sampling *sampling = check_sampling(L, 1);
    size_t i = check_block(L, 2, sampling, "sampling:pair: i"), j = check_block(L, 3, sampling, "sampling:pair: j");
    double pair = sampling->ops->pair(sampling, i, j);

    if (isnan(pair))
        return 0;
    lua_pushnumber(L, pair);
    return 1;
}

PNL_GETTER(sampling_name, check_sampling(L, 1)->ops->name);
PNL_GETTER(sampling_blocks, check_sampling(L, 1)->blocks);
PNL_GETTER(sampling_least, check_sampling(L, 1)->least);
PNL_GETTER(sampling_mean, check_sampling(L, 1)->mean);
PNL_GETTER(sampling_top, pn_block_sampling_top(check_sampling(L, 1)));

static int sampling_tostring(lua_State *L)
{
    const pn_block_sampling *sampling = check_sampling(L, 1);
    char text[160];

    (void)snprintf(text, sizeof text, "pn.sampling.%s(blocks=%zu): %.4g of them in the mean, each with p >= %.4g",
                   sampling->ops->name, sampling->blocks, sampling->mean, sampling->least);
    lua_pushstring(L, text);
    return 1;
}

static const pnl_row sampling_rows[] = {
    { "draw", sampling_draw, PNL_METHOD, PNL_NOTHING, "s:draw([rng]) -> table",
      "A set of blocks: their numbers from 1, increasing; it may be empty.  Without an rng from the module's secure "
      "stream.  Which blocks are drawn does not depend on records.  An error of a function of yours reaches the "
      "caller as it is." },
    { "inclusion", sampling_inclusion, PNL_METHOD, PNL_NOTHING, "s:inclusion(i) -> number",
      "p_i, the probability that block i is drawn, in (0, 1]; custom: as declared.  Error unless i is from 1 to "
      "s.blocks." },
    { "pair", sampling_pair, PNL_METHOD, PNL_NOTHING, "s:pair(i, j) -> number or nil",
      "P_ij, the probability that blocks i and j are drawn together; p_i for i = j; nil where it is not declared.  "
      "Error unless both are from 1 to s.blocks." },
    { "name", sampling_name, PNL_FIELD, PNL_NOTHING, "s.name -> string", "Its name in pn.sampling." },
    { "blocks", sampling_blocks, PNL_FIELD, PNL_NOTHING, "s.blocks -> integer", "Number of blocks d." },
    { "least", sampling_least, PNL_FIELD, PNL_NOTHING, "s.least -> number",
      "The least p_i, which the step sizes of block_frank_wolfe follow." },
    { "mean", sampling_mean, PNL_FIELD, PNL_NOTHING, "s.mean -> number", "E |T|, the sum of the p_i." },
    { "top", sampling_top, PNL_FIELD, PNL_NOTHING, "s.top -> number",
      "lambda'(P), the top eigenvalue of P scaled to a unit diagonal, an upper bound: the number of blocks in a draw "
      "for named samplings, s.blocks where pairs are not declared.  Source: Lou, Cheung (2018), Proposition 1." },
    { "__tostring", sampling_tostring, PNL_META, PNL_NOTHING, "tostring(s) -> string",
      "Its name, the number of blocks, and how many are drawn." },
    PNL_ROW_END,
};

const pnl_class pnl_block_sampling_class = {
    "pn.block_sampling",
    (void (*)(void *))pn_block_sampling_free,
    sampling_rows,
    "Which blocks a step moves: a distribution over subsets of 1 .. d.",
    NULL,
    NULL,
};

/* ---- constructors ---- */

#define MAX_PARAMS 8

/* upvalue 1: the row of the runtime's table */
static int sampling_new(lua_State *L)
{
    const pn_block_sampling_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[MAX_PARAMS];
    pn_block_sampling **slot;
    char owner[64];
    pn_err err;

    (void)snprintf(owner, sizeof owner, "sampling.%s", ops->name);
    pnl_values_or_options(L, owner, ops->params, args, 0);
    slot = (pn_block_sampling **)pnl_newbox(L, &pnl_block_sampling_class);
    pnl_status(L, pn_block_sampling_new(slot, ops->name, args, &err), &err);
    return 1;
}

/* ---- a function of the user's ---- */

static const char *const function_names[] = { "draw", NULL };

typedef struct draw_call {
    pn_rng *rng;
    size_t *indices, *count, blocks;
} draw_call;

/* A stream of its own, which the function may keep: what it draws from there does not disturb ours. */
static void push_stream(lua_State *L, pn_rng *rng)
{
    pn_rng **slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
    pn_err err;

    pnl_status(L, pn_rng_split(slot, rng, pn_rng_u64(rng), &err), &err);
}

static void draw_body(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    draw_call *call = ud;
    size_t count;

    (void)which;
    push_stream(L, call->rng);
    lua_call(L, 1, 1);
    if (!lua_istable(L, -1))
        pnl_error(L, "%s: draw must return a list of block numbers, got %s", back->owner, pnl_got(L, -1));
    count = (size_t)lua_rawlen(L, -1);
    if (count > call->blocks)
        pnl_error(L, "%s: draw returned %zu blocks, there are %zu", back->owner, count, call->blocks);
    for (size_t i = 0; i < count; i++) {
        int whole = 0;
        lua_Integer block;

        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        block = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &whole) : 0;
        if (!whole || block < 1 || (lua_Unsigned)block > call->blocks)
            pnl_error(L, "%s: draw must return block numbers from 1 to %zu, got %s at entry %zu", back->owner,
                      call->blocks, pnl_got(L, -1), i + 1);
        call->indices[i] = (size_t)block - 1;
        lua_pop(L, 1);
    }
    *call->count = count;
}

static pn_status call_draw(void *self, pn_rng *rng, size_t *indices, size_t *count, size_t blocks, pn_err *err)
{
    draw_call call = { rng, indices, count, blocks };

    return pnl_call_back(self, 0, draw_body, &call, err);
}

enum { BLOCKS, P, PAIRS, CUSTOM_PARAMS };

static const pn_param custom_params[] = {
    { "blocks", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of blocks d" },
    { "p", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "declared probability p_i of each block [d], in (0, 1]" },
    { "pairs", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "declared probability of each pair [d x d], p on its diagonal; without it bounds take the worst" },
    PN_PARAM_END,
};

static void read_custom(lua_State *L, pn_arg *args)
{
    static const char *const extra[] = { "draw", NULL };
    pn_err err;

    pnl_options(L, 1, "sampling.custom", custom_params, args, extra);
    pnl_status(L, pn_args_check("sampling.custom", custom_params, args, &err), &err);
    if (args[P].vector.n != args[BLOCKS].count)
        pnl_error(L, "sampling.custom: p has %zu entries, there are %zu blocks", args[P].vector.n, args[BLOCKS].count);
    if (args[PAIRS].given &&
        (args[PAIRS].matrix.rows != args[BLOCKS].count || args[PAIRS].matrix.cols != args[BLOCKS].count))
        pnl_error(L, "sampling.custom: pairs is %zu x %zu, there are %zu blocks", args[PAIRS].matrix.rows,
                  args[PAIRS].matrix.cols, args[BLOCKS].count);
    if (lua_getfield(L, 1, "draw") == LUA_TNIL)
        pnl_error(L, "sampling.custom: draw is missing; give a function(rng) that returns a list of block numbers");
    lua_pop(L, 1);
}

static int sampling_custom(lua_State *L)
{
    pn_arg args[CUSTOM_PARAMS];
    pn_block_draw draw = { .draw = call_draw, .release = pn_free };
    pn_block_sampling **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 1);
    read_custom(L, args);
    slot = (pn_block_sampling **)pnl_newbox(L, &pnl_block_sampling_class);
    draw.self = pnl_new_callback(L, lua_gettop(L), 1, "sampling.custom", function_names);
    status = pn_block_sampling_custom(slot, args[BLOCKS].count, args[P].vector.data,
                                      args[PAIRS].given ? args[PAIRS].matrix.data : NULL, &draw, &err);
    if (status != PN_OK)
        pn_free(draw.self);
    pnl_status(L, status, &err);
    return 1;
}

static const char custom_doc[] =
    "Blocks that a function of yours draws, with declared probabilities: draw(rng) returns a list of different "
    "block numbers from 1 to d, in any order, and may be empty.  Its rng is a stream of its own, new in every call. "
    " What it returns is checked at every draw; whether its frequencies are p and pairs is not checked: bounds rest "
    "on what is declared.  Errors for probabilities outside (0, 1], and for pairs that no law of subsets has.  "
    "Source: Lou, Cheung (2018), Theorem 1.";

/* ---- pn.curvature ---- */

static void set_number(lua_State *L, const char *name, double value)
{
    if (!isfinite(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static int curvature(lua_State *L)
{
    pn_objective *objective = pnl_check(L, 1, &pnl_objective_class);
    const pn_block_sampling *sampling = check_sampling(L, 2);
    pn_expected_curvature found;
    pn_status status;
    pn_err err;

    pnl_refuse_in_step(L, "curvature");
    lua_settop(L, 2);
    pnl_pin(L, 1);
    pnl_pin(L, 2);
    pnl_run_begin(L, true);
    status = pn_objective_expected_curvature(objective, sampling, &found, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_createtable(L, 0, 6);
    lua_pushnumber(L, found.value);
    lua_setfield(L, -2, "value");
    lua_pushboolean(L, found.exact);
    lua_setfield(L, -2, "exact");
    lua_pushstring(L, found.method);
    lua_setfield(L, -2, "method");
    set_number(L, "eso", found.eso);
    set_number(L, "mu", found.mu);
    set_number(L, "set_curvature", found.set_curvature);
    pnl_list(L);
    return 1;
}

static const char curvature_doc[] =
    "How much f bends, in expectation, along steps that move the sampled blocks toward vertices: the C of "
    "block_frank_wolfe's bound, of this very data (the plan takes a bound from public numbers; curvature= gives it "
    "this one).  The set is a box, an linf_ball or a product C:product(D).  Exact for the squared loss with at most 20 "
    "intervals, few enough vertices, or blocks drawn one at a time; else the least of the bounds, one of which is eso "
    "(Proposition 1), mu (3 and 4, with the factor tau^2 that the article lacks; absent for samplings without groups) "
    "and set_curvature (of full sampling).  method says where value is from.  Errors: another number of blocks, a set "
    "that is no product, a loss whose curvature nothing bounds.  Source: Lou, Cheung (2018), section 3.";

/* ---- opening ---- */

void pnl_open_sampling(lua_State *L)
{
    static const pnl_row rows[] = { PNL_ROW_END };

    pnl_open_class(L, &pnl_block_sampling_class);
    pnl_library(L, "sampling", "Which blocks a step of solve.block_frank_wolfe moves.", rows);
    pnl_constructors(L, "sampling", pn_block_sampling_table(), sampling_new, 0);
    lua_pushcfunction(L, sampling_custom);
    lua_setfield(L, -2, "custom");
    pnl_reference(L, "sampling", "custom", PNL_NOTHING | PNL_CALLS_BACK,
                  "pn.sampling.custom{blocks=, p=, pairs=, draw=function(rng) -> {i, ...}} -> sampling", custom_doc,
                  NULL, custom_params);
    lua_setfield(L, -2, "sampling");
    lua_pushcfunction(L, curvature);
    lua_setfield(L, -2, "curvature");
    pnl_reference(L, "", "curvature", PNL_RAW,
                  "pn.curvature(obj, sampling) -> {value=, exact=, method=, eso=, mu=, set_curvature=}", curvature_doc,
                  NULL, NULL);
}
