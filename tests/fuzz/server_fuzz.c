/* server_fuzz.c -- the checkpoint of a federated server: an input is the state, which gets its two sectors here.  A
 * server that goes on from it makes two rounds with parties that answer as they should.
 * Depends on: fuzz.h, runtime/federated/server/server_kit.h. */
#include "fuzz/fuzz.h"

#include "federated/server/server_impl.h"
#include "runtime/federated/server/server_kit.h"

static void two_rounds(pn_server *server)
{
    pn_server_round made;
    pn_err err = { 0 };
    double x[D];

    for (int t = 0; t < 2 && pn_server_step(server, &made, NULL, &err) == PN_OK; t++) {
        pn_server_model(server, x);
        for (size_t i = 0; i < D; i++)
            FUZZ_HOLDS(isfinite(x[i]));
    }
    (void)pn_server_all_features(server);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static const pn_checkpoint_owner owner = { .name = "federated", .what = "federated run" };
    static const unsigned char id[PN_CHECKPOINT_ID] = { 1 };
    pn_checkpoint_file *file = NULL;
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_err err = { 0 };
    bool published;
    const char *path;

    fuzz_sweep();
    path = fuzz_path("server");
    fill();
    FUZZ_HOLDS(pn_checkpoint_make(&file, &owner, path, id, PN_CHECKPOINT_FOLLOWED, data, size, &published, NULL) ==
               PN_OK);
    pn_checkpoint_close(file);
    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 1.0, true, double_identity(N), terms);
    FUZZ_HOLDS(pn_server_keep_at(&parties.base, path, NULL) == PN_OK);
    if (double_serve(&parties, terms, path, &server, &err) == PN_OK)
        two_rounds(server);
    else
        FUZZ_HOLDS(!server && err.message[0] != '\0');
    pn_server_free(server);
    double_close(&parties);
    return 0;
}
