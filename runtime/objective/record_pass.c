/* record_pass.c -- the mean of a black box over records, called back on the caller's thread.
 * Depends on: objective_impl.h, data/rows.h.  Used by: pass.c, differences.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/rows.h"
#include "objective/objective_impl.h"

/* The record's features as p numbers: in place when they are stored so, else in `room`. */
static const double *features(const pn_rows *rows, size_t i, double *room)
{
    const pn_dataset *data = rows->data;
    size_t count;
    const double *x = pn_rows_get(rows, i, &count);

    if (!data->sparse)
        return x;
    memset(room, 0, data->p * sizeof *room);
    for (size_t k = 0; k < count; k++)
        room[data->csr.column[data->csr.start[i] + k]] = x[k];
    return room;
}

static pn_status visit(pn_objective *objective, const pn_rows *rows, const pn_batch *batch, const double *theta,
                       double *room, double *value, double *values, pn_task *task, pn_err *err)
{
    size_t records = batch ? batch->count : objective->data->n;
    double lipschitz, total = 0.0;
    void *context;
    pn_record_fn call = pn_loss_record(objective->loss, &context, &lipschitz);

    for (size_t r = 0; r < records; r++) {
        size_t i = batch ? batch->rows[r] : r;
        double one = 0.0;
        pn_status status = pn_task_cancelled(task) ? pn_task_report(task, "black box", 0.0, 0.0, err) : PN_OK;

        if (status == PN_OK)
            status =
                call(context, theta, 1, objective->dim,
                     &(pn_record){
                         .x = features(rows, i, room), .p = objective->data->p, .y = objective->data->y[i], .row = i },
                     &one, err);
        if (status != PN_OK)
            return status;
        if (!isfinite(one))
            return pn_fail(err, PN_EDOMAIN, "loss.black_box: the function must return a finite number, got %g", one);
        if (values)
            values[r] = one;
        total += one;
    }
    *value = total / (batch ? batch->denominator : (double)records);
    return PN_OK;
}

pn_status pn_record_mean(pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                         double *values, pn_task *task, pn_err *err)
{
    pn_rows rows;
    double *room;
    pn_status status = pn_check_batch(objective, batch, err);

    if (status == PN_OK)
        status = pn_rows_open(&rows, objective->data, err);
    if (status != PN_OK)
        return status;
    room = pn_alloc(objective->data->p, sizeof *room);
    status = room
                 ? visit(objective, &rows, batch, theta, room, value, values, task, err)
                 : pn_fail(err, PN_ENOMEM, "objective: out of memory for a record of %zu features", objective->data->p);
    pn_free(room);
    pn_rows_close(&rows);
    return status;
}
