/* laccountant.c -- pn.accountant: one constructor per row of the runtime's table, and the self-test.
 * Depends on: pnl.h, lprivacy_check.h, privacy/accounting/accountant.h, privacy/audit/selftest.h.  Used by:
 * lprivacy.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/audit/selftest.h"

#define MAX_PARAMS 16

static const pnl_class pnl_selftest_class;

static pn_accountant *check(lua_State *L)
{
    return pnl_check(L, 1, &pnl_accountant_class);
}

static int accountant_add(lua_State *L)
{
    pn_accountant *self = check(L);
    pn_event *event = pnl_check_event(L, 2);
    size_t count = pnl_opt_count(L, 3, "accountant:add");
    pn_err err;

    pnl_status(L, pn_accountant_add(self, event, count, &err), &err);
    lua_settop(L, 1);
    return 1;
}

/* An answer by loss distributions takes up to seconds. */
static void begin(lua_State *L)
{
    pnl_run_begin(L, false);
    pnl_run_lend_task(L);
}

static int accountant_epsilon(lua_State *L)
{
    pn_accountant *self = check(L);
    double delta = pnl_check_delta(L, 2, "accountant:epsilon"), order = 0.0, epsilon;
    pn_status status;
    pn_err err;

    begin(L);
    status = self->ops->epsilon(self, delta, &epsilon, &order, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, epsilon);
    lua_pushnumber(L, order);
    return 2;
}

static int accountant_interval(lua_State *L)
{
    pn_accountant *self = check(L);
    double delta = pnl_check_delta(L, 2, "accountant:epsilon_interval"), low, high;
    pn_status status;
    pn_err err;

    if (!self->ops->interval)
        return luaL_error(L, "accountant:epsilon_interval: accountant.%s knows no lower bound; use accountant.pld",
                          self->ops->name);
    begin(L);
    status = self->ops->interval(self, delta, &low, &high, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, low);
    lua_pushnumber(L, high);
    return 2;
}

static int accountant_delta(lua_State *L)
{
    pn_accountant *self = check(L);
    double epsilon = pnl_check_epsilon(L, 2, "accountant:delta"), delta;
    pn_status status;
    pn_err err;

    begin(L);
    status = self->ops->delta(self, epsilon, &delta, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, delta);
    return 1;
}

static int accountant_rdp(lua_State *L)
{
    pn_accountant *self = check(L);

    lua_pushnumber(L, self->ops->rdp(self, pnl_check_order(L, 2, "accountant:rdp")));
    return 1;
}

PNL_GETTER(accountant_rho, check(L)->ops->zcdp(check(L)));
PNL_GETTER_IF(accountant_neighbours, check(L)->events > 0, pn_neighbours_names[check(L)->neighbours]);

static int accountant_method(lua_State *L)
{
    const pn_accountant *self = check(L);
    char text[64];

    if (!self->ops->method || !self->ops->method(self, text, sizeof text))
        return 0;
    lua_pushstring(L, text);
    return 1;
}

/* rho says something of unsampled Gaussian noise; under sampling it is the worst case, which misleads. */
static void push_summary(lua_State *L, const pn_accountant *self)
{
    char text[512], more[256] = "", method[64];

    if (strcmp(self->ops->name, "zcdp") == 0)
        (void)snprintf(more, sizeof more, ", rho %.6g", self->ops->zcdp(self));
    (void)snprintf(text, sizeof text, "accountant.%s: %.15g release%s, %s%s", self->ops->name, self->releases,
                   self->releases == 1.0 ? "" : "s", pn_neighbours_names[self->neighbours], more);
    lua_pushstring(L, text);
    if (self->ops->width && self->ops->width(self, more, sizeof more) &&
        self->ops->method(self, method, sizeof method)) {
        lua_pushfstring(L, "\n  %s (%s)", more, method);
        lua_concat(L, 2);
    }
}

static int accountant_tostring(lua_State *L)
{
    pn_accountant *self = check(L);

    if (self->events == 0)
        lua_pushfstring(L, "accountant.%s: nothing added", self->ops->name);
    else
        push_summary(L, self);
    return 1;
}

static const pnl_row accountant_rows[] = {
    { "add", accountant_add, PNL_METHOD, PNL_NOTHING, "acc:add(e, count) -> acc",
      "Add the event, count times (1 when left out), in place.  All events must be for the same neighbours "
      "(acc.neighbours)." },
    { "epsilon", accountant_epsilon, PNL_METHOD, PNL_NOTHING, "acc:epsilon(delta) -> epsilon, order",
      "Smallest certified epsilon at delta in [0, 1) and the Renyi order that gives it: math.huge for pure "
      "composition, 0 where no order does (an infinite epsilon, or one that does not come from a Renyi curve).  A "
      "Renyi bound R at order alpha gives R + ln(1 - 1/alpha) - (ln delta + ln alpha)/(alpha - 1).  It holds for "
      "releases whose number was fixed before the first; where it depends on what they gave, use pn.ledger. Source: "
      "Canonne, Kamath, Steinke (2020), Proposition 12." },
    { "epsilon_interval", accountant_interval, PNL_METHOD, PNL_NOTHING, "acc:epsilon_interval(delta) -> low, high",
      "Certified bounds on the smallest epsilon at delta in [0, 1): high is the one that is charged; low is the "
      "smallest one that the composed privacy loss distributions of these events allow. Accountant pld only." },
    { "delta", accountant_delta, PNL_METHOD, PNL_NOTHING, "acc:delta(epsilon) -> number",
      "Smallest certified delta at epsilon >= 0, from 0 to 1." },
    { "rdp", accountant_rdp, PNL_METHOD, PNL_NOTHING, "acc:rdp(alpha) -> number",
      "The composed Renyi bound at order alpha, a number greater than 1 or math.huge." },
    { "rho", accountant_rho, PNL_FIELD, PNL_NOTHING, "acc.rho -> number",
      "The composed rho of zero-concentrated privacy; math.huge when an event has none." },
    { "method", accountant_method, PNL_FIELD, PNL_NOTHING, "acc.method -> string or nil",
      "How the last answer of accountant pld was found: \"loss distributions\", \"exact loss distribution\" of one "
      "release or of Gaussian noise alone, or, where these gave no smaller upper end, \"Renyi order\" and which (the "
      "interval's lower end is still that of the loss distributions). nil before a question, and of other "
      "accountants." },
    { "neighbours", accountant_neighbours, PNL_FIELD, PNL_NOTHING, "acc.neighbours -> string or nil",
      "The neighbouring relation of what was added; nil before." },
    { "__tostring", accountant_tostring, PNL_META, PNL_NOTHING, "tostring(acc) -> string",
      "What has been added; of accountant pld also the last interval with its method, and why it is wide where it is "
      "more than 1 % and 1e-4." },
    PNL_ROW_END,
};

static void free_accountant(void *accountant)
{
    pn_accountant_free(accountant);
}

const pnl_class pnl_accountant_class = { "pn.accountant",
                                         free_accountant,
                                         accountant_rows,
                                         "Adds events up and converts them to epsilon and delta.",
                                         NULL,
                                         NULL };

/* ---- the self-test ---- */

typedef struct kept_row {
    char claim[80], subject[80];
    double got, want;
    bool passed;
} kept_row;

typedef struct report {
    kept_row *rows;
    size_t count, room, failed;
} report;

static void free_report(void *self)
{
    pn_free(((report *)self)->rows);
    pn_free(self);
}

static pn_status keep_row(void *self, const pn_selftest_row *row, pn_err *err)
{
    report *all = self;
    kept_row *kept;

    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 128;
        kept_row *rows = pn_resize(all->rows, room, sizeof *rows);

        PN_TRY(pn_made(rows, err, "accountant.selftest: out of memory"));
        all->rows = rows;
        all->room = room;
    }
    kept = &all->rows[all->count++];
    (void)snprintf(kept->claim, sizeof kept->claim, "%s", row->claim);
    (void)snprintf(kept->subject, sizeof kept->subject, "%s", row->subject);
    kept->got = row->got;
    kept->want = row->want;
    kept->passed = row->passed;
    all->failed += !row->passed;
    return PN_OK;
}

static report *check_report(lua_State *L)
{
    return pnl_check(L, 1, &pnl_selftest_class);
}

PNL_GETTER(report_passed, check_report(L)->count - check_report(L)->failed);
PNL_GETTER(report_failed, check_report(L)->failed);

static int report_rows(lua_State *L)
{
    report *self = check_report(L);

    lua_createtable(L, (int)self->count, 0);
    for (size_t i = 0; i < self->count; i++) {
        const kept_row *row = &self->rows[i];

        lua_createtable(L, 0, 5);
        lua_pushstring(L, row->claim);
        lua_setfield(L, -2, "claim");
        lua_pushstring(L, row->subject);
        lua_setfield(L, -2, "subject");
        lua_pushnumber(L, row->got);
        lua_setfield(L, -2, "got");
        lua_pushnumber(L, row->want);
        lua_setfield(L, -2, "want");
        lua_pushboolean(L, row->passed);
        lua_setfield(L, -2, "passed");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    pnl_list(L);
    return 1;
}

/* One line a claim with how often it held; what failed is shown with its numbers. */
static int report_tostring(lua_State *L)
{
    report *self = check_report(L);
    luaL_Buffer text;
    char line[256];

    luaL_buffinit(L, &text);
    for (size_t i = 0; i < self->count; i++) {
        size_t held = 0, all = 0;
        bool seen = false;

        for (size_t j = 0; j < self->count; j++) {
            bool same = strcmp(self->rows[i].claim, self->rows[j].claim) == 0;

            seen = seen || (same && j < i);
            all += same;
            held += same && self->rows[j].passed;
        }
        if (seen)
            continue;
        (void)snprintf(line, sizeof line, "%-66s %3zu of %3zu\n", self->rows[i].claim, held, all);
        luaL_addstring(&text, line);
    }
    for (size_t i = 0; i < self->count; i++) {
        const kept_row *row = &self->rows[i];

        if (row->passed)
            continue;
        (void)snprintf(line, sizeof line, "FAILED  %s: %s (%.12g against %.12g)\n", row->subject, row->claim, row->got,
                       row->want);
        luaL_addstring(&text, line);
    }
    (void)snprintf(line, sizeof line, "%zu passed, %zu failed", self->count - self->failed, self->failed);
    luaL_addstring(&text, line);
    luaL_pushresult(&text);
    return 1;
}

static const pnl_row report_fields[] = {
    { "passed", report_passed, PNL_FIELD, PNL_NOTHING, "report.passed -> number", "How many claims held." },
    { "failed", report_failed, PNL_FIELD, PNL_NOTHING, "report.failed -> number",
      "How many claims did not hold; 0 is expected." },
    { "rows", report_rows, PNL_FIELD, PNL_NOTHING, "report.rows -> list of tables",
      "One table a claim: claim, subject, got, want, passed." },
    { "__tostring", report_tostring, PNL_META, PNL_NOTHING, "tostring(report) -> string",
      "A line for each kind of claim, and every failure with its numbers." },
    PNL_ROW_END,
};

static const pnl_class pnl_selftest_class = { "pn.selftest", free_report,
                                              report_fields, "What the accountants' self-test found.",
                                              NULL,          NULL };

static int selftest(lua_State *L)
{
    void **slot = pnl_newbox(L, &pnl_selftest_class);
    pn_err err = { 0 };

    *slot = pn_calloc(1, sizeof(report));
    if (!*slot)
        return pnl_no_memory(L, "accountant.selftest: out of memory");
    pnl_status(L, pn_selftest(NULL, NULL, keep_row, *slot, &err), &err);
    return 1;
}

static const pnl_row library_rows[] = {
    { "selftest", selftest, PNL_FUNCTION, PNL_NOTHING, "pn.accountant.selftest() -> report",
      "Check every event under every accountant: k times equals count k, order does not matter, full samples equal "
      "none, more costs more, and Renyi curves and loss distributions agree with the exact Gaussian and with optimal "
      "composition. Takes about a second; report.failed is 0 when all is well, and the report prints as a table." },
    PNL_ROW_END,
};

static int accountant_new(lua_State *L)
{
    const pn_accountant_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    char owner[64];
    pn_arg args[MAX_PARAMS];
    pn_accountant **slot;
    pn_err err;

    lua_settop(L, 1);
    (void)snprintf(owner, sizeof owner, "accountant.%s", ops->name);
    pnl_options(L, 1, owner, ops->params, args, NULL);
    slot = (pn_accountant **)pnl_newbox(L, &pnl_accountant_class);
    pnl_status(L, pn_accountant_from_args(slot, ops->name, args, &err), &err);
    return 1;
}

void pnl_open_accountant(lua_State *L)
{
    const pn_accountant_ops *const *table = pn_accountant_table();

    pnl_library(L, "accountant", "From events to epsilon and delta.", library_rows);
    for (size_t i = 0; table[i]; i++) {
        lua_pushlightuserdata(L, (void *)(size_t)table[i]);
        lua_pushcclosure(L, accountant_new, 1);
        lua_setfield(L, -2, table[i]->name);
        if (pn_param_count(table[i]->params) > 0)
            lua_pushfstring(L, "pn.accountant.%s{%s=} -> accountant", table[i]->name, table[i]->params[0].name);
        else
            lua_pushfstring(L, "pn.accountant.%s{} -> accountant", table[i]->name);
        pnl_reference(L, "accountant", table[i]->name, PNL_NOTHING, lua_tostring(L, -1), table[i]->doc,
                      table[i]->source, table[i]->params);
        lua_pop(L, 1);
    }
    lua_setfield(L, -2, "accountant");
    pnl_open_class(L, &pnl_accountant_class);
    pnl_open_class(L, &pnl_selftest_class);
}
