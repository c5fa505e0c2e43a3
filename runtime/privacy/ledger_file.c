/* ledger_file.c -- a file of authenticated lines that only grows: MACs, the head, appending.  Depends on: ledger_file.h, ledger_disk.h, libsodium, POSIX.
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
#include "privacy/ledger_store.h"

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

/* ---- the head ---- */

static void slot_mac(const pn_store *store, unsigned char out[PN_MAC_BYTES], size_t count,
                     const unsigned char mac[PN_MAC_BYTES])
{
    char text[64];

    (void)snprintf(text, sizeof text, "head %zu %s", count, store->name);
    pn_store_chain(store, out, mac, text, strlen(text));
}

int pn_store_write_head(const pn_store *store)
{
    unsigned char own[PN_MAC_BYTES];
    char hex[(PN_MAC_HEX + 1)], own_hex[(PN_MAC_HEX + 1)], slot[PN_SLOT + 1];
    int length, error;

    slot_mac(store, own, store->count, store->mac);
    (void)sodium_bin2hex(hex, sizeof hex, store->mac, PN_MAC_BYTES);
    (void)sodium_bin2hex(own_hex, sizeof own_hex, own, PN_MAC_BYTES);
    length = snprintf(slot, sizeof slot, "penumbra-head 1 %s %s %zu", hex, own_hex, store->count);
    memset(slot + length, ' ', (size_t)(PN_SLOT - length));
    slot[PN_SLOT - 1] = '\n';
    if (PN_MUTANT("crash_in_head")) {
        (void)pn_file_write(store->head, slot, PN_SLOT / 8, (store->count & 1) * PN_SLOT);
        (void)raise(SIGKILL);
    }
    error = pn_file_write(store->head, slot, PN_SLOT, (store->count & 1) * PN_SLOT);
    PN_CRASH("crash_before_head_sync");
    return error ? error : pn_file_sync(store->head);
}

static void read_slot(const pn_store *store, const char *slot, pn_head *best)
{
    static const char start[] = "penumbra-head 1 ";
    const size_t place = sizeof start - 1;
    unsigned char mac[PN_MAC_BYTES], own[PN_MAC_BYTES], want[PN_MAC_BYTES];
    unsigned long long count;

    if (memcmp(slot, start, place) != 0 || !pn_store_read_mac(mac, slot + place) ||
        !pn_store_read_mac(own, slot + place + PN_MAC_HEX + 1))
        return;
    count = strtoull(slot + place + 2 * (PN_MAC_HEX + 1), NULL, 10);
    slot_mac(store, want, (size_t)count, mac);
    if (sodium_memcmp(own, want, PN_MAC_BYTES) == 0 && count > best->count) {
        best->count = (size_t)count;
        memcpy(best->mac, mac, PN_MAC_BYTES);
    }
}

pn_status pn_store_read_head(const pn_store *store, pn_head *best, pn_err *err)
{
    char *data;
    size_t size;
    pn_status status;

    best->count = 0;
    if (store->head < 0)
        return PN_OK;
    status = pn_disk_read(store->head, "ledger", store->head_path, &data, &size, err);
    for (size_t i = 0; status == PN_OK && i < 2 && size >= (i + 1) * PN_SLOT; i++) {
        data[(i + 1) * PN_SLOT - 1] = '\0';
        read_slot(store, data + i * PN_SLOT, best);
    }
    pn_free(data);
    return status;
}

/* Says who has the ledger, for the message of who finds it locked; nothing depends on it. */
void pn_store_sign(const pn_store *store)
{
    char slot[PN_SLOT + 1];

    (void)snprintf(slot, sizeof slot, "process %-502ld\n", (long)getpid());
    (void)pn_file_write(store->head, slot, PN_SLOT, 2 * PN_SLOT);
}

pn_status pn_store_make_head(pn_store *store, pn_err *err)
{
    char blank[PN_HEAD_BYTES];
    int error = 0;

    memset(blank, ' ', sizeof blank);
    if (store->head < 0) {
        store->head = pn_disk_open(store->head_path, true, 0644);
        error = store->head < 0 ? errno : 0;
    }
    if (!error)
        error = pn_file_write(store->head, blank, sizeof blank, 0);
    if (!error)
        error = pn_store_write_head(store);
    if (!error)
        error = pn_file_sync_entry(store->head_path);
    if (error)
        return pn_fail(err, PN_EIO, "ledger: %.300s: cannot be written: %s", store->head_path, strerror(error));
    pn_store_sign(store);
    return PN_OK;
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
        "ledger: %.300s: cannot be made durable: %s; nothing was released, the charge counts as made, and this "
        "ledger takes no more",
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

pn_status pn_store_append(pn_store *store, const char *record, pn_err *err)
{
    unsigned char mac[PN_MAC_BYTES];
    size_t length;
    char *line;
    pn_status status;
    int error;

    if (store->broken)
        return pn_fail(err, PN_EIO, "ledger: %.300s: takes no more charges: %s", store->path, store->broken);
    if (!pn_store_in_place(store))
        return pn_fail(
            err, PN_EIO,
            "ledger: %.300s: is no longer the file that was opened (removed, replaced, or a relative path after "
            "a change of directory); nothing was charged",
            store->path);
    line = compose_line(store, record, mac, &length);
    if (!line)
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory for a record");
    status = write_record(store, line, length, err);
    pn_free(line);
    if (status != PN_OK)
        return status;
    memcpy(store->mac, mac, PN_MAC_BYTES);
    store->end += length;
    store->count++;
    if (store->count == 1) {
        error = pn_file_sync_entry(store->path);
        status = error ? give_up(store, store->path, error, err) : pn_store_make_head(store, err);
    } else {
        error = pn_store_write_head(store);
        status = error ? give_up(store, store->head_path, error, err) : PN_OK;
    }
    PN_CRASH("crash_after_head");
    return status;
}
