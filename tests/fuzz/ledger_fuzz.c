/* ledger_fuzz.c -- ledger files.  The first byte says what the rest is: records, a line each, which get their MACs and
 * a head here, so that what they say is read; a file as it stands; or a head beside a ledger of one charge.  What is
 * opened takes a charge, closes, and opens again with all that was in it.
 * Depends on: fuzz.h, privacy/ledger/ledger_store.h, libsodium. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "fuzz/fuzz.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_store.h"

enum { RECORDS, FILE_AS_IT_IS, HEAD, KINDS };

static const char first[] = "0 open - epsilon=1,delta=1e-06,neighbours=replace_one\n"
                            "1 spend - 1 gaussian(sigma=4,sensitivity=1) - \"a\"\n";

static void put_key(void)
{
    static const char key[] = "penumbra-key 1 0100000000000000000000000000000000000000000000000000000000000000\n";

    (void)fuzz_file("ledger.key", key, sizeof key - 1);
}

/* A ledger's file in the making, as the one who writes it has it. */
static void begin(pn_store *store, FILE *file)
{
    unsigned char *key;

    *store = (pn_store){ .path = (char *)(uintptr_t)fuzz_path("ledger"), .fd = fileno(file), .head = -1 };
    store->head_path = (char *)(uintptr_t)fuzz_path("ledger.head");
    FUZZ_HOLDS(sodium_init() >= 0);
    store->key = pn_secret_new(PN_KEY_BYTES);
    key = store->key.bytes;
    FUZZ_HOLDS(key != NULL);
    memset(key, 0, PN_KEY_BYTES);
    key[0] = 1;
    (void)sodium_bin2hex(store->name, sizeof store->name, store->id, sizeof store->id);
    (void)fprintf(file, "%s%s\n", PN_STORE_FIRST, store->name);
    pn_store_chain_start(store, store->mac);
}

static void add_line(pn_store *store, FILE *file, const char *line, size_t length)
{
    unsigned char mac[PN_MAC_BYTES];
    char hex[PN_MAC_HEX + 1];

    pn_store_chain(store, mac, store->mac, line, length);
    memcpy(store->mac, mac, sizeof mac);
    store->count++;
    (void)sodium_bin2hex(hex, sizeof hex, mac, sizeof mac);
    (void)fwrite(line, 1, length, file);
    (void)fprintf(file, " | %s\n", hex);
}

static void write_records(const char *records, size_t size)
{
    FILE *file = fopen(fuzz_file("ledger", "", 0), "r+b");
    const char *at = records, *end = records + size;
    pn_store store;

    FUZZ_HOLDS(file != NULL);
    begin(&store, file);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop : end;
        add_line(&store, file, at, (size_t)(stop - at));
        at = stop + 1;
    }
    FUZZ_HOLDS(fflush(file) == 0 && pn_store_write_head(&store) == 0);
    (void)close(store.head);
    (void)fclose(file);
    pn_secret_clear(&store.key);
}

static void look(pn_ledger *ledger)
{
    const pn_odometer odometer = { .first = 0.1, .delta = 1e-6 };

    (void)pn_ledger_spent(ledger);
    (void)pn_ledger_remaining(ledger);
    (void)pn_ledger_odometer(ledger, &odometer, NULL);
    (void)pn_ledger_theorem(ledger);
}

static void open_and_charge(void)
{
    const char *path = fuzz_path("ledger");
    pn_ledger *ledger = NULL, *again = NULL;
    pn_event *event = NULL;
    pn_err err = { 0 };
    size_t entries;
    pn_status status = pn_ledger_open(&ledger, path, NULL, NULL, &err);

    FUZZ_HOLDS((status == PN_OK) == (ledger != NULL));
    if (status != PN_OK) {
        FUZZ_HOLDS(err.message[0] != '\0');
        return;
    }
    look(ledger);
    FUZZ_HOLDS(pn_event_exponential(&event, 1e-9, pn_ledger_budget(ledger)->neighbours, NULL) == PN_OK);
    status = pn_ledger_spend(ledger, event, 1, "one more", &err);
    pn_event_free(event);
    FUZZ_HOLDS(status == PN_OK || status == PN_EBUDGET || status == PN_EPRIVACY || status == PN_EUNSUPPORTED);
    entries = pn_ledger_entries(ledger);
    pn_ledger_free(ledger);
    FUZZ_HOLDS(pn_ledger_open(&again, path, NULL, NULL, &err) == PN_OK && pn_ledger_entries(again) == entries);
    pn_ledger_free(again);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    fuzz_sweep();
    put_key();
    if (*data % KINDS == FILE_AS_IT_IS) {
        (void)fuzz_file("ledger", data + 1, size - 1);
    } else if (*data % KINDS == HEAD) {
        write_records(first, sizeof first - 1);
        (void)fuzz_file("ledger.head", data + 1, size - 1);
    } else {
        write_records((const char *)data + 1, size - 1);
    }
    open_and_charge();
    return 0;
}
