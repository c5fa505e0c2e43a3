/* question_smoothed.c -- gradients of the smoothed loss from values alone, in private prefix sums over records that are
 * used once a pass.
 * A record's term is clipped to a norm (objective/measures/smoothed.h), so a leaf over m records moves by two terms
 * over m; the object that hands out the records prices the sums (continual/single_pass.h).
 * Depends on: question.h, draw.h, continual/single_pass.h, objective/measures/smoothed.h.
 * Used by: draw.c, solvers/zeroth_order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "oracle/draw.h"
#include "privacy/accounting/accountant.h"

enum { NOISE = 0, POINTS, PICKS, STREAMS };

struct pn_smoothed_draw {
    pn_single_pass *records;
    pn_rng *streams[STREAMS];  /* permutations and nodes; where gradients are taken; which epoch is the answer */
    pn_address_key directions; /* public: independent of the data */
    pn_rng *rng;               /* the run's, until they have their keys */
    size_t rounds;
};

/* ---- life ---- */

void pn_smoothed_close(pn_smoothed_draw *self)
{
    if (!self)
        return;
    pn_single_pass_free(self->records);
    for (size_t i = 0; i < STREAMS; i++)
        pn_rng_free(self->streams[i]);
    pn_address_key_erase(&self->directions);
    pn_free(self);
}

/* Each draw has a stream of its own: more noise does not change where gradients are taken.  Their common key is drawn
 * from the run's stream, so that its next run is another one, and when it is first needed, so that a start that failed
 * leaves it as it was. */
static void need_keys(pn_smoothed_draw *self)
{
    enum { WORDS = 64 };
    pn_address_key key;

    if (!self->rng)
        return;
    pn_address_key_draw(&key, self->rng);
    pn_address_key_draw(&self->directions, self->rng);
    for (uint64_t i = 0; i < STREAMS; i++)
        pn_rng_address(self->streams[i], &key, (const uint64_t[PN_ADDRESS_WORDS]){ i }, WORDS);
    pn_address_key_erase(&key);
    self->rng = NULL;
}

static pn_status fill(pn_smoothed_draw *self, const pn_question *question, pn_rng *rng, pn_err *err)
{
    for (uint64_t i = 0; i < STREAMS; i++)
        PN_TRY(pn_rng_split(&self->streams[i], rng, i, err));
    PN_TRY(pn_single_pass_new(&self->records, &question->slices, err));
    self->rng = rng;
    return PN_OK;
}

pn_status pn_smoothed_open(pn_smoothed_draw **out, const pn_question *question, pn_rng *rng, pn_err *err)
{
    pn_smoothed_draw *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "oracle: out of memory"));
    status = fill(self, question, rng, err);
    if (status != PN_OK) {
        pn_smoothed_close(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

/* ---- answers ---- */

/* Of the first leaf of a stream the gradient, of all others the difference to the round before: at most `reach` away,
 * and clipped as if it were that far. */
static pn_status estimate(const pn_smoothed_draw *self, const pn_question *question, const pn_smoothed_call *call,
                          const pn_asked *asked, double *leaf, pn_task *task, pn_err *err)
{
    pn_objective *objective = question->objective;

    if (pn_single_pass_leaf(self->records) == 0)
        return pn_smoothed_gradient(objective, &question->smoothing, call, asked->x, leaf, task, err);
    return pn_smoothed_difference(objective, &question->smoothing, call, asked->x, asked->v, question->reach, leaf,
                                  task, err);
}

pn_status pn_smoothed_answer(pn_draw *draw, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                             pn_err *err)
{
    pn_smoothed_draw *self = draw->smoothed;
    uint64_t values = 0;
    pn_smoothed_call call = { .key = &self->directions, .call = self->rounds, .evaluations = &values };

    (void)value;
    need_keys(self);
    PN_TRY(pn_single_pass_take(self->records, on->ledger, on->label, false, self->streams[NOISE], &call.rows,
                               &call.count, err));
    if (draw->question->event)
        draw->charged = pn_single_pass_paid(self->records);
    PN_TRY(estimate(self, draw->question, &call, asked, to->answer, on->task, err));
    PN_TRY(pn_single_pass_push(self->records, to->answer, to->answer, on->task, err));
    draw->records = (size_t)values;
    self->rounds++;
    return PN_OK;
}

double pn_smoothed_place(pn_smoothed_draw *self)
{
    need_keys(self);
    return pn_rng_uniform(self->streams[POINTS]);
}

size_t pn_smoothed_pick(pn_smoothed_draw *self, size_t count)
{
    need_keys(self);
    return (size_t)pn_rng_below(self->streams[PICKS], count);
}

/* ---- what a record moves ---- */

static double gradient_norm(const pn_question *self)
{
    return pn_smoothed_norm(&self->smoothing, self->dim);
}

static double difference_norm(const pn_question *self)
{
    return pn_smoothed_difference_norm(&self->smoothing, self->dim, self->reach);
}

/* Of the mean over `batch` records whose terms have norm `norm`, as computed.  Replacing one moves it by two terms;
 * under zero_out a record that is out adds nothing while the divisor stays, and that is one term.
 * Both data sets round. */
static double leaf_sensitivity(const pn_question *self, double norm, size_t batch)
{
    double rounding = 2.0 * pn_smoothed_error(&self->smoothing, self->dim, batch, norm);
    double terms = pn_question_moved(self) * (PN_MUTANT("leaf_sensitivity_half") ? 0.5 : 1.0);

    return (terms * norm / (double)batch + rounding) * (1.0 + 0x1p-50);
}

/* On every entry of a leaf. */
static double entry_bound(const pn_question *self, double norm, size_t batch)
{
    return (norm + pn_smoothed_error(&self->smoothing, self->dim, batch, norm)) * (1.0 + 0x1p-50);
}

void pn_smoothed_sensitivities(const pn_question *self, double *first, double *others)
{
    const pn_single_pass_options *how = &self->slices;

    *first = leaf_sensitivity(self, gradient_norm(self), how->first);
    *others = how->leaves > 1 ? leaf_sensitivity(self, difference_norm(self), how->others) : 0.0;
}

/* ---- noise ---- */

static bool affordable(const pn_request *request, pn_event *event, size_t charges)
{
    if (request->kind == PN_RHO)
        return (double)charges * event->ops->zcdp(event) <= request->rho;
    return pn_event_epsilon(event, charges, request->delta, NULL) <= request->epsilon;
}

/* Equal parts of rho, a little less than all of it: tails and rounding want their share of every charge.  Where epsilon
 * is in the hundreds the tails of drawn noise stop the search: no smaller noise has a finite price, and rho ends far
 * below the one that was asked for. */
static pn_status design_by_rho(pn_question *self, const pn_request *request, double rho, const char *owner, pn_err *err)
{
    size_t passes = self->slices.passes;
    pn_request each = { .kind = PN_RHO, .rho = rho / (double)passes };
    double least = 1e-9 * each.rho;

    for (double less = 1e-9; each.rho > least; less = less < 0.05 ? 4.0 * less : fmin(1.1 * less, 0.5)) {
        each.rho *= 1.0 - less;
        PN_TRY(pn_question_design(self, &each, err));
        if (affordable(request, self->event, passes))
            return PN_OK;
    }
    return pn_fail(err, PN_EBUDGET, "%s: the budget is too small for %zu passes; use fewer", owner, passes);
}

/* By the exact curve of one stream where it is the whole price; by rho where the budget is split between passes or was
 * begun by others. */
static pn_status design_by_budget(pn_question *self, const pn_request *request, const char *owner, pn_err *err)
{
    pn_status status;

    if (self->exact)
        return pn_question_design(self, NULL, err);
    if (pn_request_is_renyi(request))
        status =
            design_by_rho(self, request, pn_zcdp_rho(request->epsilon, pn_ideal_delta(request->delta)), owner, err);
    else if (self->slices.passes > 1)
        status = design_by_rho(self, request, pn_gradient_noise_rho(request), owner, err);
    else
        status = pn_question_design(self, request, err);
    if (status != PN_EBUDGET || request->kind == PN_RHO)
        return status;
    /* At epsilon of 50 and more the tails of drawn noise need half of delta, which only Renyi prices give them. */
    return design_by_rho(self, request, pn_zcdp_rho(request->epsilon, 0.499 * request->delta), owner, err);
}

/* Leaf by leaf where noise follows it. */
static pn_status need_sensitivities(pn_question *self, double **all, const char *owner, pn_err *err)
{
    size_t horizon = self->prefix.horizon;
    double first, others;

    if (self->prefix.scale != PN_PREFIX_BY_NODE)
        return PN_OK;
    PN_TRY(pn_new(all, horizon, err, "%s: out of memory for %zu rounds", owner, horizon));
    pn_smoothed_sensitivities(self, &first, &others);
    for (size_t t = 0; t < horizon; t++)
        (*all)[t] = t == 0 ? first : others;
    self->prefix.sensitivities = *all;
    self->prefix.sensitivity = 0.0;
    return PN_OK;
}

pn_status pn_smoothed_design(pn_question *self, const pn_request *request, const char *owner, pn_err *err)
{
    double *all = NULL;
    pn_status status = need_sensitivities(self, &all, owner, err);

    if (self->exact) {
        self->prefix.noiseless = true;
        self->prefix.bound = 0.0;
        if (!isfinite(self->prefix.sensitivity)) /* nothing is clipped */
            self->prefix.sensitivity = 1.0;
    }
    if (status == PN_OK)
        status = design_by_budget(self, request, owner, err);
    pn_free(all);
    if (status != PN_OK)
        return status;
    self->prefix = *pn_prefix_options_of(self->design); /* whose vectors stay */
    self->slices.design = self->design;
    return PN_OK;
}

/* ---- the row ---- */

/* Of the first leaf; what the others follow from is beside it. */
static void say_basis(pn_question *self, double first)
{
    const pn_single_pass_options *how = &self->slices;

    self->basis = (pn_basis){ .rule = "smoothed",
                              .norm = "l2",
                              .contributions = pn_question_moved(self),
                              .contribution = gradient_norm(self),
                              .factor = 1.0,
                              .divisor = (double)how->first,
                              .value = first };
    pn_basis_add(&self->basis, "lipschitz", self->smoothing.lipschitz);
    pn_basis_add(&self->basis, "level", self->smoothing.level);
    pn_basis_add(&self->basis, "reach", self->reach / self->smoothing.radius);
    pn_basis_add(&self->basis, "batch", (double)how->others);
    pn_basis_add(&self->basis, "leaves", (double)how->leaves);
    pn_basis_add(&self->basis, "epochs", (double)how->epochs);
    (void)snprintf(self->about, sizeof self->about, "%s", pn_directions_names[self->smoothing.directions]);
}

static pn_status certify(pn_question *self, pn_err *err)
{
    const pn_single_pass_options *how = &self->slices;
    pn_prefix_options *prefix = &self->prefix;
    double first, others;

    if (how->leaves == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: its records are shared out to a whole run, which a plan does",
                       self->ops->name);
    self->dim = pn_objective_dim(self->objective);
    pn_smoothed_sensitivities(self, &first, &others);
    prefix->dim = self->dim;
    prefix->horizon = how->leaves;
    prefix->neighbours = self->neighbours;
    prefix->sensitivity = fmax(first, others);
    say_basis(self, first);
    prefix->bound = fmax(entry_bound(self, gradient_norm(self), how->first),
                         how->leaves > 1 ? entry_bound(self, difference_norm(self), how->others) : 0.0);
    return PN_OK;
}

const pn_question_ops pn_question_smoothed = {
    .name = "smoothed",
    .doc = "Gradients of the smoothed loss from values alone, in private prefix sums; each record once a pass.",
    .source = "Zhang, Tran, Cutkosky (2024)",
    .answer = PN_ANSWER_SMOOTHED,
    .two = true,
    .certify = certify,
};
