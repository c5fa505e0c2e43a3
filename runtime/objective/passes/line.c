/* line.c -- how far the mean loss falls along a line, for many steps at once: one pass over the records, two inner
 * products each, and then losses of margins alone.
 * Depends on: objective_impl.h, second_order.h, numeric/simd/simd.h.  Used by: second_order.h's callers.
 * See second-order.md section 4. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/passes/objective_impl.h"
#include "objective/passes/second_order.h"

#define ROUNDING 0x1p-40
#define LEAST    0x1p-1000 /* a limit below this would lose digits: nothing is let through */

typedef struct line {
    pn_objective *objective;
    const pn_batch *batch;
    const double *theta, *u, *t;
    size_t count;
    double *limit; /* [count] of a record's difference; INFINITY: none */
    pn_partition part;
    double *partial; /* [chunks][count] */
    size_t *clipped; /* [chunks] */
    bool *strange;   /* [chunks] a difference was no number */
    double *scratch; /* [threads][room] */
    size_t room;
} line;

/* What a worker needs: margins at theta and along u, moved ones, labels, losses at theta and moved. */
typedef struct desk {
    double *z, *along, *moved; /* [inputs][PN_LOSS_BLOCK] */
    double *labels, *here, *there;
    double *gathered; /* records that are picked from dense data */
} desk;

static size_t room_size(const line *self)
{
    return (3 * pn_loss_inputs(self->objective->loss) + 3) * PN_LOSS_BLOCK +
           pn_batch_room(self->objective, self->batch);
}

static desk desk_of(const line *self, unsigned worker)
{
    size_t each = pn_loss_inputs(self->objective->loss) * PN_LOSS_BLOCK;
    double *at = self->scratch + worker * self->room, *rest = at + 3 * each;

    return (desk){
        at, at + each, at + 2 * each, rest, rest + PN_LOSS_BLOCK, rest + 2 * PN_LOSS_BLOCK, rest + 3 * PN_LOSS_BLOCK
    };
}

/* z and along [inputs][count] of the block's records, some rows at a time,
 * which the cache keeps for the second product. */
static void find_margins(const line *self, const pn_block *block, const desk *at)
{
    const pn_objective *objective = self->objective;
    size_t p = objective->data->p, step = objective->block_rows;

    for (size_t r = 0; r < block->count; r += step) {
        pn_block few = *block;

        few.rows = block->rows ? block->rows + r : NULL;
        few.first = block->first + r;
        few.count = block->count - r < step ? block->count - r : step;
        pn_block_gather(&few, at->gathered);
        for (size_t k = 0; k < objective->loss->margins; k++)
            pn_block_times_both(&few, self->theta + k * p, self->u + k * p, at->z + k * block->count + r,
                                at->along + k * block->count + r);
    }
    pn_block_extra(objective, block->count, self->theta, at->z + objective->loss->margins * block->count);
    pn_block_extra(objective, block->count, self->u, at->along + objective->loss->margins * block->count);
}

/* Whether a difference was over its limit by more than the rounding of losses and margins. */
static bool is_over(double difference, double within, double here, double there, double limit)
{
    double rounding = ROUNDING * (fabs(here) + fabs(there) + limit);

    return !(fabs(difference - within) <= rounding) || isinf(rounding);
}

/* change[r] = here - there within the limit, where `change` holds there; one that is no number as -limit. */
static size_t clip_changes(double limit, size_t count, const double *here, double *change, bool *strange)
{
    size_t clipped = 0;

    for (size_t r = 0; r < count; r++) {
        double difference = here[r] - change[r];
        double within = !(difference >= -limit) ? -limit : difference > limit ? limit : difference;

        *strange |= isnan(difference);
        if (within != difference)
            clipped += is_over(difference, within, here[r], change[r], limit);
        change[r] = within;
    }
    return clipped;
}

static void run_block(const line *self, const pn_block *block, const desk *at, size_t chunk)
{
    const pn_loss *loss = self->objective->loss;
    const pn_chain_fn times_plus = pn_simd_best()->chain[2][0];
    const double *y = pn_block_labels(block, at->labels);
    size_t pairs = pn_loss_inputs(loss) * block->count;

    find_margins(self, block, at);
    loss->ops->evaluate(loss, block->count, at->z, y, at->here, NULL);
    for (size_t k = 0; k < self->count; k++) {
        times_plus(pairs, (const double *const[]){ at->along, &self->t[k], at->z }, (const size_t[]){ 1, 0, 1 },
                   at->moved);
        loss->ops->evaluate(loss, block->count, at->moved, y, at->there, NULL);
        self->clipped[chunk] += clip_changes(self->limit[k], block->count, at->here, at->there, &self->strange[chunk]);
        self->partial[chunk * self->count + k] += pn_block_sum(at->there, block->count);
    }
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    const line *self = context;
    size_t records = pn_batch_records(self->objective, self->batch), first = chunk * self->part.chunk_rows;
    size_t end = records - first < self->part.chunk_rows ? records : first + self->part.chunk_rows;
    desk at = desk_of(self, worker);

    memset(self->partial + chunk * self->count, 0, self->count * sizeof *self->partial);
    self->clipped[chunk] = 0;
    self->strange[chunk] = false;
    for (; first < end; first += PN_LOSS_BLOCK) {
        pn_block block = { .data = self->objective->data,
                           .lent = self->objective->lent,
                           .simd = pn_simd_best(),
                           .rows = self->batch ? self->batch->rows + first : NULL,
                           .first = first,
                           .count = end - first < PN_LOSS_BLOCK ? end - first : PN_LOSS_BLOCK };

        run_block(self, &block, &at, chunk);
    }
}

/* By the number of records alone. */
static pn_partition cut(size_t records)
{
    size_t blocks = (records + PN_LOSS_BLOCK - 1) / PN_LOSS_BLOCK;
    pn_partition out = { 0, (blocks + PN_CHUNKS_MAX - 1) / PN_CHUNKS_MAX * PN_LOSS_BLOCK };

    if (records)
        out.chunks = (records + out.chunk_rows - 1) / out.chunk_rows;
    return out;
}

static pn_status combine(const line *self, double most, double *out, size_t *clipped, pn_err *err)
{
    double denominator = self->batch ? self->batch->denominator : (double)self->objective->data->n;
    size_t moved = 0;

    for (size_t chunk = 0; chunk < self->part.chunks; chunk++) {
        if (self->strange[chunk] && isinf(most))
            return pn_objective_undefined(self->objective, "objective", err);
        moved += self->clipped[chunk];
    }
    for (size_t k = 0; k < self->count; k++) {
        double total = 0.0;

        for (size_t chunk = 0; chunk < self->part.chunks; chunk++)
            total += self->partial[chunk * self->count + k];
        if (isnan(total)) /* infinities of both signs, which no limit bounds */
            return pn_objective_undefined(self->objective, "objective", err);
        out[k] = total / denominator;
    }
    if (clipped)
        *clipped = moved;
    return PN_OK;
}

static pn_status share_line(line *self, pn_status before, pn_task *task, pn_err *err)
{
    const pn_ranks_part parts[] = {
        { .data = self->partial, .bytes = self->count * sizeof *self->partial },
        { .data = self->clipped, .bytes = sizeof *self->clipped },
        { .data = self->strange, .bytes = sizeof *self->strange },
    };

    return pn_share_chunks(self->objective,
                           &(pn_shared){ .chunks = self->part.chunks,
                                         .chunk_rows = self->part.chunk_rows,
                                         .body = run_chunk,
                                         .self = self,
                                         .parts = parts,
                                         .part_count = 3,
                                         .theta = self->theta,
                                         .other = self->u,
                                         .batch = self->batch },
                           before, task, err);
}

/* At most `most` t in real arithmetic. */
static double limit_of(double most, double t)
{
    double limit = most * t;

    if (isinf(most))
        return INFINITY;
    if (limit < LEAST)
        return 0.0;
    return fma(most, t, -limit) < 0.0 ? nextafter(limit, 0.0) : limit;
}

static pn_status check(const line *self, double most, pn_err *err)
{
    const pn_objective *objective = self->objective;
    pn_status status = pn_check_point("objective", "theta", self->theta, objective->dim, err);

    if (objective->loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: a search along a line takes losses of margins, not black boxes");
    if (status == PN_OK)
        status = pn_check_point("objective", "the direction of a line", self->u, objective->dim, err);
    if (status == PN_OK && !(most > 0.0))
        status =
            pn_fail(err, PN_EINVAL, "objective: a record's most change along a line must be positive, got %g", most);
    for (size_t k = 0; k < self->count && status == PN_OK; k++) {
        if (!(self->t[k] > 0.0) || isinf(self->t[k]))
            status = pn_fail(err, PN_EINVAL, "objective: steps along a line must be positive numbers, got %g at %zu",
                             self->t[k], k + 1);
    }
    return status == PN_OK ? pn_check_batch(objective, self->batch, err) : status;
}

pn_status pn_objective_line(pn_objective *objective, const pn_batch *batch, const double *theta, const double *u,
                            const double *t, size_t count, double most, double *out, size_t *clipped, pn_task *task,
                            pn_err *err)
{
    line self = { .objective = objective, .batch = batch, .theta = theta, .u = u, .t = t, .count = count };
    pn_status status = check(&self, most, err);

    if (status != PN_OK)
        return status;
    self.part = cut(pn_batch_records(objective, batch));
    self.room = room_size(&self);
    self.limit = pn_alloc(count, sizeof *self.limit);
    self.partial = pn_alloc(self.part.chunks, count * sizeof *self.partial);
    self.clipped = pn_alloc(self.part.chunks, sizeof *self.clipped);
    self.strange = pn_alloc(self.part.chunks, sizeof *self.strange);
    self.scratch = pn_alloc(pn_task_threads(task), self.room * sizeof *self.scratch);
    if (self.limit && self.partial && self.clipped && self.strange && self.scratch) {
        for (size_t k = 0; k < count; k++)
            self.limit[k] = limit_of(most, t[k]);
    } else {
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu steps along a line", count);
    }
    status = share_line(&self, status, task, err);
    if (status == PN_OK)
        status = combine(&self, most, out, clipped, err);
    pn_free(self.limit);
    pn_free(self.partial);
    pn_free(self.clipped);
    pn_free(self.strange);
    pn_free(self.scratch);
    return status;
}

/* A record's difference is a number; it goes through the sums of its block, of its chunk and of the chunks,
 * and the division. */
double pn_objective_line_error(const pn_objective *objective, size_t records)
{
    double count = (double)records, chunk = ceil(count / (PN_LOSS_BLOCK * PN_CHUNKS_MAX));
    double block = PN_LOSS_BLOCK / 8 + 3;

    (void)objective;
    return (fmin(count, block + chunk + PN_CHUNKS_MAX) + 4.0) * 0x1p-53 * 1.01 * count;
}
