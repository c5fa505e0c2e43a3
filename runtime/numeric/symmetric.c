/* symmetric.c -- packed symmetric matrices; the least eigenpair by Lanczos steps over -A (krylov.h) or in full.
 * Depends on: symmetric.h, krylov.h, lapack.h, blas.h, blas_threads.h, CBLAS.  Used by: random, objective, solvers. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cblas.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/view.h"
#include "numeric/blas.h"
#include "numeric/blas_threads.h"
#include "numeric/krylov.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"

/* ---- packed matrices ---- */

size_t pn_packed_size(size_t n)
{
    size_t even = n % 2 == 0 ? n / 2 : n, odd = n % 2 == 0 ? n + 1 : n / 2 + 1, size; /* n (n + 1)/2 = even odd */

    return pn_size_multiply(&size, even, odd) ? size : 0;
}

void pn_packed_times(double alpha, const double *packed, size_t n, const double *x, double beta, double *y)
{
    bool alone = pn_blas_alone(0); /* the same bits whatever the number of processors */

    cblas_dspmv(CblasColMajor, CblasUpper, (blasint)n, alpha, packed, x, 1, beta, y, 1);
    pn_blas_alone_end(alone);
}

void pn_packed_unpack(const double *packed, size_t n, double *full)
{
    for (size_t j = 0; j < n; j++) {
        const double *column = packed + j * (j + 1) / 2;

        memcpy(full + j * n, column, (j + 1) * sizeof *full);
        for (size_t i = 0; i < j; i++)
            full[i * n + j] = column[i];
    }
}

void pn_packed_scale_off(double *packed, size_t n, double factor)
{
    for (size_t j = 1; j < n; j++) {
        double *column = packed + j * (j + 1) / 2;

        for (size_t i = 0; i < j; i++)
            column[i] *= factor;
    }
}

pn_status pn_packed_check(const char *what, const double *packed, size_t n, pn_err *err)
{
    size_t bad, column = 0;

    if (n == 0 || n > INT_MAX || pn_packed_size(n) == 0)
        return pn_fail(err, PN_EDIM, "%s: the order must be from 1 to %d, got %zu", what, INT_MAX, n);
    bad = pn_first_nonfinite(packed, pn_packed_size(n));
    if (bad == pn_packed_size(n))
        return PN_OK;
    for (size_t j = 1; j < n && j * (j + 1) / 2 <= bad; j++)
        column = j;
    return pn_fail(err, PN_EDOMAIN, "%s: entry (%zu, %zu) is not finite", what, bad - column * (column + 1) / 2 + 1,
                   column + 1);
}

/* ---- by steps ---- */

size_t pn_lanczos_steps(size_t n, double norm, double tau, double failure)
{
    double steps = 1.0 + ceil(0.5 * log(2.75 * (double)n / (failure * failure)) * sqrt(norm / (2.0 * tau)));

    return steps < (double)n ? (size_t)steps : n; /* n also where it is NaN */
}

static pn_status check_options(size_t n, const pn_smallest_options *options, pn_err *err)
{
    if (n == 0)
        return pn_fail(err, PN_EDIM, "least eigenvalue: the order must be at least 1, got 0");
    if (!(options->relative >= 0.0 && options->relative < 1.0))
        return pn_fail(err, PN_EINVAL, "least eigenvalue: relative must be at least 0 and below 1, got %g",
                       options->relative);
    if (!(options->tolerance >= 0.0 && isfinite(options->tolerance) && options->tolerance + options->relative > 0.0))
        return pn_fail(err, PN_EINVAL, "least eigenvalue: tolerance must be a positive number, got %g",
                       options->tolerance);
    if (!(options->failure > 0.0 && options->failure < 1.0))
        return pn_fail(err, PN_EINVAL, "least eigenvalue: failure must be between 0 and 1, got %g", options->failure);
    if (!(options->norm >= 0.0 && isfinite(options->norm)))
        return pn_fail(err, PN_EINVAL, "least eigenvalue: norm must be a number that is not negative, got %g",
                       options->norm);
    return PN_OK;
}

typedef struct negative {
    pn_symmetric_fn times;
    void *self;
    size_t n;
} negative;

static pn_status negative_times(void *self, const double *x, double *y, pn_err *err)
{
    const negative *of = self;
    pn_status status = of->times(of->self, x, y, err);

    for (size_t i = 0; status == PN_OK && i < of->n; i++)
        y[i] = -y[i];
    return status;
}

pn_status pn_smallest_lanczos(pn_smallest *out, double *x, size_t n, pn_symmetric_fn times, void *self,
                              const pn_smallest_options *options, const double *start, pn_task *task, pn_err *err)
{
    /* A random unit start has a cosine of at most t with a given direction with probability at most t sqrt(2 n/pi). */
    pn_krylov_rule rule = { .absolute = options->tolerance,
                            .relative = options->relative,
                            .overlap = 1.2533 * options->failure };
    negative minus = { times, self, n };
    pn_status status = check_options(n, options, err);
    double length = status == PN_OK ? pn_lp_norm(PN_L2, n, start) : 1.0, top = 0.0;
    size_t limit = options->limit > 0 && options->limit < n ? options->limit : n, enough = n;
    bool settled = false;
    pn_krylov space;

    if (status != PN_OK)
        return status;
    if (!(length > 0.0 && isfinite(length) && isfinite(1.0 / length)))
        return pn_fail(err, PN_EDOMAIN, "least eigenvalue: the start must be finite and not zero");
    if (options->norm > 0.0)
        enough = pn_lanczos_steps(n, options->norm, options->tolerance, options->failure);
    PN_TRY(pn_krylov_init(&space, n, limit < enough ? limit : enough, err));
    memcpy(space.next, start, n * sizeof *start);
    status = pn_krylov_run(&space, &top, &settled, negative_times, &minus, length, &rule, task, err);
    if (status == PN_OK) {
        double error = pn_krylov_error(&space, top, settled, rule.overlap);
        bool theorem = enough < n && space.steps >= enough;

        pn_krylov_vector(&space, x);
        *out = (pn_smallest){ .value = -top,
                              .error = theorem ? fmin(error, options->tolerance) : error,
                              .residual = pn_krylov_residual(&space),
                              .steps = space.steps,
                              .reached = settled || theorem || space.steps == n };
    }
    pn_krylov_clear(&space);
    return status;
}

/* ---- stored ---- */

typedef struct stored {
    const double *packed;
    size_t n;
    int exponent; /* 2^-exponent A has entries near 1, so that no product overflows */
} stored;

static void set_exponent(stored *A)
{
    (void)frexp(pn_lp_norm(PN_LINF, pn_packed_size(A->n), A->packed), &A->exponent);
    A->exponent = A->exponent < -1000 ? -1000 : A->exponent > 1000 ? 1000 : A->exponent;
}

static pn_status stored_times(void *self, const double *x, double *y, pn_err *err)
{
    const stored *A = self;

    (void)err;
    pn_packed_times(ldexp(1.0, -A->exponent), A->packed, A->n, x, 0.0, y);
    return PN_OK;
}

static pn_status in_full(pn_smallest *out, double *x, const stored *A, pn_err *err)
{
    size_t n = A->n, size;
    double *full = pn_size_multiply(&size, n, n) ? pn_alloc(size, sizeof *full) : NULL;
    double scale = ldexp(1.0, -A->exponent);
    double value = 0.0, error;
    pn_status status;

    PN_TRY(pn_made(full, err, "least eigenvalue: not enough memory for %zu x %zu", n, n));
    pn_packed_unpack(A->packed, n, full);
    for (size_t i = 0; i < n * n; i++)
        full[i] *= scale;
    error = (double)n * DBL_EPSILON * pn_lp_norm(PN_L2, n * n, full); /* LAPACK's own is a few ||A|| epsilon */
    status = pn_eigen_least(&value, x, full, n, err);
    if (status == PN_OK)
        *out = (pn_smallest){ .value = ldexp(value, A->exponent), .error = ldexp(error, A->exponent), .reached = true };
    pn_free(full);
    return status;
}

static pn_status by_steps(pn_smallest *out, double *x, stored *A, const pn_smallest_options *options,
                          const double *start, pn_task *task, pn_err *err)
{
    pn_smallest_options scaled = *options;
    pn_status status;
    bool alone;

    scaled.tolerance = fmin(ldexp(options->tolerance, -A->exponent), 0x1p1000);
    if (options->relative == 0.0)
        scaled.tolerance = fmax(scaled.tolerance, 0x1p-1000);
    scaled.norm = fmin(ldexp(options->norm, -A->exponent), 0x1p1000);
    if (scaled.limit == 0 || scaled.limit > 32 + A->n / 4) /* more cost as much as all pairs */
        scaled.limit = 32 + A->n / 4;
    alone = pn_blas_alone(0); /* once, not at every product */
    status = pn_smallest_lanczos(out, x, A->n, stored_times, A, &scaled, start, task, err);
    pn_blas_alone_end(alone);
    if (status == PN_OK) {
        out->value = ldexp(out->value, A->exponent);
        out->error = ldexp(out->error, A->exponent);
        out->residual = ldexp(out->residual, A->exponent);
    }
    return status;
}

pn_status pn_smallest_eigen(pn_smallest *out, double *x, const double *packed, size_t n,
                            const pn_smallest_options *options, const double *start, pn_task *task, pn_err *err)
{
    stored A = { .packed = packed, .n = n };
    pn_smallest found;
    pn_status status = check_options(n, options, err);

    if (status == PN_OK)
        status = pn_packed_check("least eigenvalue", packed, n, err);
    if (status != PN_OK)
        return status;
    set_exponent(&A);
    if (n <= PN_SYMMETRIC_DIRECT)
        return in_full(out, x, &A, err);
    status = by_steps(&found, x, &A, options, start, task, err);
    if (status == PN_OK && found.reached)
        *out = found;
    if (status != PN_OK || found.reached)
        return status;
    status = in_full(out, x, &A, err);
    if (status == PN_OK)
        out->fell_back = true;
    return status;
}

pn_status pn_smallest_in_full(pn_smallest *out, double *x, const double *packed, size_t n, pn_err *err)
{
    stored A = { .packed = packed, .n = n };

    PN_TRY(pn_packed_check("least eigenvalue", packed, n, err));
    set_exponent(&A);
    return in_full(out, x, &A, err);
}
