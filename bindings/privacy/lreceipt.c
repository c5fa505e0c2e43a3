/* lreceipt.c -- pn.receipt: what fit:receipt(), ledger:receipt() and tree:receipt() give.
 * Depends on: lreceipt.h, ljson.h, receipt/receipt.h, core/file.h.  Used by: whatever gives a receipt. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/ljson.h"
#include "bindings/core/lprint.h"
#include "bindings/core/reference.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/privacy/lreceipt.h"
#include "bindings/solvers/lsolve.h"
#include "core/alloc.h"
#include "core/file.h"
#include "receipt/receipt.h"

char **pnl_new_receipt(lua_State *L)
{
    return (char **)pnl_newbox(L, &pnl_receipt_class);
}

static const char *json_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_receipt_class);
}

PNL_GETTER(receipt_json, json_of(L));

static int receipt_table(lua_State *L)
{
    const char *json = json_of(L);

    if (!pnl_push_of_json(L, json, strlen(json)))
        return pnl_error(L, "receipt:table: %s", lua_tostring(L, -1));
    return 1;
}

static int receipt_save(lua_State *L)
{
    const char *json = json_of(L), *path = pnl_check_path(L, 2);
    int error = pn_file_put(path, json, strlen(json), 0644, true);

    if (error)
        return pnl_error(L, "receipt:save: %s: cannot be written: %s", path, strerror(error));
    lua_pushvalue(L, 2);
    return 1;
}

static int receipt_words(lua_State *L)
{
    char *words = NULL;
    pn_err err;
    pn_status status = pn_receipt_words(&words, json_of(L), &err);

    if (status == PN_OK)
        lua_pushstring(L, words);
    pn_free(words);
    pnl_status(L, status, &err);
    return 1;
}

static int receipt_tostring(lua_State *L)
{
    (void)receipt_words(L);
    pnl_wrap_lines(L); /* not the document, which is to be read by programs */
    lua_pushfstring(L, "%s\n%s", lua_tostring(L, -1), json_of(L));
    return 1;
}

static const pnl_row receipt_rows[] = {
    { "json", receipt_json, PNL_FIELD, PNL_PAID, "r.json -> string",
      "The document, by the schema that runtime/receipt documents: sorted names, all digits of every number." },
    { "words", receipt_words, PNL_FIELD, PNL_PAID, "r.words -> string", "What the receipt says, in a few lines." },
    { "table", receipt_table, PNL_METHOD, PNL_PAID, "r:table() -> table",
      "The document as a table of Lua; what is null is missing." },
    { "save", receipt_save, PNL_METHOD, PNL_PAID | PNL_FILES, "r:save(path) -> path",
      "Write the document, complete or not at all.  Error: a place that cannot be written." },
    { "__tostring", receipt_tostring, PNL_META, PNL_PAID, "tostring(r) -> string",
      "What the receipt says, in a few lines, and then the document." },
    PNL_ROW_END,
};

static void free_receipt(void *json)
{
    pn_free(json);
}

const pnl_class pnl_receipt_class = {
    "pn.receipt", free_receipt,
    receipt_rows, "What was done to the records, from which others can work out every sensitivity and price again.",
    NULL,         NULL
};

/* ---- of files ---- */

#define MOST_BYTES ((size_t)1 << 26)

/* The file's first bytes, or all of them, as far as `most`; raises where it cannot be read. */
static const char *push_bytes(lua_State *L, const char *path, size_t most)
{
    FILE *file = fopen(path, "rb");
    luaL_Buffer bytes;
    char *room;
    size_t count;

    if (!file)
        pnl_error(L, "receipt: %s: cannot be read: %s", path, strerror(errno));
    (void)fseek(file, 0, SEEK_END);
    count = ftell(file) > 0 ? (size_t)ftell(file) : 0;
    rewind(file);
    count = count < most ? count : most;
    (void)fclose(file);
    file = NULL;
    room = luaL_buffinitsize(L, &bytes, count + 1);
    file = fopen(path, "rb"); /* nothing between here and its end raises */
    count = file ? fread(room, 1, count, file) : 0;
    if (file)
        (void)fclose(file);
    luaL_pushresultsize(&bytes, count);
    return lua_tostring(L, -1);
}

static void read_ledger(lua_State *L, const char *path)
{
    pn_ledger **ledger = (pn_ledger **)pnl_newbox(L, &pnl_ledger_class);
    char **slot;
    pn_err err;

    pnl_status(L, pn_ledger_open(ledger, path, NULL, NULL, &err), &err);
    slot = pnl_new_receipt(L);
    pnl_status(L, pn_ledger_receipt(slot, *ledger, PNL_LUA_VERSION, &err), &err);
    pn_ledger_close(*ledger);
}

static void read_stream(lua_State *L, const char *path)
{
    char **slot = pnl_new_receipt(L);
    pn_prefix *stream = NULL;
    pn_err err;
    pn_status status = pn_prefix_look(&stream, path, &err);

    if (status == PN_OK)
        status = pn_prefix_receipt(slot, stream, PNL_LUA_VERSION, &err);
    pn_prefix_free(stream);
    if (status == PN_EPARSE)
        pnl_error(L, "receipt: %s: neither a model, nor a ledger, nor a checkpoint of a tree, nor a receipt (%s)", path,
                  err.message);
    pnl_status(L, status, &err);
}

/* False where it is none. */
static bool read_receipt(lua_State *L, const char *path)
{
    const char *json = push_bytes(L, path, MOST_BYTES);
    size_t size = strlen(json) + 1;
    char *words = NULL, **slot;
    bool is_one = pn_receipt_words(&words, json, NULL) == PN_OK;

    pn_free(words);
    if (!is_one)
        return false;
    slot = pnl_new_receipt(L);
    *slot = pn_alloc(size, 1);
    if (!*slot)
        pnl_no_memory(L, "receipt: out of memory");
    memcpy(*slot, json, size);
    return true;
}

static int receipt_of_file(lua_State *L)
{
    static const char ledger[] = "penumbra-ledger ";
    const char *path = pnl_check_path(L, 1), *head;

    lua_settop(L, 1);
    head = push_bytes(L, path, sizeof ledger - 1);
    if (strcmp(head, ledger) == 0) {
        read_ledger(L, path);
        return 1;
    }
    if (head[0] == '{' && read_receipt(L, path))
        return 1;
    if (!pn_model_is(path)) {
        read_stream(L, path);
        return 1;
    }
    (void)pnl_load_model(L, path);
    lua_pushcfunction(L, pnl_fit_receipt);
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
    return 1;
}

void pnl_open_receipt(lua_State *L)
{
    pnl_open_class(L, &pnl_receipt_class);
    lua_pushcfunction(L, receipt_of_file);
    lua_setfield(L, -2, "receipt");
    pnl_reference(
        L, "", "receipt", PNL_PAID | PNL_FILES, "pn.receipt(path) -> receipt",
        "The receipt of a file, told by its contents: that of the run in a model file, of a ledger's file (its "
        "key beside it), of the tree in a checkpoint, which stays as it is, or a receipt that r:save wrote.  "
        "Errors: a file that is none of these, one that is damaged or open elsewhere, a model without one.",
        NULL, NULL);
}
