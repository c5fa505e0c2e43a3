/* pnl.h -- what every binding shares: boxes, classes with documented rows, options from parameter tables, errors, the
 * task.  A class is a table of rows; each row has its doc string and says what it reveals.
 * pn.reference() walks them all.
 * Depends on: Lua 5.4, runtime/.  Used by: every l*.c and the program. */
#ifndef PNL_H
#define PNL_H

#include <stdbool.h>
#include <stddef.h>

#include <lauxlib.h>
#include <lua.h>

#include "core/alloc.h"
#include "core/param.h"
#include "core/status.h"
#include "core/table.h"
#include "core/task.h"
#include "core/view.h"
#include "random/rng.h"

#define PNL_API __attribute__((visibility("default")))

/* What a function, method or field reveals: one of the first three; or'ed to it, what it touches besides.  In a curated
 * state only PNL_NOTHING and PNL_PAID that touch nothing are there (lcurated.c); 0, which nobody has judged,
 * is refused like PNL_RAW. */
enum {
    PNL_NOTHING = 1, /* public facts, plans */
    PNL_PAID = 2,    /* only what a charged mechanism released */
    PNL_RAW = 3,     /* non-private values */
    PNL_REVEALS = 3, /* the mask of these */

    PNL_FILES = 1 << 2,      /* reads or writes files */
    PNL_PROCESSES = 1 << 3,  /* other processes and machines: programs that are run, sockets, ranks */
    PNL_CLOCK = 1 << 4,      /* shows time that was taken */
    PNL_CALLS_BACK = 1 << 5, /* hands values that were not released to a function of the caller's */
    PNL_BUDGETS = 1 << 6,    /* opens, charges or ends budgets by hand */
    PNL_SEEDED = 1 << 7,     /* makes noise that others can repeat */
    PNL_FAILS = 1 << 8,      /* whether it fails depends on the records */
    PNL_LOADS = 1 << 9       /* loads a module of the Lua half */
};
typedef unsigned pnl_reveals;
#define PNL_TOUCHES 8 /* kinds of them */

typedef enum pnl_kind {
    PNL_FUNCTION = 0, /* pn.set.l1_ball{...}: in a library */
    PNL_METHOD,       /* v:dot(w) */
    PNL_FIELD,        /* d.n: fn is called with the object and pushes one value */
    PNL_META          /* __add, __len, __tostring, __eq ...; documented by its operator */
} pnl_kind;

/* `signature` shows arguments and result: "v:dot(w) -> number".  `doc`: shape, unit, range, errors, source;
 * one to a few
 * sentences.  A row without either fails the walk test. */
typedef struct pnl_row {
    const char *name; /* NULL ends the table */
    lua_CFunction fn;
    pnl_kind kind;
    pnl_reveals reveals;
    const char *signature;
    const char *doc;
} pnl_row;

#define PNL_ROW_END                                                                                                    \
    {                                                                                                                  \
        NULL, NULL, PNL_FUNCTION, PNL_NOTHING, NULL, NULL                                                              \
    }

struct pn_ledger;

typedef struct pnl_class {
    const char *name;     /* "pn.vec" */
    void (*free)(void *); /* NULL-tolerant through pnl: called only with a non-NULL pointer */
    const pnl_row *rows;
    const char *doc;
    lua_CFunction index;    /* fallback of __index for keys that are no row (v[i]); NULL: unknown keys are errors */
    lua_CFunction newindex; /* __newindex; NULL: the object is immutable */
} pnl_class;

/* ---- boxes ---- */

/** Push an empty userdata of the class, with one user value, and return its slot; fill the slot afterwards.  __gc and
 *  __close free what the slot holds.  The class is registered on first use. */
void **pnl_newbox(lua_State *L, const pnl_class *cls);
/** The object at `index`; raises "project: argument 1 must be a pn.set,
 *  got 3" ("an open pn.set, got a closed pn.set"). */
void *pnl_check(lua_State *L, int index, const pnl_class *cls);
/** NULL when the value is not of the class. */
void *pnl_test(lua_State *L, int index, const pnl_class *cls);
/** Make the box at `box` keep the value at `other` alive (a table of kept values in its user value).  A kept object is
 *  no longer freed by __close, only by the collector. */
void pnl_keep(lua_State *L, int box, int other);
/** From now on __close does not free the object at `index`: for one that a call uses while callbacks run.
 *  Other values: nothing. */
void pnl_pin(lua_State *L, int index);
/** While busy, close and __gc refuse to free (a callback may not pull the floor away).  Calls nest. */
void pnl_busy(lua_State *L, int index, bool busy);
/** Free what the box at `index` holds now, also when it is pinned: for objects that count their references.  False
 *  while a call uses it. */
bool pnl_release(lua_State *L, int index, const pnl_class *cls);
/** Tell the collector that this object holds `bytes` outside Lua, so that big data sets are collected in time. */
void pnl_weight(lua_State *L, size_t bytes);

/** Register a class: metatable and rows.  Idempotent. */
void pnl_register(lua_State *L, const pnl_class *cls);
/** The same from a pnl_open_*, which also enters the rows in the reference when that is being made. */
void pnl_open_class(lua_State *L, const pnl_class *cls);
/** Push a table of the library's functions and enter them in the reference under "set.", e.g. library "set". */
void pnl_library(lua_State *L, const char *library, const char *doc, const pnl_row *rows);
/** Add one reference entry by hand, for constructors that are generated from a runtime table.  params may be NULL. */
void pnl_reference(lua_State *L, const char *library, const char *name, pnl_reveals reveals, const char *signature,
                   const char *doc, const char *source, const pn_param *params);
/** Make the reference's entries by opening all parts once more; nothing but pnl_push_reference calls it (module.c). */
int pnl_document(lua_State *L);
/** Whether the reference is there or being made: who only adds to it asks first. */
bool pnl_documenting(lua_State *L);
/** Push the reference table, which is made when it is first asked for: name ->
 *  {signature=, doc=, reveals=, touches=, kind=, source=, params=}. */
void pnl_push_reference(lua_State *L);

/* ---- curated states: scripts of analysts that are not trusted (lcurated.c) ---- */

/** Push the module, opened anew for analysts: what is not for them is refused, and everything is charged to the ledger,
 *  which is kept.  What was opened before no longer works. */
void pnl_open_curated(lua_State *L, struct pn_ledger *ledger);
/** For pnl_open_curated: forget all classes and the reference (pnl.c), and set the mark. */
void pnl_forget_classes(lua_State *L, const pnl_class *but);
void pnl_curate(lua_State *L, struct pn_ledger *ledger);
bool pnl_curated(lua_State *L);
/** The names of what a row reveals and, with commas, of what it touches (NULL: nothing). */
const char *pnl_reveals_name(pnl_reveals reveals);
const char *pnl_touches_text(pnl_reveals reveals, char *text, size_t size);
/** Push the row's function or, in a curated state where the row is not for analysts, one that says so. */
void pnl_push_function(lua_State *L, const char *place, const char *separator, const pnl_row *row);
/** Say whether a step of a private run of a user's own solver is being made: while it is, rows that are raw raise.
 *  Returns what was said before. */
bool pnl_private_step(lua_State *L, bool within);
/** Raise in such a step: `what` gives raw numbers. */
void pnl_refuse_in_step(lua_State *L, const char *what);
/** In a curated state: leave in the library on the top (the `pn` table) what the reference has for analysts. */
void pnl_curate_library(lua_State *L);
/** Raise "what is not available to analysts: why" in a curated state; nothing elsewhere. */
void pnl_refuse_analyst(lua_State *L, const char *what, const char *why);
/** The same for the option `strict` where it is true: what it refuses depends on the data,
 *  and a refusal costs nothing. */
void pnl_refuse_strict(lua_State *L, const char *owner, const pn_param *params, const pn_arg *args, const char *why);
/** Push the option `ledger` of the table at `options` (nil when absent, or no table).
 *  In a curated state: the curator's own.  nil, everywhere, where the option is a light userdata of pnl_own_budget,
 *  which no script gets: a run whose price was charged beforehand as part of another's, and that has a budget of its
 *  own. */
extern const char pnl_own_budget;
/** Whether the option `ledger` of the table at `options` is that. */
bool pnl_on_own_budget(lua_State *L, int options);
void pnl_push_ledger(lua_State *L, int options, const char *owner);
/** Push a box for an object that others own and that lives longer than the state. */
void pnl_borrow(lua_State *L, const pnl_class *cls, void *object);

/* ---- errors ---- */

/** Raise the message when status is not PN_OK.  For PN_ECALLBACK re-raise the user's own error value, which the
 *  trampoline left with pnl_set_error. */
void pnl_status(lua_State *L, pn_status status, const pn_err *err);
/** Push the name of the status that pnl_status raised last, "EPRIVACY", and forget it;
 *  nil when there was none since. */
void pnl_push_failure(lua_State *L);
/** The status whose message pnl_status raised last, when that is the value at `index`; else PN_OK. */
pn_status pnl_failure_of(lua_State *L, int index);
/** Pop the value on the top and remember it as the error of the running call. */
void pnl_set_error(lua_State *L);
/** Raise "owner: message" as an error with position; printf. */
int pnl_error(lua_State *L, const char *format, ...) PN_PRINTF(2, 3);
/** The same for memory that ran out: a host's status is then PN_ENOMEM. */
int pnl_no_memory(lua_State *L, const char *format, ...) PN_PRINTF(2, 3);

/* ---- arguments ---- */

/** What stands at `index`, for messages: "nothing", a number, "the string \"x\"", "a pn.event", "a closed pn.ledger",
 *  "a table".  May push. */
const char *pnl_got(lua_State *L, int index);
/** Push the value's text as tostring has it, but "a table" and the like for an address. */
const char *pnl_text(lua_State *L, int index);
/** Raise "save: argument 1 must be <expected>, got 3", with the name and the number that the calling line has. */
int pnl_wrong_argument(lua_State *L, int index, const char *expected);
/** A whole number from 1 to PN_SIZE_MAX; raises with the argument's name. */
size_t pnl_check_count(lua_State *L, int index, const char *what);
/** A whole number from 1 that is no size, up to 2^63 - 1; likewise. */
size_t pnl_check_word(lua_State *L, int index, const char *what);
/** A finite number. */
double pnl_check_finite(lua_State *L, int index, const char *what);

/**
 * Read the option table at `index` into args[] by the parameter table(s).  Unknown names raise and list the known ones.
 * Vectors and matrices may be given as pn.vec / pn.mat or as Lua tables; buffers live as long as the call (they are
 * userdata left on the stack: the caller must not shrink it below).  Objects are looked up by params[i].choices[0].
 *   owner    "set.l1_ball", for messages.
 *   params   one table; args[i] belongs to params[i].
 *   extra    NULL or NULL-terminated names that the caller reads itself (ledger, rng, progress ...).
 * A missing table (none or nil) counts as empty.
 */
void pnl_options(lua_State *L, int index, const char *owner, const pn_param *params, pn_arg *args,
                 const char *const *extra);
/** As pnl_options for two tables at once (common and own options of a solver). */
void pnl_options2(lua_State *L, int index, const char *owner, const pn_param *first, pn_arg *first_args,
                  const pn_param *second, pn_arg *second_args, const char *const *extra);

/**
 * The arguments of a constructor: one table of options as for pnl_options, or, when it takes at most `in_order`
 * options, their values in the order of params.  The stack holds the arguments and nothing else.
 */
void pnl_values_or_options(lua_State *L, const char *owner, const pn_param *params, pn_arg *args, size_t in_order);

#define PNL_MAX_PARAMS 16

/**
 * Add fn for each of `rows`, as pn_set_table() gives them, to the library table on the stack top;
 * its upvalue 1 is the row, a light
 * userdata.  Each is entered in the reference as "pn.set.l1_ball{dim=, radius=} -> set"; with at most `in_order`
 * parameters, whose values may then stand for the table, in parentheses.
 */
void pnl_constructors(lua_State *L, const char *library, const void *rows, lua_CFunction fn, size_t in_order);

/** Push the names of `rows`; returns 1. */
int pnl_push_row_names(lua_State *L, const void *rows);
/* ---- shared objects of the module ---- */

/** Give the table on the top (a plain list or record of results) a text of its own, "{true, false}", instead of an
 *  address; to everything else it stays a plain table. */
void pnl_list(lua_State *L);
/** Push {indices[0] + 1, ...}, such a table; NULL: {1, 2, ..., count}.  A host counts it as what a loop in Lua would
 *  be.  Raises for more than 2^30 entries. */
void pnl_push_indices(lua_State *L, const char *owner, const size_t *indices, size_t count);
/** The module's task: all processors, Ctrl-C in the program, progress when somebody listens. */
pn_task *pnl_task(lua_State *L);
/** Before the module is opened: so many threads, 0 for one per processor, whatever the environment says. */
void pnl_set_threads(lua_State *L, unsigned threads);
/** The rng at `index`, or the module's secure one when nil or none. */
pn_rng *pnl_rng(lua_State *L, int index);

/* Vectors and matrices (lvec.c, lmat.c). */
extern const pnl_class pnl_vec_class, pnl_mat_class;
/** Push a new pn.vec of n zeros and return its numbers. */
double *pnl_new_vec(lua_State *L, size_t n);
/** The same with numbers that are not set: the caller writes all of them before anything can raise. */
double *pnl_new_vec_unset(lua_State *L, size_t n);
/** Push a pn.vec that looks into data[n] and keeps the value at `owner` alive. */
void pnl_view_vec(lua_State *L, double *data, size_t n, int owner);
/** A pn.vec, or a Lua table of numbers copied into a new one (which replaces it on the stack). */
pn_vec pnl_check_vec(lua_State *L, int index);
/** The same, with what messages about a table begin with, as "tree: sensitivity"; kept for the call. */
pn_vec pnl_check_vec_of(lua_State *L, int index, const char *who);
double *pnl_new_mat(lua_State *L, size_t rows, size_t cols);
void pnl_view_mat(lua_State *L, double *data, size_t rows, size_t cols, int owner);
pn_mat pnl_check_mat(lua_State *L, int index);
/** As pnl_check_vec_of. */
pn_mat pnl_check_mat_of(lua_State *L, int index, const char *who);

/* Classes that other bindings need. */
extern const pnl_class pnl_rng_class, pnl_dataset_class, pnl_set_class, pnl_loss_class, pnl_reg_class;
extern const pnl_class pnl_objective_class, pnl_block_sampling_class;
extern const pnl_class pnl_event_class, pnl_accountant_class, pnl_ledger_class, pnl_mechanism_class;
extern const pnl_class pnl_release_class, pnl_sparse_run_class, pnl_sampler_class;
extern const pnl_class pnl_plan_class, pnl_fit_class, pnl_sparse_class;
extern const pnl_class pnl_norm_class, pnl_potential_class, pnl_prox_class;
extern const pnl_class pnl_symbol_class, pnl_expression_class;
extern const pnl_class pnl_tree_class, pnl_ranks_class, pnl_recipe_class;
extern const pnl_class pnl_transport_class, pnl_party_class, pnl_curator_class;

/* Each opens one part of the module into the table on the stack top (the `pn` table). */
void pnl_open_numbers(lua_State *L);    /* vec, mat, sparse, load, exp, log ... */
void pnl_open_expression(lua_State *L); /* trace, bound */
void pnl_open_rng(lua_State *L);        /* rng */
void pnl_open_data(lua_State *L);       /* data */
void pnl_open_recipe(lua_State *L);     /* recipe */
void pnl_open_geometry(lua_State *L);   /* set */
void pnl_open_norm(lua_State *L);       /* norm */
void pnl_open_prox(lua_State *L);       /* prox */
void pnl_open_potential(lua_State *L);  /* potential */
void pnl_open_privacy(lua_State *L);    /* event, accountant, ledger, mechanism, sampler, calibrate */
void pnl_open_tree(lua_State *L);       /* tree */
void pnl_open_ranks(lua_State *L);      /* ranks */
void pnl_open_objective(lua_State *L);  /* loss, objective */
void pnl_open_sampling(lua_State *L);   /* sampling, curvature */
void pnl_open_solve(lua_State *L);      /* solve */
void pnl_open_federated(lua_State *L);  /* federated */
void pnl_open_workers(lua_State *L);    /* nothing of pn: the module penumbra.workers */
void pnl_open_files(lua_State *L);      /* nothing of pn: the module penumbra.files */
void pnl_open_query(lua_State *L);      /* query */
void pnl_open_curator(lua_State *L);    /* curator */

PNL_API int luaopen_penumbra_core(lua_State *L);

/** Push the registry's table under `key`, made when there is none: values in it do not keep their objects alive. */
void pnl_push_weak(lua_State *L, const void *key);

#endif
