/* ball.h -- what bodies that are `radius` times a unit body have in common: the head,
 * and the operations that follow from it.
 * Depends on: set.h.  Used by: the sets of vectors of this room. */
#ifndef PN_GEOMETRY_BALL_H
#define PN_GEOMETRY_BALL_H

#include "geometry/convex/set.h"

/* Implementations embed this head first. */
typedef struct pn_ball {
    pn_set base;
    double radius; /* the `radius` option */
} pn_ball;

/* Rows of a parameter table; `what` says what the radius measures. */
#define PN_BALL_DIM                                                                                                    \
    {                                                                                                                  \
        "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates"                                       \
    }
#define PN_BALL_RADIUS(what)                                                                                           \
    {                                                                                                                  \
        "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, what                                                   \
    }
#define PN_BALL_CENTER                                                                                                 \
    {                                                                                                                  \
        "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle, dim entries; the origin when absent"         \
    }

/** A body of `bytes` bytes, zeroed behind its filled head; NULL when memory is short (err is set). */
void *pn_ball_new(size_t bytes, const pn_set_ops *ops, size_t dim, double radius, pn_err *err);

/* Operations for tables. */
void pn_ball_destroy(pn_set *self); /* a body that is one block */
void pn_ball_center(const pn_set *self, double *x);
double pn_ball_scale(const pn_set *self);
double pn_ball_diameter(const pn_set *self, pn_lp norm); /* symmetric bodies: twice the radius */
void pn_ball_describe(const pn_set *self, char *text, size_t size);

typedef pn_status (*pn_project_fn)(const pn_set *self, double *x, pn_err *err);

/** A projection `once` that errs by a few roundings of the numbers in x, made one whose result is in the set to a few
 *  roundings of the set's size: far points are projected again, which brings them 15 digits closer each time.  The
 *  nearest point is met to a few roundings of the numbers in x as before (a projection takes no two points further
 *  apart). */
pn_status pn_project_from_far(const pn_set *self, double *x, pn_project_fn once, pn_err *err);

/** PN_EINVAL unless k <= dim. */
pn_status pn_ball_check_k(const char *owner, size_t k, size_t dim, pn_err *err);

/** Bounds of entries: PN_EDIM for two lengths, PN_EINVAL for none or lower > upper. */
pn_status pn_bounds_check(const char *owner, pn_vec lower, pn_vec upper, pn_err *err);

/** The atom value * e_index. */
void pn_atom_single(pn_atom *out, size_t index, double value);

/** An upper bound of ||(size, .., size, 0, .., 0)||, count entries of `size` >= 0. */
double pn_constant_norm(size_t count, double size, pn_lp norm);

#endif
