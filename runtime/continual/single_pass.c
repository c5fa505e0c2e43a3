/* single_pass.c -- a permutation, its consecutive slices, and a paid stream for every epoch of them.
 * Depends on: single_pass.h.  Used by: solvers/zeroth_order/zeroth_order.c.  See zeroth-order.md section 4. */
#include <sys/types.h>

#include "continual/single_pass.h"
#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"
#include "core/size.h"

struct pn_single_pass {
    pn_single_pass_options options;
    size_t *order;            /* [n] the permutation of this pass */
    bool ordered;             /* it has been drawn */
    size_t position;          /* in it: where the next leaf's records begin */
    pn_prefix *stream;        /* of this epoch; NULL between two */
    size_t pass, epoch, leaf; /* completed: passes; epochs and leaves of what is under way */
    size_t paid;              /* passes */
    bool taken;               /* records were handed out for a leaf that has not been pushed */
    pid_t owner;              /* one payment is for the leaves of one process */
};

/* ---- making ---- */

/* epochs (first + (leaves - 1) others) records are there. */
static bool enough_records(const pn_single_pass_options *options)
{
    size_t needed;

    return pn_size_multiply(&needed, options->leaves - 1, options->others) &&
           pn_size_add(&needed, needed, options->first) && pn_size_multiply(&needed, needed, options->epochs) &&
           needed <= options->n;
}

static pn_status check_options(const pn_single_pass_options *options, pn_err *err)
{
    size_t horizon = pn_prefix_options_of(options->design)->horizon;

    if (options->passes < 1 || options->first < 1 || options->others < 1 || options->leaves < 1 || options->epochs < 1)
        return pn_fail(err, PN_EINVAL,
                       "single_pass: passes, first, others, leaves and epochs must be at least 1, got %zu, %zu, %zu, "
                       "%zu, %zu",
                       options->passes, options->first, options->others, options->leaves, options->epochs);
    if (horizon > 0 && options->leaves > horizon)
        return pn_fail(err, PN_EINVAL, "single_pass: %zu leaves are more than the design's horizon, %zu",
                       options->leaves, horizon);
    if (!enough_records(options))
        return pn_fail(err, PN_EINVAL,
                       "single_pass: %zu epochs of %zu + (%zu - 1) x %zu records need more than the %zu there are",
                       options->epochs, options->first, options->leaves, options->others, options->n);
    return PN_OK;
}

pn_status pn_single_pass_new(pn_single_pass **out, const pn_single_pass_options *options, pn_err *err)
{
    pn_single_pass *self;
    pn_status status = check_options(options, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_calloc(1, sizeof *self);
    if (self) {
        self->options = *options;
        self->owner = pn_process();
        self->options.design = pn_prefix_design_keep(options->design);
        self->order = pn_alloc(options->n, sizeof *self->order);
    }
    if (!self || !self->order) {
        pn_single_pass_free(self);
        return pn_fail(err, PN_ENOMEM, "single_pass: out of memory for %zu records", options->n);
    }
    *out = self;
    return PN_OK;
}

void pn_single_pass_free(pn_single_pass *self)
{
    if (!self)
        return;
    pn_prefix_free(self->stream);
    pn_prefix_design_free(self->options.design);
    pn_free(self->order);
    pn_free(self);
}

/* What one pass costs: the design's event, borrowed; NULL without noise. */
static pn_event *event_of(const pn_single_pass *self)
{
    return pn_prefix_design_event(self->options.design);
}

size_t pn_single_pass_leaf(const pn_single_pass *self)
{
    return self->leaf;
}

size_t pn_single_pass_epoch(const pn_single_pass *self)
{
    return self->pass * self->options.epochs + self->epoch;
}

size_t pn_single_pass_paid(const pn_single_pass *self)
{
    return self->paid;
}

/* ---- records ---- */

/* Parent and child have the same permutation: their next leaves are of the same records. */
static pn_status check_owner(const pn_single_pass *self, pn_err *err)
{
    if (self->owner == pn_process() || !event_of(self))
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY, "single_pass: process %ld paid for this pass; a forked child must begin its own",
                   (long)self->owner);
}

/* Orders and streams of noise each have a stream of their own: how much noise is drawn does not change who comes first,
 * and what failed half-way draws the same again. */
static pn_status draw_order(pn_single_pass *self, const pn_rng *rng, pn_err *err)
{
    pn_rng *own = NULL;

    if (self->ordered)
        return PN_OK;
    PN_TRY(pn_rng_split(&own, rng, 2 * (uint64_t)self->pass, err));
    pn_rng_permutation(own, self->options.n, self->order);
    pn_rng_free(own);
    self->ordered = true;
    self->position = 0;
    return PN_OK;
}

static pn_status start_stream(pn_single_pass *self, pn_prefix **out, const pn_rng *rng, pn_err *err)
{
    pn_rng *own = NULL;
    pn_status status;

    if (!event_of(self))
        return pn_prefix_new(out, self->options.design, NULL, err);
    status = pn_rng_split(&own, rng, PN_MUTANT("noise_reuse") ? 1 : 2 * (uint64_t)pn_single_pass_epoch(self) + 1, err);
    if (status == PN_OK)
        status = pn_prefix_new(out, self->options.design, own, err);
    pn_rng_free(own);
    return status;
}

/* The first stream of a pass pays for all of its epochs, whose records are others. */
static pn_status open_stream(pn_single_pass *self, pn_ledger *ledger, const char *label, bool paid_elsewhere,
                             const pn_rng *rng, pn_err *err)
{
    bool covered = paid_elsewhere || self->paid > self->pass;
    pn_prefix *stream = NULL;
    pn_status status = start_stream(self, &stream, rng, err);

    if (status == PN_OK)
        status = pn_prefix_pay(stream, ledger, label, covered || PN_MUTANT("pass_unpaid"), err);
    if (status != PN_OK) {
        pn_prefix_free(stream);
        return status;
    }
    self->paid = self->pass + 1;
    self->stream = stream;
    return PN_OK;
}

static size_t next_count(const pn_single_pass *self)
{
    return self->leaf == 0 ? self->options.first : self->options.others;
}

pn_status pn_single_pass_take(pn_single_pass *self, pn_ledger *ledger, const char *label, bool paid_elsewhere,
                              const pn_rng *rng, const size_t **rows, size_t *count, pn_err *err)
{
    pn_status status;

    PN_TRY(check_owner(self, err));
    if (self->pass == self->options.passes)
        return pn_fail(err, PN_EBUDGET, "single_pass: all records of all %zu passes have been used",
                       self->options.passes);
    status = draw_order(self, rng, err);
    if (status == PN_OK && !self->stream)
        status = open_stream(self, ledger, label, paid_elsewhere, rng, err);
    if (status != PN_OK)
        return status;
    self->taken = true;
    *rows = self->order + (PN_MUTANT("records_again") ? 0 : self->position);
    *count = next_count(self);
    return PN_OK;
}

/* ---- leaves ---- */

static void finish_epoch(pn_single_pass *self)
{
    pn_prefix_free(self->stream);
    self->stream = NULL;
    self->leaf = 0;
    if (++self->epoch < self->options.epochs)
        return;
    self->epoch = 0;
    self->pass++;
    self->ordered = false;
}

pn_status pn_single_pass_push(pn_single_pass *self, const double *leaf, double *out, pn_task *task, pn_err *err)
{
    if (!self->taken)
        return pn_fail(err, PN_EBUDGET, "single_pass: records must be taken before their leaf can be pushed");
    PN_TRY(pn_prefix_push(self->stream, leaf, out, task, err));
    self->taken = false;
    self->position += next_count(self);
    if (++self->leaf == self->options.leaves)
        finish_epoch(self);
    return PN_OK;
}
