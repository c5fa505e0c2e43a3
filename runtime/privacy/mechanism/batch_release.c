/* batch_release.c -- pay, draw a batch, release its noisy sum: in this order or not at all.
 * Depends on: batch_release.h, mechanism_row.h, sampler.h, random/noise.h.  Used by: solvers.
 * See accounting.md section 4, noise.md sections 3 and 8, variance-reduced.md section 3. */
#include <math.h>
#include <string.h>
#include <sys/types.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"
#include "core/size.h"
#include "privacy/mechanism/batch_release.h"
#include "privacy/mechanism/mechanism_row.h"
#include "privacy/mechanism/sampler.h"
#include "random/noise.h"

/* `scale` multiplies two of the numbers in a ratio, each with a rounding of its own: charged beforehand. */
#define ANY_SCALE (1.0 + 0x1p-40)

#define SMALLEST 0x1p-900
#define LARGEST  0x1p900

struct pn_batch_release {
    pn_mechanism face; /* for checks and messages; owns the event */
    pn_batch_release_options options;
    pn_sampler *sampler;
    pn_sampler *faulty; /* NULL, but under a fault: draws in place of the sampler */
    size_t asked, paid; /* releases; paid is asked, rounded up to whole events */
    size_t made;        /* of the paid */
    size_t count;       /* records of the batch that was drawn */
    bool drawn;         /* and has not been released */
    bool teaching;      /* every ledger that paid takes simulated noise */
    bool whole_set;     /* whole holds a vector */
    pid_t owner;        /* one payment is for the draws of one process */
    pn_steps *whole;    /* [dim] steps; NULL without */
};

/* Not in the table: a step of a solver stands between its draws. */
static const pn_mechanism_ops face_ops = { .name = "batch_release" };

/* ---- what it costs ---- */

static pn_status check_number(const char *name, double x, bool zero, bool infinite, pn_err *err)
{
    if ((x >= SMALLEST && x <= LARGEST) || (zero && x == 0.0) || (infinite && x == INFINITY))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "batch_release: %s must be between 2^-900 and 2^900%s%s, got %g", name,
                   zero ? ", or 0" : "", infinite ? ", or infinite" : "", x);
}

/* What is within a bound is not cut. */
static pn_status check_reach(const char *name, double bound, double sigma, pn_err *err)
{
    if (isinf(bound) || bound <= pn_lattice_reach(sigma))
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "batch_release: %s = %g is beyond what the lattice carries with noise of sigma %g: at most %g", name,
                   bound, sigma, pn_lattice_reach(sigma));
}

static pn_status check_options(const pn_batch_release_options *options, pn_err *err)
{
    pn_status status = check_number("contribution", options->contribution, false, false, err);

    if (status == PN_OK)
        status = check_number("error", options->error, true, false, err);
    if (status == PN_OK)
        status = check_number("bound", options->bound, false, true, err);
    if (status == PN_OK)
        status = check_number("sigma", options->sigma, false, false, err);
    if (status == PN_OK)
        status = check_number("whole", options->whole, true, false, err);
    if (status == PN_OK && options->whole > 0.0)
        status = check_number("whole_bound", options->whole_bound, false, true, err);
    if (status == PN_OK)
        status = check_reach("bound", options->bound, options->sigma, err);
    if (status == PN_OK && options->whole > 0.0)
        status = check_reach("whole_bound", options->whole_bound, options->sigma, err);
    if (status == PN_OK && options->dim == 0)
        return pn_fail(err, PN_EDIM, "batch_release: dim must be at least 1, got 0");
    return status;
}

static pn_status make_sampler(pn_sampler **out, const char *scheme, const pn_batch_release_options *options,
                              pn_err *err)
{
    pn_arg args[3] = { { .given = true, .count = options->n } };

    if (strcmp(scheme, "poisson") == 0)
        args[1] = (pn_arg){ .given = true, .real = options->q };
    else if (strcmp(scheme, "full") != 0)
        args[1] = (pn_arg){ .given = true, .count = options->batch };
    return pn_sampler_from_args(out, scheme, args, options->neighbours, err);
}

/* The l2 norm of what `error` on every entry of two neighbours' sums adds up to. */
static double error_norm(const pn_batch_release_options *options)
{
    return 2.0 * sqrt((double)options->dim) * options->error;
}

/* One noise for the batch and for all records, each part rounded by itself and charged for that. */
static pn_status price_with_whole(pn_event **out, const pn_batch_release_options *options, double sampled, pn_err *err)
{
    double whole = pn_lattice_l2(options->whole, options->sigma, options->dim, options->whole_bound, 1);

    if (strcmp(options->scheme, "fixed") != 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "batch_release: a whole vector is added to batches of the scheme \"fixed\" only, got \"%.40s\"",
                       options->scheme);
    return pn_event_sampled_and_whole(out, options->batch, options->n, options->sigma, sampled, whole, options->dim,
                                      options->neighbours, err);
}

/* Both the errors of computing and those of rounding come on top of what one record does to the exact sum. */
static pn_status price(pn_event **out, const pn_batch_release_options *options, const pn_sampler *sampler, pn_err *err)
{
    double contribution = options->contribution * ANY_SCALE * (PN_MUTANT("batch_sensitivity") ? 0.5 : 1.0);
    double exact = sampler->ops->sensitivity(sampler) * contribution;
    double computed = exact + error_norm(options) * ANY_SCALE;
    double charged = pn_lattice_l2(computed, options->sigma, options->dim, options->bound, 1);

    *out = NULL;
    if (options->whole > 0.0)
        return price_with_whole(out, options, charged, err);
    return pn_sampler_gaussian(out, sampler, options->sigma, contribution, charged - exact, options->dim, err);
}

pn_status pn_batch_release_price(pn_event **out, size_t *per_event, const pn_batch_release_options *options,
                                 pn_err *err)
{
    pn_sampler *sampler = NULL;
    pn_status status = check_options(options, err);

    *out = NULL;
    if (status == PN_OK)
        status = make_sampler(&sampler, options->scheme, options, err);
    if (status == PN_OK)
        status = price(out, options, sampler, err);
    if (status == PN_OK && per_event)
        *per_event = sampler->per_event;
    pn_sampler_free(sampler);
    return status;
}

/* ---- making ---- */

static pn_status fill(pn_batch_release *self, pn_err *err)
{
    const pn_batch_release_options *options = &self->options;
    pn_status status = make_sampler(&self->sampler, options->scheme, options, err);

    if (status == PN_OK)
        status = price(&self->face.event, options, self->sampler, err);
    if (status == PN_OK && options->whole > 0.0) {
        self->whole = pn_calloc(options->dim, sizeof *self->whole);
        if (!self->whole)
            status = pn_fail(err, PN_ENOMEM, "batch_release: out of memory");
    }
    if (status == PN_OK && PN_MUTANT("batch_fixed") && strcmp(options->scheme, "poisson") == 0) {
        pn_batch_release_options fixed = { .n = options->n, .batch = self->sampler->batch };

        status = make_sampler(&self->faulty, "fixed", &fixed, err);
    }
    return status;
}

pn_status pn_batch_release_new(pn_batch_release **out, const pn_batch_release_options *options, pn_err *err)
{
    pn_status status = check_options(options, err);
    pn_batch_release *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, "batch_release: out of memory"));
    self->face = (pn_mechanism){ .ops = &face_ops, .domain = options->bound, .dim = options->dim };
    self->options = *options;
    self->owner = pn_process();
    self->teaching = true;
    status = fill(self, err);
    if (status != PN_OK) {
        pn_batch_release_free(self);
        return status;
    }
    self->options.scheme = self->sampler->ops->name; /* outlives the caller's */
    *out = self;
    return PN_OK;
}

void pn_batch_release_free(pn_batch_release *self)
{
    if (!self)
        return;
    pn_event_free(self->face.event);
    pn_sampler_free(self->sampler);
    pn_sampler_free(self->faulty);
    pn_free(self->whole);
    pn_free(self);
}

pn_event *pn_batch_release_event(const pn_batch_release *self, size_t *per_event)
{
    if (per_event)
        *per_event = self->sampler->per_event;
    return self->face.event;
}

/* ---- paying ---- */

static pn_status check_owner(const pn_batch_release *self, pn_err *err)
{
    if (self->owner == pn_process())
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY, "batch_release: it was paid for by process %ld; a forked child pays itself",
                   (long)self->owner);
}

static pn_status check_relation(const pn_batch_release *self, const pn_ledger *ledger, pn_err *err)
{
    pn_neighbours has = pn_ledger_budget(ledger)->neighbours;

    if (has == self->options.neighbours)
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY, "batch_release: the ledger is for \"%s\" neighbours, the release for \"%s\"",
                   pn_neighbours_names[has], pn_neighbours_names[self->options.neighbours]);
}

pn_status pn_batch_release_pay(pn_batch_release *self, pn_ledger *ledger, const char *label, const pn_rng *rng,
                               size_t releases, bool paid_elsewhere, pn_err *err)
{
    const size_t per_event = self->sampler->per_event, before = self->paid / per_event;
    size_t asked, events;
    pn_status status = check_owner(self, err);

    if (status == PN_OK)
        status = pn_mechanism_source(&self->face, ledger, rng, err);
    if (status == PN_OK)
        status = check_relation(self, ledger, err);
    asked = self->asked > self->made ? self->asked : self->made; /* more may have been made than asked for */
    if (status == PN_OK)
        status = pn_size_sum(&asked, "batch_release", "releases so far and more of them", asked, releases, err);
    if (status != PN_OK)
        return status;
    events = pn_sampler_events(self->sampler, asked);
    events = events > before ? events - before : 0;
    if (events > 0 && !paid_elsewhere && !PN_MUTANT("charge_after"))
        status = pn_ledger_spend(ledger, self->face.event, events, label ? label : face_ops.name, err);
    if (status != PN_OK)
        return status;
    self->asked = asked;
    self->paid += events * per_event;
    self->teaching = self->teaching && pn_ledger_budget(ledger)->teaching;
    return PN_OK;
}

size_t pn_batch_release_left(const pn_batch_release *self)
{
    return self->paid - self->made;
}

size_t pn_batch_release_paid(const pn_batch_release *self)
{
    return self->paid;
}

/* ---- drawing ---- */

/* What both draws ask: this process has paid, and for noise of this kind. */
static pn_status check_paid(const pn_batch_release *self, const pn_rng *rng, pn_err *err)
{
    PN_TRY(check_owner(self, err));
    if (self->made == self->paid)
        return pn_fail(err, PN_EBUDGET, "batch_release: all %zu releases that were paid for have been made",
                       self->paid);
    if (pn_rng_simulated(rng) && !self->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "batch_release: this stream is seeded (simulated noise, no privacy) and a real budget has paid; "
                       "use a secure stream, or a ledger opened with teaching = true");
    return PN_OK;
}

pn_status pn_batch_release_draw(pn_batch_release *self, pn_rng *rng, const size_t **rows, size_t *count, pn_err *err)
{
    pn_sampler *sampler = self->faulty ? self->faulty : self->sampler;
    pn_status status = check_paid(self, rng, err);

    if (status == PN_OK && !self->drawn && !(PN_MUTANT("batch_reuse") && self->made > 0))
        status = pn_sampler_draw(sampler, rng, &self->count, err);
    if (status != PN_OK)
        return status;
    self->drawn = true;
    *rows = sampler->indices;
    *count = self->count;
    return PN_OK;
}

pn_status pn_batch_release_set_whole(pn_batch_release *self, const double *whole, pn_err *err)
{
    const double step = pn_lattice_step(self->options.sigma);
    pn_mechanism face = self->face;

    if (!self->whole)
        return pn_fail(err, PN_EINVAL, "batch_release: it was made without a whole vector");
    face.domain = self->options.whole_bound;
    PN_TRY(pn_mechanism_admits(&face, whole, self->options.dim, err));
    for (size_t j = 0; j < self->options.dim; j++)
        self->whole[j] = pn_lattice_round_far(whole[j], step, PN_LATTICE_FARTHEST);
    self->whole_set = true;
    return PN_OK;
}

static pn_status check_make(const pn_batch_release *self, const pn_rng *rng, double scale, pn_err *err)
{
    PN_TRY(check_paid(self, rng, err));
    if (!self->drawn)
        return pn_fail(err, PN_EBUDGET, "batch_release: a batch must be drawn before its sum can be released");
    if (!(scale >= 0.0 && scale * self->options.sigma <= LARGEST && (scale == 1.0 || !self->whole)))
        return pn_fail(err, PN_EINVAL, "batch_release: scale must be %s, got %g",
                       self->whole ? "1 with a whole vector" : "a number >= 0 and scale sigma at most 2^900", scale);
    if (self->whole && !self->whole_set)
        return pn_fail(err, PN_EINVAL, "batch_release: its whole vector has not been set");
    return PN_OK;
}

pn_status pn_batch_release_make(pn_batch_release *self, pn_rng *rng, double scale, const double *sum, double *out,
                                pn_err *err)
{
    const size_t dim = self->options.dim;
    double sigma = scale * self->options.sigma;
    bool silent = !(scale >= SMALLEST && sigma >= SMALLEST);
    pn_mechanism face = self->face;
    pn_status status = check_make(self, rng, scale, err);

    face.domain *= silent ? 1.0 : scale;
    if (status == PN_OK && !silent)
        status = pn_mechanism_admits(&face, sum, dim, err);
    if (status != PN_OK)
        return status;
    self->made++;
    self->drawn = false;
    sigma *= PN_MUTANT("sensitivity_half") ? 0.5 : 1.0;
    if (silent)
        memset(out, 0, dim * sizeof *out);
    else if (PN_MUTANT("anchor_missing") && strcmp(self->options.scheme, "full") == 0)
        memmove(out, sum, dim * sizeof *out);
    else if (self->whole)
        pn_lattice_gaussian_sum(rng, sigma, sum, self->whole, dim, out);
    else
        pn_lattice_gaussian(rng, sigma, sum, dim, out);
    return PN_OK;
}
