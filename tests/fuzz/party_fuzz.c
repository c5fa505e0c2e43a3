/* party_fuzz.c -- the checkpoint of a federated party.  The first byte says whether the party is private; the rest is
 * the state, which gets its two sectors here.  A party that goes on from it is asked what its terms let a server ask.
 * Depends on: fuzz.h, runtime/federated/party/party_kit.h. */
#include "fuzz/fuzz.h"
#include "runtime/federated/party/party_kit.h"

enum { N = 20, C = 3, LARGEST = 1 << 12 };

static pn_dataset *some_records(void)
{
    records r = records_new(N, C, 0.5, false, 3);
    pn_dataset *data = dataset_of(&r, false);

    records_free(&r);
    return data;
}

static void ask_all(pn_party *party)
{
    const uint64_t round = party->rounds;
    pn_message reply = { 0 };
    pn_terms terms;

    FUZZ_HOLDS(pn_terms_copy(&terms, &party->terms, NULL) == PN_OK);
    if (terms.sketch.m > 0 && terms.sketch.m <= LARGEST && terms.columns == C) {
        (void)ask(party, round_of(&terms, round, NULL, NULL), &reply);
        for (uint32_t column = 0; column < C; column++)
            (void)ask_feature(party, &terms, round, column, &reply);
        (void)ask(party, round_of(&terms, round + 1, NULL, NULL), &reply);
    }
    (void)ask_terms(party, &terms, &reply);
    pn_message_clear(&reply);
    pn_terms_drop(&terms);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static const pn_checkpoint_owner owner = { .name = "party", .what = "party" };
    static const unsigned char id[PN_CHECKPOINT_ID] = { 1 };
    static pn_dataset *columns;
    pn_ledger *ledger;
    pn_checkpoint_file *file = NULL;
    pn_party_report report;
    pn_party *party;
    pn_err err = { 0 };
    bool published;
    const char *path;

    if (size == 0)
        return 0;
    fuzz_sweep();
    path = fuzz_path("party");
    columns = columns ? columns : some_records();
    ledger = *data & 1 ? NULL : ledger_of(1e6, PN_REPLACE_ONE);
    party = party_of(columns, ledger, 5);
    FUZZ_HOLDS(pn_checkpoint_make(&file, &owner, path, id, PN_CHECKPOINT_FOLLOWED, data + 1, size - 1, &published,
                                  NULL) == PN_OK);
    pn_checkpoint_close(file);
    if (party_checkpoint_open(party, path, &err) == PN_OK) {
        FUZZ_HOLDS(pn_party_report_of(party, &report, NULL) == PN_OK);
        ask_all(party);
    } else {
        FUZZ_HOLDS(err.message[0] != '\0');
    }
    pn_party_free(party);
    pn_ledger_free(ledger);
    return 0;
}
