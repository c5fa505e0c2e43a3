/* lend.c -- passes over a batch of records that are shared out to ranks: who works on which chunk, and the rows that
 * the others lend it for that.
 * Depends on: objective_impl.h, core/ranks.h, data/build.h.  Used by: share.c, and block.c's readers.
 *
 * All ranks have the same batch, which they drew from one stream (random/shared_stream.h) or were given, and know what
 * each of them holds.  A chunk is worked on where its first record is.  Only where it reaches beyond what that rank
 * holds do rows move: of large batches, whose chunks are short, next to none.  Of a batch that is one chunk all rows
 * move to rank 0.  The chunks, and the order in which their parts are added, are those of one process.
 *
 * Privacy.  The sum that comes out is the same function of the batch's records, bit for bit, as if one process had all
 * records.  So the batch has the law that its sampler charges (each record's coin, or each subset of the size, whoever
 * holds the records), and sum, error and noise are those that the price counts on, under the same neighbouring
 * relation.  A record that is not in the batch changes nothing: who works on what follows from the numbers of the
 * records in the batch and from public cuts, never from what a record holds.  Nothing here is hidden from anybody who
 * sees the memory of a rank or what passes between them, batch and noise included: all ranks are one curator.
 */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vault.h"
#include "data/build.h"
#include "objective/passes/objective_impl.h"

typedef struct range {
    size_t first, end;
} range;

struct pn_lent {
    size_t size, rank;
    bool known;    /* held */
    range *held;   /* [size] records of each rank */
    size_t *cut;   /* [size + 1] chunks of each rank, in the pass at hand */
    size_t *cells; /* [size + 1] entries that each rank lends, one rank's after the other's */
    size_t *next;  /* [size] where its next ones go */
    /* What was lent to this rank for the pass at hand: */
    pn_dataset *rows; /* NULL: nothing */
    size_t *numbers;  /* [rows->n] of the records, in increasing order */
};

pn_status pn_lent_new(pn_lent **out, const pn_ranks *ranks, pn_err *err)
{
    pn_lent *self;

    PN_TRY(pn_new_zeroed(&self, 1, err, "objective: out of memory"));
    self->size = pn_ranks_size(ranks);
    self->rank = pn_ranks_rank(ranks);
    self->held = pn_calloc(self->size, sizeof *self->held);
    self->cut = pn_calloc(3 * (self->size + 1), sizeof *self->cut);
    if (!self->held || !self->cut) {
        pn_lent_free(self);
        return pn_fail(err, PN_ENOMEM, "objective: out of memory for what %zu ranks hold", pn_ranks_size(ranks));
    }
    self->cells = self->cut + self->size + 1;
    self->next = self->cells + self->size + 1;
    *out = self;
    return PN_OK;
}

static void give_back(pn_lent *self)
{
    pn_dataset_free(self->rows);
    pn_free(self->numbers);
    self->rows = NULL;
    self->numbers = NULL;
}

void pn_lent_free(pn_lent *self)
{
    if (!self)
        return;
    give_back(self);
    pn_free(self->held);
    pn_free(self->cut);
    pn_free(self);
}

/* The place of a number that is among them. */
static size_t place_of(const size_t *numbers, size_t count, size_t number)
{
    size_t low = 0;

    while (count > 1) {
        size_t half = count / 2;

        low += numbers[low + half] <= number ? half : 0;
        count -= half;
    }
    return low;
}

const pn_dataset *pn_lent_find(const pn_lent *lent, const pn_dataset *data, size_t *i)
{
    if (!lent->rows)
        return data;
    *i = place_of(lent->numbers, lent->rows->n, *i);
    return lent->rows;
}

/* ---- who has what ---- */

static bool holds(const pn_lent *self, size_t rank, size_t i)
{
    return i >= self->held[rank].first && i < self->held[rank].end;
}

/* The last rank that holds record i, looked for from `guess` on; size: none does.  The last, because what a rank holds
 * beyond its own part is for the ends of its chunks. */
static size_t owner(const pn_lent *self, size_t i, size_t guess)
{
    while (guess + 1 < self->size && holds(self, guess + 1, i))
        guess++;
    if (holds(self, guess, i))
        return guess;
    for (guess = self->size; guess > 0 && !holds(self, guess - 1, i);)
        guess--;
    return guess > 0 ? guess - 1 : self->size;
}

static pn_status ask_held(const pn_objective *objective, uint64_t what, pn_status before, pn_err *err)
{
    pn_lent *self = objective->lent;
    const pn_ranks_part part = { .data = self->held, .bytes = sizeof *self->held };

    if (self->known)
        return PN_OK;
    self->held[self->rank] = (range){ objective->data->first, pn_dataset_held_end(objective->data) };
    PN_TRY(pn_ranks_complete(objective->ranks, self->size, NULL, &part, 1, what, before, err));
    self->known = true;
    return PN_OK;
}

/* ---- the cut ---- */

/* To each rank the chunks that begin with a record of its part; rank 0 has chunk 0. */
static pn_status cut_chunks(pn_lent *self, const pn_shared *work, pn_err *err)
{
    size_t rank = 0, guess = 0;

    self->cut[0] = 0;
    for (size_t chunk = 1; chunk < work->chunks; chunk++) {
        size_t i = work->batch->rows[chunk * work->chunk_rows];

        guess = owner(self, i, guess);
        if (guess == self->size)
            return pn_fail(err, PN_EUNSUPPORTED, "objective: record %zu of a batch is held by no rank", i + 1);
        while (rank < guess)
            self->cut[++rank] = chunk;
    }
    while (rank < self->size)
        self->cut[++rank] = work->chunks;
    return PN_OK;
}

/* A record of the batch that `from` lends `to`. */
typedef struct loan {
    size_t place; /* in the batch */
    size_t from, to, record;
} loan;

/* The next one, from at->place on; false: there is no more. */
static bool next_loan(const pn_lent *self, const pn_shared *work, loan *at)
{
    for (; at->place < work->batch->count; at->place++) {
        while (at->place / work->chunk_rows >= self->cut[at->to + 1])
            at->to++;
        at->record = work->batch->rows[at->place];
        if (holds(self, at->to, at->record))
            continue;
        at->from = owner(self, at->record, at->from < self->size ? at->from : 0);
        return true;
    }
    return false;
}

static size_t length_of(const pn_dataset *data, size_t i)
{
    return data->sparse ? data->csr.start[i + 1] - data->csr.start[i] : data->p;
}

/* How much each rank lends; *mine: the rows that this rank is lent. */
static pn_status count_loans(pn_lent *self, const pn_dataset *data, const pn_shared *work, size_t *all, size_t *mine,
                             pn_err *err)
{
    *all = *mine = 0;
    memset(self->cells, 0, (self->size + 1) * sizeof *self->cells);
    for (loan at = { 0 }; next_loan(self, work, &at); at.place++) {
        if (at.from == self->size)
            return pn_fail(err, PN_EUNSUPPORTED, "objective: record %zu of a batch is held by no rank", at.record + 1);
        self->cells[at.from + 1] += length_of(data, at.record);
        *mine += at.to == self->rank;
        ++*all;
    }
    for (size_t r = 0; r < self->size; r++)
        self->cells[r + 1] += self->cells[r];
    return PN_OK;
}

/* ---- the loan ---- */

/* Entries side by side: those that rank r lends begin at cells[r]. */
typedef struct parcel {
    double *value; /* one of the two */
    float *single;
    uint32_t *column; /* of sparse features */
} parcel;

static parcel numbers_of(const pn_dataset *data)
{
    return (parcel){ .value = data->sparse ? data->csr.value : data->dense,
                     .single = data->sparse ? data->csr_single : data->single,
                     .column = data->csr.column };
}

static void copy_cells(const parcel *to, size_t at, const parcel *from, size_t first, size_t count)
{
    if (count == 0)
        return;
    if (from->single)
        memcpy(to->single + at, from->single + first, count * sizeof *to->single);
    else
        memcpy(to->value + at, from->value + first, count * sizeof *to->value);
    if (from->column)
        memcpy(to->column + at, from->column + first, count * sizeof *to->column);
}

/* Where a rank finds a row that it was lent. */
typedef struct arrival {
    size_t record, place, count;
} arrival;

static int by_record(const void *a, const void *b)
{
    const arrival *x = a, *y = b;

    return x->record < y->record ? -1 : x->record > y->record;
}

/* This rank's rows to the parcel; where those that it is lent will be, to arrivals[mine]. */
static void pack(pn_lent *self, const pn_dataset *data, const pn_shared *work, const parcel *out, arrival *arrivals)
{
    const parcel from = numbers_of(data);

    memcpy(self->next, self->cells, self->size * sizeof *self->next);
    for (loan at = { 0 }; next_loan(self, work, &at); at.place++) {
        size_t count = length_of(data, at.record), place = self->next[at.from], unused;

        self->next[at.from] += count;
        if (at.from == self->rank)
            copy_cells(out, place, &from, pn_row_place(data, at.record, &unused), count);
        if (at.to == self->rank)
            *arrivals++ = (arrival){ at.record, place, count };
    }
}

/* The rows that came, in order of their numbers, as a data set. */
static pn_status unpack(const pn_objective *objective, const parcel *from, arrival *arrivals, size_t mine, pn_err *err)
{
    const pn_dataset *data = objective->data;
    pn_lent *self = objective->lent;
    size_t cells = 0;
    parcel to;

    if (mine == 0)
        return PN_OK;
    qsort(arrivals, mine, sizeof *arrivals, by_record);
    for (size_t k = 0; k < mine; k++)
        cells += arrivals[k].count;
    PN_TRY(pn_new(&self->numbers, mine, err, "objective: out of memory for %zu records of a batch", mine));
    PN_TRY(pn_dataset_shell(&self->rows, mine, data->p, data->name, err));
    self->rows->float32 = data->float32;
    PN_TRY(pn_dataset_make_room(self->rows, data->sparse, cells, err));
    to = numbers_of(self->rows);
    cells = 0;
    for (size_t k = 0; k < mine; k++) {
        self->numbers[k] = arrivals[k].record;
        if (data->sparse)
            self->rows->csr.start[k] = cells;
        copy_cells(&to, cells, from, arrivals[k].place, arrivals[k].count);
        cells += arrivals[k].count;
    }
    return objective->norms ? pn_objective_measure(objective, self->rows, self->numbers, err) : PN_OK;
}

/* Every rank sends what it lends to all, which fails on all or on none.  before: as for pn_share_chunks, then how this
 * rank fared with what it was sent. */
static pn_status exchange(const pn_objective *objective, const pn_shared *work, size_t mine, uint64_t what,
                          pn_status *before, pn_err *err)
{
    const pn_dataset *data = objective->data;
    pn_lent *self = objective->lent;
    size_t cells = self->cells[self->size], entry = data->float32 ? sizeof(float) : sizeof(double);
    char *numbers = pn_vault_alloc(cells + 1, entry);
    uint32_t *columns = data->sparse ? pn_vault_alloc(cells + 1, sizeof *columns) : NULL;
    arrival *arrivals = pn_alloc(mine + 1, sizeof *arrivals);
    const parcel all = { .value = data->float32 ? NULL : (double *)(void *)numbers,
                         .single = data->float32 ? (float *)(void *)numbers : NULL,
                         .column = columns };
    const pn_ranks_part parts[] = { { .data = numbers, .bytes = entry },
                                    { .data = columns, .bytes = sizeof *columns } };
    pn_status status;

    if (*before == PN_OK && !(numbers && arrivals && (columns || !data->sparse)))
        *before = pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu entries that ranks lend", cells);
    if (*before == PN_OK)
        pack(self, data, work, &all, arrivals);
    status = pn_ranks_complete(objective->ranks, cells, self->cells, parts, 2, what, *before, err);
    if (status == PN_OK)
        *before = unpack(objective, &all, arrivals, mine, err);
    pn_vault_free(numbers);
    pn_vault_free(columns);
    pn_free(arrivals);
    return status;
}

/* ---- a pass ---- */

pn_status pn_lend_chunks(const pn_objective *objective, const pn_shared *work, uint64_t what, pn_status before,
                         pn_task *task, pn_err *err)
{
    pn_lent *self = objective->lent;
    size_t all = 0, mine = 0;
    pn_status status;

    if (work->batch->count == 0)
        return before == PN_OK ? pn_run_chunks(work, 0, work->chunks, task, err) : before;
    if (!pn_ranks_enter(objective->ranks))
        return pn_dataset_need_records(objective->data, "objective: a batch within a pass", err);
    PN_TRY(ask_held(objective, what, before, err));
    status = cut_chunks(self, work, err); /* as on all ranks, like its errors */
    if (status == PN_OK)
        status = count_loans(self, objective->data, work, &all, &mine, err);
    before = before == PN_OK ? status : before;
    if (status == PN_OK && all > 0)
        PN_TRY(exchange(objective, work, mine, what, &before, err));
    (void)pn_ranks_enter(objective->ranks);
    if (before == PN_OK)
        before = pn_run_chunks(work, self->cut[self->rank], self->cut[self->rank + 1], task, err);
    before =
        pn_ranks_complete(objective->ranks, work->chunks, self->cut, work->parts, work->part_count, what, before, err);
    give_back(self);
    return before;
}
