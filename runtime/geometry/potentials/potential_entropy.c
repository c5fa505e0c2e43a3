/* potential_entropy.c -- Psi(x) = radius sum_j x_j ln(x_j / radius) on x >= 0: h' Hess h = radius sum h_j^2 / x_j >=
 * ||h||_1^2 wherever sum x <= radius (Cauchy-Schwarz), so it is 1-strongly convex in the l1 norm there.
 * Steps keep every entry at least at the smallest normal number (times radius),
 * so that the gradient exists where they lead.
 * Depends on: potential.h, simd.h.  Used by: potential.c's table, potential_polytope.c.
 * See geometry.md section 3. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/potentials/boxed_entropy.h"
#include "geometry/potentials/potential_entropy.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

typedef struct entropy {
    pn_potential base;
    double radius;
} entropy;

extern const pn_potential_ops pn_potential_entropy;

enum { RADIUS };

static const pn_param entropy_params[] = {
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest sum of the entries: that of the simplex" },
    PN_PARAM_END,
};

static double radius_of(const pn_potential *self)
{
    return ((const entropy *)self)->radius;
}

static pn_status entropy_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    entropy *self;
    pn_norm *norm = NULL;
    pn_status status;

    PN_TRY(pn_new(&self, 1, err, "potential.entropy: out of memory"));
    status = pn_norm_from_args(&norm, "l1", (pn_arg[1]){ { .given = false } }, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    pn_potential_init(&self->base, &pn_potential_entropy, 0, 1.0, norm);
    self->radius = args[RADIUS].real;
    *out = &self->base;
    return PN_OK;
}

static void entropy_destroy(pn_potential *self)
{
    pn_free(self);
}

double pn_entropy_value(double radius, const double *x, size_t n)
{
    const pn_simd *simd = pn_simd_best();
    double piece[PN_POTENTIAL_PIECE], sum = 0.0;

    for (size_t at = 0; at < n; at += PN_POTENTIAL_PIECE) {
        size_t count = n - at < PN_POTENTIAL_PIECE ? n - at : PN_POTENTIAL_PIECE;

        for (size_t j = 0; j < count; j++) {
            if (x[at + j] < 0.0)
                return INFINITY;
            piece[j] = fmax(x[at + j] / radius, DBL_MIN); /* 0 ln 0 = 0 */
        }
        simd->log(count, piece, piece);
        for (size_t j = 0; j < count; j++)
            piece[j] *= x[at + j];
        sum += pn_sum(count, piece);
    }
    return radius * sum;
}

pn_status pn_entropy_gradient(double radius, const double *x, size_t n, double *out, pn_err *err)
{
    const pn_simd *simd = pn_simd_best();

    for (size_t j = 0; j < n; j++) {
        if (!(x[j] > 0.0))
            return pn_fail(err, PN_EDOMAIN,
                           "potential.entropy: there is no gradient where an entry is not positive: %g at entry %zu",
                           x[j], j + 1);
    }
    for (size_t at = 0; at < n; at += PN_POTENTIAL_PIECE) {
        size_t count = n - at < PN_POTENTIAL_PIECE ? n - at : PN_POTENTIAL_PIECE;

        for (size_t j = at; j < at + count; j++)
            out[j] = x[j] / radius;
        simd->log(count, out + at, out + at);
        for (size_t j = at; j < at + count; j++)
            out[j] = radius * (out[j] + 1.0);
    }
    return PN_OK;
}

/* x[n] <- exp((c - top) / radius); the sum. */
static double powers(double radius, const double *c, double top, size_t n, double *x)
{
    const pn_simd *simd = pn_simd_best();
    double sum = 0.0;

    for (size_t at = 0; at < n; at += PN_POTENTIAL_PIECE) {
        size_t count = n - at < PN_POTENTIAL_PIECE ? n - at : PN_POTENTIAL_PIECE;

        for (size_t j = at; j < at + count; j++)
            x[j] = (c[j] - top) / radius;
        simd->exp(count, x + at, x + at);
        sum += pn_sum(count, x + at);
    }
    return sum;
}

/* x[n] <- max(factor x, the least positive number that keeps all digits) */
static void scale_up_from_zero(double factor, double least, size_t n, double *x)
{
    for (size_t j = 0; j < n; j++) {
        double scaled = factor * x[j];

        x[j] = scaled > least ? scaled : least;
    }
}

void pn_entropy_simplex_step(double radius, double size, const double *c, size_t n, double *x)
{
    double sum = powers(radius, c, pn_potential_largest(c, n), n, x);

    scale_up_from_zero(size / sum, DBL_MIN * fmax(radius, 1.0), n, x);
}

/* radius (ln(x / radius) + 1) = u */
pn_status pn_entropy_inverse(double radius, const double *u, size_t n, double *out, pn_err *err)
{
    (void)powers(radius, u, radius, n, out);
    scale_up_from_zero(radius, DBL_MIN * fmax(radius, 1.0), n, out);
    return pn_potential_finite("entropy", out, n, err);
}

static pn_status entropy_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    (void)err;
    *value = pn_entropy_value(radius_of(self), x, n);
    return PN_OK;
}

static pn_status entropy_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    return pn_entropy_gradient(radius_of(self), x, n, out, err);
}

static pn_status entropy_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    return pn_entropy_inverse(radius_of(self), u, n, out, err);
}

/* x >= 0, sum x <= size: the step without the bound on the sum where it keeps it. */
static void unit_simplex_step(double radius, double size, const double *c, size_t n, double *x)
{
    double top = pn_potential_largest(c, n), sum = powers(radius, c, top, n, x);
    double free_factor = radius * exp(fmin(top / radius - 1.0, 700.0)); /* beyond, size / sum is smaller */

    scale_up_from_zero(fmin(free_factor, size / sum), DBL_MIN * fmax(radius, 1.0), n, x);
}

/* A sum of functions of one entry each: the box clips every entry for itself. */
static pn_status box_step(double radius, const pn_set *set, const double *c, double *x, pn_err *err)
{
    size_t n = set->dim;
    pn_status status;

    for (size_t j = 0; j < n; j++)
        x[j] = fmin(c[j], 701.0 * radius);
    (void)powers(radius, x, radius, n, x);
    scale_up_from_zero(radius, DBL_MIN * fmax(radius, 1.0), n, x);
    status = pn_set_project(set, x, n, err);
    for (size_t j = 0; status == PN_OK && j < n; j++) {
        if (x[j] < 0.0)
            return pn_fail(err, PN_EDOMAIN, "potential.entropy: the set has no point with entry %zu >= 0", j + 1);
    }
    return status;
}

static pn_status entropy_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    double radius = radius_of(self), size;
    const pn_set *other, *box;

    if (pn_set_is(set, "simplex", &size))
        pn_entropy_simplex_step(radius, size, c, set->dim, x);
    else if (pn_set_is(set, "unit_simplex", &size))
        unit_simplex_step(radius, size, c, set->dim, x);
    else if (pn_set_is_a_box(set))
        return box_step(radius, set, c, x, err);
    else if (pn_set_boxed_parts(set, &other, &box) && pn_set_is(other, "simplex", &size))
        return pn_entropy_boxed_step(radius, size, box, c, x, err);
    else
        return PN_EUNSUPPORTED;
    return PN_OK;
}

static double xlogx(double x)
{
    return x > 0.0 ? x * log(x) : 0.0;
}

/* Over {x >= 0, sum x = size}: largest at a vertex, least at the middle.  Where only sum x <= size is asked, every
 * entry wants to be radius / e, and the vertex at the origin has Psi = 0. */
/* Refuses sets with points of negative sum: steps would silently stay in the rest of them. */
static pn_status check_domain(const pn_set *set, pn_err *err)
{
    double *down = pn_alloc(set->dim, sizeof *down), least = 0.0;
    pn_status status = PN_OK;

    PN_TRY(pn_made(down, err, "potential.entropy: out of memory"));
    for (size_t j = 0; j < set->dim; j++)
        down[j] = -1.0;
    if (set->ops->support)
        status = set->ops->support(set, down, NULL, &least, err);
    pn_free(down);
    if (status == PN_OK && least > 1e-9 * set->ops->radius(set, PN_L1))
        return pn_fail(err, PN_EINVAL,
                       "potential.entropy: its domain is x >= 0, and %s has other points; it fits a simplex",
                       set->ops->name);
    return status;
}

static pn_status entropy_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    double radius = radius_of(self), size, p = (double)set->dim, most, least, entry;
    bool flat = pn_set_is(set, "simplex", &size);
    pn_status status = pn_potential_reach("entropy", radius, set->ops->radius(set, PN_L1), "l1", err);

    if (status != PN_OK)
        return status;
    if (!flat && !pn_set_is(set, "unit_simplex", &size)) {
        PN_TRY(check_domain(set, err));
        if (pn_set_is_polytope(set))
            return PN_EUNSUPPORTED;
        size = set->ops->radius(set, PN_L1); /* of a unit simplex around it */
    }
    entry = flat ? size / p : fmin(size / p, radius * exp(-1.0));
    most = xlogx(size / radius);
    if (!flat)
        most = fmax(most, 0.0);
    least = p * xlogx(entry / radius);
    *range = pn_potential_up(radius * radius * (most - least));
    return PN_OK;
}

/* J = diag(x) / radius, less that of the direction which a fixed sum rules out: tr A J A' is the sum of x_j ||A e_j||^2
 * over radius, and over a simplex the variance of the columns with weights x, at most the largest ||A e_j - c||^2. */
static pn_status entropy_trace(const pn_potential *self, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    double size, most = 1.0;
    bool flat = pn_set_is(set, "simplex", &size);

    size = flat ? size : set->ops->radius(set, PN_L1);
    if (A.data)
        PN_TRY(pn_potential_largest_column(A, flat, &most, err));
    else if (flat)
        most -= 1.0 / (double)set->dim;
    *trace = pn_potential_up(size / radius_of(self) * most);
    return PN_OK;
}

static void entropy_describe(const pn_potential *self, char *text, size_t size)
{
    (void)snprintf(text, size, "entropy(radius=%.10g)", radius_of(self));
}

const pn_potential_ops pn_potential_entropy = {
    .name = "entropy",
    .doc = "radius sum_j x_j ln(x_j / radius) for x >= 0: 1-strongly convex in the l1 norm where sum x <= radius; the "
           "mirror step over a simplex multiplies by exp(-eta g / radius) and normalises.",
    .source = "Beck and Teboulle (2003), Mirror descent and nonlinear projected subgradient methods",
    .params = entropy_params,
    .create = entropy_create,
    .destroy = entropy_destroy,
    .value = entropy_value,
    .gradient = entropy_gradient,
    .inverse_gradient = entropy_inverse,
    .step = entropy_step,
    .range = entropy_range,
    .trace_through = entropy_trace,
    .describe = entropy_describe,
};
