/* oracle_impl.h -- the oracle's insides, shared by oracle.c and ask.c only. */
#ifndef PN_ORACLE_IMPL_H
#define PN_ORACLE_IMPL_H

#include "oracle/draw.h"
#include "oracle/oracle.h"
#include "oracle/receipt.h"

/* A question of the plan, and its answers of the step at hand. */
typedef struct pn_slot {
    pn_draw draw;
    pn_given *given;    /* [made] */
    size_t made, asked; /* asked: in this step, so far */
} pn_slot;

struct pn_oracle {
    const pn_plan *plan;
    pn_objective *objective;
    pn_draw_on on;
    pn_slot *slots; /* [plan->question_count] */
    uint64_t records;
    pn_step_context context; /* of instruments */
    pn_receipt receipt;      /* of what they were charged */
    bool paid;               /* a run that is charged as a whole */
    bool answering;          /* functions of a user's that a pass calls may not ask */
};

static inline bool pn_oracle_is_private(const pn_oracle *self)
{
    return self->plan->request.kind != PN_NONPRIVATE;
}

/* A real run never computes what it may not show. */
static inline bool pn_oracle_shows(const pn_oracle *self)
{
    return !pn_oracle_is_private(self) || pn_rng_simulated(self->on.rng);
}

/** The slot of the first question of that kind; NULL, or (find) PN_EPRIVACY, where the plan has none. */
pn_slot *pn_oracle_slot(const pn_oracle *self, const pn_question_ops *ops);
pn_status pn_oracle_find(const pn_oracle *self, const pn_question_ops *ops, pn_slot **out, pn_err *err);
/** The answer to the next question of that slot: anew, or as it was given before the step failed. */
pn_status pn_oracle_answer(pn_oracle *self, pn_slot *at, const pn_asked *asked, bool value, pn_given **out,
                           pn_err *err);
/** Charge a run that is charged as a whole; nothing to do for others, and the second time. */
pn_status pn_oracle_pay_whole(pn_oracle *self, pn_err *err);
/** PN_EPRIVACY: a step asks `what` more often than planned. */
pn_status pn_oracle_refuse(const pn_oracle *self, const char *what, size_t planned, pn_err *err);

#endif
