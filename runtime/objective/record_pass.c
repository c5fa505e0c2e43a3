/* record_pass.c -- the means of a black box over records at some points, called back on the caller's thread.
 * Depends on: objective_impl.h.  Used by: pass.c, differences.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/objective_impl.h"

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

/* totals[count] = sum over the records in order; `losses` and `room` are scratch for a record's losses and features. */
static pn_status visit(pn_objective *objective, const pn_batch *batch, const double *thetas, size_t count,
                       double *totals, double *losses, double *room, double *values, pn_task *task, pn_err *err)
{
    size_t records = pn_batch_records(objective, batch);

    memset(totals, 0, count * sizeof *totals);
    for (size_t r = 0; r < records; r++) {
        size_t i = batch ? batch->rows[r] : r;
        pn_record record = { .p = objective->data->p, .y = objective->data->y[i], .row = i, .task = task };
        pn_status status = pn_task_cancelled(task) ? pn_task_report(task, "black box", 0.0, 0.0, err) : PN_OK;

        if (status != PN_OK)
            return status;
        pn_record_features(objective->data, i, room);
        record.x = room;
        status = call_record(objective, thetas, count, &record, losses, err);
        if (status != PN_OK)
            return status;
        if (values)
            values[r] = losses[0];
        for (size_t k = 0; k < count; k++)
            totals[k] += losses[k];
    }
    return PN_OK;
}

pn_status pn_record_means(pn_objective *objective, const pn_batch *batch, const double *thetas, size_t count,
                          double *means, double *values, pn_task *task, pn_err *err)
{
    size_t p = objective->data->p;
    double *room;
    pn_status status = pn_check_batch(objective, batch, err);

    if (status != PN_OK)
        return status;
    room = pn_alloc(2 * count + p, sizeof *room);
    status = room ? visit(objective, batch, thetas, count, room, room + count, room + 2 * count, values, task, err)
                  : pn_fail(err, PN_ENOMEM, "objective: out of memory for a record of %zu features", p);
    for (size_t k = 0; status == PN_OK && k < count; k++)
        means[k] = room[k] / (batch ? batch->denominator : (double)objective->data->n);
    pn_free(room);
    return status;
}
