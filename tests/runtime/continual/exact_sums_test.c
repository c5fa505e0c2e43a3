/* exact_sums_test.c -- sums that cost 64 bits while they are small are those of 128 bits, wherever they go.
 * Depends on: check.h, continual/exact_sums.h. */
#include "continual/exact_sums.h"
#include "random/rng.h"

#include "check.h"

#define COUNT 5

typedef struct pair {
    int64_t low[COUNT], high[COUNT];
    pn_prefix_wide wide[COUNT]; /* what they should be */
} pair;

static pn_exact_sums of(pair *self)
{
    return (pn_exact_sums){ self->low, self->high };
}

static bool right(pair *self)
{
    bool same = true;

    for (size_t j = 0; j < COUNT; j++)
        same = same && pn_sums_at(of(self), j) == self->wide[j] && (pn_sums_far(of(self)) || self->high[0] == 0);
    return same;
}

static void add_whole(pair *self, pn_rng *rng, unsigned bits)
{
    int64_t whole[COUNT];

    for (size_t j = 0; j < COUNT; j++) {
        whole[j] = (int64_t)(pn_rng_u64(rng) >> (64 - bits)) * (j % 2 ? -1 : 1);
        self->wide[j] += whole[j];
    }
    pn_sums_add_whole(of(self), whole, COUNT);
}

static void are_those_of_128_bits(void)
{
    pair one = { .low = { 0 } }, other = { .low = { 0 } };
    pn_rng *rng = NULL;
    bool begins_small, ends_far;

    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    CHECK(right(&one));
    add_whole(&one, rng, 61);
    begins_small = !pn_sums_far(of(&one));
    CHECK(begins_small && right(&one));
    for (int i = 0; i < 40; i++) {
        add_whole(&one, rng, 62);
        CHECK(right(&one));
    }
    ends_far = pn_sums_far(of(&one));
    CHECK(ends_far);
    for (int i = 0; i < 3; i++) { /* small and far, far and far */
        pn_sums_add(of(&other), of(&one), COUNT);
        for (size_t j = 0; j < COUNT; j++)
            other.wide[j] += one.wide[j];
        CHECK(right(&other));
        add_whole(&other, rng, 20);
        CHECK(right(&other));
    }
    pn_rng_free(rng);
}

static void know_their_limit(void)
{
    const int64_t limit = (int64_t)1 << 61;

    CHECK(!pn_sums_beyond(pn_sums_seen(limit - 1) | pn_sums_seen(-limit)));
    CHECK(pn_sums_beyond(pn_sums_seen(limit)) && pn_sums_beyond(pn_sums_seen(-limit - 1)));
    CHECK(pn_sums_beyond(pn_sums_seen(2 * limit)) && pn_sums_beyond(pn_sums_seen(-2 * limit)));
}

static void become_doubles_by_one_rounding(void)
{
    const pn_prefix_wide large = (pn_prefix_wide)1 << 100;

    CHECK(pn_sums_double(large + 1) == 0x1p100 && pn_sums_double(-large) == -0x1p100);
    CHECK(pn_sums_double(((pn_prefix_wide)1 << 53) + 1) == 0x1p53 && pn_sums_double(-7) == -7.0);
}

int main(void)
{
    are_those_of_128_bits();
    know_their_limit();
    become_doubles_by_one_rounding();
    return check_summary();
}
