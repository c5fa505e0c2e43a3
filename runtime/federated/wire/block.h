/* block.h -- the set that a party's part of x is in, as numbers, and a vertex of it as the choices that make it.
 *
 * A set is a tree of parts, written from the root: its kind, then
 *     0 product        the two factors
 *     1 sum            the two summands
 *     2 moved          factor, 1 or 0; the set; where it was 1, the shift [dim]
 *     3 box            dim; the lower ends [dim], the upper ones
 *     4 polytope       dim, vertices k; their entries [k][dim]
 *     5 l1_ball        dim, radius
 *     6 simplex        dim, radius
 *     7 hypersimplex, 8 unit_hypersimplex, 9 ksparse_polytope     dim, radius, k
 *     10 image         rows; the set; the matrix [rows][coordinates of the set]
 * Server and party make choices.h's choices of the same numbers.  A vertex is then one number for each of them: which
 * candidate was taken, from 0.
 * Depends on: core, geometry.  Used by: terms.h, party*.c, server*.c, federated_frank_wolfe_plan*.c. */
#ifndef PN_FEDERATED_BLOCK_H
#define PN_FEDERATED_BLOCK_H

#include <stdint.h>

#include "geometry/algebra/choices.h"

#define PN_BLOCK_NUMBERS_MAX ((size_t)1 << 22) /* of one set: 32 MB on the wire */

/** *numbers [*count], to be freed by pn_free.  Errors: PN_EUNSUPPORTED for what is not in the list above and has no
 *  list of vertices either; PN_EINVAL for more numbers than the limit; PN_ENOMEM. */
pn_status pn_block_write(double **numbers, size_t *count, const pn_set *set, pn_err *err);
/** The set of numbers that somebody else wrote, of `dim` coordinates.  Errors: PN_EPARSE, saying what is wrong
 *  ("block: ..."); PN_ENOMEM. */
pn_status pn_block_read(pn_set **out, const double *numbers, size_t count, size_t dim, pn_err *err);
/** Its choices, and *width = pn_block_width.  Errors: those of pn_block_read; PN_EPARSE also for a set whose vertices
 *  are not made of choices, or of too many. */
pn_status pn_block_open(pn_choices **out, size_t *width, const double *numbers, size_t count, size_t dim, pn_err *err);

/** Most coordinates in which a vertex of such a set is not 0.  Errors: PN_ENOMEM. */
pn_status pn_block_width(size_t *width, const pn_set *set, pn_err *err);

/** vertex[dim] of the choices made[count].  room[pn_choices_room + dim].  Errors: PN_EINVAL where they are more or
 *  fewer than a vertex takes, or one is of a candidate that there is not; vertex is then half made. */
pn_status pn_block_vertex(const pn_choices *choices, const uint32_t *made, size_t count, double *room, double *vertex,
                          pn_err *err);

#endif
