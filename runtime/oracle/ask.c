/* ask.c -- the questions that solvers of this library ask in their queries.
 * Depends on: oracle_impl.h.  Used by: the `query` of solvers. */
#include <math.h>
#include <string.h>

#include "oracle/oracle_impl.h"

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
    PN_TRY(pn_objective_losses(self->objective, NULL, x, value, gradient, self->on.task, err));
    self->records += gradient ? pn_objective_data(self->objective)->n : 0;
    if (!value || !isnan(*value))
        return PN_OK;
    return pn_objective_undefined(self->objective, self->plan->owner, err);
}

bool pn_oracle_takes_batches(const pn_oracle *self)
{
    const pn_slot *at = pn_oracle_slot(self, &pn_question_gradient);

    return at && at->draw.question->scheme;
}

/* Of all records or of the next batch, as the plan has it.  What a batch's losses are is never shown. */
static pn_status take_losses(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err)
{
    bool batches = pn_oracle_takes_batches(ask);
    pn_slot *at = NULL;
    pn_asked asked = { .x = x };
    pn_given *got = NULL;

    if (!pn_oracle_is_private(ask) && !batches)
        return exact_losses(ask, x, value, gradient, err);
    PN_TRY(pn_oracle_find(ask, &pn_question_gradient, &at, err));
    PN_TRY(pn_oracle_answer(ask, at, &asked, value && !batches, &got, err));
    memcpy(gradient, got->answer, at->draw.question->dim * sizeof(double));
    if (value)
        *value = got->value;
    return PN_OK;
}

pn_status pn_ask_gradient(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err)
{
    PN_TRY(take_losses(ask, x, value, gradient, err));
    return add_regulariser(ask, x, value, gradient, err);
}

pn_status pn_ask_source(pn_oracle *ask, const pn_gradient_oracle *source, const double *x, double *value,
                        double *gradient, pn_err *err)
{
    if (!source->sample)
        return pn_ask_gradient(ask, x, value, gradient, err);
    PN_TRY(pn_ask_value(ask, x, value, err));
    return source->sample(source->self, x, pn_objective_dim(ask->plan->objective), gradient, err);
}

pn_status pn_ask_losses(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err)
{
    PN_TRY(take_losses(ask, x, value, gradient, err));
    return add_regulariser(ask, x, value, NULL, err);
}

/* ---- variance reduction ---- */

/* v with its noise on all records, or for one noise with the batches' differences, which keep it to themselves. */
static pn_status private_snapshot(pn_oracle *ask, pn_slot *difference, const double *y, double *value, double *v,
                                  pn_err *err)
{
    const pn_question *question = difference->draw.question;
    pn_slot *gradient = pn_oracle_slot(ask, &pn_question_gradient);
    pn_asked asked = { .x = y };
    pn_given *got = NULL;

    if (gradient) {
        PN_TRY(pn_oracle_answer(ask, gradient, &asked, value != NULL, &got, err));
        memcpy(v, got->answer, question->dim * sizeof(double));
        if (value)
            *value = got->value;
        return PN_OK;
    }
    PN_TRY(pn_objective_snapshot(ask->objective, y, pn_difference_factors(question, difference->draw.room, y),
                                 value && pn_oracle_shows(ask) ? value : NULL, v, ask->on.task, err));
    ask->records += pn_objective_data(ask->objective)->n;
    for (size_t j = 0; j < question->dim; j++)
        v[j] *= (double)question->batch; /* in the unit of a batch's sum */
    PN_TRY(pn_batch_release_set_whole(difference->draw.release, v, err));
    memset(v, 0, question->dim * sizeof(double));
    return PN_OK;
}

pn_status pn_ask_snapshot(pn_oracle *ask, const double *y, size_t steps, double *value, double *v, pn_err *err)
{
    pn_slot *difference = NULL, *gradient = pn_oracle_slot(ask, &pn_question_gradient);

    PN_TRY(pn_oracle_find(ask, &pn_question_difference, &difference, err));
    if (pn_oracle_is_private(ask)) {
        PN_TRY(pn_oracle_pay_whole(ask, err));
        PN_TRY(gradient ? pn_draw_pay(&gradient->draw, &ask->on, 1, err) : PN_OK);
        PN_TRY(pn_draw_pay(&difference->draw, &ask->on, steps, err));
        return private_snapshot(ask, difference, y, value, v, err);
    }
    PN_TRY(pn_objective_snapshot(ask->objective, y,
                                 pn_difference_factors(difference->draw.question, difference->draw.room, y), value, v,
                                 ask->on.task, err));
    ask->records += pn_objective_data(ask->objective)->n;
    return PN_OK;
}

pn_status pn_ask_difference(pn_oracle *ask, const double *x, const double *y, double tau, double *sum, pn_err *err)
{
    pn_asked asked = { .x = x, .v = y, .tau = tau };
    pn_slot *at = NULL;
    pn_given *got = NULL;

    PN_TRY(pn_oracle_find(ask, &pn_question_difference, &at, err));
    PN_TRY(pn_oracle_answer(ask, at, &asked, false, &got, err));
    memcpy(sum, got->answer, at->draw.question->dim * sizeof(double));
    return PN_OK;
}

pn_status pn_ask_rows(pn_oracle *ask, pn_batch *batch, const double **factors, pn_err *err)
{
    pn_slot *at = NULL;

    if (pn_oracle_is_private(ask))
        return pn_oracle_refuse(ask, "the records of a batch", 0, err);
    PN_TRY(pn_oracle_find(ask, &pn_question_difference, &at, err));
    PN_TRY(pn_sampler_draw(at->draw.sampler, ask->on.rng, &batch->count, err));
    batch->rows = at->draw.sampler->indices;
    batch->denominator = 1.0;
    *factors = at->draw.room;
    ask->records += 2 * batch->count;
    return PN_OK;
}

/* The answer at x, and f(x) where it is asked for. */
static pn_status answer_at(pn_oracle *ask, const pn_question_ops *ops, const double *x, double *value, pn_given **got,
                           pn_err *err)
{
    pn_asked asked = { .x = x };
    pn_slot *at = NULL;

    PN_TRY(pn_oracle_find(ask, ops, &at, err));
    PN_TRY(pn_oracle_answer(ask, at, &asked, value != NULL, got, err));
    if (value)
        *value = (*got)->value;
    return PN_OK;
}

pn_status pn_ask_vertex(pn_oracle *ask, const double *x, double *value, size_t *chosen, pn_err *err)
{
    pn_given *got = NULL;

    PN_TRY(answer_at(ask, &pn_question_vertex, x, value, &got, err));
    *chosen = got->chosen;
    return PN_OK;
}

pn_status pn_ask_choices(pn_oracle *ask, const double *x, double *value, double *vertex, pn_err *err)
{
    pn_given *got = NULL;

    PN_TRY(answer_at(ask, &pn_question_choices, x, value, &got, err));
    memcpy(vertex, got->answer, pn_objective_set(ask->objective)->dim * sizeof(double));
    return PN_OK;
}

pn_status pn_ask_coordinates(pn_oracle *ask, const double *x, double *value, const double **codes, pn_err *err)
{
    pn_given *got = NULL;

    PN_TRY(answer_at(ask, ask->plan->questions[0].ops, x, value, &got, err));
    *codes = got->answer;
    return PN_OK;
}

pn_status pn_oracle_ask(pn_oracle *self, size_t which, const pn_asked *asked, pn_answer *out, pn_err *err)
{
    pn_given *got = NULL;

    PN_TRY(pn_oracle_answer(self, &self->slots[which], asked, out->wants_value, &got, err));
    out->numbers = got->answer;
    out->chosen = got->chosen;
    out->value = got->value;
    return PN_OK;
}

pn_status pn_ask_value(pn_oracle *ask, const double *x, double *value, pn_err *err)
{
    if (pn_oracle_is_private(ask))
        return pn_oracle_refuse(ask, "value", 0, err);
    PN_TRY(exact_losses(ask, x, value, NULL, err));
    return add_regulariser(ask, x, value, NULL, err);
}

/* ---- estimates from values ---- */

pn_status pn_ask_smoothed(pn_oracle *ask, const double *w, const double *before, double *gradient, pn_err *err)
{
    pn_asked asked = { .x = w, .v = before };
    pn_slot *at = NULL;
    pn_given *got = NULL;

    PN_TRY(pn_oracle_find(ask, &pn_question_smoothed, &at, err));
    PN_TRY(pn_oracle_answer(ask, at, &asked, false, &got, err));
    memcpy(gradient, got->answer, at->draw.question->dim * sizeof(double));
    return PN_OK;
}

double pn_ask_place(pn_oracle *ask)
{
    return pn_smoothed_place(pn_oracle_slot(ask, &pn_question_smoothed)->draw.smoothed);
}

size_t pn_ask_pick(pn_oracle *ask, size_t count)
{
    return pn_smoothed_pick(pn_oracle_slot(ask, &pn_question_smoothed)->draw.smoothed, count);
}

pn_status pn_ask_blocks(pn_oracle *ask, const pn_block_sampling *sampling, size_t *indices, size_t *count, pn_err *err)
{
    return pn_block_sampling_draw(sampling, ask->on.rng, indices, count, err);
}

/* ---- points that a solver computes ---- */

bool pn_ask_shows(const pn_oracle *ask)
{
    return pn_oracle_shows(ask);
}

pn_task *pn_ask_task(const pn_oracle *ask)
{
    return ask->on.task;
}

pn_step_context *pn_ask_context(pn_oracle *ask)
{
    return &ask->context;
}

void pn_ask_count(pn_oracle *ask, uint64_t records)
{
    ask->records += records;
}

pn_status pn_ask_linear(pn_oracle *ask, double *b, pn_err *err)
{
    pn_slot *at = NULL;

    PN_TRY(pn_oracle_find(ask, &pn_question_minimum, &at, err));
    return pn_draw_linear(&at->draw, &ask->on, b, err);
}

pn_status pn_ask_masked(pn_oracle *ask, const double *x, double *out, pn_err *err)
{
    pn_slot *at = pn_oracle_slot(ask, &pn_question_minimum);
    pn_asked asked = { .x = x };
    pn_given *got = NULL;

    if (!at)
        PN_TRY(pn_oracle_find(ask, &pn_question_point, &at, err));
    PN_TRY(pn_oracle_answer(ask, at, &asked, false, &got, err));
    memcpy(out, got->answer, at->draw.question->dim * sizeof(double));
    return PN_OK;
}

pn_status pn_ask_forfeit(pn_oracle *ask, pn_err *err)
{
    pn_slot *at = NULL;

    PN_TRY(pn_oracle_find(ask, &pn_question_point, &at, err));
    if (at->draw.charged == 0)
        PN_TRY(pn_ledger_spend(ask->on.ledger, at->draw.question->event, 1, ask->plan->name, err));
    at->draw.charged = 1;
    return PN_OK;
}

size_t pn_ask_below(pn_oracle *ask, size_t count)
{
    return (size_t)pn_rng_below(ask->on.rng, count);
}

void pn_ask_normals(pn_oracle *ask, size_t n, double *normals)
{
    pn_rng_normals(ask->on.rng, n, normals);
}
