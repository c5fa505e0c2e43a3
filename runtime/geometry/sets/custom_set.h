/* custom_set.h -- a set that a host or a Lua table gives by functions.  Depends on: set.h.  Used by: bindings, hosts. */
#ifndef PN_GEOMETRY_CUSTOM_SET_H
#define PN_GEOMETRY_CUSTOM_SET_H

#include "geometry/convex/set.h"

typedef struct pn_custom_set {
    size_t dim;
    double radius;    /* l2, declared; +inf: unbounded.  It decides on steps and predictions, never on noise */
    const char *name; /* copied; NULL: "custom" */
    bool symmetric;   /* declared */
    const double *
        center; /* [dim] copied, a point of the set; NULL: the origin when `contains` or `project` say that it is inside, else a
                             support point */
    void *self;                  /* for the functions */
    void (*destroy)(void *self); /* or NULL */
    /* At least one of the first two. */
    pn_status (*support)(void *self, const double *g, size_t n, double *point, pn_err *err);
    pn_status (*project)(void *self, double *x, size_t n, pn_err *err);
    pn_status (*contains)(void *self, const double *x, size_t n, bool *inside,
                          pn_err *err); /* or NULL: by the projection */
} pn_custom_set;

/**
 * Takes over `self` on success.  Tries every function: PN_EDOMAIN for points that are not finite or lie beyond the radius, PN_EINVAL
 * where they contradict each other (the projection moves a point of the set, support returns the smallest, contains refuses the
 * center), PN_ENOMEM, and what the functions fail with.  Points are looked at on every later call, too.
 * With a projection alone and a finite radius the support is that of support_by_project.h; with a support alone the projection is
 * that of fallback.h.
 */
pn_status pn_set_custom(pn_set **out, const pn_custom_set *parts, pn_err *err);

#endif
