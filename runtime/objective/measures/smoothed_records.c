/* smoothed_records.c -- differences along random directions for black boxes: a record's points are formed and asked for
 * in one call.
 * Depends on: smoothed_impl.h, numeric/blas.h.  Used by: smoothed.c. */
#include <string.h>

#include "numeric/blas.h"
#include "objective/measures/smoothed_impl.h"

/* points[sides * lines][dim], values[sides][lines], c[lines], term[dim], x[p] */
size_t pn_smoothed_records_room(const pn_smoothed_run *run)
{
    return pn_smoothed_unit_room(run) + run->sides * run->lines * (run->kind.dim + 1) + run->lines + run->kind.dim +
           run->objective->data->p;
}

/* theta + mu u_j for every j, theta - mu u_j; the same at the other point. */
static void place(const pn_smoothed_run *run, const double *directions, double *points)
{
    size_t dim = run->kind.dim;

    for (size_t side = 0; side < run->sides; side++) {
        const double *from = side < 2 ? run->theta : run->other;
        double step = side % 2 ? -run->how->radius : run->how->radius;

        for (size_t j = 0; j < run->lines; j++, points += dim) {
            for (size_t k = 0; k < dim; k++)
                points[k] = from[k] + step * directions[j * dim + k];
        }
    }
}

static pn_status ask(const pn_smoothed_run *run, size_t i, const double *points, double *values, double *x,
                     pn_task *task, pn_err *err)
{
    const pn_dataset *data = run->objective->data;
    double lipschitz;
    void *context;
    pn_record_fn call = pn_loss_record(run->objective->loss, &context, &lipschitz);

    pn_record_features(run->objective, i, x);
    return call(context, points, run->sides * run->lines, run->kind.dim,
                &(pn_record){ .x = x, .p = data->p, .y = data->y[i], .row = i, .task = task }, values, err);
}

/* sum += the term of the record at position first + r of a unit. */
static pn_status run_record(const pn_smoothed_run *run, size_t first, size_t count, size_t r, double *room, double *sum,
                            uint64_t *bad, pn_task *task, pn_err *err)
{
    size_t lines = run->lines, dim = run->kind.dim;
    double *points = room + pn_smoothed_unit_room(run), *values = points + run->sides * lines * dim;
    double *c = values + run->sides * lines, *term = c + lines, *x = term + dim;
    pn_direction_set set = pn_smoothed_set(run, count, r, room);

    place(run, pn_direction_matrix(&set), points);
    PN_TRY(ask(run, run->call->rows[first + r], points, values, x, task, err));
    for (size_t j = 0; j < lines; j++)
        c[j] = pn_smoothed_coefficient(run, values + j, lines, bad);
    pn_direction_combine(&set, c, term);
    pn_axpy(dim, 1.0, term, sum);
    return PN_OK;
}

static pn_status run_unit(const pn_smoothed_run *run, size_t first, size_t count, double *sum, uint64_t *bad,
                          pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    pn_smoothed_draw(run, first, count, run->scratch, run->streams[0]);
    for (size_t r = 0; status == PN_OK && r < count; r++) {
        if (pn_task_cancelled(task))
            status = pn_task_report(task, "black box", 0.0, 0.0, err);
        if (status == PN_OK)
            status = run_record(run, first, count, r, run->scratch, sum, bad, task, err);
    }
    return status;
}

pn_status pn_smoothed_records(void *context, size_t first_chunk, size_t end_chunk, pn_task *task, pn_err *err)
{
    pn_smoothed_run *run = context;
    pn_status status = PN_OK;

    for (size_t chunk = first_chunk; status == PN_OK && chunk < end_chunk; chunk++) {
        size_t end = pn_smoothed_chunk_end(run, chunk);
        double *sum = run->partial + chunk * run->kind.dim;

        memset(sum, 0, run->kind.dim * sizeof *sum);
        for (size_t first = chunk * run->cut.chunk_rows; status == PN_OK && first < end; first += run->cut.unit) {
            size_t count = end - first < run->cut.unit ? end - first : run->cut.unit;

            status = run_unit(run, first, count, sum, &run->bad[chunk], task, err);
        }
    }
    return status;
}
