/* question_smoothed.c -- gradients of the smoothed loss from values alone, in private prefix sums over records that are
 * used once a pass.
 * A record's term is clipped to a norm (objective/measures/smoothed.h), so a leaf over m records moves by two terms
 * over m; the object that hands out the records prices the sums (continual/single_pass.h).
 * Depends on: question.h, draw.h, continual/single_pass.h, objective/measures/smoothed.h.
 * Used by: draw.c, solvers/zeroth_order. */
#include <string.h>

#include "core/alloc.h"
#include "oracle/draw.h"

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

/* ---- the row ---- */

static pn_status certify(pn_question *self, pn_err *err)
{
    return pn_fail(err, PN_EUNSUPPORTED, "%s: its records are shared out to a whole run, which a plan does",
                   self->ops->name);
}

const pn_question_ops pn_question_smoothed = {
    .name = "smoothed",
    .doc = "Gradients of the smoothed loss from values alone, in private prefix sums; each record once a pass.",
    .source = "Zhang, Tran, Cutkosky (2024)",
    .answer = PN_ANSWER_SMOOTHED,
    .two = true,
    .certify = certify,
};
