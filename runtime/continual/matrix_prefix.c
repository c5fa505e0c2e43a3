/* matrix_prefix.c -- prefix sums by any lower-triangular factorization of the caller's own: C, T x T with a positive
 * diagonal, makes the noise w = C^-1 z of the leaves.
 *
 * C = C' diag(C_11 .. C_TT): C' has ones on its diagonal, and is what factored_prefix.h has a proof for, over leaves
 * that are C_tt times as large.  So leaf t is rounded to steps of step / C_tt, its noise is computed in these,
 *     W_t = K_t - round(sum_{s < t} C'_ts W_s),  C'_ts = C_ts / C_ss,
 * and released is the sum of (m_t + W_t) step / C_tt.  With D in steps the neighbour's shifts are C' (diag(C) D + e),
 * |e_t| at most the rounding of one leaf: C' e is at most `certified` / min C_tt, since C'_i is C_i / C_ii and bounds
 * by |C^T C| grow with it.  C' and step / C_tt are rounded once each: |C_ts| q 2^-52 more, of which `certified` 2^-50 q
 * is an ample bound.
 *
 * Row t of C'^-1 is P_t = e_t - sum_{s < t} C'_ts P_s, as the noise itself: the absolute values of its entries add up
 * to what multiplies the noise, and prefix t has the variance || sum_{s <= t} P_s / C_ss ||^2.
 * Depends on: noise_ring.h, participation.h, numeric/simd/simd.h.  Used by: prefix.c's table.
 * Source: Denisov, McMahan, Rush, Smith, Thakurta (2022); Choquette-Choo et al. (2023). */
#include <math.h>
#include <stdio.h>

#include "continual/noise_ring.h"
#include "continual/participation.h"
#include "core/alloc.h"
#include "core/stop.h"
#include "numeric/simd/simd.h"

#define LARGEST 0x1p64 /* entries: their squares, and steps divided by them, are far from the ends of doubles */

typedef struct matrix_method {
    pn_factored_method shared;
    size_t ring;      /* leaves that a row of C looks back at */
    double *rows;     /* [horizon * ring]: C'_ts of row t, in the order of the ring when t comes */
    double *diagonal; /* [horizon] */
    double excess;    /* certified / attained */
} matrix_method;

static void matrix_destroy(pn_prefix_method *self)
{
    if (self) {
        pn_free(((matrix_method *)self)->rows);
        pn_free(((matrix_method *)self)->diagonal);
    }
    pn_factored_method_free((pn_factored_method *)self);
}

/* ---- checks ---- */

static pn_status check_shape(const pn_prefix_options *options, pn_err *err)
{
    const pn_mat *c = &options->matrix;

    if (c->rows == 0)
        return pn_fail(err, PN_EINVAL,
                       "prefix: factorization \"matrix\" needs a matrix of %zu x %zu, a row and a column for each leaf",
                       options->horizon, options->horizon);
    if (c->rows != options->horizon || c->cols != options->horizon)
        return pn_fail(
            err, PN_EDIM,
            "prefix: matrix must be %zu x %zu, a row and a column for each leaf of the horizon, got %zu x %zu",
            options->horizon, options->horizon, c->rows, c->cols);
    return PN_OK;
}

/* Entries are finite.  *bands: of C_ts with t - s >= bands all are 0. */
static pn_status check_entries(size_t *bands, pn_mat c, pn_err *err)
{
    *bands = 1;
    for (size_t t = 0; t < c.rows; t++)
        for (size_t s = 0; s < c.cols; s++) {
            double x = c.data[t * c.cols + s];

            if (s > t && x != 0.0)
                return pn_fail(err, PN_EINVAL, "prefix: matrix must be lower triangular, got %g at row %zu, column %zu",
                               x, t + 1, s + 1);
            if (s == t && !(x >= 1.0 / LARGEST))
                return pn_fail(err, PN_EINVAL,
                               "prefix: the diagonal of matrix must be positive (2^-64 to 2^64), got %g at row %zu", x,
                               t + 1);
            if (!(fabs(x) <= LARGEST))
                return pn_fail(err, PN_EINVAL,
                               "prefix: entries of matrix must be at most 2^64, got %g at row %zu, column %zu", x,
                               t + 1, s + 1);
            if (s < t && x != 0.0 && t - s >= *bands)
                *bands = t - s + 1;
        }
    return PN_OK;
}

/* ---- the price ---- */

static const double *row_of(const matrix_method *self, size_t t)
{
    return self->rows + t * self->ring;
}

/* *largest: of |C_ts|, s < t.  *sum: of |C'_ts| over s < t, the largest. */
static void fill_rows(matrix_method *self, pn_mat c, double *largest, double *sum)
{
    *largest = *sum = 0.0;
    for (size_t t = 0; t < c.rows; t++) {
        double row = 0.0;

        self->diagonal[t] = c.data[t * c.cols + t];
        for (size_t s = t > self->ring ? t - self->ring : 0; s < t; s++) {
            double x = c.data[t * c.cols + s], scaled = x / self->diagonal[s];

            self->rows[t * self->ring + s % self->ring] = scaled;
            *largest = fmax(*largest, fabs(x));
            row += fabs(scaled);
        }
        *sum = fmax(*sum, row);
    }
}

/* One row of C'^-1, of `count` entries of which the first t may be other than 0; work[count], ring as for noise.
 * Returns what its absolute values add up to. */
static double add_row(const matrix_method *self, size_t t, double *ring, double *work, double *sum)
{
    const size_t count = self->shared.base.horizon, size = self->ring;
    double absolute = 1.0, square = 0.0;

    memset(work, 0, count * sizeof *work);
    if (t > 0 && size > 0)
        pn_simd_best()->dense_add_transposed(ring, t < size ? t : size, count, row_of(self, t), work);
    for (size_t s = 0; s < t; s++)
        absolute += fabs(work[s]);
    for (size_t s = 0; s <= t; s++) {
        work[s] = s == t ? 1.0 : -work[s];
        sum[s] += work[s] / self->diagonal[t];
        square += sum[s] * sum[s];
    }
    if (size > 0)
        memcpy(ring + (t % size) * count, work, count * sizeof *work);
    self->shared.variances[t] = square;
    return absolute;
}

static pn_status fill_variances(matrix_method *self, double *growth, pn_err *err)
{
    const size_t count = self->shared.base.horizon;
    double *ring = pn_alloc(count, self->ring * sizeof *ring), *work = pn_alloc(count, sizeof *work);
    double *sum = pn_calloc(count, sizeof *sum);
    pn_status status = pn_made(ring && work && sum, err, "prefix: out of memory for the inverse of a matrix");
    size_t asked = 0;

    *growth = 1.0;
    for (size_t t = 0; t < count && status == PN_OK; t++) {
        *growth = fmax(*growth, add_row(self, t, ring, work, sum));
        status = pn_factored_check_growth(*growth, "entries below the diagonal", err);
        if (status == PN_OK)
            status = pn_stop_worked(&asked, count * (self->ring + 1), err);
    }
    pn_free(ring);
    pn_free(work);
    pn_free(sum);
    return status;
}

static pn_status price(matrix_method *self, const pn_prefix_options *options, pn_err *err)
{
    const double unit = pn_ring_error(self->ring), times = (double)options->participations;
    double growth, largest, sum, low = INFINITY, high = 0.0;
    pn_participation moved;

    fill_rows(self, options->matrix, &largest, &sum);
    PN_TRY(fill_variances(self, &growth, err));
    PN_TRY(pn_participation_sensitivity(&moved, options->matrix, self->ring + 1, options->participations,
                                        options->separation, err));
    for (size_t t = 0; t < options->horizon; t++) {
        low = fmin(low, self->diagonal[t]);
        high = fmax(high, self->diagonal[t]);
    }
    pn_factored_price(&self->shared, options, moved.certified * (1.0 + 0x1p-50 * fmin(times, (double)options->horizon)),
                      (pn_factored_error){ unit * sum * pn_factored_reach(growth), unit * largest * 1.01 });
    self->shared.base.moved /= low * low * (1.0 - 0x1p-50);
    self->shared.base.reach = high;
    self->shared.base.farthest /= high;
    self->excess = moved.certified / moved.attained;
    return PN_OK;
}

/* ---- making ---- */

static pn_status matrix_create(pn_prefix_method **out, pn_prefix_options *options, pn_err *err)
{
    pn_factored_method *shared;
    matrix_method *self;
    size_t bands;
    pn_status status;

    *out = NULL;
    PN_TRY(check_shape(options, err));
    PN_TRY(check_entries(&bands, options->matrix, err));
    PN_TRY(pn_factored_method_new(&shared, sizeof *self, &pn_prefix_matrix, options, err));
    self = (matrix_method *)shared;
    self->ring = bands - 1;
    self->rows = pn_alloc(options->horizon, self->ring * sizeof(double));
    self->diagonal = pn_alloc(options->horizon, sizeof(double));
    status = pn_made(self->rows && self->diagonal, err, "prefix: out of memory for a matrix of %zu bands", bands);
    if (status == PN_OK)
        status = price(self, options, err);
    if (status != PN_OK) {
        matrix_destroy(&shared->base);
        return status;
    }
    *out = &shared->base;
    return PN_OK;
}

/* ---- pushing ---- */

static size_t matrix_words(const pn_prefix_method *self, uint64_t t)
{
    (void)t;
    return ((const matrix_method *)self)->ring;
}

static void matrix_push(const pn_prefix_method *method, void *state, const pn_prefix_step *step)
{
    const matrix_method *self = (const matrix_method *)method;
    const size_t t = (size_t)(step->t - 1);

    pn_ring_push(step, method->step / self->diagonal[t], state, self->ring, row_of(self, t));
}

/* ---- the row ---- */

static void matrix_describe(const pn_prefix_method *self, char *text, size_t size)
{
    const matrix_method *method = (const matrix_method *)self;
    char bound[80] = "sensitivity exact";

    if (method->excess > 1.0 + 1e-9)
        (void)snprintf(bound, sizeof bound, "sensitivity an upper bound, at most %.2g%% high",
                       100.0 * (method->excess - 1.0));
    (void)snprintf(text, size, "given matrix, %zu band%s, %s", method->ring + 1, method->ring > 0 ? "s" : "", bound);
}

const pn_prefix_ops pn_prefix_matrix = {
    .name = "matrix",
    .doc = "any lower-triangular factorization of one's own, as optimization for a plan of participations finds them; "
           "remembers a vector for each band below the diagonal (Denisov et al. 2022; Choquette-Choo et al. 2023)",
    .create = matrix_create,
    .destroy = matrix_destroy,
    .variance = pn_factored_variance,
    .variances = pn_factored_variances,
    .words = matrix_words,
    .push = matrix_push,
    .describe = matrix_describe,
};
