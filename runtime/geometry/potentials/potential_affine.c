/* potential_affine.c -- factor^2 Psi((x - shift) / factor) for any potential Psi: what serves factor C + shift as Psi
 * serves C.  The constant and the norm stay: D(x, y) = factor^2 D_Psi(x', y') >= constant ||factor (x' - y')||^2 / 2.
 * Depends on: potential.h.  Used by: potential.h's affine, rows with a `center`, potential_for_set.c. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/potentials/potential_parts.h"

typedef struct affine {
    pn_potential base;
    pn_potential_ops ops; /* base.ops points here: it offers what the inner one offers */
    pn_potential *inner;  /* kept */
    double factor;
    double *shift; /* [dim], or NULL */
} affine;

static const affine *as_affine(const pn_potential *self)
{
    return (const affine *)self;
}

static void affine_destroy(pn_potential *self)
{
    affine *of = (affine *)self;

    pn_potential_free(of->inner);
    pn_free(of->shift);
    pn_free(of);
}

/* out <- (x - shift) / factor */
static void map_back(const affine *of, const double *x, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (x[j] - (of->shift ? of->shift[j] : 0.0)) / of->factor;
}

static void map_forward(const affine *of, size_t n, double *x)
{
    for (size_t j = 0; j < n; j++)
        x[j] = of->factor * x[j] + (of->shift ? of->shift[j] : 0.0);
}

static void multiply(double factor, const double *x, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = factor * x[j];
}

static pn_status affine_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const affine *of = as_affine(self);
    double *back;
    pn_status status;

    PN_TRY(pn_new(&back, n, err, "P:value: out of memory"));
    map_back(of, x, n, back);
    status = of->inner->ops->value(of->inner, back, n, value, err);
    if (status == PN_OK)
        *value *= of->factor * of->factor;
    pn_free(back);
    return status;
}

/* Next to a shift, what is small drowns in rounding.  Where Psi ends at 0 such an entry counts as half of what is lost,
 * so that a later step can bring it back. */
static void lift_lost_entries(const affine *of, size_t n, double *x)
{
    for (size_t j = 0; of->shift && j < n; j++) {
        double lost = 2.0 * DBL_EPSILON * fabs(of->shift[j] / of->factor);

        if (fabs(x[j]) <= lost)
            x[j] = 0.5 * lost;
    }
}

static pn_status affine_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const affine *of = as_affine(self);
    pn_status status;

    map_back(of, x, n, out);
    status = of->inner->ops->gradient(of->inner, out, n, out, err);
    if (status == PN_EDOMAIN && of->shift && out != x) {
        map_back(of, x, n, out);
        lift_lost_entries(of, n, out);
        status = of->inner->ops->gradient(of->inner, out, n, out, err);
    }
    if (status == PN_OK && of->factor != 1.0)
        multiply(of->factor, out, n, out);
    return status;
}

static pn_status affine_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    const affine *of = as_affine(self);
    pn_status status;

    multiply(1.0 / of->factor, u, n, out);
    status = of->inner->ops->inverse_gradient(of->inner, out, n, out, err);
    if (status == PN_OK)
        map_forward(of, n, out);
    return status;
}

/* (C - shift) / factor; drop the reference. */
static pn_status moved_set(const affine *of, const pn_set *set, pn_set **out, pn_err *err)
{
    double inner_factor, *back;
    const double *shift;
    pn_set *inner = (pn_set *)pn_set_unwrap(set, &inner_factor, &shift), *at_origin = NULL;
    bool same_shift = of->shift && shift && memcmp(of->shift, shift, set->dim * sizeof *shift) == 0;
    pn_status status = PN_OK;

    *out = NULL;
    if (same_shift || (!of->shift && !shift)) {
        if (inner_factor == of->factor) {
            *out = pn_set_keep(inner);
            return PN_OK;
        }
        return pn_set_scale(out, inner, inner_factor / of->factor, err);
    }
    PN_TRY(pn_new(&back, set->dim, err, "mirror step: out of memory"));
    for (size_t j = 0; j < set->dim; j++)
        back[j] = of->shift ? -of->shift[j] : 0.0;
    status = pn_set_shift(&at_origin, (pn_set *)set, back, set->dim, err);
    pn_free(back);
    if (status != PN_OK)
        return status;
    if (of->factor == 1.0) {
        *out = at_origin;
        return PN_OK;
    }
    status = pn_set_scale(out, at_origin, 1.0 / of->factor, err);
    pn_set_free(at_origin);
    return status;
}

/* argmin factor^2 Psi(y) - <c, factor y + shift> = argmin Psi(y) - <c / factor, y> */
static pn_status affine_step(const pn_potential *self, const pn_set *set, const double *c, double *x,
                             pn_step_limit *limit, pn_err *err)
{
    const affine *of = as_affine(self);
    double square = of->factor * of->factor;
    pn_step_limit own = { 0 };
    pn_set *moved;
    pn_status status;

    PN_TRY(moved_set(of, set, &moved, err));
    multiply(1.0 / of->factor, c, set->dim, x);
    if (limit)
        own = (pn_step_limit){ .gap = limit->gap / square, .warm = limit->warm };
    status = pn_potential_step_within(of->inner, moved, x, x, limit ? &own : NULL, err);
    if (status == PN_OK)
        map_forward(of, set->dim, x);
    if (limit)
        *limit = (pn_step_limit){
            .gap = limit->gap, .warm = limit->warm, .rounds = own.rounds, .reached = square * own.reached
        };
    pn_set_free(moved);
    return status;
}

static pn_status affine_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    const affine *of = as_affine(self);
    pn_set *moved;
    pn_status status;

    PN_TRY(moved_set(of, set, &moved, err));
    status = pn_potential_range(of->inner, moved, range, err);
    if (status == PN_OK)
        *range = pn_potential_up(of->factor * of->factor * *range);
    pn_set_free(moved);
    return status;
}

/* phi(c) = <c, shift> + factor^2 phi_inner(c / factor) */
static pn_status affine_trace(const pn_potential *self, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    const affine *of = as_affine(self);
    pn_set *moved;
    pn_status status;

    PN_TRY(moved_set(of, set, &moved, err));
    status = pn_potential_trace_through(of->inner, moved, A, trace, err);
    pn_set_free(moved);
    return status;
}

static void affine_describe(const pn_potential *self, char *text, size_t size)
{
    const affine *of = as_affine(self);
    char inner[256];

    pn_potential_describe(of->inner, inner, sizeof inner);
    if (of->factor == 1.0)
        (void)snprintf(text, size, "%s shifted", inner);
    else
        (void)snprintf(text, size, "%s scaled by %.10g%s", inner, of->factor, of->shift ? " and shifted" : "");
}

static void fill_ops(affine *of)
{
    const pn_potential_ops *inner = of->inner->ops;

    of->ops = (pn_potential_ops){
        .name = inner->name,
        .doc = inner->doc,
        .source = inner->source,
        .destroy = affine_destroy,
        .value = affine_value,
        .gradient = affine_gradient,
        .inverse_gradient = inner->inverse_gradient ? affine_inverse : NULL,
        .step_within = affine_step,
        .range = affine_range,
        .trace_through = affine_trace,
        .describe = affine_describe,
    };
}

pn_status pn_potential_affine(pn_potential **out, pn_potential *potential, double factor, const double *shift, size_t n,
                              pn_err *err)
{
    affine *of;
    size_t dim = shift ? n : potential->dim;

    *out = NULL;
    if (potential->theta_dim)
        return pn_fail(err, PN_EUNSUPPORTED, "a lifted potential belongs to its set and cannot be moved");
    if (factor == 0.0 || !isfinite(factor))
        return pn_fail(err, PN_EINVAL, "a potential can be scaled by a finite factor other than 0, got %g", factor);
    if (shift && (n == 0 || (potential->dim != 0 && n != potential->dim)))
        return pn_fail(err, PN_EDIM, "the shift has %zu entries, the potential has %zu", n, potential->dim);
    PN_TRY(pn_new_zeroed(&of, 1, err, "potential: out of memory"));
    if (shift) {
        of->shift = pn_alloc(n, sizeof *shift);
        if (!of->shift) {
            pn_free(of);
            return pn_fail(err, PN_ENOMEM, "potential: out of memory");
        }
        memcpy(of->shift, shift, n * sizeof *shift);
    }
    pn_potential_init(&of->base, &of->ops, dim, potential->strong_convexity, pn_norm_keep(potential->norm));
    of->inner = pn_potential_keep(potential);
    of->base.declared_range = factor * factor * potential->declared_range;
    of->base.keeps_sums = potential->keeps_sums;
    of->factor = factor;
    fill_ops(of);
    *out = &of->base;
    return PN_OK;
}

pn_status pn_potential_center_at(pn_potential **out, pn_potential *potential, const char *owner, const pn_arg *center,
                                 pn_err *err)
{
    pn_status status;

    *out = NULL;
    if (!center->given) {
        *out = potential;
        return PN_OK;
    }
    if (potential->dim != 0 && center->vector.n != potential->dim)
        status =
            pn_fail(err, PN_EDIM, "%s: center has %zu entries, dim is %zu", owner, center->vector.n, potential->dim);
    else
        status = pn_potential_affine(out, potential, 1.0, center->vector.data, center->vector.n, err);
    pn_potential_free(potential); /* the shifted one keeps it */
    return status;
}
