/* potential_parts.c -- what the rows of the table of potentials share.  Depends on: potential_parts.h, set_algebra.h.
 * Used by: potential_*.c. */
#include <math.h>
#include <string.h>

#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/potential_parts.h"

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
