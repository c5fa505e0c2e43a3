/* composite.c -- see composite.h.  Depends on: composite.h, geometry.  Used by: first_order.c, solvers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "minimise/composite.h"

const char *const pn_prox_class[] = { "pn.prox", NULL };

/* Put `more` behind what is there; takes over the reference, also on failure. */
static pn_status add(pn_prox **sum, pn_prox *more, pn_err *err)
{
    pn_prox *both = NULL;
    pn_status status = PN_OK;

    if (*sum)
        status = pn_prox_sum(&both, *sum, more, err);
    else
        both = pn_prox_keep(more);
    pn_prox_free(more);
    if (status != PN_OK)
        return status;
    pn_prox_free(*sum);
    *sum = both;
    return PN_OK;
}

static pn_status add_regulariser(pn_composite *out, const char *owner, const pn_objective *objective, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(objective);
    const pn_bounds *bounds = pn_objective_bounds(objective);
    pn_prox *prox = NULL;
    pn_status status;

    if (!reg)
        return PN_OK;
    out->strong_convexity = fmax(bounds->reg.strong_convexity, 0.0);
    if (reg->row->prox) {
        status = pn_regulariser_prox(reg, &prox, err);
        return status != PN_OK || !prox ? status : add(&out->prox, prox, err);
    }
    if (!isfinite(bounds->reg.smoothness))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "%s: the regulariser %s has kinks and no proximal operator; use l1, group, nuclear or elastic_net, or give "
            "it as prox=pn.prox.custom{...}",
            owner, reg->row->name);
    out->smooth = reg;
    out->smoothness = bounds->reg.smoothness;
    return PN_OK;
}

static pn_status add_option(pn_composite *out, const char *owner, size_t p, const pn_arg *given, pn_err *err)
{
    pn_prox *prox;

    if (!given || !given->given)
        return PN_OK;
    prox = (pn_prox *)(size_t)given->object;
    if (prox->dim != 0 && prox->dim != p)
        return pn_fail(err, PN_EDIM, "%s: prox has dimension %zu, the model %zu", owner, prox->dim, p);
    out->extra = pn_prox_keep(prox);
    return add(&out->prox, pn_prox_keep(prox), err);
}

/* Last, so that what comes out of a sum lies in the set. */
static pn_status add_set(pn_composite *out, const char *owner, const pn_objective *objective, pn_err *err)
{
    pn_set *set = pn_objective_set(objective);
    pn_prox *prox = NULL;
    pn_arg args[] = { { .given = true, .object = set }, { 0 } };
    pn_status status;

    out->set = set;
    if (!set || strcmp(set->ops->name, "free") == 0)
        return PN_OK;
    if (!pn_set_can_project(set))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: %s has no projection; use frank_wolfe_convex, or give project= to a custom set", owner,
                       set->ops->name);
    status = pn_prox_from_args(&prox, "indicator", args, err);
    return status == PN_OK ? add(&out->prox, prox, err) : status;
}

pn_status pn_composite_open(pn_composite *out, const char *owner, const pn_objective *objective, const pn_arg *prox,
                            pn_err *err)
{
    pn_status status;

    *out = (pn_composite){ 0 };
    status = add_regulariser(out, owner, objective, err);
    if (status == PN_OK)
        status = add_option(out, owner, pn_objective_dim(objective), prox, err);
    if (status == PN_OK)
        status = add_set(out, owner, objective, err);
    return status;
}

void pn_composite_clear(pn_composite *composite)
{
    pn_prox_free(composite->prox);
    pn_prox_free(composite->extra);
    *composite = (pn_composite){ 0 };
}

pn_status pn_composite_step(const pn_composite *composite, double *x, size_t p, double eta, pn_err *err)
{
    return composite->prox ? pn_prox_apply(composite->prox, x, p, eta, err) : PN_OK;
}

pn_status pn_composite_gradient(const pn_composite *composite, const double *x, size_t p, double *gradient, pn_err *err)
{
    const pn_regulariser *reg = composite->smooth;

    return reg ? reg->ops->evaluate(reg, p, x, NULL, gradient, err) : PN_OK;
}

void pn_composite_describe(const pn_composite *composite, char *text, size_t size)
{
    char prox[200] = "";

    if (composite->prox)
        pn_prox_describe(composite->prox, prox, sizeof prox);
    (void)snprintf(text, size, "%s%s%s%s", prox, prox[0] && composite->smooth ? "; " : "",
                   composite->smooth ? "gradient of " : "", composite->smooth ? composite->smooth->row->name : "");
}
