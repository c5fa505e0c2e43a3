/* fallback.c -- projection, gauge and sampling for sets that have only a support function or a membership test.
 * Depends on: fallback.h.  Used by: set.c. */
#include "geometry/fallback.h"

pn_status pn_project_by_support(const pn_set *set, double *x, pn_err *err)
{
    (void)x;
    return pn_fail(err, PN_EUNSUPPORTED, "C:project: %s has no projection; C:support is what it offers",
                   set->ops->name);
}

pn_status pn_gauge_by_contains(const pn_set *set, const double *x, double *gauge, pn_err *err)
{
    (void)x;
    (void)gauge;
    return pn_fail(err, PN_EUNSUPPORTED, "C:gauge: %s has no gauge in closed form; C:contains(v) tests membership",
                   set->ops->name);
}

pn_status pn_sample_by_support(const pn_set *set, pn_rng *rng, double *x, pn_err *err)
{
    (void)rng;
    (void)x;
    return pn_fail(err, PN_EUNSUPPORTED, "C:sample: %s has no sampler", set->ops->name);
}
