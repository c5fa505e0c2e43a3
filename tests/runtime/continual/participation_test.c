/* participation_test.c -- what a record in several leaves moves, against all sets of leaves and all signs: never more
 * than is certified, and as much where the bound is said to be exact.
 * Depends on: check.h, fail_alloc.h, continual/{participation,toeplitz}.h. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "continual/participation.h"
#include "continual/toeplitz.h"

#include "check.h"
#include "fail_alloc.h"

enum { MOST = 40 };

static uint64_t random_state = 20231;

static double draw(void) /* [-1, 1) */
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(random_state >> 11) * 0x1p-52 - 1.0;
}

typedef struct shape {
    size_t count, bands, q, b;
    double c[MOST * MOST];
} shape;

static pn_mat matrix_of(shape *self)
{
    return (pn_mat){ self->c, self->count, self->count };
}

static pn_participation certify(shape *self)
{
    pn_participation found = { NAN, NAN };

    CHECK(pn_participation_sensitivity(&found, matrix_of(self), self->bands, self->q, self->b, NULL) == PN_OK);
    return found;
}

static void fill(shape *self, double (*value)(size_t t, size_t i))
{
    memset(self->c, 0, sizeof self->c);
    for (size_t t = 0; t < self->count; t++)
        for (size_t i = t + 1 > self->bands ? t + 1 - self->bands : 0; i <= t; i++)
            self->c[t * self->count + i] = value(t, i);
}

/* ---- all sets and all signs ---- */

typedef struct worst {
    double moved; /* the largest || C D || with D of signs */
    double sum;   /* the largest root of f(P) */
} worst;

static double product(const shape *self, size_t i, size_t j)
{
    double sum = 0.0;

    for (size_t t = 0; t < self->count; t++)
        sum += self->c[t * self->count + i] * self->c[t * self->count + j];
    return sum;
}

static bool allowed(const shape *self, unsigned set)
{
    size_t taken = 0, last = 0;

    for (size_t i = 0; i < self->count; i++) {
        if (!(set >> i & 1))
            continue;
        if (taken > 0 && i - last < self->b)
            return false;
        last = i;
        taken++;
    }
    return taken <= self->q;
}

static void try_set(const shape *self, double (*X)[MOST], unsigned set, worst *most)
{
    double sum = 0.0;

    for (size_t i = 0; i < self->count; i++)
        for (size_t j = 0; j < self->count; j++)
            sum += (set >> i & set >> j & 1) ? fabs(X[i][j]) : 0.0;
    most->sum = fmax(most->sum, sqrt(sum));
    for (unsigned up = set;; up = (up - 1) & set) { /* all subsets */
        double square = 0.0;

        for (size_t i = 0; i < self->count; i++)
            for (size_t j = 0; j < self->count; j++)
                if (set >> i & set >> j & 1)
                    square += ((up >> i ^ up >> j) & 1 ? -1.0 : 1.0) * X[i][j];
        most->moved = fmax(most->moved, sqrt(fmax(0.0, square)));
        if (up == 0)
            return;
    }
}

static worst by_force(const shape *self)
{
    static double X[MOST][MOST];
    worst most = { 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++)
        for (size_t j = 0; j < self->count; j++)
            X[i][j] = product(self, i, j);
    for (unsigned set = 1; set < 1u << self->count; set++)
        if (allowed(self, set))
            try_set(self, X, set, &most);
    return most;
}

/* ---- matrices ---- */

static double any_sign(size_t t, size_t i)
{
    return t == i ? 1.0 + 0.5 * draw() : draw();
}

static double positive(size_t t, size_t i)
{
    return fabs(any_sign(t, i));
}

static double alternating(size_t t, size_t i)
{
    return (i % 2 ? -1.0 : 1.0) * positive(t, i);
}

static double falling(size_t t, size_t i)
{
    return 3.0 / sqrt(1.0 + (double)(t - i));
}

/* The bound holds, and is not far off; where signs are those of a product s_i s_j, as of C >= 0, less so. */
static void no_record_moves_more(void)
{
    static double (*const values[])(size_t, size_t) = { any_sign, positive, alternating };
    double worst_share[3] = { 1.0, 1.0, 1.0 };

    for (long round = 0; round < check_times(400, 4000); round++) {
        size_t kind = (size_t)round % 3;
        static shape at;
        pn_participation found;
        worst most;

        at.count = 1 + (size_t)(round / 3) % 8;
        at.bands = 1 + (size_t)((draw() + 1.0) / 2.0 * (double)at.count);
        at.q = 1 + (size_t)((draw() + 1.0) * 2.5);
        at.b = 1 + (size_t)((draw() + 1.0) * 2.0);
        fill(&at, values[kind]);
        found = certify(&at);
        most = by_force(&at);
        CHECK(found.certified >= most.sum && most.sum >= most.moved * (1.0 - 1e-14));
        CHECK(found.attained <= most.moved * (1.0 + 1e-13) && found.attained <= found.certified);
        if (at.q <= 2 || at.bands <= 2 * at.b || at.count <= 2 * at.b) {
            CHECK_CLOSE(found.certified, most.moved, 1e-13 * most.moved);
            CHECK_CLOSE(found.attained, most.moved, 1e-13 * most.moved);
        }
        worst_share[kind] = fmin(worst_share[kind], most.moved / found.certified);
    }
    CHECK(worst_share[0] > 0.85 && worst_share[0] < 1.0); /* here it is only a bound */
    CHECK(worst_share[1] > 0.93 && worst_share[1] < 1.0);
    CHECK(worst_share[2] > 0.93);
}

static void what_falls_is_exact(void)
{
    static shape at;

    for (at.count = 1; at.count <= 8; at.count++)
        for (at.q = 1; at.q <= 5; at.q++)
            for (at.b = 1; at.b <= 3; at.b++) {
                double most;
                pn_participation found;

                at.bands = at.count;
                fill(&at, falling);
                most = by_force(&at).moved;
                found = certify(&at);
                CHECK_CLOSE(found.certified, most, 1e-13 * most);
                CHECK_CLOSE(found.attained, most, 1e-13 * most);
            }
}

/* As pn_toeplitz_sensitivity, which sums in another way. */
static void agrees_with_toeplitz_factorizations(void)
{
    static shape at = { .count = MOST };
    double c[MOST], want;

    for (at.bands = 1; at.bands <= MOST; at.bands += 3)
        for (at.q = 1; at.q <= 6; at.q++)
            for (at.b = 1; at.b <= 9; at.b += 2) {
                pn_participation found;

                pn_toeplitz_sqrt(at.bands, c);
                memset(at.c, 0, sizeof at.c);
                for (size_t t = 0; t < MOST; t++)
                    for (size_t i = 0; i <= t; i++)
                        at.c[t * MOST + i] = t - i < at.bands ? c[t - i] : 0.0;
                CHECK(pn_toeplitz_sensitivity(&want, at.bands, c, MOST, at.q, at.b, NULL) == PN_OK);
                found = certify(&at);
                CHECK_CLOSE(found.certified, want, 1e-12 * want);
                CHECK_CLOSE(found.attained, want, 1e-12 * want);
                CHECK(found.certified >= want * (1.0 - 1e-14));
            }
}

/* Two columns that point the same way, one leaf too near to be with either of them: 3^2 + 4^2 + 2 * 12; and a column
 * that is the negative of another counts as if it were the other. */
static void numbers_by_hand(void)
{
    static shape at = { .count = 4, .bands = 4, .q = 2, .b = 3 };

    at.c[0] = 1.0;
    at.c[1 * 4 + 1] = 2.0;
    at.c[2 * 4 + 2] = 5.5;
    at.c[3 * 4 + 3] = 4.0;
    at.c[3 * 4 + 0] = 3.0;
    CHECK_CLOSE(certify(&at).certified, sqrt(1.0 + 49.0), 1e-13); /* leaves 1 and 4: (1, 7) */
    at.c[3 * 4 + 0] = -3.0;
    CHECK_CLOSE(certify(&at).certified, sqrt(50.0), 1e-13);
    CHECK_CLOSE(certify(&at).attained, sqrt(50.0), 1e-13);
    at.b = 4;
    CHECK_CLOSE(certify(&at).certified, 5.5, 1e-13);
    at.b = 1;
    CHECK_CLOSE(certify(&at).certified, sqrt(50.0), 1e-13); /* 5.5^2 + 4^2 is less */
    at.q = 3;
    CHECK_CLOSE(certify(&at).certified, sqrt(80.25), 1e-13);
}

static pn_status certify_one(void *self, pn_err *err)
{
    shape *at = self;
    pn_participation found;

    return pn_participation_sensitivity(&found, matrix_of(at), at->bands, at->q, at->b, err);
}

int main(void)
{
    static shape at = { .count = 6, .bands = 6, .q = 3, .b = 2 };

    no_record_moves_more();
    what_falls_is_exact();
    agrees_with_toeplitz_factorizations();
    numbers_by_hand();
    fill(&at, any_sign);
    fail_alloc_sweep("sensitivity", certify_one, &at);
    return check_summary();
}
