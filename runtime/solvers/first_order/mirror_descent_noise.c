/* mirror_descent_noise.c -- noise on gradients that a caller asks for, without privacy: its covariance, and samples of
 * the caller's own.
 * Depends on: mirror_descent.h, lapack.h.  Used by: mirror_descent_plan.c. */
#include <math.h>

#include "core/alloc.h"
#include "numeric/lapack.h"
#include "solvers/first_order/mirror_descent.h"

static pn_status check_covariance(const md_plan *plan, pn_mat given, pn_err *err)
{
    size_t p = pn_objective_dim(plan->base.objective);

    if (plan->base.request.kind != PN_NONPRIVATE)
        return pn_fail(err, PN_EINVAL, "noise= gives no guarantee; give privacy=false with it, or leave it out");
    if ((given.rows == 1 && (given.cols == 1 || given.cols == p)) || (given.rows == p && given.cols == p))
        return PN_OK;
    return pn_fail(err, PN_EDIM, "covariance is %zu x %zu; it must be one number, a row of %zu variances, or %zu x %zu",
                   given.rows, given.cols, p, p, p);
}

/* root[i] = sqrt of a variance; *largest = sqrt(lambda_max). */
static pn_status root_of_variances(double *root, const double *variance, size_t count, double *largest, pn_err *err)
{
    *largest = 0.0;
    for (size_t j = 0; j < count; j++) {
        if (!(variance[j] >= 0.0))
            return pn_fail(err, PN_EINVAL, "a variance must be >= 0, got %g at entry %zu", variance[j], j + 1);
        root[j] = sqrt(variance[j]);
        *largest = fmax(*largest, root[j]);
    }
    return PN_OK;
}

static pn_status root_of_matrix(double *root, pn_mat A, double *largest, pn_err *err)
{
    double norm, off;

    PN_TRY(pn_psd_root(root, A, &norm, &off, err));
    if (off > 1e-9 * norm)
        return pn_fail(err, PN_EINVAL, "covariance must be symmetric and positive semidefinite; it is off by %g", off);
    *largest = sqrt(norm);
    return PN_OK;
}

pn_status md_read_noise(md_plan *plan, const pn_arg *own, double *largest, pn_err *err)
{
    const pn_arg *given = &own[MD_COVARIANCE];
    pn_mat A = given->matrix;
    pn_status status;

    if (own[MD_ORACLE].given && !given->given)
        return pn_fail(err, PN_EINVAL,
                       "an oracle needs noise.covariance beside it: the covariance of its samples, or one "
                       "number above its largest eigenvalue");
    if (own[MD_ORACLE].given)
        plan->oracle = *(const pn_gradient_oracle *)own[MD_ORACLE].object;
    if (own[MD_ORACLE].given && plan->noise.scheme)
        return pn_fail(err, PN_EINVAL, "batch= draws records, which noise.oracle does not ask; leave one of them out");
    if (!given->given)
        return PN_OK;
    if ((status = check_covariance(plan, A, err)) != PN_OK)
        return status;
    plan->root_count = A.rows * A.cols;
    plan->root = pn_alloc(plan->root_count, sizeof(double));
    plan->base.draws = true;
    PN_TRY(pn_made(plan->root, err, "out of memory"));
    return A.rows == 1 ? root_of_variances(plan->root, A.data, A.cols, largest, err)
                       : root_of_matrix(plan->root, A, largest, err);
}
