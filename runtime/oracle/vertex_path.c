/* vertex_path.c -- the answers to a question for vertices that is asked at the iterates of its own answers alone: the
 * gradient is not computed anew but kept in whole numbers (objective/passes/gradient_path.h), and the coordinates of a
 * vertex are chosen by levels: one of each range that the set has (geometry/algebra/coordinate_choices.h).
 * Levels are kept, too.  A vertex moves those of the features of the records whose slopes it renews; the
 * others are bounded until a step that is known beforehand, and then made anew.  When too many proposals are turned
 * down they are made anew at once and for less time, which changes how long a draw takes, and no law.
 *
 * A record moves whole scores by at most what gradient_path.h says, exactly, whatever the point is that the question
 * is asked at; the price is the question's.
 * Depends on: draw.h, objective/passes/gradient_path.h, random/score_levels.h.  Used by: draw.c. */
#include <math.h>

#include "core/alloc.h"
#include "objective/passes/gradient_path.h"
#include "oracle/draw.h"
#include "random/score_levels.h"

/* A range of coordinates, of which a vertex has one. */
typedef struct range {
    struct pn_vertex_path *owner;
    const pn_coordinate_choice *of;
    pn_score_levels levels;
    int64_t share; /* |w| of what all entries add up to */
    double moves;  /* the most that a record moves its scores by: |w| times a gradient's entry */
    double scale;  /* rate x score in |S|/C: the same at every step */
    size_t until;  /* vertices taken, up to which levels hold */
    size_t ahead;  /* from when they were made */
    bool stale;    /* they do not */
} range;

struct pn_vertex_path {
    pn_gradient_path *path;
    uint64_t records; /* that differ between neighbours, as contributions */
    range *ranges;    /* [count] */
    size_t count;
    pn_path_entry *entries; /* [count] of the vertex at hand */
};

/* Of which sign of S the scores are; 0: both, first the candidate against the entry's. */
static int side_of(const range *self)
{
    return self->of->both ? 0 : self->of->weight > 0.0 ? -1 : 1;
}

static int64_t score_of(const void *of, size_t j, bool second)
{
    const range *self = of;
    int64_t entry = pn_gradient_path_entry(self->owner->path, self->of->first + j), size = entry < 0 ? -entry : entry;

    if (self->of->both)
        return second ? -size : size;
    return self->of->weight > 0.0 ? -entry : entry;
}

/* ---- levels ---- */

#define MOST_MOVED 0.125 /* of all features: beyond, all levels are made anew */

static void level_all(range *self, size_t ahead)
{
    pn_gradient_path *path = self->owner->path;
    size_t taken = pn_gradient_path_taken(path);
    const double *bounds;

    self->ahead = ahead;
    self->until = taken + ahead;
    self->stale = false;
    bounds = pn_gradient_path_reaches(path, self->of->first, self->of->count, self->until, side_of(self), self->scale);
    pn_score_levels_of_bounds(&self->levels, bounds, self->of->count, self->of->both);
}

/* Before a draw.  Levels that held to their end are made for twice as long. */
static void bring_up(range *self)
{
    size_t taken = pn_gradient_path_taken(self->owner->path);

    if (self->stale)
        level_all(self, self->ahead);
    else if (taken > self->until)
        level_all(self, self->ahead < taken / 2 ? 2 * self->ahead + 1 : taken);
    pn_score_levels_arrange(&self->levels);
}

static void tighten(void *owner)
{
    range *self = owner;

    level_all(self, self->ahead / 4);
    pn_score_levels_arrange(&self->levels);
}

static range *range_of(pn_vertex_path *self, size_t j)
{
    size_t low = 0, high = self->count - 1; /* the last that begins at j or before */

    while (low < high) {
        size_t middle = high - (high - low) / 2;

        if (self->ranges[middle].of->first <= j)
            low = middle;
        else
            high = middle - 1;
    }
    return &self->ranges[low];
}

static void level_one(void *owner, size_t j)
{
    pn_vertex_path *self = owner;
    range *at = range_of(self, j);

    if (at->stale || pn_gradient_path_taken(self->path) > at->until)
        return;
    at->stale = !pn_score_levels_set(&at->levels, j - at->of->first,
                                     pn_gradient_path_reach(self->path, j, at->until, side_of(at)) * at->scale);
}

static void take(pn_vertex_path *self, size_t features)
{
    bool many;

    pn_gradient_path_take(self->path, self->entries, self->count);
    many = (double)pn_gradient_path_moves(self->path) > MOST_MOVED * (double)features;
    for (size_t r = 0; r < self->count; r++)
        self->ranges[r].stale = many;
    if (!many)
        pn_gradient_path_moved(self->path, level_one, self);
}

/* ---- life ---- */

static pn_status open_ranges(pn_vertex_path *self, const pn_question *question, pn_err *err)
{
    const pn_coordinate_choices *of = question->coordinates;

    PN_TRY(pn_new_zeroed(&self->ranges, of->count, err, "oracle: out of memory"));
    PN_TRY(pn_new_zeroed(&self->entries, of->count, err, "oracle: out of memory"));
    self->count = of->count;
    for (size_t r = 0; r < of->count; r++) {
        range *at = &self->ranges[r];
        double size = fabs(of->at[r].weight);

        at->owner = self;
        at->of = &of->at[r];
        at->share = of->count == 1 ? PN_PATH_WHOLE : (int64_t)ldexp(size / of->reach * (1.0 - 0x1p-40), PN_PATH_BITS);
        at->moves = size * pn_question_entry_moves(question);
        at->stale = true;
        PN_TRY(pn_score_levels_reserve(&at->levels, of->at[r].count, err));
    }
    return PN_OK;
}

pn_status pn_vertex_path_open(pn_vertex_path **out, const pn_question *question, pn_err *err)
{
    pn_vertex_path *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "oracle: out of memory"));
    self->records = (uint64_t)pn_contributions(question->neighbours);
    status = pn_gradient_path_new(&self->path, &question->along, err);
    if (status == PN_OK)
        status = open_ranges(self, question, err);
    if (status != PN_OK) {
        pn_vertex_path_close(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

void pn_vertex_path_close(pn_vertex_path *self)
{
    if (!self)
        return;
    pn_gradient_path_free(self->path);
    for (size_t r = 0; r < self->count; r++)
        pn_score_levels_clear(&self->ranges[r].levels);
    pn_free(self->ranges);
    pn_free(self->entries);
    pn_free(self);
}

/* ---- answers ---- */

static bool flips(const pn_question *question)
{
    return question->selections.flips || question->selection.law == PN_SELECT_PERMUTE_AND_FLIP;
}

static void look_at(range *self, pn_rate rate, bool best)
{
    pn_level_view *view = &self->levels.view;

    view->of = self;
    view->score = score_of;
    view->tighten = tighten;
    view->owner = self;
    view->rate = rate;
    self->scale = (double)rate.num / (double)rate.den * (double)pn_gradient_path_contribution(self->owner->path);
    bring_up(self);
    if (best)
        view->best = pn_score_levels_best(&self->levels);
}

static const char *label_of(const pn_draw *draw, const pn_draw_on *on)
{
    return draw->question->label ? draw->question->label : on->label;
}

/* One choice is paid for as it is drawn, several together before the first. */
static pn_status choose(pn_draw *draw, const pn_draw_on *on, range *from, uint64_t moved, size_t *j, bool *second,
                        pn_err *err)
{
    bool best = flips(draw->question);

    if (draw->selections) {
        look_at(from, pn_selections_rate(draw->selections, from->moves, moved), best);
        return pn_selections_choose(draw->selections, on->rng, &from->levels.view, from->moves, moved, j, second, err);
    }
    look_at(from, pn_mechanism_choice_rate(draw->mechanism, moved), best);
    PN_TRY(pn_mechanism_choose(draw->mechanism, on->ledger, label_of(draw, on), on->rng, &from->levels.view, moved, j,
                               second, err));
    draw->charged++;
    return PN_OK;
}

static pn_status choose_entry(pn_draw *draw, const pn_draw_on *on, size_t r, double *code, pn_err *err)
{
    pn_vertex_path *self = draw->along;
    range *from = &self->ranges[r];
    uint64_t moved = self->records * pn_gradient_path_contribution(self->path);
    bool second, negative = from->of->weight < 0.0;
    size_t j;

    PN_TRY(choose(draw, on, from, moved, &j, &second, err));
    j += from->of->first;
    if (from->of->both)
        negative = (pn_gradient_path_entry(self->path, j) > 0) != second;
    self->entries[r] = (pn_path_entry){ j, negative ? -from->share : from->share };
    *code = 2.0 * (double)j + (negative ? 1.0 : 0.0);
    return PN_OK;
}

pn_status pn_vertex_path_answer(pn_draw *draw, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                                pn_err *err)
{
    const pn_question *question = draw->question;
    pn_vertex_path *self = draw->along;

    if (pn_gradient_path_taken(self->path) == question->along.steps)
        return pn_fail(err, PN_EPRIVACY, "%s: all %zu vertices that were planned have been chosen", on->label,
                       question->along.steps);
    if (value)
        PN_TRY(pn_objective_evaluate(question->objective, asked->x, value, NULL, on->task, err));
    if (draw->selections) {
        PN_TRY(pn_selections_pay(draw->selections, on->ledger, label_of(draw, on), on->rng, err));
        draw->charged++;
    }
    for (size_t r = 0; r < self->count; r++)
        PN_TRY(choose_entry(draw, on, r, &to->answer[r], err));
    take(self, question->along.data->p);
    return PN_OK;
}
