/* lalignment.c -- pn.federated.align: rows in the order of a secret key's hashes of their identifiers.
 * Depends on: ldata.h, lfederated.h, progress.h, data/alignment.h.  Used by: lfederated.c. */
#include <sodium.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/federated/lfederated.h"
#include "data/alignment.h"

static const char owner[] = "federated.align";
static const char *const string_type[] = { "string", NULL };
static const char *const list_type[] = { "list", NULL };
static const char *const column_type[] = { "string or number", NULL };

enum { CREATE, OWN };

static const pn_param own_params[] = {
    { "create", PN_FLAG, PN_OPTIONAL, PN_ANY, 1.0, NULL,
      "make the key file when there is none; false: it must be there, as at a party that was given it" },
    PN_PARAM_END,
};

static const char *const by_hand[] = { "ids", "csv", "column", "key", NULL };

static const pn_param by_hand_params[] = {
    { "key", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, string_type,
      "the file of the key that the parties share, and nobody else: the server least of all" },
    { "ids", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, list_type, "of strings: the identifier of each row" },
    { "csv", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, string_type,
      "in place of ids: a CSV file, gzip or plain, with a line for each row in the same order" },
    { "column", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, column_type,
      "of csv: the column of the identifiers by name, or by number from 1" },
    PN_PARAM_END,
};

typedef struct request {
    const pn_dataset *data;
    const char **ids; /* [data->n], or NULL: from csv */
    size_t *sizes;
    const char *csv;
    pn_csv_column_options column;
    const char *key;
    bool create;
} request;

/* The list on the top into arrays, which stay on the stack; the strings belong to the list. */
static void read_ids(lua_State *L, request *ask)
{
    int list = lua_gettop(L);
    size_t n = ask->data->n;

    if (lua_type(L, list) != LUA_TTABLE)
        pnl_error(L, "%s: ids must be a list of strings, got %s", owner, pnl_got(L, list));
    if (lua_rawlen(L, list) != n)
        pnl_error(L, "%s: ids has %zu entries, the data set has %zu records", owner, (size_t)lua_rawlen(L, list), n);
    ask->ids = lua_newuserdatauv(L, n * sizeof *ask->ids, 0);
    ask->sizes = lua_newuserdatauv(L, n * sizeof *ask->sizes, 0);
    for (size_t i = 0; i < n; i++) {
        if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TSTRING)
            pnl_error(L, "%s: ids[%zu] must be a string, got %s", owner, i + 1, pnl_got(L, -1));
        ask->ids[i] = lua_tolstring(L, -1, &ask->sizes[i]);
        lua_pop(L, 1);
    }
}

static void read_column(lua_State *L, request *ask)
{
    int type = lua_getfield(L, 2, "column");

    if (type == LUA_TNUMBER)
        ask->column.column = pnl_check_count(L, -1, "federated.align: column");
    else
        ask->column.name =
            pnl_required_text(L, 2, owner, "column", "the column of the identifiers in csv, by name or by number");
    ask->column.records = ask->data->n;
}

static void read_request(lua_State *L, request *ask)
{
    pn_arg args[OWN];
    pn_err err;

    ask->data = pnl_check(L, 1, &pnl_dataset_class);
    pnl_options(L, 2, owner, own_params, args, by_hand);
    pnl_status(L, pn_args_check(owner, own_params, args, &err), &err);
    ask->create = args[CREATE].flag;
    ask->key = pnl_required_text(L, 2, owner, "key", "the file of the key that the parties share");
    ask->csv = pnl_text_option(L, 2, owner, "csv");
    if (lua_getfield(L, 2, "ids") != LUA_TNIL) {
        if (ask->csv)
            pnl_error(L, "%s: give ids, or csv and column, not both", owner);
        read_ids(L, ask);
    } else if (ask->csv) {
        read_column(L, ask);
    } else {
        pnl_error(L, "%s: the identifiers of the rows are missing: give ids = {...}, or csv = path and column", owner);
    }
}

/* Nothing of Lua in here: what it allocates is freed on every path. */
static pn_status run(const request *ask, pn_dataset **out, unsigned char *digest, pn_task *task, pn_err *err)
{
    unsigned char key[PN_ALIGNMENT_KEY];
    pn_identifiers list = { 0 };
    const char *const *ids = ask->ids;
    const size_t *sizes = ask->sizes;
    pn_status status = PN_OK;

    if (!ids) {
        status = pn_csv_column(&list, ask->csv, &ask->column, task, err);
        ids = list.ids;
        sizes = list.sizes;
    }
    if (status == PN_OK)
        status = pn_alignment_key(ask->key, ask->create, key, err);
    if (status == PN_OK)
        status = pn_dataset_align(out, ask->data, ids, sizes, key, digest, err);
    sodium_memzero(key, sizeof key);
    pn_identifiers_clear(&list);
    return status;
}

static int align(lua_State *L)
{
    unsigned char digest[PN_ALIGNMENT_DIGEST];
    char hex[2 * PN_ALIGNMENT_DIGEST + 1];
    request ask = { 0 };
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    read_request(L, &ask);
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    status = run(&ask, slot, digest, pnl_task(L), &err);
    pnl_run_end(L);
    (void)pnl_data_made(L, slot, status, &err);
    lua_pushstring(L, sodium_bin2hex(hex, sizeof hex, digest, sizeof digest));
    return 2;
}

void pnl_open_alignment(lua_State *L)
{
    pn_param params[OWN + sizeof by_hand_params / sizeof by_hand_params[0]];
    size_t count = pn_param_count(by_hand_params);

    memcpy(params, by_hand_params, count * sizeof *params);
    memcpy(params + count, own_params, (OWN + 1) * sizeof *params);
    lua_pushcfunction(L, align);
    lua_setfield(L, -2, "align");
    pnl_reference(
        L, "federated", "align", PNL_RAW | PNL_FILES,
        "pn.federated.align(d, {key=, ids=, csv=, column=, create=}) -> dataset, string",
        "The rows in the order of the hashes of their identifiers under the shared key, and a digest of that order "
        "and the labels, 64 hex digits: parties with the same digest have the same people, in the same order, with "
        "the same labels.  Without the key the digest tells only whether two of them are equal; it is not a private "
        "release.  Errors: an identifier that is empty or occurs twice, a number of identifiers that is not the "
        "number of rows.",
        NULL, params);
}
