/* lcurated.c -- curated states, in which the scripts of analysts run who are not trusted: what the table of rows does
 * not declare safe is not there, and everything is charged to one ledger.
 * Depends on: pnl.h, privacy/ledger/ledger.h.  Used by: pnl.c (classes), module.c (libraries),
 * bindings that read ledgers, curator.c.
 *
 * The rule is one line (for_analysts), and what it reads is the one table that help prints.
 * Denied is what nobody has judged. */
#include <stdio.h>
#include <string.h>

#include "bindings/curator/curator_impl.h"

static const char curated_key = 'c'; /* in the registry: the curator's ledger */
static const char charges_key = 'n'; /* and how it has grown under this script */

static bool for_analysts(pnl_reveals reveals)
{
    return reveals == PNL_NOTHING || reveals == PNL_PAID;
}

void pnl_curate(lua_State *L, struct pn_ledger *ledger)
{
    void **slot;

    lua_pushboolean(L, true); /* before the first class is made */
    lua_rawsetp(L, LUA_REGISTRYINDEX, &curated_key);
    slot = pnl_newbox(L, &pnl_ledger_class);
    *slot = pn_ledger_keep(ledger);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &curated_key);
}

bool pnl_curated(lua_State *L)
{
    bool curated = lua_rawgetp(L, LUA_REGISTRYINDEX, &curated_key) != LUA_TNIL;

    lua_pop(L, 1);
    return curated;
}

/* ---- words ---- */

const char *pnl_reveals_name(pnl_reveals reveals)
{
    static const char *const names[] = { NULL, "nothing", "paid", "raw" };

    return names[reveals & PNL_REVEALS];
}

typedef struct touch {
    pnl_reveals bit;
    const char *name, *why;
} touch;

static const touch touches[PNL_TOUCHES] = {
    { PNL_FILES, "files", "it reads or writes files; return or print what you have found" },
    { PNL_PROCESSES, "processes", "it reaches other processes and machines" },
    { PNL_CLOCK, "clock", "it shows time that was taken, which depends on the records" },
    { PNL_CALLS_BACK, "callbacks",
      "it hands values that were not released to a function of yours; use one that is traced, such as loss.glm or "
      "reg.separable" },
    { PNL_BUDGETS, "budgets",
      "budgets are the curator's; what you ask is charged to its ledger, and `budget` has what remains" },
    { PNL_SEEDED, "seeded", "noise that can be repeated protects nobody; leave rng out" },
    { PNL_FAILS, "failure", "whether it fails depends on the records" },
    { PNL_LOADS, "modules", "it loads a module" },
};

const char *pnl_touches_text(pnl_reveals reveals, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < PNL_TOUCHES; i++) {
        if ((reveals & touches[i].bit) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", touches[i].name);
    }
    return used ? text : NULL;
}

static const char *why_not(pnl_reveals reveals)
{
    for (size_t i = 0; i < PNL_TOUCHES; i++) {
        if (reveals & touches[i].bit)
            return touches[i].why;
    }
    if ((reveals & PNL_REVEALS) == PNL_RAW)
        return "it computes values from the records without noise; train with a budget, or ask a mechanism";
    return "what it reveals is not declared";
}

/* ---- refusing ---- */

/* The words are on the stack, and the curator's host is told that it was a refusal. */
static int raise_refusal(lua_State *L)
{
    pn_err err;
    const char *text = lua_tostring(L, -1);

    pnl_status(L, pn_fail(&err, PN_EPRIVACY, "%s", text), &err);
    return 0;
}

void pnl_refuse_analyst(lua_State *L, const char *what, const char *why)
{
    if (!pnl_curated(L))
        return;
    lua_pushfstring(L, "%s is not available to analysts: %s", what, why);
    (void)raise_refusal(L);
}

void pnl_refuse_strict(lua_State *L, const char *owner, const pn_param *params, const pn_arg *args, const char *why)
{
    size_t strict = pn_param_find(params, "strict");

    if (strict < pn_param_count(params) && args[strict].given && args[strict].flag)
        pnl_refuse_analyst(L, lua_pushfstring(L, "%s: strict = true", owner), why);
}

/* upvalue 1: the words */
static int refuse(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    return raise_refusal(L);
}

/* On the top is a function that refuses: a table that refuses to be called or looked into takes its place. */
static void refuse_library(lua_State *L)
{
    static const char *const ways[] = { "__call", "__index", "__newindex" };
    int function = lua_gettop(L);

    lua_newtable(L);
    lua_createtable(L, 0, 4);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        lua_pushvalue(L, function);
        lua_setfield(L, -2, ways[i]);
    }
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_replace(L, function);
}

static void push_refusal(lua_State *L, const char *what, pnl_reveals reveals)
{
    lua_pushfstring(L, "%s is not available to analysts: %s", what, why_not(reveals));
    lua_pushcclosure(L, refuse, 1);
}

/* ---- private steps of a user's own solver ---- */

static const char step_key = 's'; /* in the registry: whether one is being made */

static bool in_private_step(lua_State *L)
{
    bool within = lua_rawgetp(L, LUA_REGISTRYINDEX, &step_key) != LUA_TNIL && lua_toboolean(L, -1);

    lua_pop(L, 1);
    return within;
}

bool pnl_private_step(lua_State *L, bool within)
{
    bool before = in_private_step(L);

    lua_pushboolean(L, within);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &step_key);
    return before;
}

void pnl_refuse_in_step(lua_State *L, const char *what)
{
    pn_err err;

    if (in_private_step(L))
        pnl_status(
            L,
            pn_fail(&err, PN_EPRIVACY,
                    "%s: raw numbers inside a private step; ask the oracle, as in ask:gradient(s.x), or run with "
                    "privacy=false",
                    what),
            &err);
}

/* upvalue 1: the row */
static int raw_function(lua_State *L)
{
    const pnl_row *row = lua_touserdata(L, lua_upvalueindex(1));

    pnl_refuse_in_step(L, row->name);
    return row->fn(L);
}

void pnl_push_function(lua_State *L, const char *place, const char *separator, const pnl_row *row)
{
    char what[100];

    if (!pnl_curated(L) && (row->reveals & PNL_REVEALS) == PNL_RAW) {
        lua_pushlightuserdata(L, (void *)(size_t)row);
        lua_pushcclosure(L, raw_function, 1);
        return;
    }
    if (for_analysts(row->reveals) || !pnl_curated(L)) {
        lua_pushcfunction(L, row->fn);
        return;
    }
    (void)snprintf(what, sizeof what, "%s%s%s", place, separator, row->name);
    push_refusal(L, what, row->reveals);
}

/* ---- the ledger ---- */

/* Whoever asks for the ledger may have been charged since: a script must not fill the host's memory with charges that
 * cost nothing. */
static void limit_charges(lua_State *L)
{
    const pn_ledger *ledger;
    pnl_growth *so_far;
    pn_err err;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &curated_key);
    ledger = pnl_check(L, -1, &pnl_ledger_class);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &charges_key) == LUA_TNIL) {
        so_far = lua_newuserdatauv(L, sizeof *so_far, 0);
        *so_far = (pnl_growth){ pn_ledger_entries(ledger), 0 };
        lua_rawsetp(L, LUA_REGISTRYINDEX, &charges_key);
        lua_pop(L, 2);
        return;
    }
    so_far = lua_touserdata(L, -1);
    lua_pop(L, 2);
    if (!pnl_growth_allowed(so_far, ledger))
        pnl_status(L, pnl_growth_refused(&err), &err);
}

const char pnl_own_budget = 'o';

bool pnl_on_own_budget(lua_State *L, int options)
{
    bool own = false;

    if (lua_istable(L, options)) {
        lua_getfield(L, options, "ledger");
        own = lua_touserdata(L, -1) == &pnl_own_budget;
        lua_pop(L, 1);
    }
    return own;
}

void pnl_push_ledger(lua_State *L, int options, const char *owner)
{
    bool curated = lua_rawgetp(L, LUA_REGISTRYINDEX, &curated_key) != LUA_TNIL;

    lua_pop(L, 1);
    if (pnl_on_own_budget(L, options)) {
        lua_pushnil(L);
        return;
    }
    if (lua_istable(L, options))
        lua_getfield(L, options, "ledger");
    else
        lua_pushnil(L);
    if (!curated)
        return;
    if (!lua_isnil(L, -1)) {
        lua_pushfstring(L, "%s: the option ledger", owner);
        pnl_refuse_analyst(L, lua_tostring(L, -1), "everything is charged to the curator's; leave it out");
    }
    lua_pop(L, 1);
    limit_charges(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &curated_key);
}

/* ---- libraries ---- */

/* What the reference says of the entry `name`; 0 for what it does not have. */
static pnl_reveals judged(lua_State *L, int reference, const char *name)
{
    pnl_reveals found = 0;

    if (lua_getfield(L, reference, name) == LUA_TTABLE && lua_getfield(L, -1, "reveals") == LUA_TSTRING) {
        for (pnl_reveals each = PNL_NOTHING; each <= PNL_RAW; each++) {
            if (strcmp(lua_tostring(L, -1), pnl_reveals_name(each)) == 0)
                found = each;
        }
        (void)lua_getfield(L, -2, "touches");
        for (size_t i = 0; found && i < PNL_TOUCHES && lua_isstring(L, -1); i++) {
            if (strstr(lua_tostring(L, -1), touches[i].name))
                found |= touches[i].bit;
        }
        lua_pop(L, 1);
    }
    lua_settop(L, reference);
    return found;
}

static int missing(lua_State *L)
{
    lua_pushfstring(L, "%s%s is not available to analysts: it does not exist, or what it reveals is not declared",
                    lua_tostring(L, lua_upvalueindex(1)), pnl_text(L, 2));
    return raise_refusal(L);
}

static int unchanging(lua_State *L)
{
    return luaL_error(L, "%s cannot be changed", lua_tostring(L, lua_upvalueindex(1)));
}

/* A new metatable for the library `name` on the top, with __call and __tostring of the old one at `old`. */
static void set_metatable(lua_State *L, int old, const char *name)
{
    static const char *const taken[] = { "__call", "__tostring", "__name" };

    lua_createtable(L, 0, 6);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (luaL_getmetafield(L, old, taken[i]) != LUA_TNIL)
            lua_setfield(L, -2, taken[i]);
    }
    lua_pushfstring(L, "pn.%s%s", name, name[0] ? "." : "");
    lua_pushcclosure(L, missing, 1);
    lua_setfield(L, -2, "__index");
    lua_pushfstring(L, "pn%s%s", name[0] ? "." : "", name);
    lua_pushcclosure(L, unchanging, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

/* Push the place of `key` in the library `name`. */
static const char *push_place(lua_State *L, const char *name, const char *key)
{
    return name[0] ? lua_pushfstring(L, "%s.%s", name, key) : lua_pushstring(L, key);
}

#define DEPTH 4 /* pn.data.synthetic.lasso */

/* Push what analysts get of the value on the top, which is replaced: a copy of a library, the value, or a refusal. */
static void curate(lua_State *L, int reference, const char *name, int depth)
{
    int value = lua_gettop(L);
    pnl_reveals reveals;
    char what[100];

    luaL_checkstack(L, 12, "curator");
    lua_pushvalue(L, reference);
    reveals = name[0] ? judged(L, lua_gettop(L), name) : PNL_NOTHING;
    lua_settop(L, value);
    if (!for_analysts(reveals) || depth == DEPTH) {
        (void)snprintf(what, sizeof what, "pn.%s", name);
        push_refusal(L, what, reveals);
        if (lua_istable(L, value))
            refuse_library(L);
    } else if (lua_istable(L, value)) {
        lua_newtable(L);
        lua_pushnil(L);
        while (lua_next(L, value)) {
            if (lua_type(L, -2) == LUA_TSTRING) {
                const char *place = push_place(L, name, lua_tostring(L, -2));

                lua_insert(L, -2); /* key, place, value */
                curate(L, reference, place, depth + 1);
                lua_pushvalue(L, -3);
                lua_insert(L, -2);
                lua_rawset(L, value + 1);
                lua_pop(L, 1);
            } else {
                lua_pop(L, 1);
            }
        }
        set_metatable(L, value, name);
    } else {
        return;
    }
    lua_replace(L, value);
    lua_settop(L, value);
}

void pnl_curate_library(lua_State *L)
{
    int library = lua_gettop(L);

    if (!pnl_curated(L))
        return;
    pnl_push_reference(L);
    lua_pushvalue(L, library);
    curate(L, library + 1, "", 0);
    lua_replace(L, library);
    lua_settop(L, library);
}
