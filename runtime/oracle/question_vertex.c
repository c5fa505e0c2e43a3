/* question_vertex.c -- the vertex of the set toward which f falls fastest, by private choice.
 * The score of a vertex v is -<v, gradient of f>: a record adds at most max |l'| max |<v, x>| to n of them, and
 * replacing it moves each by twice that over n.
 * Depends on: question.h, geometry.  Used by: question.c's table, frank_wolfe. */
#include <math.h>

#include "geometry/convex/set.h"
#include "oracle/question.h"

/* min over norms of max ||v_i - c|| * (record bound in the dual norm) * slope: the largest |<v_i - c,
 * gradient of a record>|. */
static double largest_score(const pn_objective *objective)
{
    const pn_set *set = pn_objective_set(objective);
    const pn_bounds *bounds = pn_objective_bounds(objective);
    double best = INFINITY;

    /* lipschitz[norm] bounds the gradient in the dual norm of `norm`. */
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        if (isfinite(bounds->lipschitz[norm]))
            best = fmin(best, set->ops->atom_radius(set, (pn_lp)norm) * bounds->lipschitz[norm]);
    }
    return best * (1.0 + 1e-14);
}

/* The public part of every score. */
static double largest_regular_score(const pn_objective *objective)
{
    const pn_set *set = pn_objective_set(objective);

    return set->ops->atom_radius(set, PN_L1) * pn_objective_bounds(objective)->reg.gradient * (1.0 + 1e-14);
}

/* Public bound on the rounding of a score: that of the gradient (regulariser included), through the vertex, and of the
 * inner product. */
static double score_error(const pn_objective *objective)
{
    const pn_set *set = pn_objective_set(objective);
    double l1 = set->ops->atom_radius(set, PN_L1);
    double product = ((double)set->dim + 5.0) * 0x1p-53 * 1.01;
    double entry = pn_objective_bounds(objective)->lipschitz[PN_L1] + pn_objective_bounds(objective)->reg.gradient;

    return l1 * (pn_objective_gradient_error(objective) + product * entry);
}

/* Bounds on scores that come from the objective: of one record's part, and of its public part. */
static pn_status check(const pn_question *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);
    const pn_bounds *bounds = pn_objective_bounds(self->objective);

    if (!set || !pn_set_is_polytope(set))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "vertex: private choice needs a polytope with vertices, not %s; give the objective an l1_ball, a "
            "simplex or a polytope",
            set ? set->ops->name : "an objective without a set");
    if (self->exact)
        return PN_OK;
    if (!isfinite(bounds->reg.gradient))
        return pn_fail(err, PN_EUNSUPPORTED, "vertex: the gradient of the regulariser is not bounded: %s",
                       bounds->reg.missing);
    if (!bounds->certified)
        return pn_fail(err, PN_EPRIVACY, "vertex: the sensitivity cannot be certified: %s", bounds->missing);
    return PN_OK;
}

static pn_status certify(pn_question *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);
    double n = (double)pn_objective_data(self->objective)->n;
    double moved = pn_contributions(self->neighbours);

    PN_TRY(check(self, err));
    self->dim = set->ops->atom_count(set);
    self->room = set->dim;
    self->reached = largest_score(self->objective);
    self->selection = (pn_selection_options){ .law = PN_SELECT_EXPONENTIAL,
                                              .sensitivity = moved * self->reached / n * (1.0 + 1e-14),
                                              .score_error = score_error(self->objective),
                                              .score_bound = (self->reached + largest_regular_score(self->objective)) *
                                                             (1.0 + 0x1p-30),
                                              .neighbours = self->neighbours };
    return PN_OK;
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);

    (void)batch;
    PN_TRY(pn_objective_evaluate(self->objective, asked->x, value, room, task, err));
    for (size_t j = 0; j < set->dim; j++)
        room[j] = -room[j]; /* the mechanism looks for the largest score */
    set->ops->atom_scores(set, room, out);
    return PN_OK;
}

const pn_question_ops pn_question_vertex = {
    .name = "vertex",
    .doc = "The vertex v of a polytope with the least <v, gradient of f>, by private choice.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 4",
    .answer = PN_ANSWER_CHOICE,
    .certify = certify,
    .compute = compute,
};
