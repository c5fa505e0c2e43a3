/* param.h -- how a set, loss, mechanism, event or solver says what options it takes.  One table per type serves the C
 * caller, the Lua binding, help, completion and the conformance test.  Depends on: status.h, view.h. */
#ifndef PN_CORE_PARAM_H
#define PN_CORE_PARAM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

typedef enum pn_param_kind {
    PN_REAL,   /* finite double in the declared range        -> arg.real */
    PN_COUNT,  /* whole number from 1 to PN_SIZE_MAX         -> arg.count */
    PN_FLAG,   /* true or false                              -> arg.flag */
    PN_CHOICE, /* one of `choices`                           -> arg.text, and its index in arg.count */
    PN_VECTOR, /* finite numbers                             -> arg.vector */
    PN_MATRIX, /* finite numbers, row-major                  -> arg.matrix */
    PN_OBJECT, /* another runtime object, by its class name  -> arg.object */
    /* A number in the declared range, or one for each step: a list or a function of the step; or one of `choices`
     * -> arg.real, arg.vector, arg.object (a pn_sequence), arg.text; see pn_arg_lists */
    PN_SCHEDULE
} pn_param_kind;

typedef enum pn_range {
    PN_ANY,           /* any finite number */
    PN_POSITIVE,      /* > 0 */
    PN_NONNEGATIVE,   /* >= 0 */
    PN_FRACTION,      /* in (0, 1) */
    PN_UNIT_INTERVAL, /* in [0, 1] */
    PN_BELOW_ONE,     /* in [0, 1) */
    PN_EXPONENT,      /* in [1, inf], infinity included */
    PN_SHARE,         /* in (0, 1] */
    PN_WORD           /* PN_COUNT only: no size (a seed, a limit), so it may be more than PN_SIZE_MAX */
} pn_range;

typedef enum pn_need { PN_OPTIONAL = 0, PN_REQUIRED = 1 } pn_need;

#define PN_DERIVED (-1.0) /* as the fallback of a flag or a choice: its value when absent depends on other things */

typedef struct pn_param {
    const char *name; /* NULL ends the table */
    pn_param_kind kind;
    pn_need need;
    pn_range range; /* PN_REAL, PN_SCHEDULE; PN_COUNT: PN_ANY or PN_WORD */
    /* PN_REAL, PN_COUNT, PN_FLAG (0 or 1), PN_CHOICE (index): the value when absent; outside what a user could give
     * (PN_DERIVED): found in another way, the argument holds false or the first choice meanwhile */
    double fallback;
    /* PN_CHOICE: NULL-terminated; PN_SCHEDULE: that, or NULL.  PN_OBJECT: choices[0] is the class, e.g. "pn.event" */
    const char *const *choices;
    const char *doc; /* one phrase: meaning, unit, shape */
} pn_param;

/* One value per table row, at the same index.  Everything pointed to is borrowed for the call. */
typedef struct pn_arg {
    bool given; /* false: absent, and the fallback has been filled in */
    double real;
    size_t count;
    bool flag;
    const char *text;
    pn_vec vector;
    pn_mat matrix;
    const void *object;
} pn_arg;

/* Numbers that a caller's function gives; it writes to out[count] all of them, or fails. */
typedef struct pn_sequence {
    void *self;
    pn_status (*fill)(void *self, size_t count, double *out, pn_err *err);
} pn_sequence;

/**
 * Check `args` against `params` and fill in fallbacks: args are written to, so what is not given loses what it held.
 *   owner  what the message starts with, e.g. "set.l1_ball".
 * Errors: PN_EINVAL for a missing argument, a number outside its range, a wrong choice (the message lists the choices);
 *         PN_EDOMAIN for a NaN or infinity in a vector or matrix, with its position.
 */
pn_status pn_args_check(const char *owner, const pn_param *params, pn_arg *args, pn_err *err);

/** Number of rows before the NULL row; 0 for a NULL table. */
size_t pn_param_count(const pn_param *params);

/** Row index of `name`, or the row count when there is none: look at that before it becomes an index of args. */
size_t pn_param_find(const pn_param *params, const char *name);

/** True when a PN_SCHEDULE is given as a list or as a function: one number for each step. */
bool pn_arg_lists(const pn_arg *arg);

/** True when the row takes one of its `choices`. */
bool pn_param_names(const pn_param *param);

/** Is the number finite (but for PN_EXPONENT) and in the range? */
bool pn_in_range(pn_range range, double value);

/** True when the fallback is itself a value that a user could give; otherwise an absent option means "derived" or
 *  "none". */
bool pn_param_has_default(const pn_param *param);

/** What a value of this row must be, for messages and help: "a positive number", "a whole number from 1", ... */
const char *pn_param_expects(const pn_param *param);

#define PN_PARAM_END                                                                                                   \
    {                                                                                                                  \
        NULL, PN_REAL, PN_OPTIONAL, PN_ANY, 0.0, NULL, NULL                                                            \
    }

#endif
