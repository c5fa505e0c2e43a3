/* lledger_report.c -- what a ledger says of itself: one line, the table of charges, the odometer.
 * Depends on: lledger.h, lprivacy_check.h.  Used by: lledger.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/privacy/lledger.h"
#include "bindings/privacy/lprivacy_check.h"
#include "core/text.h"
#include "privacy/text/event_words.h"

#define NAIVE "naive (not valid at data-dependent stopping)"

static pn_ledger *check(lua_State *L)
{
    return pnl_check(L, 1, &pnl_ledger_class);
}

/* "epsilon=1, delta=1e-06, replace_one": pushes it. */
void pnl_push_budget(lua_State *L, const pn_budget *b)
{
    char text[160];

    if (!isnan(b->rho))
        (void)snprintf(text, sizeof text, "rho=%.6g, %s", b->rho, pn_neighbours_names[b->neighbours]);
    else if (b->alpha > 0.0)
        (void)snprintf(text, sizeof text, "alpha=%.6g, epsilon=%.6g, %s", b->alpha, b->epsilon,
                       pn_neighbours_names[b->neighbours]);
    else
        (void)snprintf(text, sizeof text, "epsilon=%.6g, delta=%.6g, %s%s", b->epsilon, b->delta,
                       pn_neighbours_names[b->neighbours], b->gaussian ? ", Gaussian filter" : "");
    lua_pushstring(L, text);
}

const char *pnl_budget_warning(const pn_budget *b)
{
    return b->teaching ? "; teaching: noise may be simulated: no privacy" : "";
}

/* ---- the report ---- */

static const char report_key = 'p', odometer_key = 'o';

#define WIDEST      26 /* of a label */
#define BOTH_WIDEST 58 /* of label and event, which a line has beside count and price */

/* Length of the longest t[i].field, at least that of the heading (and at most `most`). */
static int width_of(lua_State *L, int table, const char *field, size_t rows, size_t at_least, size_t most)
{
    size_t width = at_least;

    for (size_t i = 1; i <= rows; i++) {
        const char *text;
        size_t length;

        lua_rawgeti(L, table, (lua_Integer)i);
        lua_getfield(L, -1, field);
        text = luaL_tolstring(L, -1, &length);
        length = pn_text_columns(text, length);
        width = length > width ? length : width;
        lua_pop(L, 3);
    }
    return (int)(width > most ? most : width);
}

static void push_row(lua_State *L, int row, int label_width, int event_width)
{
    char text[600], label[PN_TEXT_CELL_BYTES(BOTH_WIDEST)], event[PN_TEXT_CELL_BYTES(BOTH_WIDEST)];

    lua_getfield(L, row, "label");
    lua_getfield(L, row, "words");
    lua_getfield(L, row, "count");
    lua_getfield(L, row, "price");
    (void)pn_text_cell(label, luaL_tolstring(L, row + 1, NULL), (size_t)label_width, false);
    (void)pn_text_cell(event, luaL_tolstring(L, row + 2, NULL), (size_t)event_width, false);
    (void)snprintf(text, sizeof text, "%s  %s  %6.0f  %10.6g\n", label, event, lua_tonumber(L, row + 3),
                   lua_tonumber(L, row + 4));
    lua_settop(L, row);
    lua_pushstring(L, text);
}

static int report_tostring(lua_State *L)
{
    char heading[400];
    int label_width, event_width;
    size_t rows;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    rows = lua_rawlen(L, 1);
    label_width = width_of(L, 1, "label", rows, 5, WIDEST);
    event_width = width_of(L, 1, "words", rows, 5, BOTH_WIDEST - (size_t)label_width);
    (void)snprintf(heading, sizeof heading, "%-*s  %-*s  %6s  %10s\n", label_width, "label", event_width, "event",
                   "count", "price");
    lua_pushstring(L, heading);
    for (size_t i = 1; i <= rows; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i);
        push_row(L, 3, label_width, event_width);
        lua_remove(L, 3);
        lua_concat(L, 2);
    }
    lua_getfield(L, 1, "summary");
    lua_concat(L, 2);
    pnl_wrap_lines(L);
    return 1;
}

static void set_class(lua_State *L, const char *key, const char *name, lua_CFunction to_string)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 2);
        lua_pushcfunction(L, to_string);
        lua_setfield(L, -2, "__tostring");
        lua_pushstring(L, name);
        lua_setfield(L, -2, "__name");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, key);
    }
    lua_setmetatable(L, -2);
}

static void push_entry(lua_State *L, const pn_ledger *self, size_t index)
{
    pn_charge charge = pn_ledger_entry(self, index);

    char words[400];

    pn_event_words(charge.event, words, sizeof words);
    lua_createtable(L, 0, 5);
    lua_pushstring(L, charge.label);
    lua_setfield(L, -2, "label");
    lua_pushstring(L, words);
    lua_setfield(L, -2, "words");
    pnl_push_event_text(L, charge.event);
    lua_setfield(L, -2, "event");
    lua_pushinteger(L, (lua_Integer)charge.count);
    lua_setfield(L, -2, "count");
    lua_pushnumber(L, pn_ledger_price(self, charge.event, charge.count));
    lua_setfield(L, -2, "price");
}

/* The lines below the table: pushes them. */
static void push_summary(lua_State *L, const pn_ledger *self)
{
    pn_slack slack = pn_ledger_slack(self);
    pn_odometer options = pn_ledger_odometer_default(self);
    const pn_budget *budget = pn_ledger_budget(self);
    const char *ended = pn_ledger_ended(self);
    char line[400];
    double level;

    pnl_push_budget(L, pn_ledger_budget(self));
    (void)snprintf(line, sizeof line, ": spent %.6g, remaining %.6g%s", pn_ledger_spent(self),
                   pn_ledger_remaining(self), pnl_budget_warning(pn_ledger_budget(self)));
    lua_pushfstring(L, "budget %s%s", lua_tostring(L, -1), line);
    lua_remove(L, -2);
    level = pn_ledger_odometer(self, &options, NULL);
    if (level < budget->epsilon || isnan(budget->epsilon))
        (void)snprintf(line, sizeof line,
                       "\nspent is " NAIVE "; odometer: epsilon %.6g at delta %.6g, wherever the analyst stops", level,
                       options.delta);
    else
        (void)snprintf(line, sizeof line, "\nspent is " NAIVE "; the budget itself holds wherever the analyst stops");
    lua_pushstring(L, line);
    lua_pushfstring(L, "\nby %s", pn_ledger_theorem(self));
    (void)snprintf(line, sizeof line, "\nnoise as drawn: epsilon %.3g and tails %.3g beyond the ideal, %s",
                   slack.epsilon, slack.tail,
                   pn_ledger_budget(self)->delta > 0.0 || slack.tail == 0.0 ? "charged" : "so approximate by them");
    lua_pushstring(L, slack.epsilon > 0.0 || slack.tail > 0.0 ? line : "");
    lua_pushfstring(L, "%s%s", ended ? "\nno more charges: " : "", ended ? ended : "");
    lua_pushfstring(L, "%s%s", pn_ledger_path(self) ? "\nfile " : "", pn_ledger_path(self) ? pn_ledger_path(self) : "");
    lua_concat(L, 6);
}

static void push_odometer(lua_State *L, const pn_ledger *self, const pn_odometer *options);

int pnl_ledger_report(lua_State *L)
{
    pn_ledger *self = check(L);
    size_t rows = pn_ledger_entries(self);
    pn_odometer options = pn_ledger_odometer_default(self);

    lua_createtable(L, (int)rows, 4);
    for (size_t i = 0; i < rows; i++) {
        push_entry(L, self, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushnumber(L, pn_ledger_spent(self));
    lua_setfield(L, -2, "spent");
    lua_pushnumber(L, pn_ledger_remaining(self));
    lua_setfield(L, -2, "remaining");
    push_odometer(L, self, &options);
    lua_setfield(L, -2, "odometer");
    push_summary(L, self);
    lua_setfield(L, -2, "summary");
    set_class(L, &report_key, "pn.ledger.report", report_tostring);
    return 1;
}

/* ---- the odometer ---- */

static int odometer_tostring(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, 1, "statement");
    lua_getfield(L, 1, "naive_label");
    lua_getfield(L, 1, "naive");
    lua_pushfstring(L, "odometer: %s\n%s: %f", luaL_tolstring(L, 2, NULL), luaL_tolstring(L, 3, NULL),
                    lua_tonumber(L, 4));
    pnl_wrap_lines(L);
    return 1;
}

static void push_odometer(lua_State *L, const pn_ledger *self, const pn_odometer *options)
{
    size_t level;
    double epsilon = pn_ledger_odometer(self, options, &level);
    char statement[200];

    lua_createtable(L, 0, 7);
    lua_pushnumber(L, epsilon);
    lua_setfield(L, -2, "epsilon");
    lua_pushnumber(L, options->delta);
    lua_setfield(L, -2, "delta");
    lua_pushinteger(L, (lua_Integer)level);
    lua_setfield(L, -2, "level");
    if (options->uniform)
        (void)snprintf(statement, sizeof statement,
                       "with probability 1 - %.6g the loss is below epsilon %.6g at all times", options->delta,
                       epsilon);
    else
        (void)snprintf(statement, sizeof statement,
                       "(epsilon %.6g, delta %.6g) with this level, wherever the analyst stops", epsilon,
                       options->delta);
    lua_pushstring(L, statement);
    lua_setfield(L, -2, "statement");
    lua_pushnumber(L, pn_ledger_spent(self));
    lua_setfield(L, -2, "naive");
    lua_pushliteral(L, NAIVE);
    lua_setfield(L, -2, "naive_label");
    set_class(L, &odometer_key, "pn.ledger.odometer", odometer_tostring);
}

static const pn_param odometer_params[] = {
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL, "the delta of the statement; the budget's when left out" },
    { "first", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "half of the first level; a 32nd of the budget's epsilon when left out" },
    { "uniform", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "a bound that holds at all times at once" },
    PN_PARAM_END,
};

int pnl_ledger_odometer(lua_State *L)
{
    pn_ledger *self = check(L);
    pn_odometer options = pn_ledger_odometer_default(self);
    pn_arg args[3];
    pn_err err;

    pnl_options(L, 2, "ledger:odometer", odometer_params, args, NULL);
    pnl_status(L, pn_args_check("ledger:odometer", odometer_params, args, &err), &err);
    options.uniform = args[2].flag;
    if (args[0].given)
        options.delta = args[0].real;
    if (args[1].given)
        options.first = args[1].real;
    push_odometer(L, self, &options);
    return 1;
}
