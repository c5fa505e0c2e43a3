/* lmechanism.c -- pn.mechanism: one constructor for each row of the runtime's table.  Releasing is in lrelease.c.
 * Depends on: lprivacy.h, lprivacy_check.h, privacy/mechanism/mechanism.h.  Used by: lprivacy.c. */
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"

#include "privacy/mechanism/mechanism.h"

#define MAX_PARAMS 16

static pn_mechanism *check_mechanism(lua_State *L)
{
    return pnl_check(L, 1, &pnl_mechanism_class);
}

static int mechanism_event(lua_State *L)
{
    const pn_mechanism *mechanism = check_mechanism(L);
    void **slot = pnl_newbox(L, &pnl_event_class);

    *slot = pn_event_keep(mechanism->event);
    return 1;
}

PNL_GETTER(mechanism_name, check_mechanism(L)->ops->name);
PNL_GETTER_IF(mechanism_scale, check_mechanism(L)->scale > 0.0, check_mechanism(L)->scale);
PNL_GETTER_IF(mechanism_dim, check_mechanism(L)->dim > 0, check_mechanism(L)->dim);

static int mechanism_tostring(lua_State *L)
{
    const pn_mechanism *mechanism = check_mechanism(L);
    char text[1024];

    mechanism->ops->describe(mechanism, text, sizeof text);
    lua_pushfstring(L, "pn.mechanism.%s", text);
    return 1;
}

static const pnl_row mechanism_rows[] = {
    { "release", pnl_mechanism_release, PNL_METHOD, PNL_PAID, "m:release(x, {ledger=, rng=, label=}) -> value, release",
      "Charges m.event to the ledger, then draws, then returns what the mechanism gives and a pn.release that says "
      "what it cost.  value: the index of the chosen score, from 1; the noisy number or pn.vec; a list of true and "
      "false up to where it halted.  x: number, vector or table of finite numbers, the exact values, whose sensitivity "
      "the caller vouches for.  rng: the module's secure stream when absent; a seeded one is refused unless the ledger "
      "was opened with teaching = true.  label: what the ledger's report says.  Errors, all before the charge and the "
      "first draw: no ledger, a budget that does not cover it, another number of values than dim; without a bound a "
      "NaN or an infinity; with strict=true a value beyond the bound (the message does not say which).  With a bound "
      "every value is taken: what is beyond is clamped, and a NaN counts as -bound.  Where queries come from others, "
      "give one." },
    { "open", pnl_mechanism_open, PNL_METHOD, PNL_PAID, "m:open{ledger=, rng=, label=} -> run, release",
      "Opens a run of sparse_vector (no other mechanism): charges m.event to the ledger, draws the threshold's noise, "
      "and returns a pn.sparse_run that answers values one by one, each chosen after the answers before, and a "
      "pn.release.  Options and errors as m:release." },
    { "event", mechanism_event, PNL_FIELD, PNL_NOTHING, "m.event -> event",
      "What one release costs, the rounding of parameters and scores included." },
    { "name", mechanism_name, PNL_FIELD, PNL_NOTHING, "m.name -> string", "The mechanism's name in pn.mechanism." },
    { "scale", mechanism_scale, PNL_FIELD, PNL_NOTHING, "m.scale -> number or nil",
      "Of the noise on each released value: sigma of a Gaussian, b of a Laplace (standard deviation sqrt(2) b); nil "
      "where no value is released." },
    { "dim", mechanism_dim, PNL_FIELD, PNL_NOTHING, "m.dim -> integer or nil",
      "How many values or scores a release takes; nil: any number." },
    { "__tostring", mechanism_tostring, PNL_META, PNL_NOTHING, "tostring(m) -> string",
      "The law, its exact cost, who it protects, and the lattice to which values are rounded." },
    PNL_ROW_END,
};

static void free_mechanism(void *mechanism)
{
    pn_mechanism_free(mechanism);
}

const pnl_class pnl_mechanism_class = {
    "pn.mechanism", free_mechanism,
    mechanism_rows, "A private release: a law of noise, and the event that says what it costs.",
    NULL,           NULL,
};

/* ---- constructors ---- */

/* upvalue 1: the row of the runtime's table */
static int mechanism_new(lua_State *L)
{
    const pn_mechanism_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[MAX_PARAMS], relation[1];
    pn_mechanism **slot;
    char owner[64];
    pn_err err;

    (void)snprintf(owner, sizeof owner, "mechanism.%s", ops->name);
    lua_settop(L, 1);
    pnl_options2(L, 1, owner, ops->params, args, pn_neighbours_params, relation, NULL);
    pnl_status(L, pn_args_check(owner, pn_neighbours_params, relation, &err), &err);
    pnl_refuse_strict(L, owner, ops->params, args, "whether a value is refused depends on it, and costs nothing");
    slot = (pn_mechanism **)pnl_newbox(L, &pnl_mechanism_class);
    pnl_status(L, pn_mechanism_from_args(slot, ops->name, args, (pn_neighbours)relation[0].count, &err), &err);
    return 1;
}

void pnl_open_mechanism(lua_State *L)
{
    static const pnl_row none[] = { PNL_ROW_END };

    pnl_open_class(L, &pnl_mechanism_class);
    pnl_open_class(L, &pnl_release_class);
    pnl_open_class(L, &pnl_sparse_run_class);
    pnl_library(L, "mechanism", "Private releases: every one is paid from a ledger before its noise is drawn.", none);
    pnl_private_constructors(L, "mechanism", pn_mechanism_table(), mechanism_new);
    lua_setfield(L, -2, "mechanism");
}
