/* clip_test.c -- clipped rows obey their bound in real arithmetic, whatever their size.
 * The true norms come from 113-bit arithmetic: the products below are exact and the sums err by less than 2^-100.
 * Depends on: check.h. */
#include <stdlib.h>
#include <string.h>

#include "data/build.h"

#include "check.h"
#include "fail_alloc.h"

#if defined(__aarch64__)
typedef long double wide; /* IEEE binary128 there */
#else
__extension__ typedef __float128 wide;
#endif

static uint64_t state = 7;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* Is the true norm of x at most bound, but for a relative 2^-95? */
static bool within(const double *x, size_t p, pn_lp norm, double bound)
{
    const wide room = 1 + (wide)0x1p-95;
    wide sum = 0, largest = 0;

    for (size_t j = 0; j < p; j++) {
        wide size = x[j] < 0 ? -(wide)x[j] : (wide)x[j];

        sum += norm == PN_L2 ? size * size : size;
        largest = size > largest ? size : largest;
    }
    if (norm == PN_LINF)
        return largest <= (wide)bound;
    return norm == PN_L2 ? sum <= (wide)bound * bound * room : sum <= (wide)bound * room;
}

enum { ROWS = 400, WIDTH = 37 };

/* Rows of sizes from 2^-1060 to 2^1023, some flat, some with one entry that dominates. */
static void make_rows(double *X, double spread)
{
    for (size_t i = 0; i < ROWS; i++) {
        double scale = (uniform() * 2.0 - 1.0) * spread;

        for (size_t j = 0; j < WIDTH; j++)
            X[i * WIDTH + j] = ldexp(uniform() * 2.0 - 1.0, (int)(scale + (i % 3 == 0 ? -60.0 * uniform() : 0.0)));
    }
}

static void clips_within(double *X, const double *y, pn_lp norm, double bound)
{
    pn_dataset *data = NULL, *once = NULL, *twice = NULL;
    bool inside = true, fair = true, kept = true;
    pn_err err;

    if (!CHECK(pn_dataset_from_dense(&data, X, ROWS, WIDTH, y, "rows", &err) == PN_OK) ||
        !CHECK(pn_dataset_clip_rows(&once, data, norm, bound, &err) == PN_OK) ||
        !CHECK(pn_dataset_clip_rows(&twice, once, norm, bound, &err) == PN_OK))
        goto done;
    for (size_t i = 0; i < ROWS; i++) {
        const double *before = data->dense + i * WIDTH, *after = once->dense + i * WIDTH;
        bool same = memcmp(before, after, WIDTH * sizeof *after) == 0;

        inside = inside && within(after, WIDTH, norm, bound);
        /* What was left alone fits; what was scaled did not fit, or only just,
         * and is not shrunk more than it must be. */
        fair = fair && (same || !within(before, WIDTH, norm, bound * (1.0 - 1e-13)));
        fair = fair && (same || !within(after, WIDTH, norm, bound * (1.0 - 1e-12)));
    }
    kept = memcmp(once->dense, twice->dense, sizeof(double) * ROWS * WIDTH) == 0;
    CHECK(inside);
    CHECK(fair);
    CHECK(kept); /* a second clip changes nothing */
    CHECK(once->bounds.norm[norm] == bound);
done:
    pn_dataset_free(data);
    pn_dataset_free(once);
    pn_dataset_free(twice);
}

static void every_norm_and_size(void)
{
    static const double bounds[] = { 1.0, 0.1, 3.7416573867739413, 1e100, 0x1p-400, 0x1p400 };
    double *X = malloc(sizeof(double) * ROWS * WIDTH), y[ROWS] = { 0.0 };

    CHECK(X != NULL);
    if (!X)
        return;
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        for (int norm = 0; norm < PN_LP_COUNT; norm++) {
            make_rows(X, 2.0);
            clips_within(X, y, (pn_lp)norm, bounds[b]);
            make_rows(X, 1020.0);
            clips_within(X, y, (pn_lp)norm, bounds[b]);
        }
    }
    free(X);
}

/* Rows that lie on the bound up to rounding are where a naive C / norm lets a norm come out above C. */
static void rows_on_the_bound(void)
{
    double *X = malloc(sizeof(double) * ROWS * WIDTH), y[ROWS] = { 0.0 };

    CHECK(X != NULL);
    if (!X)
        return;
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        make_rows(X, 1.0);
        for (size_t i = 0; i < ROWS; i++) {
            double mantissa, size;
            int exponent;

            pn_row_norm(X + i * WIDTH, WIDTH, (pn_lp)norm, &mantissa, &exponent);
            size = ldexp(mantissa, exponent);
            for (size_t j = 0; j < WIDTH; j++)
                X[i * WIDTH + j] = X[i * WIDTH + j] / size * 0.3;
        }
        clips_within(X, y, (pn_lp)norm, 0.3);
    }
    free(X);
}

static void sparse_rows_clip_like_dense_ones(void)
{
    size_t start[] = { 0, 2, 2, 3 };
    uint32_t column[] = { 0, 2, 1 };
    double value[] = { 3e300, -4e300, 0.25 }, y[] = { 0.0, 0.0, 0.0 };
    pn_csr csr = { .rows = 3, .cols = 3, .start = start, .column = column, .value = value };
    pn_dataset *data = NULL, *clipped = NULL;
    pn_err err;

    if (CHECK(pn_dataset_from_csr(&data, &csr, y, "rows", &err) == PN_OK) &&
        CHECK(pn_dataset_clip_rows(&clipped, data, PN_L2, 1.0, &err) == PN_OK)) {
        CHECK_CLOSE(clipped->csr.value[0], 0.6, 1e-14);
        CHECK_CLOSE(clipped->csr.value[1], -0.8, 1e-14);
        CHECK(clipped->csr.value[2] == 0.25);
        CHECK(within(clipped->csr.value, 2, PN_L2, 1.0));
    }
    pn_dataset_free(data);
    pn_dataset_free(clipped);
}

/* ||x||_2 <= sqrt(p) ||x||_inf and so on, rounded upwards: squared in 113 bits the implied bound is not below p b^2. */
static void implied_bounds_are_rounded_upwards(void)
{
    bool enough = true, tight = true;

    for (int trial = 0; trial < 20000; trial++) {
        size_t p = 1 + (size_t)(uniform() * 1e6);
        double b = ldexp(0.5 + uniform(), (int)(uniform() * 40.0) - 20);
        pn_record_bounds bounds = { .norm = { NAN, NAN, NAN }, .label_low = NAN, .label_high = NAN };
        wide l1, l2, with_bias;

        pn_bounds_tighten(&bounds, p, PN_LINF, b);
        l1 = bounds.norm[PN_L1];
        l2 = bounds.norm[PN_L2];
        enough = enough && l1 >= (wide)b * (wide)p && l2 * l2 >= (wide)b * b * (wide)p;
        tight = tight && bounds.norm[PN_L2] <= b * sqrt((double)p) * (1.0 + 1e-15);
        pn_bounds_with_bias(&bounds);
        with_bias = bounds.norm[PN_L2];
        enough = enough && with_bias * with_bias >= l2 * l2 + 1 && (wide)bounds.norm[PN_L1] >= l1 + 1;
        enough = enough && bounds.norm[PN_LINF] == fmax(b, 1.0);
    }
    CHECK(enough);
    CHECK(tight);
}

/* ---- gauges ---- */

typedef enum lie { HONEST, TOO_SMALL, NOT_A_NUMBER, FAILING, ENDLESS } lie;

/* max over blocks of two of their l2 norms; ||x||_2 is at most sqrt(p / 2) times that, and so on. */
static pn_status block_norm(void *self, const double *x, size_t p, double *value, pn_err *err)
{
    static const double says[] = { 1.0, 0.25, NAN, 1.0, INFINITY };
    lie kind = *(lie *)self;
    double largest = 0.0;

    for (size_t j = 0; j < p; j += 2)
        largest = fmax(largest, hypot(x[j], j + 1 < p ? x[j + 1] : 0.0));
    CHECK(largest > 0.0 && largest < 3.0); /* rows come in units of their largest entry */
    *value = says[kind] * largest;
    return kind == FAILING ? pn_fail(err, PN_ECALLBACK, "mine") : PN_OK;
}

static pn_row_gauge block_gauge(lie *kind)
{
    double blocks = (WIDTH + 1) / 2;

    return (pn_row_gauge){ block_norm, kind, { blocks * 1.4142135623730952, 4.3588989435406741, 1.0 } };
}

static void holds_what_a_gauge_implies(lie kind)
{
    double *X = malloc(sizeof(double) * ROWS * WIDTH), y[ROWS] = { 0.0 };
    pn_dataset *data = NULL, *clipped = NULL;
    pn_row_gauge gauge = block_gauge(&kind);
    bool inside = true, fair = true;
    pn_err err;

    CHECK(X != NULL);
    if (!X)
        return;
    make_rows(X, 1020.0);
    for (size_t i = 0; i < ROWS; i += 2) { /* and some that lie on the bound */
        for (size_t j = 0; j < WIDTH; j++)
            X[i * WIDTH + j] = j % 2 ? 0.0 : (i % 4 ? 0.7 : 1e200);
    }
    if (CHECK(pn_dataset_from_dense(&data, X, ROWS, WIDTH, y, "rows", &err) == PN_OK) &&
        CHECK(pn_dataset_clip_rows_to(&clipped, data, &gauge, 0.7, &err) == PN_OK)) {
        for (size_t i = 0; i < ROWS; i++) {
            const double *row = clipped->dense + i * WIDTH;
            double largest = 0.0;

            for (int norm = 0; norm < PN_LP_COUNT; norm++)
                inside = inside && within(row, WIDTH, (pn_lp)norm, clipped->bounds.norm[norm]);
            for (size_t j = 0; j < WIDTH; j += 2)
                largest = fmax(largest, hypot(row[j], j + 1 < WIDTH ? row[j + 1] : 0.0));
            fair = fair && (largest > 0.7 * (1.0 - 1e-12) || memcmp(row, X + i * WIDTH, sizeof *row * WIDTH) == 0);
            fair = fair && (kind != HONEST || largest <= 0.7);
        }
        CHECK(inside);
        CHECK(fair || kind != HONEST);
        CHECK(clipped->bounds.norm[PN_LINF] == 0.7);
        CHECK_CLOSE(clipped->bounds.norm[PN_L2], 0.7 * sqrt(19.0), 1e-15);
        CHECK_CLOSE(clipped->bounds.norm[PN_L1], 0.7 * sqrt(19.0 * 37.0), 1e-14); /* what l2 implies is less */
    }
    pn_dataset_free(data);
    pn_dataset_free(clipped);
    free(X);
}

static pn_status clip_small(pn_dataset **clipped, lie kind, double bound, pn_err *err)
{
    size_t start[] = { 0, 2, 2, 3 };
    uint32_t column[] = { 0, 2, 1 };
    double value[] = { 3e300, -4e300, 0.25 }, y[] = { 0.0, 0.0, 0.0 };
    pn_csr csr = { .rows = 3, .cols = 3, .start = start, .column = column, .value = value };
    pn_row_gauge gauge = { block_norm, &kind, { 3.0, 2.0, 1.0 } };
    pn_dataset *data = NULL;
    pn_status status = pn_dataset_from_csr(&data, &csr, y, "rows", err);

    *clipped = NULL;
    if (status == PN_OK)
        status = pn_dataset_clip_rows_to(clipped, data, &gauge, bound, err);
    pn_dataset_free(data);
    return status;
}

/* Entries 1 and 3 are in different blocks: the dense row counts, not the stored entries. */
static void a_gauge_sees_sparse_rows_as_dense_ones(void)
{
    pn_dataset *clipped;
    pn_err err;

    if (CHECK(clip_small(&clipped, HONEST, 1.0, &err) == PN_OK)) {
        CHECK_CLOSE(clipped->csr.value[0], 0.75, 1e-13);
        CHECK_CLOSE(clipped->csr.value[1], -1.0, 1e-13);
        CHECK(clipped->csr.value[2] == 0.25);
    }
    pn_dataset_free(clipped);
    if (CHECK(clip_small(&clipped, ENDLESS, 1.0, &err) == PN_OK)) /* no multiple of the row fits but 0 */
        CHECK(clipped->csr.value[0] == 0.0 && clipped->csr.value[1] == 0.0 && clipped->csr.value[2] == 0.0);
    pn_dataset_free(clipped);
}

static void what_a_gauge_implies_is_rounded_upwards(void)
{
    bool enough = true, tight = true;

    for (int trial = 0; trial < 200; trial++) {
        double bound = 0.5 + uniform();
        pn_dataset *clipped;
        pn_err err;

        if (!CHECK(clip_small(&clipped, HONEST, bound, &err) == PN_OK))
            return;
        enough = enough && (wide)clipped->bounds.norm[PN_L1] >= (wide)bound * 3;
        tight = tight && clipped->bounds.norm[PN_L1] <= bound * 3.0 * (1.0 + 0x1p-51);
        pn_dataset_free(clipped);
    }
    CHECK(enough);
    CHECK(tight);
}

static void a_gauge_that_fails_leaves_nothing(void)
{
    pn_dataset *clipped;
    pn_err err;

    CHECK(clip_small(&clipped, FAILING, 1.0, &err) == PN_ECALLBACK && strcmp(err.message, "mine") == 0);
    CHECK(!clipped);
    CHECK(clip_small(&clipped, NOT_A_NUMBER, 1.0, &err) == PN_ENUMERIC && !clipped);
    CHECK(clip_small(&clipped, HONEST, NAN, &err) == PN_EINVAL && !clipped);
    CHECK(clip_small(&clipped, HONEST, 0x1p400, &err) == PN_EINVAL && !clipped);
    CHECK(strstr(err.message, "l1 norms up to 7.7") != NULL);
}

static pn_status clip_honestly(void *self, pn_err *err)
{
    pn_dataset *clipped;
    pn_status status = clip_small(&clipped, HONEST, 1.0, err);

    (void)self;
    CHECK(!clipped == (status != PN_OK));
    pn_dataset_free(clipped);
    return status;
}

int main(void)
{
    every_norm_and_size();
    rows_on_the_bound();
    sparse_rows_clip_like_dense_ones();
    implied_bounds_are_rounded_upwards();
    holds_what_a_gauge_implies(HONEST);
    holds_what_a_gauge_implies(TOO_SMALL);
    a_gauge_sees_sparse_rows_as_dense_ones();
    what_a_gauge_implies_is_rounded_upwards();
    a_gauge_that_fails_leaves_nothing();
    fail_alloc_sweep("clip to a gauge", clip_honestly, NULL);
    return check_summary();
}
