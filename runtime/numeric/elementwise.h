/* elementwise.h -- functions and operators that work entry by entry: one table each, for numbers and vectors alike.
 * A number is a vector of one entry and gives the same bits.  Depends on: simd.h, libm.  Used by: bindings. */
#ifndef PN_NUMERIC_ELEMENTWISE_H
#define PN_NUMERIC_ELEMENTWISE_H

#include <stddef.h>

typedef struct pn_function {
    const char *name;
    void (*apply)(size_t n, const double *x, double *out); /* in and out may be the same array */
    const char *doc;
} pn_function;

/** Function number `index`: exp log log1p expm1 sqrt abs sign relu tanh sigmoid softplus erf sin cos;
 *  NULL past the last. */
const pn_function *pn_function_at(size_t index);

/** -x; apart because it is an operator and has no name in Lua. */
extern const pn_function pn_negate;

typedef enum pn_operator {
    PN_OP_ADD = 0,
    PN_OP_SUBTRACT,
    PN_OP_MULTIPLY,
    PN_OP_DIVIDE,
    PN_OP_POWER,
    PN_OP_MIN, /* NaN when either is NaN; so is max */
    PN_OP_MAX,
    PN_OP_LT, /* 1 or 0; so are the others */
    PN_OP_LE,
    PN_OP_GT,
    PN_OP_GE,
    PN_OP_COUNT
} pn_operator;

/** "+", "min", "lt" ... */
const char *pn_operator_name(pn_operator op);

/** out[i] = a[i * a_step] op b[i * b_step], i < n; a step is 1, or 0 for a number.  out may be a or b. */
void pn_operate(pn_operator op, size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out);

/** out[i] = a[i] where condition[i] is not 0 (NaN counts as not 0), else b[i]; steps as above, 1 for the condition. */
void pn_where(size_t n, const double *condition, const double *a, size_t a_step, const double *b, size_t b_step,
              double *out);

/** n >= 1 numbers evenly from first to last, both exact; n = 1 gives first. */
void pn_linspace(double first, double last, size_t n, double *out);

/** Index of the largest (or smallest) of x[n], n >= 1; the first of equals, the first NaN when there is one. */
size_t pn_argmax(size_t n, const double *x);
size_t pn_argmin(size_t n, const double *x);

#endif
