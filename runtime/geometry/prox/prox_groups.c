/* prox_groups.c -- f(x) = lambda sum_g weight_g ||x_g||_2 over listed groups of coordinates.  Disjoint groups shrink
 * one by one; groups that share coordinates are dealt into layers of disjoint ones, and f is the sum of the layers.
 * Depends on: prox.h, numeric/blas.h.  Used by: the group regulariser, bindings.
 * Source: Yuan, Lin (2006), Model selection and estimation in regression with grouped variables; Jenatton, Audibert,
 * Bach (2011), Structured variable selection, for overlapping groups. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/prox/prox.h"
#include "numeric/blas.h"

#define OWNER "prox.groups"

/* Disjoint groups. */
typedef struct layer {
    pn_prox base;
    size_t count, longest, least_dim; /* least_dim: the largest coordinate and 1 */
    size_t *start, *member;           /* as in pn_group_list; one block */
    double *weight;                   /* [count] lambda included */
} layer;

static const layer *as_layer(const pn_prox *prox)
{
    return (const layer *)prox;
}

static void layer_destroy(pn_prox *prox)
{
    layer *self = (layer *)prox;

    pn_free(self->start);
    pn_free(self->weight);
    pn_free(self);
}

static pn_status no_memory(pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, OWNER ": out of memory");
}

/* ---- one layer ---- */

static pn_status check_size(const layer *self, size_t n, pn_err *err)
{
    return n >= self->least_dim
               ? PN_OK
               : pn_fail(err, PN_EDIM, OWNER ": v has %zu entries, the groups name entry %zu", n, self->least_dim);
}

/* ||x_g||_2; `gathered` [longest] */
static double norm_of(const layer *self, size_t g, const double *x, double *gathered)
{
    size_t length = self->start[g + 1] - self->start[g];

    for (size_t k = 0; k < length; k++)
        gathered[k] = x[self->member[self->start[g] + k]];
    return pn_lp_norm(PN_L2, length, gathered);
}

static pn_status layer_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    const layer *self = as_layer(prox);
    pn_status status = check_size(self, n, err);
    double *gathered, total = 0.0;

    if (status != PN_OK)
        return status;
    gathered = pn_alloc(self->longest, sizeof *gathered);
    if (!gathered)
        return no_memory(err);
    for (size_t g = 0; g < self->count; g++)
        total += self->weight[g] * norm_of(self, g, x, gathered);
    *value = total;
    pn_free(gathered);
    return PN_OK;
}

static pn_status layer_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    const layer *self = as_layer(prox);
    pn_status status = check_size(self, n, err);
    double *gathered;

    if (status != PN_OK)
        return status;
    gathered = pn_alloc(self->longest, sizeof *gathered);
    if (!gathered)
        return no_memory(err);
    for (size_t g = 0; g < self->count; g++) {
        double norm = norm_of(self, g, x, gathered), threshold = step * self->weight[g];
        double factor = norm > threshold ? 1.0 - threshold / norm : 0.0;

        for (size_t k = self->start[g]; k < self->start[g + 1]; k++)
            x[self->member[k]] *= factor;
    }
    pn_free(gathered);
    return PN_OK;
}

static void layer_describe(const pn_prox *prox, char *text, size_t size)
{
    const layer *self = as_layer(prox);

    (void)snprintf(text, size, "groups(%zu of %zu coordinates in all)", self->count, self->start[self->count]);
}

static unsigned layer_traits(const pn_prox *prox)
{
    (void)prox;
    return PN_PROX_HOMOGENEOUS | PN_PROX_BLOCKS;
}

static const pn_prox_ops prox_of_groups = {
    .name = "groups",
    .destroy = layer_destroy,
    .value = layer_value,
    .apply = layer_apply,
    .describe = layer_describe,
    .traits = layer_traits,
};

/* ---- construction ---- */

static size_t length_of(const pn_group_list *list, size_t g)
{
    return list->start[g + 1] - list->start[g];
}

static double weight_of(const pn_group_list *list, size_t g)
{
    return list->lambda * (list->weight ? list->weight[g] : sqrt((double)length_of(list, g)));
}

/* The groups with layer_of[g] == which. */
static pn_status new_layer(pn_prox **out, const pn_group_list *list, const size_t *layer_of, size_t which, pn_err *err)
{
    layer *self = pn_calloc(1, sizeof *self);
    size_t members = list->start[list->count];

    if (!self)
        return no_memory(err);
    pn_prox_init(&self->base, &prox_of_groups, list->dim);
    self->start = pn_calloc(list->count + 1 + members, sizeof *self->start);
    self->weight = pn_alloc(list->count, sizeof *self->weight);
    if (!self->start || !self->weight) {
        layer_destroy(&self->base);
        return no_memory(err);
    }
    self->member = self->start + list->count + 1;
    for (size_t g = 0; g < list->count; g++) {
        size_t length = length_of(list, g), at = self->start[self->count];

        if (layer_of[g] != which)
            continue;
        self->weight[self->count] = weight_of(list, g);
        self->longest = length > self->longest ? length : self->longest;
        for (size_t k = 0; k < length; k++) {
            size_t j = list->member[list->start[g] + k];

            self->member[at + k] = j;
            self->least_dim = j >= self->least_dim ? j + 1 : self->least_dim;
        }
        self->start[++self->count] = at + length;
    }
    *out = &self->base;
    return PN_OK;
}

static bool is_positive(double number)
{
    return number > 0.0 && !isinf(number);
}

/* *largest = the largest coordinate. */
static pn_status check_list(const pn_group_list *list, size_t *largest, pn_err *err)
{
    if (!is_positive(list->lambda))
        return pn_fail(err, PN_EINVAL, OWNER ": lambda must be a positive number, got %g", list->lambda);
    if (list->count == 0)
        return pn_fail(err, PN_EINVAL, OWNER ": there is no group");
    *largest = 0;
    for (size_t g = 0; g < list->count; g++) {
        if (length_of(list, g) == 0)
            return pn_fail(err, PN_EINVAL, OWNER ": group %zu is empty", g + 1);
        if (list->weight && !is_positive(list->weight[g]))
            return pn_fail(err, PN_EINVAL, OWNER ": weights must be positive numbers, got %g at entry %zu",
                           list->weight[g], g + 1);
        for (size_t k = list->start[g]; k < list->start[g + 1]; k++) {
            if (list->dim && list->member[k] >= list->dim)
                return pn_fail(err, PN_EDIM, OWNER ": group %zu has coordinate %zu, dim is %zu", g + 1,
                               list->member[k] + 1, list->dim);
            *largest = list->member[k] > *largest ? list->member[k] : *largest;
        }
    }
    return pn_size_check(OWNER, "the number of a coordinate", *largest, err);
}

/* A layer takes each group left over that shares no coordinate with those that it has: used[j] is the last layer with
 * coordinate j, from 1. */
static size_t fill_layer(const pn_group_list *list, size_t *layer_of, size_t *used, size_t which)
{
    size_t taken = 0;

    for (size_t g = 0; g < list->count; g++) {
        bool shares = layer_of[g] != 0;

        for (size_t k = list->start[g]; k < list->start[g + 1] && !shares; k++)
            shares = used[list->member[k]] == which;
        if (shares)
            continue;
        for (size_t k = list->start[g]; k < list->start[g + 1]; k++)
            used[list->member[k]] = which;
        layer_of[g] = which;
        taken++;
    }
    return taken;
}

/* used[j] = the last group with coordinate j, from 1 */
static pn_status check_repeats(const pn_group_list *list, size_t *used, pn_err *err)
{
    for (size_t g = 0; g < list->count; g++) {
        for (size_t k = list->start[g]; k < list->start[g + 1]; k++) {
            if (used[list->member[k]] == g + 1)
                return pn_fail(err, PN_EINVAL, OWNER ": group %zu has coordinate %zu twice", g + 1,
                               list->member[k] + 1);
            used[list->member[k]] = g + 1;
        }
    }
    return PN_OK;
}

static pn_status add_layer(pn_prox **total, const pn_group_list *list, const size_t *layer_of, size_t which,
                           pn_err *err)
{
    pn_prox *made = NULL, *before = *total;
    pn_status status;

    PN_TRY(new_layer(&made, list, layer_of, which, err));
    if (!before) {
        *total = made;
        return PN_OK;
    }
    status = pn_prox_sum(total, before, made, err);
    pn_prox_free(made);
    if (status == PN_OK)
        pn_prox_free(before);
    else
        *total = before;
    return status;
}

pn_status pn_prox_groups(pn_prox **out, const pn_group_list *groups, pn_err *err)
{
    size_t largest = 0, left = groups->count, *layer_of = NULL, *used = NULL;
    pn_prox *total = NULL;
    pn_status status = check_list(groups, &largest, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    layer_of = pn_calloc(groups->count, sizeof *layer_of);
    used = pn_calloc(largest + 1, sizeof *used);
    status = layer_of && used ? check_repeats(groups, used, err) : no_memory(err);
    if (status == PN_OK)
        memset(used, 0, (largest + 1) * sizeof *used);
    for (size_t which = 1; status == PN_OK && left > 0; which++) {
        left -= fill_layer(groups, layer_of, used, which);
        status = add_layer(&total, groups, layer_of, which, err);
    }
    pn_free(layer_of);
    pn_free(used);
    if (status != PN_OK)
        pn_prox_free(total);
    else
        *out = total;
    return status;
}
