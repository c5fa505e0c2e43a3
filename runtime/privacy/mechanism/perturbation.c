/* perturbation.c -- objective perturbation: charge once, draw the linear term,
 * later draw the noise that masks the answer.
 * Depends on: perturbation.h, accountant.h, mechanism_row.h, random/noise.h.  Used by: solvers. */
#include <math.h>
#include <string.h>
#include <sys/types.h>

#include "core/alloc.h"
#include "core/process.h"
#include "privacy/accounting/accountant.h"
#include "privacy/mechanism/mechanism_row.h"
#include "privacy/mechanism/perturbation.h"
#include "random/noise.h"

struct pn_perturbation {
    pn_mechanism face; /* for checks and messages; owns the event */
    pn_perturbation_options options;
    pn_rng *rng;
    pid_t owner; /* one payment is for the answer of one process */
    bool used;
};

/* Not in the table: its computation stands between its draws. */
static const pn_mechanism_ops face_ops = { .name = "objective_perturbation" };

double pn_perturbation_masked(const pn_perturbation_options *options)
{
    double lattice = sqrt((double)options->dim) * pn_lattice_step(options->sigma) / (2.0 * options->strong_convexity);

    return pn_lattice_l2(2.0 * (options->offset + lattice) * (1.0 + 0x1p-48), options->sigma_out, options->dim,
                         options->bound, 1);
}

static pn_status check(const pn_perturbation_options *options, pn_err *err)
{
    bool masks = options->sigma_out != 0.0;
    const double sizes[] = { options->sigma,
                             options->sensitivity,
                             options->strong_convexity,
                             options->offset,
                             masks ? options->sigma_out : 1.0,
                             options->bound };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!(sizes[i] >= 0x1p-900 && sizes[i] <= 0x1p900))
            return pn_fail(err, PN_EINVAL,
                           "objective_perturbation: its numbers must be between 2^-900 and 2^900, got %g", sizes[i]);
    }
    if (masks && !(options->bound <= 0x1p61 * pn_lattice_step(options->sigma_out)))
        return pn_fail(err, PN_EINVAL,
                       "objective_perturbation: sigma_out = %g is too fine for answers up to %g; it must be at least "
                       "2^-21 of them",
                       options->sigma_out, options->bound);
    return PN_OK;
}

/* The events that add up. */
static pn_status sum_of_both(pn_event **out, const pn_perturbation_options *options, pn_err *err)
{
    pn_event *parts[2] = { NULL, NULL };
    size_t count = options->sigma_out != 0.0 ? 2 : 1;
    pn_status status = check(options, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_event_objective_perturbation(&parts[0], options->sigma, options->sensitivity, options->jacobian,
                                                 options->dim, options->neighbours, err);
    if (status == PN_OK && count > 1)
        status = pn_event_gaussian(&parts[1], options->sigma_out, pn_perturbation_masked(options), options->dim,
                                   options->neighbours, err);
    if (status == PN_OK && count > 1)
        status = pn_event_compose(out, parts, 2, err);
    else if (status == PN_OK)
        *out = pn_event_keep(parts[0]);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    return status;
}

pn_status pn_perturbation_event(pn_event **out, const pn_perturbation_options *options, pn_err *err)
{
    pn_accountant *accountant = NULL;
    pn_arg none[2] = { { 0 } };
    pn_event *sum = NULL;
    double epsilon = NAN;
    pn_status status = sum_of_both(&sum, options, err);

    *out = NULL;
    if (status == PN_OK && options->delta == 0.0) {
        *out = sum;
        return PN_OK;
    }
    if (status == PN_OK)
        status = pn_accountant_from_args(&accountant, "pld", none, err);
    if (status == PN_OK)
        status = pn_accountant_add(accountant, sum, 1, err);
    if (status == PN_OK)
        status = accountant->ops->epsilon(accountant, options->delta, &epsilon, NULL, err);
    if (status == PN_OK)
        status = pn_event_approximate(out, epsilon, options->delta, options->neighbours, err);
    pn_accountant_free(accountant);
    pn_event_free(sum);
    return status;
}

/* Zero rounds to zero: the draw alone. */
static void draw_linear(const pn_perturbation *self, double *linear)
{
    for (size_t j = 0; j < self->options.dim; j++)
        linear[j] = 0.0;
    pn_lattice_gaussian(self->rng, self->options.sigma, linear, self->options.dim, linear);
}

/* A minimum as the solver left it has no guarantee at any epsilon: for comparison where nothing is private. */
static pn_status check_masked(const pn_perturbation_options *options, const pn_ledger *ledger, const pn_rng *rng,
                              pn_err *err)
{
    if (options->sigma_out != 0.0 || (ledger && pn_ledger_budget(ledger)->teaching && pn_rng_simulated(rng)))
        return PN_OK;
    return pn_fail(
        err, PN_EPRIVACY,
        "objective_perturbation: without noise on the answer it is exact up to rounding only, which no budget can pay "
        "for; leave approximate=false out, or use seeded noise and a ledger with teaching = true");
}

pn_status pn_perturbation_open(pn_perturbation **out, const pn_perturbation_options *options, pn_ledger *ledger,
                               const char *label, pn_rng *rng, double *linear, pn_err *err)
{
    pn_perturbation *self = pn_calloc(1, sizeof *self);
    pn_status status;

    *out = NULL;
    PN_TRY(pn_made(self, err, "objective_perturbation: out of memory"));
    self->face = (pn_mechanism){ .ops = &face_ops, .domain = options->bound, .dim = options->dim };
    self->options = *options;
    self->rng = rng;
    self->owner = pn_process();
    status = pn_perturbation_event(&self->face.event, options, err);
    if (status == PN_OK)
        status = check_masked(options, ledger, rng, err);
    if (status == PN_OK)
        status = pn_mechanism_pay(&self->face, ledger, label, rng, err);
    if (status != PN_OK) {
        pn_perturbation_free(self);
        return status;
    }
    draw_linear(self, linear);
    *out = self;
    return PN_OK;
}

pn_status pn_perturbation_release(pn_perturbation *self, const double *point, double *out, pn_err *err)
{
    if (self->owner != pn_process())
        return pn_fail(err, PN_EPRIVACY, "objective_perturbation: it was paid for by process %ld; a child pays itself",
                       (long)self->owner);
    if (self->used)
        return pn_fail(err, PN_EBUDGET, "objective_perturbation: it was paid for once and has been released");
    PN_TRY(pn_mechanism_admits(&self->face, point, self->options.dim, err));
    self->used = true;
    if (self->options.sigma_out == 0.0)
        memmove(out, point, self->options.dim * sizeof *out);
    else
        pn_lattice_gaussian(self->rng, self->options.sigma_out, point, self->options.dim, out);
    return PN_OK;
}

void pn_perturbation_free(pn_perturbation *self)
{
    if (!self)
        return;
    pn_event_free(self->face.event);
    pn_free(self);
}
