/* ldata_parts.c -- data sets of some of the records: take, shuffle, share, split, holdout.
 * Depends on: ldata.h, progress.h, core/vault.h, data/holdout.h, objective/.  Used by: ldata.c, lselection.c. */
#include <math.h>

#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "core/vault.h"
#include "data/holdout.h"
#include "objective/passes/objective.h"

/* Row numbers live in a userdata on the stack. */
static size_t *new_rows(lua_State *L, size_t count)
{
    return lua_newuserdatauv(L, count * sizeof(size_t), 0);
}

static int push_subset(lua_State *L, const pn_dataset *data, const size_t *rows, size_t count)
{
    pn_dataset **slot = pnl_new_data(L);
    pn_status status;
    pn_err err;

    pnl_run_begin(L, true);
    status = PN_WITH_RECORDS(pn_dataset_pick(slot, data, rows, count, pnl_task(L), &err));
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

int pnl_data_take(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);
    size_t count = pnl_check_count(L, 2, "take: n"), *rows;

    if (count > data->n)
        return pnl_error(L, "take: n must be at most %zu, the number of records, got %zu", data->n, count);
    rows = new_rows(L, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = i;
    return push_subset(L, data, rows, count);
}

static size_t *shuffled_rows(lua_State *L, const pn_dataset *data, int rng_index)
{
    pn_rng *rng = pnl_rng(L, rng_index);
    size_t *rows = new_rows(L, data->n);

    pn_rng_permutation(rng, data->n, rows);
    return rows;
}

int pnl_data_shuffle(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);

    return push_subset(L, data, shuffled_rows(L, data, 2), data->n);
}

int pnl_data_share(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);
    const pn_ranks *ranks = pnl_check(L, 2, &pnl_ranks_class);
    size_t begin, end;
    pn_dataset **slot = pnl_new_data(L);
    pn_err err;

    pn_objective_hold(data, ranks, &begin, &end);
    return pnl_data_made(L, slot, pn_dataset_hold(slot, data, begin, end, &err), &err);
}

int pnl_data_split(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);
    double fraction = pnl_check_finite(L, 2, "split: fraction");
    size_t train, *rows;

    if (!(fraction > 0.0 && fraction < 1.0))
        return pnl_error(L, "split: fraction must be a number in (0, 1), got %g", fraction);
    train = (size_t)round(fraction * (double)data->n);
    if (train == 0 || train >= data->n)
        return pnl_error(L, "split: fraction %g of %zu records gives parts of %zu and %zu; both must hold at least one",
                         fraction, data->n, train, data->n - train);
    rows = shuffled_rows(L, data, 3);
    push_subset(L, data, rows, train);
    push_subset(L, data, rows + train, data->n - train);
    return 2;
}

void pnl_data_push_holdout(lua_State *L, const pn_dataset *data, size_t every)
{
    size_t *rows = new_rows(L, data->n), kept = data->n - pn_holdout(rows, data->n, every);

    push_subset(L, data, rows, kept);
    push_subset(L, data, rows + kept, data->n - kept);
}

int pnl_data_holdout(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);
    size_t every = pnl_check_count(L, 2, "holdout: every");

    if (every < 2 || every > data->n)
        return pnl_error(L, "holdout: every must be from 2 to %zu, the number of records, got %zu", data->n, every);
    pnl_data_push_holdout(L, data, every);
    return 2;
}
