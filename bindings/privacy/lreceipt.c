/* lreceipt.c -- pn.receipt: what fit:receipt(), ledger:receipt() and tree:receipt() give.
 * Depends on: lreceipt.h, ljson.h, receipt/receipt.h, core/file.h.  Used by: whatever gives a receipt. */
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/ljson.h"
#include "bindings/privacy/lreceipt.h"
#include "bindings/numeric/lnumbers.h"
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

static int receipt_tostring(lua_State *L)
{
    const char *json = json_of(L);
    char *words = NULL;
    pn_err err;
    pn_status status = pn_receipt_words(&words, json, &err);

    if (status == PN_OK)
        lua_pushstring(L, words);
    pn_free(words);
    pnl_status(L, status, &err);
    return 1;
}

static const pnl_row receipt_rows[] = {
    { "json", receipt_json, PNL_FIELD, PNL_PAID, "r.json -> string",
      "The document, by the schema that runtime/receipt documents: sorted names, all digits of every number." },
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
