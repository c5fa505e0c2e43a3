/* directions.h -- random directions to take differences along: a matrix U of unit rows, each uniform on the sphere.
 *
 * Orthogonal rows are kept as what they are made from: Haar measure is the law of H_1 ... H_{d-1} D with reflections
 * H_k that take e_k to a uniform direction of the last d - k + 1 coordinates and signs D,
 * so that U x and U^T c cost O(d^2) and no d^3 is spent.
 * Depends on: smoothed.h, random/rng.h.  Used by: smoothed*.c.
 * Source: Stewart (1980); Mezzadri (2007) for the signs. */
#ifndef PN_OBJECTIVE_DIRECTIONS_H
#define PN_OBJECTIVE_DIRECTIONS_H

#include "objective/measures/smoothed.h"
#include "random/rng.h"

typedef struct pn_direction_kind {
    pn_directions directions;
    size_t dim;
    double level; /* of iid directions: bound on the largest singular value of U, > 1; 0: none */
    bool formed;  /* the rows are wanted as a matrix */
} pn_direction_kind;

/* One matrix.  The memory is the caller's: pn_direction_numbers and pn_direction_room doubles. */
typedef struct pn_direction_set {
    const pn_direction_kind *kind;
    double *numbers; /* normal numbers; then reflections, or the rows */
    double *room;
} pn_direction_set;

#define PN_DIRECTION_DIM_MAX 8192 /* of matrices: half a GB.  One direction may have any length */

/** Rows of U: dim, or 1. */
size_t pn_direction_rows(const pn_direction_kind *kind);
size_t pn_direction_numbers(const pn_direction_kind *kind);
size_t pn_direction_room(const pn_direction_kind *kind);

/** Make U of set->numbers, which are standard normal.  With a level U is drawn again from `rng` while it is too long,
 *  and after 32 times U is orthogonal: each way the law is the same under rotations, so rows stay uniform. */
void pn_direction_make(const pn_direction_set *set, pn_rng *rng);

/** out[rows] = U x[dim]; out is not x. */
void pn_direction_times(const pn_direction_set *set, const double *x, double *out);
/** out[dim] = U^T c[rows], the gradient's share: of one direction dim times that.  out is not c.  Of orthogonal
 *  directions always by reflections, which are orthogonal whatever the rounding of a matrix. */
void pn_direction_combine(const pn_direction_set *set, const double *c, double *out);
/** U, [rows * dim]; of orthogonal directions only when `formed`, then to about dim 2^-53. */
const double *pn_direction_matrix(const pn_direction_set *set);

/**
 * The relative rounding of U^T c, in l2: | computed - exact | <= this * L * (the factor of pn_smoothed_norm) for |c_j|
 * <= L.
 *
 * u = 2^-53, second orders are in the last factor.  A reflection w - b <h, w> h of n numbers: ||v||^2, its root, h_1
 * and b = 1/(||v|| |h_1|) make b wrong by (2 n + 9) u; the product <h, w> by n u ||h|| ||w||; one more rounding of
 * their product; together 2 (3 n + 10) u ||w||, since b ||h||^2 = 2; the last product and difference add 3 u ||w||.  H
 * itself, of the h that is stored and b = 2 / ||h||^2, is orthogonal.  Summed over n = 2..d: at most (3 d^2 + 26 d) u
 * <= 4 d (d + 8) u of ||c|| <= sqrt(d) L.  A product with rows: each is unit to (d/2 + 4) u, the sum of d products is
 * off by d u sum |c_j| ||u_j|| <= d^2 u L, relative to sqrt(d) L at least: below the same number.
 */
double pn_direction_rounding(const pn_direction_kind *kind);

#endif
