/* lledger.c -- pn.ledger: methods and fields of a privacy budget that is charged before noise is drawn.
 * Depends on: lledger.h, lprivacy_check.h.  Used by: lledger_open.c, every binding that takes a ledger. */
#include <math.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/privacy/lledger.h"
#include "bindings/privacy/lprivacy_check.h"
#include "bindings/privacy/lreceipt.h"
#include "privacy/ledger/ledger_watch.h"
#include "receipt/receipt.h"

static pn_ledger *check(lua_State *L)
{
    return pnl_check(L, 1, &pnl_ledger_class);
}

static const pn_budget *budget(lua_State *L)
{
    return pn_ledger_budget(check(L));
}

/* ---- charging ----
 * The ledger is looked up last: making a message may run a collector that runs code which closes it. */

static int ledger_price(lua_State *L)
{
    size_t count = pnl_opt_count(L, 3, "ledger:price");

    lua_pushnumber(L, pn_ledger_price(check(L), pnl_check_event(L, 2), count));
    return 1;
}

static int ledger_covers(lua_State *L)
{
    size_t count = pnl_opt_count(L, 3, "ledger:covers");
    pn_err err;
    pn_status status = pn_ledger_covers(check(L), pnl_check_event(L, 2), count, &err);

    if (status != PN_OK && status != PN_EBUDGET)
        pnl_status(L, status, &err);
    lua_pushboolean(L, status == PN_OK);
    if (status == PN_OK)
        return 1;
    lua_pushstring(L, err.message);
    return 2;
}

static int ledger_reserve(lua_State *L)
{
    size_t count = pnl_opt_count(L, 3, "ledger:reserve");
    pn_err err;

    pnl_status(L, pn_ledger_reserve(check(L), pnl_check_event(L, 2), count, &err), &err);
    lua_settop(L, 1);
    return 1;
}

/* Nobody knows whose records it is about, also when a run calls the function that spends. */
static pn_status by_hand(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err)
{
    const pn_ledger_watch *before = pn_ledger_watched(NULL);
    pn_status status = pn_ledger_spend(ledger, event, count, label, err);

    (void)pn_ledger_watched(before);
    return status;
}

static int ledger_spend(lua_State *L)
{
    size_t count = pnl_opt_count(L, 4, "ledger:spend");
    const char *label = "";
    pn_err err;

    if (!lua_isnoneornil(L, 3)) {
        if (lua_type(L, 3) != LUA_TSTRING)
            return pnl_error(L, "ledger:spend: label must be a string, got %s; the count comes third", pnl_text(L, 3));
        label = lua_tostring(L, 3);
        if (strlen(label) != lua_rawlen(L, 3))
            return pnl_error(L, "ledger:spend: label must not have a zero byte in it");
    }

    pnl_status(L, by_hand(check(L), pnl_check_event(L, 2), count, label, &err), &err);
    lua_settop(L, 1);
    return 1;
}

static void free_ledger(void *ledger)
{
    pn_ledger_free(ledger);
}

/* Boxes first, all of them empty: what pn_ledger_split returns is then owned at once. */
static int ledger_split(lua_State *L)
{
    pn_ledger **parts;
    size_t k = pnl_check_count(L, 2, "ledger:split: k");
    void ***slots;
    pn_err err;

    if (k > PN_LEDGER_PARTS)
        return pnl_error(L, "ledger:split: k must be at most %d, got %zu", PN_LEDGER_PARTS, k);
    luaL_checkstack(L, (int)k + 8, "ledger:split");
    parts = lua_newuserdatauv(L, k * sizeof(pn_ledger *), 0);
    slots = lua_newuserdatauv(L, k * sizeof(void **), 0);
    for (size_t i = 0; i < k; i++)
        slots[i] = pnl_newbox(L, &pnl_ledger_class);
    pnl_status(L, pn_ledger_split(check(L), k, parts, &err), &err);
    for (size_t i = 0; i < k; i++)
        *slots[i] = parts[i];
    return (int)k;
}

static int ledger_close(lua_State *L)
{
    pn_ledger_close(check(L));
    return 0;
}

static int ledger_retire(lua_State *L)
{
    pn_err err;

    pnl_status(L, pn_ledger_retire(check(L), &err), &err);
    return 0;
}

static int ledger_receipt(lua_State *L)
{
    const pn_ledger *self = check(L);
    char **slot = pnl_new_receipt(L);
    pn_err err;

    pnl_status(L, pn_ledger_receipt(slot, self, PNL_LUA_VERSION, &err), &err);
    return 1;
}

/* ---- fields ---- */

PNL_GETTER(ledger_remaining, pn_ledger_remaining(check(L)));
PNL_GETTER(ledger_spent, pn_ledger_spent(check(L)));
PNL_GETTER_KNOWN(ledger_epsilon, budget(L)->epsilon);
PNL_GETTER_IF(ledger_delta, !isnan(budget(L)->epsilon), budget(L)->delta);
PNL_GETTER_KNOWN(ledger_rho, budget(L)->rho);
PNL_GETTER(ledger_neighbours, pn_neighbours_names[budget(L)->neighbours]);
PNL_GETTER(ledger_teaching, budget(L)->teaching);
PNL_GETTER(ledger_name, pn_ledger_name(check(L)));
PNL_GETTER(ledger_path, pn_ledger_path(check(L)));
PNL_GETTER(ledger_ended, pn_ledger_ended(check(L)));
PNL_GETTER(ledger_theorem, pn_ledger_theorem(check(L)));
PNL_GETTER_IF(ledger_alpha, budget(L)->alpha > 0.0, budget(L)->alpha);
PNL_GETTER(ledger_filter, pnl_filter_names[pn_ledger_gaussian(check(L))]);
PNL_GETTER(ledger_recovered, pn_ledger_recovered(check(L)));

static int ledger_slack(lua_State *L)
{
    pn_slack slack = pn_ledger_slack(check(L));

    lua_createtable(L, 0, 2);
    lua_pushnumber(L, slack.epsilon);
    lua_setfield(L, -2, "epsilon");
    lua_pushnumber(L, slack.tail);
    lua_setfield(L, -2, "tail");
    pnl_list(L);
    return 1;
}

static int ledger_orders(lua_State *L)
{
    pn_ledger *self = check(L);
    size_t count = pn_ledger_order_count(self);

    if (count == 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        bool alive;

        lua_createtable(L, 0, 2);
        lua_pushnumber(L, pn_ledger_order(self, i, &alive));
        lua_setfield(L, -2, "order");
        lua_pushboolean(L, alive);
        lua_setfield(L, -2, "alive");
        pnl_list(L);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    pnl_list(L);
    return 1;
}

/* ---- the class ---- */

static const pnl_row ledger_rows[] = {
    { "price", ledger_price, PNL_METHOD, PNL_NOTHING, "L:price(e, count) -> number",
      "What count (1 when left out) times the event costs by itself, in the budget's unit: epsilon at the budget's "
      "delta, rho, or the Renyi divergence of the budget's order.  Spends nothing." },
    { "covers", ledger_covers, PNL_METHOD, PNL_NOTHING, "L:covers(e, count) -> true, or false and why",
      "Whether count (1 when left out) times the event would be admitted now, here and in every budget above.  Changes "
      "nothing." },
    { "reserve", ledger_reserve, PNL_METHOD, PNL_NOTHING | PNL_BUDGETS, "L:reserve(e, count) -> L",
      "Fix the filter's orders for a run of count charges of the event; charges nothing, raises when they are not "
      "covered." },
    { "spend", ledger_spend, PNL_METHOD, PNL_NOTHING | PNL_BUDGETS, "L:spend(e, label, count) -> L",
      "Charge count (1 when left out) times the event under the label, in place.  The event must be for the budget's "
      "neighbours.  A refusal raises with Requested, Remaining and Difference, and charges nothing.  With a file the "
      "charge is on the disk on return; a slice charges the budgets above it too.  Guarantee: whatever was chosen "
      "after seeing earlier outputs, everything admitted together is within the budget (L.theorem).  Source: Feldman, "
      "Zrnic (2021); Lecuyer (2021)." },
    { "split", ledger_split, PNL_METHOD, PNL_NOTHING | PNL_BUDGETS, "L:split(k) -> k ledgers",
      "k equal parts that add up to this budget, which is then used up; a request for L.epsilon / k fits a part "
      "however it was rounded.  Only before anything has been spent; a ledger that was split into k gives the same "
      "parts again.  The parts add up by basic composition however their charges interleave.  Source: Lyu (2022); "
      "Vadhan, Zhang (2023)." },
    { "report", pnl_ledger_report, PNL_METHOD, PNL_NOTHING, "L:report() -> table",
      "One row {label=, words=, event=, count=, price=} for each charge, with spent, remaining, odometer and summary; "
      "words and event as e.words and print(e).  Prints as a table, with the words.  Charges of slices stand under "
      "\"name: label\"." },
    { "receipt", ledger_receipt, PNL_METHOD, PNL_NOTHING, "L:receipt() -> receipt",
      "All charges with their events' parameters, of slices and parts too, the budget and what holds wherever the "
      "analyst stops, as JSON from which others work out every price again; r.json, r:save(path).  Error: a budget "
      "that is kept in another process." },
    { "odometer", pnl_ledger_odometer, PNL_METHOD, PNL_NOTHING, "L:odometer{delta=, first=, uniform=} -> table",
      "How much has been spent, valid wherever the analyst stops: {epsilon=, delta=, level=, statement=, naive=, "
      "naive_label=}.  Filters at epsilon first * 2^k with delta/(k(k+1)) each; the smallest that is not exhausted.  "
      "For every rule that stops by looking at the outputs, (epsilon, delta) holds with the level then shown.  uniform "
      "= true: with probability 1 - delta the loss is below it at all times.  delta and first must be fixed "
      "beforehand; left out they follow from the budget.  naive is L.spent, which is not valid at data-dependent "
      "stopping.  Source: Lecuyer (2021)." },
    { "close", ledger_close, PNL_METHOD, PNL_NOTHING | PNL_BUDGETS, "L:close()",
      "No more charges through this object, its slices and parts; lets go of the file.  What is left of a budget in a "
      "file can be spent after opening it again." },
    { "retire", ledger_retire, PNL_METHOD, PNL_NOTHING | PNL_BUDGETS, "L:retire()",
      "No more charges, for good: every later one is refused, in slices and parts too, and after the file is opened "
      "again." },
    { "remaining", ledger_remaining, PNL_FIELD, PNL_NOTHING, "L.remaining -> number",
      "What a request may still cost, in the budget's unit.  Under an (epsilon, delta) filter: the largest epsilon of "
      "a zCDP release (a Gaussian one under the Gaussian filter) that would be admitted." },
    { "spent", ledger_spent, PNL_FIELD, PNL_NOTHING, "L.spent -> number",
      "Plain composition of everything charged, in the budget's unit: naive (not valid at data-dependent stopping; see "
      "L:odometer)." },
    { "epsilon", ledger_epsilon, PNL_FIELD, PNL_NOTHING, "L.epsilon -> number or nil", "The budget's epsilon." },
    { "delta", ledger_delta, PNL_FIELD, PNL_NOTHING, "L.delta -> number or nil", "The budget's delta; 0 for pure." },
    { "rho", ledger_rho, PNL_FIELD, PNL_NOTHING, "L.rho -> number or nil", "The budget's rho." },
    { "alpha", ledger_alpha, PNL_FIELD, PNL_NOTHING, "L.alpha -> number or nil",
      "The Renyi order of which epsilon is the limit; nil for other budgets." },
    { "filter", ledger_filter, PNL_FIELD, PNL_NOTHING, "L.filter -> string",
      "\"renyi\" or \"gaussian\"; before the first charge, what was asked for." },
    { "theorem", ledger_theorem, PNL_FIELD, PNL_NOTHING, "L.theorem -> string",
      "The theorem by which everything admitted stays within the budget, with its source." },
    { "neighbours", ledger_neighbours, PNL_FIELD, PNL_NOTHING, "L.neighbours -> string",
      "The neighbouring relation that every charge must have." },
    { "teaching", ledger_teaching, PNL_FIELD, PNL_NOTHING, "L.teaching -> boolean",
      "Whether seeded noise is accepted; statements then say that there is no privacy." },
    { "orders", ledger_orders, PNL_FIELD, PNL_NOTHING, "L.orders -> list of {order=, alive=}, or nil",
      "The Renyi orders of the filter, fixed before the first charge; nil before, under rho and the Gaussian filter." },
    { "slack", ledger_slack, PNL_FIELD, PNL_NOTHING, "L.slack -> {epsilon=, tail=}",
      "What the noise as drawn may add to the statement about ideal noise, in total.  (epsilon, delta) and pure "
      "budgets have charged it; a budget of rho or of one order is approximate by it." },
    { "name", ledger_name, PNL_FIELD, PNL_NOTHING, "L.name -> string or nil", "The name of a slice or part." },
    { "path", ledger_path, PNL_FIELD, PNL_NOTHING, "L.path -> string or nil", "The file that keeps the charges." },
    { "ended", ledger_ended, PNL_FIELD, PNL_NOTHING, "L.ended -> string or nil",
      "Why no charge will be admitted any more; nil while the budget is open." },
    { "recovered", ledger_recovered, PNL_FIELD, PNL_NOTHING, "L.recovered -> boolean",
      "Whether opening the file cut off a torn last record: a charge that never returned, so nothing was released for "
      "it." },
    { "__tostring", pnl_ledger_tostring, PNL_META, PNL_NOTHING, "tostring(L) -> string",
      "The budget, what is spent and what remains." },
    PNL_ROW_END,
};

const pnl_class pnl_ledger_class = {
    "pn.ledger", free_ledger,
    ledger_rows, "A privacy budget: charged before noise is drawn, refusing what it does not cover.",
    NULL,        NULL
};
