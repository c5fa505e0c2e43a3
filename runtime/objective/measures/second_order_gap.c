/* second_order_gap.c -- how far a point is from being second-order stationary, from the exact data.
 * Depends on: second_order.h, objective.h, numeric/symmetric.h, random/rng.h.  Used by: bindings, tests. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/symmetric.h"
#include "objective/passes/second_order.h"
#include "random/rng.h"

#define STORED_UP_TO 2048              /* coordinates: a packed Hessian of 17 MB; beyond, products with it */
#define BASIS        ((size_t)1 << 26) /* numbers that the steps over products may keep */
#define RELATIVE     1e-9
#define FAILURE      1e-9

typedef struct measured {
    pn_objective *objective;
    const double *theta;
    pn_task *task;
} measured;

static pn_status times(void *self, const double *x, double *y, pn_err *err)
{
    const measured *at = self;

    return pn_objective_hessian_times(at->objective, NULL, at->theta, x, y, at->task, err);
}

static pn_status stored(pn_smallest *out, double *x, const measured *at, const double *start, pn_err *err)
{
    const pn_smallest_options options = { .relative = RELATIVE, .failure = FAILURE };
    size_t dim = pn_objective_dim(at->objective);
    double *packed;
    pn_status status;

    PN_TRY(pn_new(&packed, pn_packed_size(dim), err, "second_order_gap: out of memory"));
    status = pn_objective_quadratic(at->objective, NULL, at->theta, NULL, NULL, packed, at->task, err);
    if (status == PN_OK)
        status = pn_objective_add_regular_hessian(at->objective, at->theta, packed, err);
    if (status == PN_OK)
        status = pn_smallest_eigen(out, x, packed, dim, &options, start, at->task, err);
    pn_free(packed);
    return status;
}

static pn_status by_products(pn_smallest *out, double *x, measured *at, const double *start, pn_err *err)
{
    size_t dim = pn_objective_dim(at->objective);
    const pn_smallest_options options = { .relative = RELATIVE,
                                          .failure = FAILURE,
                                          .limit = BASIS / dim > 16 ? BASIS / dim : 16 };

    return pn_smallest_lanczos(out, x, dim, times, at, &options, start, at->task, err);
}

/* A start that does not depend on the data. */
static pn_status fill_start(double *start, size_t dim, pn_err *err)
{
    pn_rng *rng;
    pn_status status = pn_rng_seeded(&rng, dim, err);

    if (status == PN_OK) {
        pn_rng_many_normals(rng, dim, start);
        pn_rng_free(rng);
    }
    return status;
}

/* Products also come from losses whose slopes jump, as if they were flat there: those are refused as
 * pn_objective_quadratic would. */
static pn_status check_loss(pn_objective *objective, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(objective);
    const pn_loss_bounds *bounds = &pn_objective_bounds(objective)->loss;
    pn_hessian_bounds ignored;
    pn_status status;

    if (pn_objective_clip(objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "second_order_gap: clipped gradients are not those of the objective: make it without clip=");
    if (pn_loss_inputs(loss) > 1 && !(loss->ops->curve && bounds->smooth))
        return pn_fail(err, PN_EUNSUPPORTED, "second_order_gap: %s is not known to have second derivatives: %s",
                       loss->name, bounds->smooth ? "they have too many operations" : "its slope may jump");
    if (pn_loss_inputs(loss) > 1)
        return PN_OK;
    status = pn_objective_hessian_bounds(objective, &ignored, err);
    return status == PN_EPRIVACY ? PN_OK : status;
}

static pn_status not_finite(const char *what, pn_err *err)
{
    return pn_fail(err, PN_EDOMAIN,
                   "second_order_gap: the %s at theta is beyond the range of numbers: theta or the rows are too large",
                   what);
}

/* room[3 * dim]: scratch, and at 2 dim the direction. */
static pn_status measure(pn_second_order_gap *out, measured *at, double *room, pn_err *err)
{
    size_t dim = pn_objective_dim(at->objective);
    double *gradient = room, *start = room + dim, *x = room + 2 * dim;
    pn_smallest found = { 0 };
    pn_status status = check_loss(at->objective, err);

    if (status == PN_OK)
        status = pn_objective_evaluate(at->objective, at->theta, &out->value, gradient, at->task, err);

    if (status != PN_OK)
        return status;
    out->gradient_norm = pn_lp_norm(PN_L2, dim, gradient);
    if (!isfinite(out->value) || !isfinite(out->gradient_norm))
        return not_finite("objective", err);
    status = fill_start(start, dim, err);
    if (status == PN_OK && dim <= STORED_UP_TO && pn_loss_inputs(pn_objective_loss(at->objective)) == 1)
        status = stored(&found, x, at, start, err);
    else if (status == PN_OK)
        status = by_products(&found, x, at, start, err);
    if (status == PN_EDOMAIN || (status == PN_OK && !isfinite(found.value + found.error)))
        return not_finite("Hessian", err);
    out->eigenvalue = found.value;
    out->error = found.error;
    out->steps = found.steps;
    return status;
}

pn_status pn_second_order_gap_measure(pn_second_order_gap *out, pn_objective *objective, const double *theta,
                                      double *direction, pn_task *task, pn_err *err)
{
    measured at = { objective, theta, task };
    size_t dim = pn_objective_dim(objective);
    pn_second_order_gap gap = { 0 };
    double *room;
    pn_status status;

    room = pn_alloc(dim, 3 * sizeof *room);
    PN_TRY(pn_made(room, err, "second_order_gap: out of memory"));
    status = measure(&gap, &at, room, err);
    if (status == PN_OK) {
        *out = gap;
        if (direction)
            memcpy(direction, room + 2 * dim, dim * sizeof *direction);
    }
    pn_free(room);
    return status;
}
