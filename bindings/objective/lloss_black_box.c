/* lloss_black_box.c -- losses of which only values are known: pn.loss.black_box calls a Lua function back,
 * pn.loss.program asks another
 * program.  Depends on: lcallback.h, lobjective.h, objective/losses/program_loss.h.  Used by: lloss.c. */
#include <string.h>

#include "bindings/core/lcallback.h"
#include "bindings/objective/lobjective.h"
#include "objective/losses/program_loss.h"

/* ---- pn.loss.black_box ---- */

enum { VALUE, VALUES };

static const char *const function_names[] = { "value", "values", NULL };
static const char *const black_box_extra[] = { "value", "values", "name", NULL };

/* All points of one record. */
typedef struct record_call {
    const double *thetas;
    size_t count, dim;
    const pn_record *record;
    double *values;
} record_call;

static void push_record(lua_State *L, const pn_record *record)
{
    pnl_push_copy(L, record->x, record->p);
    lua_pushnumber(L, record->y);
    lua_pushinteger(L, (lua_Integer)record->row + 1);
}

/* The function is on the top: every point has copies of its own, which the function may keep or change. */
static void value_body(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    const record_call *call = ud;
    int function = lua_gettop(L);

    for (size_t k = 0; k < call->count; k++) {
        if (pn_task_cancelled(call->record->task))
            pnl_error(L, "%s: stopped by the user", back->owner);
        lua_pushvalue(L, function);
        pnl_push_copy(L, call->thetas + k * call->dim, call->dim);
        push_record(L, call->record);
        lua_call(L, 4, 1);
        call->values[k] = pnl_result_number(L, back, which);
    }
}

static void values_body(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    const record_call *call = ud;
    double *copy = pnl_new_mat(L, call->count, call->dim);

    memcpy(copy, call->thetas, call->count * call->dim * sizeof *copy);
    push_record(L, call->record);
    lua_call(L, 4, 1);
    pnl_result_numbers(L, back, which, call->values, call->count);
}

static pn_status call_record(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                             double *values, pn_err *err)
{
    record_call call = { thetas, count, dim, record, values };

    if (pnl_callback_has(self, VALUES))
        return pnl_call_back(self, VALUES, values_body, &call, err);
    return pnl_call_back(self, VALUE, value_body, &call, err);
}

static const pn_param black_box_params[] = {
    { "lipschitz", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "l2 Lipschitz constant of theta -> l, declared; solvers enforce it by clipping" },
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "entries of theta; absent: as many as a record has" },
    PN_PARAM_END,
};

/* Exactly one of value and values. */
static void check_functions(lua_State *L)
{
    bool value, values;

    if (!lua_istable(L, 1))
        pnl_error(L, "loss.black_box: value must be a function(theta, x, y, row) that returns a number, got nothing");
    value = lua_getfield(L, 1, "value") != LUA_TNIL;
    values = lua_getfield(L, 1, "values") != LUA_TNIL;
    if (!value && !values)
        pnl_error(L, "loss.black_box: value must be a function(theta, x, y, row) that returns a number, or values a "
                     "function(thetas, x, y, row) that returns one number for each row of thetas; got neither");
    if (value && values)
        pnl_error(L, "loss.black_box: give value or values, not both");
    lua_pop(L, 2);
}

int pnl_loss_black_box(lua_State *L)
{
    pn_arg args[2];
    pnl_callback *back;
    const char *name;
    void **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "loss.black_box", black_box_params, args, black_box_extra);
    pnl_status(L, pn_args_check("loss.black_box", black_box_params, args, &err), &err);
    check_functions(L);
    name = pnl_loss_name(L, 1, "loss.black_box");
    slot = pnl_newbox(L, &pnl_loss_class);
    back = pnl_new_callback(L, -1, 1, "loss.black_box", function_names);
    status = pn_loss_black_box((pn_loss **)slot, call_record, pn_free, back, args[1].given ? args[1].count : 0,
                               args[0].given ? args[0].real : 0.0, &err);
    if (status != PN_OK)
        pn_free(back);
    else if (name)
        status = pn_loss_rename(*slot, name, &err);
    pnl_status(L, status, &err);
    return 1;
}

/* ---- pn.loss.program ---- */

static const char *const program_extra[] = { "command", "name", NULL };

static const pn_param program_params[] = {
    { "lipschitz", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "l2 Lipschitz constant of theta -> l, declared; solvers enforce it by clipping" },
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "entries of theta; absent: as many as a record has" },
    { "timeout", PN_REAL, PN_OPTIONAL, PN_POSITIVE, PN_PROGRAM_TIMEOUT, NULL,
      "seconds that it may take for one answer" },
    PN_PARAM_END,
};

static int wrong_command(lua_State *L, const char *got)
{
    return pnl_error(L, "loss.program: command must be a list of words, {\"python3\", \"sim.py\"}, got %s", got);
}

/* The words, ended by NULL, in a userdata left on the stack; the strings stand in the table of options. */
static const char *const *read_command(lua_State *L)
{
    const char **words;
    size_t count;

    if (!lua_istable(L, 1))
        wrong_command(L, "nothing");
    if (lua_getfield(L, 1, "command") != LUA_TTABLE)
        wrong_command(L, lua_isnil(L, -1) ? "nothing" : pnl_got(L, -1));
    count = (size_t)lua_rawlen(L, -1);
    if (count == 0)
        wrong_command(L, "an empty table");
    words = lua_newuserdatauv(L, (count + 1) * sizeof *words, 0);
    for (size_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, -2, (lua_Integer)i + 1) != LUA_TSTRING)
            wrong_command(L, lua_pushfstring(L, "%s as word %d", pnl_got(L, -1), (int)i + 1));
        words[i] = lua_tostring(L, -1);
        if (strlen(words[i]) != (size_t)lua_rawlen(L, -1) || (i == 0 && !words[i][0]))
            wrong_command(L, lua_pushfstring(L, "%s as word %d", i || words[0][0] ? "a zero byte" : "an empty string",
                                             (int)i + 1));
        lua_pop(L, 1);
    }
    words[count] = NULL;
    return words;
}

int pnl_loss_program(lua_State *L)
{
    pn_program_options options;
    pn_arg args[3];
    const char *name;
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "loss.program", program_params, args, program_extra);
    pnl_status(L, pn_args_check("loss.program", program_params, args, &err), &err);
    options = (pn_program_options){ .command = read_command(L),
                                    .dim = args[1].given ? args[1].count : 0,
                                    .lipschitz = args[0].given ? args[0].real : 0.0,
                                    .timeout = args[2].real };
    name = pnl_loss_name(L, 1, "loss.program");
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_program((pn_loss **)slot, &options, &err), &err);
    if (name)
        pnl_status(L, pn_loss_rename(*slot, name, &err), &err);
    return 1;
}
