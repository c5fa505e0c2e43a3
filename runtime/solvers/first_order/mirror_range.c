/* mirror_range.c -- max Psi - min Psi over C for plans: what the potential knows, what is declared, or a guess from
 * points of C.  Steps and bounds rest on it, privacy does not.  The time of a run grows with its root: a guess that is
 * off by a factor x costs (sqrt(x) + 1/sqrt(x))/2 of the risk, 25% at x = 4.
 * Depends on: mirror_geometry.h.  Used by: mirror_geometry.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "random/rng.h"
#include "solvers/first_order/mirror_geometry.h"

#define DIRECTIONS 32 /* Gaussian ones */
#define AXES       16 /* of either sign */
#define SEED       3
#define FAR        1e3 /* projected from there where there are no support points, in l2 radii */

typedef struct points {
    const pn_potential *potential;
    const pn_set *set;
    double *g, *x;
    double least, most; /* Psi at its minimum over C, and the largest value found */
} points;

/* x <- the point of C that is farthest along g, or one near it. */
static pn_status support_point(const points *of, pn_err *err)
{
    size_t n = of->set->dim;
    double far = FAR * of->set->ops->radius(of->set, PN_L2);

    if (of->set->ops->support)
        return pn_set_support(of->set, of->g, n, NULL, of->x, err);
    for (size_t j = 0; j < n; j++)
        of->x[j] = far * of->g[j];
    return pn_set_project(of->set, of->x, n, err);
}

static pn_status look(points *of, pn_err *err)
{
    double value = NAN;

    PN_TRY(support_point(of, err));
    PN_TRY(pn_potential_value(of->potential, of->x, of->set->dim, &value, err));
    if (!isfinite(value))
        return pn_fail(err, PN_EDOMAIN,
                       "the potential %s is not finite at a point of the set, whose first entry is %.10g",
                       of->potential->ops->name, of->x[0]);
    of->most = fmax(of->most, value);
    return PN_OK;
}

static pn_status look_around(points *of, pn_rng *rng, pn_err *err)
{
    size_t n = of->set->dim;

    PN_TRY(pn_potential_start(of->potential, of->set, of->x, err));
    PN_TRY(pn_potential_value(of->potential, of->x, n, &of->least, err));
    of->most = of->least;
    for (int i = 0; i < DIRECTIONS; i++) {
        pn_rng_normals(rng, n, of->g);
        PN_TRY(look(of, err));
    }
    memset(of->g, 0, n * sizeof *of->g);
    for (size_t j = 0; j < n && j < AXES; j++) {
        for (int side = -1; side <= 1; side += 2) {
            of->g[j] = side;
            PN_TRY(look(of, err));
        }
        of->g[j] = 0.0;
    }
    return PN_OK;
}

/* *reached: the largest value less the least, of the points that are looked at. */
static pn_status look_at_points(const pn_potential *potential, const pn_set *set, double *reached, pn_err *err)
{
    points of = { .potential = potential, .set = set };
    pn_rng *rng = NULL;
    pn_status status;

    PN_TRY(pn_new(&of.g, 2 * set->dim, err, "out of memory"));
    of.x = of.g + set->dim;
    status = pn_rng_seeded(&rng, SEED, err);
    if (status == PN_OK)
        status = look_around(&of, rng, err);
    *reached = of.most - of.least;
    pn_rng_free(rng);
    pn_free(of.g);
    return status;
}

static pn_status check_declared(double declared, double reached, pn_err *err)
{
    if (reached <= declared * (1.0 + 1e-9))
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "range = %.10g is too small: at a point of the set the potential is %.10g above its minimum there",
                   declared, reached);
}

pn_status pn_mirror_range(double *range, pn_range_rule *rule, const pn_potential *potential, const pn_set *set,
                          double declared, pn_err *err)
{
    double reached;
    pn_status status;

    declared = declared > 0.0 ? declared : potential->declared_range;
    *rule = PN_RANGE_KNOWN;
    if (!(declared > 0.0)) {
        status = pn_potential_range(potential, set, range, err);
        if (status != PN_EUNSUPPORTED || potential->theta_dim)
            return status;
    }
    *range = declared;
    *rule = declared > 0.0 ? PN_RANGE_DECLARED : PN_RANGE_GUESSED;
    if (potential->theta_dim)
        return PN_OK;
    PN_TRY(look_at_points(potential, set, &reached, err));
    if (declared > 0.0)
        return check_declared(declared, reached, err);
    *range = 2.0 * reached;
    return PN_OK;
}
