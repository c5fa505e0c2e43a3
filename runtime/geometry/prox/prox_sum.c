/* prox_sum.c -- the proximal operator of a sum of functions whose operators are known: closed forms,
 * else Dykstra's iteration.
 *
 * A square joins any f:  prox_{t (f + c/2 ||.||^2)}(y) = prox_{t/(1 + tc) f}(y/(1 + tc)), as the two minimise the same
 * function up to the factor 1 + tc and a constant.
 *
 * prox2(prox1(y)) is the operator of f1 + f2 for these pairs only.  With u = prox1(y) and x = prox2(u), y - u is in t
 * df1(u) and u - x in t df2(x); so y - x is in t (df1 + df2)(x), which makes x the minimum,
 * as soon as df1(u) lies in df1(x).
 *   separable and finite, intervals.  Coordinate by coordinate: a convex function of one variable rises away from its
 *       minimum u_j on either
 *       side, hence its minimum over [a, b] is the point of [a, b] nearest to u_j.
 *   homogeneous, radial.  x = s u with 0 <= s <= 1.  df1(u) = {v in df1(0): <v,
 *                         u> = f1(u)} is the same at s u for s > 0, and part of
 *       df1(0) for s = 0.
 *   homogeneous and separable, blocks.  f1 is a sum of homogeneous functions of the blocks and of what is in no block,
 *       where f2 is
 *       0: the pair above for each block.
 *
 * Depends on: prox.h, numeric/blas.h.  Used by: solvers, bindings.
 * Source: Bauschke, Combettes (2008), A Dykstra-like algorithm for two monotone operators; Tseng (1993), Dual
 * coordinate ascent, for more than two; Yu (2013), On decomposing the proximal map. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/prox/prox.h"
#include "numeric/blas.h"

#define TOLERANCE   1e-12
#define MOST_ROUNDS 10000

typedef struct sum {
    pn_prox base;
    double square;   /* c of c/2 ||x||^2 */
    bool composed;   /* two parts, of which the second's operator follows the first's */
    size_t count;    /* of parts */
    pn_prox *part[]; /* [count] owned, no sum and no square among them, indicators last */
} sum;

static const pn_prox_ops prox_of_sum, prox_of_sum_of_indicators;

static const sum *as_sum(const pn_prox *prox)
{
    return (const sum *)prox;
}

static bool is_sum(const pn_prox *prox)
{
    return prox->ops == &prox_of_sum || prox->ops == &prox_of_sum_of_indicators;
}

static void sum_destroy(pn_prox *prox)
{
    sum *self = (sum *)prox;

    for (size_t i = 0; i < self->count; i++)
        pn_prox_free(self->part[i]);
    pn_free(self);
}

/* ---- the operator ---- */

static pn_status sum_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    const sum *self = as_sum(prox);
    double total = self->square > 0.0 ? 0.5 * self->square * pn_dot(n, x, x) : 0.0, one;

    for (size_t i = 0; i < self->count; i++) {
        PN_TRY(pn_prox_value(self->part[i], x, n, &one, err));
        total += one;
    }
    *value = total;
    return PN_OK;
}

/* One round: x <- prox_i(x + q_i) and q_i takes what that left, for each part.  *apart is the largest step but the
 * first, which leads from the round before. */
static pn_status round_of(const sum *self, double *x, double *q, double *before, size_t n, double step, double *apart,
                          pn_err *err)
{
    *apart = 0.0;
    for (size_t i = 0; i < self->count; i++, q += n) {
        pn_status status;
        double moved;

        memcpy(before, x, n * sizeof *x);
        pn_axpy(n, 1.0, q, x);
        memcpy(q, x, n * sizeof *x);
        status = pn_prox_apply(self->part[i], x, n, step, err);
        if (status != PN_OK)
            return status;
        pn_axpy(n, -1.0, x, q);
        pn_axpy(n, -1.0, x, before);
        moved = pn_lp_norm(PN_L2, n, before);
        if (i > 0 && !(moved <= *apart))
            *apart = moved;
    }
    return PN_OK;
}

static pn_status not_met(const sum *self, pn_err *err)
{
    size_t indicators = 0;

    for (size_t i = 0; i < self->count; i++)
        indicators += self->part[i]->ops->indicator;
    return pn_fail(err, PN_ENUMERIC, "prox.sum: Dykstra's iteration has not met 1e-12 (1 + ||v||) in %d rounds; %s",
                   MOST_ROUNDS,
                   indicators > 1 ? "do the sets meet?" : "give the operator of the whole sum by pn.prox.custom");
}

static pn_status dykstra(const sum *self, double *x, size_t n, double step, pn_err *err)
{
    double *scratch = pn_calloc(n, (self->count + 2) * sizeof *scratch), *now = scratch, *before, *q;
    double goal = TOLERANCE * (1.0 + pn_lp_norm(PN_L2, n, x)), apart = INFINITY;
    pn_status status = PN_OK;

    PN_TRY(pn_made(scratch, err, "prox.sum: out of memory"));
    before = now + n;
    q = before + n;
    memcpy(now, x, n * sizeof *x);
    for (int i = 0; status == PN_OK && i < MOST_ROUNDS && !(apart <= goal); i++)
        status = round_of(self, now, q, before, n, step, &apart, err);
    if (status == PN_OK && !(apart <= goal))
        status = not_met(self, err);
    if (status == PN_OK)
        memcpy(x, now, n * sizeof *x);
    pn_free(scratch);
    return status;
}

static pn_status compose(const sum *self, double *x, size_t n, double step, pn_err *err)
{
    double *now;
    pn_status status;

    PN_TRY(pn_new(&now, n, err, "prox.sum: out of memory"));
    memcpy(now, x, n * sizeof *x);
    status = pn_prox_apply(self->part[0], now, n, step, err);
    if (status == PN_OK)
        status = pn_prox_apply(self->part[1], now, n, step, err);
    if (status == PN_OK)
        memcpy(x, now, n * sizeof *x);
    pn_free(now);
    return status;
}

static pn_status apply_parts(const sum *self, double *x, size_t n, double step, pn_err *err)
{
    if (self->count == 0)
        return PN_OK;
    if (self->count == 1)
        return pn_prox_apply(self->part[0], x, n, step, err);
    return self->composed ? compose(self, x, n, step, err) : dykstra(self, x, n, step, err);
}

static pn_status sum_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    const sum *self = as_sum(prox);
    double shrink = 1.0 + step * self->square, *y;
    pn_status status;

    if (!(shrink > 1.0))
        return apply_parts(self, x, n, step, err);
    PN_TRY(pn_new(&y, n, err, "prox.sum: out of memory"));
    for (size_t j = 0; j < n; j++)
        y[j] = x[j] / shrink;
    status = apply_parts(self, y, n, isinf(shrink) ? 1.0 / self->square : step / shrink, err);
    if (status == PN_OK)
        memcpy(x, y, n * sizeof *x);
    pn_free(y);
    return status;
}

static void sum_describe(const pn_prox *prox, char *text, size_t size)
{
    const sum *self = as_sum(prox);
    size_t used = 0;
    int n;

    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < self->count && used < size; i++) {
        char part[200];

        pn_prox_describe(self->part[i], part, sizeof part);
        n = snprintf(text + used, size - used, "%s%s", i ? " + " : "", part);
        used += n > 0 ? (size_t)n : 0;
    }
    if ((self->square > 0.0 || self->count == 0) && used < size)
        (void)snprintf(text + used, size - used, "%ssquared_l2(lambda=%.10g)", self->count ? " + " : "", self->square);
}

static const pn_prox_ops prox_of_sum = {
    .name = "sum",
    .destroy = sum_destroy,
    .value = sum_value,
    .apply = sum_apply,
    .describe = sum_describe,
};

static const pn_prox_ops prox_of_sum_of_indicators = {
    .name = "sum",
    .indicator = true,
    .destroy = sum_destroy,
    .value = sum_value,
    .apply = sum_apply,
    .describe = sum_describe,
};

/* ---- construction ---- */

static size_t parts_of(const pn_prox *prox)
{
    return is_sum(prox) ? as_sum(prox)->count : 1;
}

/* Append what `prox` is a sum of. */
static pn_status take(sum *self, pn_prox *prox, pn_err *err)
{
    double square = 0.0;
    pn_prox *rest = NULL;
    pn_status status;

    if (is_sum(prox)) {
        for (size_t i = 0; i < as_sum(prox)->count; i++)
            self->part[self->count++] = pn_prox_keep(as_sum(prox)->part[i]);
        self->square += as_sum(prox)->square;
        return PN_OK;
    }
    if (!prox->ops->split) {
        self->part[self->count++] = pn_prox_keep(prox);
        return PN_OK;
    }
    status = prox->ops->split(prox, &square, &rest, err);
    if (status == PN_OK && rest)
        self->part[self->count++] = rest;
    self->square += square;
    return status;
}

/* Indicators last, otherwise in the order given. */
static size_t sort_parts(sum *self)
{
    size_t others = 0;

    for (size_t i = 0; i < self->count; i++) {
        pn_prox *part = self->part[i];

        if (part->ops->indicator)
            continue;
        memmove(self->part + others + 1, self->part + others, (i - others) * sizeof(pn_prox *));
        self->part[others++] = part;
    }
    return others;
}

static unsigned traits_of(const pn_prox *prox)
{
    return prox->ops->traits ? prox->ops->traits(prox) : 0;
}

/* The pairs of the head of this file. */
static bool follows(const pn_prox *outer, const pn_prox *inner)
{
    unsigned out = traits_of(outer), in = traits_of(inner);

    return ((out & PN_PROX_INTERVALS) && (in & PN_PROX_SEPARABLE) && !inner->ops->indicator) ||
           ((out & PN_PROX_RADIAL) && (in & PN_PROX_HOMOGENEOUS)) ||
           ((out & PN_PROX_BLOCKS) && (in & PN_PROX_HOMOGENEOUS) && (in & PN_PROX_SEPARABLE));
}

static void find_pair(sum *self)
{
    if (self->count != 2)
        return;
    self->composed = follows(self->part[1], self->part[0]);
    if (!self->composed && follows(self->part[0], self->part[1])) {
        pn_prox *outer = self->part[0];

        self->part[0] = self->part[1];
        self->part[1] = outer;
        self->composed = true;
    }
}

pn_status pn_prox_sum(pn_prox **out, pn_prox *a, pn_prox *b, pn_err *err)
{
    size_t most = parts_of(a) + parts_of(b);
    sum *self;
    pn_status status;

    *out = NULL;
    if (a->dim && b->dim && a->dim != b->dim)
        return pn_fail(err, PN_EDIM, "prox.sum: the operators have %zu and %zu entries, they must be equal", a->dim,
                       b->dim);
    self = pn_calloc(1, sizeof *self + most * sizeof(pn_prox *));
    PN_TRY(pn_made(self, err, "prox.sum: out of memory"));
    pn_prox_init(&self->base, &prox_of_sum, a->dim ? a->dim : b->dim);
    status = take(self, a, err);
    if (status == PN_OK)
        status = take(self, b, err);
    if (status != PN_OK) {
        sum_destroy(&self->base);
        return status;
    }
    self->square = fmin(self->square, DBL_MAX); /* infinity would leave no step for the parts */
    if (sort_parts(self) == 0 && self->square == 0.0 && self->count > 0)
        self->base.ops = &prox_of_sum_of_indicators;
    find_pair(self);
    *out = &self->base;
    return PN_OK;
}

/* ---- what a sum is made of ---- */

static bool add_to_net(pn_prox_net *net, const pn_prox *part)
{
    double l1, l2;

    if (part->ops->net) {
        part->ops->net(part, &l1, &l2);
        net->l1 += l1;
        net->l2 += l2;
        return true;
    }
    if (net->clip || !(traits_of(part) & PN_PROX_INTERVALS))
        return false;
    net->clip = part;
    return true;
}

bool pn_prox_as_net(pn_prox_net *out, const pn_prox *prox)
{
    pn_prox_net net = { 0.0, 0.0, NULL };
    bool yes = true;

    if (is_sum(prox)) {
        net.l2 = as_sum(prox)->square;
        for (size_t i = 0; i < as_sum(prox)->count; i++)
            yes = yes && add_to_net(&net, as_sum(prox)->part[i]);
    } else {
        yes = add_to_net(&net, prox);
    }
    if (yes)
        *out = net;
    return yes;
}
