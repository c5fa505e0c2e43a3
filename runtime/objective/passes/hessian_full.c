/* hessian_full.c -- the Hessian of the mean loss with both triangles, for solvers that factor it.
 * Depends on: hessian_impl.h, second_order.h, numeric/symmetric.h.  Used by: objective.h's callers. */
#include "core/alloc.h"
#include "numeric/symmetric.h"
#include "objective/passes/hessian_impl.h"
#include "objective/passes/second_order.h"

#define FULL_MAX 4096

pn_status pn_objective_hessian(pn_objective *objective, const double *theta, double *out, pn_task *task, pn_err *err)
{
    size_t p = objective->data->p;
    pn_status status = pn_need_hessian(objective, err);
    double *packed;

    if (status == PN_OK && objective->loss->margins > 1)
        status =
            pn_fail(err, PN_EUNSUPPORTED, "objective: a full Hessian is formed for losses of one margin, not for %s",
                    objective->loss->name);
    if (status == PN_OK && objective->dim > FULL_MAX)
        status = pn_fail(err, PN_EUNSUPPORTED,
                         "objective: a full Hessian is formed for at most %d parameters, theta has %zu", FULL_MAX,
                         objective->dim);
    if (status != PN_OK)
        return status;
    packed = pn_alloc(pn_hessian_size(p), sizeof(double));
    status = packed ? pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, task, err)
                    : pn_fail(err, PN_ENOMEM, "objective: out of memory for a Hessian of order %zu", p);
    if (status == PN_OK)
        pn_packed_unpack(packed, p, out);
    pn_free(packed);
    return status;
}
