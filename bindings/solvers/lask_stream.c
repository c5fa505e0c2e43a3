/* lask_stream.c -- questions that one charge pays for as often as they are asked: running sums and watches.
 * Depends on: lask.h, lsymbol.h, progress.h.  Used by: lask.c. */
#include <math.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/solvers/lask.h"
#include "core/vault.h"

/* In a step it is a name for the plan's stream: what it was told finds it.  By itself it has a plan and an oracle. */
typedef struct pnl_stream {
    pnl_ask *ask; /* one reference */
    pnl_told told;
    pn_plan *plan;
    pn_oracle *oracle;
    const pn_rng *rng; /* of the oracle */
    size_t dim;        /* of a point */
} pnl_stream;

enum { KEPT_ASK = 1, KEPT_OPTIONS };

static void stream_free(void *object)
{
    pnl_stream *self = object;

    pn_oracle_close(self->oracle);
    pnl_ask_free_plan(self->plan);
    pnl_ask_free(self->ask);
    pn_graph_free(self->told.question.graph);
    pn_free(self);
}

/* Its oracle, priced and opened: nothing is charged before it is first asked. */
static void open_alone(lua_State *L, pnl_stream *self)
{
    size_t steps = self->told.question.ops == &pn_question_prefix ? self->told.horizon : 1;
    pn_rng *rng;
    pn_err err;

    if (steps == 0)
        pnl_error(L, "%s: horizon is missing; give the number of times that the running sum is pushed",
                  self->ask->owner);
    (void)pnl_ask_price(L, self->ask, &self->told, steps, &self->plan);
    self->rng = rng = pnl_ask_rng(L, self->ask);
    pnl_status(L, pn_oracle_open(&self->oracle, self->plan, self->ask->ledger, rng, pnl_task(L), &err), &err);
}

/* Push the stream of the options at 2, of the oracle at 1; what they hold in vectors stays alive with it. */
static int new_stream(lua_State *L, const pnl_class *cls, const pn_question_ops *ops)
{
    static const char *const names[2] = { "z", "y" };
    pnl_ask *ask = pnl_check(L, 1, &pnl_ask_class);
    pnl_stream *self;
    pn_question *question;
    void **slot;
    int box;

    lua_settop(L, 2);
    if (ask->mode != PNL_ASK_ONCE)
        pnl_ask_check_within(L, ask);
    slot = pnl_newbox(L, cls);
    *slot = self = pn_calloc(1, sizeof *self);
    if (!self)
        pnl_no_memory(L, "%s: out of memory", ask->owner);
    box = lua_gettop(L);
    pnl_keep(L, box, 1);
    self->ask = ask;
    ask->references++;
    question = &self->told.question;
    *question = (pn_question){ .ops = ops, .points = 1 };
    pnl_ask_options(L, 2, ask, &self->told);
    for (int i = box + 1; i <= lua_gettop(L); i++) { /* vectors among the options were read into these */
        if (lua_type(L, i) == LUA_TUSERDATA)
            pnl_keep(L, box, i);
    }
    if (lua_istable(L, 2) && lua_getfield(L, 2, "phi") != LUA_TNIL) {
        question->phi = pnl_trace(L, lua_gettop(L), ask->owner, names, 2, &question->graph);
        (void)pn_graph_keep(question->graph);
    }
    if (lua_istable(L, 2)) /* vectors that the caller gave are looked into where they are */
        pnl_keep(L, box, 2);
    self->dim = question->graph ? pn_objective_data(ask->objective)->p : pn_objective_dim(ask->objective);
    pnl_ask_about(question);
    if (ask->mode == PNL_ASK_ONCE)
        open_alone(L, self);
    lua_settop(L, box);
    return 1;
}

int pnl_ask_prefix(lua_State *L)
{
    return new_stream(L, &pnl_sums_class, &pn_question_prefix);
}

int pnl_ask_watch(lua_State *L)
{
    return new_stream(L, &pnl_watch_class, &pn_question_above);
}

/* ---- asking ---- */

static int answer_alone(lua_State *L, pnl_stream *self, const pnl_ask_call *of)
{
    pn_answer got = { 0 };
    pn_spending spending;
    pn_status status;
    pn_err err;

    pnl_ask_spending(L, self->ask, self->rng, &spending);
    pnl_run_begin(L, true);
    pnl_busy(L, 1, true);
    pn_oracle_begin(self->oracle);
    status =
        PN_SPENDING(&spending, PN_WITH_RECORDS(pn_oracle_ask(self->oracle, 0, &(pn_asked){ .x = of->x }, &got, &err)));
    status = pnl_bill_refused(spending.account, self->ask->ledger, self->ask->owner, status, &err);
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    pnl_ask_push(L, self->ask, of, &got, self->plan->questions[0].dim);
    pn_oracle_next(self->oracle);
    return 1;
}

/* The point at 2 is asked about; pushes the answer. */
static int ask_stream(lua_State *L, pnl_stream *self)
{
    pnl_ask_call *of;

    lua_settop(L, 2);
    if (self->ask->mode != PNL_ASK_ONCE)
        pnl_ask_check_within(L, self->ask);
    of = lua_newuserdatauv(L, sizeof *of, 0);
    *of = (pnl_ask_call){ .told = self->told, .dim = self->dim };
    of->x = pnl_new_vec(L, self->dim);
    pnl_ask_point(L, self->ask, 2, "the point", self->dim, of->x);
    return self->oracle ? answer_alone(L, self, of) : pnl_ask_in_step(L, self->ask, of);
}

static int sums_push(lua_State *L)
{
    return ask_stream(L, pnl_check(L, 1, &pnl_sums_class));
}

static int watch_above(lua_State *L)
{
    return ask_stream(L, pnl_check(L, 1, &pnl_watch_class));
}

static int sums_tostring(lua_State *L)
{
    const pnl_stream *self = pnl_check(L, 1, &pnl_sums_class);
    char method[128];

    lua_pushliteral(L, "running sum of gradients: push(x) adds the one at x and gives the sum so far");
    if (!self->plan)
        return 1;
    pn_prefix_design_describe(self->plan->questions[0].design, method, sizeof method);
    lua_pushfstring(L, "; %s, noise of the last sum %f", method, pn_question_sigma(&self->plan->questions[0]));
    lua_concat(L, 2);
    return 1;
}

static int watch_tostring(lua_State *L)
{
    (void)pnl_check(L, 1, &pnl_watch_class);
    lua_pushliteral(L, "watch: above(x) says whether the mean at x is at or above the threshold");
    return 1;
}

static const pnl_row sums_rows[] = {
    { "push", sums_push, PNL_METHOD, PNL_PAID, "sums:push(x) -> vec",
      "Add the mean gradient of the losses at x, and return the private sum of all so far.  x is a vector of dim "
      "numbers; the gradient is of all records or, with batch=, of the next batch.  The first push charges the whole "
      "stream; a push beyond its horizon is refused." },
    { "__tostring", sums_tostring, PNL_META, PNL_NOTHING, "tostring(sums)", "What it does." },
    PNL_ROW_END,
};

static const pnl_row watch_rows[] = {
    { "above", watch_above, PNL_METHOD, PNL_PAID, "watch:above(x) -> boolean",
      "Whether the mean at x is at or above the threshold, both with noise.  x is a vector of dim numbers, with phi= "
      "of as many as the data have columns.  The first call charges the watch; when it has said true answers= times it "
      "is over, and refuses." },
    { "__tostring", watch_tostring, PNL_META, PNL_NOTHING, "tostring(watch)", "What it does." },
    PNL_ROW_END,
};

const pnl_class pnl_sums_class = {
    "pn.sums", stream_free, sums_rows, "A private running sum of gradients.", NULL, NULL
};
const pnl_class pnl_watch_class = { "pn.watch", stream_free,
                                    watch_rows, "Whether a mean is above a threshold, as often as it is asked.",
                                    NULL,       NULL };
