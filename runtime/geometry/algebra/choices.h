/* choices.h -- a vertex as the result of several choices: sets whose vertices are too many for a list, but where the
 * best one is found part by part.  An end of each interval of a box; the coordinates of a hypersimplex, one after the
 * other; a vertex of each part of a product or a sum; the image of a vertex.
 *
 * What a change Delta of the direction g does to the scores.  Choice r has candidates v with scores <v - c_r, g> (a
 * point common to all of them changes no comparison) and ||v - c_r||_q <= rho_r, so that each score moves by at most
 * d_r = rho_r ||Delta_r||_q*, Delta_r being the coordinates that the choice is about and q* the dual of q.
 * Bounds for all Delta with ||Delta||_q* <= 1:
 *                              sum of d_r^2                          sum of d_r
 *   k choices from one list    k rho^2                               k rho
 *   A x B, q = 1               A + B                                 A + B
 *   A x B, q = 2               max(A, B)                             sqrt(A^2 + B^2)
 *   A x B, q = infinity        max(A, B)                             max(A, B)
 *   A + B (both see Delta)     A + B                                 A + B
 *   M C, least over t          C_t ||M||_t,q^2                       C_t ||M||_t,q
 *   M box of half sides h_j    sum of h_j^2 ||M e_j||_q^2, too       sum of h_j ||M e_j||_q, too
 * as choices of a vertex v of C by <v, M^T g> are those of M v by <M v, g>, and M^T Delta is of size ||M||_t,q in the
 * dual of t, ||M||_t,q = max ||M x||_q over ||x||_t <= 1; as the blocks of Delta have norms x, y with max(x, y),
 * sqrt(x^2 + y^2), x + y <= 1 for q = 1, 2, infinity.
 *
 * What noise loses of one choice is in choice_loss.h.  The losses of a vertex are at most the sum of those of its
 * choices: in a product or sum by the sum over parts; for k of the coordinates of values a_1 >= a_2 >= ..., since a
 * choice of value v leaves k - 1 choices whose best is the former best less v where v is one of its k values (nothing
 * is lost), else less a_k (a_k - v <= a_1 - v is lost); of both signs, -|a_j| loses 2|a_j| or a_k + |a_j|, at most a_1
 * + |a_j|.
 * Depends on: set_algebra.h, choice_loss.h.  Used by: oracle (question_choices.c), solvers/frank_wolfe. */
#ifndef PN_GEOMETRY_CHOICES_H
#define PN_GEOMETRY_CHOICES_H

#include "geometry/convex/set.h"

typedef struct pn_choices {
    size_t dim;
    size_t picks;                                   /* choices that make a vertex */
    double candidates;                              /* of all choices together */
    size_t most;                                    /* of the choice that has most */
    size_t terms;                                   /* products that add up in a score, roundings to count */
    double squares[PN_LP_COUNT], sums[PN_LP_COUNT]; /* the bounds above, by q: PN_L1 is q = 1 */
    double loss;                                    /* the sum of pn_choice_loss */
    double flip_loss;                               /* the sum of pn_flip_loss */
    double longest[PN_LP_COUNT];                    /* the largest rho_r */
    struct pn_choice_part *parts;
    size_t count;
    double *shift; /* [dim] added to what is chosen */
    size_t nested; /* room for images */
} pn_choices;

/** What a vertex of `set` is made of.  Errors: PN_EUNSUPPORTED for a set with a part that is none of these: listed
 *  vertices (pn_set_is_polytope), box, linf_ball, hypersimplex, unit_hypersimplex, ksparse_polytope, their products and
 *  sums and images, scaled and shifted ones as well; the message names it.  PN_ENOMEM. */
pn_status pn_choices_new(pn_choices **out, const pn_set *set, const char *owner, pn_err *err);
void pn_choices_free(pn_choices *self); /* NULL allowed */

/* Which of scores[count] is taken (the largest is the best), from 0. */
typedef pn_status (*pn_chooser)(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err);

/** Doubles of scratch that pn_choices_make takes. */
size_t pn_choices_room(const pn_choices *self);
/** vertex[dim]: with exact choices one that has the largest <vertex, g>.  `choose` is called self->picks times.
 *  Errors: those of `choose`; vertex is then half made. */
pn_status pn_choices_make(const pn_choices *self, const double *g, pn_chooser choose, void *with, double *room,
                          double *vertex, pn_err *err);

#endif
