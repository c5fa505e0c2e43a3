/* potential_separable.c -- Psi(x) = sum_j psi(x_j) for a formula psi: compiled with its derivatives,
 * its strong convexity certified by
 * intervals.  Inverse slopes a piece of the vector at a time;
 * the simplex and the l1 ball by one dual number.
 * Depends on: custom_potential.h, slope_inverse.h, expr/.  Used by: bindings, hosts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "expr/compiled.h"
#include "geometry/potentials/custom_potential.h"
#include "geometry/potentials/potential_parts.h"
#include "geometry/kernels/slope_inverse.h"
#include "numeric/blas.h"
#include "numeric/root.h"

#define PIECE     PN_POTENTIAL_PIECE
#define MOST_ENDS 2000 /* coordinates whose ends are asked for one by one */
#define ROUNDING  1e-14
#define NEAR      1e-9 /* of a search that only leads there */

_Static_assert(PN_POTENTIAL_PIECE <= PN_SLOPE_MOST, "a piece is inverted at once");

typedef struct separable {
    pn_potential base;
    pn_compiled formula;
    pn_interval domain;
    double bend;                  /* psi'' is at most that; +inf: not bounded */
    double inside, slope_inside;  /* a point of the domain, and psi' there */
    double slope_low, slope_high; /* at the ends of the domain; infinite or NaN: none */
} separable;

static const separable *as_separable(const pn_potential *self)
{
    return (const separable *)self;
}

static void separable_destroy(pn_potential *self)
{
    pn_compiled_clear(&((separable *)self)->formula);
    pn_free(self);
}

static bool is_outside(const separable *of, double x)
{
    return !(x >= of->domain.low && x <= of->domain.high);
}

static pn_status separable_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const separable *of = as_separable(self);
    double piece[PIECE], sum = 0.0;

    (void)err;
    for (size_t j = 0; j < n; j++) {
        if (is_outside(of, x[j])) {
            *value = INFINITY;
            return PN_OK;
        }
    }
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;

        pn_compiled_run(&of->formula, count, (const double *[1]){ x + at }, piece, NULL);
        sum += pn_sum(count, piece);
    }
    *value = isnan(sum) ? INFINITY : sum;
    return PN_OK;
}

static pn_status separable_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const separable *of = as_separable(self);
    double piece[PIECE];
    size_t bad;

    for (size_t j = 0; j < n; j++) {
        if (is_outside(of, x[j]))
            return pn_fail(err, PN_EDOMAIN, "potential.separable: entry %zu is %g, outside the domain from %g to %g",
                           j + 1, x[j], of->domain.low, of->domain.high);
    }
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;

        pn_compiled_run(&of->formula, count, (const double *[1]){ x + at }, NULL, piece);
        memcpy(out + at, piece, count * sizeof *piece);
    }
    bad = pn_first_nonfinite(out, n);
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "potential.separable: there is no gradient at entry %zu", bad + 1);
    return PN_OK;
}

/* ---- inverse slopes ---- */

static pn_slope slope_of(const separable *of)
{
    return (pn_slope){ .formula = &of->formula,
                       .domain = of->domain,
                       .least = of->base.strong_convexity,
                       .inside = of->inside,
                       .at_inside = of->slope_inside,
                       .at_low = of->slope_low,
                       .at_high = of->slope_high };
}

static pn_status separable_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    pn_slope slope = slope_of(as_separable(self));
    double x[PIECE], curvature[PIECE];
    pn_slope_nodes nodes;

    pn_slope_nodes_fill(&nodes, &slope, pn_potential_least(u, n), pn_potential_largest(u, n), n);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;

        PN_TRY(pn_stop_asked(err));
        pn_slope_invert(&slope, &nodes, u + at, count, x, curvature);
        memcpy(out + at, x, count * sizeof *x);
    }
    return pn_potential_finite("separable", out, n, err);
}

/* ---- steps ---- */

/* Every entry for itself: clipped to the box. */
static pn_status box_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    pn_status status = separable_inverse(self, c, set->dim, x, err);

    if (status == PN_OK)
        status = pn_set_project(set, x, set->dim, err);
    for (size_t j = 0; status == PN_OK && j < set->dim; j++) {
        if (is_outside(as_separable(self), x[j]))
            return pn_fail(err, PN_EDOMAIN, "potential.separable: entry %zu of the set lies outside the domain", j + 1);
    }
    return status;
}

/* Steps by one multiplier t: the sum of |x_j|, where
 *   simplex  psi'(x_j) = c_j - t, but x_j is at least `floor`;
 *   l1 ball  psi'(x_j) = c_j - t above psi'(0), c_j + t below, else x_j = 0. */
typedef struct multiplied {
    pn_slope slope;
    pn_slope_nodes nodes;
    const double *c;
    size_t n;
    double floor, at_floor; /* and psi' there, -inf for none */
    double aim;
    bool ball;
} multiplied;

/* u[count], at[count] <- the slopes of the entries from `first` to `end` that are not at the floor, and their places */
static size_t loose(const multiplied *of, double t, size_t first, size_t end, double *u, size_t *at)
{
    size_t count = 0;

    for (size_t j = first; j < end; j++) {
        double up = of->c[j] - t, down = of->c[j] + t;
        bool below = of->ball && down < of->at_floor;

        u[count] = below ? down : up;
        at[count] = j;
        count += below || up > of->at_floor;
    }
    return count;
}

/* The sum of |x| at t, and its slope there; written to x when not NULL. */
static double sum_at(const multiplied *of, double t, double *slope, double *x)
{
    double u[PIECE], piece[PIECE], curvature[PIECE], sum = 0.0;
    size_t places[PIECE];

    *slope = 0.0;
    for (size_t at = 0; at < of->n; at += PIECE) {
        size_t end = of->n - at < PIECE ? of->n : at + PIECE, count = loose(of, t, at, end, u, places);

        pn_slope_invert(&of->slope, &of->nodes, u, count, piece, curvature);
        for (size_t j = at; j < end && x; j++)
            x[j] = of->floor;
        for (size_t k = 0; k < count; k++) {
            if (x)
                x[places[k]] = piece[k];
            piece[k] = fabs(piece[k]);
            *slope -= 1.0 / curvature[k];
        }
        sum += pn_sum(count, piece) + (double)(end - at - count) * of->floor;
    }
    return sum;
}

static double excess(void *self, double t, double *slope)
{
    const multiplied *of = self;
    double over;

    if (pn_stop_asked(NULL) != PN_OK) /* ends the search; multiplied_step tells */
        return 0.0;
    over = sum_at(of, t, slope, NULL) - of->aim;
    return fabs(over) <= ROUNDING * of->aim ? 0.0 : over;
}

/* Likewise from the nodes alone: a quarter of the work. */
static double rough_excess(void *self, double t, double *slope)
{
    const multiplied *of = self;
    double u[PIECE], piece[PIECE], rate[PIECE], sum = 0.0, rise = 0.0;
    size_t places[PIECE];

    for (size_t at = 0; at < of->n && pn_stop_asked(NULL) == PN_OK; at += PIECE) {
        size_t end = of->n - at < PIECE ? of->n : at + PIECE, count = loose(of, t, at, end, u, places);

        pn_slope_guess(&of->nodes, u, count, piece, rate);
        for (size_t k = 0; k < count; k++)
            piece[k] = fabs(piece[k]);
        sum += pn_sum(count, piece) + (double)(end - at - count) * of->floor;
        rise += pn_sum(count, rate);
    }
    *slope = -rise;
    return fabs(sum - of->aim) <= NEAR * of->aim ? 0.0 : sum - of->aim;
}

/* x[n] from the root between low and high, made to sum up; c and x may be the same array. */
static pn_status multiplied_step(multiplied *of, double low, double high, double *x, pn_err *err)
{
    double slope, sum,
        t = of->nodes.spacing > 0.0 ? pn_newton_near(excess, of, pn_newton(rough_excess, of, low, high), low, high)
                                    : pn_newton(excess, of, low, high);

    PN_TRY(pn_stop_asked(err));
    sum = sum_at(of, t, &slope, x);
    for (size_t j = 0; j < of->n && sum > 0.0; j++)
        x[j] *= of->aim / sum;
    return PN_OK;
}

/* The sum falls in t; at t = c_j - psi'(size / n) entry j is size / n. */
static pn_status simplex_step(const pn_potential *self, double size, const double *c, size_t n, double *x, pn_err *err)
{
    const separable *of = as_separable(self);
    multiplied at = { .slope = slope_of(of), .c = c, .n = n, .floor = fmax(of->domain.low, 0.0), .aim = size };
    double middle = size / (double)n, at_middle, least = pn_potential_least(c, n), largest = pn_potential_largest(c, n);

    if (is_outside(of, middle) || is_outside(of, at.floor))
        return pn_fail(err, PN_EDOMAIN, "potential.separable: no point of the simplex has all entries from %g to %g",
                       of->domain.low, of->domain.high);
    pn_compiled_run(&of->formula, 1, (const double *[1]){ &middle }, NULL, &at_middle);
    pn_compiled_run(&of->formula, 1, (const double *[1]){ &at.floor }, NULL, &at.at_floor);
    at.at_floor = isfinite(at.at_floor) ? at.at_floor : -INFINITY;
    pn_slope_nodes_fill(&at.nodes, &at.slope, fmax(at_middle - (largest - least), at.at_floor),
                        at_middle + (largest - least), n);
    return multiplied_step(&at, least - at_middle, largest - at_middle, x, err);
}

/* At t = max |c_j - psi'(0)| all is 0; at 0 it is the step without a set, which may be inside. */
static pn_status ball_step(const pn_potential *self, double size, const double *c, size_t n, double *x, pn_err *err)
{
    const separable *of = as_separable(self);
    multiplied at = { .slope = slope_of(of), .c = c, .n = n, .aim = size, .ball = true };
    double most, slope, least = pn_potential_least(c, n), largest = pn_potential_largest(c, n);

    if (!(of->domain.low < 0.0 && of->domain.high > 0.0))
        return PN_EUNSUPPORTED;
    pn_compiled_run(&of->formula, 1, (const double *[1]){ &at.floor }, NULL, &at.at_floor);
    if (!isfinite(at.at_floor))
        return PN_EUNSUPPORTED;
    pn_slope_nodes_fill(&at.nodes, &at.slope, least, largest, n);
    most = fmax(largest - at.at_floor, at.at_floor - least);
    if (!(most > 0.0) || sum_at(&at, 0.0, &slope, NULL) <= size)
        most = 0.0;
    return most > 0.0 ? multiplied_step(&at, 0.0, most, x, err) : separable_inverse(self, c, n, x, err);
}

static pn_status separable_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    double size;

    if (pn_set_is(set, "simplex", &size))
        return simplex_step(self, size, c, set->dim, x, err);
    if (pn_set_is(set, "l1_ball", &size))
        return ball_step(self, size, c, set->dim, x, err);
    if (pn_set_is_free(set))
        return separable_inverse(self, c, set->dim, x, err);
    return pn_set_is_a_box(set) ? box_step(self, set, c, x, err) : PN_EUNSUPPORTED;
}

/* ---- the range ---- */

/* As many as potential.c walks through. */
static bool lists_vertices(const pn_set *set)
{
    return (double)set->ops->atom_count(set) * (double)set->dim <= PN_POTENTIAL_MOST_VERTEX_NUMBERS;
}

/* Over the box around a set: each entry at the end with the larger value. */
static pn_status largest_in_box(const pn_potential *self, const pn_set *set, double *largest, pn_err *err)
{
    const separable *of = as_separable(self);
    size_t n = set->dim;
    double *room = pn_alloc(n, 3 * sizeof *room), *ends = room ? room + n : NULL;
    pn_status status;

    PN_TRY(pn_made(room, err, "potential.separable: out of memory"));
    status = pn_potential_ends(set, room, ends, err);
    *largest = 0.0;
    for (size_t j = 0; j < n && status == PN_OK; j++) {
        double value[2], at[2] = { ends[j], ends[n + j] };

        pn_compiled_run(&of->formula, 2, (const double *[1]){ at }, value, NULL);
        if (is_outside(of, at[0]) || is_outside(of, at[1]))
            *largest = INFINITY;
        *largest += fmax(value[0], value[1]);
    }
    pn_free(room);
    return status;
}

/* Over the l1 ball around a set: at one of its vertices. */
static double largest_in_ball(const separable *of, const pn_set *set)
{
    double r = set->ops->radius(set, PN_L1), at[3] = { r, -r, 0.0 }, value[3];

    if (!isfinite(r) || is_outside(of, r) || is_outside(of, -r) || is_outside(of, 0.0))
        return INFINITY;
    pn_compiled_run(&of->formula, 3, (const double *[1]){ at }, value, NULL);
    return fmax(value[0], value[1]) + (double)(set->dim - 1) * value[2];
}

/* Where psi'' <= H: Psi(v) - Psi(x) <= <g, v - x> + H |v - x|^2/2 for the slope g at x, a point near the minimum, and
 * Psi(x) is at most max <g, x - v> above that.  *range: the sum of the three maxima; room[n]. */
static pn_status range_by_slope(const pn_potential *self, const pn_set *set, const double *x, double *room,
                                double *range, pn_err *err)
{
    const separable *of = as_separable(self);
    size_t n = set->dim;
    double up = 0.0, down = 0.0, far, end = set->ops->radius(set, PN_LINF);

    *range = INFINITY;
    if (!isfinite(of->bend) || is_outside(of, end) || is_outside(of, -end))
        return PN_OK;
    PN_TRY(separable_gradient(self, x, n, room, err));
    PN_TRY(pn_set_support(set, room, n, &up, NULL, err));
    for (size_t j = 0; j < n; j++)
        room[j] = -room[j];
    PN_TRY(pn_set_support(set, room, n, &down, NULL, err));
    far = fmin(set->ops->diameter(set, PN_L2), set->ops->radius(set, PN_L2) + pn_lp_norm(PN_L2, n, x));
    *range = pn_potential_up(up + down + 0.5 * of->bend * far * far);
    return PN_OK;
}

static pn_status separable_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    const separable *of = as_separable(self);
    double size, value[2], largest = INFINITY, least = NAN, other = INFINITY, *start;
    bool ends = pn_set_is_a_box(set) || set->dim <= MOST_ENDS;
    pn_status status = PN_OK;

    if (pn_set_is(set, "simplex", &size)) {
        double at[2] = { size, 0.0 };

        ends = true;
        pn_compiled_run(&of->formula, 2, (const double *[1]){ at }, value, NULL);
        largest = is_outside(of, size) || is_outside(of, 0.0) ? INFINITY : value[0] + (double)(set->dim - 1) * value[1];
    } else {
        if (!pn_set_is_a_box(set) &&
            ((pn_set_is_polytope(set) && lists_vertices(set)) || !set->ops->support || !pn_set_is_bounded(set)))
            return PN_EUNSUPPORTED;
        if (ends)
            status = largest_in_box(self, set, &largest, err);
        largest = fmin(largest, largest_in_ball(of, set));
    }
    start = status == PN_OK ? pn_alloc(set->dim, 2 * sizeof *start) : NULL;
    if (status == PN_OK && !start)
        status = pn_fail(err, PN_ENOMEM, "potential.separable: out of memory");
    if (status == PN_OK)
        status = pn_potential_start(self, set, start, err);
    if (status == PN_OK)
        status = separable_value(self, start, set->dim, &least, err);
    if (status == PN_OK && !ends)
        status = range_by_slope(self, set, start, start + set->dim, &other, err);
    if (status == PN_OK) /* both sums round, and numeric steps stop near the minimum */
        *range =
            pn_potential_up(largest - least) + (pn_set_is_a_box(set) ? 1e-13 : 1e-8) * (fabs(largest) + fabs(least));
    if (status == PN_OK)
        *range = fmin(*range, other);
    pn_free(start);
    return status;
}

/* ---- creation ---- */

static void separable_describe(const pn_potential *self, char *text, size_t size)
{
    const separable *of = as_separable(self);
    char formula[200];

    pn_graph_text(of->formula.graph, of->formula.root, formula, sizeof formula);
    (void)snprintf(text, size, "separable(%s, domain={%.10g, %.10g})", formula, of->domain.low, of->domain.high);
}

static const pn_potential_ops separable_ops = {
    .name = "separable",
    .doc = "A sum of one formula over the coordinates.",
    .destroy = separable_destroy,
    .value = separable_value,
    .gradient = separable_gradient,
    .inverse_gradient = separable_inverse,
    .step = separable_step,
    .range = separable_range,
    .describe = separable_describe,
};

/* A finite point of the domain with a finite slope, near 0 where that is inside. */
static pn_status find_inside(separable *of, pn_err *err)
{
    double low = of->domain.low, high = of->domain.high;
    double tries[4] = { fmin(fmax(0.0, low), high), 0.0, 0.0, 0.0 }, slopes[4];

    tries[1] = isfinite(low) && isfinite(high) ? 0.5 * low + 0.5 * high : isfinite(low) ? low + 1.0 : high - 1.0;
    tries[2] = isfinite(low) ? low : tries[0];
    tries[3] = isfinite(high) ? high : tries[0];
    pn_compiled_run(&of->formula, 4, (const double *[1]){ tries }, NULL, slopes);
    of->slope_low = isfinite(low) && isfinite(slopes[2]) ? slopes[2] : -INFINITY;
    of->slope_high = isfinite(high) && isfinite(slopes[3]) ? slopes[3] : INFINITY;
    for (int i = 0; i < 4; i++) {
        if (isfinite(tries[i]) && isfinite(slopes[i])) {
            of->inside = tries[i];
            of->slope_inside = slopes[i];
            return PN_OK;
        }
    }
    return pn_fail(err, PN_EDOMAIN, "potential.separable: the function has no finite slope in its domain");
}

static pn_status certify(pn_graph *graph, pn_node root, pn_interval domain, double *constant, double *bend,
                         pn_task *task, pn_err *err)
{
    pn_domain of = { .range = domain };
    pn_shape shape;
    pn_status status = pn_shape_of(&shape, graph, root, 0, &of, task, err);

    if (status != PN_OK)
        return pn_fail_in(err, status, "potential.separable");
    if (!shape.continuous || !shape.smooth)
        return pn_fail(err, PN_EINVAL, "potential.separable: the function must have a slope that does not jump%s%s",
                       shape.missing[0] ? ": " : "", shape.missing);
    if (!(shape.curvature.low > 0.0))
        return pn_fail(
            err, PN_EINVAL,
            "potential.separable: the second derivative must be at least a positive number on the domain from %g to "
            "%g; the bound found is %g",
            domain.low, domain.high, shape.curvature.low);
    *constant = shape.curvature.low;
    *bend = shape.curvature.high;
    return PN_OK;
}

pn_status pn_potential_separable(pn_potential **out, pn_graph *graph, pn_node root, pn_interval domain, pn_task *task,
                                 pn_err *err)
{
    separable *self;
    pn_norm *norm = NULL;
    double constant = 0.0, bend = INFINITY;
    pn_status status;

    *out = NULL;
    if (!(domain.low < domain.high))
        return pn_fail(err, PN_EINVAL, "potential.separable: domain must be {lo, hi} with lo < hi, got {%g, %g}",
                       domain.low, domain.high);
    PN_TRY(certify(graph, root, domain, &constant, &bend, task, err));
    PN_TRY(pn_new_zeroed(&self, 1, err, "potential.separable: out of memory"));
    self->domain = domain;
    self->bend = bend;
    status = pn_norm_from_args(&norm, "l2", (pn_arg[1]){ { .given = false } }, err);
    if (status == PN_OK)
        status = pn_compiled_open(&self->formula, graph, root, err);
    pn_potential_init(&self->base, &separable_ops, 0, constant, norm);
    if (status == PN_OK)
        status = find_inside(self, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        pn_potential_free(&self->base);
    return status;
}
