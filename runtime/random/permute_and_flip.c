/* permute_and_flip.c -- a candidate by permute-and-flip, from levels, without a visit to each.
 * Depends on: score_levels.h, level_coin.h, stream.h.  Used by: privacy/ (the selection mechanisms).
 * Source: McKenna, Sheldon (2020) for the law; the times, the slices and the jumps are the library's own.
 *
 * The law.  Candidates are visited in random order, and each is taken with probability w = exp(-rate (best - score)),
 * best the largest score.  Equally, each candidate has a time T in [0, 1] or never, P(T <= t) = t w, and the earliest
 * is taken: those that have one are in random order.  Time is looked at in slices [0, 2^-s), [2^-s, 2^(1-s)), ...,
 * [1/2, 1), and the first that has any times decides.  Within it times are uniform, so each of them is as likely to be
 * the earliest.  In the first a candidate has its time with probability a w, a = 2^-s; in [a, 2a), if not before, with
 *     a w/(1 - a w)  =  1/m  *  w n  *  (1 - a/n)/(1 - a w),    m = n/a - 1,
 * and n may be any whole number up to 1/w, as it may be another for each level.  The factors are:
 *
 *     1/m    a proposal.  The candidates of a level are passed over by jumps: the first proposal among m of them is at
 *            place i with probability (1/m)(1 - 1/m)^i, so i is drawn uniformly in [0, m) and kept by a coin
 *            (1 - 1/m)^i; where the coin fails none of the m is proposed, which has the probability that is left.
 *            Where i is beyond the level, it has no further proposal either way.
 *     w n    with D whole and D <= rate (best - score):  (n E/2^96) * (2^96 exp(-D)/E) * exp(D - rate (best - score)),
 *            E the table's mass of D.  n is the whole part of 2^96/E, or less.
 *     the rest  c = w n is tossed again as long as a coin a/n comes up:  c (1 - a/n)/(1 - a w) is the chance that c
 *            never fails.
 *
 * (1 - 1/m)^i = sum over k of (-1)^k C(i, k)/m^k, whose terms fall as long as i < m: toss coins of probability
 * (i - k + 1)/(k m), k = 1, 2, ..., until one fails; it has come up when that k is odd, as with the coin exp(-g).
 *
 * A word for each level that is not empty and a slice, then: the number of candidates has no part in it.  s is such
 * that the first slice has about two proposals or one; each that follows has as many as all before together.  Bounds
 * on the scores decide how many there are, and no probability. */
#include <math.h>

#include "random/level_coin.h"
#include "random/score_levels.h"

#define MOST_APART 42 /* D: exp(42) < 2^62 */
#define ROOM_BITS  62 /* n 2^s is at most 2 to that */
#define MANY       64 /* proposals in one draw, from which levels are made tighter for the next */

/* The candidates of one level, all of them first ones or second ones. */
typedef struct group {
    size_t count;
    unsigned below, apart; /* D */
    uint64_t n;
    bool second;
} group;

typedef struct race {
    const pn_level_view *view;
    pn_rng *rng;
    group at[PN_LEVEL_COUNT + 1];
    size_t groups;
    unsigned first, apart_most; /* s; the largest D for which n 2^s has room */
    size_t proposals, found;    /* found: candidates that have their time in this slice */
    size_t j;                   /* of those found, one at random */
    bool second;
} race;

/* The largest whole number up to 2^96/E, or one less: a quotient of doubles is off by less than what it is lowered. */
static uint64_t one_in(unsigned apart)
{
    return apart == 0 ? 1 : (uint64_t)(ldexp(1.0, LEVEL_BITS) / (double)pn_mass_of_level(apart) * (1.0 - 0x1p-50));
}

/* ---- levels by what they are behind the best ---- */

/* What the best score is behind the top, whole steps of 1 rounded upward: on level d a candidate is D = d - that behind
 * the best, or more. */
static bool behind_top(const pn_level_view *view, pn_u128 *out)
{
    pn_i128 slack = view->top - (pn_i128)view->best * (pn_i128)view->rate.num;

    if (slack < 0)
        return false;
    *out = (pn_u128)slack / view->rate.den + ((pn_u128)slack % view->rate.den != 0);
    return true;
}

static void add_group(race *self, size_t count, unsigned below, bool second, pn_u128 behind)
{
    unsigned apart = below > behind ? below - (unsigned)behind : 0;

    if (count > 0)
        self->at[self->groups++] = (group){ count, below, apart < MOST_APART ? apart : MOST_APART, 0, second };
}

/* Groups and their n, and s: proposals of all of time are brought down to two. */
static bool line_up(race *self)
{
    const pn_level_view *view = self->view;
    double proposals = 0.0;
    pn_u128 behind;

    if (!behind_top(view, &behind))
        return false;
    for (unsigned below = 0; below < PN_LEVEL_COUNT; below++)
        add_group(self, view->counts[below], below, false, behind);
    add_group(self, view->pairs, view->second_below, true, behind);
    for (size_t i = 0; i < self->groups; i++)
        proposals += (double)self->at[i].count / (double)one_in(self->at[i].apart);
    while (ldexp(proposals, -(int)self->first) > 2.0)
        self->first++;
    self->apart_most = (unsigned)((ROOM_BITS - self->first) * 0.6931);
    for (size_t i = 0; i < self->groups; i++) {
        group *at = &self->at[i];

        at->apart = at->apart < self->apart_most ? at->apart : self->apart_most;
        at->n = one_in(at->apart);
    }
    return true;
}

/* ---- coins ---- */

/* (1 - 1/m)^i, i < m. */
static bool none_of(pn_rng *rng, uint64_t i, uint64_t m)
{
    uint64_t k = 1;

    while (pn_rng_below(rng, m) < i - (k - 1) && (k == 1 || pn_rng_below(rng, k) == 0))
        k++;
    return k % 2 == 1;
}

/* w n, of a candidate that is rest/den + D behind the best. */
static bool comes_up(const race *self, const group *of, pn_u128 rest)
{
    if (of->apart > 0 && (pn_below_wide(self->rng, (pn_u128)1 << LEVEL_BITS) >= pn_mass_of_level(of->apart) * of->n ||
                          !pn_level_coin(self->rng, of->apart)))
        return false;
    return pn_bernoulli_exp(self->rng, rest, self->view->rate.den);
}

/* n/a of the slice [a, 2a); 0: of the slice that begins with time. */
static uint64_t behind_of(const race *self, const group *of, unsigned slice)
{
    return slice == 0 ? 0 : of->n << (self->first + 1 - slice);
}

/* ---- slices ---- */

static pn_status fault(const char *what, pn_err *err)
{
    return pn_fail(err, PN_EPRIVACY,
                   "selection: %s, which is a fault in Penumbra; nothing was released, please report it", what);
}

/* The proposal of the candidate of that rank. */
static pn_status propose(race *self, const group *of, size_t rank, uint64_t behind, pn_err *err)
{
    const pn_level_view *view = self->view;
    size_t j = of->second ? rank : view->locate(view->levels, of->below, rank);
    pn_i128 gap = (pn_i128)view->best - view->score(view->of, j, of->second);
    pn_i128 rest = gap * (pn_i128)view->rate.num - (pn_i128)((pn_u128)of->apart * view->rate.den);

    if (gap < 0 || rest < 0)
        return fault("a score is above its level", err);
    self->proposals++;
    do {
        if (!comes_up(self, of, (pn_u128)rest))
            return PN_OK;
    } while (behind > 0 && pn_rng_below(self->rng, behind) == 0);
    if (pn_rng_below(self->rng, ++self->found) == 0) {
        self->j = j;
        self->second = of->second;
    }
    return PN_OK;
}

static pn_status look_at(race *self, const group *of, unsigned slice, pn_err *err)
{
    const uint64_t behind = behind_of(self, of, slice), m = slice == 0 ? of->n << self->first : behind - 1;

    for (size_t rank = 0; rank < of->count;) {
        uint64_t jump = pn_rng_below(self->rng, m);

        if (jump >= of->count - rank)
            break;
        if (!none_of(self->rng, jump, m)) {
            rank += m;
            continue;
        }
        PN_TRY(propose(self, of, rank + (size_t)jump, behind, err));
        rank += (size_t)jump + 1;
    }
    return PN_OK;
}

pn_status pn_score_levels_flip(pn_rng *rng, const pn_level_view *view, size_t *j, bool *second, pn_err *err)
{
    race self = { .view = view, .rng = rng };

    if (!line_up(&self))
        return fault("a score is above its level", err);
    for (unsigned slice = 0; self.found == 0; slice++) {
        if (slice > self.first)
            return fault("no candidate was taken", err);
        for (size_t i = 0; i < self.groups; i++)
            PN_TRY(look_at(&self, &self.at[i], slice, err));
    }
    *j = self.j;
    *second = self.second;
    if (self.proposals > MANY && view->tighten)
        view->tighten(view->owner);
    return PN_OK;
}
