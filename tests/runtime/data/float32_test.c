/* float32_test.c -- float32 storage: rounding toward zero, bounds that stay valid in real arithmetic, and
 * transformations that do to floats what they do to the same numbers as doubles.
 * The true norms come from 113-bit arithmetic, as in clip_test.c.  Depends on: check.h. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/rows.h"

#include "check.h"

#if defined(__aarch64__)
typedef long double wide; /* IEEE binary128 there */
#else
__extension__ typedef __float128 wide;
#endif

enum { ROWS = 200, WIDTH = 37 };

static uint64_t state = 11;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* ---- rounding ---- */

/* The float is not larger in magnitude, and the next larger one would be. */
static bool is_cut_off(float f, double x)
{
    double next = (double)nextafterf(f, x < 0.0 ? -INFINITY : INFINITY);

    return fabs((double)f) <= fabs(x) && fabs(next) > fabs(x) && (f == 0.0f || (f < 0.0f) == (x < 0.0));
}

static void rounds_toward_zero(void)
{
    static const double corners[] = { 0.1,         -0.1,       1.0,     1.0 + DBL_EPSILON, 0x1p-149, 0x1.8p-149,
                                      0x1p-150,    -0x1p-1074, FLT_MAX, 0x1.fffffefp127,   1e300,    16777217.0,
                                      -16777219.0, 0.0,        -0.0 };
    bool right = true;
    float f;

    for (int k = 0; k < 200000; k++) {
        double x = ldexp(uniform() * 2.0 - 1.0, (int)(uniform() * 280.0) - 152);

        pn_narrow(&f, &x, 1);
        right = right && is_cut_off(f, x);
    }
    CHECK(right);
    for (size_t k = 0; k < sizeof corners / sizeof corners[0]; k++) {
        pn_narrow(&f, &corners[k], 1);
        CHECK(fabs(corners[k]) > (double)FLT_MAX ? f == FLT_MAX : is_cut_off(f, corners[k]));
    }
}

/* ---- data sets ---- */

static void make_rows(double *X)
{
    for (size_t k = 0; k < ROWS * WIDTH; k++)
        X[k] = ldexp(uniform() * 2.0 - 1.0, (int)(uniform() * 20.0) - 10);
}

/* The same records dense or, with every third entry kept, sparse. */
static pn_dataset *make_data(bool sparse)
{
    static size_t start[ROWS + 1];
    static uint32_t column[ROWS * WIDTH];
    static double X[ROWS * WIDTH], y[ROWS], value[ROWS * WIDTH];
    pn_csr csr = { .rows = ROWS, .cols = WIDTH, .start = start, .column = column, .value = value };
    pn_dataset *data = NULL;
    size_t entries = 0;

    make_rows(X);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = uniform();
        for (size_t j = i % 3; j < WIDTH && i % 10 != 0; j += 3) { /* some rows are empty */
            column[entries] = (uint32_t)j;
            value[entries++] = X[i * WIDTH + j];
        }
        start[i + 1] = entries;
    }
    CHECK((sparse ? pn_dataset_from_csr(&data, &csr, y, "rows", NULL)
                  : pn_dataset_from_dense(&data, X, ROWS, WIDTH, y, "rows", NULL)) == PN_OK);
    return data;
}

/* Only one of the four arrays is there. */
static bool holds_together(const pn_dataset *data)
{
    return (data->dense != NULL) == (!data->sparse && !data->float32) &&
           (data->single != NULL) == (!data->sparse && data->float32) &&
           (data->csr.value != NULL) == (data->sparse && !data->float32) &&
           (data->csr_single != NULL) == (data->sparse && data->float32);
}

static bool row_within(const double *x, size_t count, pn_lp norm, double bound)
{
    const wide room = 1 + (wide)0x1p-95;
    wide sum = 0, largest = 0;

    for (size_t j = 0; j < count; j++) {
        wide size = x[j] < 0 ? -(wide)x[j] : (wide)x[j];

        sum += norm == PN_L2 ? size * size : size;
        largest = size > largest ? size : largest;
    }
    if (norm == PN_LINF)
        return largest <= (wide)bound;
    return norm == PN_L2 ? sum <= (wide)bound * bound * room : sum <= (wide)bound * room;
}

static bool all_within(const pn_dataset *data, pn_lp norm, double bound)
{
    pn_rows rows;
    bool inside = pn_rows_open(&rows, data, NULL) == PN_OK;

    for (size_t i = 0; inside && i < data->n; i++) {
        size_t count;
        const double *entries = pn_rows_get(&rows, i, &count);

        inside = row_within(entries, count, norm, bound);
    }
    pn_rows_close(&rows);
    return inside;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_bounds(const pn_record_bounds *a, const pn_record_bounds *b)
{
    return same_number(a->norm[PN_L1], b->norm[PN_L1]) && same_number(a->norm[PN_L2], b->norm[PN_L2]) &&
           same_number(a->norm[PN_LINF], b->norm[PN_LINF]) && same_number(a->label_low, b->label_low) &&
           same_number(a->label_high, b->label_high) && a->labels_binary == b->labels_binary;
}

/* Same shape, and each entry of `single` is that of `full` cut off; labels and bounds are equal. */
static bool is_narrowed(const pn_dataset *single, const pn_dataset *full)
{
    pn_rows a = { NULL, NULL }, b = { NULL, NULL };
    bool same = holds_together(single) && holds_together(full) && single->float32 && single->sparse == full->sparse &&
                single->n == full->n && single->p == full->p &&
                memcmp(single->y, full->y, full->n * sizeof(double)) == 0 &&
                same_bounds(&single->bounds, &full->bounds) && pn_rows_open(&a, single, NULL) == PN_OK &&
                pn_rows_open(&b, full, NULL) == PN_OK;

    for (size_t i = 0; same && i < full->n; i++) {
        size_t count, other, first = pn_row_place(full, i, &count);
        const double *x = pn_rows_get(&a, i, &other), *want = pn_rows_get(&b, i, &count);

        same = count == other;
        for (size_t k = 0; same && k < count; k++) {
            same = is_cut_off((float)x[k], want[k]) || (float)want[k] == (float)x[k];
            same = same && (!full->sparse || single->csr.column[first + k] == full->csr.column[first + k]);
        }
    }
    pn_rows_close(&a);
    pn_rows_close(&b);
    return same;
}

static void keeps_every_bound(bool sparse)
{
    static const double bounds[] = { 0.1, 1.0 / 3.0, 7.3, 1e-30 };
    pn_dataset *full = make_data(sparse), *single = NULL;

    CHECK(pn_dataset_to_float32(&single, full, NULL) == PN_OK && is_narrowed(single, full));
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        for (int norm = 0; norm < PN_LP_COUNT; norm++) {
            pn_dataset *clipped = NULL, *after = NULL, *before = NULL, *twice = NULL;

            CHECK(pn_dataset_clip_rows(&clipped, full, (pn_lp)norm, bounds[b], NULL) == PN_OK);
            CHECK(pn_dataset_to_float32(&before, clipped, NULL) == PN_OK);
            CHECK(is_narrowed(before, clipped));
            CHECK(all_within(before, (pn_lp)norm, bounds[b]));
            CHECK(pn_dataset_clip_rows(&after, single, (pn_lp)norm, bounds[b], NULL) == PN_OK);
            CHECK(after->float32 && holds_together(after));
            CHECK(all_within(after, (pn_lp)norm, bounds[b]));
            CHECK(!all_within(after, (pn_lp)norm,
                              bounds[b] * (1.0 - 1e-6))); /* and not shrunk more than a float is wide */
            CHECK(same_bounds(&after->bounds, &clipped->bounds));
            CHECK(pn_dataset_clip_rows(&twice, after, (pn_lp)norm, bounds[b], NULL) == PN_OK);
            CHECK(sparse ? memcmp(twice->csr_single, after->csr_single, full->csr.start[ROWS] * sizeof(float)) == 0
                         : memcmp(twice->single, after->single, ROWS * WIDTH * sizeof(float)) == 0);
            pn_dataset_free(clipped);
            pn_dataset_free(before);
            pn_dataset_free(after);
            pn_dataset_free(twice);
        }
    }
    pn_dataset_free(full);
    pn_dataset_free(single);
}

/* One step of each kind, of the data set `from`. */
static pn_status transform(pn_dataset **out, const pn_dataset *from, int step, pn_err *err)
{
    static const size_t rows[] = { 7, 0, 199, 7, 30 };
    double low[WIDTH], high[WIDTH], y[ROWS] = { 0 };

    for (size_t j = 0; j < WIDTH; j++) {
        low[j] = -0.3 - 0.01 * (double)j;
        high[j] = 0.7;
    }
    y[4] = 1.0;
    switch (step) {
    case 0:
        return pn_dataset_copy(out, from, err);
    case 1:
        return pn_dataset_subset(out, from, rows, 5, err);
    case 2:
        return pn_dataset_add_bias(out, from, err);
    case 3:
        return pn_dataset_with_labels(out, from, y, ROWS, err);
    case 4:
        return pn_dataset_clip_labels(out, from, 0.25, 0.75, err);
    case 5:
        return pn_dataset_clip_rows(out, from, PN_L2, 1.0, err);
    case 6:
        return pn_dataset_to_float32(out, from, err);
    default:
        return pn_dataset_rescale(out, from, low, high, WIDTH, err);
    }
}

enum { STEPS = 8 };

/* A float32 set holds doubles too: of those as float64 every step must give the same, but for the last cut. */
static void transforms_as_doubles_do(bool sparse)
{
    pn_dataset *full = make_data(sparse), *single = NULL;
    double *values;
    size_t count;

    CHECK(pn_dataset_to_float32(&single, full, NULL) == PN_OK);
    values = sparse ? full->csr.value : full->dense;
    count = sparse ? full->csr.start[ROWS] : ROWS * WIDTH;
    pn_widen(values, sparse ? single->csr_single : single->single, count);
    for (int step = 0; step < STEPS; step++) {
        pn_dataset *a = NULL, *b = NULL;
        pn_dataset_summary facts[2];

        CHECK(transform(&a, single, step, NULL) == PN_OK && transform(&b, full, step, NULL) == PN_OK);
        if (a && b && step != 6)
            CHECK(is_narrowed(a, b));
        if (a && step == 6)
            CHECK(is_narrowed(a, full));
        CHECK(pn_dataset_summarise(a, &facts[0], NULL) == PN_OK && pn_dataset_summarise(b, &facts[1], NULL) == PN_OK);
        CHECK(facts[0].nonzeros == facts[1].nonzeros && facts[0].label_mean == facts[1].label_mean);
        CHECK_CLOSE(facts[0].max_norm[PN_L2], facts[1].max_norm[PN_L2], 1e-6);
        pn_dataset_free(a);
        pn_dataset_free(b);
    }
    pn_dataset_free(full);
    pn_dataset_free(single);
}

static void refuses_what_no_float_holds(void)
{
    double X[] = { 1.0, 2.0, 3.0, -1e39 }, y[] = { 0.0, 0.0 }, value[] = { 1.0, 1e300 };
    size_t start[] = { 0, 1, 2 };
    uint32_t column[] = { 4, 2 };
    pn_csr csr = { .rows = 2, .cols = 5, .start = start, .column = column, .value = value };
    pn_dataset *data = NULL, *single = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&data, X, 2, 2, y, "x", NULL) == PN_OK);
    CHECK(pn_dataset_to_float32(&single, data, &err) == PN_EDOMAIN && single == NULL);
    CHECK(strcmp(err.message, "float32: entry (2, 2) is beyond the range of float32, 3.4e38") == 0);
    data->dense[3] = nextafter((double)FLT_MAX, INFINITY);
    CHECK(pn_dataset_to_float32(&single, data, &err) == PN_EDOMAIN && single == NULL);
    data->dense[3] = -(double)FLT_MAX;
    CHECK(pn_dataset_to_float32(&single, data, &err) == PN_OK && single->single[3] == -FLT_MAX);
    pn_dataset_free(data);
    pn_dataset_free(single);
    single = NULL;
    CHECK(pn_dataset_from_csr(&data, &csr, y, "x", NULL) == PN_OK);
    CHECK(pn_dataset_to_float32(&single, data, &err) == PN_EDOMAIN && single == NULL);
    CHECK(strcmp(err.message, "float32: entry (2, 3) is beyond the range of float32, 3.4e38") == 0);
    pn_dataset_free(data);
}

/* ---- refused memory ---- */

static long live, until_failure = -1;

static void *count_allocate(void *self, size_t bytes)
{
    void *block = until_failure >= 0 && until_failure-- == 0 ? NULL : malloc(bytes);

    (void)self;
    live += block != NULL;
    return block;
}

static void *count_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    return until_failure >= 0 && until_failure-- == 0 ? NULL : realloc(block, bytes);
}

static void count_release(void *self, void *block)
{
    (void)self;
    live--;
    free(block);
}

static void leaves_nothing_when_memory_is_refused(bool sparse)
{
    static const pn_allocator counting = { count_allocate, count_resize, count_release, NULL };
    pn_dataset *full, *single = NULL;
    bool clean = true, told = true;
    int failures = 0;

    pn_allocator_set(&counting);
    full = make_data(sparse);
    CHECK(pn_dataset_to_float32(&single, full, NULL) == PN_OK);
    for (int step = 0; step < 2 * STEPS; step++) {
        pn_status status = PN_ENOMEM;

        for (long k = 0; status != PN_OK; k++) {
            pn_dataset *out = NULL;
            pn_err err;
            long before = live;

            until_failure = k;
            status = transform(&out, step < STEPS ? single : full, step % STEPS, &err);
            until_failure = -1;
            told = told && (status == PN_OK || (status == PN_ENOMEM && out == NULL));
            failures += status != PN_OK;
            pn_dataset_free(out);
            clean = clean && live == before;
        }
    }
    pn_dataset_free(full);
    pn_dataset_free(single);
    pn_allocator_set(NULL);
    CHECK(clean);
    CHECK(told);
    CHECK(failures >= 4 * 2 * STEPS);
    CHECK(live == 0);
}

int main(void)
{
    rounds_toward_zero();
    for (int sparse = 0; sparse < 2; sparse++) {
        keeps_every_bound(sparse == 1);
        transforms_as_doubles_do(sparse == 1);
        leaves_nothing_when_memory_is_refused(sparse == 1);
    }
    refuses_what_no_float_holds();
    return check_summary();
}
