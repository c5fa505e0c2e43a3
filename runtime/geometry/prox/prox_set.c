/* prox_set.c -- proximal operators of indicators: the projections on a set, whatever the step.
 * Depends on: prox.h, set.h.  Used by: prox.c's table.  Source: Parikh, Boyd (2014), Proximal algorithms,
 * section 1.2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/prox/prox.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"

#define TOLERANCE 1e-9 /* of C:contains, in units of the largest entry when that is above 1 */

extern const pn_prox_ops pn_prox_box, pn_prox_indicator;

typedef struct indicator {
    pn_prox base;
    pn_set *set; /* owned */
} indicator;

static const pn_set *set_of(const pn_prox *prox)
{
    return ((const indicator *)prox)->set;
}

/* Takes over the reference to `set`, also on failure. */
static pn_status make(pn_prox **out, const pn_prox_ops *row, pn_set *set, pn_err *err)
{
    indicator *self = pn_alloc(1, sizeof *self);

    if (!self) {
        pn_set_free(set);
        return pn_fail(err, PN_ENOMEM, "prox.%s: out of memory", row->name);
    }
    pn_prox_init(&self->base, row, set->dim);
    self->set = set;
    *out = &self->base;
    return PN_OK;
}

static void indicator_destroy(pn_prox *self)
{
    pn_set_free(((indicator *)self)->set);
    pn_free(self);
}

static pn_status indicator_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    double tolerance = TOLERANCE * fmax(1.0, pn_lp_norm(PN_LINF, n, x));
    bool inside;
    pn_status status = pn_set_contains(set_of(prox), x, n, tolerance, &inside, err);

    if (status == PN_OK)
        *value = inside ? 0.0 : INFINITY;
    return status;
}

static pn_status indicator_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    (void)step;
    return pn_set_project(set_of(prox), x, n, err);
}

static void indicator_describe(const pn_prox *prox, char *text, size_t size)
{
    char set[200];

    pn_set_describe(set_of(prox), set, sizeof set);
    (void)snprintf(text, size, "indicator(%s)", set);
}

/* A box, the orthant and the cube stay products of intervals when scaled, reflected and shifted. */
static unsigned indicator_traits(const pn_prox *prox)
{
    static const char *const products[] = { "box", "linf_ball", "nonnegative", NULL };
    const pn_set *set = set_of(prox), *inner;
    const double *shift;
    double factor, radius;
    unsigned traits = set->ops->cone ? PN_PROX_HOMOGENEOUS : 0;

    inner = pn_set_unwrap(set, &factor, &shift);
    for (size_t i = 0; products[i]; i++) {
        if (strcmp(inner->ops->name, products[i]) == 0)
            traits |= PN_PROX_SEPARABLE | PN_PROX_INTERVALS;
    }
    if (pn_set_is(set, "l2_ball", &radius))
        traits |= PN_PROX_RADIAL | PN_PROX_BLOCKS;
    return traits;
}

/* ---- box ---- */

static const pn_param box_params[] = {
    { "lower", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the least value of each entry" },
    { "upper", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the largest value of each entry" },
    PN_PARAM_END,
};

static pn_status box_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    pn_arg copy[2] = { args[0], args[1] };
    pn_set *set;
    pn_status status = pn_set_from_args(&set, "box", copy, err);

    return status != PN_OK ? pn_fail_in(err, status, "prox.box") : make(out, &pn_prox_box, set, err);
}

const pn_prox_ops pn_prox_box = {
    .name = "box",
    .doc = "f(x) = 0 where lower <= x <= upper entry by entry, else infinite; clipping.",
    .source = "Parikh, Boyd (2014), Proximal algorithms, section 6.2.4",
    .params = box_params,
    .indicator = true,
    .create = box_create,
    .destroy = indicator_destroy,
    .value = indicator_value,
    .apply = indicator_apply,
    .describe = indicator_describe,
    .traits = indicator_traits,
};

/* ---- indicator ---- */

static const char *const set_class[] = { "pn.set", NULL };

static const pn_param indicator_params[] = {
    { "set", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, set_class, "the set, which must have a projection" },
    PN_PARAM_END,
};

pn_status pn_prox_of_set(pn_prox **out, pn_set *set, pn_err *err)
{
    *out = NULL;
    if (!pn_set_can_project(set))
        return pn_fail(err, PN_EUNSUPPORTED, "prox.indicator: %s has no projection", set->ops->name);
    return make(out, &pn_prox_indicator, pn_set_keep(set), err);
}

static pn_status indicator_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return pn_prox_of_set(out, (pn_set *)(size_t)args[0].object, err);
}

const pn_prox_ops pn_prox_indicator = {
    .name = "indicator",
    .doc = "f(x) = 0 in the set (to within 1e-9), else infinite; the projection, whatever the step.",
    .source = "Parikh, Boyd (2014), Proximal algorithms, section 1.2",
    .params = indicator_params,
    .indicator = true,
    .create = indicator_create,
    .destroy = indicator_destroy,
    .value = indicator_value,
    .apply = indicator_apply,
    .describe = indicator_describe,
    .traits = indicator_traits,
};
