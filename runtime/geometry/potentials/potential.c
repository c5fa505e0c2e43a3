/* potential.c -- the table of potentials, reference counts, and the checked doors.
 * Depends on: potential.h, numeric_step.h.  Used by: solvers, bindings.  See geometry.md section 3. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"
#include "core/size.h"
#include "core/table.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/intersection_step.h"
#include "geometry/potentials/numeric_step.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"

/* One row, one line. */
#define POTENTIALS(X)                                                                                                  \
    X(euclidean)                                                                                                       \
    X(entropy)                                                                                                         \
    X(signed_entropy)                                                                                                  \
    X(lp)                                                                                                              \
    X(group)                                                                                                           \
    X(interpolation)                                                                                                   \
    X(schatten)                                                                                                        \
    X(quadratic)                                                                                                       \
    X(polytope)

#define DECLARE(name) extern const pn_potential_ops pn_potential_##name;
POTENTIALS(DECLARE)

#define ROW(name) &pn_potential_##name,
static const pn_potential_ops *const rows[] = { POTENTIALS(ROW) NULL };
PN_TABLE(potentials, pn_potential_ops, "potential", "potential", rows);

const pn_potential_ops *const *pn_potential_table(void)
{
    return rows;
}

pn_status pn_potential_from_args(pn_potential **out, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_potential_ops *row = pn_table_open(&potentials, __func__, name, args, &status, err);

    *out = NULL;
    if (row)
        status = row->create(out, args, err);
    if (status == PN_OK) /* whatever the row made its dimension of */
        status = pn_table_size(&potentials, name, "dim", (*out)->dim, err);
    if (status != PN_OK) {
        pn_potential_free(*out);
        *out = NULL;
    }
    return status;
}

pn_status pn_potential_new(pn_potential **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &potentials, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_potential_from_args(out, name, args, err) : status;
}

void pn_potential_init(pn_potential *potential, const pn_potential_ops *ops, size_t dim, double strong_convexity,
                       pn_norm *norm)
{
    potential->ops = ops;
    potential->references = 1;
    potential->dim = dim;
    potential->strong_convexity = strong_convexity;
    potential->norm = norm;
    potential->theta_dim = 0;
    potential->room = 0;
    potential->keeps_sums = false;
    potential->declared_range = 0.0;
}

pn_potential *pn_potential_keep(pn_potential *potential)
{
    potential->references++;
    return potential;
}

void pn_potential_free(pn_potential *potential)
{
    pn_norm *norm;

    if (!potential || --potential->references > 0)
        return;
    norm = potential->norm;
    potential->ops->destroy(potential);
    pn_norm_free(norm);
}

void pn_potential_describe(const pn_potential *potential, char *text, size_t size)
{
    if (potential->ops->describe)
        potential->ops->describe(potential, text, size);
    else
        (void)snprintf(text, size, "%s", potential->ops->name);
}

/* ---- checked doors ---- */

static pn_status check_point(const pn_potential *p, const char *door, const char *what, const double *x, size_t n,
                             pn_err *err)
{
    size_t bad;

    if (n == 0 || (p->dim != 0 && n != p->dim))
        return pn_fail(err, PN_EDIM, "%s: %s has %zu entries, the potential has %zu", door, what, n, p->dim);
    bad = pn_first_nonfinite(x, n);
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "%s: %s must hold finite numbers, got %g at entry %zu", door, what, x[bad],
                       bad + 1);
    return PN_OK;
}

pn_status pn_potential_value(const pn_potential *p, const double *x, size_t n, double *value, pn_err *err)
{
    pn_status status = check_point(p, "P:value", "v", x, n, err);

    return status == PN_OK ? p->ops->value(p, x, n, value, err) : status;
}

pn_status pn_potential_gradient(const pn_potential *p, const double *x, size_t n, double *out, pn_err *err)
{
    pn_status status = check_point(p, "P:gradient", "v", x, n, err);

    return status == PN_OK ? p->ops->gradient(p, x, n, out, err) : status;
}

pn_status pn_potential_inverse_gradient(const pn_potential *p, const double *u, size_t n, double *out, pn_err *err)
{
    pn_status status = check_point(p, "P:inverse_gradient", "u", u, n, err);

    if (status == PN_OK && !p->ops->inverse_gradient)
        return pn_fail(err, PN_EUNSUPPORTED, "P:inverse_gradient: no inverse of the gradient is known for %s",
                       p->ops->name);
    return status == PN_OK ? p->ops->inverse_gradient(p, u, n, out, err) : status;
}

static double inner_with_difference(const double *slope, const double *a, const double *b, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += slope[j] * (a[j] - b[j]);
    return sum;
}

pn_status pn_potential_bregman(const pn_potential *p, const double *a, const double *b, size_t n, double *value,
                               pn_err *err)
{
    pn_status status = check_point(p, "P:bregman", "a", a, n, err);
    double at_a = 0.0, at_b = 0.0, *slope;

    if (status == PN_OK)
        status = check_point(p, "P:bregman", "b", b, n, err);
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new(&slope, n, err, "P:bregman: out of memory"));
    status = p->ops->value(p, a, n, &at_a, err);
    if (status == PN_OK)
        status = p->ops->value(p, b, n, &at_b, err);
    if (status == PN_OK)
        status = p->ops->gradient(p, b, n, slope, err);
    if (status == PN_OK) /* rounding must not make a distance negative */
        *value = fmax(at_a - at_b - inner_with_difference(slope, a, b, n), 0.0);
    pn_free(slope);
    return status;
}

/* ---- over a set ---- */

/* The number of entries that points have. */
static size_t point_dim(const pn_potential *p, const pn_set *set)
{
    return p->theta_dim ? p->dim : set->dim;
}

static pn_status check_set(const pn_potential *p, const char *door, const pn_set *set, pn_err *err)
{
    size_t wanted = p->theta_dim ? p->theta_dim : p->dim;

    if (wanted != 0 && set->dim != wanted)
        return pn_fail(err, PN_EDIM, "%s: the set has %zu entries, the potential has %zu", door, set->dim, wanted);
    return PN_OK;
}

/* Of sets that meet, scaled and shifted as may be? */
static bool meets(const pn_set *set)
{
    const pn_set *parts[2];
    const double *shift;
    double factor;

    return pn_set_intersection_parts(pn_set_unwrap(set, &factor, &shift), &parts[0], &parts[1]);
}

/* The row's own step, or else the numeric one; c has been checked for the set. */
static pn_status step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_step_limit *limit,
                      pn_err *err)
{
    pn_status status = PN_EUNSUPPORTED;

    if (p->theta_dim && meets(set)) /* it is for one of the sets, and may refuse this one */
        return pn_intersection_step(p, set, c, y, limit, err);
    if (p->ops->step_within)
        status = p->ops->step_within(p, set, c, y, limit, err);
    else if (p->ops->step)
        status = p->ops->step(p, set, c, y, err);
    if (status == PN_EUNSUPPORTED && !p->theta_dim)
        status = pn_intersection_step(p, set, c, y, limit, err);
    return status == PN_EUNSUPPORTED && !p->theta_dim ? pn_numeric_step(p, set, c, y, limit, err) : status;
}

pn_status pn_potential_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_err *err)
{
    return pn_potential_step_within(p, set, c, y, NULL, err);
}

pn_status pn_potential_step_within(const pn_potential *p, const pn_set *set, const double *c, double *y,
                                   pn_step_limit *limit, pn_err *err)
{
    pn_status status = check_set(p, "mirror step", set, err);

    if (status == PN_OK)
        status = check_point(p, "mirror step", "the linear term", c, point_dim(p, set), err);
    return status == PN_OK ? step(p, set, c, y, limit, err) : status;
}

/* c <- c - eta g, in pieces that are looked at while they are in the cache; whether all is finite. */
static bool move_against(const double *g, double eta, size_t n, double *c)
{
    for (size_t at = 0; at < n; at += PN_POTENTIAL_PIECE) {
        size_t count = n - at < PN_POTENTIAL_PIECE ? n - at : PN_POTENTIAL_PIECE;

        pn_axpy(count, -eta, g + at, c + at);
        if (pn_first_nonfinite(c + at, count) < count)
            return false;
    }
    return true;
}

/* Passes over the vector: x and g looked at (2), the gradient (1; lp 3: the largest entry, the powers, their factor), c
 * - eta g (1), and the step: 2 for entropy, 5 for group and lp where the bound binds
 * (the largest entry, a pass of sums as a rule, the powers, their factor, and parts of passes over samples),
 * 7 for interpolation. */
pn_status pn_mirror_step(const pn_potential *p, const pn_set *set, const double *x, const double *g, double eta,
                         size_t n, double *y, pn_err *err)
{
    return pn_mirror_step_within(p, set, x, g, eta, n, y, NULL, err);
}

pn_status pn_mirror_step_within(const pn_potential *p, const pn_set *set, const double *x, const double *g, double eta,
                                size_t n, double *y, pn_step_limit *limit, pn_err *err)
{
    pn_status status = check_set(p, "P:mirror_step", set, err);
    double *c = y;

    if (status == PN_OK && n != point_dim(p, set))
        status =
            pn_fail(err, PN_EDIM, "P:mirror_step: x and g have %zu entries, the set has %zu", n, point_dim(p, set));
    if (status == PN_OK && !isfinite(eta))
        status = pn_fail(err, PN_EINVAL, "P:mirror_step: eta must be a finite number, got %g", eta);
    if (status == PN_OK)
        status = check_point(p, "P:mirror_step", "x", x, n, err);
    if (status == PN_OK)
        status = check_point(p, "P:mirror_step", "g", g, n, err);
    if (status != PN_OK)
        return status;
    if (y == g || y == x) /* which the gradient still reads */
        c = pn_alloc(n, sizeof *c);
    PN_TRY(pn_made(c, err, "P:mirror_step: out of memory"));
    status = p->ops->gradient(p, x, n, c, err);
    if (status == PN_OK && !move_against(g, eta, n, c)) /* says where */
        status = check_point(p, "mirror step", "the linear term", c, n, err);
    if (status == PN_OK)
        status = step(p, set, c, y, limit, err);
    if (c != y)
        pn_free(c);
    return status;
}

pn_status pn_potential_start(const pn_potential *p, const pn_set *set, double *x, pn_err *err)
{
    PN_TRY(check_set(p, "P:start", set, err));
    memset(x, 0, point_dim(p, set) * sizeof *x);
    return step(p, set, x, x, NULL, err);
}

void pn_potential_theta(const pn_potential *p, const double *x, size_t n, double *theta, double *room)
{
    if (!p->theta_dim) {
        memcpy(theta, x, n * sizeof *theta);
        return;
    }
    memset(theta, 0, p->theta_dim * sizeof *theta);
    p->ops->add_theta(p, x, theta, room);
}

void pn_potential_pull(const pn_potential *p, const double *g, size_t n, double *out, double *room)
{
    if (p->theta_dim)
        p->ops->pull(p, g, out, room);
    else
        memcpy(out, g, n * sizeof *out);
}

/* ---- the range ---- */

/* A convex function is largest at a vertex. */
static pn_status largest_at_vertex(const pn_potential *p, const pn_set *set, double *scratch, double *largest,
                                   pn_err *err)
{
    size_t count = set->ops->atom_count(set), dim = set->dim;

    *largest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        pn_atom atom;
        double value = NAN;
        pn_status status;

        set->ops->atom(set, i, &atom, scratch);
        if (atom.index || atom.value != scratch) {
            memset(scratch, 0, dim * sizeof *scratch);
            pn_atom_add(&atom, 1.0, scratch);
        }
        status = p->ops->value(p, scratch, dim, &value, err);
        if (status != PN_OK)
            return status;
        *largest = fmax(*largest, value);
    }
    return PN_OK;
}

static pn_status range_over_vertices(const pn_potential *p, const pn_set *set, double *range, pn_err *err)
{
    double *x, largest = NAN, least = NAN;
    pn_status status;

    if (!pn_set_is_polytope(set) ||
        (double)set->ops->atom_count(set) * (double)set->dim > PN_POTENTIAL_MOST_VERTEX_NUMBERS)
        return pn_fail(err, PN_EUNSUPPORTED, "nothing bounds the potential %s over %s", p->ops->name, set->ops->name);
    PN_TRY(pn_new(&x, set->dim, err, "the range of a potential: out of memory"));
    status = largest_at_vertex(p, set, x, &largest, err);
    if (status == PN_OK)
        status = pn_potential_start(p, set, x, err);
    if (status == PN_OK)
        status = p->ops->value(p, x, set->dim, &least, err);
    if (status == PN_OK) /* the start may come from an iteration that stops this near */
        *range = (largest - least) + 1e-8 * (fabs(largest - least) + 1e-6 * fabs(least));
    pn_free(x);
    return status;
}

typedef pn_status (*bound_over)(const pn_potential *p, const pn_set *set, pn_mat A, double *most, pn_err *err);

/* *most = the smaller of what bounds it over the two sets of an intersection, which has no points besides; +inf where
 * neither does: the potential may not fit it. */
static pn_status least_of_parts(bound_over bound, const pn_potential *p, const pn_set *set, pn_mat A, double *most,
                                pn_err *err)
{
    const pn_set *parts[2];
    const double *shift;
    double factor;

    *most = INFINITY;
    if (!pn_set_intersection_parts(pn_set_unwrap(set, &factor, &shift), &parts[0], &parts[1]))
        return PN_OK;
    for (int k = 0; k < 2; k++) {
        double one = INFINITY;
        pn_set *part = NULL;
        pn_status status = pn_set_moved(&part, parts[k], factor, shift, err);

        if (status == PN_OK)
            status = bound(p, part, A, &one, err);
        pn_set_free(part);
        if (status != PN_OK && status != PN_EUNSUPPORTED && status != PN_EINVAL && status != PN_EDOMAIN)
            return status;
        *most = fmin(*most, status == PN_OK ? one : INFINITY);
    }
    return PN_OK;
}

static pn_status range_over(const pn_potential *p, const pn_set *set, pn_mat A, double *range, pn_err *err)
{
    (void)A;
    return pn_potential_range(p, set, range, err);
}

pn_status pn_potential_range(const pn_potential *p, const pn_set *set, double *range, pn_err *err)
{
    pn_status status;
    double most;

    PN_TRY(check_set(p, "the range of a potential", set, err));
    PN_TRY(least_of_parts(range_over, p, set, (pn_mat){ .data = NULL }, &most, err));
    if (isfinite(most)) {
        *range = most;
        return PN_OK;
    }
    status = p->ops->range ? p->ops->range(p, set, range, err) : PN_EUNSUPPORTED;
    if (status == PN_EUNSUPPORTED && !p->theta_dim)
        status = range_over_vertices(p, set, range, err);
    if (status == PN_OK && !isfinite(*range))
        return pn_fail(err, PN_EUNSUPPORTED, "the potential %s has no bound over %s", p->ops->name, set->ops->name);
    return status;
}

/* ---- what noise costs ---- */

/* Without a formula of the row. */
static pn_status trace_by_norms(const pn_potential *p, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    double norms[PN_LP_COUNT][PN_LP_COUNT], square = INFINITY, plain = INFINITY;
    pn_set *ball = NULL, *mapped = NULL;
    pn_norm *norm = NULL;
    pn_status status = pn_norm_ball(&ball, p->norm, set->dim, err);

    if (status == PN_OK)
        status = pn_set_image(&mapped, ball, A, err);
    if (status == PN_OK)
        status = pn_norm_minkowski(&norm, mapped, err);
    if (status == PN_OK)
        status = pn_norm_dual_square(norm, A.rows, &square, err);
    if (status == PN_OK)
        status = pn_potential_trace(p, set, &plain, err);
    if (status == PN_OK) {
        pn_set_image_norms(mapped, norms);
        *trace = pn_potential_up(fmin(square / p->strong_convexity, norms[PN_L2][PN_L2] * norms[PN_L2][PN_L2] * plain));
    }
    pn_norm_free(norm);
    pn_set_free(mapped);
    pn_set_free(ball);
    return status;
}

pn_status pn_potential_trace(const pn_potential *p, const pn_set *set, double *trace, pn_err *err)
{
    return pn_potential_trace_through(p, set, (pn_mat){ .data = NULL }, trace, err);
}

pn_status pn_potential_trace_through(const pn_potential *p, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    double most;

    PN_TRY(check_set(p, "the noise of a potential", set, err));
    PN_TRY(least_of_parts(pn_potential_trace_through, p, set, A, &most, err));
    if (isfinite(most)) {
        *trace = most;
        return PN_OK;
    }
    if (p->ops->trace_through)
        return p->ops->trace_through(p, set, A, trace, err);
    if (A.data)
        return trace_by_norms(p, set, A, trace, err);
    if (p->ops->trace)
        return p->ops->trace(p, set, trace, err);
    PN_TRY(pn_norm_dual_square(p->norm, set->dim, trace, err));
    *trace /= p->strong_convexity;
    return PN_OK;
}
