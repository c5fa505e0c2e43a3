/* birkhoff.c -- the doubly stochastic matrices {X in R^(n x n) : X >= 0, rows and columns sum to 1}, as row-major
 * vectors of n^2 entries: the hull of the n! permutation matrices.
 *
 * Projection of Z: X = max(Z - a 1^T - 1 b^T, 0), where the prices (a, b) minimise the convex
 *     f(a, b) = ||X||^2/2 + sum a + sum b,    grad f = (1 - X 1, 1 - X^T 1).
 * f is piecewise quadratic, so Newton steps end; each is followed by the best a for b and the best b for a.
 *
 * Depends on: set.h, assignment.h, simplex_project.h, lapack.h, blas.h.  Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/assignment.h"
#include "geometry/kernels/simplex_project.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

#define MOST_STEPS 200

typedef struct birkhoff {
    pn_set base;
    size_t n;
} birkhoff;

extern const pn_set_ops pn_set_birkhoff;

enum { N };

static const pn_param birkhoff_params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows and columns of a matrix" },
    PN_PARAM_END,
};

static size_t side_of(const pn_set *self)
{
    return ((const birkhoff *)self)->n;
}

static pn_status create(pn_set **out, const pn_arg *args, pn_err *err)
{
    size_t n = args[N].count;
    birkhoff *set;

    if (n > (size_t)1 << 24)
        return pn_fail(err, PN_EINVAL, "set.birkhoff: n must be at most 2^24, got %zu", n);
    PN_TRY(pn_new(&set, 1, err, "set.birkhoff: out of memory"));
    pn_set_init(&set->base, &pn_set_birkhoff, n * n);
    set->n = n;
    *out = &set->base;
    return PN_OK;
}

static void destroy(pn_set *self)
{
    pn_free(self);
}

static void describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "birkhoff(dim=%zu, n=%zu)", self->dim, side_of(self));
}

static pn_status support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    size_t n = side_of(self), *column = pn_alloc(n, sizeof *column);
    double total = 0.0;
    pn_status status;

    PN_TRY(pn_made(column, err, "set.birkhoff: out of memory in support"));
    status = pn_assignment(column, NULL, g, n, err);
    if (status == PN_OK) {
        if (point)
            memset(point, 0, self->dim * sizeof *point);
        for (size_t i = 0; i < n; i++) {
            total += g[i * n + column[i]];
            if (point)
                point[i * n + column[i]] = 1.0;
        }
        *value = total;
    }
    pn_free(column);
    return status;
}

/* ||.|| of n (or 2 n) ones */
static double norm_of_ones(double count, pn_lp norm)
{
    double root = sqrt(count);

    if (norm == PN_LINF)
        return 1.0;
    if (norm == PN_L1)
        return count;
    return fma(root, root, -count) < 0.0 ? nextafter(root, INFINITY) : root;
}

static double radius(const pn_set *self, pn_lp norm)
{
    return norm_of_ones((double)side_of(self), norm);
}

/* Between permutations that agree nowhere. */
static double diameter(const pn_set *self, pn_lp norm)
{
    size_t n = side_of(self);

    return n == 1 ? 0.0 : norm_of_ones(2.0 * (double)n, norm);
}

/* Row sums [n], column sums [n] of X, and its least entry. */
static double find_sums(const double *x, size_t n, double *sums)
{
    double least = x[0];

    memset(sums, 0, 2 * n * sizeof *sums);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double entry = x[i * n + j];

            sums[i] += entry;
            sums[n + j] += entry;
            least = entry < least ? entry : least;
        }
    }
    return least;
}

static pn_status contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    size_t n = side_of(self);
    double *sums;

    PN_TRY(pn_new(&sums, 2 * n, err, "set.birkhoff: out of memory in contains"));
    *inside = find_sums(x, n, sums) >= -tolerance;
    for (size_t i = 0; i < 2 * n; i++)
        *inside = *inside && fabs(sums[i] - 1.0) <= tolerance;
    pn_free(sums);
    return PN_OK;
}

static void center_of(const pn_set *self, double *x)
{
    for (size_t i = 0; i < self->dim; i++)
        x[i] = 1.0 / (double)side_of(self);
}

/* X/t is in the set when all sums are t, as far as sums of n numbers tell. */
static pn_status gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    size_t n = side_of(self);
    double *sums = pn_alloc(2 * n, sizeof *sums), total = 0.0;
    bool nonnegative, equal = true;

    PN_TRY(pn_made(sums, err, "set.birkhoff: out of memory in gauge"));
    nonnegative = find_sums(x, n, sums) >= 0.0;
    for (size_t i = 0; i < n; i++)
        total += sums[i] / (double)n;
    for (size_t i = 0; i < 2 * n; i++)
        equal = equal && fabs(sums[i] - total) <= 8.0 * DBL_EPSILON * (double)(n + 8) * total;
    *value = nonnegative && equal ? total : INFINITY;
    pn_free(sums);
    return PN_OK;
}

/* ---- projection ---- */

typedef struct dual {
    size_t n;
    double *z;              /* [n * n] moved to the plane of the sums */
    double *x;              /* [n * n] max(z - a - b, 0) */
    double *price;          /* [2 n] a, b */
    double *slope;          /* [2 n] grad f */
    double *step, *trial;   /* [2 n] */
    double *line, *scratch; /* [n] */
    double *hessian;        /* [2 n * 2 n] */
    double size;            /* max |z|, at least 1 */
} dual;

static pn_status dual_init(dual *d, size_t n, pn_err *err)
{
    *d = (dual){ .n = n };
    d->z = pn_alloc(6 * n + 10, n * sizeof *d->z);
    PN_TRY(pn_made(d->z, err, "set.birkhoff: out of memory in project"));
    d->x = d->z + n * n;
    d->hessian = d->x + n * n;
    d->price = d->hessian + 4 * n * n;
    d->slope = d->price + 2 * n;
    d->step = d->slope + 2 * n;
    d->trial = d->step + 2 * n;
    d->line = d->trial + 2 * n;
    d->scratch = d->line + n;
    return PN_OK;
}

/* z = the point nearest to Z among those whose rows and columns sum to 1, which has the same projection. */
static void flatten(dual *d, const double *Z)
{
    size_t n = d->n;
    double *sums = d->slope, mean = 0.0;

    memcpy(d->z, Z, n * n * sizeof *Z);
    for (int round = 0; round < 2; round++) { /* the second for what rounding left of large numbers */
        (void)find_sums(d->z, n, sums);
        mean = 0.0;
        for (size_t i = 0; i < n; i++)
            mean += sums[i] / (double)n;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++)
                d->z[i * n + j] -= ((sums[i] - mean) + (sums[n + j] - 1.0)) / (double)n;
        }
    }
    d->size = fmax(1.0, pn_lp_norm(PN_LINF, n * n, d->z));
}

/* X, grad f and f at the prices. */
static double evaluate(dual *d, const double *price)
{
    size_t n = d->n;
    double value = 0.0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double entry = d->z[i * n + j] - price[i] - price[n + j];

            d->x[i * n + j] = entry > 0.0 ? entry : 0.0;
        }
    }
    (void)find_sums(d->x, n, d->slope);
    for (size_t i = 0; i < 2 * n; i++) {
        d->slope[i] = 1.0 - d->slope[i];
        value += price[i];
    }
    return value + 0.5 * pn_dot(n * n, d->x, d->x);
}

/* The price at which line - price, cut at 0, sums to 1. */
static double price_of(dual *d)
{
    size_t top = 0;
    double largest;

    for (size_t j = 1; j < d->n; j++)
        top = d->line[j] > d->line[top] ? j : top;
    largest = d->line[top];
    pn_simplex_project(d->line, d->n, 1.0, d->scratch);
    return largest - d->line[top];
}

/* The best a for b, then the best b for a. */
static void sweep(dual *d)
{
    size_t n = d->n;
    double *a = d->price, *b = d->price + n;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            d->line[j] = d->z[i * n + j] - b[j];
        a[i] = price_of(d);
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            d->line[i] = d->z[i * n + j] - a[i];
        b[j] = price_of(d);
    }
}

/* step = -(H + epsilon)^-1 grad; H counts positive entries: by row, by column, and one by one off the diagonal. */
static pn_status newton(dual *d, double epsilon, pn_err *err)
{
    size_t n = d->n, side = 2 * n;
    double *H = d->hessian;

    memset(H, 0, side * side * sizeof *H);
    for (size_t i = 0; i < side; i++) {
        H[i * side + i] = epsilon;
        d->step[i] = -d->slope[i];
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (!(d->x[i * n + j] > 0.0))
                continue;
            H[i * side + i] += 1.0;
            H[(n + j) * side + n + j] += 1.0;
            H[i * side + n + j] = H[(n + j) * side + i] = 1.0;
        }
    }
    return pn_linear_solve(d->step, (pn_mat){ H, side, side }, d->step, err);
}

/* Along the step until f falls, or the sums are twice as good where f no longer tells. */
static void search_line(dual *d, double value, double error)
{
    size_t side = 2 * d->n;
    double descent = pn_dot(side, d->slope, d->step), length = 1.0;

    for (int halvings = 0; halvings < 40; halvings++) {
        double reached;

        for (size_t i = 0; i < side; i++)
            d->trial[i] = d->price[i] + length * d->step[i];
        reached = evaluate(d, d->trial);
        if (reached <= value + 1e-4 * length * descent || pn_lp_norm(PN_LINF, side, d->slope) <= 0.5 * error) {
            memcpy(d->price, d->trial, side * sizeof *d->price);
            return;
        }
        length *= 0.5;
    }
}

/* The prices of the best permutation: exact, but for the size of X, when Z is large. */
static pn_status start(dual *d, pn_err *err)
{
    size_t *column;
    pn_status status;

    PN_TRY(pn_new(&column, d->n, err, "set.birkhoff: out of memory in project"));
    status = pn_assignment(column, d->price, d->z, d->n, err);
    pn_free(column);
    return status;
}

/* Evaluates at the prices; whether the sums are right to `enough`: then <z - x,
 * s - x> <= enough sum |price| for all s of the set. */
static bool settled(dual *d, double *value, double *error)
{
    double enough = 8.0 * DBL_EPSILON * (double)(d->n + 8) * d->size;

    *value = evaluate(d, d->price);
    *error = pn_lp_norm(PN_LINF, 2 * d->n, d->slope);
    return *error <= enough;
}

static pn_status minimise(dual *d, pn_err *err)
{
    double value, error;

    for (int step = 0; step < MOST_STEPS; step++) {
        pn_status status;

        if (settled(d, &value, &error))
            return PN_OK;
        sweep(d);
        if (settled(d, &value, &error))
            return PN_OK;
        status = newton(d, fmax(1e-11, 1e-3 * fmin(1.0, error)), err);
        if (status != PN_OK)
            return status;
        search_line(d, value, error);
    }
    return pn_fail(err, PN_ENUMERIC, "set.birkhoff: the projection did not converge in %d steps", MOST_STEPS);
}

static pn_status project(const pn_set *self, double *x, pn_err *err)
{
    dual d;
    pn_status status;

    PN_TRY(dual_init(&d, side_of(self), err));
    flatten(&d, x);
    status = start(&d, err);
    if (status == PN_OK)
        status = minimise(&d, err);
    if (status == PN_OK)
        memcpy(x, d.x, self->dim * sizeof *x);
    pn_free(d.z);
    return status;
}

/* Newton's steps of the projection end by a tolerance. */
static double shortfall(const pn_set *self)
{
    return 1e-10 * radius(self, PN_L2);
}

const pn_set_ops pn_set_birkhoff = {
    .name = "birkhoff",
    .doc = "The doubly stochastic matrices {X in R^(n x n) : X >= 0, rows and columns sum to 1}, X as a row-major "
           "vector of n^2 entries: rankings and matchings; the hull of the n! permutation matrices.",
    .source =
        "Jonker, Volgenant (1987) for the support; Li, Sun, Toh (2020), On the efficient computation of a generalized "
        "Jacobian of the projector over the Birkhoff polytope",
    .params = birkhoff_params,
    .create = create,
    .destroy = destroy,
    .support = support,
    .radius = radius,
    .diameter = diameter,
    .contains = contains,
    .center = center_of,
    .project = project,
    .shortfall = shortfall,
    .gauge = gauge,
    .describe = describe,
};
