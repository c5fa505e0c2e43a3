/* smoothed_margins.c -- differences along random directions for losses of margins: record i moved by mu u has the
 * margins z_i + mu <x_i, u_k>, so that U x_i is all that is needed of the directions, and the loss is evaluated for
 * many pairs of a record and a direction at once.
 * Depends on: smoothed_impl.h, numeric/blas.h.  Used by: smoothed.c. */
#include <string.h>

#include "numeric/blas.h"
#include "objective/measures/smoothed_impl.h"

#define PANEL 64 /* records of a group at once */

/* A worker's memory, for a panel of records. */
typedef struct room {
    double *unit;           /* directions */
    double *x, *y;          /* [records * p], [records] */
    double *z, *other;      /* [inputs][records] at theta, at the other point */
    double *steps;          /* [inputs][records * lines] of the directions */
    double *c;              /* [records * lines]: coefficients */
    double *slice, *values; /* of pn_moved_losses */
    double *term, *total;   /* [dim]; [lines]: coefficients of a group */
    double *apart;          /* [dim + K * lines], K margins: x in a row of zeros, steps in another order */
    double *transposed;     /* [dim * lines] of a group */
} room;

static size_t panel_rows(const pn_smoothed_run *run)
{
    return run->shared && run->cut.unit > PANEL ? PANEL : run->cut.unit;
}

static double *take(double *memory, size_t *at, size_t count)
{
    size_t begin = *at;

    *at += count;
    return memory ? memory + begin : NULL;
}

/* Where everything is in `memory` (NULL: only count), and how many doubles that takes. */
static size_t lay_out(const pn_smoothed_run *run, double *memory, room *out)
{
    size_t inputs = pn_loss_inputs(run->objective->loss), rows = panel_rows(run), at = 0;

    out->unit = take(memory, &at, pn_smoothed_unit_room(run));
    out->x = take(memory, &at, rows * run->objective->data->p);
    out->y = take(memory, &at, rows);
    out->z = take(memory, &at, inputs * rows);
    out->other = take(memory, &at, run->other ? inputs * rows : 0);
    out->steps = take(memory, &at, inputs * rows * run->lines);
    out->c = take(memory, &at, rows * run->lines);
    out->slice = take(memory, &at, PN_MOVED_ROOM(inputs));
    out->values = take(memory, &at, PN_LOSS_BLOCK);
    out->term = take(memory, &at, run->kind.dim);
    out->total = take(memory, &at, run->lines);
    out->apart = take(memory, &at, run->kind.dim + run->objective->loss->margins * run->lines);
    out->transposed = take(memory, &at, run->shared ? run->kind.dim * run->lines : 0);
    return at;
}

size_t pn_smoothed_margins_room(const pn_smoothed_run *run)
{
    room unused;

    return lay_out(run, NULL, &unused);
}

/* ---- margins ---- */

/* Records, labels and margins of the positions first .. first + count - 1. */
static void load(const pn_smoothed_run *run, size_t first, size_t count, const room *at)
{
    const pn_dataset *data = run->objective->data;

    for (size_t r = 0; r < count; r++) {
        size_t i = run->call->rows[first + r];
        double *x = at->x + r * data->p;

        pn_record_features(run->objective, i, x);
        at->y[r] = data->y[i];
        for (size_t k = 0; k < run->objective->loss->margins; k++) {
            at->z[k * count + r] = pn_dot(data->p, x, run->theta + k * data->p);
            if (run->other)
                at->other[k * count + r] = pn_dot(data->p, x, run->other + k * data->p);
        }
    }
    pn_block_extra(run->objective, count, run->theta, at->z + run->objective->loss->margins * count);
    if (run->other)
        pn_block_extra(run->objective, count, run->other, at->other + run->objective->loss->margins * count);
}

/* <x, u_jk> of one record, for K margins: each row of U is K rows of p numbers, and then one for each further
 * parameter. */
static void step_rows(const pn_smoothed_run *run, const double *rows, const double *x, const room *at, double *out,
                      size_t stride)
{
    size_t margins = run->objective->loss->margins, lines = run->lines, p = run->objective->data->p;
    double *apart = margins > 1 ? at->apart + run->kind.dim : out;
    size_t extra = run->objective->loss->extra, each = extra ? 1 : lines, dim = run->kind.dim;

    for (size_t j = 0; j < lines; j += each)
        pn_mat_times_vec((pn_mat){ (double *)rows + j * dim, each * margins, p }, x, apart + j * margins);
    for (size_t k = 0; margins > 1 && k < margins; k++) {
        for (size_t j = 0; j < lines; j++)
            out[k * stride + j] = apart[j * margins + k];
    }
    for (size_t k = 0; k < extra; k++) {
        for (size_t j = 0; j < lines; j++)
            out[(margins + k) * stride + j] = rows[j * dim + margins * p + k];
    }
}

/* The same by reflections: of x in the k-th row of zeros. */
static void step_reflected(const pn_smoothed_run *run, const pn_direction_set *set, const double *x, const room *at,
                           double *out, size_t stride)
{
    size_t margins = run->objective->loss->margins, p = run->objective->data->p;

    memset(at->apart, 0, run->kind.dim * sizeof *at->apart);
    for (size_t k = 0; k < margins; k++) {
        memcpy(at->apart + k * p, x, p * sizeof *x);
        pn_direction_times(set, at->apart, out + k * stride);
        memset(at->apart + k * p, 0, p * sizeof *x);
    }
    for (size_t k = 0; k < run->objective->loss->extra; k++) {
        at->apart[margins * p + k] = 1.0;
        pn_direction_times(set, at->apart, out + (margins + k) * stride);
        at->apart[margins * p + k] = 0.0;
    }
}

/* Steps of records with directions of their own. */
static void step_each(const pn_smoothed_run *run, size_t count, const room *at)
{
    size_t lines = run->lines, p = run->objective->data->p;

    for (size_t r = 0; r < count; r++) {
        pn_direction_set set = pn_smoothed_set(run, count, r, at->unit);
        double *out = at->steps + r * lines;

        if (run->kind.directions == PN_DIRECTIONS_ORTHOGONAL)
            step_reflected(run, &set, at->x + r * p, at, out, count * lines);
        else
            step_rows(run, pn_direction_matrix(&set), at->x + r * p, at, out, count * lines);
    }
}

/* Steps of records that share them: one product of matrices a margin; further parameters take the directions'. */
static void step_group(const pn_smoothed_run *run, size_t count, const room *at)
{
    const pn_loss *loss = run->objective->loss;
    size_t lines = run->lines, p = run->objective->data->p;

    for (size_t k = 0; k < loss->margins; k++) {
        pn_mat steps = { at->steps + k * count * lines, count, lines }, x = { at->x, count, p };
        pn_mat directions = { at->transposed + k * p * lines, p, lines };

        (void)pn_mat_times_mat(steps, x, directions, NULL); /* sizes fit: smoothed.c looks at them */
    }
    for (size_t k = 0; k < loss->extra; k++) {
        double *out = at->steps + (loss->margins + k) * count * lines;

        for (size_t r = 0; r < count; r++)
            memcpy(out + r * lines, at->transposed + (loss->margins * p + k) * lines, lines * sizeof *out);
    }
}

/* ---- coefficients ---- */

static void coefficients(const pn_smoothed_run *run, const room *at, size_t records, uint64_t *bad)
{
    const pn_moved moved = { .loss = run->objective->loss,
                             .records = records,
                             .lines = run->lines,
                             .sides = run->sides,
                             .radius = run->how->radius,
                             .z = { at->z, at->other },
                             .steps = at->steps,
                             .y = at->y };

    for (size_t begin = 0, count; begin < records * run->lines; begin += count) {
        count = pn_moved_losses(&moved, begin, at->slice, at->values);
        for (size_t t = 0; t < count; t++)
            at->c[begin + t] = pn_smoothed_coefficient(run, at->values + t, count, bad);
    }
}

/* ---- units ---- */

/* sum += the terms of records with directions of their own. */
static void run_unit(const pn_smoothed_run *run, size_t first, size_t count, const room *at, double *sum, uint64_t *bad)
{
    load(run, first, count, at);
    step_each(run, count, at);
    coefficients(run, at, count, bad);
    for (size_t r = 0; r < count; r++) {
        pn_direction_set set = pn_smoothed_set(run, count, r, at->unit);

        pn_direction_combine(&set, at->c + r * run->lines, at->term);
        pn_axpy(run->kind.dim, 1.0, at->term, sum);
    }
}

/* sum += U^T (sum of the coefficients of a group). */
static void run_group(const pn_smoothed_run *run, size_t first, size_t count, const room *at, double *sum,
                      uint64_t *bad)
{
    size_t lines = run->lines, most = panel_rows(run);
    pn_direction_set set = pn_smoothed_set(run, count, 0, at->unit);

    pn_mat_transpose(at->transposed, (pn_mat){ (double *)pn_direction_matrix(&set), lines, run->kind.dim });
    memset(at->total, 0, lines * sizeof *at->total);
    for (size_t begin = 0; begin < count; begin += most) {
        size_t panel = count - begin < most ? count - begin : most;

        load(run, first + begin, panel, at);
        step_group(run, panel, at);
        coefficients(run, at, panel, bad);
        for (size_t r = 0; r < panel; r++)
            pn_axpy(lines, 1.0, at->c + r * lines, at->total);
    }
    pn_direction_combine(&set, at->total, at->term);
    pn_axpy(run->kind.dim, 1.0, at->term, sum);
}

void pn_smoothed_margins_chunk(void *context, size_t chunk, unsigned worker)
{
    const pn_smoothed_run *run = context;
    size_t end = pn_smoothed_chunk_end(run, chunk);
    double *sum = run->partial + chunk * run->kind.dim;
    room at;

    (void)lay_out(run, run->scratch + worker * run->size, &at);
    memset(sum, 0, run->kind.dim * sizeof *sum);
    for (size_t first = chunk * run->cut.chunk_rows; first < end; first += run->cut.unit) {
        size_t count = end - first < run->cut.unit ? end - first : run->cut.unit;

        pn_smoothed_draw(run, first, count, at.unit, run->streams[worker]);
        if (run->shared)
            run_group(run, first, count, &at, sum, &run->bad[chunk]);
        else
            run_unit(run, first, count, &at, sum, &run->bad[chunk]);
    }
}
