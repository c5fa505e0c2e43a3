/* lsampler.c -- pn.sampler: one constructor for each row of the runtime's table.  The sampler that would draw the
 * batches is the one that says what a release on them costs; the batches themselves are secret and only shown for
 * simulated streams.
 * Depends on: lprivacy.h, lprivacy_check.h, privacy/mechanism/sampler.h.  Used by: lprivacy.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"

#include "privacy/mechanism/sampler.h"
#include "random/noise.h"

#define MAX_PARAMS 8

static pn_sampler *check_sampler(lua_State *L)
{
    return pnl_check(L, 1, &pnl_sampler_class);
}

/* ---- methods ---- */

enum { SIGMA, CONTRIBUTION, DIM, BOUND, EVENT_PARAMS };

static const pn_param event_params[] = {
    { "sigma", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "standard deviation of the noise on the sum over the batch" },
    { "contribution", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "bound on the l2 norm of what one record adds to the sum: certified, or clipped" },
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "how many values the sum has" },
    { "bound", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "public bound on every |value| of the sum" },
    PN_PARAM_END,
};

static int sampler_event(lua_State *L)
{
    pn_sampler *sampler = check_sampler(L);
    double sensitivity, rounded;
    pn_arg args[EVENT_PARAMS];
    pn_event **slot;
    char owner[64];
    pn_err err;

    (void)snprintf(owner, sizeof owner, "sampler.%s:event", sampler->ops->name);
    lua_settop(L, 2);
    pnl_options(L, 2, owner, event_params, args, NULL);
    pnl_status(L, pn_args_check(owner, event_params, args, &err), &err);
    if (!(args[SIGMA].real >= 0x1p-900 && args[SIGMA].real <= 0x1p900))
        return pnl_error(L, "%s: sigma must be between 2^-900 and 2^900, got %g", owner, args[SIGMA].real);
    sensitivity = sampler->ops->sensitivity(sampler) * args[CONTRIBUTION].real;
    rounded = pn_lattice_l2(sensitivity, args[SIGMA].real, args[DIM].count,
                            args[BOUND].given ? args[BOUND].real : INFINITY, 1);
    slot = (pn_event **)pnl_newbox(L, &pnl_event_class);
    pnl_status(L,
               pn_sampler_gaussian(slot, sampler, args[SIGMA].real, args[CONTRIBUTION].real, rounded - sensitivity,
                                   args[DIM].count, &err),
               &err);
    return 1;
}

static int sampler_events(lua_State *L)
{
    pn_sampler *sampler = check_sampler(L);

    lua_pushinteger(L, (lua_Integer)pn_sampler_events(sampler, pnl_check_count(L, 2, "sampler:events: batches")));
    return 1;
}

static int sampler_draw(lua_State *L)
{
    pn_sampler *sampler = check_sampler(L);
    pn_rng *rng = pnl_check(L, 2, &pnl_rng_class);
    size_t count = 0;
    pn_err err;

    if (!pn_rng_simulated(rng))
        return pnl_error(L,
                         "sampler.%s:draw: which records are in a batch is secret; only a simulated stream "
                         "(pn.rng.seeded) shows it",
                         sampler->ops->name);
    pnl_status(L, pn_sampler_draw(sampler, rng, &count, &err), &err);
    pnl_push_indices(L, "sampler:draw", sampler->indices, count);
    return 1;
}

PNL_GETTER(sampler_n, check_sampler(L)->n);
PNL_GETTER(sampler_batch, check_sampler(L)->batch);
PNL_GETTER(sampler_per_event, check_sampler(L)->per_event);
PNL_GETTER(sampler_name, check_sampler(L)->ops->name);
PNL_GETTER(sampler_neighbours, pn_neighbours_names[check_sampler(L)->neighbours]);

static int sampler_tostring(lua_State *L)
{
    const pn_sampler *sampler = check_sampler(L);
    char text[200];

    (void)snprintf(text, sizeof text, "pn.sampler.%s(n=%zu, batch=%zu): one event covers %zu batch%s, %s",
                   sampler->ops->name, sampler->n, sampler->batch, sampler->per_event,
                   sampler->per_event == 1 ? "" : "es", pn_neighbours_names[sampler->neighbours]);
    lua_pushstring(L, text);
    return 1;
}

static const pnl_row sampler_rows[] = {
    { "event", sampler_event, PNL_METHOD, PNL_NOTHING, "s:event{sigma=, contribution=, dim=, bound=} -> event",
      "What Gaussian noise of standard deviation sigma on the sum over one batch (over all batches of a pass, when "
      "shuffled) costs.  contribution: bound on the l2 norm of what one record adds to the sum.  dim: how many values "
      "the sum has, 1 when absent.  bound: public bound on every value.  The event is gaussian{sigma=, sensitivity=} "
      "inside what the scheme makes of it, for s.neighbours; rounding to the lattice is in its sensitivity.  Error for "
      "numbers outside their ranges.  Source: that of the scheme, help \"sampler.poisson\" and so on." },
    { "events", sampler_events, PNL_METHOD, PNL_NOTHING, "s:events(batches) -> integer",
      "How many events so many batches cost; a pass that is begun costs all of its event.  Error unless batches is a "
      "whole number from 1." },
    { "draw", sampler_draw, PNL_METHOD, PNL_RAW, "s:draw(rng) -> table",
      "The next batch: the records' numbers from 1, increasing.  Only with a seeded rng: which records are in a batch "
      "is the secret that makes it cheap.  Error for a secure stream." },
    { "n", sampler_n, PNL_FIELD, PNL_NOTHING, "s.n -> integer", "How many records there are, as it was given." },
    { "batch", sampler_batch, PNL_FIELD, PNL_NOTHING, "s.batch -> integer",
      "Records in a batch: exact for fixed and full, all but the last of a pass for shuffled, expected for poisson and "
      "declared." },
    { "per_event", sampler_per_event, PNL_FIELD, PNL_NOTHING, "s.per_event -> integer",
      "How many batches one event covers: 1, or all of a shuffled pass." },
    { "name", sampler_name, PNL_FIELD, PNL_NOTHING, "s.name -> string", "The scheme's name in pn.sampler." },
    { "neighbours", sampler_neighbours, PNL_FIELD, PNL_NOTHING, "s.neighbours -> string",
      "The neighbouring relation of its events." },
    { "__tostring", sampler_tostring, PNL_META, PNL_NOTHING, "tostring(s) -> string",
      "The scheme, its sizes and its neighbouring relation." },
    PNL_ROW_END,
};

static void free_sampler(void *sampler)
{
    pn_sampler_free(sampler);
}

const pnl_class pnl_sampler_class = {
    "pn.sampler", free_sampler, sampler_rows, "How batches are drawn, and what a noisy sum over one costs.", NULL, NULL,
};

/* ---- constructors ---- */

/* upvalue 1: the row of the runtime's table */
static int sampler_new(lua_State *L)
{
    const pn_sampler_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[MAX_PARAMS], relation[1];
    pn_sampler **slot;
    char owner[64];
    pn_err err;

    (void)snprintf(owner, sizeof owner, "sampler.%s", ops->name);
    lua_settop(L, 1);
    pnl_options2(L, 1, owner, ops->params, args, pn_neighbours_params, relation, NULL);
    pnl_status(L, pn_args_check(owner, pn_neighbours_params, relation, &err), &err);
    slot = (pn_sampler **)pnl_newbox(L, &pnl_sampler_class);
    pnl_status(L, pn_sampler_from_args(slot, ops->name, args, (pn_neighbours)relation[0].count, &err), &err);
    return 1;
}

static int with_replacement(lua_State *L)
{
    return pnl_error(L, "%s", pn_sampler_no_replacement);
}

static const pnl_row library_rows[] = {
    { "with_replacement", with_replacement, PNL_FUNCTION, PNL_NOTHING, "pn.sampler.with_replacement{...} -> error",
      "Not offered; the error says why: a record that is drawn several times weighs as often, and no bound for that "
      "composes." },
    PNL_ROW_END,
};

void pnl_open_sampler(lua_State *L)
{
    pnl_open_class(L, &pnl_sampler_class);
    pnl_library(L, "sampler", "Which records are in a batch, and what that makes of the cost of a noisy sum over it.",
                library_rows);
    pnl_private_constructors(L, "sampler", pn_sampler_table(), sampler_new);
    lua_setfield(L, -2, "sampler");
}
