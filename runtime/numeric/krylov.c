/* krylov.c -- Lanczos steps, see krylov.h.  Depends on: krylov.h, lapack.h, root.h, blas.h, simd.h.
 * Used by: lanczos.c, symmetric.c. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "numeric/blas.h"
#include "numeric/krylov.h"
#include "numeric/lapack.h"
#include "numeric/root.h"
#include "numeric/simd/simd.h"

#define EXHAUSTED (16.0 * DBL_EPSILON)

static void times_factor(size_t n, double factor, const double *x, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = factor * x[i];
}

void pn_krylov_clear(pn_krylov *space)
{
    pn_free(space->basis);
    pn_free(space->diagonal);
    pn_free(space->next);
}

pn_status pn_krylov_init(pn_krylov *space, size_t n, size_t limit, pn_err *err)
{
    *space = (pn_krylov){ .n = n, .limit = limit };
    space->diagonal = pn_alloc(limit, 4 * sizeof *space->diagonal);
    space->next = pn_alloc(n, sizeof *space->next);
    if (!space->diagonal || !space->next) {
        pn_krylov_clear(space);
        return pn_fail(err, PN_ENOMEM, "Lanczos: out of memory");
    }
    space->off = space->diagonal + limit;
    space->ritz = space->off + limit;
    space->along = space->ritz + limit;
    return PN_OK;
}

/* The next row of the basis is next / length. */
static pn_status extend(pn_krylov *space, double length, pn_err *err)
{
    size_t n = space->n;

    if (space->steps == space->room) {
        size_t room = space->room + 32 < space->limit ? space->room + 32 : space->limit, size;
        double *grown = pn_size_multiply(&size, room, n) ? pn_resize(space->basis, size, sizeof *grown) : NULL;

        PN_TRY(pn_made(grown, err, "Lanczos: not enough memory for %zu vectors of %zu", room, n));
        space->basis = grown;
        space->room = room;
    }
    times_factor(n, 1.0 / length, space->next, space->basis + space->steps * n);
    space->steps++;
    return PN_OK;
}

/* next = M q - its part in the basis, q the last row, M q in next already;
 * adds to T and returns the length of what is left. */
static double orthogonalise(pn_krylov *space)
{
    const pn_simd *simd = pn_simd_best();
    size_t n = space->n, k = space->steps;
    double length;

    for (int round = 0; round < 2; round++) {
        simd->dense_times(space->basis, k, n, space->next, space->along);
        if (round == 0)
            space->diagonal[k - 1] = space->along[k - 1];
        times_factor(k, -1.0, space->along, space->along);
        simd->dense_add_transposed(space->basis, k, n, space->along, space->next);
    }
    length = pn_lp_norm(PN_L2, n, space->next);
    space->off[k - 1] = length;
    space->norm = fmax(space->norm, fmax(fabs(space->diagonal[k - 1]), length));
    return length;
}

/* Whether the spectrum ends below mu, as far as the start can tell: see krylov.h. */
static bool nothing_above(const pn_krylov *space, double mu, double overlap)
{
    double enough = (double)space->n / (overlap * overlap), before = 0.0, p = 1.0, sum = 1.0;

    for (size_t j = 0; j < space->steps && sum < enough; j++) {
        double after = (mu - space->diagonal[j]) * p - (j > 0 ? space->off[j - 1] * before : 0.0);

        before = p;
        p = after / space->off[j];
        sum += p * p;
    }
    return !(sum < enough);
}

static bool settled_at(const pn_krylov *space, double top, const pn_krylov_rule *rule)
{
    double tolerance = rule->absolute + rule->relative * space->norm;

    return nothing_above(space, top + fmax(tolerance, EXHAUSTED * space->norm), rule->overlap);
}

pn_status pn_krylov_run(pn_krylov *space, double *top, bool *settled, pn_symmetric_fn times, void *self, double length,
                        const pn_krylov_rule *rule, pn_task *task, pn_err *err)
{
    size_t check = 8;

    *settled = false;
    while (!*settled && space->steps < space->limit) {
        bool exhausted; /* the basis holds all that the start can reach; what is left is rounding, and not orthogonal */
        pn_status status = pn_task_report(task, "Lanczos", (double)space->steps, (double)space->limit, err);

        if (status == PN_OK)
            status = extend(space, length, err);
        if (status == PN_OK)
            status = times(self, space->basis + (space->steps - 1) * space->n, space->next, err);
        if (status != PN_OK)
            return status;
        length = orthogonalise(space);
        if (!isfinite(length) || !isfinite(space->diagonal[space->steps - 1]))
            return pn_fail(err, PN_EDOMAIN, "Lanczos: product %zu is not finite, or too large", space->steps);
        exhausted = !(length > EXHAUSTED * space->norm);
        if (exhausted || space->steps >= check || space->steps == space->limit) {
            check += space->n >= 1000 ? 1 : 2 + check / 16; /* a step over a large matrix costs more than a look */
            status = pn_tridiagonal_top(top, space->ritz, space->diagonal, space->off, space->steps, err);
            if (status != PN_OK)
                return status;
            *settled = exhausted || settled_at(space, *top, rule);
        }
    }
    return PN_OK;
}

void pn_krylov_vector(const pn_krylov *space, double *x)
{
    size_t n = space->n;

    memset(x, 0, n * sizeof *x);
    pn_simd_best()->dense_add_transposed(space->basis, space->steps, n, space->ritz, x);
    times_factor(n, 1.0 / pn_lp_norm(PN_L2, n, x), x, x);
}

typedef struct room {
    const pn_krylov *space;
    double top, overlap;
} room;

static bool room_is_closed(void *self, double e)
{
    const room *at = self;

    return nothing_above(at->space, at->top + e, at->overlap);
}

double pn_krylov_error(const pn_krylov *space, double top, bool settled, double overlap)
{
    double least = EXHAUSTED * space->norm, most = fmin(4.0 * space->norm * sqrt((double)space->n) / overlap, DBL_MAX);
    room at = { space, top, overlap };

    if (settled && !(space->off[space->steps - 1] > least)) /* exhausted: p_k means nothing */
        return least;
    return fmax(least, nextafter(pn_bisect(room_is_closed, &at, 0.0, most), INFINITY));
}

double pn_krylov_residual(const pn_krylov *space)
{
    return space->off[space->steps - 1] * fabs(space->ritz[space->steps - 1]);
}
