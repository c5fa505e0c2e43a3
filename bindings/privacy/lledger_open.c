/* lledger_open.c -- pn.ledger{...}: a new budget, one in a file, a slice of another.
 * Depends on: lledger.h, lprivacy.h, lprivacy_check.h.  Used by: lprivacy.c. */
#include <math.h>
#include <string.h>

#include "bindings/privacy/lledger.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"

const char *const pnl_filter_names[] = { "renyi", "gaussian", NULL };

static const char *const ledger_class[] = { "pn.ledger", NULL };
static const char *const texts[] = { "path", "key", "name", NULL };

enum { EPSILON, DELTA, RHO, ALPHA, FILTER, TEACHING, ORDERS, PARENT, MOVED, PARAMS };

static const pn_param ledger_params[] = {
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total epsilon (or give rho)" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, 0.0, NULL, "the total delta, below 1; 0 for pure privacy" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total rho of zero-concentrated privacy" },
    { "alpha", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "a Renyi order above 1: epsilon is then the limit of the divergence of that order" },
    { "filter", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pnl_filter_names,
      "how an (epsilon, delta) budget adds up: Renyi divergences, or mu^2 of Gaussian noise without any loss" },
    { "teaching", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "accept seeded noise, which protects nobody" },
    { "orders", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "Renyi orders of the filter, each greater than 1, to share delta; chosen when left out" },
    { "parent", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, ledger_class,
      "the budget above: charges need room in both and are charged to both" },
    { "moved", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "with path: the files were copied here, and those they were copied from will not be opened again" },
    PN_PARAM_END,
};

/* The option `name` as text, on the stack; NULL when it is absent. */
static const char *text_option(lua_State *L, const char *name)
{
    if (!lua_istable(L, 1) || lua_getfield(L, 1, name) == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TSTRING)
        pnl_error(L, "ledger: %s must be a string, got %s", name, pnl_got(L, -1));
    if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        pnl_error(L, "ledger: %s must not have a zero byte in it", name);
    return lua_tostring(L, -1);
}

static bool has_budget(const pn_arg *args)
{
    return args[EPSILON].given || args[DELTA].given || args[RHO].given || args[ALPHA].given || args[ORDERS].given ||
           args[FILTER].given;
}

static pn_budget read_budget(const pn_arg *args, const pn_arg *relation)
{
    return (pn_budget){ .epsilon = args[EPSILON].given ? args[EPSILON].real : NAN,
                        .delta = args[DELTA].real,
                        .rho = args[RHO].given ? args[RHO].real : NAN,
                        .alpha = args[ALPHA].given ? args[ALPHA].real : 0.0,
                        .gaussian = args[FILTER].count == 1,
                        .neighbours = (pn_neighbours)relation->count,
                        .teaching = args[TEACHING].flag,
                        .orders = args[ORDERS].vector.data,
                        .order_count = args[ORDERS].given ? args[ORDERS].vector.n : 0 };
}

static pn_status open_slice(pn_ledger **slot, const pn_arg *args, const pn_arg *relation, const char *name, pn_err *err)
{
    pn_ledger *parent = (pn_ledger *)(size_t)args[PARENT].object;
    pn_budget budget = read_budget(args, relation);

    if (!relation->given)
        budget.neighbours = pn_ledger_budget(parent)->neighbours;
    if (!args[TEACHING].given)
        budget.teaching = pn_ledger_budget(parent)->teaching;
    return pn_ledger_slice(slot, parent, name, name && !has_budget(args) ? NULL : &budget, err);
}

static pn_status open_file(pn_ledger **slot, const pn_arg *args, const pn_arg *relation, const char *path,
                           const char *key, pn_err *err)
{
    pn_budget budget = read_budget(args, relation);
    const pn_budget *asked = has_budget(args) ? &budget : NULL;
    pn_status status = args[MOVED].flag ? pn_ledger_open_moved(slot, path, key, asked, err)
                                        : pn_ledger_open(slot, path, key, asked, err);

    if (status != PN_OK || has_budget(args))
        return status;
    if (relation->given && pn_ledger_budget(*slot)->neighbours != budget.neighbours)
        return pn_fail(err, PN_EPRIVACY, "ledger: %.200s is for \"%s\" neighbours, not \"%s\"", path,
                       pn_neighbours_names[pn_ledger_budget(*slot)->neighbours],
                       pn_neighbours_names[budget.neighbours]);
    if (args[TEACHING].given && pn_ledger_budget(*slot)->teaching != budget.teaching)
        return pn_fail(err, PN_EPRIVACY, "ledger: %.200s was opened with teaching = %s", path,
                       pn_ledger_budget(*slot)->teaching ? "true" : "false");
    return PN_OK;
}

static int ledger_new(lua_State *L)
{
    pn_arg args[PARAMS], relation[1];
    const char *path, *key, *name;
    pn_budget budget;
    pn_ledger **slot;
    pn_status status;
    pn_err err;

    pnl_options2(L, 1, "ledger", ledger_params, args, pn_neighbours_params, relation, texts);
    pnl_status(L, pn_args_check("ledger", ledger_params, args, &err), &err);
    pnl_status(L, pn_args_check("ledger", pn_neighbours_params, relation, &err), &err);
    path = text_option(L, "path");
    key = text_option(L, "key");
    name = text_option(L, "name");
    if (path && args[PARENT].given)
        return pnl_error(L, "ledger: a slice is kept in its parent's file; leave path out");
    if (key && !path)
        return pnl_error(L, "ledger: key is the key of a file; give path as well");
    if (args[MOVED].flag && !path)
        return pnl_error(L, "ledger: moved is about a file; give path as well");
    if (name && !*name)
        return pnl_error(L, "ledger: name is empty; leave it out for \"slice N\"");
    if (args[ORDERS].given && args[ORDERS].vector.n == 0)
        return pnl_error(L, "ledger: orders is empty; leave it out, and the first request chooses");
    if (name && !args[PARENT].given)
        return pnl_error(L, "ledger: name is the name of a slice; give parent as well");
    slot = (pn_ledger **)pnl_newbox(L, &pnl_ledger_class);
    budget = read_budget(args, relation);
    status = args[PARENT].given ? open_slice(slot, args, relation, name, &err)
             : path             ? open_file(slot, args, relation, path, key, &err)
                                : pn_ledger_new(slot, &budget, &err);
    pnl_status(L, status, &err);
    return 1;
}

void pnl_open_ledger(lua_State *L)
{
    pn_param params[PARAMS + 2];

    memcpy(params, ledger_params, PARAMS * sizeof *params);
    params[PARAMS] = pn_neighbours_params[0];
    params[PARAMS + 1] = (pn_param)PN_PARAM_END;
    lua_pushcfunction(L, ledger_new);
    lua_setfield(L, -2, "ledger");
    pnl_reference(
        L, "", "ledger", PNL_NOTHING | PNL_BUDGETS,
        "pn.ledger{epsilon=, delta=} or {epsilon=} (pure), {rho=}, {alpha=, epsilon=}; filter=, orders=, neighbours=, "
        "teaching=, path=, key=, moved=, parent=, name= -> ledger",
        "Open a privacy budget for one neighbouring relation.  Every release is charged to it before its noise is "
        "drawn; what it does not cover is refused, and the ledger stays usable.  Releases may be chosen after "
        "seeing earlier ones: the filter is fully adaptive (L.theorem).  path: keep the charges in a file, made "
        "when there is none or an empty one, opened with its own budget when none is given; every charge is on the "
        "disk before anything is released, so whenever the process dies, all that was released is charged.  The "
        "file is text for people to read.  key: the file that authenticates it, path .. \".key\" when left out, "
        "made at the first opening.  Without the key nobody can change the ledger, or cut it short of what path .. "
        "\".head\" says, without being noticed.  Copies of the files are refused, and so are earlier contents that "
        "were put back into them; the files may be renamed together, within a file system.  moved: opens what was "
        "copied to another disk or machine, once; the ledger records it, and its owner vouches that the files it "
        "was copied from will not be opened again.  What remains possible: whoever reads the key can forge the "
        "ledger; whoever may write the directory can remove ledger and head, and the next opening with a budget "
        "begins a new one; whoever can put back an image of a whole file system or machine gets back what was "
        "charged since; whoever opens a copy with moved while the original lives has two budgets; and where the "
        "file system has neither times of birth nor extended attributes, or numbers files anew at each mount (FUSE, "
        "SMB), some copies are not noticed.  Key, ledger and head must belong to you or to root, and nobody else "
        "may read the key.  parent, name: a slice of another budget, such as a student's of a class's: charges need "
        "room in both, and the filter above bounds everything, whichever slices interleave.",
        "Feldman, Zrnic (2021); Lecuyer (2021); Smith, Thakurta (2022); Koskela, Tobaben, Honkela (2023)", params);
    pnl_open_class(L, &pnl_ledger_class);
}
