/* score_levels.c -- proposals by level, with an exact coin each; and the levels of an array of numbers.
 * Every decision compares uniform integers with integers, as in selection.c.  Levels are computed in doubles: they only
 * have to be no lower than the scores, for which bounds are rounded upward.
 * Depends on: score_levels.h, level_coin.h.  Used by: privacy/ (the selection mechanisms). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "random/level_coin.h"
#include "random/score_levels.h"

#define LAST        (PN_LEVEL_COUNT - 1)
#define BATCH       16      /* proposals; tight levels turn all of them down with a chance of (1 - 1/2.81)^16 < 0.001 */
#define MOST_ROUNDS 1000000 /* of BATCH proposals; right levels take a few */

/* ---- proposals ---- */

/* Coordinates on one level, all first candidates or all second ones. */
typedef struct segment {
    pn_u128 end, mass; /* cumulative; of each of them */
    unsigned below;
    bool second;
} segment;

typedef struct envelope {
    segment at[PN_LEVEL_COUNT + 1];
    size_t count;
    pn_u128 total; /* < 2^128 for up to 2^30 coordinates */
} envelope;

static void add_segment(envelope *self, size_t count, unsigned below, bool second)
{
    if (count == 0)
        return;
    self->total += pn_mass_of_level(below) * count;
    self->at[self->count++] = (segment){ self->total, pn_mass_of_level(below), below, second };
}

static envelope envelope_of(const pn_level_view *view)
{
    envelope made = { .count = 0 };

    for (unsigned below = 0; below < PN_LEVEL_COUNT; below++)
        add_segment(&made, view->counts[below], below, false);
    add_segment(&made, view->pairs, view->second_below, true);
    return made;
}

/* What became of a proposal. */
typedef enum verdict { TURNED_DOWN = 0, TAKEN, ABOVE_ITS_LEVEL } verdict;

static verdict propose(pn_rng *rng, const pn_level_view *view, const envelope *from, size_t *j, bool *second)
{
    pn_u128 place = pn_below_wide(rng, from->total);
    const segment *at = from->at;
    pn_i128 apart;
    size_t rank;
    bool stays;

    while (place >= at->end)
        at++;
    rank = (size_t)((at->end - 1 - place) / at->mass);
    *second = at->second;
    *j = at->second ? rank : view->locate(view->levels, at->below, rank);
    apart = view->top - (pn_i128)((pn_u128)at->below * view->rate.den) -
            (pn_i128)view->score(view->of, *j, at->second) * (pn_i128)view->rate.num;
    if (apart < 0)
        return ABOVE_ITS_LEVEL;
    stays = pn_level_coin(rng, at->below);
    return stays && pn_bernoulli_exp(rng, (pn_u128)apart, view->rate.den) ? TAKEN : TURNED_DOWN;
}

pn_status pn_score_levels_draw(pn_rng *rng, const pn_level_view *view, size_t *j, bool *second, pn_err *err)
{
    bool found = false;

    for (size_t round = 0; !found; round++) {
        const envelope from = envelope_of(view);

        if (round == MOST_ROUNDS)
            return pn_fail(err, PN_EPRIVACY,
                           "selection: no candidate was taken in %zu rounds, which is a fault in Penumbra; nothing was "
                           "released, please report it",
                           round);

        for (int i = 0; i < BATCH; i++) { /* all of them, whichever is the first to be taken */
            size_t candidate;
            bool other;
            verdict is = propose(rng, view, &from, &candidate, &other);

            if (is == ABOVE_ITS_LEVEL)
                return pn_fail(err, PN_EPRIVACY,
                               "selection: a score is above its level, which is a fault in Penumbra; nothing was "
                               "released, please report it");
            if (is == TAKEN && !found) {
                *j = candidate;
                *second = other;
                found = true;
            }
        }
        if (!found && view->tighten)
            view->tighten(view->owner);
    }
    return PN_OK;
}

/* ---- levels of an array ---- */

#define BLOCK  ((size_t)1024)
#define UPWARD (1.0 + 0x1p-47) /* more than the roundings behind a level */
#define DOWN   (1.0 - 0x1p-47)

static size_t blocks_of(size_t count)
{
    return count / BLOCK + (count % BLOCK != 0);
}

void pn_score_levels_clear(pn_score_levels *self)
{
    pn_free(self->place);
    pn_free(self->in_block);
    pn_free(self->highest);
    *self = (pn_score_levels){ 0 };
}

pn_status pn_score_levels_reserve(pn_score_levels *self, size_t count, pn_err *err)
{
    uint8_t *place;
    uint16_t *in_block;
    double *highest;

    if (count <= self->capacity)
        return PN_OK;
    if (count > PN_SCORE_LEVELS_MOST)
        return pn_fail(err, PN_EUNSUPPORTED, "selection: %zu candidates; at most 2^30 can be chosen from", count);
    place = pn_alloc(count, sizeof *place);
    in_block = pn_alloc(blocks_of(count), PN_LEVEL_COUNT * sizeof *in_block);
    highest = pn_alloc(blocks_of(count), sizeof *highest);
    if (!place || !in_block || !highest) {
        pn_free(place);
        pn_free(in_block);
        pn_free(highest);
        return pn_fail(err, PN_ENOMEM, "selection: not enough memory for the levels of %zu candidates", count);
    }
    pn_free(self->place);
    pn_free(self->in_block);
    pn_free(self->highest);
    self->place = place;
    self->in_block = in_block;
    self->highest = highest;
    self->capacity = count;
    return PN_OK;
}

/* Blocks are passed over by their counts. */
static size_t locate(const void *levels, unsigned below, size_t rank)
{
    const pn_score_levels *self = levels;
    const unsigned place = self->top - below;
    const uint16_t *counts = self->in_block + place;
    size_t j = 0;

    for (; rank >= *counts; counts += PN_LEVEL_COUNT, j += BLOCK)
        rank -= *counts;
    for (;; j++) {
        if (self->place[j] == place && rank-- == 0)
            return j;
    }
}

/* Four histograms in turn: a level that many neighbours share is not waited for. */
static void count_block(pn_score_levels *self, size_t first, size_t count)
{
    uint16_t lanes[4][PN_LEVEL_COUNT] = { { 0 } }, *out = self->in_block + first / BLOCK * PN_LEVEL_COUNT;
    const uint8_t *place = self->place + first;
    size_t i = 0;

    for (; i + 4 <= count; i += 4) {
        lanes[0][place[i]]++;
        lanes[1][place[i + 1]]++;
        lanes[2][place[i + 2]]++;
        lanes[3][place[i + 3]]++;
    }
    for (; i < count; i++)
        lanes[0][place[i]]++;
    for (size_t k = 0; k < PN_LEVEL_COUNT; k++) {
        out[k] = (uint16_t)(lanes[0][k] + lanes[1][k] + lanes[2][k] + lanes[3][k]);
        self->at_place[k] += out[k];
    }
}

static void begin(pn_score_levels *self, size_t n, double base)
{
    self->count = n;
    self->base = base;
    memset(self->at_place, 0, sizeof self->at_place);
}

static void view_places(pn_score_levels *self)
{
    self->top = LAST;
    while (self->top > 0 && self->at_place[self->top] == 0)
        self->top--;
    for (unsigned below = 0; below < PN_LEVEL_COUNT; below++)
        self->view.counts[below] = below <= self->top ? self->at_place[self->top - below] : 0;
    self->view.levels = self;
    self->view.locate = locate;
}

static double rate_of(const pn_level_view *view)
{
    return (double)view->rate.num / (double)view->rate.den;
}

/* ---- pairs: the level of a coordinate is the whole part of rate |x| steps ---- */

static double largest_size(const double *x, size_t n)
{
    double lane[4] = { 0.0 };
    size_t j = 0;

    for (; j + 4 <= n; j += 4) {
        for (size_t k = 0; k < 4; k++)
            lane[k] = fabs(x[j + k]) > lane[k] ? fabs(x[j + k]) : lane[k];
    }
    for (; j < n; j++)
        lane[0] = fabs(x[j]) > lane[0] ? fabs(x[j]) : lane[0];
    return fmax(fmax(lane[0], lane[1]), fmax(lane[2], lane[3]));
}

/* Rounding never takes a difference past a whole number, so a level is no lower for it. */
static void pair_places(uint8_t *place, const double *x, size_t count, double per, double base, double highest)
{
    for (size_t i = 0; i < count; i++) {
        double above = fabs(x[i]) * per - base;

        above = above > 0.0 ? above : 0.0;
        place[i] = (uint8_t)(int32_t)(above < highest ? above : highest);
    }
}

static void place_pairs(pn_score_levels *self, const double *x, size_t n, double per, double most)
{
    const double largest = largest_size(x, n), top = floor(fmin(largest, most) * per), base = fmax(top - LAST, 0.0);

    begin(self, n, base);
    self->largest = largest;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;

        pair_places(self->place + first, x + first, count, per, base, top - base);
        count_block(self, first, count);
    }
}

void pn_score_levels_arrange(pn_score_levels *self)
{
    double above;

    view_places(self);
    above = self->base + self->top + 1.0;
    self->view.top = (pn_i128)above * (pn_i128)self->view.rate.den;
    self->view.pairs = self->paired ? self->count : 0;
    self->view.second_below = above > LAST ? LAST : above > 0.0 ? (unsigned)above : 0;
}

void pn_score_levels_of_pairs(pn_score_levels *self, const double *x, size_t n, double steps, double most)
{
    self->paired = true;
    place_pairs(self, x, n, rate_of(&self->view) * steps * UPWARD, most);
    pn_score_levels_arrange(self);
}

/* ---- kept levels ---- */

#define SPARE   26 /* places, of 67: what is 40 levels below the top weighs exp(-40) */
#define HIGHEST 0x1p50

static double largest_bound(const double *bounds, size_t n)
{
    double lane[4] = { -HIGHEST, -HIGHEST, -HIGHEST, -HIGHEST };
    size_t j = 0;

    for (; j + 4 <= n; j += 4) {
        for (size_t k = 0; k < 4; k++)
            lane[k] = bounds[j + k] > lane[k] ? bounds[j + k] : lane[k];
    }
    for (; j < n; j++)
        lane[0] = bounds[j] > lane[0] ? bounds[j] : lane[0];
    return fmax(fmax(lane[0], lane[1]), fmax(lane[2], lane[3]));
}

static void bound_places(uint8_t *place, const double *bounds, size_t count, double base, double highest)
{
    for (size_t i = 0; i < count; i++) {
        double above = bounds[i] - base;

        above = above > 0.0 ? above : 0.0;
        place[i] = (uint8_t)(int32_t)(above < highest ? above : highest);
    }
}

/* Places above the highest level are left empty.  Of pairs no level is below 0, where all second candidates are. */
void pn_score_levels_of_bounds(pn_score_levels *self, const double *bounds, size_t n, bool pairs)
{
    const double top = floor(fmin(largest_bound(bounds, n), HIGHEST)), lowest = top - (LAST - SPARE);
    const double base = pairs ? fmax(lowest, 0.0) : lowest;

    self->paired = pairs;
    begin(self, n, base);
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;

        bound_places(self->place + first, bounds + first, count, base, top - base);
        self->highest[first / BLOCK] = largest_bound(bounds + first, count);
        count_block(self, first, count);
    }
}

bool pn_score_levels_set(pn_score_levels *self, size_t j, double bound)
{
    uint16_t *counts = self->in_block + j / BLOCK * PN_LEVEL_COUNT;
    double above = bound - self->base;
    unsigned old = self->place[j], new;

    if (!(above < PN_LEVEL_COUNT))
        return false;
    new = above > 0.0 ? (unsigned)above : 0;
    counts[old]--;
    self->at_place[old]--;
    counts[new]++;
    self->at_place[new]++;
    self->place[j] = (uint8_t) new;
    self->highest[j / BLOCK] = fmax(self->highest[j / BLOCK], bound);
    return true;
}

static int64_t best_of_block(const pn_score_levels *self, size_t block)
{
    const size_t first = block * BLOCK, last = self->count - first < BLOCK ? self->count : first + BLOCK;
    int64_t best = self->view.score(self->view.of, first, false);

    for (size_t j = first + 1; j < last; j++) {
        int64_t score = self->view.score(self->view.of, j, false);

        best = score > best ? score : best;
    }
    return best;
}

/* Begins where the highest bound is, after which few blocks are still above the best. */
int64_t pn_score_levels_best(const pn_score_levels *self)
{
    const size_t blocks = blocks_of(self->count);
    const double rate = rate_of(&self->view);
    size_t first = 0;
    int64_t best;

    for (size_t block = 1; block < blocks; block++)
        first = self->highest[block] > self->highest[first] ? block : first;
    best = best_of_block(self, first);
    for (size_t block = 0; block < blocks; block++) {
        double reached = (double)best * rate;

        if (block != first && self->highest[block] > reached - fabs(reached) * 0x1p-48) {
            int64_t other = best_of_block(self, block);

            best = other > best ? other : best;
        }
    }
    return best;
}

/* ---- singles: how far below the largest, in whole parts of rate x steps ---- */

static double cut(double x, double most)
{
    double above = x > -most ? x : -most;

    return above < most ? above : most;
}

static double largest_cut(const double *x, size_t n, double most)
{
    double largest = -most;

    for (size_t j = 0; j < n; j++)
        largest = x[j] > largest ? x[j] : largest;
    return cut(largest, most);
}

static void single_places(uint8_t *place, const double *x, size_t count, double most, double largest, double per,
                          double one)
{
    for (size_t i = 0; i < count; i++) {
        double apart = (largest - cut(x[i], most)) * per - one;

        apart = apart > 0.0 ? apart : 0.0;
        place[i] = (uint8_t)(LAST - (int32_t)(apart < (double)LAST ? apart : (double)LAST));
    }
}

void pn_score_levels_of_singles(pn_score_levels *self, const double *x, size_t n, double steps, double most)
{
    const double rate = rate_of(&self->view), largest = largest_cut(x, n, most);

    begin(self, n, 0.0);
    self->largest = largest;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;

        /* scores are whole: they may be 1 closer */
        single_places(self->place + first, x + first, count, most, largest, rate * steps * DOWN, rate * UPWARD);
        count_block(self, first, count);
    }
    view_places(self);
    self->view.top = (pn_i128)floor(largest * steps) * (pn_i128)self->view.rate.num;
    self->view.pairs = 0;
}
