/* score.c -- how good a model is on held-out records, as whole units that are added up, with lattice noise.
 * Depends on: score.h, objective_impl.h, privacy/accounting/calibrate.h, privacy/mechanism/mechanism.h.
 * Used by: bindings (pn.tune). */
#include <math.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "objective/passes/objective_impl.h"
#include "objective/passes/score.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/mechanism.h"

#define UNITS        0x1p24 /* of a range: sums of fewer than 2^28 records are exact in doubles */
#define MOST_RECORDS ((size_t)1 << 28)

const char *const pn_score_names[] = { "accuracy", "log_loss", "rmse", NULL };

/* ---- checking: nothing here looks at a record ---- */

static pn_status check_loss(const pn_objective *objective, const pn_score *score, pn_err *err)
{
    const pn_loss *loss = objective->loss;
    const char *name = pn_score_names[score->kind];
    bool one = loss->margins == 1 && pn_loss_inputs(loss) == 1;
    bool classes = score->kind == PN_SCORE_ACCURACY && loss->labels.kind == PN_LABELS_CLASSES;

    if (!one && !classes)
        return pn_fail(err, PN_EUNSUPPORTED, "score %s: the %s loss has no single margin to compare with a label", name,
                       loss->name);
    if (score->kind != PN_SCORE_RMSE && one && !objective->data->bounds.labels_binary)
        return pn_fail(err, PN_EUNSUPPORTED, "score %s: needs labels -1 and 1; take \"rmse\" for others", name);
    return PN_OK;
}

pn_status pn_score_check(const pn_objective *objective, const pn_score *score, pn_err *err)
{
    const char *name = pn_score_names[score->kind];

    if (!(score->mu > 0.0 && isfinite(score->mu)))
        return pn_fail(err, PN_EINVAL, "score %s: mu must be a positive number, got %g", name, score->mu);
    if (score->kind != PN_SCORE_ACCURACY && !(score->range >= 1e-100 && score->range <= 1e100))
        return pn_fail(err, PN_EINVAL, "score %s: range must be a number from 1e-100 to 1e100, got %g", name,
                       score->range);
    if (score->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EPRIVACY,
                       "score %s: neighbours=\"add_remove\" makes the number of records secret, by which the score is "
                       "divided; use \"replace_one\" or \"zero_out\"",
                       name);
    if (objective->data->n >= MOST_RECORDS)
        return pn_fail(err, PN_EUNSUPPORTED, "score %s: takes fewer than 2^28 records, got %zu", name,
                       objective->data->n);
    PN_TRY(pn_dataset_need_records(objective->data, "score", err));
    return check_loss(objective, score, err);
}

/* ---- the sum ---- */

/* ln(1 + e^-m) */
static double logistic(double margin)
{
    return margin > 0.0 ? log1p(exp(-margin)) : -margin + log1p(exp(margin));
}

/* Of one record, in units; what is no number counts as the worst. */
static double units_of(const pn_score *score, double z, double y)
{
    double share, error = (z - y) / score->range;

    share = score->kind == PN_SCORE_RMSE ? error * error : logistic(y * z) / score->range;
    return share < 1.0 ? floor(share * UNITS + 0.5) : UNITS;
}

static pn_status sum_units(pn_objective *objective, const double *theta, const pn_score *score, double *sum,
                           pn_task *task, pn_err *err)
{
    const pn_dataset *data = objective->data;
    double *z;
    pn_status status;

    *sum = 0.0;
    PN_TRY(pn_new(&z, data->n, err, "score: out of memory for %zu predictions", data->n));
    status = pn_dataset_predict(data, theta, data->p, z, task, err);
    for (size_t i = 0; i < data->n && status == PN_OK; i++)
        *sum += units_of(score, z[i], data->y[i]);
    pn_free(z);
    return status;
}

static double range_units(const pn_score *score)
{
    return score->kind == PN_SCORE_ACCURACY ? 1.0 : UNITS;
}

static pn_status exact_sum(pn_objective *objective, const double *theta, const pn_score *score, double *sum,
                           pn_task *task, pn_err *err)
{
    size_t dim = objective->dim, n = objective->data->n;
    double right = 0.0;

    if (pn_first_nonfinite(theta, dim) < dim) {
        *sum = score->kind == PN_SCORE_ACCURACY ? 0.0 : UNITS * (double)n;
        return PN_OK;
    }
    if (score->kind != PN_SCORE_ACCURACY)
        return sum_units(objective, theta, score, sum, task, err);
    PN_TRY(pn_objective_accuracy(objective, theta, &right, task, err));
    *sum = round(right * (double)n);
    return PN_OK;
}

/* ---- the noise ---- */

/* Standard deviation in units; NaN where no lattice gives it. */
static double sigma_of(const pn_objective *objective, const pn_score *score)
{
    double units = range_units(score);

    return pn_calibrate_gaussian_releases(&(pn_gaussian_releases){ .epsilon = NAN,
                                                                   .delta = NAN,
                                                                   .rho = score->mu * score->mu / 2.0,
                                                                   .sensitivity = units,
                                                                   .bound = units * (double)objective->data->n,
                                                                   .dim = 1,
                                                                   .count = 1 });
}

/* Of the mean, in the score's own unit: a label, a loss, a squared error. */
static double scale_of(const pn_objective *objective, const pn_score *score)
{
    double range = score->kind == PN_SCORE_ACCURACY ? 1.0
                   : score->kind == PN_SCORE_RMSE   ? score->range * score->range
                                                    : score->range;

    return range / (range_units(score) * (double)objective->data->n);
}

double pn_score_deviation(const pn_objective *objective, const pn_score *score)
{
    return sigma_of(objective, score) * scale_of(objective, score);
}

/* `sum` becomes the noisy one, by a ledger that has room for just this. */
static pn_status release(const pn_objective *objective, const pn_score *score, double sigma, pn_rng *rng, double *sum,
                         pn_err *err)
{
    double units = range_units(score);
    pn_arg args[8] = { { .given = true, .real = sigma },
                       { .given = true, .real = units },
                       { .given = true, .count = 1 },
                       { .given = true, .real = units * (double)objective->data->n } };
    pn_mechanism *mechanism = NULL;
    pn_ledger *ledger = NULL;
    pn_release out = { .values = sum };
    pn_status status = pn_mechanism_from_args(&mechanism, "gaussian", args, score->neighbours, err);

    if (status == PN_OK)
        status = pn_ledger_new(&ledger,
                               &(pn_budget){ .epsilon = NAN,
                                             .rho = score->mu * score->mu / 2.0,
                                             .neighbours = score->neighbours,
                                             .teaching = pn_rng_simulated(rng) },
                               err);
    if (status == PN_OK)
        status = pn_mechanism_release(mechanism, ledger, "score", rng, sum, 1, &out, err);
    pn_ledger_free(ledger);
    pn_mechanism_free(mechanism);
    return status;
}

pn_status pn_score_release(pn_objective *objective, const double *theta, const pn_score *score, pn_rng *rng,
                           double *value, pn_task *task, pn_err *err)
{
    double sigma, sum = 0.0, mean;

    PN_TRY(pn_score_check(objective, score, err));
    sigma = sigma_of(objective, score);
    if (isnan(sigma))
        return pn_fail(err, PN_EINVAL, "score %s: no noise on the lattice gives mu %g", pn_score_names[score->kind],
                       score->mu);
    PN_TRY(exact_sum(objective, theta, score, &sum, task, err));
    if (!PN_MUTANT("score_unpaid"))
        PN_TRY(release(objective, score, sigma, rng, &sum, err));
    mean = sum * scale_of(objective, score);
    *value = score->kind == PN_SCORE_RMSE ? sqrt(fmax(0.0, mean)) : mean;
    return PN_OK;
}
