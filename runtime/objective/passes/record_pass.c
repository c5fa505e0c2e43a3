/* record_pass.c -- the means of a black box over records at some points, called back on the caller's thread.
 * Depends on: objective_impl.h.  Used by: pass.c, differences.c. */
#include <math.h>

#include "core/alloc.h"
#include "objective/passes/objective_impl.h"

/* One record through the callback: losses[count]. */
static pn_status call_record(pn_objective *objective, const double *thetas, size_t count, const pn_record *record,
                             double *losses, pn_err *err)
{
    double lipschitz;
    void *context;
    pn_record_fn call = pn_loss_record(objective->loss, &context, &lipschitz);
    pn_status status = call(context, thetas, count, objective->dim, record, losses, err);
    size_t bad;

    if (status != PN_OK)
        return status;
    bad = pn_first_nonfinite(losses, count);
    return bad == count
               ? PN_OK
               : pn_fail(err, PN_EDOMAIN, "loss.%s: the function must return a finite number, got %g",
                         objective->loss->row->name, isnan(losses[bad]) ? (double)NAN : losses[bad]); /* never "-nan" */
}

/* Records of a stretch: their losses wait side by side until all ranks have theirs, and are added in order. */
#define STRETCH_NUMBERS 262144
#define STRETCH_RECORDS 4096

typedef struct visit {
    pn_objective *objective;
    const pn_batch *batch;
    const double *thetas;
    size_t count;
    size_t first;   /* record of the stretch */
    double *losses; /* [stretch][count] */
    double *room;   /* [p] a record's features */
} visit;

static pn_status visit_records(void *context, size_t begin, size_t end, pn_task *task, pn_err *err)
{
    const visit *self = context;
    const pn_objective *objective = self->objective;

    for (size_t r = begin; r < end; r++) {
        size_t i = self->batch ? self->batch->rows[self->first + r] : self->first + r;
        pn_record record = { .p = objective->data->p, .y = objective->data->y[i], .row = i, .task = task };
        pn_status status;

        PN_TRY(pn_task_cancelled(task) ? pn_task_report(task, "black box", 0.0, 0.0, err) : PN_OK);
        pn_record_features(objective, i, self->room);
        record.x = self->room;
        status = call_record(self->objective, self->thetas, self->count, &record, self->losses + r * self->count, err);
        if (status != PN_OK)
            return status;
    }
    return PN_OK;
}

static size_t stretch_of(size_t records, size_t count)
{
    size_t fit = STRETCH_NUMBERS / count;

    fit = fit < 16 ? 16 : fit > STRETCH_RECORDS ? STRETCH_RECORDS : fit;
    return records < fit ? records : fit;
}

/* totals[count] += the losses of the stretch's records, in order. */
static pn_status run_stretch(visit *self, size_t records, double *totals, double *values, pn_status before,
                             pn_task *task, pn_err *err)
{
    const pn_ranks_part part = { .data = self->losses, .bytes = self->count * sizeof(double) };
    const pn_shared work = { .chunks = records,
                             .run = visit_records,
                             .self = self,
                             .parts = &part,
                             .part_count = 1,
                             .theta = self->thetas,
                             .batch = self->batch };
    pn_status status = pn_share_chunks(self->objective, &work, before, task, err);

    for (size_t r = 0; r < records && status == PN_OK; r++) {
        const double *losses = self->losses + r * self->count;

        if (values)
            values[self->first + r] = losses[0];
        for (size_t k = 0; k < self->count; k++)
            totals[k] += losses[k];
    }
    return status;
}

pn_status pn_record_means(pn_objective *objective, const pn_batch *batch, const double *thetas, size_t count,
                          double *means, double *values, pn_task *task, pn_err *err)
{
    size_t p = objective->data->p, records = pn_batch_records(objective, batch), stretch = stretch_of(records, count);
    visit self = { .objective = objective, .batch = batch, .thetas = thetas, .count = count };
    double *totals;
    pn_status status = pn_check_batch(objective, batch, err);

    if (status != PN_OK)
        return status;
    totals = pn_calloc(count * (stretch + 1) + p, sizeof *totals);
    self.losses = totals ? totals + count : NULL;
    self.room = totals ? self.losses + count * stretch : NULL;
    if (!totals)
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for a record of %zu features", p);
    do { /* without memory, too, for the other ranks wait for this one */
        status = run_stretch(&self, records - self.first < stretch ? records - self.first : stretch, totals, values,
                             status, task, err);
        self.first += stretch;
    } while (status == PN_OK && self.first < records);
    for (size_t k = 0; status == PN_OK && k < count; k++)
        means[k] = totals[k] / (batch ? batch->denominator : (double)objective->data->n);
    pn_free(totals);
    return status;
}
