/* norm.c -- the table of norms, reference counts, and the checked doors.
 * A norm is its unit ball: a row says which, the value is the ball's gauge and the dual norm's value its support
 * function.
 * Depends on: norm.h, set_algebra.h, numeric/blas.h.  Used by: potentials, bindings. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"
#include "core/size.h"
#include "core/table.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/norm.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"

/* Which norm: a row with its arguments, or a set; and on the far side its dual. */
struct pn_norm {
    int references;
    const pn_norm_ops *ops; /* NULL: of a set */
    pn_arg args[PN_NORM_PARAMS];
    const pn_norm_ops *dual_ops; /* the row of the dual norm; NULL: there is none, and is_dual tells the sides apart */
    pn_arg dual_args[PN_NORM_PARAMS];
    bool is_dual;
    pn_set *set, *hull;     /* owned: the set and Q = conv(C u -C); NULL: of the table */
    pn_norm_function value; /* a caller's, in place of the gauge of the set; NULL: none */
    void *self;
};

/* ---- rows ---- */

static double l1_value(const double *x, size_t n)
{
    return pn_lp_norm(PN_L1, n, x);
}

static double l2_value(const double *x, size_t n)
{
    return pn_lp_norm(PN_L2, n, x);
}

static double linf_value(const double *x, size_t n)
{
    return pn_lp_norm(PN_LINF, n, x);
}

static const char *dual_of_l1(const pn_arg *args, pn_arg *dual_args)
{
    (void)args;
    (void)dual_args;
    return "linf";
}

static const char *dual_of_l2(const pn_arg *args, pn_arg *dual_args)
{
    (void)args;
    (void)dual_args;
    return "l2";
}

static const char *dual_of_linf(const pn_arg *args, pn_arg *dual_args)
{
    (void)args;
    (void)dual_args;
    return "l1";
}

static const pn_param no_params[] = { PN_PARAM_END };

static const pn_norm_ops norm_l1 = {
    .name = "l1",
    .doc = "N(x) = sum_j |x_j|; the dual norm is linf.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, appendix A.1",
    .params = no_params,
    .ball = "l1_ball",
    .value = l1_value,
    .dual = dual_of_l1,
};

static const pn_norm_ops norm_l2 = {
    .name = "l2",
    .doc = "N(x) = sqrt(sum_j x_j^2), its own dual norm.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, appendix A.1",
    .params = no_params,
    .ball = "l2_ball",
    .value = l2_value,
    .dual = dual_of_l2,
};

static const pn_norm_ops norm_linf = {
    .name = "linf",
    .doc = "N(x) = max_j |x_j|; the dual norm is l1.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, appendix A.1",
    .params = no_params,
    .ball = "linf_ball",
    .value = linf_value,
    .dual = dual_of_linf,
};

static const pn_param lp_params[] = {
    { "q", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the exponent, from 1; norm.linf() is the limit" },
    PN_PARAM_END,
};

static pn_status lp_check(const char *owner, const pn_arg *args, pn_err *err)
{
    if (args[0].given && !(args[0].real >= 1.0 && isfinite(args[0].real)))
        return pn_fail(err, PN_EINVAL, "%s: q must be a finite number from 1 (norm.linf() is the limit), got %g", owner,
                       isnan(args[0].real) ? (double)NAN : args[0].real);
    return PN_OK;
}

/* 1/q + 1/q' = 1 */
static const char *dual_of_lp(const pn_arg *args, pn_arg *dual_args)
{
    double q = args[0].real;

    if (q == 1.0)
        return "linf";
    dual_args[0] = (pn_arg){ .given = true, .real = q / (q - 1.0) };
    return "lp";
}

static const pn_norm_ops norm_lp = {
    .name = "lp",
    .doc = "N(x) = (sum_j |x_j|^q)^(1/q); the dual norm is lp with q/(q - 1).",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, appendix A.1",
    .params = lp_params,
    .ball = "lp_ball",
    .check = lp_check,
    .dual = dual_of_lp,
};

static const pn_param group_params[] = {
    { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "coordinates of each block; the last one may be shorter" },
    PN_PARAM_END,
};

static const pn_norm_ops norm_group = {
    .name = "group",
    .doc = "N(x) = sum of the l2 norms of blocks of k coordinates that follow one another; the dual norm is the "
           "largest of them.",
    .source = "Yuan, Lin (2006), Model selection and estimation in regression with grouped variables",
    .params = group_params,
    .ball = "group_ball",
};

static const pn_param interpolation_params[] = {
    { "alpha", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL, "the weight of l2: 0 gives l1, 1 gives l2" },
    PN_PARAM_END,
};

static const pn_norm_ops norm_interpolation = {
    .name = "interpolation",
    .doc = "N(x) = (1 - alpha) ||x||_1 + alpha ||x||_2.",
    .source = "Talwar, Thakurta, Zhang (2014), section 3",
    .params = interpolation_params,
    .ball = "interpolation_ball",
};

static const pn_param matrix_params[] = {
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of the matrix, which follow one another in x" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of the matrix" },
    PN_PARAM_END,
};

static size_t matrix_dim(const pn_arg *args)
{
    return args[0].count * args[1].count;
}

static pn_status matrix_check(const char *owner, const pn_arg *args, pn_err *err)
{
    size_t dim;

    return pn_size_product(&dim, owner, "rows x cols", args[0].count, args[1].count, err);
}

static const char *dual_of_nuclear(const pn_arg *args, pn_arg *dual_args)
{
    memcpy(dual_args, args, 2 * sizeof *args);
    return "spectral";
}

static const char *dual_of_spectral(const pn_arg *args, pn_arg *dual_args)
{
    memcpy(dual_args, args, 2 * sizeof *args);
    return "nuclear";
}

static const pn_norm_ops norm_nuclear = {
    .name = "nuclear",
    .doc = "N(X) = the sum of the singular values of a rows x cols matrix; the dual norm is spectral.",
    .source = "Fazel (2002), Matrix rank minimization with applications",
    .params = matrix_params,
    .ball = "nuclear_ball",
    .check = matrix_check,
    .dim = matrix_dim,
    .dual = dual_of_nuclear,
};

static const pn_norm_ops norm_spectral = {
    .name = "spectral",
    .doc = "N(X) = the largest singular value of a rows x cols matrix; the dual norm is nuclear.",
    .source = "Fazel (2002), Matrix rank minimization with applications",
    .params = matrix_params,
    .ball = "spectral_ball",
    .check = matrix_check,
    .dim = matrix_dim,
    .dual = dual_of_spectral,
};

static const pn_norm_ops *const rows[] = {
    &norm_l1, &norm_l2, &norm_linf, &norm_lp, &norm_group, &norm_interpolation, &norm_nuclear, &norm_spectral, NULL,
};
PN_TABLE(norms, pn_norm_ops, "norm", "norm", rows);

const pn_norm_ops *const *pn_norm_table(void)
{
    return rows;
}

/* ---- making and dropping ---- */

static pn_norm *new_norm(void)
{
    pn_norm *norm = pn_calloc(1, sizeof *norm);

    if (norm)
        norm->references = 1;
    return norm;
}

pn_status pn_norm_from_args(pn_norm **out, const char *name, pn_arg *args, pn_err *err)
{
    const pn_norm_ops *row = pn_table_find(rows, name);
    char text[80];
    const char *dual;
    pn_norm *norm;
    pn_status status = PN_OK;

    *out = NULL;
    if (!row)
        return pn_table_refuse(&norms, __func__, name, err);
    (void)snprintf(text, sizeof text, "norm.%s", name);
    if (row->check)
        status = row->check(text, args, err);
    if (status == PN_OK)
        status = pn_args_check(text, row->params, args, err);
    if (status != PN_OK)
        return status;
    norm = new_norm();
    PN_TRY(pn_made(norm, err, "norm.%s: out of memory", name));
    norm->ops = row;
    for (size_t i = 0; i < pn_param_count(row->params); i++) /* args may be NULL where there are none */
        norm->args[i] = args[i];
    dual = row->dual ? row->dual(norm->args, norm->dual_args) : NULL;
    norm->dual_ops = dual ? pn_table_find(rows, dual) : NULL;
    *out = norm;
    return PN_OK;
}

pn_status pn_norm_new(pn_norm **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &norms, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_norm_from_args(out, name, args, err) : status;
}

pn_status pn_norm_minkowski(pn_norm **out, pn_set *set, pn_err *err)
{
    pn_norm *norm;
    pn_status status;

    *out = NULL;
    if (!pn_set_is_bounded(set))
        return pn_fail(err, PN_EUNSUPPORTED, "norm.minkowski: the set must be bounded, %s is not", set->ops->name);
    norm = new_norm();
    PN_TRY(pn_made(norm, err, "norm.minkowski: out of memory"));
    status = pn_set_symmetric_hull(&norm->hull, set, err);
    if (status != PN_OK) {
        pn_norm_free(norm);
        return pn_fail_in(err, status, "norm.minkowski");
    }
    norm->set = pn_set_keep(set);
    *out = norm;
    return PN_OK;
}

pn_status pn_norm_custom(pn_norm **out, pn_set *ball, pn_norm_function value, void *self, pn_err *err)
{
    PN_TRY(pn_norm_minkowski(out, ball, err));
    (*out)->value = value;
    (*out)->self = self;
    return PN_OK;
}

pn_status pn_norm_dual(pn_norm **out, const pn_norm *norm, pn_err *err)
{
    pn_norm *dual = new_norm();

    *out = NULL;
    PN_TRY(pn_made(dual, err, "N:dual: out of memory"));
    *dual = *norm;
    dual->references = 1;
    if (dual->set) {
        pn_set_keep(dual->set);
        pn_set_keep(dual->hull);
    }
    if (norm->dual_ops) {
        dual->ops = norm->dual_ops;
        dual->dual_ops = norm->ops;
        memcpy(dual->args, norm->dual_args, sizeof dual->args);
        memcpy(dual->dual_args, norm->args, sizeof dual->dual_args);
    } else {
        dual->is_dual = !norm->is_dual;
    }
    *out = dual;
    return PN_OK;
}

pn_norm *pn_norm_keep(pn_norm *norm)
{
    norm->references++;
    return norm;
}

void pn_norm_free(pn_norm *norm)
{
    if (norm && --norm->references == 0) {
        pn_set_free(norm->set);
        pn_set_free(norm->hull);
        pn_free(norm);
    }
}

/* ---- the unit ball ---- */

/* The ball of the row, or Q, whichever side the norm is on. */
static pn_status own_set(pn_set **out, const pn_norm *norm, size_t n, pn_err *err)
{
    enum { MOST = 16 };
    pn_arg args[MOST] = { 0 };
    const pn_set_ops *row = norm->set ? NULL : pn_set_find(norm->ops->ball);
    const pn_param *params = row ? row->params : NULL;

    if (norm->set) {
        *out = pn_set_keep(norm->hull);
        return PN_OK;
    }
    for (size_t i = 0; params && params[i].name && i < MOST; i++) {
        size_t at = pn_param_find(norm->ops->params, params[i].name);

        if (at < pn_param_count(norm->ops->params))
            args[i] = norm->args[at];
        else if (strcmp(params[i].name, "dim") == 0)
            args[i] = (pn_arg){ .given = true, .count = n };
    }
    return pn_set_from_args(out, norm->ops->ball, args, err);
}

static pn_status check_dim(const pn_norm *norm, const char *what, size_t n, pn_err *err)
{
    size_t dim = pn_norm_dim(norm);

    if (n == 0)
        return pn_fail(err, PN_EDIM, "%s has no entries, a norm needs at least one", what);
    if (dim && n != dim)
        return pn_fail(err, PN_EDIM, "%s has %zu entries, the norm has %zu", what, n, dim);
    return PN_OK;
}

pn_status pn_norm_ball(pn_set **out, const pn_norm *norm, size_t n, pn_err *err)
{
    pn_status status = check_dim(norm, "N:ball: the ball", n, err);
    pn_set *own;

    *out = NULL;
    if (status != PN_OK)
        return status;
    status = own_set(&own, norm, n, err);
    if (status != PN_OK || !norm->is_dual) {
        *out = own;
        return status;
    }
    status = pn_set_polar(out, own, err);
    pn_set_free(own); /* the polar keeps it */
    return status;
}

pn_status pn_norm_radius(const pn_norm *norm, pn_lp lp, size_t n, double *radius, pn_err *err)
{
    pn_set *set;

    PN_TRY(pn_norm_ball(&set, norm, n, err));
    *radius = set->ops->radius(set, lp);
    pn_set_free(set);
    return PN_OK;
}

/* ---- values ---- */

pn_status pn_norm_value(const pn_norm *norm, const double *x, size_t n, double *value, pn_err *err)
{
    pn_status status = check_dim(norm, "N:value: v", n, err);
    size_t bad = status == PN_OK ? pn_first_nonfinite(x, n) : n;
    pn_set *set;

    if (status != PN_OK)
        return status;
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "N:value: v must hold finite numbers, got %g at entry %zu", x[bad], bad + 1);
    if (norm->ops && norm->ops->value && !norm->is_dual) {
        *value = norm->ops->value(x, n);
        return PN_OK;
    }
    if (norm->value && !norm->is_dual)
        return norm->value(norm->self, x, n, value, err);
    PN_TRY(own_set(&set, norm, n, err));
    status = norm->is_dual ? pn_set_dual_norm(set, x, n, value, err) : pn_set_gauge(set, x, n, value, err);
    pn_set_free(set);
    return status;
}

/* ---- what it is ---- */

size_t pn_norm_dim(const pn_norm *norm)
{
    if (norm->set)
        return norm->set->dim;
    return norm->ops->dim ? norm->ops->dim(norm->args) : 0;
}

static void add_arguments(const pn_norm *norm, char *text, size_t size)
{
    const pn_param *params = norm->ops->params;
    size_t used = strlen(text), count = pn_param_count(params);

    for (size_t i = 0; i < count && used < size; i++) {
        const char *open = i ? ", " : "(", *close = i + 1 < count ? "" : ")";
        int n =
            params[i].kind == PN_COUNT
                ? snprintf(text + used, size - used, "%s%s=%zu%s", open, params[i].name, norm->args[i].count, close)
                : snprintf(text + used, size - used, "%s%s=%.10g%s", open, params[i].name, norm->args[i].real, close);

        used += n > 0 ? (size_t)n : 0;
    }
}

bool pn_norm_is_lp(const pn_norm *norm, pn_lp *lp)
{
    return norm->ops && pn_lp_find(lp, norm->ops->name);
}

void pn_norm_describe(const pn_norm *norm, char *text, size_t size)
{
    const char *side = norm->is_dual ? "dual of " : "";
    char set[256];

    if (norm->set) {
        pn_set_describe(norm->set, set, sizeof set);
        (void)snprintf(text, size, norm->value ? "%s%s" : "%sminkowski(%s)", side, set);
    } else {
        (void)snprintf(text, size, "%s%s", side, norm->ops->name);
        add_arguments(norm, text, size);
    }
}

bool pn_norm_same(const pn_norm *a, const pn_norm *b)
{
    const pn_param *params = a->ops ? a->ops->params : NULL;

    if (a->ops != b->ops || a->value != b->value || a->set != b->set || a->is_dual != b->is_dual)
        return false;
    for (size_t i = 0; params && params[i].name; i++) {
        if (params[i].kind == PN_COUNT ? a->args[i].count != b->args[i].count : a->args[i].real != b->args[i].real)
            return false;
    }
    return true;
}
