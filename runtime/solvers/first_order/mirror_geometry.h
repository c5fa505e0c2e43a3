/* mirror_geometry.h -- which potential a method of mirror steps takes, and what its risk bound needs to know of it.
 * Depends on: solver.h, geometry/potentials/potential.h.  Used by: mirror_descent*.c, accelerated_mirror_descent*.c.
 * See geometry.md section 3, mirror-descent.md sections 2, 4 and 6. */
#ifndef PN_SOLVERS_MIRROR_GEOMETRY_H
#define PN_SOLVERS_MIRROR_GEOMETRY_H

#include "geometry/potentials/potential.h"
#include "solvers/engine/solver.h"

/* Where a range comes from. */
typedef enum pn_range_rule { PN_RANGE_KNOWN = 0, PN_RANGE_DECLARED, PN_RANGE_GUESSED } pn_range_rule;

/* A potential, made 1-strongly convex, and what bounds need: Q is the unit ball of its norm. */
typedef struct pn_mirror_geometry {
    pn_potential *potential; /* the space's */
    const char *why;         /* this one; NULL when given */
    double K;                /* what noise costs: pn_potential_trace */
    double R;                /* l2 radius of Q */
    double G2R2;             /* E ||b||^2 in the dual norm, at most: G^2 + R^2 of widths, else pn_norm_dual_square */
    pn_width width;          /* G of Q, where the wish has `widths` */
    double D2;               /* the range of the potential; +inf: unknown, without a set */
    pn_range_rule rule;      /* guessed: D2 is no bound */
    double regular;          /* bound on the regulariser's gradient in the norm of Q* */
    double margin;           /* l2 norm of a record's inputs at any point of Q, by the best norm; +inf: unknown */
    double risk;             /* what it was compared by */
    char other[160]; /* the potential that was not taken, and how much larger its risk is; 0 when none was looked at */
    double other_ratio;
} pn_mirror_geometry;

/* The points of a potential, or what it makes theta of (potential.h). */
typedef struct pn_mirror_space {
    pn_potential *potential; /* owned */
    const pn_set *set;
    size_t dim;
    double *start; /* [dim] */
    /* Steps are those of dual averaging, x = argmin over C of Psi(x) - <sums, x> with sums = sums - eta g; else each is
     * made from the gradient of Psi at x, which forgets what was pushed out of C. */
    bool lazy;
    double *sums;  /* [dim] of the start, when lazy */
    bool iterates; /* a step may be an iteration, which ends `gap` above its minimum, at most (pn_mirror_space_ask) */
    double gap;
} pn_mirror_space;

/* What is asked for. */
typedef struct pn_mirror_wish {
    const pn_plan *plan;     /* for its objective */
    const pn_arg *potential; /* the option; not given: the better of the set's own and the Euclidean one */
    const pn_arg *start;     /* the option; weights on vertices have none of a user's */
    const char *euclidean;   /* not NULL: why it can only be the Euclidean one, when none is given */
    double (*risk)(const pn_mirror_geometry *of, const void *self); /* what to compare by */
    const void *self;                                               /* its second argument */
    double range;                                                   /* declared of the potential over the set, or 0 */
    double favour; /* the Euclidean one is taken where its risk is at most that many times the other's */
    /* The option, for the theorems of Talwar, Thakurta and Zhang, which need G: choose among their potentials, too. */
    const pn_arg *widths;
} pn_mirror_wish;

/** Fill *of; its potential is then `space`'s, also after a failure.  Without a set the potential is Euclidean and the
 *  range unknown.  Errors: PN_EDIM for a potential of another dimension; what potentials, norms and widths return. */
pn_status pn_mirror_geometry_choose(pn_mirror_geometry *of, pn_mirror_space *space, const pn_mirror_wish *wish,
                                    pn_err *err);
/** Whether steps are plain proximal ones. */
bool pn_mirror_geometry_euclidean(const pn_mirror_geometry *of);
/**
 * *range of the potential over a bounded set, by *rule: `declared`, or of the potential itself, 0 for none, else what
 * is known; else twice the largest value, less the minimum, at 64 points of the set.
 * Errors: PN_EINVAL for a declared one below what those points have; PN_EDOMAIN where the potential is not finite at
 * one; what potentials and sets return.
 */
pn_status pn_mirror_range(double *range, pn_range_rule *rule, const pn_potential *potential, const pn_set *set,
                          double declared, pn_err *err);

/** sqrt(2 D2 K): s times that is what noise costs, s the deviation of one release that takes the whole budget. */
double pn_mirror_geometry_cost(const pn_mirror_geometry *of);
/** The smoothness of the mean loss in the potential's norm, at most, plus that of r: over Q a record's margins have at
 *  most some l2 norm, hence the Hessian of its loss at most its curvature times the square.  Where the best norm for
 *  that is l2, this is L R^2.  `claimed`, of the loss in l2, may be smaller; `regular` is r's in l2.
 *  +inf: not smooth. */
double pn_mirror_geometry_smoothness(const pn_mirror_geometry *of, const pn_objective *objective, double claimed,
                                     double regular);
/** Its lines, with those of Q where the wish had widths. */
void pn_mirror_geometry_explain(const pn_mirror_geometry *of, pn_plan *plan);

/* ---- where steps are made ---- */

/* The arrays of a run in it. */
typedef struct pn_mirror_point {
    double *x, *next;     /* [dim]; next is what an update leaves unfinished when it fails */
    double *sums, *moved; /* [dim] when lazy, and what moves them; else NULL */
    double *theta;        /* [p] x as a point of the set: x itself when not lifted */
    double *pulled;       /* [dim] a gradient in the potential's coordinates; NULL when not lifted */
    double *room;         /* scratch of the potential's, NULL for none */
    double *warm, *ended; /* [dim] where the last step's iteration ended, and the next one's; NULL without iterations */
    double reached;       /* gap of the step to `next`, where it did not come as near as asked, else 0 */
    double farthest;      /* the largest of those so far */
    size_t late;          /* and their number */
} pn_mirror_point;

/** Of the potential that was chosen.  The start is the one that is wished for, else the minimiser of the potential.
 *  Errors: PN_EUNSUPPORTED for a start of weights on vertices; PN_EDOMAIN where the potential has no
 *  gradient; PN_ENOMEM. */
pn_status pn_mirror_space_open(pn_mirror_space *self, const pn_mirror_wish *wish, pn_err *err);
/**
 * How near steps have to come: a step that is off by d in the norm adds at most `slope` d to the excess of its point,
 * slope the size of gradients in the dual norm, of which `risk`/100 is nothing.  Lazy steps forget it, as their sums
 * are exact, and so does the noise, which is drawn later; `steps` printed ones add it up.
 * Public, and fixed in advance.
 */
void pn_mirror_space_ask(pn_mirror_space *self, const pn_mirror_geometry *of, double risk, double slope, size_t steps);
void pn_mirror_space_clear(pn_mirror_space *self);

void pn_mirror_rooms(const pn_mirror_space *self, size_t p, pn_room *room, pn_mirror_point *at);
void pn_mirror_begin(const pn_mirror_space *self, pn_mirror_point *at);
/** next = the step of size eta along gradient[p]. */
pn_status pn_mirror_move(const pn_mirror_space *self, pn_mirror_point *at, const double *gradient, double eta,
                         pn_err *err);
/** What a fit says of steps that did not come as near as asked; "" for none. */
void pn_mirror_remark(const pn_mirror_space *self, const pn_mirror_point *at, size_t steps, char *text, size_t size);
/** x = next, and its theta. */
void pn_mirror_arrive(const pn_mirror_space *self, pn_mirror_point *at);

#endif
