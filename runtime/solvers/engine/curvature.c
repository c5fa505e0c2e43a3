/* curvature.c -- see curvature.h.  Depends on: curvature.h, numeric/symmetric.h.  Used by: run.c, model_read.c. */
#include <string.h>

#include "core/alloc.h"
#include "numeric/symmetric.h"
#include "solvers/engine/curvature.h"

static pn_status add_regular(pn_curvature *self, const pn_objective *objective, const double *theta, pn_err *err)
{
    const pn_regulariser *reg = objective ? pn_objective_regulariser(objective) : NULL;
    double *ones;
    pn_status status;

    if (!reg)
        return PN_OK;
    PN_TRY(pn_new(&ones, self->p, err, "solver: out of memory for %zu numbers", self->p));
    for (size_t j = 0; j < self->p; j++)
        ones[j] = 1.0;
    status = reg->ops->evaluate(reg, self->p, theta, NULL, self->slope, err);
    if (status == PN_OK)
        status = reg->ops->curve(reg, self->p, theta, ones, self->diagonal, err);
    pn_free(ones);
    return status;
}

static void copy(double *to, const double *from, size_t count)
{
    if (from)
        memcpy(to, from, count * sizeof *to);
}

pn_status pn_curvature_new(pn_curvature **out, const pn_curvature *like, const pn_objective *objective,
                           const double *theta, pn_err *err)
{
    size_t p = like->p, packed = pn_packed_size(p);
    pn_curvature *self = pn_calloc(1, sizeof *self);
    pn_status status = PN_OK;

    PN_TRY(pn_made(self, err, "solver: out of memory"));
    *self = *like;
    self->packed = pn_calloc(packed + 3 * p, sizeof(double));
    if (!self->packed) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "solver: out of memory for a Hessian of order %zu", p);
    }
    self->diagonal = self->packed + packed;
    self->slope = self->diagonal + p;
    self->pull = self->slope + p;
    copy(self->packed, like->packed, packed);
    copy(self->pull, like->pull, p);
    if (objective) {
        self->clip = pn_objective_clip(objective);
        status = add_regular(self, objective, theta, err);
    } else {
        copy(self->diagonal, like->diagonal, p);
        copy(self->slope, like->slope, p);
    }
    if (status != PN_OK) {
        pn_curvature_free(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

void pn_curvature_free(pn_curvature *self)
{
    if (!self)
        return;
    pn_free(self->packed);
    pn_free(self);
}
