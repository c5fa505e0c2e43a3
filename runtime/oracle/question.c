/* question.c -- what all kinds of questions share: a place in a plan, and a price.
 * Depends on: question.h, privacy/mechanism.  Used by: oracle.c, plans of solvers. */
#include "core/alloc.h"
#include "oracle/question.h"

void pn_question_clear(pn_question *self)
{
    pn_event_free(self->event);
    self->event = NULL;
}

pn_status pn_plan_ask(pn_question **out, pn_plan *plan, const pn_question_ops *ops, pn_err *err)
{
    pn_question *grown;

    if (plan->question_count == PN_PLAN_QUESTIONS)
        return pn_fail(err, PN_EUNSUPPORTED, "solve.%s: a plan has at most %d kinds of questions", plan->name,
                       PN_PLAN_QUESTIONS);
    grown = pn_resize(plan->questions, plan->question_count + 1, sizeof *grown);

    PN_TRY(pn_made(grown, err, "solve.%s: out of memory", plan->name));
    plan->questions = grown;
    *out = &grown[plan->question_count++];
    **out = (pn_question){ .ops = ops,
                           .objective = plan->objective,
                           .neighbours = plan->request.neighbours,
                           .points = 1,
                           .each = 1,
                           .share = 1.0,
                           .divisor = 1.0,
                           .per_event = 1 };
    return PN_OK;
}

pn_status pn_question_mechanism(pn_mechanism **out, const pn_question *self, pn_err *err)
{
    const pn_gradient_noise *noise = &self->noise;
    pn_arg args[] = { { .given = true, .real = noise->sigma },
                      { .given = true, .real = noise->sensitivity },
                      { .given = true, .count = self->dim },
                      { .given = true, .real = noise->bound },
                      { .given = false },
                      { .given = true, .flag = true } /* strict: the bound is certified */ };

    if (self->ops->answer == PN_ANSWER_CHOICE)
        return pn_mechanism_selection(out, &self->selection, err);
    return pn_mechanism_from_args(out, "gaussian", args, self->neighbours, err);
}

pn_status pn_question_price(pn_question *self, pn_err *err)
{
    pn_mechanism *mechanism = NULL;

    pn_question_clear(self);
    if (self->batches.scheme)
        return pn_batch_release_price(&self->event, &self->per_event, &self->batches, err);
    PN_TRY(pn_question_mechanism(&mechanism, self, err));
    self->event = pn_event_keep(mechanism->event);
    pn_mechanism_free(mechanism);
    return PN_OK;
}
