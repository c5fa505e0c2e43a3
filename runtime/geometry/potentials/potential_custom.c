/* potential_custom.c -- a potential given by functions.  Steps are numeric,
 * except over all of space where the inverse gradient is known.
 * Depends on: custom_potential.h.  Used by: bindings, hosts. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/potentials/custom_potential.h"
#include "geometry/potentials/potential_parts.h"

typedef struct custom {
    pn_potential base;
    pn_potential_ops ops; /* base.ops points here */
    pn_custom_potential parts;
} custom;

static const pn_custom_potential *parts_of(const pn_potential *self)
{
    return &((const custom *)self)->parts;
}

static void custom_destroy(pn_potential *self)
{
    const pn_custom_potential *parts = parts_of(self);

    if (parts->destroy)
        parts->destroy(parts->self);
    pn_free(self);
}

static pn_status custom_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    pn_status status = parts_of(self)->value(parts_of(self)->self, x, n, value, err);

    if (status == PN_OK && isnan(*value))
        *value = INFINITY;
    if (status == PN_OK && *value == -INFINITY)
        return pn_fail(err, PN_EDOMAIN, "potential.custom: value must not be -inf");
    return status;
}

static pn_status custom_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    double value = INFINITY;
    pn_status status;

    PN_TRY(custom_value(self, x, n, &value, err));
    if (!isfinite(value))
        return pn_fail(err, PN_EDOMAIN, "potential.custom: there is no gradient where the value is not finite");
    status = parts_of(self)->gradient(parts_of(self)->self, x, n, out, err);
    return status == PN_OK ? pn_potential_finite("custom", out, n, err) : status;
}

static pn_status custom_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    pn_status status = parts_of(self)->inverse_gradient(parts_of(self)->self, u, n, out, err);

    return status == PN_OK ? pn_potential_finite("custom", out, n, err) : status;
}

static pn_status custom_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    return self->ops->inverse_gradient && pn_set_is_free(set) ? custom_inverse(self, c, set->dim, x, err)
                                                              : PN_EUNSUPPORTED;
}

pn_status pn_potential_custom(pn_potential **out, const pn_custom_potential *parts, pn_err *err)
{
    pn_status status = pn_size_check("potential.custom", "dim", parts->dim, err);
    custom *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    if (!(parts->strong_convexity > 0.0) || !isfinite(parts->strong_convexity))
        return pn_fail(err, PN_EINVAL, "potential.custom: strong_convexity must be a positive number, got %g",
                       parts->strong_convexity);
    if (!(parts->range >= 0.0) || !isfinite(parts->range))
        return pn_fail(err, PN_EINVAL, "potential.custom: range must be a positive number, or 0 for none, got %g",
                       parts->range);
    PN_TRY(pn_new_zeroed(&self, 1, err, "potential.custom: out of memory"));
    self->parts = *parts;
    self->ops = (pn_potential_ops){
        .name = "custom",
        .doc = "Given by functions.",
        .destroy = custom_destroy,
        .value = custom_value,
        .gradient = custom_gradient,
        .inverse_gradient = parts->inverse_gradient ? custom_inverse : NULL,
        .step = custom_step,
    };
    pn_potential_init(&self->base, &self->ops, parts->dim, parts->strong_convexity, pn_norm_keep(parts->norm));
    self->base.declared_range = parts->range;
    *out = &self->base;
    return PN_OK;
}
