/* oracle.c -- answering: the plan is looked up, the answer computed, the charge made, the noise drawn, and all of it
 * remembered until the step is done.
 * Depends on: oracle.h, privacy/mechanism.  Used by: run.c, solvers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "oracle/oracle.h"
#include "privacy/mechanism/sampler.h"

/* One answer of the step at hand, or room for one. */
typedef struct given {
    double *inputs; /* what it was asked with, then the answer: one block */
    double *answer;
    size_t chosen;
    double value; /* of f, or the losses, at x; NaN where it was not computed */
    bool there;
} given;

/* A question of the plan, opened. */
typedef struct slot {
    const pn_question *question;
    pn_mechanism *mechanism;   /* of answers about all records ... */
    pn_batch_release *release; /* ... or of batches and scaled noise */
    pn_sampler *sampler;       /* of batches without noise */
    double *room;              /* the question's scratch */
    size_t charged;            /* events */
    given *given;              /* [made] */
    size_t made, asked;        /* asked: in this step, so far */
} slot;

struct pn_oracle {
    const pn_plan *plan;
    pn_objective *objective;
    pn_ledger *ledger;
    pn_rng *rng;
    pn_task *task;
    slot *slots; /* [plan->question_count] */
    uint64_t records;
    bool answering; /* functions of a user's that a pass calls may not ask */
};

/* ---- life ---- */

void pn_oracle_close(pn_oracle *self)
{
    if (!self)
        return;
    for (size_t i = 0; self->slots && i < self->plan->question_count; i++) {
        slot *at = &self->slots[i];

        for (size_t k = 0; k < at->made; k++)
            pn_free(at->given[k].inputs);
        pn_free(at->given);
        pn_free(at->room);
        pn_mechanism_free(at->mechanism);
        pn_batch_release_free(at->release);
        pn_sampler_free(at->sampler);
    }
    pn_free(self->slots);
    pn_free(self);
}

/* Without privacy the relation says nothing: that with every scheme is taken. */
static pn_status open_sampler(slot *at, pn_err *err)
{
    const pn_batch_release_options *batches = &at->question->batches;
    pn_arg args[3] = { { .given = true, .count = batches->n } };

    args[1] = strcmp(batches->scheme, "poisson") == 0 ? (pn_arg){ .given = true, .real = batches->q }
                                                      : (pn_arg){ .given = true, .count = batches->batch };
    return pn_sampler_from_args(&at->sampler, batches->scheme, args, PN_REPLACE_ONE, err);
}

static pn_status open_slot(slot *at, const pn_question *question, pn_err *err)
{
    at->question = question;
    if (question->room)
        PN_TRY(pn_new(&at->room, question->room, err, "oracle: out of memory for %zu numbers", question->room));
    if (question->exact)
        return question->scheme ? open_sampler(at, err) : PN_OK;
    return question->batches.scheme ? pn_batch_release_new(&at->release, &question->batches, err)
                                    : pn_question_mechanism(&at->mechanism, question, err);
}

static pn_status open_slots(pn_oracle *self, pn_err *err)
{
    size_t count = self->plan->question_count;

    if (count == 0)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&self->slots, count, err, "oracle: out of memory for %zu questions", count));
    for (size_t i = 0; i < count; i++)
        PN_TRY(open_slot(&self->slots[i], &self->plan->questions[i], err));
    return PN_OK;
}

pn_status pn_oracle_open(pn_oracle **out, const pn_plan *plan, pn_ledger *ledger, pn_rng *rng, pn_task *task,
                         pn_err *err)
{
    pn_oracle *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "oracle: out of memory"));
    *self = (pn_oracle){ .plan = plan, .objective = plan->objective, .ledger = ledger, .rng = rng, .task = task };
    status = open_slots(self, err);
    if (status != PN_OK) {
        pn_oracle_close(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

void pn_oracle_begin(pn_oracle *self)
{
    for (size_t i = 0; i < self->plan->question_count; i++)
        self->slots[i].asked = 0;
}

void pn_oracle_next(pn_oracle *self)
{
    for (size_t i = 0; i < self->plan->question_count; i++) {
        for (size_t k = 0; k < self->slots[i].made; k++)
            self->slots[i].given[k].there = false;
    }
}

pn_ledger *pn_oracle_ledger(const pn_oracle *self)
{
    return self->ledger;
}

uint64_t pn_oracle_records(const pn_oracle *self)
{
    return self->records;
}

pn_status pn_oracle_charged(const pn_oracle *self, pn_event **event, size_t *count, pn_err *err)
{
    pn_event *parts[PN_PLAN_QUESTIONS] = { NULL };
    size_t used = 0, only = 0;
    pn_status status = PN_OK;

    *event = NULL;
    *count = 1;
    for (size_t i = 0; i < self->plan->question_count; i++) {
        only = self->slots[i].charged ? i : only;
        used += self->slots[i].charged > 0;
    }
    if (used == 0)
        return PN_OK;
    if (used == 1) {
        *count = self->slots[only].charged;
        *event = pn_event_keep(self->plan->questions[only].event);
        return PN_OK;
    }
    used = 0;
    for (size_t i = 0; i < self->plan->question_count && status == PN_OK; i++) {
        if (self->slots[i].charged)
            status = pn_event_repeated(&parts[used++], self->plan->questions[i].event, self->slots[i].charged, err);
    }
    if (status == PN_OK)
        status = pn_event_compose(event, parts, used, err);
    for (size_t i = 0; i < PN_PLAN_QUESTIONS; i++)
        pn_event_free(parts[i]);
    return status;
}

/* ---- what a run may show ---- */

static bool is_private(const pn_oracle *self)
{
    return self->plan->request.kind != PN_NONPRIVATE;
}

/* A real run never computes what it may not show. */
static bool shows(const pn_oracle *self)
{
    return !is_private(self) || pn_rng_simulated(self->rng);
}

/* ---- the memory ---- */

static size_t inputs_of(const slot *at)
{
    size_t dim = pn_objective_dim(at->question->objective);

    return (at->question->points + at->question->ops->two) * dim;
}

static bool same(const slot *at, const given *was, const pn_asked *asked)
{
    size_t dim = pn_objective_dim(at->question->objective), points = at->question->points * dim;

    return memcmp(was->inputs, asked->x, points * sizeof(double)) == 0 &&
           (!at->question->ops->two || memcmp(was->inputs + points, asked->v, dim * sizeof(double)) == 0);
}

/* Room for the next answer of the step, with what it is asked with. */
static pn_status next_given(slot *at, const pn_asked *asked, given **out, pn_err *err)
{
    size_t inputs = inputs_of(at), dim = pn_objective_dim(at->question->objective);
    given *grown;

    if (at->asked == at->made) {
        PN_TRY(pn_made(grown = pn_resize(at->given, at->made + 1, sizeof *grown), err, "oracle: out of memory"));
        at->given = grown;
        grown += at->made;
        *grown = (given){ 0 };
        PN_TRY(pn_new(&grown->inputs, inputs + at->question->dim, err, "oracle: out of memory for %zu coordinates",
                      at->question->dim));
        grown->answer = grown->inputs + inputs;
        at->made++;
    }
    *out = &at->given[at->asked];
    if ((*out)->there)
        return PN_OK;
    memcpy((*out)->inputs, asked->x, at->question->points * dim * sizeof(double));
    if (at->question->ops->two)
        memcpy((*out)->inputs + at->question->points * dim, asked->v, dim * sizeof(double));
    return PN_OK;
}

/* ---- releasing ---- */

/* About all records, by a mechanism: computed, then charged and drawn, so that what fails before has cost nothing. */
static pn_status release_whole(pn_oracle *self, slot *at, const pn_asked *asked, double *value, given *to, pn_err *err)
{
    const pn_question *question = at->question;
    pn_release release = { .values = to->answer };

    PN_TRY(question->ops->compute(question, asked, NULL, at->room, value, to->answer, self->task, err));
    if (PN_MUTANT("step_without_noise") && at->charged == 1) {
        at->charged++;
        return PN_OK;
    }
    PN_TRY(pn_mechanism_release(at->mechanism, self->ledger, self->plan->name, self->rng, to->answer, question->dim,
                                &release, err));
    at->charged++;
    to->chosen = release.index;
    return PN_OK;
}

static pn_status compute(pn_oracle *self, slot *at, const pn_asked *asked, const pn_batch *batch, double *value,
                         given *to, pn_err *err)
{
    const pn_question *question = at->question;

    if (batch->rows && batch->count == 0) { /* a coin that fell for nobody */
        memset(to->answer, 0, question->dim * sizeof(double));
        return PN_OK;
    }
    return question->ops->compute(question, asked, batch, at->room, value, to->answer, self->task, err);
}

/* A sum over a batch, or one whose noise is scaled.  Over all records: computed, charged, drawn.  Over a batch:
 * charged, the batch drawn, computed, its noise drawn; what fails in between is paid for, and goes on there. */
static pn_status release_sum(pn_oracle *self, slot *at, const pn_asked *asked, double *value, given *to, pn_err *err)
{
    const pn_question *question = at->question;
    pn_batch batch = { .count = question->batches.n, .denominator = 1.0 };
    bool whole = !question->scheme;
    double scale = question->ops->scale ? question->ops->scale(question, asked) : 1.0;

    if (!(scale * question->batches.sigma <= 0x1p900))
        return pn_fail(err, PN_EINVAL, "%s: %s is asked with a length of %g, beyond what noise is drawn for",
                       self->plan->owner, question->ops->name, scale);
    if (whole)
        PN_TRY(compute(self, at, asked, &batch, value, to, err));
    if (pn_batch_release_left(at->release) == 0)
        PN_TRY(pn_batch_release_pay(at->release, self->ledger, self->plan->name, self->rng, 1,
                                    PN_MUTANT("question_unpaid"), err));
    at->charged = pn_batch_release_paid(at->release) / question->per_event;
    PN_TRY(pn_batch_release_draw(at->release, self->rng, &batch.rows, &batch.count, err));
    if (!whole)
        PN_TRY(compute(self, at, asked, &batch, NULL, to, err));
    return pn_batch_release_make(at->release, self->rng, scale, to->answer, to->answer, err);
}

static pn_status exact_answer(pn_oracle *self, slot *at, const pn_asked *asked, double *value, given *to, pn_err *err)
{
    const pn_question *question = at->question;
    pn_batch batch = { .count = pn_objective_data(self->objective)->n, .denominator = 1.0 };

    if (at->sampler) {
        PN_TRY(pn_sampler_draw(at->sampler, self->rng, &batch.count, err));
        batch.rows = at->sampler->indices;
    }
    PN_TRY(question->batches.scheme
               ? compute(self, at, asked, &batch, value, to, err)
               : question->ops->compute(question, asked, NULL, at->room, value, to->answer, self->task, err));
    to->chosen = 0;
    for (size_t k = 1; question->ops->answer == PN_ANSWER_CHOICE && k < question->dim; k++) {
        if (to->answer[k] > to->answer[to->chosen])
            to->chosen = k;
    }
    return PN_OK;
}

/* From the unit of what was released to that of the answer; how many records a coin fell for is a secret. */
static void finish(pn_oracle *self, slot *at, given *to)
{
    const pn_question *question = at->question;

    for (size_t j = 0; question->divisor != 1.0 && j < question->dim; j++)
        to->answer[j] /= question->divisor;
    for (size_t j = 0; question->offset != 0.0 && j < question->dim; j++)
        to->answer[j] += question->offset;
    if (question->ops->finish)
        question->ops->finish(question, to->answer);
    self->records += question->scheme ? question->batch : pn_objective_data(self->objective)->n;
    to->there = true;
}

static pn_status release_answer(pn_oracle *self, slot *at, const pn_asked *asked, bool value, given *to, pn_err *err)
{
    double *shown = value && shows(self) ? &to->value : NULL;

    to->value = NAN;
    PN_TRY((at->question->exact ? exact_answer
            : at->release       ? release_sum
                                : release_whole)(self, at, asked, shown, to, err));
    finish(self, at, to);
    return PN_OK;
}

static pn_status refuse_more(const pn_oracle *self, const char *what, size_t planned, pn_err *err)
{
    if (planned == 0)
        return pn_fail(err, PN_EPRIVACY, "%s: a step asks %s, which its plan does not have", self->plan->owner, what);
    return pn_fail(err, PN_EPRIVACY, "%s: a step asks %s more than %zu times, for which its plan pays",
                   self->plan->owner, what, planned);
}

/* The answer to the next question of that slot: anew, or as it was given before the step failed. */
static pn_status answer(pn_oracle *self, slot *at, const pn_asked *asked, bool value, given **out, pn_err *err)
{
    const pn_question *question = at->question;
    pn_status status = PN_OK;

    if (self->answering)
        return pn_fail(err, PN_EPRIVACY, "%s: %s is asked while an answer is being computed; ask between the answers",
                       self->plan->owner, question->ops->name);
    if (at->asked == question->each && !PN_MUTANT("asked_again"))
        return refuse_more(self, question->ops->name, question->each, err);
    PN_TRY(next_given(at, asked, out, err));
    if ((*out)->there && !same(at, *out, asked) && !PN_MUTANT("answer_reused"))
        return pn_fail(err, PN_EPRIVACY,
                       "%s: a step that failed and is tried again asks %s at another point than the one that was "
                       "answered and paid for; put the state back as it was before the step",
                       self->plan->owner, question->ops->name);
    if (!(*out)->there) {
        self->answering = true;
        status = release_answer(self, at, asked, value, *out, err);
        self->answering = false;
    }
    at->asked += status == PN_OK;
    return status;
}

static pn_status find(pn_oracle *self, const pn_question_ops *ops, slot **out, pn_err *err)
{
    for (size_t i = 0; i < self->plan->question_count; i++) {
        *out = &self->slots[i];
        if ((*out)->question->ops == ops)
            return PN_OK;
    }
    return refuse_more(self, ops->name, 0, err);
}

/* ---- questions ---- */

/* gradient (may be NULL) and *value += the regulariser's. */
static pn_status add_regulariser(const pn_oracle *self, const double *x, double *value, double *gradient, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(self->objective);
    double extra = 0.0;

    if (!reg || (!value && !gradient))
        return PN_OK;
    PN_TRY(reg->ops->evaluate(reg, pn_objective_dim(self->objective), x, value ? &extra : NULL, gradient, err));
    if (value)
        *value += extra;
    return PN_OK;
}

/* Without privacy.  Whether a private run ends must not depend on the records: there NaN is no error. */
static pn_status exact_losses(pn_oracle *self, const double *x, double *value, double *gradient, pn_err *err)
{
    PN_TRY(pn_objective_losses(self->objective, NULL, x, value, gradient, self->task, err));
    self->records += gradient ? pn_objective_data(self->objective)->n : 0;
    if (!value || !isnan(*value))
        return PN_OK;
    return pn_objective_undefined(self->objective, self->plan->owner, err);
}

static pn_status take_losses(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err)
{
    pn_asked asked = { .x = x };
    slot *at = NULL;
    given *got = NULL;

    if (!is_private(ask))
        return exact_losses(ask, x, value, gradient, err);
    PN_TRY(find(ask, &pn_question_gradient, &at, err));
    PN_TRY(answer(ask, at, &asked, value != NULL, &got, err));
    memcpy(gradient, got->answer, at->question->dim * sizeof(double));
    if (value)
        *value = got->value;
    return PN_OK;
}

pn_status pn_ask_gradient(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err)
{
    PN_TRY(take_losses(ask, x, value, gradient, err));
    return add_regulariser(ask, x, value, gradient, err);
}

pn_status pn_ask_losses(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err)
{
    PN_TRY(take_losses(ask, x, value, gradient, err));
    return add_regulariser(ask, x, value, NULL, err);
}

pn_status pn_ask_vertex(pn_oracle *ask, const double *x, double *value, size_t *chosen, pn_err *err)
{
    pn_asked asked = { .x = x };
    slot *at = NULL;
    given *got = NULL;

    PN_TRY(find(ask, &pn_question_vertex, &at, err));
    PN_TRY(answer(ask, at, &asked, value != NULL, &got, err));
    *chosen = got->chosen;
    if (value)
        *value = got->value;
    return PN_OK;
}

pn_status pn_oracle_ask(pn_oracle *self, size_t which, const pn_asked *asked, pn_answer *out, pn_err *err)
{
    given *got = NULL;

    PN_TRY(answer(self, &self->slots[which], asked, out->wants_value, &got, err));
    out->numbers = got->answer;
    out->chosen = got->chosen;
    out->value = got->value;
    return PN_OK;
}

pn_status pn_ask_value(pn_oracle *ask, const double *x, double *value, pn_err *err)
{
    if (is_private(ask))
        return refuse_more(ask, "value", 0, err);
    PN_TRY(exact_losses(ask, x, value, NULL, err));
    return add_regulariser(ask, x, value, NULL, err);
}

size_t pn_ask_below(pn_oracle *ask, size_t count)
{
    return (size_t)pn_rng_below(ask->rng, count);
}

void pn_ask_normals(pn_oracle *ask, size_t n, double *normals)
{
    pn_rng_normals(ask->rng, n, normals);
}
