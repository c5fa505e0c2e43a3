/* mirror_geometry.c -- see mirror_geometry.h.  Depends on: mirror_geometry.h, geometry.
 * Used by: mirror_descent*.c, accelerated_mirror_descent*.c. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/width/width.h"
#include "numeric/blas.h"
#include "solvers/first_order/mirror_geometry.h"

/* Rows of a matrix share its l1 and l2 norm, not its largest entry. */
static double margin_over(const pn_set *ball, const pn_objective *objective)
{
    const pn_record_bounds *records = &pn_objective_data(objective)->bounds;
    double margins = (double)pn_objective_loss(objective)->margins, most = INFINITY;

    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double record = records->norm[pn_lp_dual((pn_lp)norm)], rows = norm == PN_LINF ? sqrt(margins) : 1.0;

        if (isfinite(record))
            most = fmin(most, ball->ops->radius(ball, (pn_lp)norm) * record * rows);
    }
    if (pn_objective_loss(objective)->extra > 0) /* which move by as much as theta */
        most = hypot(most, ball->ops->radius(ball, PN_L2));
    return most * (1.0 + 1e-14);
}

static pn_status measure_ball(pn_mirror_geometry *of, const pn_plan *plan, const pn_arg *widths, pn_err *err)
{
    const pn_objective *objective = plan->objective;
    double slope = pn_objective_bounds(objective)->reg.gradient;
    size_t p = pn_objective_dim(objective);
    pn_set *ball = NULL;
    pn_status status;

    PN_TRY(pn_norm_ball(&ball, of->potential->norm, p, err));
    of->R = ball->ops->radius(ball, PN_L2);
    of->regular = pn_objective_regulariser(objective) ? ball->ops->radius(ball, PN_L1) * slope : 0.0;
    of->margin = margin_over(ball, objective);
    if (widths) {
        status = pn_plan_width(&of->width, ball, widths, plan->request.task, err);
        of->G2R2 = of->width.high * of->width.high + of->R * of->R; /* high: the bound is to hold */
    } else {
        status = pn_norm_dual_square(of->potential->norm, p, &of->G2R2, err);
    }
    pn_set_free(ball);
    return status;
}

/* Without a set the potential is Euclidean: K is the dimension, as G2R2 is. */
static pn_status measure_noise(pn_mirror_geometry *of, const pn_set *set, pn_err *err)
{
    of->K = of->G2R2;
    if (!set)
        return PN_OK;
    PN_TRY(pn_potential_trace(of->potential, set, &of->K, err));
    of->K *= of->potential->strong_convexity;
    return PN_OK;
}

static pn_status measure(pn_mirror_geometry *of, const pn_mirror_wish *wish, pn_err *err)
{
    const pn_set *set = pn_objective_set(wish->plan->objective);

    of->D2 = INFINITY;
    PN_TRY(measure_ball(of, wish->plan, wish->widths, err));
    PN_TRY(measure_noise(of, set, err));
    if (set && pn_set_is_bounded(set))
        PN_TRY(
            pn_mirror_range(&of->D2, &of->rule, of->potential, set, wish->potential->given ? wish->range : 0.0, err));
    of->D2 /= of->potential->strong_convexity;
    return PN_OK;
}

double pn_mirror_geometry_cost(const pn_mirror_geometry *of)
{
    return sqrt(2.0 * of->D2 * of->K);
}

double pn_mirror_geometry_smoothness(const pn_mirror_geometry *of, const pn_objective *objective, double claimed,
                                     double regular)
{
    const pn_loss_bounds *loss = &pn_objective_bounds(objective)->loss;
    double low = loss->convex ? 0.0 : fmax(-loss->curvature.low, 0.0), curvature = fmax(loss->curvature.high, low);
    double square = of->R * of->R;
    double F = !loss->smooth || !isfinite(of->margin) ? INFINITY : curvature * of->margin * of->margin;

    F = fmin(F, claimed * square) + (regular > 0.0 ? regular * square : 0.0);
    return isnan(F) ? INFINITY : F;
}

bool pn_mirror_geometry_euclidean(const pn_mirror_geometry *of)
{
    return strcmp(of->potential->ops->name, "euclidean") == 0;
}

/* ---- the choice ---- */

static pn_status use_given(pn_mirror_geometry *of, const pn_mirror_wish *wish, pn_err *err)
{
    const pn_plan *plan = wish->plan;
    pn_potential *given = (pn_potential *)(size_t)wish->potential->object;
    size_t expected = given->theta_dim ? given->theta_dim : given->dim, p = pn_objective_dim(plan->objective);

    of->potential = pn_potential_keep(given);
    if (expected != 0 && expected != p)
        return pn_fail(err, PN_EDIM, "the potential has %zu coordinates, the set has %zu", expected, p);
    return measure(of, wish, err);
}

static pn_status use_euclidean(pn_mirror_geometry *of, const pn_mirror_wish *wish, const char *why, pn_err *err)
{
    const pn_plan *plan = wish->plan;
    pn_arg args[2] = { { .given = true, .vector = { .n = pn_objective_dim(plan->objective) } }, { .given = false } };
    double *center;
    pn_status status;

    PN_TRY(pn_plan_start(&center, plan->objective, NULL, err));
    args[0].vector.data = center;
    status = pn_potential_from_args(&of->potential, "euclidean", args, err);
    pn_free(center);
    of->why = why;
    return status == PN_OK ? measure(of, wish, err) : status;
}

/* A set of support points alone is projected on by an iteration that may take seconds for each step: the Euclidean one
 * is taken there only for a start of the caller's that the other does not have. */
static bool may_be_euclidean(const pn_mirror_geometry *of, const pn_mirror_wish *wish, const pn_set *set)
{
    return pn_set_can_project(set) &&
           (set->ops->project || wish->widths || (wish->start->given && of->potential->theta_dim));
}

/* The fitting potential or the Euclidean one, whichever is the better by the wish; the other is told. */
static pn_status use_better(pn_mirror_geometry *of, const pn_mirror_wish *wish, pn_err *err)
{
    pn_set *set = pn_objective_set(wish->plan->objective);
    pn_mirror_geometry other = { .potential = NULL };
    pn_status status = wish->widths ? pn_potential_of_article(&of->potential, set, &of->why, err)
                                    : pn_potential_for_set(&of->potential, set, &of->why, err);

    if (status == PN_OK)
        status = measure(of, wish, err);
    if (status != PN_OK || pn_mirror_geometry_euclidean(of) || !may_be_euclidean(of, wish, set))
        return status;
    status = use_euclidean(&other, wish, "plain projected gradients", err);
    if (status == PN_OK) {
        of->risk = wish->risk(of, wish->self);
        other.risk = wish->risk(&other, wish->self);
        if (other.risk <= wish->favour * of->risk || (wish->start->given && of->potential->theta_dim)) {
            pn_mirror_geometry fitting = *of;

            *of = other;
            other = fitting;
        }
        pn_potential_describe(other.potential, of->other, sizeof of->other);
        of->other_ratio = other.risk / of->risk;
    }
    pn_potential_free(other.potential);
    return status;
}

static pn_status choose(pn_mirror_geometry *of, const pn_mirror_wish *wish, pn_err *err)
{
    if (wish->potential->given)
        return use_given(of, wish, err);
    if (wish->euclidean || !pn_objective_set(wish->plan->objective))
        return use_euclidean(of, wish, wish->euclidean ? wish->euclidean : "there is no set", err);
    return use_better(of, wish, err);
}

pn_status pn_mirror_geometry_choose(pn_mirror_geometry *of, pn_mirror_space *space, const pn_mirror_wish *wish,
                                    pn_err *err)
{
    pn_status status = choose(of, wish, err);

    space->potential = of->potential;
    return status;
}

/* ---- where steps begin ---- */

static pn_status first_point(const pn_mirror_space *self, const pn_arg *start, pn_err *err)
{
    const pn_potential *potential = self->potential;
    double *out = self->start;
    size_t dim = self->dim;
    pn_status status;

    if (!start->given && self->set)
        return pn_potential_start(potential, self->set, out, err);
    if (!start->given) {
        memset(out, 0, dim * sizeof *out);
        return pn_potential_inverse_gradient(potential, out, dim, out, err);
    }
    if (potential->theta_dim)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "a potential of weights on vertices, of a sum or of an image starts where it is least; leave "
                       "start out, or give potential=pn.potential.euclidean{}");
    /* Steps start from the gradient there: has the potential one? */
    status = pn_potential_gradient(potential, start->vector.data, dim, out, err);
    if (status != PN_OK)
        return pn_fail_in(err, status, "start");
    memcpy(out, start->vector.data, dim * sizeof *out);
    return PN_OK;
}

/* Whether steps are iterations: a first one, which may be as far off as it likes. */
static pn_status find_iterations(pn_mirror_space *self, pn_err *err)
{
    pn_step_limit limit = { .gap = DBL_MAX };

    if (!self->set)
        return PN_OK;
    memset(self->start, 0, self->dim * sizeof *self->start);
    PN_TRY(pn_potential_step_within(self->potential, self->set, self->start, self->start, &limit, err));
    self->iterates = limit.rounds > 0;
    return PN_OK;
}

pn_status pn_mirror_space_open(pn_mirror_space *self, const pn_mirror_wish *wish, pn_err *err)
{
    const pn_objective *objective = wish->plan->objective;

    self->set = pn_objective_set(objective);
    self->dim = self->potential->theta_dim ? self->potential->dim : pn_objective_dim(objective);
    self->lazy = self->lazy || self->potential->keeps_sums;
    PN_TRY(pn_new(&self->start, self->dim, err, "out of memory"));
    PN_TRY(find_iterations(self, err));
    PN_TRY(first_point(self, wish->start, err));
    if (!self->lazy)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&self->sums, self->dim, err, "out of memory"));
    return wish->start->given ? pn_potential_gradient(self->potential, self->start, self->dim, self->sums, err) : PN_OK;
}

void pn_mirror_space_ask(pn_mirror_space *self, const pn_mirror_geometry *of, double risk, double slope, size_t steps)
{
    double d = 0.01 * risk / slope;

    if (!(d > 0.0) || !isfinite(d)) /* nothing is known to be lost: of the size of the set in that norm */
        d = 1e-3 * sqrt(2.0 * of->D2);
    if (!self->lazy)
        d /= (double)steps;
    self->gap = 0.5 * self->potential->strong_convexity * d * d;
}

void pn_mirror_space_clear(pn_mirror_space *self)
{
    pn_potential_free(self->potential);
    pn_free(self->start);
    pn_free(self->sums);
}

/* ---- a run ---- */

static bool lifted(const pn_mirror_space *self)
{
    return self->potential->theta_dim > 0;
}

void pn_mirror_rooms(const pn_mirror_space *self, size_t p, pn_room *room, pn_mirror_point *at)
{
    pn_room_take(room, &at->x, self->dim);
    pn_room_take(room, &at->next, self->dim);
    pn_room_take(room, &at->sums, self->lazy ? self->dim : 0);
    pn_room_take(room, &at->moved, self->lazy ? self->dim : 0);
    pn_room_take(room, &at->theta, lifted(self) ? p : 0);
    pn_room_take(room, &at->pulled, lifted(self) ? self->dim : 0);
    pn_room_take(room, &at->room, self->potential->room);
    pn_room_take(room, &at->warm, self->iterates ? self->dim : 0);
    pn_room_take(room, &at->ended, self->iterates ? self->dim : 0);
    if (!lifted(self))
        at->theta = at->x;
}

static void set_point(const pn_mirror_space *self, pn_mirror_point *at, const double *to)
{
    memcpy(at->x, to, self->dim * sizeof *to);
    if (lifted(self))
        pn_potential_theta(self->potential, at->x, self->potential->theta_dim, at->theta, at->room);
}

void pn_mirror_begin(const pn_mirror_space *self, pn_mirror_point *at)
{
    set_point(self, at, self->start);
    if (self->lazy)
        memcpy(at->sums, self->sums, self->dim * sizeof *at->sums);
}

void pn_mirror_arrive(const pn_mirror_space *self, pn_mirror_point *at)
{
    set_point(self, at, at->next);
    if (self->lazy)
        memcpy(at->sums, at->moved, self->dim * sizeof *at->sums);
    if (self->iterates)
        memcpy(at->warm, at->ended, self->dim * sizeof *at->warm);
    at->late += at->reached > 0.0;
    at->farthest = fmax(at->farthest, at->reached);
}

void pn_mirror_remark(const pn_mirror_space *self, const pn_mirror_point *at, size_t steps, char *text, size_t size)
{
    text[0] = '\0';
    if (at->late > 0)
        (void)snprintf(text, size, "%zu of %zu steps stopped at gap %.2g (asked %.2g)", at->late, steps, at->farthest,
                       self->gap);
}

static pn_status step_along(const pn_mirror_space *self, pn_mirror_point *at, const double *gradient, double eta,
                            pn_step_limit *limit, pn_err *err)
{
    if (!self->lazy)
        return pn_mirror_step_within(self->potential, self->set, at->x, gradient, eta, self->dim, at->next, limit, err);
    memcpy(at->moved, at->sums, self->dim * sizeof *at->moved);
    pn_axpy(self->dim, -eta, gradient, at->moved);
    return pn_potential_step_within(self->potential, self->set, at->moved, at->next, limit, err);
}

pn_status pn_mirror_move(const pn_mirror_space *self, pn_mirror_point *at, const double *gradient, double eta,
                         pn_err *err)
{
    pn_step_limit limit = { .gap = self->gap, .warm = at->ended };

    if (lifted(self)) {
        pn_potential_pull(self->potential, gradient, self->potential->theta_dim, at->pulled, at->room);
        gradient = at->pulled;
    }
    if (!self->iterates)
        return step_along(self, at, gradient, eta, NULL, err);
    memcpy(at->ended, at->warm, self->dim * sizeof *at->ended);
    PN_TRY(step_along(self, at, gradient, eta, &limit, err));
    at->reached = limit.reached;
    return PN_OK;
}

/* ---- explanation ---- */

static bool has_width(const pn_mirror_geometry *of)
{
    return of->width.confidence > 0.0;
}

void pn_mirror_geometry_explain(const pn_mirror_geometry *of, pn_plan *plan)
{
    char text[160], norm[96];

    pn_potential_describe(of->potential, text, sizeof text);
    pn_norm_describe(of->potential->norm, norm, sizeof norm);
    pn_plan_add_text(plan, "potential", text, "%s; %.4g-strongly convex in %s", of->why ? of->why : "as given",
                     of->potential->strong_convexity, norm);
    if (of->other_ratio > 0.0)
        pn_plan_add(plan, "gain of geometry", of->other_ratio, "%s with %s over that with this one",
                    !has_width(of) ? "what noise costs" : "the risk bound", of->other);
    if (!has_width(of)) {
        pn_plan_add(plan, "noise trace K", of->K,
                    "sup tr of the potential's inverse Hessian; Theorem 3.2 has G^2 + R^2%s %.4g",
                    of->G2R2 == of->K ? " =" : " <=", of->G2R2);
    } else {
        pn_plan_add(plan, "radius R of Q", of->R, "l2 radius of the unit ball Q of that norm");
        pn_plan_explain_width(plan, "width G of Q", "Q", &of->width);
    }
    if (isfinite(of->D2))
        pn_plan_add(plan, "range D2", of->D2, "%s",
                    of->rule == PN_RANGE_KNOWN      ? "max - min of the potential over C, over its constant"
                    : of->rule == PN_RANGE_DECLARED ? "as declared, over the potential's constant"
                                                    : "a guess: twice what 64 points of the set reach; give range=");
    else
        pn_plan_add_text(plan, "range D2", "unknown", "no bound on the potential over the set");
}
