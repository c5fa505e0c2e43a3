/* oracle.c -- answering: the plan is looked up, the answer computed, the charge made, the noise drawn, and all of it
 * remembered until the step is done.
 * Depends on: oracle_impl.h.  Used by: run.c, ask.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "oracle/oracle_impl.h"

/* ---- life ---- */

void pn_oracle_close(pn_oracle *self)
{
    if (!self)
        return;
    for (size_t i = 0; self->slots && i < self->plan->question_count; i++) {
        pn_slot *at = &self->slots[i];

        for (size_t k = 0; k < at->made; k++)
            pn_free(at->given[k].inputs);
        pn_free(at->given);
        pn_draw_close(&at->draw);
    }
    pn_receipt_clear(&self->receipt);
    pn_free(self->slots);
    pn_free(self);
}

pn_slot *pn_oracle_slot(const pn_oracle *self, const pn_question_ops *ops)
{
    for (size_t i = 0; i < self->plan->question_count; i++) {
        if (self->plan->questions[i].ops == ops)
            return &self->slots[i];
    }
    return NULL;
}

/* A gradient of all records is asked where differences are taken from: one pass gives what both want. */
static void join_difference(pn_oracle *self)
{
    pn_slot *gradient = pn_oracle_slot(self, &pn_question_gradient),
            *difference = pn_oracle_slot(self, &pn_question_difference);

    if (gradient && difference && !gradient->draw.question->scheme)
        gradient->draw.differs = &difference->draw;
}

static pn_status open_slots(pn_oracle *self, pn_err *err)
{
    size_t count = self->plan->question_count;

    if (count == 0)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&self->slots, count, err, "oracle: out of memory for %zu questions", count));
    for (size_t i = 0; i < count; i++)
        PN_TRY(pn_draw_open(&self->slots[i].draw, &self->plan->questions[i], self->on.rng, err));
    join_difference(self);
    return PN_OK;
}

pn_status pn_oracle_open(pn_oracle **out, const pn_plan *plan, pn_ledger *ledger, pn_rng *rng, pn_task *task,
                         pn_err *err)
{
    pn_oracle *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "oracle: out of memory"));
    *self = (pn_oracle){ .plan = plan,
                         .objective = plan->objective,
                         .on = { .label = plan->name,
                                 .ledger = ledger,
                                 .rng = rng,
                                 .task = task,
                                 .steps = plan->iterations,
                                 .whole = plan->whole,
                                 .ahead = !plan->by_step } };
    self->context = (pn_step_context){ .ledger = ledger, .rng = rng, .task = task, .receipt = &self->receipt };
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
    return self->on.ledger;
}

bool pn_oracle_is_lesson(const pn_oracle *self)
{
    return self->on.ledger && pn_ledger_budget(self->on.ledger)->teaching;
}

uint64_t pn_oracle_records(const pn_oracle *self)
{
    return self->records;
}

pn_status pn_oracle_charged(const pn_oracle *self, pn_event **event, size_t *count, pn_err *err)
{
    pn_receipt all = { .rows = 0 };
    pn_status status;

    if (self->plan->whole) {
        *event = self->paid ? pn_event_keep(self->plan->event) : NULL;
        *count = 1;
        return PN_OK;
    }
    for (size_t i = 0; i < self->plan->question_count; i++)
        pn_receipt_add(&all, self->plan->questions[i].event, self->slots[i].draw.charged);
    for (size_t i = 0; i < self->receipt.rows; i++)
        pn_receipt_add(&all, self->receipt.event[i], self->receipt.times[i]);
    status = pn_receipt_total(&all, event, count, err);
    pn_receipt_clear(&all);
    return status;
}

/* ---- the memory ---- */

/* Numbers of one point: of what a solver has computed those of the answer. */
static size_t point_of(const pn_slot *at)
{
    const pn_question *question = at->draw.question;

    return question->ops->answer == PN_ANSWER_MASKED ? question->dim : pn_objective_dim(question->objective);
}

static size_t inputs_of(const pn_slot *at)
{
    return (at->draw.question->points + at->draw.question->ops->two) * point_of(at);
}

static bool same(const pn_slot *at, const pn_given *was, const pn_asked *asked)
{
    size_t dim = point_of(at), points = at->draw.question->points * dim;

    return was->tau == asked->tau && memcmp(was->inputs, asked->x, points * sizeof(double)) == 0 &&
           (!at->draw.question->ops->two || memcmp(was->inputs + points, asked->v, dim * sizeof(double)) == 0);
}

/* Room for the next answer of the step, with what it is asked with. */
static pn_status next_given(pn_slot *at, const pn_asked *asked, pn_given **out, pn_err *err)
{
    size_t inputs = inputs_of(at), dim = point_of(at);
    pn_given *grown;

    if (at->asked == at->made) {
        PN_TRY(pn_made(grown = pn_resize(at->given, at->made + 1, sizeof *grown), err, "oracle: out of memory"));
        at->given = grown;
        grown += at->made;
        *grown = (pn_given){ 0 };
        PN_TRY(pn_new(&grown->inputs, inputs + pn_question_computed(at->draw.question), err,
                      "oracle: out of memory for %zu coordinates", pn_question_computed(at->draw.question)));
        grown->answer = grown->inputs + inputs;
        at->made++;
    }
    *out = &at->given[at->asked];
    if ((*out)->there)
        return PN_OK;
    (*out)->tau = asked->tau;
    memcpy((*out)->inputs, asked->x, at->draw.question->points * dim * sizeof(double));
    if (at->draw.question->ops->two)
        memcpy((*out)->inputs + at->draw.question->points * dim, asked->v, dim * sizeof(double));
    return PN_OK;
}

pn_status pn_oracle_refuse(const pn_oracle *self, const char *what, size_t planned, pn_err *err)
{
    if (planned == 0)
        return pn_fail(err, PN_EPRIVACY, "%s: a step asks %s, which its plan does not have", self->plan->owner, what);
    return pn_fail(err, PN_EPRIVACY, "%s: a step asks %s more often than its plan pays for (%zu)", self->plan->owner,
                   what, planned);
}

/* A run at the price of its loss distribution is no sum of prices of steps. */
pn_status pn_oracle_pay_whole(pn_oracle *self, pn_err *err)
{
    if (!self->plan->whole || self->paid || !pn_oracle_is_private(self))
        return PN_OK;
    PN_TRY(pn_ledger_spend(self->on.ledger, self->plan->event, 1, self->plan->name, err));
    self->paid = true;
    return PN_OK;
}

/* The answer to the next question of that slot: anew, or as it was given before the step failed. */
pn_status pn_oracle_answer(pn_oracle *self, pn_slot *at, const pn_asked *asked, bool value, pn_given **out, pn_err *err)
{
    const pn_question *question = at->draw.question;
    pn_status status = PN_OK;

    if (self->answering)
        return pn_fail(err, PN_EPRIVACY, "%s: %s is asked while an answer is being computed; ask between the answers",
                       self->plan->owner, question->ops->name);
    if (at->asked == question->each && !PN_MUTANT("asked_again"))
        return pn_oracle_refuse(self, question->ops->name, question->each, err);
    PN_TRY(next_given(at, asked, out, err));
    if ((*out)->there && !same(at, *out, asked) && !PN_MUTANT("answer_reused"))
        return pn_fail(err, PN_EPRIVACY,
                       "%s: a step that failed and is tried again asks %s at another point than the one that was "
                       "answered and paid for; put the state back as it was before the step",
                       self->plan->owner, question->ops->name);
    if (!(*out)->there) {
        PN_TRY(pn_oracle_pay_whole(self, err));
        (*out)->value = NAN;
        self->answering = true;
        status = pn_draw_answer(&at->draw, &self->on, asked, value && pn_oracle_shows(self) ? &(*out)->value : NULL,
                                *out, err);
        self->answering = false;
        self->records += status == PN_OK ? at->draw.records : 0;
    }
    at->asked += status == PN_OK;
    return status;
}

pn_status pn_oracle_find(const pn_oracle *self, const pn_question_ops *ops, pn_slot **out, pn_err *err)
{
    *out = pn_oracle_slot(self, ops);
    return *out ? PN_OK : pn_oracle_refuse(self, ops->name, 0, err);
}
