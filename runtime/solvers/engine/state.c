/* state.c -- the state of a run: allocated, zeroed and freed for every solver alike.
 * Depends on: solver.h.  Used by: run.c. */
#include <string.h>

#include "core/alloc.h"
#include "solvers/engine/solver.h"

#define LINE 8 /* doubles of a cache line */

void pn_room_take(pn_room *room, double **slot, size_t count)
{
    *slot = room->block && count ? room->block + room->used : NULL;
    room->used += (count + LINE - 1) / LINE * LINE;
}

void pn_room_take_each(pn_room *room, size_t count, double **const *slots, size_t number)
{
    for (size_t i = 0; i < number; i++)
        pn_room_take(room, slots[i], count);
}

void pn_state_free(pn_state *state)
{
    const pn_solver_ops *solver;

    if (!state)
        return;
    solver = state->plan->solver;
    if (solver->end)
        solver->end(state);
    pn_free(state->block);
    pn_free(state);
}

void pn_state_answer(const pn_state *state, double *theta)
{
    if (state->theta)
        memcpy(theta, state->theta, state->dim * sizeof *theta);
    else
        state->plan->solver->current(state, theta);
}

static void take_rooms(pn_state *state, pn_room *room)
{
    const pn_solver_ops *solver = state->plan->solver;

    pn_room_take(room, &state->theta, solver->current ? 0 : state->dim);
    if (solver->rooms)
        solver->rooms(state, room);
}

static pn_status fill(pn_state *state, pn_oracle *ask, pn_err *err)
{
    const pn_solver_ops *solver = state->plan->solver;
    const double *start = state->plan->start;
    pn_room room = { NULL, 0 };

    take_rooms(state, &room);
    PN_TRY(pn_new_zeroed(&state->block, room.used, err, "out of memory for %zu numbers", room.used));
    room = (pn_room){ state->block, 0 };
    take_rooms(state, &room);
    if (state->theta && start)
        memcpy(state->theta, start, state->dim * sizeof *start);
    return solver->begin ? solver->begin(state, ask, err) : PN_OK;
}

pn_status pn_state_new(pn_state **out, const pn_plan *plan, pn_oracle *ask, pn_err *err)
{
    const pn_solver_ops *solver = plan->solver;
    pn_state *state;
    pn_status status;

    PN_TRY(pn_made(state = pn_calloc(1, solver->state), err, "out of memory"));
    state->plan = plan;
    state->dim = pn_objective_dim(plan->objective);
    status = fill(state, ask, err);
    if (status == PN_OK && solver->passes && !pn_oracle_takes_batches(ask))
        status = pn_objective_prepare(plan->objective, plan->iterations, pn_ask_task(ask), err);
    if (status != PN_OK) {
        pn_state_free(state);
        return status;
    }
    *out = state;
    return PN_OK;
}
