/* least_squares_law.c -- how far the noise on second moments, and the draw of the records, moved a model.
 * Depends on: least_squares_impl.h.  Used by: see least_squares.h.
 *
 * With u = (w, -1) the noise E of the moments moves w by -B (E u), B = (A + ridge)^-1 over features and constant, to
 * first order.  E has variance s^2 on the diagonal and s^2/2 beside it, so that E u has covariance (s^2/2)(|u|^2 I + u
 * u^T), whose part of features and constant is V_e = (s^2/2)((1 + |w|^2) I + w w^T), less s^2 w_0^2 at the corner,
 * which has no noise.  V_P = B V_e B.
 *   The records: r^2 B/n, r^2 = max(0, <residual as released> + tr(B V_e)) n/(n - d): the fit follows the noise in A
 * and b, which lowers the residual by tr(B V_e) on average. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "minimise/least_squares_impl.h"
#include "numeric/blas.h"

/* Everything over features and constant, the constant last. */
typedef struct law {
    const pn_least_squares *self;
    const pn_ls_part *part;
    size_t d;
    double *inverse; /* [d * d] B */
    double *noise;   /* [d * d] V_e */
    double *spread;  /* [d * d] */
    double *column;  /* [d] */
} law;

static pn_status make_room(law *of, pn_err *err)
{
    of->d = of->part->k + of->self->constant;
    of->inverse = pn_calloc(3 * of->d * of->d + of->d, sizeof *of->inverse);
    PN_TRY(pn_made(of->inverse, err, "least squares: out of memory for %zu columns", of->d));
    of->noise = of->inverse + of->d * of->d;
    of->spread = of->noise + of->d * of->d;
    of->column = of->spread + of->d * of->d;
    return PN_OK;
}

/* B from the inverse of S, by blocks: of features it is that, beside the constant -that a/kappa^2, in the corner
 * 1/kappa^2 + a^T that a/kappa^4. */
static void invert(law *of)
{
    size_t k = of->part->k, d = of->d;
    double square = of->self->kappa * of->self->kappa;

    for (size_t i = 0; i < k; i++) {
        memset(of->column, 0, d * sizeof *of->column);
        of->column[i] = 1.0;
        pn_ls_inverse(of->part, of->column, of->inverse + i * d);
    }
    if (d == k)
        return;
    for (size_t i = 0; i < k; i++) {
        double at = -pn_dot(k, of->inverse + i * d, of->part->a) / square;

        of->inverse[i * d + k] = of->inverse[k * d + i] = at;
    }
    of->inverse[k * d + k] = (1.0 - pn_dot(k, of->inverse + k * d, of->part->a)) / square;
}

static void noise_of(law *of, double length)
{
    size_t k = of->part->k, d = of->d;
    double half = of->self->deviation * of->self->deviation / 2.0;

    for (size_t i = 0; i < d; i++) {
        double wi = i < k ? of->part->w[i] : of->part->w0;

        for (size_t j = 0; j < d; j++)
            of->noise[i * d + j] = half * ((i == j ? length : 0.0) + wi * (j < k ? of->part->w[j] : of->part->w0));
    }
    if (d > k)
        of->noise[k * d + k] -= 2.0 * half * of->part->w0 * of->part->w0;
}

/* spread = B V_e B; returns tr(B V_e). */
static double privacy(law *of)
{
    size_t d = of->d;
    double trace = 0.0;

    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) /* row i of B V_e: all three are symmetric but this product */
            of->column[j] = pn_dot(d, of->inverse + i * d, of->noise + j * d);
        trace += of->column[i];
        for (size_t j = 0; j < d; j++)
            of->spread[i * d + j] = pn_dot(d, of->column, of->inverse + j * d);
    }
    return trace;
}

static pn_status add_records(law *of, double trace, pn_err *err)
{
    const pn_ls_part *part = of->part;
    double n = (double)of->self->n, left = n - (double)of->d, residual = part->c;

    if (!(left > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "%zu records are too few for the covariance of %zu columns; ask for fewer "
                       "columns",
                       of->self->n, of->d);
    residual -= pn_dot(part->k, part->b, part->w);
    for (size_t i = 0; i < of->d * of->d; i++)
        of->spread[i] += fmax(0.0, residual + trace) / left * of->inverse[i];
    return PN_OK;
}

static void to_theta(const law *of, double *covariance)
{
    const pn_least_squares *self = of->self;
    size_t k = of->part->k, p = self->p;
    double unit = self->label / self->tau;

    memset(covariance, 0, p * p * sizeof *covariance);
    for (size_t i = 0; i < of->d; i++) {
        size_t row = i < k ? of->part->columns[i] : p - 1;
        double left = unit * (i < k ? 1.0 / self->row : self->kappa);

        for (size_t j = 0; j < of->d; j++) {
            size_t column = j < k ? of->part->columns[j] : p - 1;

            covariance[row * p + column] =
                left * unit * (j < k ? 1.0 / self->row : self->kappa) * of->spread[i * of->d + j];
        }
    }
}

pn_status pn_least_squares_covariance(const pn_least_squares *self, const pn_submodel *which, pn_spread what,
                                      double *covariance, pn_err *err)
{
    pn_ls_part part = { 0 };
    law of = { .self = self, .part = &part };
    pn_status status = pn_ls_open(&part, self, which, err);

    if (status == PN_OK)
        status = pn_ls_ridge(&part, self, which->ridge, 0.0, err);
    if (status == PN_OK)
        status = make_room(&of, err);
    if (status == PN_OK) {
        double trace;

        noise_of(&of, pn_ls_solve(&part, self));
        invert(&of);
        trace = privacy(&of);
        if (what == PN_SPREAD_TOTAL)
            status = add_records(&of, trace, err);
    }
    if (status == PN_OK)
        to_theta(&of, covariance);
    pn_free(of.inverse);
    pn_ls_clear(&part);
    return status;
}
