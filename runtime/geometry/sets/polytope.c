/* polytope.c -- conv{v_1, .., v_k}, the rows of a k x dim matrix.  Vertices may repeat or lie inside the hull.
 * Scores are taken about the middle c of the bounding box when that makes the vertices smaller, else about the origin.
 * Depends on: set.h, active_set.h, nearest.h, upper.h, blas.h, simd.h.  Used by: sets.c's table.
 * See geometry.md section 2.8. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/active_set.h"
#include "geometry/kernels/nearest.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

/* Above this many multiplications the diameter is a bound instead of a search over pairs. */
#define DIAMETER_WORK 1e9

typedef struct polytope {
    pn_set base;
    pn_mat vertices; /* owned */
    double *box;     /* [2 * cols] owned: the least entries of the vertices, then the largest */
    double *centred; /* [rows * cols] v_i - c as rounded, or vertices.data when c = 0 */
    double radius[PN_LP_COUNT], atom_radius[PN_LP_COUNT];
} polytope;

extern const pn_set_ops pn_set_polytope;

enum { VERTICES };

static const pn_param polytope_params[] = {
    { "vertices", PN_MATRIX, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "one vertex in each row; in Lua also a function(i) that returns vertex i = 1, .., count, with count=" },
    PN_PARAM_END,
};

static const polytope *as_polytope(const pn_set *set)
{
    return (const polytope *)set;
}

static const double *vertex(const polytope *set, size_t i)
{
    return set->vertices.data + i * set->vertices.cols;
}

static void polytope_destroy(pn_set *self)
{
    polytope *set = (polytope *)self;

    if (set->centred != set->vertices.data)
        pn_free(set->centred);
    pn_free(set->vertices.data);
    pn_free(set->box);
    pn_free(set);
}

static double largest_row(const double *data, size_t rows, size_t cols, pn_lp norm)
{
    double largest = 0.0;

    for (size_t i = 0; i < rows; i++)
        largest = fmax(largest, pn_norm_upper(norm, data + i * cols, cols));
    return largest;
}

static void find_box(polytope *set)
{
    size_t cols = set->vertices.cols;
    double *low = set->box, *high = low + cols;

    memcpy(low, vertex(set, 0), cols * sizeof *low);
    memcpy(high, vertex(set, 0), cols * sizeof *high);
    for (size_t i = 1; i < set->vertices.rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            low[j] = fmin(low[j], vertex(set, i)[j]);
            high[j] = fmax(high[j], vertex(set, i)[j]);
        }
    }
}

/* centred <- vertices - middle of their bounding box */
static void centre_rows(polytope *set)
{
    size_t rows = set->vertices.rows, cols = set->vertices.cols;
    const double *low = set->box, *high = low + cols;

    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++)
            set->centred[i * cols + j] = vertex(set, i)[j] - (0.5 * low[j] + 0.5 * high[j]);
    }
}

static pn_status prepare(polytope *set, pn_err *err)
{
    size_t rows = set->vertices.rows, cols = set->vertices.cols;

    PN_TRY(pn_new(&set->box, 2 * cols, err, "set.polytope: out of memory"));
    PN_TRY(pn_new(&set->centred, rows * cols, err, "set.polytope: out of memory"));
    find_box(set);
    centre_rows(set);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        set->radius[norm] = largest_row(set->vertices.data, rows, cols, (pn_lp)norm);
        set->atom_radius[norm] = largest_row(set->centred, rows, cols, (pn_lp)norm);
    }
    if (!isfinite(set->radius[PN_L1]) || !isfinite(set->radius[PN_L2]))
        return pn_fail(err, PN_EDOMAIN, "set.polytope: the vertices are out of the range of numbers");
    if (!(set->atom_radius[PN_L1] < set->radius[PN_L1])) {
        pn_free(set->centred);
        set->centred = set->vertices.data;
        memcpy(set->atom_radius, set->radius, sizeof set->radius);
    }
    return PN_OK;
}

static pn_status polytope_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_mat given = args[VERTICES].matrix;
    polytope *set;
    pn_status status;

    if (given.rows == 0 || given.cols == 0)
        return pn_fail(err, PN_EINVAL, "set.polytope: vertices must have at least one row and column, got %zu x %zu",
                       given.rows, given.cols);
    PN_TRY(pn_new_zeroed(&set, 1, err, "set.polytope: out of memory"));
    pn_set_init(&set->base, &pn_set_polytope, given.cols);
    set->vertices = given;
    set->vertices.data = pn_alloc(given.rows * given.cols, sizeof *given.data);
    if (!set->vertices.data) {
        pn_free(set);
        return pn_fail(err, PN_ENOMEM, "set.polytope: out of memory");
    }
    memcpy(set->vertices.data, given.data, given.rows * given.cols * sizeof *given.data);
    status = prepare(set, err);
    if (status == PN_OK)
        *out = &set->base;
    else
        polytope_destroy(&set->base);
    return status;
}

static pn_status polytope_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const polytope *set = as_polytope(self);
    size_t rows = set->vertices.rows, cols = set->vertices.cols, best = 0;
    double best_value = -INFINITY;

    (void)err;
    for (size_t i = 0; i < rows; i++) {
        double product = 0.0;

        for (size_t j = 0; j < cols; j++)
            product += vertex(set, i)[j] * g[j];
        if (product > best_value) {
            best_value = product;
            best = i;
        }
    }
    if (point)
        memcpy(point, vertex(set, best), cols * sizeof *point);
    *value = best_value;
    return PN_OK;
}

static double polytope_radius(const pn_set *self, pn_lp norm)
{
    return as_polytope(self)->radius[norm];
}

/* Seen from a corner of the bounding box all vertices are on one side, <v_i - a, v_j - a> >= 0, so that
 * ||v_i - v_j||_2^2 <= ||v_i - a||^2 + ||v_j - a||^2: of a simplex that is its diameter. */
static double diameter_from_corner(const polytope *set, const double *corner)
{
    size_t cols = set->vertices.cols;
    long double farthest = 0.0L, second = 0.0L;

    for (size_t i = 0; i < set->vertices.rows; i++) {
        long double joined = 0.0L;

        for (size_t j = 0; j < cols; j++)
            joined = pn_norm_join(PN_L2, joined, pn_norm_term(PN_L2, (long double)vertex(set, i)[j] - corner[j]));
        second = fmaxl(second, fminl(joined, farthest));
        farthest = fmaxl(farthest, joined);
    }
    return pn_norm_finish(PN_L2, farthest + second, cols + 2); /* as pn_distance_upper, and one sum more */
}

/* max ||v_i - v_j|| <= 2 max ||v_i - c|| for any c */
static double diameter_bound(const polytope *set, pn_lp norm)
{
    double about_first = 0.0, bound = 2.0 * set->atom_radius[norm];

    for (size_t i = 1; i < set->vertices.rows; i++)
        about_first = fmax(about_first, pn_distance_upper(norm, vertex(set, i), vertex(set, 0), set->vertices.cols));
    if (set->centred != set->vertices.data) /* v_i - c has been rounded in each entry */
        bound *= 1.0 + 1e-15;
    bound = fmin(bound, 2.0 * about_first);
    if (norm == PN_L2)
        bound = fmin(
            bound, fmin(diameter_from_corner(set, set->box), diameter_from_corner(set, set->box + set->vertices.cols)));
    return bound;
}

static double polytope_diameter(const pn_set *self, pn_lp norm)
{
    const polytope *set = as_polytope(self);
    size_t rows = set->vertices.rows, cols = set->vertices.cols;
    double largest = 0.0;

    if (norm == PN_LINF)
        return pn_distance_upper(norm, set->box + cols, set->box, cols);
    if (0.5 * (double)rows * (double)rows * (double)cols > DIAMETER_WORK)
        return diameter_bound(set, norm);
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = i + 1; k < rows; k++)
            largest = fmax(largest, pn_distance_upper(norm, vertex(set, i), vertex(set, k), cols));
    }
    return largest;
}

/* By the Euclidean distance.  Its own rounding, 1e-12 of the radius, is allowed for. */
static pn_status polytope_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const polytope *set = as_polytope(self);
    double reach = tolerance + 1e-12 * set->radius[PN_L2], distance = INFINITY;
    double *residual;
    pn_status status;

    PN_TRY(pn_new(&residual, self->dim, err, "set.polytope: out of memory in contains"));
    status = pn_nearest_point(residual, &distance, set->vertices, x, reach, err);
    *inside = status == PN_OK && distance <= reach;
    pn_free(residual);
    return status;
}

static void polytope_center(const pn_set *self, double *x)
{
    const polytope *set = as_polytope(self);
    double weight = 1.0 / (double)set->vertices.rows;

    memset(x, 0, self->dim * sizeof *x);
    for (size_t i = 0; i < set->vertices.rows; i++) {
        for (size_t j = 0; j < self->dim; j++)
            x[j] += weight * vertex(set, i)[j];
    }
}

static pn_status polytope_project(const pn_set *self, double *x, pn_err *err)
{
    const polytope *set = as_polytope(self);
    double *residual = pn_alloc(self->dim, sizeof *residual), distance;
    pn_status status;

    PN_TRY(pn_made(residual, err, "set.polytope: out of memory in project"));
    status = pn_nearest_point(residual, &distance, set->vertices, x, -1.0, err);
    for (size_t j = 0; status == PN_OK && j < self->dim; j++)
        x[j] += residual[j];
    pn_free(residual);
    return status;
}

/* min sum alpha with alpha >= 0 and sum alpha_i v_i = x is, by duality, max <x, y> with <v_i, y> <= 1 for all i; both
 * signs of v_i give the gauge of conv(C u -C).  Rows are brought to length 1. */
static pn_status gauge_by_program(const polytope *set, bool both, const double *x, double *value, pn_err *err)
{
    size_t count = set->vertices.rows, cols = set->vertices.cols, rows = both ? 2 * count : count;
    double *A = pn_alloc(rows * (cols + 1) + cols, sizeof *A), *b, *y;
    pn_status status;

    PN_TRY(pn_made(A, err, "set.polytope: out of memory in gauge"));
    b = A + rows * cols;
    y = b + rows;
    memset(y, 0, cols * sizeof *y);
    for (size_t i = 0; i < rows; i++) {
        double length = pn_lp_norm(PN_L2, cols, vertex(set, i % count)), sign = i < count ? 1.0 : -1.0;

        /* in units of the radius; a vertex at the origin says nothing */
        b[i] = length > 0.0 ? set->radius[PN_L2] / length : 1.0;
        for (size_t j = 0; j < cols; j++)
            A[i * cols + j] = length > 0.0 ? sign * vertex(set, i % count)[j] / length : 0.0;
    }
    status = pn_maximise_in(value, y, NULL, x, (pn_inequalities){ { A, rows, cols }, b }, err);
    if (status == PN_OK && *value > 0.0)
        *value /= set->radius[PN_L2];
    pn_free(A);
    return status;
}

static pn_status polytope_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    return gauge_by_program(as_polytope(self), false, x, value, err);
}

static pn_status polytope_hull_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    return gauge_by_program(as_polytope(self), true, x, value, err);
}

static size_t polytope_atom_count(const pn_set *self)
{
    return as_polytope(self)->vertices.rows;
}

/* The stored differences are what the scores are about, so atom_radius bounds them whatever their rounding was. */
static void polytope_atom_scores(const pn_set *self, const double *g, double *scores)
{
    const polytope *set = as_polytope(self);

    pn_simd_best()->dense_times(set->centred, set->vertices.rows, set->vertices.cols, g, scores);
}

static double polytope_atom_radius(const pn_set *self, pn_lp norm)
{
    return as_polytope(self)->atom_radius[norm];
}

static void polytope_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    (void)scratch;
    out->count = self->dim;
    out->index = NULL;
    out->value = vertex(as_polytope(self), i);
}

static void polytope_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "polytope(dim=%zu, vertices=%zu, radius=%.10g)", self->dim,
                   as_polytope(self)->vertices.rows, as_polytope(self)->radius[PN_L2]);
}

const pn_set_ops pn_set_polytope = {
    .name = "polytope",
    .doc =
        "The convex hull of the rows of a matrix, conv{v_1, .., v_k}.  Projection and membership by Wolfe's method, to "
        "1e-12 of the radius; the diameter is exact up to k^2 dim = 2e9, beyond that an upper bound, but in linf.",
    .source = "Wolfe (1976), Finding the nearest point in a polytope",
    .params = polytope_params,
    .create = polytope_create,
    .destroy = polytope_destroy,
    .support = polytope_support,
    .radius = polytope_radius,
    .diameter = polytope_diameter,
    .contains = polytope_contains,
    .center = polytope_center,
    .project = polytope_project,
    .gauge = polytope_gauge,
    .hull_gauge = polytope_hull_gauge,
    .atom_count = polytope_atom_count,
    .atom_scores = polytope_atom_scores,
    .atom_radius = polytope_atom_radius,
    .atom = polytope_atom,
    .describe = polytope_describe,
};
