/* model_matrices.c -- second moments and second derivatives in a Model, which may be damaged: checked, and copied into
 * a fit.  Depends on: model_file.h, the code generated from model.proto, core, numeric/symmetric.h.
 * Used by: model_read.c. */
#include <math.h>

#include "core/view.h"
#include "model/model_file.h"
#include "model/model.pb-c.h"
#include "numeric/symmetric.h"

static pn_status refuse(const char *path, const char *what, pn_err *err)
{
    return pn_fail(err, PN_EPARSE, "model: %.300s: %s", path, what);
}

static bool all_finite(const double *x, size_t count)
{
    return pn_first_nonfinite(x, count) == count;
}

static pn_status check_moments(const Penumbra__Model *m, const char *path, pn_err *err)
{
    const Penumbra__Moments *of = m->moments;
    bool fine;

    if (!of)
        return PN_OK;
    if (!m->privacy && !m->raw)
        return refuse(path, "it holds values of the records, and says that it does not", err);
    fine = of->row > 0.0 && of->label > 0.0 && of->tau > 0.0 && of->kappa >= 0.0 && of->deviation >= 0.0 &&
           of->damping >= 0.0 &&
           isfinite(of->row * of->label * of->tau * of->kappa * of->deviation * of->damping * of->middle) &&
           m->records > 0 && m->margins == 1 && m->extra == 0 && of->n_packed > 0 &&
           of->n_packed == pn_packed_size(m->n_theta + 1);
    fine = fine && all_finite(of->packed, of->n_packed);
    return fine ? PN_OK : refuse(path, "its second moments make no sense", err);
}

static pn_status check_curvature(const Penumbra__Model *m, const char *path, pn_err *err)
{
    const Penumbra__Curvature *of = m->curvature;
    size_t p = m->n_theta;

    if (!of)
        return PN_OK;
    if (!m->privacy)
        return refuse(path, "it holds values of the records, and says that it does not", err);
    if (of->deviation > 0.0 && of->gradient > 0.0 && of->damping >= 0.0 && of->clip >= 0.0 &&
        isfinite(of->deviation * of->gradient * of->damping * of->clip) && m->records > 0 && of->n_packed > 0 &&
        of->n_packed == pn_packed_size(p) && of->n_diagonal == p && of->n_slope == p && of->n_pull == p &&
        all_finite(of->packed, of->n_packed) && all_finite(of->diagonal, p) && all_finite(of->slope, p) &&
        all_finite(of->pull, p))
        return PN_OK;
    return refuse(path, "its second derivatives make no sense", err);
}

pn_status pn_model_check_matrices(const Penumbra__Model *m, const char *path, pn_err *err)
{
    PN_TRY(check_moments(m, path, err));
    return check_curvature(m, path, err);
}

static pn_status read_moments(pn_fit *fit, const Penumbra__Model *m, pn_err *err)
{
    const Penumbra__Moments *of = m->moments;
    pn_least_squares like = { .p = fit->p, .n = (size_t)m->records };

    if (!of)
        return PN_OK;
    like.constant = of->kappa > 0.0;
    like.row = of->row;
    like.label = of->label;
    like.middle = of->middle;
    like.tau = of->tau;
    like.kappa = of->kappa;
    like.deviation = of->deviation;
    like.damping = of->damping;
    return pn_least_squares_new(&fit->moments, &like, of->packed, err);
}

static pn_status read_curvature(pn_fit *fit, const Penumbra__Model *m, pn_err *err)
{
    const Penumbra__Curvature *of = m->curvature;
    pn_curvature like = { .p = fit->p };

    if (!of)
        return PN_OK;
    like.packed = of->packed;
    like.diagonal = of->diagonal;
    like.slope = of->slope;
    like.pull = of->pull;
    like.deviation = of->deviation;
    like.frobenius = of->frobenius;
    like.gradient = of->gradient;
    like.damping = of->damping;
    like.clip = of->clip;
    return pn_curvature_new(&fit->curvature, &like, NULL, NULL, err);
}

pn_status pn_model_read_matrices(pn_fit *fit, const Penumbra__Model *m, pn_err *err)
{
    PN_TRY(read_moments(fit, m, err));
    return read_curvature(fit, m, err);
}
