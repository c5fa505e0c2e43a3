/* clip_test.c -- what clipping promises, in wider arithmetic: no record's part in a gradient is longer than the clip,
 * whatever its slope and features; what is short enough stays as it is; a gradient is one pass.
 * The loss of this file has the slopes that a table gives, so nothing is too wild for it.
 * Depends on: objective/passes/objective.h, random, check.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "objective/passes/objective.h"

#define P           3
#define MARGINS_MAX 3
#define INPUTS_MAX  5

/* ---- a loss whose slopes are those of the label's row ---- */

static double slopes[4096][INPUTS_MAX];
static size_t evaluated;

static void table_evaluate(const pn_loss *self, size_t count, const double *z, const double *y, double *value,
                           double *slope)
{
    (void)z;
    evaluated += count;
    for (size_t i = 0; i < count; i++) {
        if (value)
            value[i] = 0.0;
        for (size_t k = 0; slope && k < pn_loss_inputs(self); k++)
            slope[k * count + i] = slopes[(size_t)y[i]][k];
    }
}

static pn_status table_certify(pn_loss *self, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    const pn_interval all = { -INFINITY, INFINITY };

    (void)self;
    (void)margin;
    (void)y;
    (void)err;
    *out = (pn_loss_bounds){ .value = all, .slope = all, .curvature = all, .third = all };
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        out->slope_norm[norm] = INFINITY;
    return PN_OK;
}

static void table_destroy(pn_loss *self)
{
    (void)self;
}

static const pn_loss_ops table_ops = { .name = "table",
                                       .doc = "slopes of a table",
                                       .source = "this file",
                                       .destroy = table_destroy,
                                       .evaluate = table_evaluate,
                                       .certify = table_certify };

/* ---- records ---- */

static const double wild_slopes[] = { 0.0,       -0.0,    1.0,     -0.5,     3.7e-5,        1e-320,
                                      5e-324,    -1e-300, 1e150,   -1e300,   DBL_MAX,       INFINITY,
                                      -INFINITY, NAN,     0x1p500, -0x1p501, 0x1p-1000,     0x1p-1001,
                                      123.456,   -7.0,    0x1p-60, 1e-200,   1.0 + 0x1p-52, -1e100 };
static const double wild_rows[][P] = {
    { 1.0, 0.0, 0.0 },          { 3.0, -4.0, 0.0 },        { 0.0, 0.0, 0.0 },          { 5e-324, 5e-324, 0.0 },
    { 5e-324, 1e-323, 5e-324 }, { 1e-310, -2e-310, 0.0 },  { 1e308, 1e308, -1e308 },   { DBL_MAX, 0.0, 0.0 },
    { 1e200, 1e-200, 1.0 },     { 0.1, 0.2, -0.3 },        { 1e-8, 1e8, 1.0 },         { 0x1p-1000, 0.0, 0x1p-1000 },
    { 1e154, 1e154, 1e154 },    { 0.6, 0.8, 0.0 },         { 1e-160, 1e-160, 1e-170 }, { 1.0 / 3.0, 2.0 / 3.0, 0.7 },
    { 1e30, -1e25, 3e29 },      { 0x1p990, 0.0, 0x1p989 }, { -2e-30, 1e-31, 0.0 },
};
static const double wild_clips[] = { 1.0, 0.1, 1e-100, 0x1p-400, 0x1p400, 5.0, 1e20, 0x1p-40 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct case_set {
    size_t n, margins, inputs;
    double X[4096 * P], y[4096];
} case_set;

static double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* Every wild slope at every wild row, then random ones over 200 orders of magnitude. */
static void fill(case_set *self, size_t margins, size_t extra, bool floats)
{
    unsigned state = 7;

    self->margins = margins;
    self->inputs = margins + extra;
    self->n = 0;
    for (size_t s = 0; s < COUNT(wild_slopes); s++) {
        for (size_t r = 0; r < COUNT(wild_rows); r++) {
            for (size_t k = 0; k < INPUTS_MAX; k++)
                slopes[self->n][k] = wild_slopes[(s + 5 * k) % COUNT(wild_slopes)];
            memcpy(self->X + self->n++ * P, wild_rows[r], sizeof wild_rows[r]);
        }
    }
    while (self->n < 2000) {
        double slope = pow(10.0, 100.0 * unit(&state) - 50.0), row = pow(10.0, 100.0 * unit(&state) - 50.0);

        for (size_t k = 0; k < INPUTS_MAX; k++)
            slopes[self->n][k] = slope * (2.0 * unit(&state) - 1.0);
        for (size_t j = 0; j < P; j++)
            self->X[self->n * P + j] = row * (2.0 * unit(&state) - 1.0);
        self->n++;
    }
    for (size_t i = 0; i < self->n; i++)
        self->y[i] = (double)i;
    for (size_t i = 0; floats && i < self->n * P; i++)
        self->X[i] = fabs(self->X[i]) < 3e38 ? (double)(float)self->X[i] : (double)3e38F;
}

/* Of a record's part: factors times x, and those of further parameters by themselves. */
static long double length(const double *factor, size_t stride, size_t margins, size_t inputs, const double *x)
{
    long double sum = 0.0L;

    for (size_t k = 0; k < margins; k++) {
        for (size_t j = 0; j < P; j++) {
            long double part = (long double)factor[k * stride] * (long double)x[j];

            sum += part * part;
        }
    }
    for (size_t k = margins; k < inputs; k++)
        sum += (long double)factor[k * stride] * (long double)factor[k * stride];
    return sqrtl(sum);
}

/* What the slopes are before clipping: objective.h says how NaN, infinities and what is below 2^-1000 count. */
static bool is_tame(const double *slope, size_t margins)
{
    bool tame = true;

    for (size_t k = 0; k < margins; k++)
        tame = tame && (slope[k] == 0.0 || (fabs(slope[k]) >= 0x1p-1000 && fabs(slope[k]) <= 0x1p500));
    return tame;
}

static void check_record(const case_set *cases, size_t i, const double *factors, double clip)
{
    const double *x = cases->X + i * P;
    size_t n = cases->n, margins = cases->margins, inputs = cases->inputs;
    long double now = length(factors + i, n, margins, inputs, x);
    long double before = length(slopes[i], 1, margins, inputs, x);
    long double row = length(&(const double){ 1.0 }, 1, 1, 1, x);
    bool same = true, ordinary = is_tame(slopes[i], inputs) && row > 0x1p-900L && row < 0x1p500L;

    for (size_t k = 0; k < inputs; k++)
        same = same && factors[k * n + i] == slopes[i][k];
    CHECK(now <= (long double)clip);
    if (ordinary && before <= (1.0L - 1e-13L) * (long double)clip)
        CHECK(same);
    if (ordinary && before >= (long double)clip && before < 0x1p890L * (long double)clip) {
        CHECK(now >= (1.0L - 1e-13L) * (long double)clip);
        for (size_t k = 1; k < inputs; k++) { /* the direction stays, but for what becomes less than 2^-1000 */
            long double scaled = (long double)factors[k * n + i] * (long double)slopes[i][0];
            long double want = (long double)factors[i] * (long double)slopes[i][k];

            CHECK(fabsl(scaled - want) <= 1e-14L * fabsl(want) + 0x1p-1000L * ((long double)fabs(slopes[i][0]) +
                                                                               (long double)fabs(slopes[i][k])));
        }
    }
}

/* A batch of one record gives its part in a gradient, rounding of the products included. */
static void check_part(pn_objective *objective, const case_set *cases, size_t i, const double *factors, double clip)
{
    const double theta[P * MARGINS_MAX + INPUTS_MAX] = { 0 };
    double gradient[P * MARGINS_MAX + INPUTS_MAX];
    const size_t rows[1] = { i };
    const pn_batch batch = { rows, 1, 1.0 };
    long double sum = 0.0L;
    pn_err err;
    bool same = true;

    CHECK(pn_objective_losses(objective, &batch, theta, NULL, gradient, NULL, &err) == PN_OK);
    for (size_t k = 0; k < cases->margins; k++) {
        for (size_t j = 0; j < P; j++)
            same = same && gradient[k * P + j] == factors[k * cases->n + i] * cases->X[i * P + j];
    }
    for (size_t k = cases->margins; k < cases->inputs; k++)
        same = same && gradient[cases->margins * (P - 1) + k] == factors[k * cases->n + i];
    CHECK(same);
    for (size_t j = 0; j < pn_objective_dim(objective); j++)
        sum += (long double)gradient[j] * (long double)gradient[j];
    CHECK(sqrtl(sum) <= (long double)clip);
}

static void check_data(const pn_dataset *data, pn_loss *loss, const case_set *cases, double clip)
{
    const pn_objective_parts parts = { .data = data, .loss = loss, .clip = clip };
    double theta[P * MARGINS_MAX + INPUTS_MAX] = { 0 }, gradient[P * MARGINS_MAX + INPUTS_MAX];
    double *factors = malloc(cases->n * cases->inputs * sizeof *factors), dim = (double)(P * cases->margins);
    pn_objective *objective = NULL;
    const pn_bounds *bounds;
    pn_err err;

    if (!CHECK(factors && pn_objective_new(&objective, &parts, &err) == PN_OK))
        return;
    bounds = pn_objective_bounds(objective);
    dim += (double)(cases->inputs - cases->margins);
    CHECK(bounds->source == PN_BOUND_CLIPPED && bounds->certified && bounds->missing[0] == '\0');
    CHECK(bounds->lipschitz[PN_L1] == clip && bounds->lipschitz[PN_L2] == clip);
    CHECK_CLOSE(bounds->lipschitz[PN_LINF], clip * sqrt(dim), 1e-13 * bounds->lipschitz[PN_LINF]);
    CHECK(bounds->lipschitz[PN_LINF] >= clip * sqrt(dim));
    CHECK(pn_objective_factors(objective, theta, NULL, factors, NULL, &err) == PN_OK);
    for (size_t i = 0; i < cases->n; i++)
        check_record(cases, i, factors, clip);
    for (size_t i = 0; i < cases->n; i += 7)
        check_part(objective, cases, i, factors, clip);
    evaluated = 0;
    CHECK(pn_objective_evaluate(objective, theta, NULL, gradient, NULL, &err) == PN_OK);
    CHECK(evaluated == cases->n); /* one pass */
    CHECK(pn_objective_hessian_times(objective, NULL, theta, theta, gradient, NULL, &err) == PN_EUNSUPPORTED);
    pn_objective_free(objective);
    free(factors);
}

static pn_dataset *sparse_copy(const case_set *cases)
{
    size_t *start = malloc((cases->n + 1) * sizeof *start), nnz = 0;
    uint32_t *column = malloc(cases->n * P * sizeof *column);
    double *value = malloc(cases->n * P * sizeof *value);
    pn_dataset *out = NULL;
    pn_err err;
    pn_csr X;

    for (size_t i = 0; i < cases->n; i++) {
        start[i] = nnz;
        for (uint32_t j = 0; j < P; j++) {
            if (cases->X[i * P + j] != 0.0) {
                column[nnz] = j;
                value[nnz++] = cases->X[i * P + j];
            }
        }
    }
    start[cases->n] = nnz;
    X = (pn_csr){ .rows = cases->n, .cols = P, .start = start, .column = column, .value = value };
    CHECK(pn_dataset_from_csr(&out, &X, cases->y, "sparse", &err) == PN_OK);
    free(start);
    free(column);
    free(value);
    return out;
}

static void check_storages(size_t margins, size_t extra, bool floats)
{
    case_set *cases = malloc(sizeof *cases);
    pn_loss loss = { .ops = &table_ops, .row = &table_ops, .references = 1, .margins = margins, .extra = extra };
    pn_dataset *data[3] = { NULL };
    pn_err err;

    fill(cases, margins, extra, floats);
    CHECK(pn_dataset_from_dense(&data[0], cases->X, cases->n, P, cases->y, "dense", &err) == PN_OK);
    data[1] = sparse_copy(cases);
    if (floats)
        CHECK(pn_dataset_to_float32(&data[2], data[0], &err) == PN_OK);
    for (size_t c = 0; c < COUNT(wild_clips); c++) {
        for (size_t d = 0; d < 3; d++) {
            if (data[d])
                check_data(data[d], &loss, cases, wild_clips[c]);
        }
    }
    for (size_t d = 0; d < 3; d++)
        pn_dataset_free(data[d]);
    free(cases);
}

int main(void)
{
    check_storages(1, 0, false);
    check_storages(MARGINS_MAX, 0, false);
    check_storages(1, 0, true);
    check_storages(MARGINS_MAX, 0, true);
    check_storages(1, 1, false);
    check_storages(MARGINS_MAX, 2, false);
    check_storages(MARGINS_MAX, 2, true);
    return check_summary();
}
