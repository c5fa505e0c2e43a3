/* lstationarity.c -- pn.stationarity: the Goldstein measure of an objective at a point, estimated without privacy,
 * and in words.
 * Depends on: lobjective.h, progress.h, objective/measures/stationarity.h.  Used by: lobjective.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/objective/lobjective.h"
#include "objective/measures/stationarity.h"

enum { RADIUS, SAMPLES, CONFIDENCE, SMOOTHING, BATCH, OPTIONS };

static const pn_param params[] = {
    { "radius", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "delta: how far around theta gradients count" },
    { "samples", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "gradients to take; 10 for each coordinate, at least 100, when absent" },
    { "confidence", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.95, NULL, "of the interval about mean" },
    { "smoothing", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "mu of the differences where there are no gradients; radius / 100 when absent" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "records drawn for each gradient; all of them when absent" },
    PN_PARAM_END,
};

static const char signature[] = "pn.stationarity(obj, theta, {radius=, samples=, confidence=, smoothing=, batch=, "
                                "rng=, progress=}) -> pn.stationarity";

static const char doc[] =
    "How stationary theta is for a loss that need not be smooth or convex: the Goldstein measure, the least norm of "
    "a mixture of gradients within `radius`, from gradients at random points of that ball.  hull is the least norm "
    "over the mixtures of those gradients, mean that of their average; with exact gradients both are upper bounds "
    "of the measure, not lower ones.  NOT private: computed from the exact data, and nothing is charged.  Black "
    "boxes and losses that jump: central differences, which make both approximate.  With batch= hull may be far "
    "below the measure.  The constraint set is ignored; the objective may not have clip=.  Costs `samples` passes "
    "over the records, with differences 2 dim times as many.";

static const char source[] =
    "Goldstein (1977); Wolfe (1976); Pinelis (1994), Theorem 3.4; Zhang, Tran, Cutkosky (2024)";

static const pn_stationarity *self_of(lua_State *L);

PNL_GETTER(field_mean, self_of(L)->mean);
PNL_GETTER(field_low, self_of(L)->low);
PNL_GETTER(field_high, self_of(L)->high);
PNL_GETTER(field_hull, self_of(L)->hull);
PNL_GETTER(field_gap, self_of(L)->gap);
PNL_GETTER(field_largest, self_of(L)->largest);
PNL_GETTER(field_radius, self_of(L)->radius);
PNL_GETTER(field_confidence, self_of(L)->confidence);
PNL_GETTER_IF(field_smoothing, self_of(L)->differences, self_of(L)->smoothing);
PNL_GETTER(field_samples, self_of(L)->samples);
PNL_GETTER_IF(field_batch, self_of(L)->batch > 0, self_of(L)->batch);
PNL_GETTER(field_exact, self_of(L)->exact);
PNL_GETTER(field_guaranteed, self_of(L)->guaranteed);

static int field_private(lua_State *L)
{
    (void)self_of(L);
    lua_pushboolean(L, false);
    return 1;
}

/* What hull is to the measure. */
static const char *meaning(const pn_stationarity *self)
{
    if (self->batch)
        return "which may be far below the Goldstein measure: batches differ";
    return self->exact ? "an upper bound of the Goldstein measure; no lower bound of it"
                       : "about an upper bound of the Goldstein measure; no lower bound of it";
}

static int in_words(lua_State *L)
{
    const pn_stationarity *self = self_of(L);
    double least = self->hull > 1e-10 * self->largest ? self->hull : 0.0; /* as well as it is computed */
    char head[200], hull[300], mean[400];

    (void)snprintf(head, sizeof head, "stationarity: a mixture of %s within %.4g of theta has norm %.6g (%zu drawn)",
                   self->differences ? "differences"
                   : self->batch     ? "batch gradients"
                                     : "gradients",
                   self->radius, least, self->samples);
    (void)snprintf(hull, sizeof hull, "\n  hull    %.6g, %s", least, meaning(self));
    (void)snprintf(mean, sizeof mean,
                   "\n  mean    %.6g; the gradient of f averaged over the ball has a norm in [%.6g, %.6g]\n"
                   "          with confidence %.10g%s",
                   self->mean, self->low, self->high, self->confidence,
                   self->guaranteed ? "" : ", if no gradient is further off than those seen: not guaranteed");
    lua_pushfstring(L, "%s%s%s\n  raw     computed from the exact data: NOT private, not to be released", head, hull,
                    mean);
    return 1;
}

static const pnl_row rows[] = {
    { "mean", field_mean, PNL_FIELD, PNL_RAW, "result.mean -> number",
      "The norm of the mean of the gradients: an estimate of that of the gradient of f averaged over the ball." },
    { "low", field_low, PNL_FIELD, PNL_RAW, "result.low -> number",
      "low <= norm of the gradient of f averaged over the ball <= high, with result.confidence." },
    { "high", field_high, PNL_FIELD, PNL_RAW, "result.high -> number", "See result.low." },
    { "guaranteed", field_guaranteed, PNL_FIELD, PNL_NOTHING, "result.guaranteed -> boolean",
      "Whether low and high rest on a certified or declared Lipschitz constant, and not on the gradients seen." },
    { "hull", field_hull, PNL_FIELD, PNL_RAW, "result.hull -> number",
      "The least norm of a mixture of the gradients, never above mean." },
    { "gap", field_gap, PNL_FIELD, PNL_RAW, "result.gap -> number",
      "hull - gap is a lower bound of that least norm: how well it was computed, not how near the measure is." },
    { "exact", field_exact, PNL_FIELD, PNL_NOTHING, "result.exact -> boolean",
      "Whether hull and mean are upper bounds of the Goldstein measure: true gradients, of all records." },
    { "largest", field_largest, PNL_FIELD, PNL_RAW, "result.largest -> number", "The largest norm of a gradient." },
    { "radius", field_radius, PNL_FIELD, PNL_NOTHING, "result.radius -> number", "The radius of the ball." },
    { "smoothing", field_smoothing, PNL_FIELD, PNL_NOTHING, "result.smoothing -> number or nil",
      "The mu of the differences that took the place of gradients; nil when gradients were taken." },
    { "samples", field_samples, PNL_FIELD, PNL_NOTHING, "result.samples -> integer", "Gradients that were taken." },
    { "batch", field_batch, PNL_FIELD, PNL_NOTHING, "result.batch -> integer or nil",
      "Records in each gradient; nil for all." },
    { "confidence", field_confidence, PNL_FIELD, PNL_NOTHING, "result.confidence -> number",
      "The chance that the interval holds what it should, over the points and batches drawn." },
    { "private", field_private, PNL_FIELD, PNL_NOTHING, "result.private -> boolean",
      "false, always: see run.private and the epochs' gradients of a private run for what may be released." },
    { "__tostring", in_words, PNL_META, PNL_RAW, "tostring(result)", "A few lines: what was found and what it means." },
    PNL_ROW_END,
};

static const pnl_class stationarity_class = {
    "pn.stationarity", pn_free, rows, "How stationary a point was found to be; raw numbers.", NULL, NULL
};

static const pn_stationarity *self_of(lua_State *L)
{
    return pnl_check(L, 1, &stationarity_class);
}

static pn_stationarity_options read_options(lua_State *L)
{
    static const char *const extra[] = { "rng", "progress", NULL };
    pn_arg args[OPTIONS];
    pn_err err;

    pnl_options(L, 3, "stationarity", params, args, extra);
    pnl_status(L, pn_args_check("stationarity", params, args, &err), &err);
    return (pn_stationarity_options){
        .radius = args[RADIUS].real,
        .samples = args[SAMPLES].given ? args[SAMPLES].count : 0,
        .confidence = args[CONFIDENCE].real,
        .smoothing = args[SMOOTHING].given ? args[SMOOTHING].real : 0.0,
        .batch = args[BATCH].given ? args[BATCH].count : 0,
    };
}

/* The option rng, left on the stack; the module's own when absent. */
static pn_rng *read_rng(lua_State *L)
{
    lua_getfield(L, 3, "rng");
    if (!lua_isnil(L, -1) && !pnl_test(L, -1, &pnl_rng_class))
        pnl_error(L, "stationarity: rng must be a pn.rng, got %s", pnl_got(L, -1));
    pnl_pin(L, -1);
    return pnl_rng(L, lua_gettop(L));
}

static int stationarity(lua_State *L)
{
    pn_stationarity_options how;
    pn_objective *objective;
    pn_stationarity *found;
    pn_status status;
    pn_vec theta;
    pn_rng *rng;
    void **slot;
    pn_err err;

    pnl_refuse_in_step(L, "stationarity");
    lua_settop(L, 3);
    objective = pnl_test(L, 1, &pnl_objective_class);
    if (!objective)
        return pnl_error(L, "stationarity: expected a pn.objective, got %s", pnl_got(L, 1));
    theta = pnl_objective_point(L, objective, 2, "stationarity", "theta");
    how = read_options(L);
    rng = read_rng(L);
    pnl_pin(L, 1);
    pnl_pin(L, 2);
    slot = pnl_newbox(L, &stationarity_class);
    found = *slot = pn_calloc(1, sizeof *found);
    if (!found)
        pnl_status(L, pn_fail(&err, PN_ENOMEM, "stationarity: out of memory"), &err);
    lua_getfield(L, 3, "progress");
    pnl_run_begin_at(L, -1, "stationarity");
    status = pn_stationarity_measure(found, objective, theta.data, &how, rng, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pop(L, 1);
    return 1;
}

void pnl_open_stationarity(lua_State *L)
{
    pnl_open_class(L, &stationarity_class);
    lua_pushcfunction(L, stationarity);
    lua_setfield(L, -2, "stationarity");
    pnl_reference(L, "", "stationarity", PNL_RAW, signature, doc, source, params);
}
