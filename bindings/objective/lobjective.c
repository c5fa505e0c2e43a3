/* lobjective.c -- pn.objective: a loss over a data set and a constraint set, its value and its certified bounds.
 * Depends on: pnl.h, runtime/objective.  Used by: module.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/objective/lobjective.h"
#include "core/vault.h"
#include "numeric/symmetric.h"
#include "objective/passes/objective.h"
#include "objective/passes/second_order.h"

static const char *const data_name[] = { "pn.dataset", NULL };
static const char *const loss_name[] = { "pn.loss", NULL };
static const char *const set_name[] = { "pn.set", NULL };
static const char *const reg_name[] = { "pn.reg", NULL };
static const char *const ranks_name[] = { "pn.ranks", NULL };

enum { OPT_DATA = 0, OPT_LOSS, OPT_SET, OPT_REG, OPT_CLIP, OPT_RANKS, OPT_COUNT };

static const pn_param objective_params[] = {
    { "data", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, data_name, "the records, n x p" },
    { "loss", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, loss_name, "loss of one record, l(<x, theta>, y)" },
    { "set", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, set_name,
      "constraint set of dimension p, which some solvers need; where only slopes are to be bounded, give clip=" },
    { "reg", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, reg_name, "regulariser r(theta), added to the mean loss" },
    { "clip", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "scale each record's gradient down to this l2 norm: for losses or records without a certified bound" },
    { "ranks", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, ranks_name,
      "processes that share the work of each pass (pn.ranks()), all with the same data or each with its records of it "
      "(data:share(ranks)); results have the bits of one" },
    PN_PARAM_END,
};

/* Where pnl_keep has put the parts, in this order. */
enum { KEPT_DATA = 1, KEPT_LOSS, KEPT_SET };

#define MAX_BATCH (1u << 30)

static pn_objective *self_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_objective_class);
}

/* Which of the parts were given, in the order of KEPT_..., the regulariser last. */
static void keep_parts(lua_State *L)
{
    for (int i = OPT_DATA; i <= OPT_REG; i++) {
        lua_getfield(L, 1, objective_params[i].name);
        if (!lua_isnil(L, -1))
            pnl_keep(L, -2, -1);
        lua_pop(L, 1);
    }
}

/* Whether all labels are among a loss's values is a fact about the records,
 * but for the two that the data set's owner has declared. */
static void check_public_labels(lua_State *L, const pn_dataset *data, const pn_labels *labels)
{
    bool minus = false, plus = false;

    if (labels->kind == PN_LABELS_INTERVAL || labels->kind == PN_LABELS_REAL)
        return;
    for (size_t i = 0; labels->kind == PN_LABELS_VALUES && i < labels->count; i++) {
        minus = minus || labels->values[i] == -1.0;
        plus = plus || labels->values[i] == 1.0;
    }
    if (!(minus && plus && data->bounds.labels_binary))
        pnl_refuse_analyst(L, "objective: this loss on these labels",
                           "whether it takes them all depends on the records; take a loss of labels in a range, and "
                           "data:clip_labels");
}

static int objective_new(lua_State *L)
{
    pn_arg args[OPT_COUNT];
    pn_objective_parts parts;
    pn_objective **slot;
    pn_err err;

    pnl_options(L, 1, "objective", objective_params, args, NULL);
    pnl_status(L, pn_args_check("objective", objective_params, args, &err), &err);
    check_public_labels(L, args[OPT_DATA].object, &((const pn_loss *)args[OPT_LOSS].object)->labels);
    slot = (pn_objective **)pnl_newbox(L, &pnl_objective_class);
    keep_parts(L);
    parts = (pn_objective_parts){ .data = args[OPT_DATA].object,
                                  .loss = (pn_loss *)(size_t)args[OPT_LOSS].object,
                                  .set = (pn_set *)(size_t)args[OPT_SET].object,
                                  .reg = (pn_regulariser *)(size_t)args[OPT_REG].object,
                                  .clip = args[OPT_CLIP].given ? args[OPT_CLIP].real : 0.0,
                                  .ranks = (pn_ranks *)(size_t)args[OPT_RANKS].object };
    pnl_status(L, PN_WITH_RECORDS(pn_objective_new(slot, &parts, &err)), &err);
    return 1;
}

pn_vec pnl_objective_point(lua_State *L, const pn_objective *objective, int index, const char *who, const char *what)
{
    size_t dim = pn_objective_dim(objective), margins = pn_objective_loss(objective)->margins;
    size_t extra = pn_objective_loss(objective)->extra;
    pn_vec theta;

    if (pnl_test(L, index, &pnl_mat_class)) {
        pn_mat rows = pnl_check_mat(L, index);

        theta = (pn_vec){ rows.data, rows.rows * rows.cols };
    } else {
        if (lua_type(L, index) != LUA_TTABLE && !pnl_test(L, index, &pnl_vec_class))
            pnl_error(L, "%s: %s must be a vector of %zu numbers, got %s", who, what, dim, pnl_got(L, index));
        lua_pushfstring(L, "%s: %s", who, what);
        theta = pnl_check_vec_of(L, index, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    if (margins == 0) {
        pnl_pin(L, 1);
        pnl_pin(L, index);
    }
    if (theta.n != dim && extra > 0)
        pnl_error(L, "%s: %s has %zu entries, the model has %zu margins x %zu features + %zu further parameters = %zu",
                  who, what, theta.n, margins, (dim - extra) / margins, extra, dim);
    if (theta.n != dim && margins > 1)
        pnl_error(L, "%s: %s has %zu entries, the model has %zu classes x %zu features", who, what, theta.n, margins,
                  dim / margins);
    if (theta.n != dim)
        pnl_error(L, "%s: %s has %zu entries, the data has %zu features", who, what, theta.n, dim);
    return theta;
}

/* {rows=, denominator=} and nothing else. */
static void check_batch_keys(lua_State *L, int index, const char *who)
{
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;

        if (!key || (strcmp(key, "rows") != 0 && strcmp(key, "denominator") != 0))
            pnl_error(L, "%s: a batch is {rows=, denominator=}; it has %s, too", who, pnl_got(L, -2));
    }
}

/* Whole numbers as keys, without gaps: a misspelt field is no empty batch. */
static void check_batch_list(lua_State *L, int index, const char *who)
{
    lua_Unsigned entries = 0;

    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TNUMBER)
            pnl_error(L, "%s: a batch is a list of record numbers or {rows=, denominator=}; it has %s", who,
                      pnl_got(L, -2));
        entries++;
    }
    if (entries != lua_rawlen(L, index))
        pnl_error(L, "%s: a batch is a list of record numbers without gaps", who);
}

/* A list of record numbers from 1, or {rows=list, denominator=}: the rows stay on the stack.  NULL when absent. */
static const pn_batch *batch_argument(lua_State *L, int index, const char *who, pn_batch *batch)
{
    size_t *rows;
    double denominator = 0.0;

    if (lua_isnoneornil(L, index))
        return NULL;
    if (!lua_istable(L, index))
        pnl_error(L, "%s: a batch is a list of record numbers or {rows=, denominator=}, got %s", who,
                  pnl_got(L, index));
    lua_pushvalue(L, index);
    if (lua_getfield(L, index, "rows") == LUA_TTABLE) {
        check_batch_keys(L, index, who);
        if (lua_getfield(L, index, "denominator") != LUA_TNIL) {
            denominator = pnl_check_finite(L, -1, "denominator");
            if (!(denominator > 0.0))
                pnl_error(L, "%s: the denominator of a batch must be a positive number, got %g", who, denominator);
        }
        lua_pop(L, 1);
    } else {
        lua_pop(L, 1);
        check_batch_list(L, index, who);
    }
    batch->count = (size_t)lua_rawlen(L, -1);
    if (batch->count > MAX_BATCH)
        pnl_error(L, "%s: a batch of %zu records is too large", who, batch->count);
    rows = lua_newuserdatauv(L, (batch->count + 1) * sizeof *rows, 0);
    for (size_t i = 0; i < batch->count; i++) {
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        rows[i] = pnl_check_count(L, -1, "a record number of the batch") - 1;
        lua_pop(L, 1);
    }
    batch->rows = rows;
    batch->denominator = denominator != 0.0 ? denominator : batch->count ? (double)batch->count : 1.0;
    return batch;
}

static int objective_value(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:value", "theta");
    pn_batch room;
    const pn_batch *batch = batch_argument(L, 3, "objective:value", &room);
    double value = 0.0;
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = batch ? pn_objective_losses(self, batch, theta.data, &value, NULL, pnl_task(L), &err)
                   : pn_objective_evaluate(self, theta.data, &value, NULL, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, value);
    return 1;
}

static int objective_gradient(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:gradient", "theta");
    pn_batch room;
    const pn_batch *batch = batch_argument(L, 3, "objective:gradient", &room);
    double *gradient = pnl_new_vec(L, theta.n);
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = batch ? pn_objective_losses(self, batch, theta.data, NULL, gradient, pnl_task(L), &err)
                   : pn_objective_evaluate(self, theta.data, NULL, gradient, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_hvp(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:hvp", "theta");
    pn_vec v = pnl_objective_point(L, self, 3, "objective:hvp", "v");
    pn_batch room;
    const pn_batch *batch = batch_argument(L, 4, "objective:hvp", &room);
    double *out = pnl_new_vec(L, theta.n);
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_hessian_times(self, batch, theta.data, v.data, out, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_hessian(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:hessian", "theta");
    pn_batch room;
    const pn_batch *batch = batch_argument(L, 3, "objective:hessian", &room);
    double *full = pnl_new_mat(L, theta.n, theta.n), *packed;
    pn_err err;
    pn_status status;

    packed = pnl_new_vec(L, pn_packed_size(theta.n));
    pnl_run_begin(L, true);
    status = pn_objective_quadratic(self, batch, theta.data, NULL, NULL, packed, pnl_task(L), &err);
    if (status == PN_OK && !batch)
        status = pn_objective_add_regular_hessian(self, theta.data, packed, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    pn_packed_unpack(packed, theta.n, full);
    lua_pop(L, 1);
    return 1;
}

static int objective_losses(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:losses", "theta");
    double *values = pnl_new_vec(L, pn_objective_data(self)->n);
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_factors(self, theta.data, values, NULL, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_factors(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:factors", "theta");
    size_t inputs = pn_loss_inputs(pn_objective_loss(self)), n = pn_objective_data(self)->n;
    double *factors = inputs > 1 ? pnl_new_mat(L, inputs, n) : pnl_new_vec(L, n);
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_factors(self, theta.data, NULL, factors, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_differences(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:differences", "theta");
    pn_mat directions = pnl_check_mat_of(L, 3, "objective:differences: directions");
    double radius = pnl_check_finite(L, 4, "objective:differences: radius"), *out;
    pn_batch room;
    const pn_batch *batch = batch_argument(L, 5, "objective:differences", &room);
    pn_err err;
    pn_status status;

    if (directions.cols != theta.n)
        return pnl_error(L, "objective:differences: a direction has %zu entries, theta has %zu", directions.cols,
                         theta.n);
    if (pn_objective_loss(self)->margins == 0)
        pnl_pin(L, 3);
    out = pnl_new_vec(L, directions.rows);
    pnl_run_begin(L, true);
    status = pn_objective_differences(self, batch, theta.data, directions.data, directions.rows, radius, out,
                                      pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_accuracy(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = pnl_objective_point(L, self, 2, "objective:accuracy", "theta");
    double accuracy = 0.0;
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_accuracy(self, theta.data, &accuracy, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, accuracy);
    return 1;
}

static int objective_curvature(lua_State *L)
{
    pn_objective *self = self_of(L);
    double curvature = 0.0;
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_exact_curvature(self, &curvature, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, curvature);
    return 1;
}

PNL_GETTER(objective_n, pn_objective_data(self_of(L))->n);
PNL_GETTER(objective_p, pn_objective_data(self_of(L))->p);

static int push_kept(lua_State *L, int which)
{
    (void)self_of(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, which);
    return 1;
}

static int objective_data(lua_State *L)
{
    return push_kept(L, KEPT_DATA);
}

static int objective_loss(lua_State *L)
{
    return push_kept(L, KEPT_LOSS);
}

static int objective_set(lua_State *L)
{
    if (!pn_objective_set(self_of(L)))
        return 0; /* the next that is kept is the regulariser */
    return push_kept(L, KEPT_SET);
}

/* Kept last: the fourth when there is a set, else the third. */
static int objective_reg(lua_State *L)
{
    const pn_objective *self = self_of(L);

    if (!pn_objective_regulariser(self))
        return 0;
    return push_kept(L, pn_objective_set(self) ? KEPT_SET + 1 : KEPT_SET);
}

PNL_GETTER_IF(objective_clip, pn_objective_clip(self_of(L)) != 0.0, pn_objective_clip(self_of(L)));

static int objective_tostring(lua_State *L)
{
    pn_objective *self = self_of(L);
    const pn_dataset *data = pn_objective_data(self);
    const pn_regulariser *reg = pn_objective_regulariser(self);
    char where[128] = "unconstrained", text[512];

    if (pn_objective_set(self))
        pn_set_describe(pn_objective_set(self), where, sizeof where);
    pnl_objective_describe_bounds(self, text, sizeof text);
    lua_pushfstring(L, "objective: %s loss%s%s over %s, %d x %d records\n  %s", pn_objective_loss(self)->name,
                    reg ? " + " : "", reg ? reg->row->name : "", where, (int)data->n, (int)data->p, text);
    return 1;
}

static const pnl_row objective_rows[] = {
    { "value", objective_value, PNL_METHOD, PNL_RAW, "obj:value(theta[, batch]) -> number",
      "The mean loss at theta [dim] plus the regulariser, computed from the exact data.  batch: a list of record "
      "numbers from 1, or {rows=list, denominator=}: then the sum of those losses over the denominator (absent: their "
      "number), without the regulariser." },
    { "gradient", objective_gradient, PNL_METHOD, PNL_RAW, "obj:gradient(theta[, batch]) -> vec",
      "The gradient of obj:value at theta [dim]: one fused pass over the data, the same for any number of threads; of "
      "a batch as there.  With clip= each record's gradient is scaled down before the sum.  At kinks of the "
      "regulariser the subgradient of smallest norm.  Error for a black box." },
    { "hvp", objective_hvp, PNL_METHOD, PNL_RAW, "obj:hvp(theta, v[, batch]) -> vec",
      "The Hessian at theta [dim] times v [dim], without forming the Hessian; of a batch as for value.  Error for a "
      "black box and with clip=." },
    { "hessian", objective_hessian, PNL_METHOD, PNL_RAW, "obj:hessian(theta[, batch]) -> mat",
      "The Hessian of obj:value at theta, [dim x dim], in one pass that costs about as much as X' X and takes 12 dim^2 "
      "bytes; of a batch as for value.  With clip= that of the function whose gradients the clipped ones are.  Error "
      "for a black box, for a loss whose slope jumps or with further parameters, and for an r without a Hessian." },
    { "losses", objective_losses, PNL_METHOD, PNL_RAW, "obj:losses(theta) -> vec",
      "Each record's loss at theta, n numbers." },
    { "factors", objective_factors, PNL_METHOD, PNL_RAW, "obj:factors(theta) -> vec or mat",
      "Each record's dl/dz at theta, clamped to the certified range and clipped as in a gradient: its gradient is "
      "factor x. n numbers, for softmax a row of n for each class, for margins one for each margin and then for each "
      "further parameter, whose gradient is the factor itself." },
    { "differences", objective_differences, PNL_METHOD, PNL_RAW, "obj:differences(theta, U, radius[, batch]) -> vec",
      "(f(theta + radius u) - f(theta - radius u)) / (2 radius) of the mean loss for every row u of U [k x dim], in "
      "one pass over the data; also for a black box.  radius > 0." },
    { "accuracy", objective_accuracy, PNL_METHOD, PNL_RAW, "obj:accuracy(theta) -> number",
      "Fraction of records whose label -1 or 1 is the sign of <x, theta> (a margin of 0 counts as 1); for softmax, "
      "whose class has the largest margin.  Error for other losses of several margins." },
    { "exact_curvature", objective_curvature, PNL_METHOD, PNL_RAW, "obj:exact_curvature() -> number",
      "max ||X (a - b)||^2 / n over pairs of vertices of the set, for the squared loss: the Frank-Wolfe curvature of "
      "this very data, for diagnosis. Private plans use obj.bounds.curvature, the worst case." },
    { "n", objective_n, PNL_FIELD, PNL_NOTHING, "obj.n -> integer", "Number of records; public under replace_one." },
    { "p", objective_p, PNL_FIELD, PNL_NOTHING, "obj.p -> integer", "Number of features." },
    { "data", objective_data, PNL_FIELD, PNL_NOTHING, "obj.data -> pn.dataset",
      "The data set; what its own fields reveal is said there." },
    { "loss", objective_loss, PNL_FIELD, PNL_NOTHING, "obj.loss -> pn.loss", "The loss of one record." },
    { "set", objective_set, PNL_FIELD, PNL_NOTHING, "obj.set -> pn.set or nil", "The constraint set." },
    { "reg", objective_reg, PNL_FIELD, PNL_NOTHING, "obj.reg -> pn.reg or nil", "The regulariser." },
    { "clip", objective_clip, PNL_FIELD, PNL_NOTHING, "obj.clip -> number or nil",
      "The l2 norm to which each record's gradient is scaled down." },
    { "bounds", pnl_objective_bounds, PNL_FIELD, PNL_NOTHING, "obj.bounds -> table",
      "What holds for every admissible record and every theta in the set.  source: \"certified\" from the loss's "
      "expression, the record bounds and the set; \"clipped\" by clip=; \"declared\" of a black box; nil when nothing "
      "is.  lipschitz={l1=,l2=,linf=,set=} (set: the norm whose unit ball is the constraint set) bounds what a record "
      "adds to a gradient, in the dual norm, and so how far its loss moves with theta if the loss is continuous (where "
      "it jumps, only value={lo, hi}, the range of the loss, bounds that); slope = max |dl/dz|; continuous, smooth: "
      "neither loss nor slope jumps; smoothness (l2), strong_convexity (negative: that far from convex), curvature "
      "(Frank-Wolfe, worst case) and hessian_lipschitz (l2) of the objective with its regulariser; convex; margin = "
      "max |<x, theta>|.  Infinite where it is not bounded: missing says what and why.  reach: the most that the mean "
      "loss can fall below its value at the set's centre, where a solver starts, in units of the loss; that at margin "
      "0 less the least over margins of at most margin, of the worst label, and more where the centre is not 0; nil "
      "where it is not certified, for want of a range of labels or margins say." },
    { "__tostring", objective_tostring, PNL_META, PNL_NOTHING, "tostring(obj)",
      "Two lines: loss, set and size; what is certified." },
    PNL_ROW_END,
};

const pnl_class pnl_objective_class = {
    "pn.objective", (void (*)(void *))pn_objective_free,
    objective_rows, "f(theta) = (1/n) sum_i l(<x_i, theta>, y_i) + r(theta) over a constraint set.",
    NULL,           NULL
};

void pnl_open_objective(lua_State *L)
{
    pnl_open_loss(L);
    pnl_open_reg(L);
    pnl_open_class(L, &pnl_objective_class);
    pnl_open_stationarity(L);
    pnl_open_second_order(L);
    lua_pushcfunction(L, objective_new);
    lua_setfield(L, -2, "objective");
    pnl_reference(
        L, "", "objective", PNL_NOTHING, "pn.objective{data=, loss=, set=, reg=, clip=, ranks=} -> objective",
        "The mean loss over a data set plus a regulariser, with bounds certified from the record bounds, the set and "
        "the loss's expression, or enforced by clip=.  Errors when the set's dimension is not that of theta (features, "
        "times classes for softmax) or the labels do not suit the loss.",
        NULL, objective_params);
}
