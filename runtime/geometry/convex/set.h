/* set.h -- convex constraint sets: the interface.
 * A new set is one file that fills a pn_set_ops and one line in sets.c's table (geometry/sets); the binding, help and
 * the conformance test read the same table.  Depends on: core, numeric, random.  Used by: objective, solvers, bindings.
 * Source: Talwar, Thakurta, Zhang (2014); Jaggi (2013) for the linear minimisation oracles. */
#ifndef PN_GEOMETRY_SET_H
#define PN_GEOMETRY_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "core/view.h"
#include "random/rng.h"
#include "penumbra/set.h"

/* One vertex.  Sparse when `index` is not NULL, else `value` is dense [dim].  A dense buffer belongs to the set or is
 * `scratch`; a sparse one belongs to the set or to the atom itself, which is therefore not to be copied. */
typedef struct pn_atom {
    size_t count;        /* entries in value (and index) */
    const size_t *index; /* [count] coordinates from 0, or NULL for a dense atom (count == dim) */
    const double *value; /* [count] */
    size_t index_of_one; /* storage for sets whose atoms have a single entry */
    double value_of_one;
} pn_atom;

typedef struct pn_set_ops {
    const char *name;       /* how users ask for it: "l1_ball" */
    const char *doc;        /* one sentence, with the set in mathematics */
    const char *source;     /* paper or book, and place */
    const pn_param *params; /* what create takes */

    /* args as params, checked by pn_args_check and filled.  Copies what it keeps. */
    pn_status (*create)(pn_set **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_set *self);

    /* C = -C, whatever the parameters (a set that knows only when made has its own copy of the table). */
    bool symmetric;
    bool cone; /* tC = C for every t > 0, with a projection */
    /* Its functions call back into a host and run on the caller's thread only.
     * A set made of parts: when any of them does. */
    bool single_thread;

    /* Required.  A callback of a user's may fail, so what looks at numbers returns a status. */
    /* max <g, x>; point [dim] or NULL.  +inf where g has no maximum: then point is left alone.  Ties: lowest index,
     * sign(0) = +1.  NULL only for a set that a user gave by its projection alone. */
    pn_status (*support)(const pn_set *self, const double *g, double *point, double *value, pn_err *err);
    double (*radius)(const pn_set *self,
                     pn_lp norm); /* max ||x||, an upper bound within 1e-12 relative; +inf: unbounded */
    double (*diameter)(const pn_set *self, pn_lp norm); /* max ||x - y||, likewise (an upper bound where not closed) */
    /* Within tolerance of every constraint. */
    pn_status (*contains)(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err);
    void (*center)(const pn_set *self, double *x); /* a point of the set that depends on nothing else */

    /* NULL where there is no closed form or algorithm of the set's own: pn_set_project, pn_set_gauge, pn_set_width and
     * pn_set_sample then do what their comments say. */
    pn_status (*project)(const pn_set *self, double *x, pn_err *err); /* Euclidean, in place; x unchanged on failure */
    /* The same by an iteration that may not get there: *gap bounds the squared distance from the nearest point, and is
     * +inf at worst.  Where support points would do it, asked before they are; x is a point of C. */
    pn_status (*approach)(const pn_set *self, double *x, double *gap, pn_err *err);
    pn_status (*gauge)(const pn_set *self, const double *x, double *value,
                       pn_err *err); /* min{t >= 0 : x in tC}; inf */
    /* Gauge of Q = conv(C u -C); symmetric sets leave it NULL (it is their gauge). */
    pn_status (*hull_gauge)(const pn_set *self, const double *x, double *value, pn_err *err);
    /* Exactly, by quadrature, or from the widths of parts; PN_EUNSUPPORTED: Monte Carlo is what there is. */
    pn_status (*width)(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err);
    pn_status (*sample)(const pn_set *self, pn_rng *rng, double *x, pn_err *err); /* uniform over the set */

    /* Polytopes with a list of vertices, given or implicit; all four or none. */
    size_t (*atom_count)(const pn_set *self);
    /* scores[i] = <v_i - c, g>, with one point c common to all i (it changes no comparison).
     * O(dim) for implicit lists. */
    void (*atom_scores)(const pn_set *self, const double *g, double *scores /* [atom_count] */);
    double (*atom_radius)(const pn_set *self, pn_lp norm); /* max_i ||v_i - c|| with the same c */
    void (*atom)(const pn_set *self, size_t i, pn_atom *out, double *scratch /* [dim] */);

    /* A length: what the value of support may be below the maximum, in units of ||g||_2, and a projected point outside
     * of the set, beyond the rounding of a formula.  For certificates that rest on both.  NULL: nothing; +inf: not
     * known, or they may fail. */
    double (*shortfall)(const pn_set *self);
    /* A length: how far, in l2, what project computes may be from the nearest point, for every x with ||x||_2 <= size.
     * Public: it depends on the set and the size only, and is proven where it is defined.  NULL: not known. */
    double (*projection_error)(const pn_set *self, double size);

    /* max ||factor x + shift|| over the set, an upper bound within 1e-12 relative; shift [dim].  NULL: a shifted set
     * takes its radius from the atoms, or from the triangle inequality when there are none either. */
    double (*image_radius)(const pn_set *self, double factor, const double *shift, pn_lp norm);

    /* The `radius` option of a body that is radius times a unit body (pn_set_is); NULL for others. */
    double (*scale)(const pn_set *self);

    /* *value = the numeric parameter of that name, of those that scaling leaves alone ("k", "alpha", "rows");
     * NULL: none. */
    bool (*number)(const pn_set *self, const char *name, double *value);

    /* What pn_set_describe writes; NULL: name, dimension and l2 radius. */
    void (*describe)(const pn_set *self, char *text, size_t size);
} pn_set_ops;

/* Implementations embed this head first. */
struct pn_set {
    const pn_set_ops *ops;
    size_t dim;
    int references; /* sets are immutable and shared: a composed set keeps its parts */
};

pn_set *pn_set_keep(pn_set *set);

/* Checked doors: PN_EDIM when n is not the set's dimension (names both), PN_EDOMAIN for NaN or infinity
 * (with its position), PN_EUNSUPPORTED when the set has none (with the reason).  `value` and `point` may be NULL.
 * A failure leaves x as it was. */
/** The row's shortfall, 0 without one. */
double pn_set_shortfall(const pn_set *set);
/** The row's projection_error, +inf without one. */
double pn_set_projection_error(const pn_set *set, double size);
/** max |<w, x>| over C, the dual of the gauge of Q = conv(C u -C): the larger support of x and -x. */
pn_status pn_set_dual_norm(const pn_set *set, const double *x, size_t n, double *value, pn_err *err);
/** C as factor * inner + shift with an inner that is no such wrapper (borrowed); *shift is NULL for none. */
const pn_set *pn_set_unwrap(const pn_set *set, double *factor, const double **shift);
/** The named body of the table scaled about the origin, without shift?  Then *radius is its `radius` option, scaled. */
bool pn_set_is(const pn_set *set, const char *name, double *radius);

/** The parameter `name` (k, alpha, q, rows, cols ...) of the body inside; false when it has none of that name. */
bool pn_set_number(const pn_set *set, const char *name, double *value);

/** box and linf_ball, scaled and shifted ones as well: a product of intervals. */
bool pn_set_is_intervals(const pn_set *set);
/** low[dim] and high[dim] of such a set, or of any bounded set in one dimension.  Errors: PN_ENOMEM;
 *  what its support function returns. */
pn_status pn_set_ends(double *low, double *high, const pn_set *set, pn_err *err);

/** For implementations: fill the head of a new set with one reference. */
void pn_set_init(pn_set *set, const pn_set_ops *ops, size_t dim);

/** For implementations with a `center` option: *out = set + center, or set itself when none is given.  Takes over the
 *  caller's reference to `set`, also on failure.  Errors: PN_EDIM (both sizes), as pn_set_shift. */
pn_status pn_set_center_at(pn_set **out, pn_set *set, const char *owner, const pn_arg *center, pn_err *err);

/** Add weight * atom to x[dim]. */
void pn_atom_add(const pn_atom *atom, double weight, double *x);

#endif
