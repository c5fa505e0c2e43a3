/* vertex_path.c -- the answers to a vertex question that is asked at the iterates of its own answers alone: the gradient
 * is not computed anew but kept in whole numbers (objective/passes/squared_path.h), and the vertex chosen by levels.
 * A record moves whole scores by at most what squared_path.h says, exactly, whatever the point is that the question is
 * asked at; the price is the question's.
 * Depends on: draw.h, objective/passes/squared_path.h, random/score_levels.h.  Used by: draw.c. */
#include <math.h>

#include "core/alloc.h"
#include "objective/passes/squared_path.h"
#include "oracle/draw.h"
#include "random/score_levels.h"

struct pn_vertex_path {
    pn_squared_path *path;
    pn_score_levels levels;
    uint64_t records; /* that differ between neighbours, as contributions */
    bool reflected;   /* vertex 2j is -radius e_j */
};

/* First the candidate against the entry's sign. */
static int64_t score_of(const void *of, size_t j, bool second)
{
    int64_t entry = pn_squared_path_entry(of, j), size = entry < 0 ? -entry : entry;

    return second ? -size : size;
}

pn_status pn_vertex_path_open(pn_vertex_path **out, const pn_question *question, pn_err *err)
{
    const pn_dataset *data = pn_objective_data(question->objective);
    pn_vertex_path *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "oracle: out of memory"));
    self->reflected = question->selection.pairs > 0.0; /* scores are of minus the gradient */
    self->records = (uint64_t)pn_contributions(question->neighbours);
    status = pn_squared_path_new(&self->path, data, fabs(question->selection.pairs), question->along, err);
    if (status == PN_OK)
        status = pn_score_levels_reserve(&self->levels, data->p, err);
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
    pn_squared_path_free(self->path);
    pn_score_levels_clear(&self->levels);
    pn_free(self);
}

pn_status pn_vertex_path_answer(pn_draw *draw, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                                pn_err *err)
{
    const pn_question *question = draw->question;
    pn_vertex_path *self = draw->along;
    pn_level_view *view = &self->levels.view;
    uint64_t moved = self->records * pn_squared_path_contribution(self->path);
    bool second, negative;
    size_t j;

    if (value)
        PN_TRY(pn_objective_evaluate(question->objective, asked->x, value, NULL, on->task, err));
    view->of = self->path;
    view->score = score_of;
    view->rate = pn_mechanism_choice_rate(draw->mechanism, moved);
    pn_score_levels_of_pairs(&self->levels, pn_squared_path_entries(self->path), pn_objective_dim(question->objective),
                             1.0, 0x1p62);
    PN_TRY(pn_mechanism_choose(draw->mechanism, on->ledger, question->label ? question->label : on->label, on->rng,
                               view, moved, &j, &second, err));
    draw->charged++;
    negative = (pn_squared_path_entry(self->path, j) > 0) != second;
    pn_squared_path_take(self->path, j, negative);
    to->chosen = 2 * j + (negative != self->reflected);
    return PN_OK;
}
