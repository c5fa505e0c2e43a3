/* vertex_path.c -- the answers to a vertex question that is asked at the iterates of its own answers alone: the
 * gradient is not computed anew but kept in whole numbers (objective/passes/gradient_path.h), and the vertex chosen by
 * levels.  Levels are kept, too.  A vertex moves those of the features of the records whose slopes it renews; the
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

struct pn_vertex_path {
    pn_gradient_path *path;
    pn_score_levels levels;
    uint64_t records; /* that differ between neighbours, as contributions */
    bool reflected;   /* vertex 2j is -radius e_j */
    double scale;     /* rate x score in |S|/C: the same at every step */
    size_t until;     /* vertices taken, up to which levels hold */
    size_t ahead;     /* from when they were made */
    bool stale;       /* they do not */
};

/* First the candidate against the entry's sign. */
static int64_t score_of(const void *of, size_t j, bool second)
{
    int64_t entry = pn_gradient_path_entry(of, j), size = entry < 0 ? -entry : entry;

    return second ? -size : size;
}

/* ---- levels ---- */

#define UPWARD     1.000000000001 /* more than the roundings of a bound */
#define MOST_MOVED 0.125          /* of all features: beyond, all levels are made anew */

static void level_all(pn_vertex_path *self, size_t ahead)
{
    size_t taken = pn_gradient_path_taken(self->path);

    self->ahead = ahead;
    self->until = taken + ahead;
    self->stale = false;
    pn_score_levels_of_bounds(&self->levels, pn_gradient_path_reaches(self->path, self->until, self->scale),
                              self->levels.capacity);
}

/* Before a draw.  Levels that held to their end are made for twice as long. */
static void bring_up(pn_vertex_path *self)
{
    size_t taken = pn_gradient_path_taken(self->path);

    if (self->stale)
        level_all(self, self->ahead);
    else if (taken > self->until)
        level_all(self, self->ahead < taken / 2 ? 2 * self->ahead + 1 : taken);
    pn_score_levels_arrange(&self->levels);
}

static void tighten(void *owner)
{
    pn_vertex_path *self = owner;

    level_all(self, self->ahead / 4);
    pn_score_levels_arrange(&self->levels);
}

static void level_one(void *owner, size_t j)
{
    pn_vertex_path *self = owner;

    if (!pn_score_levels_set(&self->levels, j, pn_gradient_path_reach(self->path, j, self->until) * self->scale))
        self->stale = true;
}

static void take(pn_vertex_path *self, size_t j, bool negative)
{
    pn_gradient_path_take(self->path, j, negative);
    self->stale = (double)pn_gradient_path_moves(self->path) > MOST_MOVED * (double)self->levels.capacity;
    if (!self->stale && pn_gradient_path_taken(self->path) <= self->until)
        pn_gradient_path_moved(self->path, level_one, self);
}

/* ---- answers ---- */

pn_status pn_vertex_path_open(pn_vertex_path **out, const pn_question *question, pn_err *err)
{
    pn_vertex_path *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "oracle: out of memory"));
    self->reflected = question->selection.pairs > 0.0; /* scores are of minus the gradient */
    self->records = (uint64_t)pn_contributions(question->neighbours);
    status = pn_gradient_path_new(&self->path, &question->along, err);
    if (status == PN_OK)
        status = pn_score_levels_reserve(&self->levels, question->along.data->p, err);
    if (status != PN_OK) {
        pn_vertex_path_close(self);
        return status;
    }
    self->stale = true;
    *out = self;
    return PN_OK;
}

void pn_vertex_path_close(pn_vertex_path *self)
{
    if (!self)
        return;
    pn_gradient_path_free(self->path);
    pn_score_levels_clear(&self->levels);
    pn_free(self);
}

pn_status pn_vertex_path_answer(pn_draw *draw, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                                pn_err *err)
{
    const pn_question *question = draw->question;
    pn_vertex_path *self = draw->along;
    pn_level_view *view = &self->levels.view;
    uint64_t moved = self->records * pn_gradient_path_contribution(self->path);
    bool second, negative;
    size_t j;

    if (pn_gradient_path_taken(self->path) == question->along.steps)
        return pn_fail(err, PN_EPRIVACY, "%s: all %zu vertices that were planned have been chosen", on->label,
                       question->along.steps);
    if (value)
        PN_TRY(pn_objective_evaluate(question->objective, asked->x, value, NULL, on->task, err));
    view->of = self->path;
    view->score = score_of;
    view->tighten = tighten;
    view->owner = self;
    view->rate = pn_mechanism_choice_rate(draw->mechanism, moved);
    self->scale =
        (double)view->rate.num / (double)view->rate.den * (double)pn_gradient_path_contribution(self->path) * UPWARD;
    bring_up(self);
    PN_TRY(pn_mechanism_choose(draw->mechanism, on->ledger, question->label ? question->label : on->label, on->rng,
                               view, moved, &j, &second, err));
    draw->charged++;
    negative = (pn_gradient_path_entry(self->path, j) > 0) != second;
    take(self, j, negative);
    to->chosen = 2 * j + (negative != self->reflected);
    return PN_OK;
}
