/* lask_call.c -- the arguments of a question from Lua, and its answer as a Lua value.
 * Depends on: lask.h, lsymbol.h, oracle/question.h.  Used by: lask.c. */
#include <string.h>

#include "bindings/expr/lsymbol.h"
#include "bindings/solvers/lask.h"
#include "geometry/convex/set.h"
#include "numeric/symmetric.h"
#include "objective/passes/second_order.h"

/* ---- what is asked ---- */

/* A copy of the vector at `index` to out[dim]. */
void pnl_ask_point(lua_State *L, const pnl_ask *self, int index, const char *what, size_t dim, double *out)
{
    pn_vec given;

    if (lua_type(L, index) != LUA_TTABLE && !pnl_test(L, index, &pnl_vec_class))
        pnl_error(L, "%s: %s must be a vector of %zu numbers, got %s", self->owner, what, dim, pnl_got(L, index));
    given = pnl_check_vec_of(L, index, self->owner);
    if (given.n != dim)
        pnl_error(L, "%s: %s must have %zu entries, got %zu", self->owner, what, dim, given.n);
    memcpy(out, given.data, dim * sizeof *out);
}

/* The rows of a mat, or a list of vectors, at `index`; *count of them.  Pushes room for `first` more before them. */
static double *read_points(lua_State *L, const pnl_ask *self, int index, size_t dim, size_t first, size_t *count)
{
    bool list = lua_type(L, index) == LUA_TTABLE;
    pn_mat rows = { 0 };
    double *room;

    if (!list && !pnl_test(L, index, &pnl_mat_class))
        pnl_error(L, "%s: give points as a mat with a row for each, or as a list of vectors, got %s", self->owner,
                  pnl_got(L, index));
    if (!list)
        rows = pnl_check_mat(L, index);
    *count = list ? (size_t)lua_rawlen(L, index) : rows.rows;
    if (*count < 1 || *count > 4096 || (!list && rows.cols != dim))
        pnl_error(L, "%s: give 1 to 4096 points of %zu entries, got %zu of %zu", self->owner, dim, *count,
                  list ? dim : rows.cols);
    room = pnl_new_vec(L, (first + *count) * dim);
    for (size_t k = 0; list && k < *count; k++) {
        lua_rawgeti(L, index, (lua_Integer)k + 1);
        pnl_ask_point(L, self, lua_gettop(L), "a point", dim, room + (first + k) * dim);
        lua_pop(L, 1);
    }
    if (!list)
        memcpy(room + first * dim, rows.data, *count * dim * sizeof *room);
    return room;
}

static bool takes_phi(const pn_question_ops *ops)
{
    return ops == &pn_question_moment || ops == &pn_question_mean;
}

/* phi at 2 is traced. */
static void read_phi(lua_State *L, const pnl_ask *self, pn_question *question)
{
    static const char *const names[2] = { "z", "y" };

    question->phi = pnl_trace(L, 2, self->owner, names, 2, &question->graph);
    pnl_refuse_equality(L, 2, -1);
}

/* The arguments of the call, by kind: [phi,] x [, v] [, options]. */
void pnl_ask_read(lua_State *L, const pnl_ask *self, const pn_question_ops *ops, pnl_ask_call *to)
{
    pn_question *question = &to->told.question;
    int at = takes_phi(ops) ? 3 : 2, options = at + 1;
    bool several = ops == &pn_question_values || ops == &pn_question_choose;

    *question = (pn_question){ .ops = ops, .points = 1 };
    to->dim = takes_phi(ops) ? pn_objective_data(self->objective)->p : pn_objective_dim(self->objective);
    if (several) {
        to->x = read_points(L, self, at, to->dim, 0, &question->points);
    } else if (ops == &pn_question_differences) {
        options++;
        to->x = read_points(L, self, at + 1, to->dim, 1, &question->points);
        question->points++;
        pnl_ask_point(L, self, at, "the point", to->dim, to->x);
    } else {
        to->x = to->room ? to->room : pnl_new_vec(L, 2 * to->dim);
        pnl_ask_point(L, self, at, "the point", to->dim, to->x);
    }
    if (ops->two) {
        options++;
        to->v = to->x + to->dim;
        pnl_ask_point(L, self, at + 1, ops == &pn_question_hvp ? "the direction" : "the second point", to->dim, to->v);
    }
    if (takes_phi(ops))
        read_phi(L, self, question);
    if (ops == &pn_question_within) {
        options++;
        to->told.length = pnl_ask_length(L, at + 1, self, "length");
    }
    pnl_ask_options(L, options, self, &to->told);
    if (!pnl_ask_about(question) && self->mode != PNL_ASK_ONCE)
        pnl_error(L, "%s: %s: phi is too long to be told from others that a step asks; at most 40 levels of functions",
                  self->owner, ops->name);
}

/* ---- the regulariser's part, which is public ---- */

static pn_status add_value(const pn_regulariser *reg, size_t dim, const pnl_ask_call *of, size_t points, double *out,
                           pn_err *err)
{
    for (size_t k = 0; k < points; k++) {
        double extra = 0.0;

        PN_TRY(reg->ops->evaluate(reg, dim, of->x + k * dim, &extra, NULL, err));
        out[k] += extra;
    }
    return PN_OK;
}

static pn_status add_difference(const pn_regulariser *reg, const pnl_ask_call *of, double *out, pn_err *err)
{
    for (size_t j = 0; j < of->dim; j++)
        out[j] = -out[j];
    PN_TRY(reg->ops->evaluate(reg, of->dim, of->v, NULL, out, err));
    for (size_t j = 0; j < of->dim; j++)
        out[j] = -out[j];
    return reg->ops->evaluate(reg, of->dim, of->x, NULL, out, err);
}

static pn_status add_public(const pnl_ask *self, const pnl_ask_call *of, double *out, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(self->objective);
    const pn_question_ops *ops = of->told.question.ops;

    if (!reg)
        return PN_OK;
    if (ops == &pn_question_gradient)
        return reg->ops->evaluate(reg, of->dim, of->x, NULL, out, err);
    if (ops == &pn_question_difference)
        return add_difference(reg, of, out, err);
    if (ops == &pn_question_hvp)
        return reg->ops->curve(reg, of->dim, of->x, of->v, out, err);
    if (ops == &pn_question_hessian)
        return pn_objective_add_regular_hessian(self->objective, of->x, out, err);
    if (ops == &pn_question_value || ops == &pn_question_values)
        return add_value(reg, of->dim, of, of->told.question.points, out, err);
    return PN_OK;
}

/* ---- answers ---- */

static int push_vertex(lua_State *L, const pnl_ask *self, size_t chosen)
{
    const pn_set *set = pn_objective_set(self->objective);
    double *vertex = pnl_new_vec(L, set->dim), *room = pnl_new_vec(L, set->dim);
    pn_atom atom;

    set->ops->atom(set, chosen, &atom, room);
    pn_atom_add(&atom, 1.0, vertex);
    lua_pop(L, 1);
    lua_pushinteger(L, (lua_Integer)chosen + 1);
    return 2;
}

/* numbers[dim] as the kind has it, with the regulariser's part; NULL: zeros, of a plan that is being made. */
static int push_numbers(lua_State *L, const pnl_ask *self, const pnl_ask_call *of, const double *numbers, size_t dim)
{
    const pn_question_ops *ops = of->told.question.ops;
    double *out = pnl_new_vec(L, dim);
    pn_err err;

    if (numbers) {
        memcpy(out, numbers, dim * sizeof *out);
        pnl_status(L, add_public(self, of, out, &err), &err);
    }
    if (ops == &pn_question_hessian)
        pn_packed_unpack(out, of->dim, pnl_new_mat(L, of->dim, of->dim));
    else if (ops == &pn_question_value || ops == &pn_question_mean || ops == &pn_question_within)
        lua_pushnumber(L, out[0]);
    return 1;
}

int pnl_ask_push(lua_State *L, const pnl_ask *self, const pnl_ask_call *of, const pn_answer *got, size_t dim)
{
    if (of->told.question.ops->answer == PN_ANSWER_NUMBERS || of->told.question.ops->answer == PN_ANSWER_SUMS)
        return push_numbers(L, self, of, got->numbers, dim);
    if (of->told.question.ops == &pn_question_vertex)
        return push_vertex(L, self, got->chosen);
    if (of->told.question.ops->answer == PN_ANSWER_ABOVE)
        lua_pushboolean(L, got->chosen != 0);
    else
        lua_pushinteger(L, (lua_Integer)got->chosen + 1);
    return 1;
}
