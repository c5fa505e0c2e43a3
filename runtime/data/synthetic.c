/* synthetic.c -- data with a known truth: x_ij = +-1 fair, a sparse theta*, linear or logistic labels.
 * Depends on: dataset.h, build.h, core, random.  Used by: synthetic_matrices.c, bindings, tests, examples. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vault.h"
#include "data/build.h"
#include "data/synthetic.h"

#define SIGN_BYTES 4096 /* random bytes at a time, one bit a feature */

static pn_status check_options(const char *owner, const pn_synthetic_options *options, double largest_noise,
                               pn_err *err)
{
    if (options->n == 0 || options->p == 0)
        return pn_fail(err, PN_EINVAL, "%s: n and p must be at least 1, got %zu and %zu", owner, options->n,
                       options->p);
    if (options->sparsity == 0 || options->sparsity > options->p)
        return pn_fail(err, PN_EINVAL, "%s: sparsity must be from 1 to p = %zu, got %zu", owner, options->p,
                       options->sparsity);
    if (!(options->noise >= 0.0 && options->noise <= largest_noise))
        return pn_fail(err, PN_EINVAL, "%s: noise must be a number from 0%s, got %g", owner,
                       largest_noise <= 1.0 ? " to 1" : "", options->noise);
    if (!(options->signal >= 0.0) || !isfinite(options->signal))
        return pn_fail(err, PN_EINVAL, "%s: signal must be a number >= 0, got %g", owner, options->signal);
    return PN_OK;
}

/* `places`: the first `sparsity` entries of a random permutation. */
static void draw_truth(pn_rng *rng, const pn_synthetic_options *options, const size_t *places, double *theta)
{
    double size = options->signal / (double)options->sparsity;

    memset(theta, 0, options->p * sizeof *theta);
    for (size_t k = 0; k < options->sparsity; k++)
        theta[places[k]] = pn_rng_below(rng, 2) ? size : -size;
}

pn_status pn_synthetic_signs(pn_rng *rng, double *x, size_t n, size_t p, const char *owner, pn_task *task, pn_err *err)
{
    unsigned char bytes[SIGN_BYTES];
    size_t count = n * p;
    pn_status status = PN_OK;

    for (size_t done = 0, now; status == PN_OK && done < count; done += now) {
        now = count - done < 8 * SIGN_BYTES ? count - done : 8 * SIGN_BYTES;
        pn_rng_bytes(rng, bytes, (now + 7) / 8);
        for (size_t k = 0; k < now; k++)
            x[done + k] = (bytes[k / 8] >> (k % 8)) & 1 ? 1.0 : -1.0;
        status = pn_task_report(task, owner, (double)(done + now) / (double)p, (double)n, err);
    }
    return status;
}

/* score[i] = <x_i, theta*>, over the places where theta* is not zero. */
static void linear_scores(const pn_dataset *data, const double *theta, const size_t *places, size_t sparsity)
{
    for (size_t i = 0; i < data->n; i++) {
        double sum = 0.0;

        for (size_t k = 0; k < sparsity; k++)
            sum += data->dense[i * data->p + places[k]] * theta[places[k]];
        data->y[i] = sum;
    }
}

/* Turns the scores in data->y into labels. */
typedef void (*label_fn)(pn_dataset *data, pn_rng *rng, double noise, double *scratch);

static void lasso_labels(pn_dataset *data, pn_rng *rng, double noise, double *scratch)
{
    pn_rng_normals(rng, data->n, scratch);
    for (size_t i = 0; i < data->n; i++)
        data->y[i] = fmin(fmax(data->y[i] + noise * scratch[i], -1.0), 1.0);
}

static void logistic_labels(pn_dataset *data, pn_rng *rng, double noise, double *scratch)
{
    (void)scratch;
    for (size_t i = 0; i < data->n; i++) {
        double label = pn_rng_uniform(rng) < 1.0 / (1.0 + exp(-data->y[i])) ? 1.0 : -1.0;

        data->y[i] = pn_rng_uniform(rng) < noise ? -label : label;
    }
}

typedef struct recipe {
    const char *owner, *name;
    label_fn labels;
    double largest_noise;
    bool binary;
} recipe;

static pn_status generate(pn_dataset **out, const recipe *kind, const pn_synthetic_options *options, double *truth,
                          pn_err *err)
{
    size_t n = options->n, p = options->p;
    pn_dataset *data = NULL;
    pn_rng *rng = NULL;
    size_t *places = NULL;
    double *theta = NULL, *scratch = NULL;
    pn_status status = check_options(kind->owner, options, kind->largest_noise, err);

    if (status == PN_OK)
        status = pn_rng_seeded(&rng, options->seed, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, n, p, kind->name, err);
    if (status != PN_OK)
        goto done;
    places = pn_alloc(p, sizeof *places);
    theta = pn_alloc(p, sizeof *theta);
    scratch = pn_alloc(n, sizeof *scratch);
    data->dense = pn_dataset_alloc_rows(n, p);
    if (!places || !theta || !scratch || !data->dense) {
        status = pn_fail(err, PN_ENOMEM, "%s: %s for %zu x %zu numbers", kind->owner, pn_vault_lack(), n, p);
        goto done;
    }
    pn_rng_permutation(rng, p, places);
    draw_truth(rng, options, places, theta);
    status = pn_synthetic_signs(rng, data->dense, n, p, kind->owner, options->task, err);
    if (status != PN_OK)
        goto done;
    linear_scores(data, theta, places, options->sparsity);
    kind->labels(data, rng, options->noise, scratch);
    pn_bounds_tighten(&data->bounds, p, PN_LINF, 1.0);
    data->bounds.label_low = -1.0;
    data->bounds.label_high = 1.0;
    data->bounds.labels_binary = kind->binary;
    if (truth)
        memcpy(truth, theta, p * sizeof *truth);
    *out = data;
    data = NULL;

done:
    pn_dataset_free(data);
    pn_rng_free(rng);
    pn_free(places);
    pn_free(theta);
    pn_free(scratch);
    return status;
}

pn_status pn_dataset_synthetic_lasso(pn_dataset **out, const pn_synthetic_options *options, double *truth, pn_err *err)
{
    static const recipe kind = { "synthetic.lasso", "synthetic lasso", lasso_labels, 1e300, false };

    return generate(out, &kind, options, truth, err);
}

pn_status pn_dataset_synthetic_logistic(pn_dataset **out, const pn_synthetic_options *options, double *truth,
                                        pn_err *err)
{
    static const recipe kind = { "synthetic.logistic", "synthetic logistic", logistic_labels, 1.0, true };

    return generate(out, &kind, options, truth, err);
}
