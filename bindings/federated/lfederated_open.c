/* lfederated_open.c -- pn.federated.in_process and pn.federated.server: transports from options.
 * Depends on: lfederated.h.  Used by: lfederated.c. */
#include <string.h>

#include "bindings/federated/lfederated.h"
#include "core/size.h"
#include "federated/server/server.h"

/* ---- text among options ---- */

const char *pnl_text_option(lua_State *L, int options, const char *owner, const char *name)
{
    if (!lua_istable(L, options) || lua_getfield(L, options, name) == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TSTRING)
        pnl_error(L, "%s: %s must be a string, got %s", owner, name, pnl_got(L, -1));
    if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        pnl_error(L, "%s: %s must not have a zero byte in it", owner, name);
    if (lua_rawlen(L, -1) == 0)
        pnl_error(L, "%s: %s is empty", owner, name);
    return lua_tostring(L, -1);
}

const char *pnl_required_text(lua_State *L, int options, const char *owner, const char *name, const char *is)
{
    const char *text = pnl_text_option(L, options, owner, name);

    if (!text)
        pnl_error(L, "%s: %s is missing: %s", owner, name, is);
    return text;
}

/* ---- in this process ---- */

static const char *const table_type[] = { "list", NULL };

enum { IN_PARTIES, IN_COLUMNS, IN_OWN };

static const pn_param in_process_params[] = {
    { "parties", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "K, how many parties share the columns between them (or give columns)" },
    { "columns", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "how many columns each party has, in order; about d/K each when left out" },
    PN_PARAM_END,
};

/* Read by hand; the row is for help and completion. */
static const pn_param ledgers_param = {
    "ledgers",
    PN_OBJECT,
    PN_OPTIONAL,
    PN_ANY,
    0.0,
    table_type,
    "of pn.ledger, each party's own; when left out each party has one of exactly its part of the plan"
};

static size_t *read_columns(lua_State *L, const pn_vec *given)
{
    size_t *columns = lua_newuserdatauv(L, given->n * sizeof *columns + 1, 0);

    for (size_t k = 0; k < given->n; k++) {
        double value = given->data[k];

        if (!pn_size_from(&columns[k], value) || columns[k] == 0)
            pnl_error(L, "federated.in_process: columns[%zu] must be a whole number from 1 to 2^48, got %.14g", k + 1,
                      value);
    }
    return columns;
}

/* The list at the top into an array, which is pushed; the box at `box` keeps them. */
static pn_ledger **read_ledgers(lua_State *L, int box, size_t parties)
{
    int list = lua_gettop(L);
    pn_ledger **ledgers;

    if (!lua_istable(L, list))
        pnl_error(L, "federated.in_process: ledgers must be a list of pn.ledger, one for each party, got %s",
                  pnl_got(L, list));
    if (lua_rawlen(L, list) != parties)
        pnl_error(L, "federated.in_process: ledgers has %zu entries for %zu parties", (size_t)lua_rawlen(L, list),
                  parties);
    ledgers = lua_newuserdatauv(L, parties * sizeof(pn_ledger *), 0);
    for (size_t k = 0; k < parties; k++) {
        lua_rawgeti(L, list, (lua_Integer)k + 1);
        ledgers[k] = pnl_test(L, -1, &pnl_ledger_class);
        if (!ledgers[k])
            pnl_error(L, "federated.in_process: ledgers[%zu] must be an open pn.ledger, got %s", k + 1, pnl_got(L, -1));
        pnl_keep(L, box, -1);
        lua_pop(L, 1);
    }
    return ledgers;
}

static int in_process(lua_State *L)
{
    static const char *const extra[] = { "ledgers", NULL };
    pn_in_process_options options = { 0 };
    pn_arg args[IN_OWN];
    pn_transport **slot;
    pn_err err;
    int box;

    lua_settop(L, 1);
    pnl_options(L, 1, "federated.in_process", in_process_params, args, extra);
    pnl_status(L, pn_args_check("federated.in_process", in_process_params, args, &err), &err);
    if (!args[IN_PARTIES].given && !args[IN_COLUMNS].given)
        return pnl_error(L,
                         "federated.in_process: say how many parties there are: parties = 4, or columns = {3, 3, 2}");
    options.parties = args[IN_PARTIES].given ? args[IN_PARTIES].count : args[IN_COLUMNS].vector.n;
    if (args[IN_COLUMNS].given && args[IN_COLUMNS].vector.n != options.parties)
        return pnl_error(L, "federated.in_process: columns has %zu entries for %zu parties", args[IN_COLUMNS].vector.n,
                         options.parties);
    if (options.parties == 0 || options.parties > PN_PARTIES_MAX)
        return pnl_error(L, "federated.in_process: parties must be a whole number from 1 to %d, got %zu",
                         PN_PARTIES_MAX, options.parties);
    if (args[IN_COLUMNS].given)
        options.columns = read_columns(L, &args[IN_COLUMNS].vector);
    slot = pnl_new_transport(L);
    box = lua_gettop(L);
    if (lua_istable(L, 1) && lua_getfield(L, 1, "ledgers") != LUA_TNIL)
        options.ledgers = read_ledgers(L, box, options.parties);
    pnl_status(L, pn_transport_in_process(slot, &options, &err), &err);
    lua_settop(L, box);
    return 1;
}

/* ---- over sockets ---- */

enum { SERVER_TIMEOUT, SERVER_OWN };

static const char *const string_type[] = { "string", NULL };
static const char *const function_type[] = { "function", NULL };

/* The first row is read by table, the others by hand. */
static const pn_param server_params[] = {
    { "timeout", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 60.0, NULL,
      "seconds of silence of a party before a run stops with an error that names it" },
    PN_PARAM_END,
};

static const pn_param server_help[] = {
    { "listen", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, string_type,
      "where to wait for parties, as \"tcp://0.0.0.0:5571\"; port 0 takes a free one" },
    { "parties", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, table_type,
      "of {name=, key=}, one for each party: key is its public key, or the file of it; the columns of the model stand "
      "in this order" },
    { "keys", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, string_type,
      "the file of the server's secret key, as federated.keygen makes it" },
    { "checkpoint", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, string_type,
      "file of the rounds so far, from which a server that was restarted goes on" },
    { "log", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_type,
      "log(line, what) is called when a party joins, is lost, comes back or is refused" },
    PN_PARAM_END,
};

typedef struct party_list {
    size_t count;
    const char **names, **keys;
} party_list;

/* Field `name` of the table at the top as text that the list keeps alive. */
static const char *party_field(lua_State *L, size_t k, const char *name)
{
    const char *text;

    if (lua_getfield(L, -1, name) != LUA_TSTRING || strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1) ||
        lua_rawlen(L, -1) == 0)
        pnl_error(L, "federated.server: parties[%zu].%s must be a string, got %s", k, name, pnl_got(L, -1));
    text = lua_tostring(L, -1);
    lua_pop(L, 1);
    return text;
}

static void check_party_fields(lua_State *L, size_t k)
{
    if (!lua_istable(L, -1))
        pnl_error(L, "federated.server: parties[%zu] must be a table {name = \"...\", key = \"...\"}, got %s", k,
                  pnl_got(L, -1));
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

        if (strcmp(name, "name") != 0 && strcmp(name, "key") != 0)
            pnl_error(L, "federated.server: parties[%zu] has an unknown field '%s'; it takes name, key", k,
                      pnl_text(L, -2));
    }
}

/* Names and keys must differ: a message belongs to the party whose key it came with. */
static void check_distinct(lua_State *L, const party_list *list, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        if (strcmp(list->names[i], list->names[k]) == 0)
            pnl_error(L, "federated.server: parties %zu and %zu are both called \"%s\"", i + 1, k + 1, list->names[k]);
        if (strcmp(list->keys[i], list->keys[k]) == 0)
            pnl_error(L, "federated.server: parties \"%s\" and \"%s\" have the same key", list->names[i],
                      list->names[k]);
    }
}

/* Everything that it points into stays on the stack or in the options table. */
static party_list read_parties(lua_State *L)
{
    party_list list = { 0, NULL, NULL };
    char(*keys)[PN_CURVE_TEXT];
    int table;
    pn_err err;

    if (lua_getfield(L, 1, "parties") != LUA_TTABLE || lua_rawlen(L, -1) == 0)
        pnl_error(L,
                  "federated.server: parties must be a list, as {{name = \"clinic_a\", key = \"clinic_a.pub\"}, ...}; "
                  "the columns of the model stand in its order; got %s",
                  lua_istable(L, -1) ? "a table without entries 1, 2, ..." : pnl_got(L, -1));
    table = lua_gettop(L);
    list.count = lua_rawlen(L, table);
    if (list.count > PN_PARTIES_MAX)
        pnl_error(L, "federated.server: %zu parties; at most %d can be served", list.count, PN_PARTIES_MAX);
    list.names = lua_newuserdatauv(L, 2 * list.count * sizeof *list.names, 0);
    list.keys = list.names + list.count;
    keys = lua_newuserdatauv(L, list.count * sizeof *keys, 0);
    for (size_t k = 0; k < list.count; k++) {
        lua_rawgeti(L, table, (lua_Integer)k + 1);
        check_party_fields(L, k + 1);
        list.names[k] = party_field(L, k + 1, "name");
        if (strlen(list.names[k]) >= PN_NAME_BYTES)
            pnl_error(L, "federated.server: parties[%zu].name is longer than %d bytes", k + 1, PN_NAME_BYTES - 1);
        pnl_status(L, pn_curve_public(party_field(L, k + 1, "key"), keys[k], &err), &err);
        list.keys[k] = keys[k];
        check_distinct(L, &list, k);
        lua_pop(L, 1);
    }
    return list;
}

static int server(lua_State *L)
{
    static const char owner[] = "federated.server";
    static const char *const extra[] = { "listen", "parties", "keys", "checkpoint", "log", NULL };
    pn_zeromq_server_options options = { 0 };
    pn_arg args[SERVER_OWN];
    pn_transport **slot;
    const char *checkpoint;
    party_list list;
    pn_status status;
    pn_err err;
    int box, log;

    lua_settop(L, 1);
    pnl_options(L, 1, owner, server_params, args, extra);
    pnl_status(L, pn_args_check(owner, server_params, args, &err), &err);
    if (!lua_istable(L, 1))
        return pnl_error(L, "federated.server: expected a table of options with listen, parties and keys, got %s",
                         pnl_got(L, 1));
    options.listen = pnl_required_text(L, 1, owner, "listen", "where to wait for parties, as \"tcp://0.0.0.0:5571\"");
    checkpoint = pnl_text_option(L, 1, owner, "checkpoint");
    list = read_parties(L);
    options.parties = list.count;
    options.names = list.names;
    options.public_keys = list.keys;
    options.timeout = args[SERVER_TIMEOUT].real;
    options.log_self = pnl_new_event_log(L, 1, owner);
    options.log = options.log_self ? pnl_log_event : NULL;
    log = lua_gettop(L);
    slot = pnl_new_transport(L);
    box = lua_gettop(L);
    pnl_keep(L, box, log);
    pnl_status(L,
               pn_curve_read(pnl_required_text(L, 1, owner, "keys", "the file of the server's secret key"),
                             &options.keys, &err),
               &err);
    status = pn_transport_zeromq(slot, &options, &err);
    memset(&options.keys, 0, sizeof options.keys);
    pnl_status(L, status, &err);
    if (checkpoint)
        pnl_status(L, pn_server_keep_at(*slot, checkpoint, &err), &err);
    lua_settop(L, box);
    return 1;
}

/* ---- the library ---- */

static void enter(lua_State *L, lua_CFunction fn, const char *name, const char *signature, const char *doc,
                  const pn_param *params)
{
    lua_pushcfunction(L, fn);
    lua_setfield(L, -2, name);
    pnl_reference(L, "federated", name, PNL_NOTHING | PNL_PROCESSES, signature, doc, "Lou, Cheung (2018), corrected",
                  params);
}

void pnl_open_transports(lua_State *L)
{
    pn_param params[PNL_MAX_PARAMS];
    size_t help = pn_param_count(server_help);

    pnl_open_class(L, &pnl_transport_class);
    memcpy(params, in_process_params, IN_OWN * sizeof *params);
    params[IN_OWN] = ledgers_param;
    params[IN_OWN + 1] = (pn_param)PN_PARAM_END;
    enter(
        L, in_process, "in_process", "pn.federated.in_process{parties=, columns=, ledgers=} -> transport",
        "Parties in this process, which share the columns of a run's objective between them: to learn and to "
        "simulate.  Messages are the bytes of a network, and are counted.  With rng = pn.rng.seeded(s) in the run, "
        "party k draws from split k - 1 of it, as processes that were opened with these streams do; where rng was used "
        "before, from other splits.",
        params);
    memcpy(params, server_help, help * sizeof *params);
    memcpy(params + help, server_params, (SERVER_OWN + 1) * sizeof *params);
    enter(L, server, "server",
          "pn.federated.server{listen=, parties=, keys=, timeout=, checkpoint=, log=} -> transport",
          "Listen for parties on other hosts over ZeroMQ with CURVE: everything is encrypted, both sides are "
          "authenticated by key, and a party whose key is not in the list is refused.  transport:data() waits for "
          "the parties and gives the shape that an objective is made of; solve.federated_frank_wolfe(obj, "
          "{transport=, ...}) runs.  As a program: `penumbra server config.lua`.",
          params);
}
