/* lreceipt.c -- pn.receipt: what fit:receipt(), ledger:receipt() and tree:receipt() give.
 * Depends on: lreceipt.h, ljson.h, receipt/receipt.h, core/file.h.  Used by: whatever gives a receipt. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bindings/core/getter.h"
#include "bindings/core/ljson.h"
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
    const char *json = json_of(L);
    char **words = pnl_new_receipt(L); /* which owns a text */
    pn_err err;

    pnl_status(L, pn_receipt_words(words, json, &err), &err);
    lua_pushstring(L, *words);
    return 1;
}

static int receipt_tostring(lua_State *L)
{
    (void)receipt_words(L);
    lua_pushfstring(L, "%s\n  document   %I bytes of JSON: r.json, r:save(path)", lua_tostring(L, -1),
                    (LUAI_UACINT)strlen(json_of(L)));
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
      "What the receipt says, in a few lines, and where its document is." },
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

/* *out, allocated: the file's bytes, at most so many, and a zero byte.  0 or errno. */
static int read_bytes(char **out, const char *path, size_t most)
{
    int fd = pn_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0), error = fd < 0 ? errno : 0;
    size_t used = 0;
    struct stat is;

    if (error)
        return error;
    error = fstat(fd, &is) != 0 ? errno : S_ISREG(is.st_mode) ? 0 : EINVAL;
    most = !error && (size_t)is.st_size < most ? (size_t)is.st_size : most;
    *out = error ? NULL : pn_alloc(most + 1, 1);
    error = error || *out ? error : ENOMEM;
    while (!error && used < most) {
        ssize_t got = read(fd, *out + used, most - used);

        if (got <= 0) {
            error = got < 0 && errno != EINTR ? errno : 0;
            most = got == 0 ? used : most;
        } else {
            used += (size_t)got;
        }
    }
    if (*out)
        (*out)[used] = '\0';
    (void)close(fd);
    return error;
}

/* What is in *slot becomes the file's bytes. */
static const char *read_file(lua_State *L, char **slot, const char *path, size_t most)
{
    int error;

    pn_free(*slot);
    *slot = NULL;
    error = read_bytes(slot, path, most);
    if (error)
        pnl_error(L, "receipt: %s: cannot be read: %s", path, error == EINVAL ? "it is no file" : strerror(error));
    return *slot;
}

static void read_ledger(lua_State *L, const char *path)
{
    pn_ledger **ledger = (pn_ledger **)pnl_newbox(L, &pnl_ledger_class);
    char **slot = pnl_new_receipt(L);
    pn_status status;
    pn_err err;

    pnl_status(L, pn_ledger_open(ledger, path, NULL, NULL, &err), &err);
    status = pn_ledger_receipt(slot, *ledger, PNL_LUA_VERSION, &err);
    pn_ledger_close(*ledger); /* also where it failed: nobody is to wait for the collector */
    pnl_status(L, status, &err);
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

static bool is_receipt(lua_State *L, const char *json)
{
    char *words = NULL;
    pn_err err;
    pn_status status = pn_receipt_words(&words, json, &err);

    pn_free(words);
    if (status != PN_EPARSE)
        pnl_status(L, status, &err);
    return status == PN_OK;
}

static bool is_model(lua_State *L, const char *path)
{
    bool found;
    pn_err err;

    pnl_status(L, pn_model_look(path, &found, &err), &err);
    return found;
}

static int receipt_of_file(lua_State *L)
{
    static const char ledger[] = "penumbra-ledger ";
    const char *path = pnl_check_path(L, 1), *head;
    char **slot;

    lua_settop(L, 1);
    slot = pnl_new_receipt(L);
    head = read_file(L, slot, path, sizeof ledger - 1);
    if (strcmp(head, ledger) == 0) {
        read_ledger(L, path);
    } else if (head[0] == '{' && is_receipt(L, read_file(L, slot, path, MOST_BYTES))) {
        lua_settop(L, 2);
    } else if (is_model(L, path)) {
        (void)pnl_load_model(L, path);
        lua_pushcfunction(L, pnl_fit_receipt);
        lua_pushvalue(L, -2);
        lua_call(L, 1, 1);
    } else {
        read_stream(L, path);
    }
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
