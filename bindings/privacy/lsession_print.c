/* lsession_print.c -- pn.session(): the accounts as rows and as text; and what a fit says of its data set.
 * Depends on: lsession.h, lprint.h.  Used by: lsession.c, lfit_print.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/lprint.h"
#include "bindings/privacy/lsession.h"

/* What a row says of an account under one relation. */
typedef struct row {
    const pn_bill *account;
    pn_neighbours relation;
    double epsilon, delta; /* epsilon is infinite where none is known */
    size_t releases;
} row;

static row row_of(lua_State *L, pn_bill *account, pn_neighbours relation)
{
    row made = { .account = account, .relation = relation, .releases = account->releases[relation] };
    pn_err err;

    pnl_status(L, pn_bill_price(account, relation, &made.delta, &made.epsilon, &err), &err);
    return made;
}

/* ---- as a table ---- */

static void set_number(lua_State *L, const char *name, double value)
{
    if (!isfinite(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_count(lua_State *L, const char *name, size_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void push_row(lua_State *L, const row *made)
{
    const pn_bill *account = made->account;

    lua_createtable(L, 0, 10);
    lua_pushstring(L, pn_origin_name(account->origin));
    lua_setfield(L, -2, "name");
    set_count(L, "records", pn_origin_records(account->origin));
    lua_pushstring(L, pn_neighbours_names[made->relation]);
    lua_setfield(L, -2, "neighbours");
    set_number(L, "epsilon", made->epsilon);
    set_number(L, "delta", made->delta);
    set_number(L, "rho", pn_tally_rho(&account->tally[made->relation]));
    set_count(L, "releases", made->releases);
    set_count(L, "simulated", account->simulated);
    set_count(L, "exact", account->exact);
    pnl_push_budget_of(L, account);
    lua_setfield(L, -2, "budget");
    pnl_list(L);
}

/* ---- as text ---- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void add_spent(luaL_Buffer *text, const row *made)
{
    if (made->releases == 0)
        luaL_addstring(text, "\n  spent    nothing");
    else if (isinf(made->epsilon))
        pnl_add_format(text, "\n  spent    %zu release%s, for which no epsilon is known at delta = %.3g",
                       made->releases, plural(made->releases), made->delta);
    else
        pnl_add_format(text, "\n  spent    epsilon = %.4g at delta = %.3g in %zu release%s", made->epsilon, made->delta,
                       made->releases, plural(made->releases));
}

static void add_budget(luaL_Buffer *text, const pn_ledger *ledger)
{
    const pn_budget *budget;
    const char *ended;

    if (!ledger) {
        luaL_addstring(text, "\n  budget   none: pn.budget{data=, epsilon=} sets a limit");
        return;
    }
    budget = pn_ledger_budget(ledger);
    ended = pn_ledger_ended(ledger);
    pnl_add_format(text, "\n  budget   %s = %.4g", isnan(budget->rho) ? "epsilon" : "rho",
                   isnan(budget->rho) ? budget->epsilon : budget->rho);
    if (budget->delta > 0.0)
        pnl_add_format(text, " at delta = %.3g", budget->delta);
    pnl_add_format(text, "; %.4g charged, %.4g left%s%s", pn_ledger_spent(ledger), pn_ledger_remaining(ledger),
                   ended ? "; " : "", ended ? ended : "");
}

/* The name of a file may hold anything; here it is part of a line. */
static void add_name(luaL_Buffer *text, const char *name)
{
    char clean[81];

    (void)snprintf(clean, sizeof clean, "%s", name);
    for (char *c = clean; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
    luaL_addstring(text, clean);
}

static void add_row(luaL_Buffer *text, const row *made)
{
    const pn_bill *account = made->account;

    add_name(text, pn_origin_name(account->origin));
    pnl_add_format(text, ": %zu records, %s", pn_origin_records(account->origin), pn_neighbours_names[made->relation]);
    add_spent(text, made);
    add_budget(text, account->budget);
    if (account->exact > 0)
        pnl_add_format(text, "\n  exact    %zu result%s without any privacy", account->exact, plural(account->exact));
    if (account->simulated > 0)
        pnl_add_format(text, "\n  seeded   %zu release%s with seeded noise: no privacy, not counted",
                       account->simulated, plural(account->simulated));
}

/* ---- both ---- */

/* Upvalue 1: the text. */
static int table_tostring(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    return 1;
}

/* A row for each relation that was spent under; else one for what there is to say. */
static size_t rows_of(lua_State *L, pn_bill *account, row made[PN_RELATIONS])
{
    size_t count = 0;

    for (int relation = 0; relation < PN_RELATIONS; relation++) {
        if (account->releases[relation] > 0)
            made[count++] = row_of(L, account, (pn_neighbours)relation);
    }
    if (count == 0 && (account->budget || account->exact > 0 || account->simulated > 0))
        made[count++] =
            row_of(L, account, account->budget ? pn_ledger_budget(account->budget)->neighbours : PN_REPLACE_ONE);
    return count;
}

/* The texts of all rows so far are at 2, each behind the one before; the rows in the table at 1. */
static void add_account(lua_State *L, pn_bill *account)
{
    row made[PN_RELATIONS];
    size_t count = rows_of(L, account, made);

    for (size_t i = 0; i < count; i++) {
        luaL_Buffer text;

        push_row(L, &made[i]);
        lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
        luaL_buffinit(L, &text);
        add_row(&text, &made[i]);
        luaL_pushresult(&text);
        lua_rawseti(L, 2, (lua_Integer)lua_rawlen(L, 2) + 1);
    }
}

static void push_text(lua_State *L)
{
    size_t count = (size_t)lua_rawlen(L, 2);
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    luaL_addstring(&text, count > 0 ? "" : "nothing was released in this session");
    for (size_t i = 1; i <= count; i++) {
        luaL_addstring(&text, i > 1 ? "\n" : "");
        lua_rawgeti(L, 2, (lua_Integer)i);
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
}

int pnl_session_table(lua_State *L)
{
    const pn_session *session = pnl_session(L);
    size_t count = session ? pn_session_count(session) : 0;

    lua_settop(L, 0);
    lua_newtable(L);
    lua_newtable(L);
    for (size_t i = 0; i < count; i++)
        add_account(L, pn_session_at(session, i));
    lua_createtable(L, 0, 1);
    push_text(L);
    lua_pushcclosure(L, table_tostring, 1);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

void pnl_add_so_far(lua_State *L, luaL_Buffer *text, const pn_dataset *data, pn_neighbours relation)
{
    pn_bill *account = pnl_bill_known(L, data);
    row made;

    if (!account || account->releases[relation] == 0)
        return;
    made = row_of(L, account, relation);
    if (isinf(made.epsilon))
        return;
    pnl_add_format(text,
                   "\n  so far   its data set has cost epsilon = %.4g at delta = %.3g,\n           in %zu release%s of "
                   "this session",
                   made.epsilon, made.delta, made.releases, plural(made.releases));
    if (account->budget)
        pnl_add_format(text, "; its budget has %.4g left", pn_ledger_remaining(account->budget));
}
