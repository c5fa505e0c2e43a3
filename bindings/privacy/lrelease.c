/* lrelease.c -- m:release and m:open: read the query, pay, draw, hand over; and the two objects that come out,
 * pn.release (what was paid, and whether it protects anybody) and pn.sparse_run.
 * Everything that can raise happens before the charge, but for the last few pushes.
 * Depends on: lprivacy.h, privacy/mechanism/mechanism.h, privacy/accounting/accountant.h.  Used by: lmechanism.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"

#include "privacy/accounting/accountant.h"
#include "privacy/ledger/ledger_watch.h"
#include "privacy/mechanism/mechanism.h"

/* What a call was given; it all stays on the stack. */
typedef struct release_call {
    pn_mechanism *mechanism;
    const char *name;
    pn_output gives;
    pn_ledger *ledger;
    const char *label;
    pn_rng *rng;
    int ledger_index, rng_index; /* of the options; rng is nil when absent */
    pn_vec query;
    bool scalar;
} release_call;

/* ---- what was paid ---- */

typedef struct receipt {
    pn_event *event;
    const char *mechanism;
    double delta; /* of the ledger; NaN for rho */
    bool simulated;
    char label[];
} receipt;

static void free_receipt(void *self)
{
    pn_event_free(((receipt *)self)->event);
    pn_free(self);
}

static const receipt *check_receipt(lua_State *L)
{
    return pnl_check(L, 1, &pnl_release_class);
}

/* Into the box at `slot`, before anything is charged. */
static void fill_receipt(lua_State *L, void **slot, const release_call *call)
{
    size_t length = strlen(call->label);
    const pn_budget *budget = pn_ledger_budget(call->ledger);
    receipt *self = pn_alloc(1, sizeof *self + length + 1);

    if (!self)
        pnl_no_memory(L, "%s: out of memory", call->name);
    memcpy(self->label, call->label, length + 1);
    self->event = pn_event_keep(call->mechanism->event);
    self->mechanism = call->name;
    self->delta = isnan(budget->rho) ? budget->delta : NAN;
    self->simulated = pn_rng_simulated(call->rng);
    *slot = self;
}

static double cost_epsilon(const receipt *self)
{
    return self->simulated ? INFINITY : pn_event_epsilon(self->event, 1, self->delta, NULL);
}

static double cost_rho(const receipt *self)
{
    return self->simulated ? INFINITY : self->event->ops->zcdp(self->event);
}

PNL_GETTER(receipt_private, (bool)!check_receipt(L)->simulated);
PNL_GETTER_IF(receipt_epsilon, !isnan(check_receipt(L)->delta), cost_epsilon(check_receipt(L)));
PNL_GETTER_KNOWN(receipt_delta, check_receipt(L)->delta);
PNL_GETTER(receipt_rho, cost_rho(check_receipt(L)));

static int receipt_event(lua_State *L)
{
    const receipt *self = check_receipt(L);
    void **slot = pnl_newbox(L, &pnl_event_class);

    *slot = pn_event_keep(self->event);
    return 1;
}

PNL_GETTER(receipt_label, check_receipt(L)->label);
PNL_GETTER(receipt_mechanism, check_receipt(L)->mechanism);
PNL_GETTER(receipt_neighbours, pn_neighbours_names[check_receipt(L)->event->neighbours]);

static int receipt_tostring(lua_State *L)
{
    const receipt *self = check_receipt(L);
    bool named = strcmp(self->label, self->mechanism) != 0;
    char text[400], cost[80];

    if (self->simulated)
        (void)snprintf(cost, sizeof cost, "seeded noise: no privacy");
    else if (isnan(self->delta))
        (void)snprintf(cost, sizeof cost, "rho %.6g", cost_rho(self));
    else
        (void)snprintf(cost, sizeof cost, "epsilon %.6g at delta %.6g", cost_epsilon(self), self->delta);
    (void)snprintf(text, sizeof text, "release(%.100s%s%s): %s, %s", self->label, named ? " by " : "",
                   named ? self->mechanism : "", cost, pn_neighbours_names[self->event->neighbours]);
    lua_pushstring(L, text);
    return 1;
}

static const pnl_row receipt_rows[] = {
    { "private", receipt_private, PNL_FIELD, PNL_NOTHING, "r.private -> boolean",
      "False when the noise came from a seeded stream: it protects nobody." },
    { "epsilon", receipt_epsilon, PNL_FIELD, PNL_NOTHING, "r.epsilon -> number or nil",
      "What the release costs by itself at the ledger's delta, as m.event:epsilon(delta); math.huge when it is not "
      "private; nil under rho." },
    { "delta", receipt_delta, PNL_FIELD, PNL_NOTHING, "r.delta -> number or nil",
      "The ledger's delta, at which epsilon is stated; nil under rho." },
    { "rho", receipt_rho, PNL_FIELD, PNL_NOTHING, "r.rho -> number",
      "The release's rho of zero-concentrated privacy; math.huge when it has none or is not private." },
    { "event", receipt_event, PNL_FIELD, PNL_NOTHING, "r.event -> event", "What was charged." },
    { "label", receipt_label, PNL_FIELD, PNL_NOTHING, "r.label -> string", "What the ledger's report says." },
    { "mechanism", receipt_mechanism, PNL_FIELD, PNL_NOTHING, "r.mechanism -> string",
      "The mechanism's name in pn.mechanism." },
    { "neighbours", receipt_neighbours, PNL_FIELD, PNL_NOTHING, "r.neighbours -> string",
      "Who is protected: the neighbouring relation of the charge." },
    { "__tostring", receipt_tostring, PNL_META, PNL_NOTHING, "tostring(r) -> string",
      "What was released, at what cost; \"seeded noise: no privacy\" when that is so." },
    PNL_ROW_END,
};

const pnl_class pnl_release_class = {
    "pn.release", free_receipt, receipt_rows, "What one release cost, and whether it protects anybody.", NULL, NULL,
};

/* ---- reading a call ---- */

/* The value of `name` in the options at `options` (a table or nothing), left on the stack. */
static int option(lua_State *L, int options, const char *name)
{
    if (lua_istable(L, options))
        return lua_getfield(L, options, name);
    lua_pushnil(L);
    return LUA_TNIL;
}

static void read_options(lua_State *L, int options, release_call *call)
{
    static const pn_param none[] = { PN_PARAM_END };
    static const char *const extra[] = { "ledger", "rng", "label", NULL };
    pn_arg unused[1];
    int type;

    pnl_options(L, options, call->name, none, unused, extra);
    pnl_push_ledger(L, options, call->name);
    if (lua_isnil(L, -1))
        pnl_error(L, "%s: a release is paid from a ledger; give ledger = pn.ledger{epsilon = ...}", call->name);
    call->ledger_index = lua_gettop(L);
    type = option(L, options, "label");
    if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "%s: label must be a string, got %s", call->name, pnl_got(L, -1));
    if (type == LUA_TSTRING && lua_rawlen(L, -1) > 100)
        pnl_refuse_analyst(L, "a label of more than 100 bytes", "the curator's ledger keeps it");
    call->label = type == LUA_TNIL ? call->name : lua_tostring(L, -1);
    if (option(L, options, "rng") != LUA_TNIL && !pnl_test(L, -1, &pnl_rng_class))
        pnl_error(L, "%s: rng must be an open pn.rng, got %s", call->name, pnl_got(L, -1));
    call->rng_index = lua_gettop(L);
    (void)pnl_rng(L, -1); /* makes the one that is used when there is no option */
}

/* The objects of the call.  Any allocation of Lua's may run a finalizer, and that may close each of them; from here on
 * to the end of the release nothing allocates. */
static void resolve(lua_State *L, release_call *call)
{
    call->mechanism = pnl_check(L, 1, &pnl_mechanism_class);
    call->ledger = pnl_test(L, call->ledger_index, &pnl_ledger_class);
    if (!call->ledger)
        pnl_error(L, "%s: ledger must be an open pn.ledger, got %s", call->name, pnl_got(L, call->ledger_index));
    call->rng = pnl_rng(L, call->rng_index);
}

/* ---- release ---- */

/* Buffers for what the mechanism gives, on the stack. */
static void reserve(lua_State *L, const release_call *call, pn_release *out)
{
    switch (call->gives) {
    case PN_GIVES_INDEX:
        lua_pushnil(L);
        break;
    case PN_GIVES_VALUES:
        out->values = pnl_new_vec(L, call->query.n);
        break;
    case PN_GIVES_ANSWERS:
        out->above = lua_newuserdatauv(L, call->query.n * sizeof *out->above, 0);
        break;
    }
}

/* The value at `place` (the buffer of reserve) becomes what the script sees, on the top. */
static void push_value(lua_State *L, const release_call *call, const pn_release *out, int place)
{
    switch (call->gives) {
    case PN_GIVES_INDEX:
        lua_pushinteger(L, (lua_Integer)out->index + 1);
        break;
    case PN_GIVES_VALUES:
        if (call->scalar)
            lua_pushnumber(L, out->values[0]);
        else
            lua_pushvalue(L, place);
        break;
    case PN_GIVES_ANSWERS:
        lua_createtable(L, out->count < 1 << 20 ? (int)out->count : 0, 0);
        for (size_t i = 0; i < out->count; i++) {
            lua_pushboolean(L, out->above[i]);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
        pnl_list(L);
        break;
    }
}

int pnl_mechanism_release(lua_State *L)
{
    release_call call = { .mechanism = pnl_check(L, 1, &pnl_mechanism_class) };
    pn_release out = { 0 };
    const pn_ledger_watch *before;
    pn_status status;
    void **slot;
    int place;
    pn_err err;

    call.name = call.mechanism->ops->name;
    call.gives = call.mechanism->ops->output;
    lua_settop(L, 3);
    call.query = pnl_check_query(L, 2, call.name, "query", &call.scalar);
    read_options(L, 3, &call);
    reserve(L, &call, &out);
    place = lua_gettop(L);
    slot = pnl_newbox(L, &pnl_release_class);
    resolve(L, &call);
    if (lua_type(L, 2) == LUA_TUSERDATA)
        call.query = pnl_check_vec(L, 2);
    fill_receipt(L, slot, &call);
    before = pn_ledger_watched(NULL); /* nobody knows whose records the query is about */
    status = pn_mechanism_release(call.mechanism, call.ledger, call.label, call.rng, call.query.data, call.query.n,
                                  &out, &err);
    (void)pn_ledger_watched(before);
    pnl_status(L, status, &err);
    push_value(L, &call, &out, place);
    lua_insert(L, -2);
    return 2;
}

/* ---- a run of sparse vector ---- */

static pn_sparse_run *check_run(lua_State *L)
{
    return pnl_check(L, 1, &pnl_sparse_run_class);
}

static int run_above(lua_State *L)
{
    pn_sparse_run *run = check_run(L);
    bool above = false;
    pn_err err;

    if (lua_type(L, 2) != LUA_TNUMBER)
        return pnl_error(L, "sparse_run:above: the value must be a number, got %s", luaL_typename(L, 2));
    pnl_status(L, pn_sparse_run_above(run, lua_tonumber(L, 2), &above, &err), &err);
    lua_pushboolean(L, above);
    return 1;
}

PNL_GETTER(run_left, pn_sparse_run_left(check_run(L)));
PNL_GETTER(run_private, (bool)!pn_sparse_run_simulated(check_run(L)));

static int run_tostring(lua_State *L)
{
    pn_sparse_run *run = check_run(L);
    size_t left = pn_sparse_run_left(run);
    char text[160];

    if (left)
        (void)snprintf(text, sizeof text, "pn.sparse_run: %zu positive answer%s left%s", left, left == 1 ? "" : "s",
                       pn_sparse_run_simulated(run) ? "; seeded noise: no privacy" : "");
    else
        (void)snprintf(text, sizeof text, "pn.sparse_run: halted%s",
                       pn_sparse_run_simulated(run) ? "; seeded noise: no privacy" : "");
    lua_pushstring(L, text);
    return 1;
}

static const pnl_row run_rows[] = {
    { "above", run_above, PNL_METHOD, PNL_PAID, "run:above(value) -> boolean",
      "Whether value plus noise is at or above the noisy threshold; paid for when the run was opened.  value: the next "
      "query's exact value, chosen after any of the answers before.  Errors: a NaN, an infinity or a value beyond the "
      "bound; a run that has halted.  Source: Lyu, Su, Li (2017), Algorithm 7." },
    { "left", run_left, PNL_FIELD, PNL_PAID, "run.left -> integer",
      "Positive answers left; 0 when the run has halted." },
    { "private", run_private, PNL_FIELD, PNL_NOTHING, "run.private -> boolean",
      "False when the noise comes from a seeded stream: it protects nobody." },
    { "__tostring", run_tostring, PNL_META, PNL_PAID, "tostring(run) -> string",
      "How many positive answers are left." },
    PNL_ROW_END,
};

static void free_run(void *run)
{
    pn_sparse_run_free(run);
}

const pnl_class pnl_sparse_run_class = {
    "pn.sparse_run",
    free_run,
    run_rows,
    "A stream of queries against a threshold, paid for when it was opened.",
    NULL,
    NULL,
};

int pnl_mechanism_open(lua_State *L)
{
    release_call call = { .mechanism = pnl_check(L, 1, &pnl_mechanism_class) };
    pn_sparse_run **slot;
    const pn_ledger_watch *before;
    pn_status status;
    void **receipt_slot;
    int box;
    pn_err err;

    call.name = call.mechanism->ops->name;
    lua_settop(L, 2);
    read_options(L, 2, &call);
    slot = (pn_sparse_run **)pnl_newbox(L, &pnl_sparse_run_class);
    box = lua_gettop(L);
    if (!lua_isnil(L, call.rng_index))
        pnl_keep(L, box, call.rng_index);
    receipt_slot = pnl_newbox(L, &pnl_release_class);
    resolve(L, &call);
    fill_receipt(L, receipt_slot, &call);
    before = pn_ledger_watched(NULL);
    status = pn_sparse_run_new(slot, call.mechanism, call.ledger, call.label, call.rng, &err);
    (void)pn_ledger_watched(before);
    pnl_status(L, status, &err);
    return 2;
}
