/* question_vertex.c -- the vertex of the set toward which f falls fastest, by private choice: from a list, or of sets
 * without one by several choices.
 * The score of a vertex v is -<v, gradient of f>: a record adds at most max |l'| max |<v, x>| to n of them, and
 * replacing it moves each by twice that over n.
 *
 * Of several choices (geometry/algebra/choices.h) all scores follow from the one gradient.  Replacing a record, or
 * leaving it out, moves it by Delta with ||Delta||_q* <= S_q = (2 or 1) G_q/n, where G_q bounds the gradient of a
 * record in the norm dual to q: choices whose bounds for ||Delta||_q* <= 1 are A_q (sum of squares) and B_q (sum) move
 * by sqrt(sum d_r^2) <= min over q of sqrt(A_q) S_q and sum d_r <= min over q of B_q S_q.
 * Depends on: question.h, geometry.  Used by: question.c's table, frank_wolfe. */
#include <math.h>
#include <string.h>

#include "geometry/algebra/choices.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/upper.h"
#include "objective/losses/loss.h"
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

/* Public bound on the rounding of a score: that of the gradient (regulariser included), through a vertex of that l1
 * norm, and of the inner product of so many terms (of an image those of A^T g as well). */
static double rounding(const pn_objective *objective, double l1, size_t terms)
{
    double product = ((double)terms + 5.0) * 0x1p-53 * 1.01;
    double entry = pn_objective_bounds(objective)->lipschitz[PN_L1] + pn_objective_bounds(objective)->reg.gradient;

    return l1 * (pn_objective_gradient_error(objective) + product * entry);
}

/* What the gradient has to be like, whatever is chosen from. */
static pn_status check_gradient(const pn_question *self, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);

    if (self->exact)
        return PN_OK;
    if (!isfinite(bounds->reg.gradient))
        return pn_fail(err, PN_EUNSUPPORTED, "vertex: the gradient of the regulariser is not bounded: %s",
                       bounds->reg.missing);
    if (!bounds->certified)
        return pn_fail(err, PN_EPRIVACY, "vertex: the sensitivity cannot be certified: %s", bounds->missing);
    return PN_OK;
}

/* Bounds on scores that come from the objective: of one record's part, and of its public part. */
static pn_status check(const pn_question *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);

    if (!set || !pn_set_is_polytope(set))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "vertex: private choice needs a polytope with vertices, not %s; give the objective an l1_ball, a "
            "simplex or a polytope, or use solve.frank_wolfe, which makes a vertex of a box, hypersimplex, product or "
            "sum by several choices",
            set ? set->ops->name : "an objective without a set");
    return check_gradient(self, err);
}

/* w where the atoms 2j and 2j + 1 are c + w e_j and c - w e_j, for all j; else 0.  A private choice then looks at the
 * gradient, and computes the scores of those alone that it proposes. */
static double weight_of_pairs(const pn_set *set)
{
    double factor, radius;
    const double *shift;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);

    return pn_set_is(inner, "l1_ball", &radius) ? factor * radius : 0.0;
}

static pn_status certify(pn_question *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);
    double n = (double)pn_objective_data(self->objective)->n;
    double moved = pn_contributions(self->neighbours);

    PN_TRY(check(self, err));
    PN_TRY(pn_coordinate_choices_new(&self->coordinates, set, err));
    self->dim = set->ops->atom_count(set);
    self->reached = largest_score(self->objective);
    self->selection =
        (pn_selection_options){ .law = PN_SELECT_EXPONENTIAL,
                                .sensitivity = moved * self->reached / n * (1.0 + 1e-14),
                                .score_error = rounding(self->objective, set->ops->atom_radius(set, PN_L1), set->dim),
                                .score_bound =
                                    (self->reached + largest_regular_score(self->objective)) * (1.0 + 0x1p-30),
                                .neighbours = self->neighbours,
                                .pairs = self->exact ? 0.0 : -weight_of_pairs(set) };
    self->basis = (pn_basis){ .rule = "score",
                              .norm = "each",
                              .contributions = moved,
                              .contribution = self->reached,
                              .factor = 1.0,
                              .divisor = n,
                              .value = self->selection.sensitivity };
    self->computed = self->selection.pairs != 0.0 ? set->dim : 0;
    self->room = self->computed ? 0 : set->dim;
    return PN_OK;
}

static bool is_squared(const pn_objective *objective)
{
    const pn_loss *loss = pn_objective_loss(objective);

    return loss->quadratic && strcmp(loss->row->name, "squared") == 0;
}

/* Of the objective, for gradients that are kept. */
static const char *missing_of_path(const pn_objective *objective, pn_path_slopes slopes)
{
    const pn_loss *loss = pn_objective_loss(objective);

    if (pn_objective_regulariser(objective))
        return "an objective without a regulariser";
    if (pn_objective_clip(objective) != 0.0)
        return "gradients that are not clipped";
    if (pn_objective_ranks(objective))
        return "records of one process";
    if (slopes == PN_PATH_SQUARED)
        return is_squared(objective) ? NULL : "the squared loss";
    if (loss->margins != 1 || loss->extra != 0)
        return "a loss of one margin";
    if (slopes == PN_PATH_LINEARISED && !(loss->ops->curve && pn_objective_bounds(objective)->loss.smooth))
        return "a loss with a bounded second derivative";
    return NULL;
}

double pn_question_entry_moves(const pn_question *self)
{
    double n = (double)pn_objective_data(self->objective)->n;

    return pn_contributions(self->neighbours) * pn_objective_bounds(self->objective)->lipschitz[PN_L1] / n;
}

/* The most that |<x, shift>| is, over all records. */
static double largest_shift(const pn_objective *objective, const double *shift)
{
    const pn_dataset *data = pn_objective_data(objective);
    double best = INFINITY;

    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double size = data->bounds.norm[norm];

        if (isfinite(size))
            best = fmin(best, pn_times_up(size, pn_norm_upper(pn_lp_dual((pn_lp)norm), shift, data->p)));
    }
    return best;
}

/* Whole numbers are bounded by the largest feature.  Another norm may tell less of a record than the price rests on. */
#define AS_CHARGED (1.0 + 0x1p-9)

static bool is_as_charged(const pn_question *self, const pn_path_options *along)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);
    const pn_record_bounds *records = &along->data->bounds;
    double label = fmax(fabs(records->label_low), fabs(records->label_high)), square = 0.0;
    double slope = along->radius * records->norm[PN_LINF] + along->shifted + label;
    double moves = pn_question_entry_moves(self);

    if (along->slopes == PN_PATH_SQUARED && !(slope <= bounds->slope * AS_CHARGED))
        return false;
    if (!self->choices)
        return along->radius * moves <= self->selection.sensitivity * AS_CHARGED;
    for (size_t r = 0; r < self->coordinates->count; r++)
        square += self->coordinates->at[r].weight * self->coordinates->at[r].weight;
    return sqrt(square) * moves <= self->selections.root * (1.0 + 1e-12) &&
           along->radius * moves <= self->selections.sum * (1.0 + 1e-12);
}

const char *pn_question_vertex_path(pn_path_options *out, const pn_question *self, const double *start, size_t steps,
                                    pn_path_slopes slopes, double kappa)
{
    const pn_objective *objective = self->objective;
    const pn_loss_bounds *loss = &pn_objective_bounds(objective)->loss;
    const char *missing = missing_of_path(objective, slopes);
    const pn_coordinate_choices *of = self->coordinates;

    if (missing)
        return missing;
    if (self->exact || self->selection.law == PN_SELECT_LAPLACE)
        return "selection=\"exponential\" or \"permute_and_flip\"";
    if (!of)
        return "an l1_ball, a simplex, or a product of these";
    *out = (pn_path_options){ .data = pn_objective_data(objective),
                              .radius = of->reach,
                              .shift = of->shift,
                              .start = start,
                              .shifted = of->shift ? largest_shift(objective, of->shift) : 0.0,
                              .steps = steps,
                              .slopes = slopes,
                              .loss = pn_objective_loss(objective),
                              .slope = pn_objective_bounds(objective)->slope,
                              .curvature = fmax(-loss->curvature.low, loss->curvature.high),
                              .kappa = kappa };
    if (!pn_gradient_path_suits(out))
        return "sparse records in memory, whose numbers fit 62 bits over all steps";
    return is_as_charged(self, out) ? NULL : "records that are bounded in linf, and no more closely in another norm";
}

void pn_question_vertex_along(pn_question *self, const pn_path_options *along)
{
    self->along = *along;
    self->points = 0; /* none is compared: where it is asked changes no answer */
    self->computed = self->coordinates->count;
    self->room = 0;
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);

    (void)batch;
    if (self->computed)
        return pn_objective_evaluate(self->objective, asked->x, value, out, task, err);
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

/* ---- several choices ---- */

static void say_basis(pn_question *self, double root, double per_record)
{
    static const char *const sums[] = { "sum_l1", "sum_l2", "sum_linf" };
    static const char *const squares[] = { "square_l1", "square_l2", "square_linf" };

    self->basis = (pn_basis){ .rule = "choices",
                              .norm = "l2",
                              .contributions = pn_contributions(self->neighbours),
                              .contribution = root,
                              .factor = 1.0,
                              .divisor = pn_contributions(self->neighbours) / per_record,
                              .value = root * per_record * (1.0 + 1e-13) };
    for (int q = 0; q < PN_LP_COUNT; q++) {
        pn_basis_add(&self->basis, sums[q], self->choices->sums[q]);
        pn_basis_add(&self->basis, squares[q], self->choices->squares[q]);
    }
}

/* Bounds of one record on all choices, and public ones on every score: over the best norm. */
static void bound_choices(pn_question *self)
{
    const pn_choices *made = self->choices;
    const pn_bounds *bounds = pn_objective_bounds(self->objective);
    double per_record = pn_contributions(self->neighbours) / (double)pn_objective_data(self->objective)->n;
    double sum = INFINITY, root = INFINITY, one = INFINITY;

    for (int q = 0; q < PN_LP_COUNT; q++) {
        if (!isfinite(bounds->lipschitz[q]))
            continue;
        sum = fmin(sum, made->sums[q] * bounds->lipschitz[q]);
        root = fmin(root, sqrt(made->squares[q]) * bounds->lipschitz[q]);
        one = fmin(one, made->longest[q] * bounds->lipschitz[q]);
    }
    self->reached = one;
    say_basis(self, fmin(sum, root), per_record);
    self->selections =
        (pn_selections_options){ .count = made->picks,
                                 .most = made->most,
                                 .sum = fmax(sum, root) * per_record * (1.0 + 1e-13),
                                 .root = fmin(sum, root) * per_record * (1.0 + 1e-13),
                                 .score_error = rounding(self->objective, made->longest[PN_L1], made->terms),
                                 .score_bound = (one + made->longest[PN_L1] * bounds->reg.gradient) * (1.0 + 0x1p-30),
                                 .neighbours = self->neighbours };
}

static pn_status certify_choices(pn_question *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);

    if (!set)
        return pn_fail(err, PN_EUNSUPPORTED, "vertex: private choice needs an objective with a set");
    PN_TRY(check_gradient(self, err));
    PN_TRY(pn_choices_new(&self->choices, set, "vertex", err));
    PN_TRY(pn_coordinate_choices_new(&self->coordinates, set, err));
    self->dim = set->dim;
    self->room = pn_choices_room(self->choices) + set->dim;
    bound_choices(self);
    return PN_OK;
}

/* The direction: minus the gradient. */
static pn_status compute_choices(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                                 double *value, double *out, pn_task *task, pn_err *err)
{
    (void)batch;
    (void)room;
    PN_TRY(pn_objective_evaluate(self->objective, asked->x, value, out, task, err));
    for (size_t j = 0; j < self->dim; j++)
        out[j] = -out[j];
    return PN_OK;
}

const pn_question_ops pn_question_choices = {
    .name = "choices",
    .doc = "The vertex v with the least <v, gradient of f> of a set whose vertices are made of several choices, all of "
           "them private and charged together.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 4; Cesar, Rogers (2021) for the composition",
    .answer = PN_ANSWER_VERTEX,
    .certify = certify_choices,
    .compute = compute_choices,
};
