/* least_squares.c -- models from second moments.
 * Depends on: least_squares.h, numeric/lapack.h, numeric/symmetric.h.  Used by: see least_squares.h.
 *
 * In units of v the mean of (y - z)^2 is (label/tau)^2 (w^T A w - 2 <b, w> + c), A and b of the features, b and c of
 * the label.  With a constant kappa, whose corner kappa^2 is known exactly, the best w_0 for the other w is (b_0 -
 * <a, w>)/kappa^2, which leaves S = A - a a^T/kappa^2, b - a b_0/kappa^2 and c - b_0^2/kappa^2: the intercept is not
 * shrunk.  S + lambda I is inverted by its eigenvalues.  theta_j = w_j label/(tau row), theta_0 = w_0 kappa label/tau +
 * middle, and lambda of w is lambda row^2 beside the mean of (z - y)^2/2.
 *
 * The estimate of the mean square is u^T M u with u = (w, -1): its noise u^T E u has variance s^2 |u|^4, E isotropic,
 * less s^2 w_0^4 of the corner that has none.
 * Source: Stein (1981), Estimation of the mean of a multivariate normal distribution. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "minimise/least_squares_impl.h"
#include "numeric/blas.h"
#include "numeric/symmetric.h"

#define NOTHING 0x1p-44 /* of the largest eigenvalue: rounding, in moments without noise */

/* ---- life ---- */

pn_status pn_least_squares_new(pn_least_squares **out, const pn_least_squares *like, const double *moments, pn_err *err)
{
    size_t size = pn_packed_size(like->p + 1);
    pn_least_squares *self;

    PN_TRY(pn_new(&self, 1, err, "least squares: out of memory"));
    *self = *like;
    self->moments = pn_alloc(size, sizeof *self->moments);
    if (!self->moments) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "least squares: out of memory for %zu moments", size);
    }
    memcpy(self->moments, moments, size * sizeof *moments);
    *out = self;
    return PN_OK;
}

void pn_least_squares_free(pn_least_squares *self)
{
    if (!self)
        return;
    pn_free(self->moments);
    pn_free(self);
}

/* ---- the problem of some columns ---- */

double pn_ls_moment(const pn_least_squares *self, size_t i, size_t j)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;

    return self->moments[high * (high + 1) / 2 + low];
}

void pn_ls_clear(pn_ls_part *part)
{
    pn_free(part->columns);
    pn_free(part->numbers);
    *part = (pn_ls_part){ 0 };
}

static pn_status check_columns(const pn_least_squares *self, const pn_submodel *which, pn_err *err)
{
    size_t features = self->p - self->constant;

    for (size_t k = 0; which->columns && k < which->count; k++) {
        if (which->columns[k] >= features)
            return pn_fail(err, PN_EINVAL, "column %zu is not one of the %zu features", which->columns[k] + 1,
                           features);
        if (k > 0 && which->columns[k] <= which->columns[k - 1])
            return pn_fail(err, PN_EINVAL, "columns must increase strictly, got %zu after %zu", which->columns[k] + 1,
                           which->columns[k - 1] + 1);
    }
    if (!isnan(which->ridge) && !(which->ridge >= 0.0 && isfinite(which->ridge)))
        return pn_fail(err, PN_EINVAL, "ridge must be a number >= 0, got %g", which->ridge);
    return PN_OK;
}

static pn_status make_room(pn_ls_part *part, size_t k, pn_err *err)
{
    double *at;

    part->k = k;
    part->columns = pn_alloc(k + 1, sizeof *part->columns);
    part->numbers = pn_calloc(2 * k * k + 7 * k + 1, sizeof *part->numbers);
    PN_TRY(
        pn_made(part->columns && part->numbers ? part : NULL, err, "least squares: out of memory for %zu columns", k));
    at = part->numbers;
    part->matrix = at;
    part->vectors = at += k * k;
    part->values = at += k * k;
    part->b = at += k;
    part->a = at += k;
    part->w = at += k;
    part->turned_a = at += k;
    part->turned_b = at += k;
    part->turned = at + k;
    return PN_OK;
}

pn_status pn_ls_open(pn_ls_part *part, const pn_least_squares *self, const pn_submodel *which, pn_err *err)
{
    size_t k = which->columns ? which->count : self->p - self->constant, zero = self->p - 1, y = self->p;
    double square = self->kappa * self->kappa;

    PN_TRY(check_columns(self, which, err));
    PN_TRY(make_room(part, k, err));
    part->c = pn_ls_moment(self, y, y);
    part->b0 = self->constant ? pn_ls_moment(self, zero, y) : 0.0;
    part->c -= self->constant ? part->b0 * part->b0 / square : 0.0;
    for (size_t i = 0; i < k; i++) {
        part->columns[i] = which->columns ? which->columns[i] : i;
        part->a[i] = self->constant ? pn_ls_moment(self, part->columns[i], zero) : 0.0;
        part->b[i] = pn_ls_moment(self, part->columns[i], y);
        part->b[i] -= self->constant ? part->a[i] * part->b0 / square : 0.0;
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < k; j++) {
            part->matrix[i * k + j] = pn_ls_moment(self, part->columns[i], part->columns[j]);
            part->matrix[i * k + j] -= self->constant ? part->a[i] * part->a[j] / square : 0.0;
        }
    }
    if (k > 0)
        PN_TRY(pn_eigen_symmetric(part->values, part->vectors, (pn_mat){ part->matrix, k, k }, err));
    for (size_t i = 0; i < k; i++) {
        part->turned_a[i] = pn_dot(k, part->vectors + i * k, part->a);
        part->turned_b[i] = pn_dot(k, part->vectors + i * k, part->b);
    }
    part->noise = self->deviation * sqrt(2.0 * (double)k);
    return PN_OK;
}

/* Estimate of the mean square that the model with that ridge has on the records, in units of v: that on the released
 * moments, u^T (M + E) u, less the mean of u^T E u.  w moves by -B (dE u), B = (A + ridge)^-1 with the constant, so by
 * Stein's lemma over an orthonormal basis of symmetric matrices, of which sum A_i B A_i = (B + tr(B) I)/2, that mean is
 * -s^2 (tr(B) |u|^2 + <w, B w>), but for the corner, which has no noise: + 2 s^2 w_0^2 B_00.  In the basis of
 * eigenvectors all of it is a sum over them. */
static double expected_square(const pn_ls_part *part, const pn_least_squares *self, double ridge)
{
    double square = self->kappa * self->kappa, fit = part->c, trace = 0.0, length = 1.0, quadratic = 0.0;
    double along = 0.0, bent = 0.0, cross = 0.0, w0, corner = 0.0;

    for (size_t i = 0; i < part->k; i++) {
        double inverse = 1.0 / (part->values[i] + ridge), b = part->turned_b[i], a = part->turned_a[i];
        double w = b * inverse;

        fit += (part->values[i] * w - 2.0 * b) * w;
        trace += inverse;
        length += w * w;
        quadratic += w * w * inverse;
        along += a * w;
        bent += a * a * inverse;
        cross += a * w * inverse;
    }
    if (self->constant) {
        w0 = (part->b0 - along) / square;
        corner = (1.0 + bent / square) / square;
        length += w0 * w0;
        quadratic += w0 * (corner * w0 - 2.0 * cross / square);
        trace += corner;
        corner *= 2.0 * w0 * w0;
    }
    return fit + self->deviation * self->deviation * (trace * length + quadratic - corner);
}

/* The ridge with the least estimate, of those that leave the least eigenvalue `floor` x the norm of the noise. */
static double best_ridge(const pn_ls_part *part, const pn_least_squares *self, double strong)
{
    double least = fmax(0.0, PN_LS_FLOOR * part->noise - part->values[0] - strong), best = least, lowest = INFINITY;
    double unit = fmax(least, 0.125 * part->noise), top = 16.0 * fmax(part->values[part->k - 1], part->noise);

    for (double ridge = least; ridge < top; ridge = ridge < unit ? unit : ridge * 1.1892071150027210667) {
        double here = expected_square(part, self, ridge + strong);

        best = here < lowest ? ridge : best;
        lowest = fmin(lowest, here);
    }
    return best;
}

pn_status pn_ls_ridge(pn_ls_part *part, const pn_least_squares *self, double wanted, double strong, pn_err *err)
{
    double lowest = part->k > 0 ? part->values[0] : INFINITY;

    if (!isnan(wanted))
        part->ridge = wanted / (self->row * self->row);
    else if (self->damping > 0.0)
        part->ridge = fmax(0.0, self->damping * part->noise - lowest - strong);
    else
        part->ridge = self->deviation > 0.0 && part->k > 0 ? best_ridge(part, self, strong) : 0.0;
    if (self->deviation > 0.0 && part->k > 0 && !(lowest + strong + part->ridge > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "with ridge = %g the released matrix has an eigenvalue of %g, which is not positive: the "
                       "quadratic objective has no minimum; give more than %g, or leave ridge out",
                       wanted, (lowest + part->ridge) * self->row * self->row, -lowest * self->row * self->row);
    return PN_OK;
}

void pn_ls_inverse(const pn_ls_part *part, const double *in, double *out)
{
    size_t k = part->k;
    double nothing = k > 0 ? NOTHING * fabs(part->values[k - 1]) : 0.0;

    for (size_t i = 0; i < k; i++) {
        double value = part->values[i] + part->ridge;

        part->turned[i] = value > nothing ? pn_dot(k, part->vectors + i * k, in) / value : 0.0;
    }
    memset(out, 0, k * sizeof *out);
    for (size_t i = 0; i < k; i++)
        pn_axpy(k, part->turned[i], part->vectors + i * k, out);
}

double pn_ls_solve(pn_ls_part *part, const pn_least_squares *self)
{
    pn_ls_inverse(part, part->b, part->w);
    part->w0 = self->constant ? (part->b0 - pn_dot(part->k, part->a, part->w)) / (self->kappa * self->kappa) : 0.0;
    return pn_dot(part->k, part->w, part->w) + part->w0 * part->w0 + 1.0;
}

/* ---- models ---- */

static void to_theta(const pn_ls_part *part, const pn_least_squares *self, double *theta)
{
    memset(theta, 0, self->p * sizeof *theta);
    for (size_t i = 0; i < part->k; i++)
        theta[part->columns[i]] = part->w[i] * self->label / (self->tau * self->row);
    if (self->constant)
        theta[self->p - 1] = part->w0 * self->kappa * self->label / self->tau + self->middle;
}

pn_status pn_least_squares_solve(const pn_least_squares *self, const pn_submodel *which, double *theta,
                                 pn_submodel_fit *about, pn_err *err)
{
    pn_ls_part part = { 0 };
    pn_status status = pn_ls_open(&part, self, which, err);
    double length, unit = self->label * self->label / (self->tau * self->tau), bent = 0.0;

    if (status == PN_OK)
        status = pn_ls_ridge(&part, self, which->ridge, 0.0, err);
    if (status == PN_OK) {
        length = pn_ls_solve(&part, self);
        to_theta(&part, self, theta);
        for (size_t i = 0; i < part.k; i++)
            bent += part.w[i] * pn_dot(part.k, part.matrix + i * part.k, part.w);
        *about = (pn_submodel_fit){
            .ridge = part.ridge * self->row * self->row,
            .eigenvalue = part.k > 0 ? part.values[0] : INFINITY,
            .noise = part.noise,
            .mse = (part.c - 2.0 * pn_dot(part.k, part.b, part.w) + bent) * unit,
            .mse_deviation = self->deviation * sqrt(length * length - pow(part.w0, 4.0)) * unit,
        };
    }
    pn_ls_clear(&part);
    return status;
}

/* A of theta is (label/tau)^2 D^-1 A D^-1, theta = D w: row and 1/kappa on either side; the middle is moved back. */
static void to_quadratic(const pn_ls_part *part, const pn_least_squares *self, double *matrix, double *linear)
{
    size_t p = self->p;

    for (size_t j = 0; j < p; j++) {
        double column = self->constant && j == p - 1 ? 1.0 / self->kappa : self->row;

        for (size_t i = 0; i <= j; i++) {
            double row = self->constant && i == p - 1 ? 1.0 / self->kappa : self->row;
            double at = pn_ls_moment(self, i, j);

            at += i == j && !(self->constant && j == p - 1) ? part->ridge : 0.0;
            matrix[j * (j + 1) / 2 + i] = at * row * column;
        }
        linear[j] = pn_ls_moment(self, j, p) * column * self->label / self->tau;
    }
    for (size_t i = 0; self->constant && i < p; i++)
        linear[i] += self->middle * matrix[(p - 1) * p / 2 + i];
}

pn_status pn_least_squares_quadratic(const pn_least_squares *self, double strong, double *matrix, double *linear,
                                     double *ridge, pn_err *err)
{
    const pn_submodel all = { .ridge = NAN };
    pn_ls_part part = { 0 };
    pn_status status = pn_ls_open(&part, self, &all, err);

    if (status == PN_OK)
        status = pn_ls_ridge(&part, self, NAN, strong / (self->row * self->row), err);
    if (status == PN_OK) {
        to_quadratic(&part, self, matrix, linear);
        *ridge = part.ridge * self->row * self->row;
    }
    pn_ls_clear(&part);
    return status;
}
