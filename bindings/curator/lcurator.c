/* lcurator.c -- pn.curator: a curator for scripts that are run from Lua.
 * Depends on: penumbra_lua.h, pnl.h.  Used by: module.c. */
#include <math.h>
#include <string.h>

#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/embed/penumbra_lua.h"
#include "bindings/privacy/lsession.h"
#include "data/dataset.h"
#include "privacy/ledger/ledger.h"

#define MOST_OUTPUT ((size_t)1 << 20) /* the sandbox stops much earlier */

static const char *const ledger_class[] = { "pn.ledger", NULL };
static const char *const by_hand[] = { "data", "program", NULL };

enum { LEDGER, MEMORY, SECONDS, INSTRUCTIONS, THREADS, PROCESS, PARAMS };

static const pn_param params[] = {
    { "ledger", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, ledger_class, "what every release is charged to" },
    { "memory", PN_COUNT, PN_OPTIONAL, PN_ANY, 512.0, NULL, "limit of a script's memory, in MiB" },
    { "seconds", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 60.0, NULL, "limit of a script's time" },
    { "instructions", PN_COUNT, PN_OPTIONAL, PN_WORD, 1e9, NULL, "limit of a script's instructions of Lua's machine" },
    { "threads", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "of the computations; all processors when left out" },
    { "process", PN_FLAG, PN_OPTIONAL, PN_ANY, 1.0, NULL,
      "each script in a process of its own, so that a memory error ends that script and shows it nothing; false: in "
      "this process, for programs that cannot start others" },
    PN_PARAM_END,
};

typedef struct curator {
    pnl_curator *runs;
    pn_ledger *ledger;
    pn_task *task; /* of the state that runs scripts: what stops it stops them */
    char *output, *answer;
    size_t size, room;
    bool cut; /* there was no memory for all of the output */
} curator;

static void free_curator(void *object)
{
    curator *self = object;

    pnl_curator_free(self->runs);
    pn_free(self->output);
    pn_free(self->answer);
    pn_ledger_free(self->ledger);
    pn_free(self);
}

/* ---- what a script prints ---- */

static void hear(void *object, pnl_host_channel channel, const char *text, size_t size)
{
    curator *self = object;

    if (channel != PNL_OUTPUT || size >= MOST_OUTPUT || self->size + size + 1 > MOST_OUTPUT)
        return;
    if (self->size + size + 1 > self->room) {
        size_t room = 2 * (self->size + size + 1);
        char *more = pn_resize(self->output, room, 1);

        self->cut = self->cut || !more;
        if (!more)
            return;
        self->output = more;
        self->room = room;
    }
    memcpy(self->output + self->size, text, size);
    self->size += size;
    self->output[self->size++] = '\n';
}

static pn_status watch(void *object, const pn_progress *progress, pn_err *err)
{
    const curator *self = object;

    (void)progress;
    return pn_task_cancelled(self->task) ? pn_fail(err, PN_ECANCELLED, "curator: stopped") : PN_OK;
}

/* ---- running ---- */

static void set_text(lua_State *L, const char *field, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}

static int push_result(lua_State *L, const curator *self, pn_status status, const pn_err *err, double before)
{
    lua_createtable(L, 0, 6);
    lua_pushboolean(L, status == PN_OK);
    lua_setfield(L, -2, "ok");
    lua_pushlstring(L, self->output ? self->output : "", self->size);
    if (self->cut) {
        lua_pushliteral(L, "(some of the output is missing: there was not enough memory to keep it)\n");
        lua_concat(L, 2);
    }
    lua_setfield(L, -2, "output");
    lua_pushnumber(L, pn_ledger_spent(self->ledger) - before);
    lua_setfield(L, -2, "spent");
    if (status == PN_OK) {
        set_text(L, "answer", self->answer);
    } else {
        set_text(L, "error", err->message);
        set_text(L, "status", pn_status_name(status) + strlen("PN_"));
    }
    pnl_list(L);
    return 1;
}

/* c:run(code, name) */
static int curator_run(lua_State *L)
{
    curator *self = pnl_check(L, 1, &pnl_curator_class);
    size_t size;
    const char *code = luaL_checklstring(L, 2, &size), *name = luaL_optstring(L, 3, "script");
    double before;
    pn_status status;
    pn_err err;

    if (lua_type(L, 2) != LUA_TSTRING)
        return pnl_error(L, "curator:run: the script must be a string, got %s", pnl_got(L, 2));
    pn_free(self->answer);
    self->answer = NULL;
    self->size = 0;
    self->cut = false;
    before = pn_ledger_spent(self->ledger);
    pnl_run_begin(L, false);
    pnl_run_lend_task(L);
    pnl_busy(L, 1, true);
    status = pnl_curator_run(self->runs, code, size, name, &self->answer, &err);
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    return push_result(L, self, status, &err, before);
}

static int curator_tostring(lua_State *L)
{
    const curator *self = pnl_check(L, 1, &pnl_curator_class);

    lua_pushfstring(L, "pn.curator: %f remaining; c:run(script) answers an analyst",
                    (LUAI_UACNUMBER)pn_ledger_remaining(self->ledger));
    return 1;
}

static const pnl_row curator_rows[] = {
    { "run", curator_run, PNL_METHOD, PNL_PAID, "c:run(code, name) -> {ok=, answer=, output=, error=, status=, spent=}",
      "Run the script of an analyst, whom you need not trust, in a fresh state.  It finds pn (what reveals nothing "
      "or what was paid for), data.NAME, budget and print, and not your globals.  answer: what it returned, as "
      "text; output: what it printed, nothing when time ended it; error: why it failed, fit to be shown, with its "
      "status (\"EPRIVACY\": a call that is not for analysts, \"EBUDGET\", \"ELIMIT\", \"EINVAL\": syntax).  spent: "
      "how much L.spent has grown.  name: of the script in messages." },
    { "__tostring", curator_tostring, PNL_META, PNL_NOTHING, "tostring(c) -> string", "What remains of its budget." },
    PNL_ROW_END,
};

const pnl_class pnl_curator_class = {
    "pn.curator", free_curator, curator_rows, "Answers the scripts of analysts over private records, from one budget.",
    NULL,         NULL,
};

/* ---- making ---- */

static pnl_host_options limits_of(const pn_arg *args, curator *self)
{
    return (pnl_host_options){ .memory_bytes = args[MEMORY].count << 20,
                               .seconds = args[SECONDS].real,
                               .instructions = args[INSTRUCTIONS].count,
                               .threads = (unsigned)args[THREADS].count,
                               .progress = watch,
                               .log = hear,
                               .self = self };
}

/* The data sets of the table on the top, which the box below it keeps. */
static void register_data(lua_State *L, const curator *self)
{
    int table = lua_gettop(L);
    pn_err err;

    lua_pushnil(L);
    while (lua_next(L, table)) {
        const pn_dataset *data = pnl_test(L, -1, &pnl_dataset_class);

        if (lua_type(L, -2) != LUA_TSTRING || !data)
            pnl_error(L, "curator: data must be a table of data sets by their names, got %s in it",
                      pnl_got(L, data ? -2 : -1));
        (void)pnl_bill_ledger(L, pnl_bill_known(L, data), self->ledger, "curator");
        pnl_status(L, pnl_curator_data(self->runs, lua_tostring(L, -2), data, &err), &err);
        pnl_keep(L, table - 1, -1);
        lua_pop(L, 1);
    }
}

/* The option of the table at 1. */
static void set_program(lua_State *L, const curator *self)
{
    int type = lua_getfield(L, 1, "program");
    pn_err err;

    if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "curator: program must be the path of penumbra, got %s", pnl_got(L, -1));
    pnl_status(L, pnl_curator_program(self->runs, lua_tostring(L, -1), &err), &err);
    lua_pop(L, 1);
}

static int curator_new(lua_State *L)
{
    pn_arg args[PARAMS];
    pnl_host_options limits;
    curator *self;
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "curator", params, args, by_hand);
    pnl_status(L, pn_args_check("curator", params, args, &err), &err);
    if (args[MEMORY].count > 1u << 20 || args[THREADS].count > 256)
        return pnl_error(L, "curator: memory is in MiB, at most 2^20, and threads are at most 256");
    slot = pnl_newbox(L, &pnl_curator_class);
    self = *slot = pn_calloc(1, sizeof *self);
    if (!self)
        return pnl_no_memory(L, "curator: out of memory");
    self->task = pnl_task(L);
    self->ledger = pn_ledger_keep((pn_ledger *)(size_t)args[LEDGER].object);
    limits = limits_of(args, self);
    pnl_status(L, pnl_curator_new(&self->runs, &limits, self->ledger, &err), &err);
    pnl_curator_in_process(self->runs, !args[PROCESS].flag);
    set_program(L, self);
    if (lua_getfield(L, 1, "data") != LUA_TTABLE)
        return pnl_error(L, "curator: data must be a table of data sets by their names, got %s", pnl_got(L, -1));
    register_data(L, self);
    lua_settop(L, lua_gettop(L) - 1);
    return 1;
}

void pnl_open_curator(lua_State *L)
{
    pnl_open_class(L, &pnl_curator_class);
    lua_pushcfunction(L, curator_new);
    lua_setfield(L, -2, "curator");
    pnl_reference(
        L, "", "curator", PNL_NOTHING | PNL_BUDGETS,
        "pn.curator{data={name=d, ...}, ledger=, memory=, seconds=, instructions=, threads=, process=, program=} -> "
        "curator",
        "A curator runs the scripts of analysts over private records: c:run(code).  data: the records, by the names "
        "that scripts find them under in `data`; rows must be clipped, and ledger be the pn.budget of those that "
        "have one, or within it.  Sizes, bounds and whether all labels are -1 or 1 are shown: they are public.  "
        "Everything that scripts ask is charged to ledger.  program: path of penumbra, which runs the scripts; "
        "found beside the library when left out.  The threat model, CURATOR among the sources, says what is "
        "promised.",
        NULL, params);
}
