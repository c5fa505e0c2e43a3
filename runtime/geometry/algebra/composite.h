/* composite.h -- what sets made of sets have in common: they keep their parts, and carry their own table of operations,
 * which offers what follows from the parts.  Depends on: set.h.  Used by: set_sum.c and its likes. */
#ifndef PN_GEOMETRY_COMPOSITE_H
#define PN_GEOMETRY_COMPOSITE_H

#include "geometry/convex/set.h"

/* Other heads embed this one first, as it embeds pn_set. */
typedef struct pn_composite {
    pn_set base;
    pn_set_ops ops;  /* base.ops points here */
    pn_set *a, *b;   /* kept; b may be NULL */
    double *numbers; /* owned, or NULL */
    size_t pieces;   /* sets inside, this one included and repeats counted */
} pn_composite;

/**
 * A composite without operations but destroy, diameter (twice the radius), describe ("name(a, b)") and, where the parts
 * are supported, contains (by support points): the caller fills ops in and, on failure, frees the set.
 *   name     of ops, a literal     bytes   of the whole struct, zeroed past the head
 *   numbers  doubles to allocate, 0 for none
 * Errors: PN_ENOMEM; PN_EINVAL for a dim or numbers above 2^48, which callers make of sizes by size.h;
 * PN_EINVAL for more than a
 *         thousand sets inside one another, counted with repeats.
 */
pn_status pn_composite_new(pn_composite **out, size_t bytes, const char *name, size_t dim, pn_set *a, pn_set *b,
                           size_t numbers, pn_err *err);
void pn_composite_free(pn_composite *set);
const pn_composite *pn_as_composite(const pn_set *set);
/** Made here, with the name `name`? */
bool pn_is_composite(const pn_set *set, const char *name);

/** PN_EDIM, with both dimensions, unless they agree; `door` as users write it, "C + D". */
pn_status pn_same_dim(const char *door, const pn_set *a, const pn_set *b, pn_err *err);
/** PN_EUNSUPPORTED for a set without a support function. */
pn_status pn_need_support(const char *door, const pn_set *set, pn_err *err);

/** The ball `name` of the table with the dim, rows and cols of `like`, and the exponent dual to its q.  Errors: as
 *  pn_set_from_args; PN_EUNSUPPORTED when it needs more than these. */
pn_status pn_set_ball_like(pn_set **out, const char *name, const pn_set *like, double radius, pn_err *err);

/** "<a> <between> <b>" with brackets "<open>a, b)": the pieces written in place, truncated. */
void pn_describe_parts(const pn_composite *set, const char *open, const char *between, const char *close, char *text,
                       size_t size);

/** The width of a set whose width is the sum of its parts': intervals add, each part at half the risk. */
pn_status pn_width_of_parts(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err);

#endif
