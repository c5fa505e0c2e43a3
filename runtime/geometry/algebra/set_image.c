/* set_image.c -- {A x : x in C}.  The support of g is that of A^T g; the image of a polytope is the polytope of the
 * mapped vertices, as long as they fit.  Radii come from the vertices, or from bounds of A between norms,
 * rounded outward.
 * Depends on: composite.h, upper.h, LAPACK (singular values).  Used by: set_algebra.h. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

/* Up to so many numbers the mapped vertices are kept; up to so many rows or columns the singular values are found. */
#define MOST_VERTEX_NUMBERS  1e7
#define MOST_SINGULAR_VALUES 400

/* head.a is C; head.b the polytope of mapped vertices, or NULL; head.numbers is A. */
typedef struct image {
    pn_composite head;
    pn_mat A;
    double spectral; /* an upper bound of A's largest singular value */
    double radius[PN_LP_COUNT],
        diameter[PN_LP_COUNT]; /* each asks for three of C, which of images of images would be 3^depth */
} image;

static const image *as_image(const pn_set *set)
{
    return (const image *)set;
}

static const pn_set *body_of(const pn_set *self)
{
    return pn_as_composite(self)->b;
}

/* out[cols] = A^T g */
static void times_transposed(pn_mat A, const double *g, double *out)
{
    memset(out, 0, A.cols * sizeof *out);
    for (size_t i = 0; i < A.rows; i++)
        pn_axpy(A.cols, g[i], A.data + i * A.cols, out);
}

static pn_status image_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const image *set = as_image(self);
    const pn_set *inner = set->head.a;
    double *pulled = pn_alloc(inner->dim, 2 * sizeof *pulled), *at = pulled ? pulled + inner->dim : NULL;
    pn_status status;

    PN_TRY(pn_made(pulled, err, "C:image: out of memory in support"));
    times_transposed(set->A, g, pulled);
    status = pn_first_nonfinite(pulled, inner->dim) == inner->dim /* no support function expects others */
                 ? inner->ops->support(inner, pulled, point ? at : NULL, value, err)
                 : pn_fail(err, PN_EDOMAIN, "C:image: A^T g is out of the range of numbers");
    if (status == PN_OK && point && isfinite(*value))
        pn_mat_times_vec(set->A, at, point);
    pn_free(pulled);
    return status;
}

/* ---- sizes: each is a bound of ||A x|| from bounds of x in three norms ---- */

/* max |<row, x>| by Hoelder, the best of three. */
static double row_bound(const image *set, const double *row, const double *size)
{
    double best = INFINITY;

    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double dual = pn_norm_upper(pn_lp_dual((pn_lp)norm), row, set->A.cols);

        if (dual == 0.0)
            return 0.0;
        best = fmin(best, pn_times_up(dual, size[norm]));
    }
    return best;
}

/* max over columns of ||A e_j||, which bounds ||A x|| / ||x||_1. */
static double largest_column(const image *set, pn_lp norm)
{
    double largest = 0.0;

    for (size_t j = 0; j < set->A.cols; j++) {
        long double joined = 0.0L;

        for (size_t i = 0; i < set->A.rows; i++)
            joined = pn_norm_join(norm, joined, pn_norm_term(norm, set->A.data[i * set->A.cols + j]));
        largest = fmax(largest, pn_norm_finish(norm, joined, set->A.rows));
    }
    return largest;
}

static double mapped_size(const image *set, pn_lp norm, const double *size)
{
    double best;
    long double joined = 0.0L;

    for (size_t i = 0; i < set->A.rows; i++) {
        double bound = row_bound(set, set->A.data + i * set->A.cols, size);

        joined = pn_norm_join(norm, joined, pn_norm_term(norm, bound));
    }
    best = pn_norm_finish(norm, joined, set->A.rows);
    best = fmin(best, pn_times_up(largest_column(set, norm), size[PN_L1]));
    if (norm == PN_L2)
        best = fmin(best, pn_times_up(set->spectral, size[PN_L2]));
    return best;
}

static double image_radius(const pn_set *self, pn_lp norm)
{
    return as_image(self)->radius[norm];
}

static double image_diameter(const pn_set *self, pn_lp norm)
{
    return as_image(self)->diameter[norm];
}

/* C - C is as large as the diameter of C. */
static void measure(image *set)
{
    const pn_set *inner = set->head.a;
    double radius[PN_LP_COUNT], diameter[PN_LP_COUNT];

    for (int k = 0; k < PN_LP_COUNT; k++) {
        radius[k] = inner->ops->radius(inner, (pn_lp)k);
        diameter[k] = inner->ops->diameter(inner, (pn_lp)k);
    }
    for (int k = 0; k < PN_LP_COUNT; k++) {
        set->radius[k] = mapped_size(set, (pn_lp)k, radius);
        set->diameter[k] = fmin(mapped_size(set, (pn_lp)k, diameter), 2.0 * set->radius[k]);
    }
}

/* The singular values of LAPACK are right to a few roundings of the largest one. */
static pn_status find_spectral(image *set, pn_err *err)
{
    size_t rows = set->A.rows, cols = set->A.cols, k = rows < cols ? rows : cols;
    double *work;
    pn_status status;

    set->spectral = INFINITY;
    if (k > MOST_SINGULAR_VALUES)
        return PN_OK;
    PN_TRY(pn_new(&work, rows * k + k + k * cols, err, "C:image: out of memory"));
    status = pn_svd(work, work + rows * k, work + rows * k + k, set->A, err);
    if (status == PN_OK)
        set->spectral = work[rows * k] * (1.0 + 8.0 * DBL_EPSILON * (double)(rows + cols));
    pn_free(work);
    return status;
}

/* ---- with the vertices: the body has all the answers, about stored points ---- */

static double body_radius(const pn_set *self, pn_lp norm)
{
    return body_of(self)->ops->radius(body_of(self), norm);
}

static double body_diameter(const pn_set *self, pn_lp norm)
{
    return body_of(self)->ops->diameter(body_of(self), norm);
}

static pn_status body_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    return body_of(self)->ops->support(body_of(self), g, point, value, err);
}

static pn_status body_project(const pn_set *self, double *x, pn_err *err)
{
    return body_of(self)->ops->project(body_of(self), x, err);
}

static pn_status body_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    return body_of(self)->ops->contains(body_of(self), x, tolerance, inside, err);
}

static size_t body_atom_count(const pn_set *self)
{
    return body_of(self)->ops->atom_count(body_of(self));
}

static void body_atom_scores(const pn_set *self, const double *g, double *scores)
{
    body_of(self)->ops->atom_scores(body_of(self), g, scores);
}

static double body_atom_radius(const pn_set *self, pn_lp norm)
{
    return body_of(self)->ops->atom_radius(body_of(self), norm);
}

static void body_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    body_of(self)->ops->atom(body_of(self), i, out, scratch);
}

static void use_body(pn_set_ops *ops)
{
    ops->support = body_support;
    ops->radius = body_radius;
    ops->diameter = body_diameter;
    ops->project = body_project;
    ops->contains = body_contains;
    ops->atom_count = body_atom_count;
    ops->atom_scores = body_atom_scores;
    ops->atom_radius = body_atom_radius;
    ops->atom = body_atom;
}

/* vertices[count * rows] <- A v_i; work[2 cols] */
static void map_vertices(const image *set, double *vertices, double *work)
{
    const pn_set *inner = set->head.a;
    double *dense = work, *scratch = work + set->A.cols;

    for (size_t i = 0; i < inner->ops->atom_count(inner); i++) {
        pn_atom atom;

        inner->ops->atom(inner, i, &atom, scratch);
        memset(dense, 0, set->A.cols * sizeof *dense);
        pn_atom_add(&atom, 1.0, dense);
        pn_mat_times_vec(set->A, dense, vertices + i * set->A.rows);
    }
}

static pn_status make_body(image *set, pn_err *err)
{
    size_t count = set->head.a->ops->atom_count(set->head.a), rows = set->A.rows;
    double *vertices = pn_alloc(count, rows * sizeof *vertices), *work = pn_alloc(set->A.cols, 2 * sizeof *work);
    pn_arg args[1] = { { .given = true, .matrix = { vertices, count, rows } } };
    pn_status status;

    if (vertices && work) {
        map_vertices(set, vertices, work);
        status = pn_set_from_args(&set->head.b, "polytope", args, err);
        if (status != PN_OK && status != PN_ENOMEM)
            status = pn_fail(err, PN_EDOMAIN, "C:image: the mapped vertices are out of the range of numbers");
    } else {
        status = pn_fail(err, PN_ENOMEM, "C:image: out of memory");
    }
    pn_free(vertices);
    pn_free(work);
    return status;
}

/* ---- construction ---- */

static void image_center(const pn_set *self, double *x)
{
    memcpy(x, as_image(self)->head.numbers + as_image(self)->A.rows * as_image(self)->A.cols, self->dim * sizeof *x);
}

static void image_describe(const pn_set *self, char *text, size_t size)
{
    char close[48];
    pn_composite only = { .a = pn_as_composite(self)->a };

    (void)snprintf(close, sizeof close, ", rows=%zu)", self->dim);
    pn_describe_parts(&only, "image(", "", close, text, size);
}

static bool keeps_vertices(const pn_set *set, size_t rows)
{
    return pn_set_is_polytope(set) && (double)set->ops->atom_count(set) * (double)rows <= MOST_VERTEX_NUMBERS;
}

static pn_status fill(image *set, pn_err *err)
{
    pn_set_ops *ops = &set->head.ops;
    double *center = set->head.numbers + set->A.rows * set->A.cols, *scratch = center + set->A.rows;
    pn_status status;

    set->head.a->ops->center(set->head.a, scratch);
    pn_mat_times_vec(set->A, scratch, center);
    ops->doc = "{A x : x in C}";
    ops->symmetric = set->head.a->ops->symmetric;
    ops->support = image_support;
    ops->radius = image_radius;
    ops->diameter = image_diameter;
    ops->center = image_center;
    ops->describe = image_describe;
    if (!keeps_vertices(set->head.a, set->A.rows)) {
        status = find_spectral(set, err);
        if (status == PN_OK)
            measure(set);
        return status;
    }
    status = make_body(set, err);
    if (status == PN_OK)
        use_body(ops);
    return status;
}

/* *numbers = the entries of A, those of a center and of a point of the inner set. */
static pn_status check_matrix(const pn_set *inner, pn_mat A, size_t *numbers, pn_err *err)
{
    size_t entries = 0, bad;

    PN_TRY(pn_size_product(&entries, "C:image", "rows x columns of A", A.rows, A.cols, err));
    if (A.cols != inner->dim || A.rows == 0)
        return pn_fail(err, PN_EDIM, "C:image: A is %zu x %zu, and must have at least one row and %zu columns", A.rows,
                       A.cols, inner->dim);
    bad = pn_first_nonfinite(A.data, entries);
    if (bad < entries)
        return pn_fail(err, PN_EDOMAIN, "C:image: A must hold finite numbers, got %g at row %zu, column %zu",
                       A.data[bad], bad / A.cols + 1, bad % A.cols + 1);
    return pn_size_sum(numbers, "C:image", "the entries of A and of two vectors", entries, A.rows + A.cols, err);
}

bool pn_set_image_parts(const pn_set *set, const pn_set **inner, pn_mat *A)
{
    if (!pn_is_composite(set, "image"))
        return false;
    *inner = pn_as_composite(set)->a;
    *A = as_image(set)->A;
    return true;
}

/* |(A x)_i| <= ||row i||_t* ||x||_t, and of t = 1 the columns are the images of the extreme points. */
void pn_set_image_norms(const pn_set *self, double norms[PN_LP_COUNT][PN_LP_COUNT])
{
    const image *set = as_image(self);

    for (int t = 0; t < PN_LP_COUNT; t++) {
        for (int q = 0; q < PN_LP_COUNT; q++) {
            long double joined = 0.0L;

            for (size_t i = 0; i < set->A.rows; i++) {
                double row = pn_norm_upper(pn_lp_dual((pn_lp)t), set->A.data + i * set->A.cols, set->A.cols);

                joined = pn_norm_join((pn_lp)q, joined, pn_norm_term((pn_lp)q, row));
            }
            norms[t][q] = pn_norm_finish((pn_lp)q, joined, set->A.rows);
            if (t == PN_L1)
                norms[t][q] = fmin(norms[t][q], largest_column(set, (pn_lp)q));
        }
    }
    if (!body_of(self)) /* else it has not been looked for */
        norms[PN_L2][PN_L2] = fmin(norms[PN_L2][PN_L2], set->spectral);
}

pn_status pn_set_image(pn_set **out, pn_set *inner, pn_mat A, pn_err *err)
{
    pn_composite *head;
    size_t numbers = 0;
    pn_status status = pn_need_support("C:image", inner, err);

    *out = NULL;
    if (status == PN_OK)
        status = check_matrix(inner, A, &numbers, err);
    if (status == PN_OK)
        status = pn_composite_new(&head, sizeof(image), "image", A.rows, inner, NULL, numbers, err);
    if (status != PN_OK)
        return status;
    memcpy(head->numbers, A.data, A.rows * A.cols * sizeof *A.data);
    ((image *)head)->A = (pn_mat){ head->numbers, A.rows, A.cols };
    status = fill((image *)head, err);
    if (status == PN_OK)
        *out = &head->base;
    else
        pn_composite_free(head);
    return status;
}
