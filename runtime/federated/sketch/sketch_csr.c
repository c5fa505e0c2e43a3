/* sketch_csr.c -- products of J with sparse columns: only the blocks that a column touches are made.
 * A column's entries in one block are added up by themselves, and then to the rest,
 * so that the rounding is that of dense columns.
 * Depends on: sketch_impl.h, core/task.h.  Used by: party. */
#include <string.h>

#include "core/alloc.h"
#include "federated/sketch/sketch_impl.h"
#include "numeric/blas.h"

typedef struct csr_job {
    const pn_sketch *sketch;
    const pn_csr *columns;
    double *out;
    sketch_crew all;
    size_t *next;             /* [columns.rows] first entry that is not added yet */
    size_t first, end;        /* blocks at work */
    unsigned char *blocks;    /* from block `first` on */
    unsigned char *room;      /* [wave] blocks, unless J is kept */
    bool needed[SKETCH_WAVE]; /* has an entry in some column */
} csr_job;

static void make_needed(void *self, size_t i, unsigned id)
{
    csr_job *job = self;

    if (job->needed[i])
        sketch_make_block(job->sketch, job->first + i, job->all.workers[id].rng,
                          job->room + i * job->sketch->block_bytes);
}

static void find_needed(csr_job *job)
{
    const pn_csr *A = job->columns;
    const size_t width = job->sketch->width;

    memset(job->needed, 0, sizeof job->needed);
    for (size_t f = 0; f < A->rows; f++) {
        for (size_t e = job->next[f]; e < A->start[f + 1] && A->column[e] / width < job->end; e++)
            job->needed[A->column[e] / width - job->first] = true;
    }
}

/* Entries from .. to - 1 of a column lie in one block. */
static void add_run(const csr_job *job, size_t from, size_t to, double *out, double *sum)
{
    const pn_sketch *sketch = job->sketch;
    const size_t m = sketch->shape.m, block = job->columns->column[from] / sketch->width;
    const unsigned char *columns = job->blocks + (block - job->first) * sketch->block_bytes;
    double *into = to - from > 1 ? sum : out;

    if (into == sum)
        memset(sum, 0, m * sizeof *sum);
    for (size_t e = from; e < to; e++)
        sketch->ops->add(columns, m, job->columns->column[e] - block * sketch->width, job->columns->value[e], into);
    if (into == sum)
        pn_axpy(m, 1.0, sum, out);
}

static void add_column(void *self, size_t f, unsigned id)
{
    csr_job *job = self;
    const pn_csr *A = job->columns;
    const size_t width = job->sketch->width, stop = A->start[f + 1];
    size_t e = job->next[f];

    while (e < stop && A->column[e] / width < job->end) {
        size_t from = e, block = A->column[e] / width;

        while (e < stop && A->column[e] / width == block)
            e++;
        add_run(job, from, e, job->out + f * job->sketch->shape.m, job->all.workers[id].scratch);
    }
    job->next[f] = e;
}

static pn_status run(csr_job *job, pn_task *task, pn_err *err)
{
    const pn_sketch *sketch = job->sketch;
    const size_t step = sketch->kept ? sketch->blocks : sketch->wave;
    pn_status status = PN_OK;

    for (job->first = 0; job->first < sketch->blocks && status == PN_OK; job->first = job->end) {
        job->end = sketch->blocks - job->first < step ? sketch->blocks : job->first + step;
        job->blocks = job->room;
        if (sketch->kept) {
            job->blocks = sketch->kept;
        } else {
            find_needed(job);
            status = pn_parallel(task, job->end - job->first, make_needed, job, err);
        }
        if (status == PN_OK)
            status = pn_task_report(task, "sketch", (double)job->first, (double)sketch->blocks, err);
        if (status == PN_OK)
            status = pn_parallel(task, job->columns->rows, add_column, job, err);
    }
    return status;
}

static void copy_columns(double *out, const pn_csr *A)
{
    memset(out, 0, A->rows * A->cols * sizeof *out);
    for (size_t f = 0; f < A->rows; f++) {
        for (size_t e = A->start[f]; e < A->start[f + 1]; e++)
            out[f * A->cols + A->column[e]] = A->value[e];
    }
}

pn_status pn_sketch_sparse_columns(const pn_sketch *sketch, const pn_csr *columns, double *out, pn_task *task,
                                   pn_err *err)
{
    csr_job job = { .sketch = sketch, .columns = columns, .out = out };
    pn_status status;

    if (columns->cols != sketch->shape.n)
        return pn_fail(err, PN_EDIM, "sketch: columns of %zu records, J is for %zu", columns->cols, sketch->shape.n);
    if (columns->rows == 0)
        return PN_OK;
    if (!sketch->ops) {
        copy_columns(out, columns);
        return PN_OK;
    }
    status = sketch_crew_init(&job.all, sketch, task, err);
    job.next = pn_alloc(columns->rows, sizeof *job.next);
    job.room = sketch->kept ? NULL : pn_alloc(sketch->wave, sketch->block_bytes);
    if (status == PN_OK && (!job.next || (!sketch->kept && !job.room)))
        status = sketch_no_memory(sketch, err);
    if (status == PN_OK) {
        memcpy(job.next, columns->start, columns->rows * sizeof *job.next);
        memset(out, 0, columns->rows * sketch->shape.m * sizeof *out);
        status = run(&job, task, err);
    }
    if (status == PN_OK)
        sketch_apply_scale(sketch, out, columns->rows * sketch->shape.m);
    pn_free(job.room);
    pn_free(job.next);
    sketch_crew_clear(&job.all);
    return status;
}
