/* share.c -- the one door through which passes over chunks run: on the task's threads and, with ranks,
 * each rank its share of the chunks.
 * Depends on: objective_impl.h, core/ranks.h.  Used by: every pass of this room.
 *
 * Chunks and the order in which their parts are added do not depend on threads or ranks,
 * so results have the same bits on one process and on
 * many.  What one rank fails with all fail with. */
#include "objective/passes/objective_impl.h"

/* The chunks of a share are numbered from 0 by pn_parallel. */
typedef struct shifted {
    const pn_shared *work;
    size_t begin;
} shifted;

static void run_shifted(void *context, size_t block, unsigned worker)
{
    const shifted *at = context;

    at->work->body(at->work->self, at->begin + block, worker);
}

pn_status pn_run_chunks(const pn_shared *work, size_t begin, size_t end, pn_task *task, pn_err *err)
{
    shifted at = { work, begin };

    if (work->run)
        return work->run(work->self, begin, end, task, err);
    if (begin == 0)
        return pn_parallel(task, end, work->body, work->self, err);
    return pn_parallel(task, end - begin, run_shifted, &at, err);
}

/* Ranks whose arguments differ have gone separate ways before: their parts must not be added. */
static uint64_t digest_of(const pn_objective *objective, const pn_shared *work)
{
    uint64_t digest = pn_ranks_digest_word(objective->data->n, objective->data->p);

    if (work->theta)
        digest = pn_ranks_digest(digest, work->theta, objective->dim);
    if (work->other)
        digest = pn_ranks_digest(digest, work->other, objective->dim);
    for (size_t r = 0; work->batch && r < work->batch->count; r++)
        digest = pn_ranks_digest_word(digest, work->batch->rows[r]);
    return digest;
}

/* Whatever chunks begin .. end - 1 may read is here. */
static pn_status check_held(const pn_dataset *data, const pn_shared *work, size_t begin, size_t end, pn_err *err)
{
    size_t first = begin * work->chunk_rows, last = end * work->chunk_rows;

    if (!data->partial || begin == end)
        return PN_OK;
    last = last < data->n ? last : data->n;
    if (work->chunk_rows > 0 && first >= data->first && last <= pn_dataset_held_end(data))
        return PN_OK;
    if (work->chunk_rows == 0 || (begin == 0 && end == work->chunks))
        return pn_dataset_need_records(data, "objective: this pass", err);
    return pn_fail(
        err, PN_EUNSUPPORTED,
        "objective: this rank's share of the pass is records %zu to %zu, and it holds %zu to %zu of %zu; load "
        "or make the data without ranks",
        first + 1, last, data->first + 1, pn_dataset_held_end(data), data->n);
}

pn_status pn_share_chunks(const pn_objective *objective, const pn_shared *work, pn_status before, pn_task *task,
                          pn_err *err)
{
    size_t begin, end;

    if (objective->lent && work->batch && (work->chunk_rows > 0 || work->batch->count == 0))
        return pn_lend_chunks(objective, work, digest_of(objective, work), before, task, err);
    if (work->chunks < 2 || !pn_ranks_enter(objective->ranks)) {
        if (before == PN_OK)
            before = check_held(objective->data, work, 0, work->chunks, err);
        return before == PN_OK ? pn_run_chunks(work, 0, work->chunks, task, err) : before;
    }
    pn_ranks_share(objective->ranks, work->chunks, &begin, &end);
    if (before == PN_OK)
        before = check_held(objective->data, work, begin, end, err);
    if (before == PN_OK)
        before = pn_run_chunks(work, begin, end, task, err);
    return pn_ranks_complete(objective->ranks, work->chunks, NULL, work->parts, work->part_count,
                             digest_of(objective, work), before, err);
}
