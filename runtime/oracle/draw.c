/* draw.c -- see draw.h.  The order is always: compute, charge, draw; of a batch charge, draw the batch, compute, draw.
 * Depends on: draw.h, privacy/mechanism, continual.  Used by: oracle.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "oracle/draw.h"

/* ---- life ---- */

/* Without privacy the relation says nothing: that with every scheme is taken. */
static pn_status open_sampler(pn_draw *self, pn_err *err)
{
    const pn_batch_release_options *batches = &self->question->batches;
    pn_arg args[3] = { { .given = true, .count = batches->n } };

    args[1] = strcmp(batches->scheme, "poisson") == 0 ? (pn_arg){ .given = true, .real = batches->q }
                                                      : (pn_arg){ .given = true, .count = batches->batch };
    return pn_sampler_from_args(&self->sampler, batches->scheme, args, PN_REPLACE_ONE, err);
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* A random order, cut into batches: every record is in one of them, always the same. */
static pn_status draw_order(pn_draw *self, pn_rng *rng, pn_err *err)
{
    size_t n = pn_objective_data(self->question->objective)->n, batch = self->question->batch;

    PN_TRY(pn_new(&self->order, n, err, "oracle: out of memory for the order of %zu records", n));
    pn_rng_permutation(rng, n, self->order);
    for (size_t first = 0; first + batch <= n; first += batch)
        qsort(self->order + first, batch, sizeof *self->order, by_number);
    return PN_OK;
}

static pn_status open_stream(pn_draw *self, pn_rng *rng, pn_err *err)
{
    const pn_question *question = self->question;

    if (question->scheme)
        PN_TRY(draw_order(self, rng, err));
    return pn_prefix_new(&self->stream, question->design, question->exact ? NULL : rng, err);
}

pn_status pn_draw_open(pn_draw *self, const pn_question *question, pn_rng *rng, pn_err *err)
{
    self->question = question;
    if (question->room)
        PN_TRY(
            pn_new_zeroed(&self->room, question->room, err, "oracle: out of memory for %zu numbers", question->room));
    if (question->ops->answer == PN_ANSWER_SUMS)
        return open_stream(self, rng, err);
    if (question->ops == &pn_question_minimum)
        return PN_OK;
    if (question->ops->answer == PN_ANSWER_SMOOTHED)
        return pn_smoothed_open(&self->smoothed, question, rng, err);
    if (question->along.steps > 0)
        PN_TRY(pn_vertex_path_open(&self->along, question, err));
    if (question->ops->answer == PN_ANSWER_VERTEX)
        return question->exact ? PN_OK : pn_selections_new(&self->selections, &question->selections, err);
    if (question->exact)
        return question->scheme ? open_sampler(self, err) : PN_OK;
    return question->batches.scheme ? pn_batch_release_new(&self->release, &question->batches, err)
                                    : pn_question_mechanism(&self->mechanism, question, err);
}

void pn_draw_close(pn_draw *self)
{
    pn_free(self->room);
    pn_free(self->order);
    pn_prefix_free(self->stream);
    pn_sparse_run_free(self->watch);
    pn_selections_free(self->selections);
    pn_perturbation_free(self->masked);
    pn_smoothed_close(self->smoothed);
    pn_vertex_path_close(self->along);
    pn_mechanism_free(self->mechanism);
    pn_batch_release_free(self->release);
    pn_sampler_free(self->sampler);
}

/* ---- answers ---- */

static const char *label_of(const pn_draw *self, const pn_draw_on *on)
{
    return self->question->label ? self->question->label : on->label;
}

static pn_status compute(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, const pn_batch *batch,
                         double *value, pn_given *to, pn_err *err)
{
    const pn_question *question = self->question;

    if (batch && batch->rows && batch->count == 0) { /* a coin that fell for nobody */
        memset(to->answer, 0, question->dim * sizeof(double));
        return PN_OK;
    }
    if (self->differs && !(batch && batch->rows)) { /* one pass for both */
        const pn_draw *other = self->differs;
        double *factors = pn_difference_factors(other->question, other->room, asked->x);

        return pn_objective_snapshot(question->objective, asked->x, factors, value, to->answer, on->task, err);
    }
    return question->ops->compute(question, asked, batch, self->room, value, to->answer, on->task, err);
}

/* About all records, by a mechanism. */
static pn_status by_mechanism(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                              pn_err *err)
{
    pn_release release = { .values = to->answer };

    PN_TRY(compute(self, on, asked, NULL, value, to, err));
    if (PN_MUTANT("step_without_noise") && self->charged == 1) {
        self->charged++;
        return PN_OK;
    }
    PN_TRY(pn_mechanism_release(self->mechanism, on->ledger, label_of(self, on), on->rng, to->answer,
                                pn_question_computed(self->question), &release, err));
    self->charged++;
    to->chosen = release.index;
    return PN_OK;
}

/* A file is synced at every charge: there a few dozen steps are paid for at once, and an early end loses the rest of
 * them. */
static size_t releases_to_pay(const pn_draw *self, const pn_draw_on *on)
{
    size_t most = on->steps * self->question->each, paid = pn_batch_release_paid(self->release), block = 1;
    size_t left = most > paid ? most - paid : 1;

    if (on->whole)
        return left;
    if (on->ahead && pn_ledger_path(on->ledger))
        block = most / 64 > 1 ? most / 64 : 1;
    return left < block ? left : block;
}

pn_status pn_draw_pay(pn_draw *self, const pn_draw_on *on, size_t answers, pn_err *err)
{
    size_t left = self->release ? pn_batch_release_left(self->release) : answers;

    if (left >= answers)
        return PN_OK;
    PN_TRY(pn_batch_release_pay(self->release, on->ledger, label_of(self, on), on->rng, answers - left,
                                on->whole || PN_MUTANT("question_unpaid"), err));
    self->charged = pn_batch_release_paid(self->release) / self->question->per_event;
    return PN_OK;
}

/* A sum that shares its noise with one of all records is not scaled. */
static double scale_of(const pn_question *question, const pn_asked *asked)
{
    return question->ops->scale && question->batches.whole == 0.0 ? question->ops->scale(question, asked) : 1.0;
}

/* A sum over a batch, or one whose noise is scaled. */
static pn_status by_release(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                            pn_err *err)
{
    const pn_question *question = self->question;
    pn_batch batch = { .count = question->batches.n, .denominator = 1.0 };
    double scale = scale_of(question, asked);
    bool whole = !question->scheme;

    if (!(scale * question->batches.sigma <= 0x1p900))
        return pn_fail(err, PN_EINVAL, "%s: the question %s has length %g, beyond what noise can be drawn for",
                       on->label, question->ops->name, scale);
    if (whole)
        PN_TRY(compute(self, on, asked, &batch, value, to, err));
    PN_TRY(pn_batch_release_left(self->release) == 0 ? pn_draw_pay(self, on, releases_to_pay(self, on), err) : PN_OK);
    PN_TRY(pn_batch_release_draw(self->release, on->rng, &batch.rows, &batch.count, err));
    if (!whole)
        PN_TRY(compute(self, on, asked, &batch, NULL, to, err));
    if (question->scheme && strcmp(question->scheme, "poisson") != 0)
        self->records = batch.count * question->looks;
    return pn_batch_release_make(self->release, on->rng, scale, to->answer, to->answer, err);
}

static pn_status without_noise(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                               pn_err *err)
{
    const pn_question *question = self->question;
    pn_batch batch = { .count = pn_objective_data(question->objective)->n, .denominator = 1.0 };

    if (self->sampler) {
        PN_TRY(pn_sampler_draw(self->sampler, on->rng, &batch.count, err));
        batch.rows = self->sampler->indices;
        self->records = batch.count * question->looks;
    }
    PN_TRY(compute(self, on, asked, question->batches.scheme ? &batch : NULL, value, to, err));
    to->chosen = 0;
    if (question->ops->answer == PN_ANSWER_ABOVE)
        to->chosen = to->answer[0] >= question->threshold - question->offset;
    for (size_t k = 1; question->ops->answer == PN_ANSWER_CHOICE && k < question->dim; k++) {
        if (to->answer[k] > to->answer[to->chosen])
            to->chosen = k;
    }
    return PN_OK;
}

typedef struct picking {
    pn_selections *selections; /* NULL: the largest score, the first of several */
    pn_rng *rng;
} picking;

static pn_status pick(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err)
{
    const picking *by = self;

    if (by->selections)
        return pn_selections_pick(by->selections, by->rng, scores, count, chosen, err);
    *chosen = 0;
    for (size_t i = 1; i < count; i++)
        *chosen = scores[i] > scores[*chosen] ? i : *chosen;
    return PN_OK;
}

/* All choices of a vertex are charged before the first; the direction that was computed is written over. */
static pn_status by_selections(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                               pn_err *err)
{
    const pn_question *question = self->question;
    picking by = { self->selections, on->rng };
    double *vertex = self->room + pn_choices_room(question->choices);

    PN_TRY(compute(self, on, asked, NULL, value, to, err));
    if (self->selections) {
        PN_TRY(pn_selections_pay(self->selections, on->ledger, label_of(self, on), on->rng, err));
        self->charged++;
    }
    PN_TRY(pn_choices_make(question->choices, to->answer, pick, &by, self->room, vertex, err));
    memcpy(to->answer, vertex, question->dim * sizeof *vertex);
    return PN_OK;
}

/* The next leaf of a running sum: of all records, or of the next batch of the order.  A push that fails changes
 * nothing; the whole stream is charged before the first. */
static pn_status by_stream(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                           pn_err *err)
{
    const pn_question *question = self->question;
    size_t n = pn_objective_data(question->objective)->n, size = question->batch;
    pn_batch batch = { .count = size, .denominator = (double)size };

    if (self->order)
        batch.rows = self->order + (size_t)(pn_prefix_count(self->stream) % (n / size)) * size;
    PN_TRY(compute(self, on, asked, self->order ? &batch : NULL, self->order ? NULL : value, to, err));
    if (!question->exact && self->charged == 0) {
        PN_TRY(pn_prefix_admits(self->stream, to->answer, err));
        PN_TRY(pn_prefix_pay(self->stream, on->ledger, label_of(self, on), false, err));
        self->charged = 1;
    }
    return pn_prefix_push(self->stream, to->answer, to->answer, on->task, err);
}

static pn_status by_watch(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                          pn_err *err)
{
    bool above = false;

    if (self->watch && pn_sparse_run_left(self->watch) == 0)
        return pn_fail(err, PN_EPRIVACY,
                       "%s: the watch has answered \"above\" %zu time%s, as often as it was "
                       "planned for",
                       label_of(self, on), self->question->answers, self->question->answers == 1 ? "" : "s");
    PN_TRY(compute(self, on, asked, NULL, value, to, err));
    if (!self->watch) {
        PN_TRY(pn_sparse_run_new(&self->watch, self->mechanism, on->ledger, label_of(self, on), on->rng, err));
        self->charged = 1;
    }
    PN_TRY(pn_sparse_run_above(self->watch, to->answer[0], &above, err));
    to->chosen = above;
    to->answer[0] = 0.0; /* nothing but the answer leaves */
    return PN_OK;
}

pn_status pn_draw_linear(pn_draw *self, const pn_draw_on *on, double *b, pn_err *err)
{
    if (self->masked)
        return PN_OK;
    PN_TRY(pn_perturbation_open(&self->masked, &self->question->perturbation, on->ledger, label_of(self, on), on->rng,
                                b, err));
    self->charged = 1;
    return PN_OK;
}

static pn_status by_perturbation(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value,
                                 pn_given *to, pn_err *err)
{
    (void)on;
    (void)value;
    return pn_perturbation_release(self->masked, asked->x, to->answer, err);
}

/* From the unit of what was released to that of the answer. */
static void finish(const pn_question *question, pn_given *to)
{
    for (size_t j = 0; question->divisor != 1.0 && j < question->dim; j++)
        to->answer[j] /= question->divisor;
    for (size_t j = 0; question->offset != 0.0 && j < question->dim; j++)
        to->answer[j] += question->offset;
    if (question->ops->finish)
        question->ops->finish(question, to->answer);
    to->there = true;
}

pn_status pn_draw_answer(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                         pn_err *err)
{
    pn_status (*how)(pn_draw *, const pn_draw_on *, const pn_asked *, double *, pn_given *, pn_err *) = by_mechanism;

    if (self->stream)
        how = by_stream;
    else if (self->smoothed)
        how = pn_smoothed_answer;
    else if (self->along)
        how = pn_vertex_path_answer;
    else if (self->question->ops->answer == PN_ANSWER_VERTEX)
        how = by_selections;
    else if (self->question->exact)
        how = without_noise;
    else if (self->question->ops->answer == PN_ANSWER_ABOVE)
        how = by_watch;
    else if (self->release)
        how = by_release;
    else if (self->masked)
        how = by_perturbation;
    self->records = self->question->looks *
                    (self->question->scheme ? self->question->batch : pn_objective_data(self->question->objective)->n);
    if (self->question->ops->answer == PN_ANSWER_MASKED)
        self->records = 0; /* the solver has counted */
    PN_TRY(how(self, on, asked, value, to, err));
    finish(self->question, to);
    return PN_OK;
}
