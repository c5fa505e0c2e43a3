/* options.h -- how options by name become the arguments of a parameter table.
 * Depends on: table.h, penumbra/options.h.  Used by: the tables of geometry, privacy, objective and solvers. */
#ifndef PN_CORE_OPTIONS_H
#define PN_CORE_OPTIONS_H

#include "core/table.h"
#include "penumbra/options.h"

#define PN_ARGS_MAX 40 /* rows of one table */

/* A table and where its arguments go: args[pn_param_count(params)], written whole. */
typedef struct pn_option_rows {
    const pn_param *params;
    pn_arg *args;
} pn_option_rows;

/**
 * Spread `options` (NULL: none) over the rows of several tables; vectors, matrices,
 * texts and objects are borrowed from them.
 *   owner  what the message starts with: "set.l1_ball".
 * Ranges, choices and what is missing: pn_args_check.
 * Errors: PN_EINVAL for a name that no table has (with the nearest one and what there is),
 * for a value of another kind, and for one given
 *         twice; PN_ENOMEM when a setter could not keep its value.
 */
pn_status pn_options_spread(const pn_options *options, const char *owner, const pn_option_rows *tables, size_t count,
                            pn_err *err);

/**
 * What a constructor by name reads: the options of the row of that name, whose messages begin with "library.name".
 *   caller  the constructor, for the message about a name that is not in the table.
 * Errors: PN_EUNSUPPORTED for the name; as pn_options_spread.
 */
pn_status pn_options_read(const pn_options *options, const pn_table *table, const char *caller, const char *name,
                          pn_arg args[PN_ARGS_MAX], pn_err *err);

#endif
