/* lsymbol.h -- tracing: a user's Lua function is called once with symbols and becomes an expression graph.
 * Depends on: pnl.h, expr/.  Used by: lsymbol.c, ltrace.c, lexpression.c, lbound.c, lvec.c, lmat.c; bindings of what is
 * made of a function: losses, regularisers, potentials. */
#ifndef PNL_SYMBOL_H
#define PNL_SYMBOL_H

#include "bindings/core/pnl.h"

#include "expr/bound.h"
#include "expr/program.h"

/**
 * Trace the function at `function`: call it once with one symbol for each variable, and push what it returned as a
 * pn.expression, which owns the graph.
 *   owner   "loss.glm", for messages; copied.
 *   names   [count] of the variables that are not parameters of the function by name (vararg, too few, written in C).
 *   count   at most PN_BOUND_VARS_MAX.
 *   graph   out, borrowed from the expression on the stack; pn_graph_keep it to have it longer.
 * Returns the root.  A number that the function returns is a constant.
 * Errors: raised, and nothing leaks.  A message of the function gets the owner before it;
 * error values that are no strings pass
 *         as they are.  Refused: what is no function; a result that is not one expression of these variables;
 *             an expression
 *         with too many operations; a condition that nothing was made of (`if pn.gt(z, 0)` always takes the first
 *             branch).
 */
pn_node pnl_trace(lua_State *L, int function, const char *owner, const char *const *names, unsigned count,
                  pn_graph **graph);

/* An argument of a function that is traced: a symbol, or a list of them. */
typedef struct pnl_argument {
    const char *name; /* in messages; variables of a list are name1, name2 ... */
    bool list;
    size_t count; /* of symbols: 1, or how many a list has */
} pnl_argument;

/**
 * As pnl_trace for a function with arguments[argument_count], lists among them; the graph has `more` variables after
 * those of the arguments, which the function does not see.  Reading an entry that a list does not have raises.
 * argument_count  at most PN_BOUND_VARS_MAX; all variables together at most PN_GRAPH_VARS_MAX.
 */
pn_node pnl_trace_lists(lua_State *L, int function, const char *owner, const pnl_argument *arguments,
                        unsigned argument_count, size_t more, pn_graph **graph);

/**
 * Ask the function at `function` for a few numbers and refuse it where it gives others than the expression at
 * `expression` that was traced of it: Lua takes z == 0 for false when z is a symbol, without asking.  For what is
 * certified: losses, regularisers,
 * potentials.  Of more than two variables nothing is asked.  Errors: raised; those of the function as pnl_trace's.
 */
void pnl_refuse_equality(lua_State *L, int function, int expression);

/**
 * The same for a function of lists that pnl_trace_lists traced, whose last argument is one number: at each of
 * values[count] of it, or, when count is 0, at a few.
 */
void pnl_refuse_equality_in(lua_State *L, int function, int expression, const pnl_argument *arguments,
                            const double *values, size_t count);

/**
 * The names of the parameters of the function at `function`, borrowed from it.  0 for a function without (vararg or C)
 * and for one stripped of its names.  Raises when there are more than PN_BOUND_VARS_MAX.
 */
unsigned pnl_parameters(lua_State *L, int function, const char *owner, const char *names[PN_BOUND_VARS_MAX]);

/**
 * Trace a function of one number and compile it; pushes the expression, which owns the program.
 * Errors as pnl_trace.
 */
const pn_program *pnl_trace_map(lua_State *L, int function, const char *owner);
/** out[i] = program at x[i]; on the module's threads, and Ctrl-C stops it, when n is large.  Raises when stopped. */
void pnl_run_map(lua_State *L, const pn_program *program, size_t n, const double *x, double *out);

/**
 * Read where a variable ranges from the value at `index`: {lo, hi} or {lo=, hi=} (ends may be infinite),
 * {values={...}}, or a number for itself.  Pushes one value, which owns out->values: it must stay on the stack as long
 * as they are used.
 *   owner, name   "bound", "t": for messages.
 */
void pnl_check_domain(lua_State *L, int index, const char *owner, const char *name, pn_domain *out);

/**
 * Read the table at `ranges` (absolute index) with a range for each of names[count];
 * pushes `count` values as pnl_check_domain.
 * Errors: a name that is none of them, or one without a range; the message lists them.
 */
void pnl_check_domains(lua_State *L, int ranges, const char *owner, const char *const *names, unsigned count,
                       pn_domain *domains);
/** Set a field of the table on the top to {low, high}. */
void pnl_set_interval(lua_State *L, const char *field, pn_interval part);
/** Push {min={lo, hi}, max={lo, hi}, converged=, boxes=}.  The graph gains nodes.  Ctrl-C stops it. */
void pnl_push_bound(lua_State *L, const char *owner, pn_graph *graph, pn_node root, const pn_domain *domains);
/** Push "z", "z and y", "a, b and c" or, for none, "nothing". */
const char *pnl_push_names(lua_State *L, const char *const *names, unsigned count);

/* ---- between lsymbol.c, ltrace.c and lexpression.c ---- */

#define PNL_NAME_MAX   64
#define PNL_CONDITIONS 16 /* conditions that wait to be used; of more the rest is not watched */

/* A condition that nothing has been made of yet. */
typedef struct pnl_condition {
    bool waiting;
    char text[160]; /* "pn.gt(z, 0)" */
    char place[80]; /* "script.lua:3: " */
} pnl_condition;

/* What a pn.expression holds.  Symbols share it: it lives as long as the last of them. */
typedef struct pnl_expression {
    size_t references;
    pn_graph *graph;     /* owned; NULL until it is made */
    pn_node root;        /* PN_NODE_NONE while the function has not returned */
    pn_program *program; /* owned; NULL until it is first evaluated */
    bool open;           /* the function is running: only then its symbols mean something */
    char owner[48];
    unsigned arguments;                          /* of the function; as many variables unless some are lists */
    char names[PN_BOUND_VARS_MAX][PNL_NAME_MAX]; /* of the arguments; the graph's own are shorter */
    pnl_condition conditions[PNL_CONDITIONS];
} pnl_expression;

/** Push a pn.expression without a graph. */
pnl_expression *pnl_new_expression(lua_State *L, const char *owner);
void pnl_expression_release(pnl_expression *self);
/** The program of the expression, compiled when there is none yet; raises. */
const pn_program *pnl_expression_program(lua_State *L, pnl_expression *self);
/** Raise what stopped the graph, if anything did. */
void pnl_graph_status(lua_State *L, const pn_graph *graph, const char *owner);
/** Push the symbol of a node of the graph of `trace`; raises what stopped the graph when it is PN_NODE_NONE. */
void pnl_push_symbol(lua_State *L, pnl_expression *trace, pn_node node);
/** The node of the symbol at `index` when it belongs to `trace` (NULL: to any); PN_NODE_NONE when it is no symbol.
 *  Counts as a use of it.  Raises for a symbol of another trace or of one that is over. */
pn_node pnl_symbol_node(lua_State *L, int index, pnl_expression *trace);

void pnl_add_bound(lua_State *L); /* `bound` to the pn table on the stack top */

#endif
