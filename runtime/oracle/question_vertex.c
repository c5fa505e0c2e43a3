/* question_vertex.c -- the vertex of the set toward which f falls fastest, by private choice.
 * The score of a vertex v is -<v, gradient of f>: a record adds at most max |l'| max |<v, x>| to n of them, and
 * replacing it moves each by twice that over n.
 * Depends on: question.h, geometry.  Used by: question.c's table, frank_wolfe. */
#include "oracle/question.h"

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->objective);

    (void)batch;
    PN_TRY(pn_objective_evaluate(self->objective, asked->x, value, room, task, err));
    for (size_t j = 0; j < set->dim; j++)
        room[j] = -room[j]; /* the mechanism looks for the largest score */
    set->ops->atom_scores(set, room, out);
    return PN_OK;
}

const pn_question_ops pn_question_vertex = {
    .name = "vertex",
    .doc = "The vertex v of a polytope with the least <v, gradient of f>, by private choice.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 4",
    .answer = PN_ANSWER_CHOICE,
    .compute = compute,
};
