/* coordinate_choices.h -- sets whose vertices have one entry in each of several ranges of coordinates, beside a shift
 * that is common to them: l1 balls and simplices, scaled, turned over and shifted, and their products.
 *     vertex = shift + sum over choices of w_b e_j or, of an l1 ball, -w_b e_j.
 * Depends on: set_algebra.h.  Used by: oracle (vertex_path.c), solvers/frank_wolfe. */
#ifndef PN_GEOMETRY_COORDINATE_CHOICES_H
#define PN_GEOMETRY_COORDINATE_CHOICES_H

#include "geometry/convex/set.h"

typedef struct pn_coordinate_choice {
    size_t first, count; /* coordinates */
    double weight;       /* w, not 0; negative where the set is turned over */
    bool both;           /* -w e_j, too */
} pn_coordinate_choice;

#define PN_COORDINATE_CHOICES 64 /* at most */

typedef struct pn_coordinate_choices {
    size_t count;
    pn_coordinate_choice at[PN_COORDINATE_CHOICES]; /* ranges rise, and are all of the coordinates */
    double reach;                                   /* sum of |w| */
    double *shift;                                  /* [dim]; NULL: none */
} pn_coordinate_choices;

/** *out is NULL where the set is none of these, or of more choices.  Errors: PN_ENOMEM. */
pn_status pn_coordinate_choices_new(pn_coordinate_choices **out, const pn_set *set, pn_err *err);
void pn_coordinate_choices_free(pn_coordinate_choices *self); /* NULL allowed */

#endif
