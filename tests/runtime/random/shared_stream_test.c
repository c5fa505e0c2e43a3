/* shared_stream_test.c -- one secure stream on all ranks, which are threads here; its splits.
 * Depends on: random/shared_stream.h, fake_ranks.h. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "fake_ranks.h"
#include "random/shared_stream.h"

#define WORDS 20000 /* several refills */

typedef struct drawn {
    uint64_t main[FAKE_MOST][WORDS], first[FAKE_MOST][8], second[FAKE_MOST][8], after[FAKE_MOST][8];
    bool fine[FAKE_MOST];
} drawn;

static void draw(pn_ranks *ranks, void *argument)
{
    drawn *out = argument;
    size_t me = pn_ranks_rank(ranks);
    pn_rng *rng = NULL, *one = NULL, *two = NULL;
    bool fine = pn_rng_shared(&rng, ranks, NULL) == PN_OK;

    pn_rng_bytes(rng, out->main[me], sizeof out->main[me]);
    /* The same number twice: noise must not come twice. */
    fine = fine && pn_rng_split(&one, rng, 1, NULL) == PN_OK && pn_rng_split(&two, rng, 1, NULL) == PN_OK;
    pn_rng_bytes(one, out->first[me], sizeof out->first[me]);
    pn_rng_bytes(two, out->second[me], sizeof out->second[me]);
    pn_rng_bytes(rng, out->after[me], sizeof out->after[me]);
    fine = fine && pn_rng_is_shared(rng) && pn_rng_is_shared(one) && !pn_rng_simulated(rng) && !pn_rng_simulated(one);
    out->fine[me] = fine;
    pn_rng_free(one);
    pn_rng_free(two);
    pn_rng_free(rng);
}

static void all_ranks_draw_the_same(void)
{
    static drawn out, again;
    fake_world world;

    fake_run(&world, 3, draw, &out);
    fake_run(&world, 3, draw, &again);
    for (size_t r = 0; r < 3; r++) {
        CHECK(out.fine[r]);
        CHECK(memcmp(out.main[r], out.main[0], sizeof out.main[0]) == 0);
        CHECK(memcmp(out.first[r], out.first[0], sizeof out.first[0]) == 0);
        CHECK(memcmp(out.second[r], out.second[0], sizeof out.second[0]) == 0);
        CHECK(memcmp(out.after[r], out.after[0], sizeof out.after[0]) == 0);
    }
    CHECK(memcmp(out.main[0], again.main[0], sizeof out.main[0]) != 0);
    CHECK(memcmp(out.first[0], out.second[0], sizeof out.first[0]) != 0);
    CHECK(memcmp(out.first[0], out.after[0], sizeof out.first[0]) != 0);
}

static void a_secure_stream_is_not_shared(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    CHECK(!pn_rng_is_shared(rng));
    pn_rng_free(rng);
    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    CHECK(!pn_rng_is_shared(rng));
    pn_rng_free(rng);
}

/* One rank, or none: a secure stream. */
static void one_rank_needs_nobody(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_shared(&rng, NULL, NULL) == PN_OK);
    CHECK(!pn_rng_simulated(rng));
    pn_rng_free(rng);
}

int main(void)
{
    (void)alarm(100); /* ranks that wait for each other for ever */
    all_ranks_draw_the_same();
    a_secure_stream_is_not_shared();
    one_rank_needs_nobody();
    return check_summary();
}
