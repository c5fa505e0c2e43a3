/* lsession.c -- the session of a state: one account for each data set, pn.budget, and who is charged for what.
 * Depends on: lsession.h, lledger.h, lprivacy.h.  Used by: lprivacy.c, and whoever releases something. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/privacy/lledger.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lsession.h"
#include "privacy/ledger/ledger_impl.h"
#include "privacy/ledger/session_text.h"

/* ---- the session ---- */

static const char session_key = 's';

static int books_tostring(lua_State *L)
{
    lua_pushliteral(L, "what this session has spent");
    return 1;
}

static const pnl_row books_rows[] = {
    { "__tostring", books_tostring, PNL_META, PNL_NOTHING, "tostring(books) -> string", "What it is, in a few words." },
    PNL_ROW_END,
};

static const pnl_class books_class = { "pn.books", (void (*)(void *))pn_session_free,
                                       books_rows, "What this session has spent on each data set.",
                                       NULL,       NULL };

pn_session *pnl_session(lua_State *L)
{
    pn_session *found = NULL;

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key) == LUA_TUSERDATA)
        found = pnl_test(L, -1, &books_class);
    lua_pop(L, 1);
    return found;
}

static pn_session *open_session(lua_State *L)
{
    pn_session *found = pnl_session(L);
    pn_err err;

    if (found)
        return found;
    luaL_checkstack(L, 8, "session");
    {
        pn_session **slot = (pn_session **)pnl_newbox(L, &books_class);

        pnl_status(L, pn_session_new(slot, &err), &err);
        found = *slot;
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
    return found;
}

pn_bill *pnl_bill(lua_State *L, const pn_dataset *data)
{
    pn_bill *account = NULL;
    pn_err err;

    if (!data->origin || pnl_curated(L))
        return NULL;
    pnl_status(L, pn_session_account(open_session(L), data->origin, &account, &err), &err);
    return account;
}

pn_bill *pnl_bill_known(lua_State *L, const pn_dataset *data)
{
    pn_session *session = data->origin && !pnl_curated(L) ? pnl_session(L) : NULL;

    return session ? pn_session_find(session, data->origin) : NULL;
}

pn_ledger *pnl_bill_ledger(lua_State *L, const pn_bill *account, pn_ledger *given, const char *owner)
{
    pn_ledger *out = NULL;
    pn_err err;

    pnl_status(L, pn_bill_ledger(account, given, owner, &out, &err), &err);
    return out;
}

/* Without the owner, if it is there: the context goes between. */
static void take_owner_off(pn_err *err, const char *owner)
{
    size_t length = strlen(owner);

    if (strncmp(err->message, owner, length) == 0 && strncmp(err->message + length, ": ", 2) == 0)
        memmove(err->message, err->message + length + 2, strlen(err->message + length + 2) + 1);
}

pn_status pnl_bill_refused(const pn_bill *account, const pn_ledger *ledger, const char *owner, pn_status status,
                           pn_err *err)
{
    char context[160];

    if (status != PN_EBUDGET)
        return status;
    if (!account || !account->budget || ledger != account->budget)
        return pn_fail_by(err, status, owner);
    (void)snprintf(context, sizeof context, "the budget of \"%.80s\" (pn.budget)", pn_origin_name(account->origin));
    take_owner_off(err, owner);
    return pn_fail_by(err, pn_fail_in(err, status, context), owner);
}

void pnl_push_budget_of(lua_State *L, const pn_bill *account)
{
    void **slot;

    if (!account->budget) {
        lua_pushnil(L);
        return;
    }
    slot = pnl_newbox(L, &pnl_ledger_class);
    *slot = pn_ledger_keep(account->budget);
}

/* ---- processes that were forked ---- */

void pnl_session_restart(lua_State *L)
{
    if (pnl_session(L))
        pn_session_restart(pnl_session(L));
}

pn_status pnl_session_spent(lua_State *L, pn_text *out, pn_err *err)
{
    pn_status status = pnl_session(L) ? pn_session_write(pnl_session(L), out, err) : PN_OK;

    pnl_session_restart(L);
    return status;
}

void pnl_session_absorb(lua_State *L, const char *text)
{
    pn_err err;

    pnl_status(L, pn_session_absorb(open_session(L), text, &err), &err);
}

/* ---- pn.budget ---- */

static const char *const dataset_name[] = { "pn.dataset", NULL };
static const char *const texts[] = { "path", "key", NULL };

enum { DATA, EPSILON, DELTA, RHO, PARAMS };

static const pn_param budget_params[] = {
    { "data", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, dataset_name, "whose records the budget protects" },
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total epsilon (or give rho)" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, NAN, NULL,
      "with epsilon, below 1: the total delta; by default 1/n^2, 0 for pure privacy" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total rho of zero-concentrated privacy" },
    PN_PARAM_END,
};

static const char *path_option(lua_State *L, const char *name)
{
    if (lua_getfield(L, 1, name) == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TSTRING || strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        pnl_error(L, "budget: %s must be a path, got %s", name, pnl_got(L, -1));
    return lua_tostring(L, -1);
}

/* There is a budget: the same one again, or an error.  What was left out is as it is. */
static int again(lua_State *L, const pn_bill *account, const pn_arg *args, const pn_arg *relation, const char *path)
{
    const char *there = pn_ledger_path(account->budget);
    pn_budget asked = *pn_ledger_budget(account->budget);
    char what[120];
    pn_err err;

    (void)snprintf(what, sizeof what, "the data set \"%.80s\"", pn_origin_name(account->origin));
    if (args[EPSILON].given || args[RHO].given) {
        asked.epsilon = args[EPSILON].given ? args[EPSILON].real : NAN;
        asked.rho = args[RHO].given ? args[RHO].real : NAN;
    }
    if (args[DELTA].given)
        asked.delta = args[DELTA].real;
    if (relation->given)
        asked.neighbours = (pn_neighbours)relation->count;
    pnl_status(L, pn_budget_compare(what, pn_ledger_budget(account->budget), &asked, &err), &err);
    if (path && (!there || strcmp(path, there) != 0))
        pnl_error(L, "budget: %s already has its budget %s%s in this session; leave path out", what,
                  there ? "in the file " : "without a file", there ? there : "");
    pnl_push_budget_of(L, account);
    return 1;
}

/* The limit from now on, on the top; budget NULL: that of the file. */
static int set_limit(lua_State *L, pn_bill *account, const pn_budget *budget, const char *path, const char *key)
{
    pn_ledger **slot = (pn_ledger **)pnl_newbox(L, &pnl_ledger_class);
    pn_err err;

    pnl_status(L, path ? pn_ledger_open(slot, path, key, budget, &err) : pn_ledger_new(slot, budget, &err), &err);
    pnl_status(L, pn_bill_limit(account, *slot, &err), &err);
    return 1;
}

static int budget_new(lua_State *L)
{
    pn_arg args[PARAMS], relation[1];
    const char *path, *key;
    pn_bill *account;
    pn_budget budget;
    bool given;
    pn_err err;

    lua_settop(L, 1);
    pnl_options2(L, 1, "budget", budget_params, args, pn_neighbours_params, relation, texts);
    pnl_status(L, pn_args_check("budget", budget_params, args, &err), &err);
    pnl_status(L, pn_args_check("budget", pn_neighbours_params, relation, &err), &err);
    path = path_option(L, "path");
    key = path_option(L, "key");
    if (key && !path)
        return pnl_error(L, "budget: key is the key of a file; give path as well");
    account = pnl_bill(L, args[DATA].object);
    if (!account)
        return pnl_error(
            L, "budget: this data set holds no records to protect: it is synthetic, or its records are held by "
               "others, who have budgets of their own");
    given = args[EPSILON].given || args[DELTA].given || args[RHO].given;
    budget = (pn_budget){ .epsilon = args[EPSILON].given ? args[EPSILON].real : NAN,
                          .delta = args[DELTA].given     ? args[DELTA].real
                                   : args[EPSILON].given ? pn_bill_delta(account)
                                                         : 0.0,
                          .rho = args[RHO].given ? args[RHO].real : NAN,
                          .neighbours = (pn_neighbours)relation->count };
    if (account->budget)
        return again(L, account, args, relation, path);
    if (!given && !path)
        return pnl_error(L, "budget: give a limit: epsilon= with delta= or without (1/n^2), or rho=");
    return set_limit(L, account, given ? &budget : NULL, path, key);
}

void pnl_open_session(lua_State *L)
{
    pn_param params[PARAMS + 2];

    memcpy(params, budget_params, PARAMS * sizeof *params);
    params[PARAMS] = pn_neighbours_params[0];
    params[PARAMS + 1] = (pn_param)PN_PARAM_END;
    pnl_open_class(L, &books_class);
    lua_pushcfunction(L, budget_new);
    lua_setfield(L, -2, "budget");
    pnl_reference(
        L, "", "budget", PNL_NOTHING | PNL_BUDGETS,
        "pn.budget{data=, epsilon=, delta=} or {data=, rho=}; neighbours=, path=, key= -> ledger",
        "Limit what this session may spend on a data set.  From then on runs, answers of pn.oracle and queries on "
        "it that name no ledger are charged to this one before noise is drawn, and refused beyond it; a ledger "
        "that is neither it nor a slice of it is refused.  The limit follows the records, not the object: "
        "everything made of them by clipping, picking, splitting, other labels or loading the same file again "
        "shares the budget; files are told by their content, numbers in memory by their values.  What this session "
        "has spent on them already is charged at once, and when that is more than the limit, the budget is "
        "refused.  A limit cannot be changed; called again with the same numbers or none, pn.budget gives the same "
        "ledger.  "
        "epsilon > 0; delta in [0, 1), 1/n^2 when left out; path, key: a file that keeps the charges, as for "
        "pn.ledger.  What it does not see: mechanisms, trees and charges by hand, which do not know whose records "
        "their numbers come from; parties of federated runs, who have ledgers of their own; other processes (those "
        "of pn.experiment are counted, but cannot charge the budget); seeded noise and results without noise, "
        "which pn.session() counts.",
        "Feldman, Zrnic (2021)", params);
    lua_pushcfunction(L, pnl_session_table);
    lua_setfield(L, -2, "session");
    pnl_reference(
        L, "", "session", PNL_RAW, "pn.session() -> table",
        "What this session has spent on each data set, with whatever ledgers; it prints itself.  A row for each "
        "data set and neighbouring relation: name, records, neighbours, epsilon at delta and rho (nil where none "
        "is known), releases (runs, answers and queries that paid), simulated (with seeded noise) and exact "
        "(privacy=false, solve.exact), which are counted and cost nothing that adds up, and budget, the ledger of "
        "pn.budget or nil.  epsilon is composed as by pn.accountant from all that was charged, a run without a "
        "ledger= as its whole plan, at 1/n^2, or more where releases have deltas of their own: what the list costs "
        "as if it had been fixed beforehand.  Where later releases depend on earlier ones, the limit of pn.budget "
        "is what is guaranteed.",
        NULL, NULL);
}
