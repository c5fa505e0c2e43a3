/* prox_norm.c -- proximal operators of norms: l2, linf, group, nuclear, and lambda N(x) for any norm N.
 * Depends on: prox.h, norm.h, numeric/.  Used by: prox.c's table.
 * Source: Parikh, Boyd (2014), Proximal algorithms, sections 6.5 and 6.7. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/potentials/norm.h"
#include "geometry/prox/prox.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/root.h"

extern const pn_prox_ops pn_prox_l2, pn_prox_linf, pn_prox_group, pn_prox_nuclear, pn_prox_norm;

typedef struct norm_prox {
    pn_prox base;
    double lambda;
    size_t k;             /* group: entries of a block; SIZE_MAX: all */
    size_t rows, cols;    /* nuclear */
    pn_norm *norm, *dual; /* owned, or NULL for l2 and group */
} norm_prox;

static const norm_prox *as_norm(const pn_prox *prox)
{
    return (const norm_prox *)prox;
}

static norm_prox *new_prox(const pn_prox_ops *row, size_t dim, double lambda)
{
    norm_prox *self = pn_calloc(1, sizeof *self);

    if (self) {
        pn_prox_init(&self->base, row, dim);
        self->lambda = lambda;
    }
    return self;
}

static pn_status no_memory(const char *name, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "prox.%s: out of memory", name);
}

static void norm_destroy(pn_prox *prox)
{
    norm_prox *self = (norm_prox *)prox;

    pn_norm_free(self->norm);
    pn_norm_free(self->dual);
    pn_free(self);
}

static unsigned is_homogeneous(const pn_prox *prox)
{
    (void)prox;
    return PN_PROX_HOMOGENEOUS;
}

/* ---- l2 and group: blocks shrink towards 0 ---- */

static const pn_param lambda_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight of the term" },
    PN_PARAM_END,
};

static const pn_param group_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight of the term" },
    { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "coordinates of each block; the last one may be shorter" },
    PN_PARAM_END,
};

static pn_status blocks_create(pn_prox **out, const pn_prox_ops *row, double lambda, size_t k, pn_err *err)
{
    norm_prox *self = new_prox(row, 0, lambda);

    if (!self)
        return no_memory(row->name, err);
    self->k = k;
    *out = &self->base;
    return PN_OK;
}

static pn_status blocks_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    size_t k = as_norm(prox)->k;
    double sum = 0.0;

    (void)err;
    for (size_t at = 0, length; at < n; at += length) {
        length = k < n - at ? k : n - at;
        sum += pn_lp_norm(PN_L2, length, x + at);
    }
    *value = as_norm(prox)->lambda * sum;
    return PN_OK;
}

static pn_status blocks_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    double threshold = as_norm(prox)->lambda * step;
    size_t k = as_norm(prox)->k;

    (void)err;
    for (size_t at = 0, length; at < n; at += length) {
        double norm, factor;

        length = k < n - at ? k : n - at;
        norm = pn_lp_norm(PN_L2, length, x + at);
        factor = norm > threshold ? 1.0 - threshold / norm : 0.0;
        for (size_t j = at; j < at + length; j++)
            x[j] *= factor;
    }
    return PN_OK;
}

static unsigned l2_traits(const pn_prox *prox)
{
    (void)prox;
    return PN_PROX_HOMOGENEOUS | PN_PROX_RADIAL | PN_PROX_BLOCKS;
}

static unsigned group_traits(const pn_prox *prox)
{
    (void)prox;
    return PN_PROX_HOMOGENEOUS | PN_PROX_BLOCKS;
}

static pn_status l2_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return blocks_create(out, &pn_prox_l2, args[0].real, SIZE_MAX, err);
}

static void l2_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "l2(lambda=%.10g)", as_norm(prox)->lambda);
}

const pn_prox_ops pn_prox_l2 = {
    .name = "l2",
    .doc = "f(x) = lambda ||x||_2, not squared; the vector shrinks by step lambda, at most to 0.",
    .source = "Parikh, Boyd (2014), Proximal algorithms, section 6.5.1",
    .params = lambda_params,
    .create = l2_create,
    .destroy = norm_destroy,
    .value = blocks_value,
    .apply = blocks_apply,
    .describe = l2_describe,
    .traits = l2_traits,
};

static pn_status group_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return blocks_create(out, &pn_prox_group, args[0].real, args[1].count, err);
}

static void group_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "group(lambda=%.10g, k=%zu)", as_norm(prox)->lambda, as_norm(prox)->k);
}

const pn_prox_ops pn_prox_group = {
    .name = "group",
    .doc = "f(x) = lambda times the sum of the l2 norms of blocks of k coordinates; each block shrinks as by l2.",
    .source = "Yuan, Lin (2006), Model selection and estimation in regression with grouped variables",
    .params = group_params,
    .create = group_create,
    .destroy = norm_destroy,
    .value = blocks_value,
    .apply = blocks_apply,
    .describe = group_describe,
    .traits = group_traits,
};

/* ---- any norm: what is left of v when its projection on the ball of the dual norm is taken away ---- */

/* Takes over the reference to `norm`, also on failure. */
static pn_status any_create(pn_prox **out, const pn_prox_ops *row, double lambda, pn_norm *norm, pn_err *err)
{
    norm_prox *self = new_prox(row, pn_norm_dim(norm), lambda);
    pn_status status;

    if (!self) {
        pn_norm_free(norm);
        return no_memory(row->name, err);
    }
    self->norm = norm;
    status = pn_norm_dual(&self->dual, norm, err);
    if (status != PN_OK) {
        norm_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

static pn_status any_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    pn_status status = pn_norm_value(as_norm(prox)->norm, x, n, value, err);

    if (status == PN_OK)
        *value *= as_norm(prox)->lambda;
    return status;
}

/* y[n] = the projection of x on the ball {N* <= radius}. */
static pn_status project_dual(const pn_norm *dual, double radius, const double *x, double *y, size_t n, pn_err *err)
{
    pn_set *unit = NULL, *ball = NULL;
    pn_status status = pn_norm_ball(&unit, dual, n, err);

    if (status == PN_OK)
        status = pn_set_scale(&ball, unit, radius, err);
    if (status == PN_OK) {
        memcpy(y, x, n * sizeof *y);
        status = pn_set_project(ball, y, n, err);
    }
    pn_set_free(unit);
    pn_set_free(ball);
    return status;
}

/* Where only the ball of N itself has a projection: the operator is the projection on {N <= r} for the r at which
 * N*(v - projection) = t, and that falls as r grows. */
typedef struct multiplier {
    const norm_prox *prox;
    pn_set *unit; /* {N <= 1} */
    const double *v;
    double *x, *rest; /* [n] */
    size_t n;
    double t;
    pn_status status;
    pn_err *err;
} multiplier;

static pn_status project_primal(const multiplier *at, double r)
{
    pn_set *ball;
    pn_status status;

    PN_TRY(pn_set_scale(&ball, at->unit, r, at->err));
    memcpy(at->x, at->v, at->n * sizeof *at->x);
    status = pn_set_project(ball, at->x, at->n, at->err);
    pn_set_free(ball);
    return status;
}

static bool multiplier_is_below(void *self, double r)
{
    multiplier *at = self;
    double value = 0.0;

    if (at->status == PN_OK)
        at->status = project_primal(at, r);
    for (size_t j = 0; at->status == PN_OK && j < at->n; j++)
        at->rest[j] = at->v[j] - at->x[j];
    if (at->status == PN_OK)
        at->status = pn_norm_value(at->prox->dual, at->rest, at->n, &value, at->err);
    return value < at->t;
}

/* y[n] = v - prox, so that it takes the place of the projection on the dual ball. */
static pn_status search_primal(const norm_prox *prox, pn_set *unit, double t, const double *v, double *y, size_t n,
                               pn_err *err)
{
    double *x = pn_alloc(n, 2 * sizeof *x), size, largest;
    multiplier at = { prox, unit, v, x, x ? x + n : NULL, n, t, PN_OK, err };

    if (!x)
        return no_memory(prox->base.ops->name, err);
    memcpy(y, v, n * sizeof *y); /* prox = 0 where N*(v) <= t */
    at.status = pn_norm_value(prox->dual, v, n, &largest, err);
    if (at.status == PN_OK)
        at.status = pn_norm_value(prox->norm, v, n, &size, err);
    if (at.status == PN_OK && largest > t) {
        double r = pn_bisect(multiplier_is_below, &at, size * 0x1p-60, size);

        if (at.status == PN_OK)
            at.status = project_primal(&at, r);
        for (size_t j = 0; at.status == PN_OK && j < n; j++)
            y[j] = v[j] - x[j];
    }
    pn_free(x);
    return at.status;
}

/* y[n] = the projection of x on the ball {N* <= radius}, by whichever ball can. */
static pn_status take_away(const norm_prox *prox, double radius, const double *x, double *y, size_t n, pn_err *err)
{
    pn_set *unit = NULL, *dual = NULL;
    bool primal;
    pn_status status = pn_norm_ball(&unit, prox->norm, n, err);

    if (status == PN_OK && unit->ops->project)
        status = pn_norm_ball(&dual, prox->dual, n, err);
    primal = status == PN_OK && dual && !dual->ops->project;
    if (primal)
        status = search_primal(prox, unit, radius, x, y, n, err);
    else if (status == PN_OK)
        status = project_dual(prox->dual, radius, x, y, n, err);
    pn_set_free(unit);
    pn_set_free(dual);
    return status;
}

static pn_status any_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    double radius = as_norm(prox)->lambda * step, *y;
    pn_status status;

    if (radius == 0.0) /* below the smallest number: nothing moves */
        return PN_OK;
    if (isinf(radius)) {
        memset(x, 0, n * sizeof *x);
        return PN_OK;
    }
    y = pn_alloc(n, sizeof *y);
    if (!y)
        return no_memory(prox->ops->name, err);
    status = take_away(as_norm(prox), radius, x, y, n, err);
    if (status == PN_OK && pn_first_nonfinite(y, n) < n)
        status = pn_fail(err, PN_ENUMERIC, "prox: v is too large beside step times lambda = %g", radius);
    for (size_t j = 0; status == PN_OK && j < n; j++)
        x[j] -= y[j];
    pn_free(y);
    return status;
}

/* ---- nuclear: singular values shrink towards 0 ---- */

static const pn_param nuclear_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight of the term" },
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of the matrix, which follow one another in x" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of the matrix" },
    PN_PARAM_END,
};

static pn_status nuclear_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    pn_arg size[PN_NORM_PARAMS] = { args[1], args[2] };
    pn_norm *norm;
    pn_status status = pn_norm_from_args(&norm, "nuclear", size, err);

    if (status != PN_OK)
        return pn_fail_in(err, status, "prox.nuclear");
    status = any_create(out, &pn_prox_nuclear, args[0].real, norm, err);
    if (status == PN_OK) {
        ((norm_prox *)*out)->rows = args[1].count;
        ((norm_prox *)*out)->cols = args[2].count;
    }
    return status;
}

/* A matrix as U diag(s) Vt, all in one block that begins at U. */
typedef struct parts {
    double *U, *s, *Vt;
    size_t count; /* of singular values */
} parts;

static pn_status decompose(parts *out, const norm_prox *self, const double *x, pn_err *err)
{
    size_t k = self->rows < self->cols ? self->rows : self->cols;
    pn_mat X = { (double *)(size_t)x, self->rows, self->cols };
    double *block = pn_alloc(self->rows + self->cols + 1, k * sizeof *block);
    pn_status status;

    *out = (parts){ block, NULL, NULL, k };
    if (!block)
        return no_memory("nuclear", err);
    out->Vt = block + self->rows * k;
    out->s = out->Vt + k * self->cols;
    status = pn_svd(out->U, out->s, out->Vt, X, err);
    if (status != PN_OK)
        pn_free(block);
    return status;
}

static pn_status nuclear_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    const norm_prox *self = as_norm(prox);
    double threshold = self->lambda * step;
    parts of;
    pn_status status = decompose(&of, self, x, err);

    (void)n;
    if (status != PN_OK)
        return status;
    for (size_t r = 0; r < of.count; r++) {
        double left = of.s[r] > threshold ? of.s[r] - threshold : 0.0;

        for (size_t j = 0; j < self->cols; j++)
            of.Vt[r * self->cols + j] *= left;
    }
    status = pn_mat_times_mat((pn_mat){ x, self->rows, self->cols }, (pn_mat){ of.U, self->rows, of.count },
                              (pn_mat){ of.Vt, of.count, self->cols }, err);
    pn_free(of.U);
    return status;
}

static void nuclear_describe(const pn_prox *prox, char *text, size_t size)
{
    const norm_prox *self = as_norm(prox);

    (void)snprintf(text, size, "nuclear(lambda=%.10g, rows=%zu, cols=%zu)", self->lambda, self->rows, self->cols);
}

const pn_prox_ops pn_prox_nuclear = {
    .name = "nuclear",
    .doc = "f(X) = lambda times the sum of the singular values of a rows x cols matrix, each of which shrinks by step "
           "lambda, at most to 0.",
    .source = "Cai, Candes, Shen (2010), A singular value thresholding algorithm for matrix completion",
    .params = nuclear_params,
    .create = nuclear_create,
    .destroy = norm_destroy,
    .value = any_value,
    .apply = nuclear_apply,
    .describe = nuclear_describe,
    .traits = is_homogeneous,
};

/* ---- linf and the norm that a user gives ---- */

static pn_status linf_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    pn_norm *norm;
    pn_status status = pn_norm_from_args(&norm, "linf", NULL, err);

    return status != PN_OK ? status : any_create(out, &pn_prox_linf, args[0].real, norm, err);
}

static void linf_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "linf(lambda=%.10g)", as_norm(prox)->lambda);
}

const pn_prox_ops pn_prox_linf = {
    .name = "linf",
    .doc = "f(x) = lambda max_j |x_j|; the largest entries are cut to one level.",
    .source = "Parikh, Boyd (2014), Proximal algorithms, section 6.5.2",
    .params = lambda_params,
    .create = linf_create,
    .destroy = norm_destroy,
    .value = any_value,
    .apply = any_apply,
    .describe = linf_describe,
    .traits = is_homogeneous,
};

static const char *const norm_class[] = { "pn.norm", NULL };

static const pn_param norm_params[] = {
    { "norm", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, norm_class,
      "N, whose unit ball, or that of its dual, must have a projection" },
    { "lambda", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "weight of the term" },
    PN_PARAM_END,
};

static pn_status norm_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    pn_norm *norm = (pn_norm *)(size_t)args[0].object;

    return any_create(out, &pn_prox_norm, args[1].real, pn_norm_keep(norm), err);
}

static void norm_describe(const pn_prox *prox, char *text, size_t size)
{
    char norm[200];

    pn_norm_describe(as_norm(prox)->norm, norm, sizeof norm);
    (void)snprintf(text, size, "norm(%s, lambda=%.10g)", norm, as_norm(prox)->lambda);
}

const pn_prox_ops pn_prox_norm = {
    .name = "norm",
    .doc =
        "f(x) = lambda N(x) for any norm: v less its projection on step lambda times the unit ball of the dual norm.",
    .source = "Moreau (1965), Proximite et dualite dans un espace hilbertien",
    .params = norm_params,
    .create = norm_create,
    .destroy = norm_destroy,
    .value = any_value,
    .apply = any_apply,
    .describe = norm_describe,
    .traits = is_homogeneous,
};
