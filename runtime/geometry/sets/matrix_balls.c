/* matrix_balls.c -- balls of rows x cols matrices X, row-major vectors of rows * cols entries, by their singular values
 * s: the nuclear ball {sum s <= radius}, the hull of the radius u v^T with unit u, v, and the spectral ball
 * {max s <= radius}.  Each is the polar of the other.  A center makes a shifted ball.
 * Depends on: set.h, upper.h, simplex_project.h, lanczos.h, lapack.h, blas.h.  Used by: sets.c's table.
 * See geometry.md section 2.7. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/simplex_project.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/lanczos.h"
#include "numeric/lapack.h"

typedef struct matrix_ball {
    pn_set base;
    size_t rows, cols, rank; /* rank: min(rows, cols) */
    double radius, tolerance;
} matrix_ball;

extern const pn_set_ops pn_set_nuclear_ball, pn_set_spectral_ball;

enum { ROWS, COLS, RADIUS, CENTER, TOLERANCE };

static const pn_param nuclear_params[] = {
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of a matrix" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of a matrix" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest sum of singular values" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle, row-major; the origin when absent" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_FRACTION, 1e-10, NULL,
      "what support points may miss of the maximum, relative: <g, x> >= (1 - tolerance) max" },
    PN_PARAM_END,
};

static const pn_param spectral_params[] = {
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of a matrix" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of a matrix" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest singular value" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle, row-major; the origin when absent" },
    PN_PARAM_END,
};

static const matrix_ball *as_ball(const pn_set *set)
{
    return (const matrix_ball *)set;
}

static double radius_of(const pn_set *self)
{
    return as_ball(self)->radius;
}

static bool shape_of(const pn_set *self, const char *name, double *value)
{
    bool rows = strcmp(name, "rows") == 0, cols = strcmp(name, "cols") == 0;

    if (rows || cols)
        *value = (double)(rows ? as_ball(self)->rows : as_ball(self)->cols);
    return rows || cols;
}

static pn_status create(pn_set **out, const pn_set_ops *ops, const pn_arg *args, pn_err *err)
{
    size_t rows = args[ROWS].count, cols = args[COLS].count, dim = 0;
    matrix_ball *ball;
    char owner[64];

    (void)snprintf(owner, sizeof owner, "set.%s", ops->name);
    PN_TRY(pn_size_product(&dim, owner, "rows x cols", rows, cols, err));
    PN_TRY(pn_new(&ball, 1, err, "%s: out of memory", owner));
    pn_set_init(&ball->base, ops, dim);
    ball->rows = rows;
    ball->cols = cols;
    ball->rank = rows < cols ? rows : cols;
    ball->radius = args[RADIUS].real;
    ball->tolerance = ops == &pn_set_nuclear_ball ? args[TOLERANCE].real : 0.0;
    return pn_set_center_at(out, &ball->base, owner, &args[CENTER], err);
}

static pn_status nuclear_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_nuclear_ball, args, err);
}

static pn_status spectral_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_spectral_ball, args, err);
}

static void destroy(pn_set *self)
{
    pn_free(self);
}

static void center_of(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

static void describe(const pn_set *self, char *text, size_t size)
{
    const matrix_ball *ball = as_ball(self);

    (void)snprintf(text, size, "%s(dim=%zu, rows=%zu, cols=%zu, radius=%.10g)", self->ops->name, self->dim, ball->rows,
                   ball->cols, ball->radius);
}

/* ---- singular values ---- */

typedef struct factors {
    double *u;       /* [rows * rank] */
    double *s;       /* [rank], falling */
    double *vt;      /* [rank * cols] */
    double *product; /* [rows * cols] */
} factors;

static void factors_clear(factors *f)
{
    pn_free(f->u);
}

/* One block of memory, at u. */
static pn_status factorise(factors *f, const matrix_ball *ball, const double *x, pn_err *err)
{
    size_t left = ball->rows * ball->rank, right = ball->rank * ball->cols;
    pn_status status;

    *f = (factors){ 0 };
    PN_TRY(pn_new(&f->u, left + right + ball->rank + ball->base.dim, err,
                  "set.%s: out of memory for a singular value decomposition", ball->base.ops->name));
    f->vt = f->u + left;
    f->s = f->vt + right;
    f->product = f->s + ball->rank;
    memcpy(f->product, x, ball->base.dim * sizeof *x); /* LAPACK's matrices are not const */
    status = pn_svd(f->u, f->s, f->vt, (pn_mat){ f->product, ball->rows, ball->cols }, err);
    if (status != PN_OK)
        factors_clear(f);
    return status;
}

/* product = U diag(s) V^T */
static pn_status multiply(factors *f, const matrix_ball *ball, pn_err *err)
{
    for (size_t i = 0; i < ball->rank; i++) {
        for (size_t j = 0; j < ball->cols; j++)
            f->vt[i * ball->cols + j] *= f->s[i];
    }
    return pn_mat_times_mat((pn_mat){ f->product, ball->rows, ball->cols }, (pn_mat){ f->u, ball->rows, ball->rank },
                            (pn_mat){ f->vt, ball->rank, ball->cols }, err);
}

static double sum_of(const factors *f, const matrix_ball *ball)
{
    return pn_sum(ball->rank, f->s);
}

static pn_status nuclear_norm(const matrix_ball *ball, const double *x, double *norm, pn_err *err)
{
    factors f;

    PN_TRY(factorise(&f, ball, x, err));
    *norm = sum_of(&f, ball);
    factors_clear(&f);
    return PN_OK;
}

static pn_status spectral_norm(const matrix_ball *ball, const double *x, double *norm, pn_err *err)
{
    factors f;

    PN_TRY(factorise(&f, ball, x, err));
    *norm = f.s[0];
    factors_clear(&f);
    return PN_OK;
}

/* ---- the nuclear ball ---- */

static pn_status nuclear_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const matrix_ball *ball = as_ball(self);
    double *u = pn_alloc(ball->rows + ball->cols, sizeof *u), *v, sigma = 0.0;
    pn_mat G = { NULL, ball->rows, ball->cols };
    pn_status status;

    PN_TRY(pn_made(u, err, "set.nuclear_ball: out of memory in support"));
    v = u + ball->rows;
    memcpy(&G.data, &g, sizeof g); /* read only */
    status = pn_top_singular(&sigma, u, v, G, ball->tolerance, err);
    if (status == PN_OK) {
        *value = ball->radius * sigma;
        for (size_t i = 0; point && i < ball->rows; i++) {
            double factor = ball->radius * u[i];

            for (size_t j = 0; j < ball->cols; j++)
                point[i * ball->cols + j] = factor * v[j];
        }
    }
    pn_free(u);
    return status;
}

/* At radius u v^T, whose entries sum to at most ||u||_1 ||v||_1. */
static double nuclear_radius(const pn_set *self, pn_lp norm)
{
    if (norm == PN_L1 && self->dim > 1)
        return pn_times_up(radius_of(self), nextafter(sqrt((double)self->dim), INFINITY));
    return radius_of(self);
}

static double diameter(const pn_set *self, pn_lp norm)
{
    return 2.0 * self->ops->radius(self, norm);
}

/* Of the largest singular value, which the Frobenius norm bounds. */
static double nuclear_shortfall(const pn_set *self)
{
    return as_ball(self)->tolerance * as_ball(self)->radius;
}

static pn_status nuclear_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const matrix_ball *ball = as_ball(self);
    double reach = ball->radius + tolerance, frobenius = pn_lp_norm(PN_L2, self->dim, x), norm = frobenius;
    pn_status status = PN_OK;

    /* frobenius <= norm <= sqrt(rank) frobenius decides what is far from the border */
    if (frobenius <= reach && !(frobenius * sqrt((double)ball->rank) <= reach))
        status = nuclear_norm(ball, x, &norm, err);
    *inside = status == PN_OK && norm <= reach;
    return status;
}

static pn_status nuclear_project(const pn_set *self, double *x, pn_err *err)
{
    const matrix_ball *ball = as_ball(self);
    factors f;
    double *scratch;
    pn_status status = factorise(&f, ball, x, err);

    if (status != PN_OK)
        return status;
    if (sum_of(&f, ball) > ball->radius) {
        scratch = pn_alloc(ball->rank, sizeof *scratch);
        if (scratch) {
            pn_simplex_project(f.s, ball->rank, ball->radius, scratch);
            pn_free(scratch);
            status = multiply(&f, ball, err);
        } else {
            status = pn_fail(err, PN_ENOMEM, "set.nuclear_ball: out of memory in project");
        }
        if (status == PN_OK)
            memcpy(x, f.product, self->dim * sizeof *x);
    }
    factors_clear(&f);
    return status;
}

static pn_status nuclear_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    pn_status status = nuclear_norm(as_ball(self), x, value, err);

    if (status == PN_OK)
        *value /= radius_of(self);
    return status;
}

/* ---- the spectral ball ---- */

/* At radius U V^T.  Columns of singular value 0 are as LAPACK completes them: the point is a vertex either way. */
static pn_status spectral_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const matrix_ball *ball = as_ball(self);
    factors f;
    pn_status status = factorise(&f, ball, g, err);

    if (status != PN_OK)
        return status;
    *value = ball->radius * sum_of(&f, ball);
    if (point) {
        for (size_t i = 0; i < ball->rank; i++)
            f.s[i] = ball->radius;
        status = multiply(&f, ball, err);
        if (status == PN_OK)
            memcpy(point, f.product, self->dim * sizeof *point);
    }
    factors_clear(&f);
    return status;
}

/* l2: sqrt(rank) at a partial isometry.  l1: the largest nuclear norm of a matrix of signs, at most sqrt(rank) times
 * its Frobenius norm, with equality where there is a Hadamard matrix. */
static double spectral_radius(const pn_set *self, pn_lp norm)
{
    const matrix_ball *ball = as_ball(self);
    double square = (double)ball->rank * (norm == PN_L1 ? (double)self->dim : 1.0), root;

    if (norm == PN_LINF)
        return ball->radius;
    root = sqrt(square);
    return pn_times_up(ball->radius, root * root == square && square < 0x1p50 ? root : nextafter(root, INFINITY));
}

static pn_status spectral_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const matrix_ball *ball = as_ball(self);
    double reach = ball->radius + tolerance, norm = pn_lp_norm(PN_L2, self->dim, x);
    pn_status status = PN_OK;

    if (!(norm <= reach)) /* the Frobenius norm is the larger */
        status = spectral_norm(ball, x, &norm, err);
    *inside = status == PN_OK && norm <= reach;
    return status;
}

static pn_status spectral_project(const pn_set *self, double *x, pn_err *err)
{
    const matrix_ball *ball = as_ball(self);
    factors f;
    pn_status status = factorise(&f, ball, x, err);

    if (status != PN_OK)
        return status;
    if (f.s[0] > ball->radius) {
        for (size_t i = 0; i < ball->rank; i++)
            f.s[i] = fmin(f.s[i], ball->radius);
        status = multiply(&f, ball, err);
        if (status == PN_OK)
            memcpy(x, f.product, self->dim * sizeof *x);
    }
    factors_clear(&f);
    return status;
}

static pn_status spectral_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    pn_status status = spectral_norm(as_ball(self), x, value, err);

    if (status == PN_OK)
        *value /= radius_of(self);
    return status;
}

const pn_set_ops pn_set_nuclear_ball = {
    .name = "nuclear_ball",
    .doc = "The nuclear ball {X in R^(rows x cols) : sum of singular values of X - center <= radius}, X as a row-major "
           "vector: matrices of low rank.  Its support comes from one singular pair; its width is at most radius (sqrt "
           "rows + sqrt cols).",
    .source = "Jaggi (2013), Revisiting Frank-Wolfe, section 4; Cai, Candes, Shen (2010) for the projection",
    .params = nuclear_params,
    .create = nuclear_create,
    .destroy = destroy,
    .symmetric = true,
    .support = nuclear_support,
    .radius = nuclear_radius,
    .diameter = diameter,
    .contains = nuclear_contains,
    .shortfall = nuclear_shortfall,
    .center = center_of,
    .project = nuclear_project,
    .gauge = nuclear_gauge,
    .scale = radius_of,
    .number = shape_of,
    .describe = describe,
};

const pn_set_ops pn_set_spectral_ball = {
    .name = "spectral_ball",
    .doc =
        "The spectral ball {X in R^(rows x cols) : largest singular value of X - center <= radius}, X as a row-major "
        "vector: the polar of the nuclear ball.  Its width is at most radius sqrt(rows cols min(rows, cols)).",
    .source = "Horn, Johnson (2013), Matrix Analysis, section 7.4: von Neumann's trace theorem",
    .params = spectral_params,
    .create = spectral_create,
    .destroy = destroy,
    .symmetric = true,
    .support = spectral_support,
    .radius = spectral_radius,
    .diameter = diameter,
    .contains = spectral_contains,
    .center = center_of,
    .project = spectral_project,
    .gauge = spectral_gauge,
    .scale = radius_of,
    .number = shape_of,
    .describe = describe,
};
