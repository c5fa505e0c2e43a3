/* table.h -- what users ask for by name: sets, losses, solvers ...  A table is an array of pointers to rows, ended by
 * NULL; all rows begin alike.  Depends on: param.h.  Used by: geometry, objective, privacy, solvers ...,
 * each for its table; bindings. */
#ifndef PN_CORE_TABLE_H
#define PN_CORE_TABLE_H

#include <stddef.h>

#include "core/param.h"

/* What pn_set_ops and the like begin with. */
typedef struct pn_row {
    const char *name; /* how users ask for it: "l1_ball" */
    const char *doc, *source;
    const pn_param *params; /* what its constructor takes */
} pn_row;

typedef struct pn_table {
    const char *library; /* in messages its rows are "library.name" */
    const char *kind;    /* what a row is */
    const void *rows;
} pn_table;

/* The table `table` of `rows`, which are pointers to `type`. */
#define PN_TABLE(table, type, library, kind, rows)                                                                     \
    _Static_assert(offsetof(type, name) == offsetof(pn_row, name) && offsetof(type, doc) == offsetof(pn_row, doc) &&   \
                       offsetof(type, source) == offsetof(pn_row, source) &&                                           \
                       offsetof(type, params) == offsetof(pn_row, params),                                             \
                   #type " begins as pn_row does");                                                                    \
    static const pn_table table = { library, kind, rows }

/** The row of that name among `rows`, as pn_set_table() gives them; NULL when there is none. */
const void *pn_table_find(const void *rows, const char *name);

/** `other` when it is nearer to `name` than `found`, which is NULL at first: a third of the letters differ at most.
 *  Else `found`. */
const char *pn_nearer(const char *name, const char *found, const char *other);

/** Fail with PN_EUNSUPPORTED for a name that is not in the table: the message names the nearest that is, and all. */
pn_status pn_table_refuse(const pn_table *table, const char *caller, const char *name, pn_err *err);

/**
 * The row of that name, args checked by its params and filled; NULL after a failure, whose code is then in *status.
 *   caller  the function that was called, for the message about a name that is not in the table.
 * Errors: PN_EUNSUPPORTED for the name; those of pn_args_check.
 */
const void *pn_table_open(const pn_table *table, const char *caller, const char *name, pn_arg *args, pn_status *status,
                          pn_err *err);

/** pn_size_check in the name of a row: "set.l1_ball: dim must be at most 2^48, ...". */
pn_status pn_table_size(const pn_table *table, const char *name, const char *what, size_t value, pn_err *err);

#endif
