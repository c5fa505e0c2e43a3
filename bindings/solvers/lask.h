/* lask.h -- the oracle as Lua sees it: at the prompt, in a step of a solver of a user's own, and while such a solver is
 * planned, where it writes down what is asked.
 * Depends on: pnl.h, oracle/oracle.h.  Used by: lask*.c, lsolver.c, lsolver_run.c. */
#ifndef PNL_LASK_H
#define PNL_LASK_H

#include "bindings/core/pnl.h"
#include "bindings/privacy/lsession.h"
#include "oracle/oracle.h"

extern const pnl_class pnl_ask_class;

typedef enum pnl_ask_mode {
    PNL_ASK_ONCE = 0, /* each answer has its own price */
    PNL_ASK_RECORDS,  /* nothing is looked at: answers are zeros, and questions are added to the draft */
    PNL_ASK_RUNS      /* the step of a run: what its plan has */
} pnl_ask_mode;

typedef struct pnl_ask {
    pnl_ask_mode mode;
    int references;          /* the box, and the run that it is of */
    char owner[48];          /* what messages begin with */
    pn_objective *objective; /* kept by the box */
    pn_plan *plan;           /* of a run, or the draft */
    pn_oracle *oracle;       /* of a run; NULL when that is over */
    pn_ledger *ledger;       /* borrowed; NULL in a run without privacy */
    pn_neighbours neighbours;
    pn_rng *rng;
    pn_question batch;           /* scheme and batch: where a question names none */
    bool within;                 /* a step is being made */
    const pn_question_ops *last; /* by itself: what was asked last, and the deviation of the answer's noise */
    double noise;
    double value;     /* of the mean loss where it was first asked in this step, NaN where it may not be shown */
    pn_status failed; /* of the last question that failed in this step, and why */
    pn_err err;
    struct pnl_ask_call *spare; /* of the question that is being asked; NULL before the first */
    bool lent;                  /* it is in use: a question that a callback asks meanwhile has its own */
} pnl_ask;

void pnl_ask_free(pnl_ask *self); /* drops one reference; NULL allowed */
/** The run, or the planning, is over: from now on it refuses. */
void pnl_ask_end(pnl_ask *self);
/** Push a new oracle that keeps the objective at `objective_index`; the rest of it is zero. */
pnl_ask *pnl_new_ask(lua_State *L, int objective_index, pnl_ask_mode mode, const char *owner);

/* ---- lask_options.c: what a question is told ---- */

/* Of one asking: the options of the call, or those of `queries`. */
typedef struct pnl_told {
    pn_question question;              /* what it is told; graph borrowed from the stack */
    size_t count;                      /* of `queries`; 1 */
    double length;                     /* of a gradient with clip, and of within */
    size_t horizon;                    /* of prefix by itself; 0: not given */
    double sigma, rho, epsilon, delta; /* of one answer; NaN where it was not given */
} pnl_told;

/** Read the options at `index` (a table, nil or none) and, where it names none, the default batch that the oracle at 1
 *  keeps; what they leave out is as it was in *told. */
void pnl_ask_options(lua_State *L, int index, const pnl_ask *self, pnl_told *told);
/** Read a batch, {scheme=, size=} or {scheme=, rate=} or a number, at `index` into the question; nil: all records. */
void pnl_ask_batch(lua_State *L, int index, const pnl_ask *self, pn_question *question);
/** The positive number at `index`, `what` of a question.  Errors: raised. */
double pnl_ask_length(lua_State *L, int index, const pnl_ask *self, const char *what);
/** Write into question->about what tells it from others of its kind; false where that leaves some of phi out. */
bool pnl_ask_about(pn_question *question);
/** Add a question of that kind as `told` to the plan, certified.  Errors: raised. */
pn_question *pnl_ask_plan(lua_State *L, pnl_ask *self, const pnl_told *told);

/* ---- lask_call.c: the arguments of a call, and its answer ---- */

/* One asking. */
typedef struct pnl_ask_call {
    pnl_told told;
    double *x, *v; /* copies, on the stack or in `room`; v NULL where the kind takes none */
    size_t dim;    /* of a point */
    double *room;  /* [2 * dim of the objective]; NULL: none */
} pnl_ask_call;

/** Read [phi,] x [, v] [, options], by kind, from 2 on.  Errors: raised. */
void pnl_ask_read(lua_State *L, const pnl_ask *self, const pn_question_ops *ops, pnl_ask_call *to);
/** A copy of the vector at `index` to out[dim]; `what` it is, for messages.  Errors: raised. */
void pnl_ask_point(lua_State *L, const pnl_ask *self, int index, const char *what, size_t dim, double *out);
/** Push what was answered, with the regulariser's part, or (numbers NULL) zeros; returns how many values. */
int pnl_ask_push(lua_State *L, const pnl_ask *self, const pnl_ask_call *of, const pn_answer *got, size_t dim);

/* ---- lask_class.c: pn.oracle ---- */

/** The question that users may ask whose name is at `index`; `where` it was named, for messages.  Errors: raised, with
 *  the names of all. */
const pn_question_ops *pnl_ask_question(lua_State *L, int index, const char *owner, const char *where);
/** pn.oracle{objective=, ledger=, batch=, rng=} -> oracle. */
int pnl_oracle_new(lua_State *L);
/** Open the classes of oracles and set pn.oracle in the table on the top. */
void pnl_open_oracle(lua_State *L);

/* ---- lask.c ---- */

/** The method of that kind: (oracle, arguments, options). */
int pnl_ask_kind(lua_State *L, const pn_question_ops *ops);
/** Write the question down, or answer it in the step of a run, and push the answer. */
int pnl_ask_in_step(lua_State *L, pnl_ask *self, const pnl_ask_call *of);
/** Raise unless a step of this oracle is being made. */
void pnl_ask_check_within(lua_State *L, const pnl_ask *self);
/** A plan of `steps` askings of `told`, at its own price; freed by pnl_ask_free_plan.  Errors: raised. */
pn_plan *pnl_ask_price(lua_State *L, pnl_ask *self, const pnl_told *told, size_t steps, pn_plan **slot);
void pnl_ask_free_plan(pn_plan *plan); /* NULL allowed */
/** For an answer by itself: what its charge counts for.  Raises where the data set has another budget. */
void pnl_ask_spending(lua_State *L, const pnl_ask *self, const pn_rng *rng, pn_spending *out);
/** The rng of answers by themselves. */
pn_rng *pnl_ask_rng(lua_State *L, const pnl_ask *self);

/* ---- lask_stream.c: running sums and watches ---- */

extern const pnl_class pnl_sums_class, pnl_watch_class;
/** ask:prefix{options}, ask:watch{options}. */
int pnl_ask_prefix(lua_State *L);
int pnl_ask_watch(lua_State *L);

#endif
