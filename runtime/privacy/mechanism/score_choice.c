/* score_choice.c -- see score_choice.h.  Depends on: random/selection.h, random/score_levels.h.
 * Used by: selection_mechanism.c, selections.c. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/mechanism/score_choice.h"

#define FEW 512 /* candidates: up to them a proposal each takes no longer than levels and sixteen proposals */

size_t pn_score_choice_candidates(const pn_score_choice *self, size_t n)
{
    return self->pairs != 0.0 ? 2 * n : n;
}

void pn_score_choice_clear(pn_score_choice *self)
{
    pn_free(self->scores);
    pn_score_levels_clear(&self->levels);
    self->scores = NULL;
    self->capacity = 0;
}

/* Public: a rate at which levels would not fit a double is left to the other sampler. */
static bool by_levels(const pn_score_choice *self, size_t n, pn_dyadic epsilon, uint64_t shift)
{
    double highest = pn_dyadic_value(epsilon) / (2.0 * (double)shift) * (self->bound * self->per_unit);

    return pn_score_choice_candidates(self, n) > FEW && highest <= 0x1p49;
}

pn_status pn_score_choice_reserve_scores(pn_score_choice *self, size_t n, pn_err *err)
{
    size_t count = pn_score_choice_candidates(self, n);
    int64_t *scores;

    if (count <= self->capacity)
        return PN_OK;
    scores = pn_alloc(count, sizeof *scores);
    if (!scores)
        return pn_fail(err, PN_ENOMEM, "selection: not enough memory for %zu scores", count);
    pn_free(self->scores);
    self->scores = scores;
    self->capacity = count;
    return PN_OK;
}

pn_status pn_score_choice_reserve_flip(pn_score_choice *self, size_t n, pn_err *err)
{
    return pn_score_levels_reserve(&self->levels, n, err);
}

pn_status pn_score_choice_reserve(pn_score_choice *self, size_t n, pn_dyadic epsilon, uint64_t shift, pn_err *err)
{
    bool many = by_levels(self, n, epsilon, shift);

    if (many)
        PN_TRY(pn_score_levels_reserve(&self->levels, n, err));
    return pn_score_choice_reserve_scores(self, many && n > FEW ? FEW : n, err);
}

/* ---- scores ---- */

/* floor() without a call: what does not fit 2^52 is cut, so that the quotient is exact and its floor fits. */
static inline int64_t round_score(const pn_score_choice *self, double score)
{
    double above = score > -self->bound ? score : -self->bound;
    double steps = (above < self->bound ? above : self->bound) * self->per_unit;
    int64_t whole = (int64_t)steps;

    return whole - ((double)whole > steps);
}

int64_t pn_score_choice_round(const pn_score_choice *self, double score)
{
    return round_score(self, score);
}

void pn_score_choice_scores(pn_score_choice *self, const double *input, size_t n)
{
    for (size_t i = 0; i < n && self->pairs == 0.0; i++)
        self->scores[i] = round_score(self, input[i]);
    for (size_t j = 0; j < n && self->pairs != 0.0; j++) {
        self->scores[2 * j] = round_score(self, self->pairs * input[j]);
        self->scores[2 * j + 1] = round_score(self, -(self->pairs * input[j]));
    }
}

/* ---- the choice ---- */

/* Of a pair the first candidate of the levels is the one with the larger score; a NaN counts as 0 there. */
static int64_t score_of(const void *of, size_t j, bool second)
{
    const pn_score_choice *self = of;
    double size;

    if (self->pairs == 0.0)
        return round_score(self, self->input[j]);
    size = fabs(self->pairs * self->input[j]);
    size = size > 0.0 ? size : 0.0;
    return round_score(self, second ? -size : size);
}

typedef pn_status (*level_law)(pn_rng *rng, const pn_level_view *view, size_t *j, bool *second, pn_err *err);

/* Rounding keeps the order, so the largest number has the best score. */
static pn_status choose_by_levels(pn_score_choice *self, pn_rng *rng, const double *input, size_t n, pn_rate rate,
                                  level_law draw, size_t *chosen, pn_err *err)
{
    double weight = fabs(self->pairs);
    bool second;
    size_t j;

    self->input = input;
    self->levels.view.rate = rate;
    self->levels.view.of = self;
    self->levels.view.score = score_of;
    if (weight == 0.0)
        pn_score_levels_of_singles(&self->levels, input, n, self->per_unit, self->bound);
    else
        pn_score_levels_of_pairs(&self->levels, input, n, weight * self->per_unit, self->bound / weight);
    self->levels.view.best = round_score(self, (weight == 0.0 ? 1.0 : weight) * self->levels.largest);
    PN_TRY(draw(rng, &self->levels.view, &j, &second, err));
    *chosen = weight == 0.0 ? j : 2 * j + (second != (self->pairs * input[j] < 0.0));
    return PN_OK;
}

pn_status pn_score_choice_exponential(pn_score_choice *self, pn_rng *rng, const double *input, size_t n,
                                      pn_dyadic epsilon, uint64_t shift, size_t *chosen, pn_err *err)
{
    if (by_levels(self, n, epsilon, shift))
        return choose_by_levels(self, rng, input, n, pn_rate_of(epsilon, shift), pn_score_levels_draw, chosen, err);
    pn_score_choice_scores(self, input, n);
    *chosen = pn_select_exponential(rng, self->scores, pn_score_choice_candidates(self, n), epsilon, shift);
    return PN_OK;
}

pn_status pn_score_choice_flip(pn_score_choice *self, pn_rng *rng, const double *input, size_t n, pn_dyadic epsilon,
                               uint64_t shift, size_t *chosen, pn_err *err)
{
    return choose_by_levels(self, rng, input, n, pn_rate_of(epsilon, shift), pn_score_levels_flip, chosen, err);
}
