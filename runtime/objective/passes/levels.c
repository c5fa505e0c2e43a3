/* levels.c -- a stability histogram over the texts that were seen in a column.
 * Depends on: levels.h, random/noise.h, privacy, core.  Used by: bindings/objective/llevels.c.
 *
 * Noise K is a whole number of steps with P(K = k) proportional to q^|k|, q = exp(-2^-40), and a record counts N steps:
 * counts are whole numbers of steps, so that nothing is rounded.  A text that c records have is kept if c N + K >= M.
 * A record is in one text at most, or in none.
 *
 * add_remove, zero_out (a null record has no text): D' has a record more than D, in the text v.
 *   v is in D already: its count moves by N steps, which costs N 2^-40 <= epsilon, and all else has the same law.
 *   v is new: D never releases it, D' with probability p = P(K >= M - N) = q^(M-N)/(1+q); else they have the same law.
 *   So the pair is (0, p).
 * replace_one: D has u where D' has v.  With N 2^-40 <= epsilon/2:
 *   both are in D and in D': two counts move, (epsilon, 0).
 *   u is in D alone, v in both (or v in D' alone, u in both): with probability p (of D alone) u is released, else there
 *   is one count that moves:
 *   (epsilon/2, p) from D to D'; from D' to D, the density of D is at least (1-p) exp(-epsilon/2) of that of D', so
 *   that at exp(epsilon/2) at most p is missing.
 *   u in D alone, v in D' alone: D releases u with probability p and never v, D' the other way round; where neither is
 *   released the laws agree.  The total variation is p: (0, p), and not 2 p, since what u takes from the common part v
 *   takes as well.
 * So delta = p in all cases, and it is attained.  M is the least whole number with p <= delta, and one more step,
 * which is for the rounding of logarithms and for the sampled law of K; N has a step less than its part of epsilon,
 * for the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/passes/levels.h"
#include "random/noise.h"

#define STEPS        0x1p40 /* of noise of scale 1 */
#define MOST_COLUMNS ((size_t)4096)

void pn_levels_clear(pn_levels *levels)
{
    pn_free(levels->level);
    *levels = (pn_levels){ NULL, 0 };
}

/* ---- the law ---- */

typedef struct law {
    int64_t record, threshold; /* N and M, in steps */
} law;

static pn_status find_law(law *out, double epsilon, double delta, pn_neighbours neighbours, pn_err *err)
{
    double part = neighbours == PN_REPLACE_ONE ? epsilon / 2.0 : epsilon, far;

    if (!(epsilon >= 1e-5 && epsilon <= 1e3))
        return pn_fail(err, PN_EINVAL, "query.levels: epsilon of a column must be from 1e-5 to 1000, got %g", epsilon);
    if (!(delta >= 1e-100 && delta <= 0.5))
        return pn_fail(err, PN_EINVAL, "query.levels: delta of a column must be from 1e-100 to 0.5, got %g", delta);
    out->record = (int64_t)floor(part * STEPS) - 1;
    far = -log(delta) - log1p(exp(-1.0 / STEPS));
    out->threshold = out->record + (int64_t)ceil(fmax(far, 0.0) * STEPS) + 1;
    return PN_OK;
}

pn_status pn_levels_threshold(double *threshold, double epsilon, double delta, pn_neighbours neighbours, pn_err *err)
{
    law found = { 0, 0 };

    PN_TRY(find_law(&found, epsilon, delta, neighbours, err));
    *threshold = (double)found.threshold / (double)found.record;
    return PN_OK;
}

/* ---- checking: nothing here looks at a count ---- */

static pn_status check(const pn_levels_query *query, const pn_ledger *ledger, const pn_rng *rng, pn_err *err)
{
    if (query->columns == 0 || query->columns > MOST_COLUMNS)
        return pn_fail(err, PN_EINVAL, "query.levels: give from 1 to %zu columns, got %zu", MOST_COLUMNS,
                       query->columns);
    if (!ledger)
        return pn_fail(err, PN_EINVAL, "query.levels: a query needs a ledger to pay from");
    if (pn_rng_simulated(rng) && !pn_ledger_budget(ledger)->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "query.levels: this stream is seeded (simulated noise, no privacy) and the ledger is a real "
                       "budget; use a secure stream, or a ledger opened with teaching = true");
    return PN_OK;
}

/* ---- what stays ---- */

static int by_count(const void *left, const void *right)
{
    double a = ((const pn_level *)left)->count, b = ((const pn_level *)right)->count;

    return (a < b) - (a > b);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const pn_level *)left)->name, ((const pn_level *)right)->name);
}

static void release(const pn_word_counts *counts, const law *of, size_t most, pn_rng *rng, int64_t *noise,
                    pn_levels *out)
{
    size_t seen = counts->words.count;

    pn_noise_laplace(rng, 1, seen, noise);
    for (size_t k = 0; k < seen; k++) {
        pn_steps steps = (pn_steps)counts->times[k] * of->record + pn_noise_laplace_uncapped(rng, 1, noise[k]);

        if (steps >= of->threshold)
            out->level[out->count++] = (pn_level){ pn_words_at(&counts->words, k), (double)steps / (double)of->record };
    }
    if (out->count > most) {
        qsort(out->level, out->count, sizeof *out->level, by_count);
        out->count = most;
    }
    qsort(out->level, out->count, sizeof *out->level, by_name);
}

/* Room for all that was seen, before anything is paid. */
static pn_status prepare(const pn_levels_query *query, int64_t **noise, pn_levels *out, pn_err *err)
{
    size_t largest = 0;

    for (size_t c = 0; c < query->columns; c++) {
        size_t seen = query->counts[c].words.count;

        largest = seen > largest ? seen : largest;
        PN_TRY(pn_new(&out[c].level, seen + 1, err, "query.levels: out of memory"));
    }
    return pn_new(noise, largest + 1, err, "query.levels: out of memory");
}

pn_status pn_levels_ask(const pn_levels_query *query, pn_ledger *ledger, const char *label, pn_rng *rng, pn_levels *out,
                        pn_event **event, pn_err *err)
{
    pn_neighbours neighbours;
    int64_t *noise = NULL;
    pn_status status;
    law found = { 0, 0 };

    memset(out, 0, query->columns * sizeof *out);
    *event = NULL;
    PN_TRY(check(query, ledger, rng, err));
    neighbours = pn_ledger_budget(ledger)->neighbours;
    PN_TRY(find_law(&found, query->epsilon, query->delta, neighbours, err));
    PN_TRY(pn_event_approximate(event, query->epsilon, query->delta, neighbours, err));
    status = prepare(query, &noise, out, err);
    if (status == PN_OK)
        status = pn_ledger_spend(ledger, *event, query->columns, label, err);
    for (size_t c = 0; c < query->columns; c++) {
        if (status == PN_OK)
            release(&query->counts[c], &found, query->most, rng, noise, &out[c]);
        else
            pn_levels_clear(&out[c]);
    }
    pn_free(noise);
    if (status != PN_OK) {
        pn_event_free(*event);
        *event = NULL;
    }
    return status;
}
