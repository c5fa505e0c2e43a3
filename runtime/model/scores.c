/* scores.c -- a data set of what a model says of records.
 * Depends on: scores.h, model_use.h, data/build.h, core.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "model/model_use.h"
#include "model/scores.h"
#include "penumbra/objective.h"

const char *const pn_scores_names[] = { "bins", "right", "confusion", "error", NULL };

/* ---- checking: nothing here looks at a record ---- */

static bool says(pn_scores_kind kind, pn_model_link link)
{
    bool two = link == PN_LINK_LOGISTIC || link == PN_LINK_SIGN;

    switch (kind) {
    case PN_SCORES_BINS:
        return link == PN_LINK_LOGISTIC;
    case PN_SCORES_RIGHT:
        return two || link == PN_LINK_SOFTMAX;
    case PN_SCORES_CONFUSION:
        return link == PN_LINK_SOFTMAX;
    case PN_SCORES_ERROR:
        return link == PN_LINK_IDENTITY || link == PN_LINK_EXP;
    }
    return false;
}

static pn_status check_fit(const pn_model_about *about, size_t dim, const pn_dataset *data, pn_err *err)
{
    size_t margins = about->margins > 0 ? about->margins : 1, p = (dim - about->extra) / margins;

    if (data->p != p)
        return pn_fail(err, PN_EDIM, "evaluate: the records have %zu features, the model has %zu", data->p, p);
    if (about->recipe && (!data->recipe || strcmp(data->recipe, about->recipe) != 0))
        return pn_fail(err, PN_EINVAL,
                       "evaluate: the data set is not of the model's recipe; make it by fit.recipe:data(path), or give "
                       "the path");
    return PN_OK;
}

static pn_status check(const pn_model_about *about, size_t dim, const pn_dataset *data, const pn_scores *ask,
                       pn_err *err)
{
    pn_model_link link = pn_model_link_of(about->loss, about->margins);

    if (!says(ask->kind, link))
        return pn_fail(err, PN_EUNSUPPORTED, "evaluate: the loss %.40s has no figure of the kind '%s'", about->loss,
                       pn_scores_names[ask->kind]);
    if (ask->kind == PN_SCORES_BINS && (ask->bins < 2 || ask->bins > (size_t)1 << 20))
        return pn_fail(err, PN_EINVAL, "evaluate: bins must be from 2 to 2^20, got %zu", ask->bins);
    if (ask->kind == PN_SCORES_ERROR && !(ask->range >= 1e-100 && ask->range <= 1e100))
        return pn_fail(err, PN_EINVAL, "evaluate: range must be a number from 1e-100 to 1e100, got %g", ask->range);
    PN_TRY(pn_dataset_need_records(data, "evaluate", err));
    return check_fit(about, dim, data, err);
}

/* ---- one record ---- */

static double bin_of(double z, size_t bins)
{
    double p = 1.0 / (1.0 + exp(-z)), bin = floor(p * (double)bins);

    return fmin(fmax(bin, 0.0), (double)bins - 1.0); /* fmax: a NaN counts in the first */
}

static size_t best_of(const double *z, size_t classes)
{
    size_t best = 0;

    for (size_t k = 1; k < classes; k++)
        best = z[k] > z[best] ? k : best;
    return best;
}

/* Of a label that is no class: the nearest. */
static size_t class_of(double y, size_t classes)
{
    double k = fmin(fmax(floor(y + 0.5), 1.0), (double)classes);

    return (size_t)k - 1;
}

static void score_one(const pn_scores *ask, pn_model_link link, const double *z, size_t margins, double y, double *out)
{
    double error;

    switch (ask->kind) {
    case PN_SCORES_BINS:
        out[0] = bin_of(z[0], ask->bins) + (y > 0.0 ? (double)ask->bins : 0.0);
        break;
    case PN_SCORES_RIGHT:
        out[0] = link == PN_LINK_SOFTMAX ? best_of(z, margins) == class_of(y, margins) : (z[0] > 0.0) == (y > 0.0);
        break;
    case PN_SCORES_CONFUSION:
        out[0] = (double)(class_of(y, margins) * margins + best_of(z, margins));
        break;
    case PN_SCORES_ERROR:
        error = ((link == PN_LINK_EXP ? exp(z[0]) : z[0]) - y) / ask->range;
        out[0] = error * error < 1.0 ? error * error : 1.0; /* what is no number counts as the worst */
        out[1] = out[0] * out[0];
        break;
    }
}

/* ---- all of them ---- */

/* z[margins][n]: the margins, one class after the other. */
static pn_status margins_of(double *z, size_t margins, const double *theta, const pn_dataset *data, pn_task *task,
                            pn_err *err)
{
    for (size_t k = 0; k < margins; k++)
        PN_TRY(pn_dataset_predict(data, theta + k * data->p, data->p, z + k * data->n, task, err));
    return PN_OK;
}

static pn_status score_all(pn_dataset *made, const pn_model_about *about, const double *theta, const pn_dataset *data,
                           const pn_scores *ask, pn_task *task, pn_err *err)
{
    pn_model_link link = pn_model_link_of(about->loss, about->margins);
    size_t margins = about->margins > 0 ? about->margins : 1;
    double *z, *one = NULL;
    pn_status status;

    PN_TRY(pn_new(&z, margins * data->n, err, "evaluate: out of memory for %zu predictions", data->n));
    status = pn_new(&one, margins, err, "evaluate: out of memory");
    if (status == PN_OK)
        status = margins_of(z, margins, theta, data, task, err);
    for (size_t i = 0; i < data->n && status == PN_OK; i++) {
        for (size_t k = 0; k < margins; k++)
            one[k] = z[k * data->n + i];
        score_one(ask, link, one, margins, data->y[i], made->dense + i * made->p);
        made->y[i] = 0.0;
    }
    pn_free(one);
    pn_free(z);
    return status;
}

pn_status pn_model_scores(pn_dataset **out, const pn_model_about *about, const double *theta, size_t dim,
                          const pn_dataset *data, const pn_scores *ask, pn_task *task, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status;

    PN_TRY(check(about, dim, data, ask, err));
    PN_TRY(pn_dataset_shell(&made, data->n, ask->kind == PN_SCORES_ERROR ? 2 : 1, data->name, err));
    made->dense = pn_dataset_alloc_rows(made->n, made->p);
    if (data->origin)
        made->origin = pn_origin_keep(data->origin);
    status = made->dense ? score_all(made, about, theta, data, ask, task, err)
                         : pn_fail(err, PN_ENOMEM, "evaluate: out of memory for %zu records", data->n);
    return pn_dataset_deliver(out, made, status);
}
