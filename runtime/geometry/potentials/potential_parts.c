/* potential_parts.c -- what the rows of the table of potentials share.  Depends on: potential_parts.h, set_algebra.h.
 * Used by: potential_*.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"

bool pn_set_is_a_box(const pn_set *set)
{
    const double *shift;
    double factor;
    const char *name = pn_set_unwrap(set, &factor, &shift)->ops->name;

    return strcmp(name, "box") == 0 || strcmp(name, "linf_ball") == 0;
}

bool pn_set_boxed_parts(const pn_set *set, const pn_set **other, const pn_set **box)
{
    if (!pn_set_intersection_parts(set, other, box))
        return false;
    if (pn_set_is_a_box(*other)) {
        const pn_set *first = *other;

        *other = *box;
        *box = first;
    }
    return pn_set_is_a_box(*box);
}

bool pn_set_is_free(const pn_set *set)
{
    const double *shift;
    double factor;

    return strcmp(pn_set_unwrap(set, &factor, &shift)->ops->name, "free") == 0;
}

pn_status pn_potential_reach(const char *owner, double radius, double reach, const char *norm, pn_err *err)
{
    if (reach <= radius * (1.0 + 1e-9))
        return PN_OK;
    return pn_fail(
        err, PN_EINVAL,
        "potential.%s: its strong convexity holds up to %s norm %.10g and the set reaches %.10g; give radius=%.10g",
        owner, norm, radius, reach, reach);
}

pn_status pn_potential_finite(const char *owner, const double *out, size_t n, pn_err *err)
{
    return pn_potential_finite_to(owner, pn_first_nonfinite(out, n), n, err);
}

pn_status pn_potential_finite_to(const char *owner, size_t bad, size_t n, pn_err *err)
{
    if (bad < n)
        return pn_fail(err, PN_ENUMERIC, "potential.%s: the result is out of the range of numbers at entry %zu", owner,
                       bad + 1);
    return PN_OK;
}

/* max_j ||A e_j - c||^2, c[rows] or NULL; sums[cols] */
static double largest_about(pn_mat A, const double *c, double *sums)
{
    double most = 0.0;

    memset(sums, 0, A.cols * sizeof *sums);
    for (size_t i = 0; i < A.rows; i++) {
        const double *row = A.data + i * A.cols;
        double middle = c ? c[i] : 0.0;

        for (size_t j = 0; j < A.cols; j++)
            sums[j] += (row[j] - middle) * (row[j] - middle);
    }
    for (size_t j = 0; j < A.cols; j++)
        most = fmax(most, sums[j]);
    return most;
}

pn_status pn_potential_largest_column(pn_mat A, bool centered, double *square, pn_err *err)
{
    double *sums, *mean;

    PN_TRY(pn_new(&sums, A.cols + A.rows, err, "potential: out of memory"));
    mean = sums + A.cols;
    *square = largest_about(A, NULL, sums);
    for (size_t i = 0; centered && i < A.rows; i++)
        mean[i] = pn_sum(A.cols, A.data + i * A.cols) / (double)A.cols;
    if (centered)
        *square = fmin(*square, largest_about(A, mean, sums));
    pn_free(sums);
    return PN_OK;
}

/* Extremes in eight lanes, which compile to vector instructions. */
#define EXTREME(name, of, is_better)                                                                                   \
    double name(const double *x, size_t n)                                                                             \
    {                                                                                                                  \
        double lane[8];                                                                                                \
        size_t j = 0;                                                                                                  \
                                                                                                                       \
        for (size_t k = 0; k < 8; k++)                                                                                 \
            lane[k] = of(x[0]);                                                                                        \
        for (; j + 8 <= n; j += 8) {                                                                                   \
            for (size_t k = 0; k < 8; k++)                                                                             \
                lane[k] = of(x[j + k]) is_better lane[k] ? of(x[j + k]) : lane[k];                                     \
        }                                                                                                              \
        for (; j < n; j++)                                                                                             \
            lane[0] = of(x[j]) is_better lane[0] ? of(x[j]) : lane[0];                                                 \
        for (size_t k = 1; k < 8; k++)                                                                                 \
            lane[0] = lane[k] is_better lane[0] ? lane[k] : lane[0];                                                   \
        return lane[0];                                                                                                \
    }

EXTREME(pn_potential_largest, , >)
EXTREME(pn_potential_least, , <)
EXTREME(pn_potential_magnitude, fabs, >)

pn_status pn_potential_ends(const pn_set *set, double *room, double *ends, pn_err *err)
{
    size_t n = set->dim;

    for (int side = 0; side < 2 && pn_set_is_a_box(set); side++) {
        for (size_t j = 0; j < n; j++)
            room[j] = side ? 1.0 : -1.0;
        PN_TRY(pn_set_support(set, room, n, NULL, ends + (size_t)side * n, err));
    }
    memset(room, 0, n * sizeof *room);
    for (size_t k = 0; k < 2 * n && !pn_set_is_a_box(set); k++) {
        double sign = k < n ? -1.0 : 1.0;

        room[k % n] = sign;
        PN_TRY(pn_set_support(set, room, n, &ends[k], NULL, err));
        ends[k] *= sign;
        room[k % n] = 0.0;
    }
    return PN_OK;
}
