/* ledger_head.c -- the head of a ledger: how many records there are, the last one's MAC, and which two files say so.
 * Depends on: ledger_store.h, core/file_place.h, libsodium, POSIX.  Used by: ledger_file.c, ledger_open.c. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/file_place.h"
#include "core/mutant.h"
#include "privacy/ledger/ledger_store.h"

#define HEAD_START "penumbra-head "

/* ---- places ---- */

/* As text; "-" when it would not outlast a restart. */
static void say_place(char out[PN_HEAD_PLACE], int fd)
{
    pn_file_place place;

    if (!pn_file_place_lasts(fd) || pn_file_find(&place, fd) != 0)
        (void)snprintf(out, PN_HEAD_PLACE, "-");
    else if (place.born)
        (void)snprintf(out, PN_HEAD_PLACE, "%" PRIu64 ".%" PRIu64 ".%09" PRIu64, place.inode, place.born,
                       place.nanoseconds);
    else
        (void)snprintf(out, PN_HEAD_PLACE, "%" PRIu64, place.inode);
}

static bool is_there(const char *said, int fd)
{
    char here[PN_HEAD_PLACE];

    say_place(here, fd);
    return strcmp(said, "-") == 0 || strcmp(said, here) == 0;
}

bool pn_store_knows_ledger(const pn_store *store, const pn_head *head)
{
    return is_there(head->ledger, store->fd);
}

bool pn_store_knows_head(const pn_store *store, const pn_head *head)
{
    return is_there(head->self, store->head);
}

/* ---- reading ---- */

/* H(the last record's MAC, what the head says); format 1 said nothing of places. */
static void head_mac(const pn_store *store, unsigned char out[PN_MAC_BYTES], const pn_head *head)
{
    char text[64 + 2 * PN_HEAD_PLACE + PN_MAC_HEX];

    if (head->format == 1)
        (void)snprintf(text, sizeof text, "head %zu %s", head->count, store->name);
    else
        (void)snprintf(text, sizeof text, "head %zu %s %s %s", head->count, store->name, head->ledger, head->self);
    pn_store_chain(store, out, head->mac, text, strlen(text));
}

static void read_slot(const pn_store *store, const char *slot, pn_head *best)
{
    const size_t place = sizeof HEAD_START - 1 + 2;
    unsigned char own[PN_MAC_BYTES], want[PN_MAC_BYTES];
    pn_head found = { .format = slot[place - 2] - '0' };
    char *rest;

    if (memcmp(slot, HEAD_START, place - 2) != 0 || found.format < 1 || found.format > 2 || slot[place - 1] != ' ' ||
        !pn_store_read_mac(found.mac, slot + place) || !pn_store_read_mac(own, slot + place + PN_MAC_HEX + 1))
        return;
    found.count = (size_t)strtoull(slot + place + 2 * (PN_MAC_HEX + 1), &rest, 10);
    if (found.format == 2 && sscanf(rest, " %71s %71s", found.ledger, found.self) != 2)
        return;
    head_mac(store, want, &found);
    if (sodium_memcmp(own, want, PN_MAC_BYTES) == 0 && found.count > best->count)
        *best = found;
}

pn_status pn_store_read_head(const pn_store *store, pn_head *best, pn_err *err)
{
    char *data;
    size_t size;
    pn_status status;

    *best = (pn_head){ 0 };
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

/* ---- writing ---- */

static void compose(const pn_store *store, int fd, size_t count, const unsigned char mac[PN_MAC_BYTES],
                    char content[PN_HEAD_BYTES])
{
    unsigned char own[PN_MAC_BYTES];
    char hex[PN_MAC_HEX + 1], own_hex[PN_MAC_HEX + 1];
    pn_head head = { .format = 2, .count = count };
    int length;

    memcpy(head.mac, mac, PN_MAC_BYTES);
    say_place(head.ledger, store->fd);
    say_place(head.self, fd);
    head_mac(store, own, &head);
    (void)sodium_bin2hex(hex, sizeof hex, mac, PN_MAC_BYTES);
    (void)sodium_bin2hex(own_hex, sizeof own_hex, own, PN_MAC_BYTES);
    memset(content, ' ', PN_HEAD_BYTES);
    length = snprintf(content, PN_SLOT, HEAD_START "2 %s %s %zu %s %s", hex, own_hex, count, head.ledger, head.self);
    content[length] = ' ';
    length = snprintf(content + 2 * PN_SLOT, PN_SLOT, "process %ld", (long)getpid());
    content[2 * PN_SLOT + length] = ' ';
    content[PN_SLOT - 1] = content[2 * PN_SLOT - 1] = content[PN_HEAD_BYTES - 1] = '\n';
}

int pn_store_prepare_head(pn_store *store, pn_file_draft *draft, size_t count, const unsigned char mac[PN_MAC_BYTES])
{
    char content[PN_HEAD_BYTES];
    int error =
        store->swept ? pn_file_begin_next(draft, store->head_path, 0644) : pn_file_begin(draft, store->head_path, 0644);

    if (error)
        return error;
    store->swept = true;
    compose(store, draft->fd, count, mac, content);
    if (PN_MUTANT("crash_in_head")) {
        (void)pn_file_write(draft->fd, content, PN_SLOT / 8, 0);
        (void)raise(SIGKILL);
    }
    error = pn_file_write(draft->fd, content, sizeof content, 0);
    PN_CRASH("crash_before_head_sync");
    if (!error)
        error = pn_file_sync(draft->fd);
    if (error)
        pn_file_end(draft);
    return error;
}

int pn_store_name_head(pn_store *store, pn_file_draft *draft)
{
    int error = pn_file_name(draft, true, NULL);

    if (!error) {
        if (store->head >= 0)
            (void)close(store->head);
        store->head = draft->fd;
        draft->fd = -1;
        pn_file_mark(store->fd, PN_FILE_LEDGER, store->id, store->count);
    }
    pn_file_end(draft);
    return error;
}

int pn_store_write_head(pn_store *store)
{
    pn_file_draft draft;
    int error = pn_store_prepare_head(store, &draft, store->count, store->mac);

    return error ? error : pn_store_name_head(store, &draft);
}

void pn_store_sign(const pn_store *store)
{
    char slot[PN_SLOT + 1];

    (void)snprintf(slot, sizeof slot, "process %-502ld\n", (long)getpid());
    (void)pn_file_write(store->head, slot, PN_SLOT, 2 * PN_SLOT);
}

long pn_store_signed(const pn_store *store)
{
    char slot[PN_SLOT + 1] = "";
    long holder = 0;
    int fd = pn_disk_open(store->head_path, false, 0);

    if (fd < 0)
        return 0;
    if (pread(fd, slot, PN_SLOT, 2 * PN_SLOT) > 0)
        (void)sscanf(slot, "process %ld", &holder);
    (void)close(fd);
    return holder;
}
