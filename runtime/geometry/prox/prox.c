/* prox.c -- the table of proximal operators, reference counts, the checked doors,
 * and operators made of others or of a user's
 * functions.  Depends on: prox.h.  Used by: solvers, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"
#include "core/size.h"
#include "core/table.h"
#include "geometry/prox/prox.h"

/* One row, one line. */
#define PROXES(X)                                                                                                      \
    X(l1)                                                                                                              \
    X(l2)                                                                                                              \
    X(linf)                                                                                                            \
    X(squared_l2)                                                                                                      \
    X(elastic_net)                                                                                                     \
    X(group)                                                                                                           \
    X(nuclear)                                                                                                         \
    X(norm)                                                                                                            \
    X(huber)                                                                                                           \
    X(box)                                                                                                             \
    X(indicator)

#define DECLARE(name) extern const pn_prox_ops pn_prox_##name;
PROXES(DECLARE)

#define ROW(name) &pn_prox_##name,
static const pn_prox_ops *const rows[] = { PROXES(ROW) NULL };
PN_TABLE(operators, pn_prox_ops, "prox", "operator", rows);

const pn_prox_ops *const *pn_prox_table(void)
{
    return rows;
}

pn_status pn_prox_from_args(pn_prox **out, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_prox_ops *row = pn_table_open(&operators, __func__, name, args, &status, err);

    *out = NULL;
    if (row)
        status = row->create(out, args, err);
    if (status == PN_OK) /* whatever the row made its dimension of */
        status = pn_table_size(&operators, name, "dim", (*out)->dim, err);
    if (status != PN_OK) {
        pn_prox_free(*out);
        *out = NULL;
    }
    return status;
}

pn_status pn_prox_new(pn_prox **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &operators, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_prox_from_args(out, name, args, err) : status;
}

void pn_prox_init(pn_prox *prox, const pn_prox_ops *ops, size_t dim)
{
    prox->ops = ops;
    prox->dim = dim;
    prox->references = 1;
}

pn_prox *pn_prox_keep(pn_prox *prox)
{
    prox->references++;
    return prox;
}

void pn_prox_free(pn_prox *prox)
{
    if (prox && --prox->references == 0)
        prox->ops->destroy(prox);
}

/* ---- checked doors ---- */

static pn_status check_point(const pn_prox *prox, const char *what, const double *x, size_t n, pn_err *err)
{
    size_t bad;

    if (n == 0)
        return pn_fail(err, PN_EDIM, "%s has no entries, there must be at least one", what);
    if (prox->dim && n != prox->dim)
        return pn_fail(err, PN_EDIM, "%s has %zu entries, the operator has %zu", what, n, prox->dim);
    bad = pn_first_nonfinite(x, n);
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "%s must hold finite numbers, got %g at entry %zu", what, x[bad], bad + 1);
    return PN_OK;
}

pn_status pn_prox_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    PN_TRY(check_point(prox, "prox: v", x, n, err));
    if (!(step > 0.0) || isinf(step))
        return pn_fail(err, PN_EINVAL, "prox: step must be a positive number, got %g",
                       isnan(step) ? (double)NAN : step);
    return prox->ops->apply(prox, x, n, step, err);
}

pn_status pn_prox_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    pn_status status = check_point(prox, "P:value: v", x, n, err);
    char text[200];

    if (status != PN_OK)
        return status;
    if (prox->ops->value)
        return prox->ops->value(prox, x, n, value, err);
    pn_prox_describe(prox, text, sizeof text);
    return pn_fail(err, PN_EUNSUPPORTED, "P:value: %s has no value, only prox(v, step)", text);
}

pn_status pn_prox_envelope(const pn_prox *prox, const double *v, size_t n, double step, double *value, pn_err *err)
{
    pn_status status = check_point(prox, "P:envelope: v", v, n, err);
    double *x = status == PN_OK ? pn_alloc(n, sizeof *x) : NULL, sum = 0.0;

    if (status == PN_OK && !x)
        status = pn_fail(err, PN_ENOMEM, "P:envelope: out of memory");
    if (status == PN_OK) {
        memcpy(x, v, n * sizeof *x);
        status = pn_prox_apply(prox, x, n, step, err);
    }
    *value = 0.0;
    if (status == PN_OK && !prox->ops->indicator)
        status = pn_prox_value(prox, x, n, value, err);
    for (size_t j = 0; status == PN_OK && j < n; j++)
        sum += (x[j] - v[j]) * (x[j] - v[j]);
    *value += sum / (2.0 * step);
    pn_free(x);
    return status;
}

void pn_prox_describe(const pn_prox *prox, char *text, size_t size)
{
    prox->ops->describe(prox, text, size);
}

/* ---- the conjugate ---- */

typedef struct conjugate {
    pn_prox base;
    pn_prox *of; /* owned */
} conjugate;

static const pn_prox_ops prox_of_conjugate;

static void conjugate_destroy(pn_prox *self)
{
    pn_prox_free(((conjugate *)self)->of);
    pn_free(self);
}

/* Moreau: prox_{s f*}(v) = v - s prox_{f / s}(v / s). */
static pn_status conjugate_apply(const pn_prox *self, double *x, size_t n, double step, pn_err *err)
{
    double *y;
    pn_status status;

    PN_TRY(pn_new(&y, n, err, "prox: out of memory"));
    for (size_t j = 0; j < n; j++)
        y[j] = x[j] / step;
    status = pn_prox_apply(((const conjugate *)self)->of, y, n, 1.0 / step, err);
    for (size_t j = 0; status == PN_OK && j < n; j++)
        x[j] -= step * y[j];
    pn_free(y);
    return status;
}

static void conjugate_describe(const pn_prox *self, char *text, size_t size)
{
    char of[200];

    pn_prox_describe(((const conjugate *)self)->of, of, sizeof of);
    (void)snprintf(text, size, "conjugate of %s", of);
}

static const pn_prox_ops prox_of_conjugate = {
    .name = "conjugate",
    .destroy = conjugate_destroy,
    .apply = conjugate_apply,
    .describe = conjugate_describe,
};

pn_status pn_prox_conjugate(pn_prox **out, pn_prox *prox, pn_err *err)
{
    conjugate *made;

    *out = NULL;
    if (prox->ops == &prox_of_conjugate) {
        *out = pn_prox_keep(((conjugate *)prox)->of);
        return PN_OK;
    }
    PN_TRY(pn_new(&made, 1, err, "P:conjugate: out of memory"));
    pn_prox_init(&made->base, &prox_of_conjugate, prox->dim);
    made->of = pn_prox_keep(prox);
    *out = &made->base;
    return PN_OK;
}

/* ---- a user's own ---- */

typedef struct custom {
    pn_prox base;
    pn_custom_prox parts;
} custom;

static void custom_destroy(pn_prox *self)
{
    const pn_custom_prox *parts = &((custom *)self)->parts;

    if (parts->destroy)
        parts->destroy(parts->self);
    pn_free(self);
}

static pn_status custom_apply(const pn_prox *self, double *x, size_t n, double step, pn_err *err)
{
    const pn_custom_prox *parts = &((const custom *)self)->parts;
    double *y;
    size_t bad;
    pn_status status;

    PN_TRY(pn_new(&y, n, err, "prox.custom: out of memory"));
    memcpy(y, x, n * sizeof *y);
    status = parts->apply(parts->self, x, n, step, y, err);
    bad = status == PN_OK ? pn_first_nonfinite(y, n) : n;
    if (bad < n)
        status = pn_fail(err, PN_ENUMERIC, "prox.custom: prox must return finite numbers, got %g at entry %zu", y[bad],
                         bad + 1);
    if (status == PN_OK)
        memcpy(x, y, n * sizeof *x);
    pn_free(y);
    return status;
}

static pn_status custom_value(const pn_prox *self, const double *x, size_t n, double *value, pn_err *err)
{
    const pn_custom_prox *parts = &((const custom *)self)->parts;

    if (!parts->value)
        return pn_fail(err, PN_EUNSUPPORTED, "P:value: prox.custom was given no value= function");
    return parts->value(parts->self, x, n, value, err);
}

static void custom_describe(const pn_prox *self, char *text, size_t size)
{
    if (self->dim)
        (void)snprintf(text, size, "custom(dim=%zu)", self->dim);
    else
        (void)snprintf(text, size, "custom");
}

static const pn_prox_ops prox_of_user = {
    .name = "custom",
    .destroy = custom_destroy,
    .value = custom_value,
    .apply = custom_apply,
    .describe = custom_describe,
};

pn_status pn_prox_custom(pn_prox **out, const pn_custom_prox *parts, pn_err *err)
{
    pn_status status = pn_size_check("prox.custom", "dim", parts->dim, err);
    custom *made;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new(&made, 1, err, "prox.custom: out of memory"));
    pn_prox_init(&made->base, &prox_of_user, parts->dim);
    made->parts = *parts;
    *out = &made->base;
    return PN_OK;
}
