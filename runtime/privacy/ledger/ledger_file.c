/* ledger_file.c -- a file of authenticated lines that only grows: MACs, appending.
 * Depends on: ledger_store.h, libsodium, POSIX.
 * Used by: ledger_record.c. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/mutant.h"
#include "privacy/ledger/ledger_store.h"

/* ---- authentication ---- */

/* mac = H(before, text) */
void pn_store_chain(const pn_store *store, unsigned char mac[PN_MAC_BYTES], const unsigned char before[PN_MAC_BYTES],
                    const char *text, size_t length)
{
    crypto_generichash_state state;

    pn_secret_open(&store->key);
    (void)crypto_generichash_init(&state, store->key.bytes, PN_KEY_BYTES, PN_MAC_BYTES);
    pn_secret_close(&store->key);
    (void)crypto_generichash_update(&state, before, PN_MAC_BYTES);
    (void)crypto_generichash_update(&state, (const unsigned char *)text, length);
    (void)crypto_generichash_final(&state, mac, PN_MAC_BYTES);
    sodium_memzero(&state, sizeof state); /* it began with the key */
}

/* What stands before the first record: the MAC of the ledger's first line. */
void pn_store_chain_start(const pn_store *store, unsigned char mac[PN_MAC_BYTES])
{
    static const unsigned char nothing[PN_MAC_BYTES] = { 0 };
    char line[sizeof PN_STORE_FIRST + (PN_MAC_HEX + 1)];

    (void)snprintf(line, sizeof line, "%s%s", PN_STORE_FIRST, store->name);
    pn_store_chain(store, mac, nothing, line, strlen(line));
}

/* In lower case only: a MAC has one spelling. */
bool pn_store_read_mac(unsigned char mac[PN_MAC_BYTES], const char *hex)
{
    size_t length = 0;

    for (size_t i = 0; i < PN_MAC_HEX; i++) {
        if (hex[i] >= 'A' && hex[i] <= 'F')
            return false;
    }
    return sodium_hex2bin(mac, PN_MAC_BYTES, hex, PN_MAC_HEX, NULL, &length, NULL) == 0 && length == PN_MAC_BYTES;
}

/* ---- appending ---- */

const char *pn_store_broken(const pn_store *store)
{
    return store->broken;
}

size_t pn_store_count(const pn_store *store)
{
    return store->count;
}

const char *pn_store_path(const pn_store *store)
{
    return store->path;
}

bool pn_store_cut(const pn_store *store)
{
    return store->cut;
}

/* Nothing of the line may stay; if even that cannot be had, nobody may write behind it. */
static pn_status take_back(pn_store *store, int error, pn_err *err)
{
    if (ftruncate(store->fd, (off_t)store->end) != 0 || pn_file_sync(store->fd) != 0) {
        store->broken = "its file could not be written";
        return pn_fail(err, PN_EIO,
                       "ledger: %.300s: cannot be written (%s) nor restored; this ledger takes no more charges, and "
                       "nothing was released",
                       store->path, strerror(error));
    }
    return pn_fail(err, PN_EIO, "ledger: %.300s: cannot be written: %s; nothing was charged or released", store->path,
                   strerror(error));
}

/* The record may or may not be on the disk: it counts as charged, and nothing more may follow. */
static pn_status give_up(pn_store *store, const char *path, int error, pn_err *err)
{
    store->broken = "its file could not be made durable";
    return pn_fail(
        err, PN_EIO,
        "ledger: %.300s: cannot be made durable: %s; nothing was released, the charge counts as made, and this ledger "
        "takes no more",
        path, strerror(error));
}

/* [first line] record | MAC; allocated. */
static char *compose_line(const pn_store *store, const char *record, unsigned char mac[PN_MAC_BYTES], size_t *length)
{
    size_t size =
        strlen(record) + PN_MAC_PLACE + 2 + (store->count == 0 ? sizeof PN_STORE_FIRST + (PN_MAC_HEX + 1) : 0);
    unsigned char before[PN_MAC_BYTES];
    char hex[(PN_MAC_HEX + 1)], *line = pn_alloc(size, 1);
    int used = 0;

    if (!line)
        return NULL;
    memcpy(before, store->mac, PN_MAC_BYTES);
    if (store->count == 0) {
        pn_store_chain_start(store, before);
        used = snprintf(line, size, "%s%s\n", PN_STORE_FIRST, store->name);
    }
    pn_store_chain(store, mac, before, record, strlen(record));
    (void)sodium_bin2hex(hex, sizeof hex, mac, PN_MAC_BYTES);
    *length = (size_t)used + (size_t)snprintf(line + used, size - (size_t)used, "%s | %s\n", record, hex);
    return line;
}

static pn_status write_record(pn_store *store, const char *line, size_t length, pn_err *err)
{
    int error;

    PN_CRASH("crash_before_write");
    if (PN_MUTANT("crash_in_write")) {
        (void)pn_file_write(store->fd, line, length / 2, store->end);
        (void)raise(SIGKILL);
    }
    error = pn_file_write(store->fd, line, length, store->end);
    if (error)
        return take_back(store, error, err);
    PN_CRASH("crash_before_sync");
    error = pn_file_sync(store->fd);
    if (error)
        return give_up(store, store->path, error, err);
    PN_CRASH("crash_before_head");
    return PN_OK;
}

bool pn_store_in_place(const pn_store *store)
{
    return pn_file_in_place(store->fd, store->path);
}

/* The head that the record will have, under another name yet: nothing was written to the ledger. */
static pn_status prepare_head(pn_store *store, pn_file_draft *draft, const unsigned char mac[PN_MAC_BYTES], pn_err *err)
{
    int error = pn_store_prepare_head(store, draft, store->count + 1, mac);

    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory for a path");
    return error ? pn_fail(err, PN_EIO, "ledger: %.300s: cannot be written: %s; nothing was charged or released",
                           store->head_path, strerror(error))
                 : PN_OK;
}

static pn_status confirm_head(pn_store *store, pn_file_draft *draft, pn_err *err)
{
    int error = store->count == 1 ? pn_file_sync_entry(store->path) : 0;

    if (error) {
        pn_file_end(draft);
        return give_up(store, store->path, error, err);
    }
    error = pn_store_name_head(store, draft);
    PN_CRASH("crash_after_head");
    return error ? give_up(store, store->head_path, error, err) : PN_OK;
}

static pn_status append_line(pn_store *store, const char *line, size_t length, const unsigned char mac[PN_MAC_BYTES],
                             pn_err *err)
{
    pn_file_draft draft;
    pn_status status;

    PN_TRY(prepare_head(store, &draft, mac, err));
    status = write_record(store, line, length, err);
    if (status != PN_OK) {
        pn_file_end(&draft);
        return status;
    }
    memcpy(store->mac, mac, PN_MAC_BYTES);
    store->end += length;
    store->count++;
    return confirm_head(store, &draft, err);
}

pn_status pn_store_append(pn_store *store, const char *record, pn_err *err)
{
    unsigned char mac[PN_MAC_BYTES];
    size_t length;
    char *line;
    pn_status status;

    if (store->broken)
        return pn_fail(err, PN_EIO, "ledger: %.300s: takes no more charges: %s", store->path, store->broken);
    if (!pn_store_in_place(store))
        return pn_fail(
            err, PN_EIO,
            "ledger: %.300s: is no longer the file that was opened (removed, replaced, or a relative path after a "
            "change of directory); nothing was charged",
            store->path);
    line = compose_line(store, record, mac, &length);
    PN_TRY(pn_made(line, err, "ledger: out of memory for a record"));
    status = append_line(store, line, length, mac, err);
    pn_free(line);
    return status;
}

void pn_store_head_mac(const pn_store *store, char hex[33])
{
    (void)sodium_bin2hex(hex, PN_MAC_HEX + 1, store->mac, PN_MAC_BYTES);
}
