/* decimal.h -- a double as the shortest decimal text that reads back as the same number,
 * untouched by the user's locale.
 * Depends on: the C++ library (charconv) inside.  Used by: objective (program_loss.c). */
#ifndef PN_NUMERIC_DECIMAL_H
#define PN_NUMERIC_DECIMAL_H

#include <stddef.h>

#define PN_DECIMAL_MAX 24 /* "-2.2250738585072014e-308" */

/** Write x to out[PN_DECIMAL_MAX], without a NUL: "0.1", "1e+300", "-inf", "nan".  Returns the bytes written. */
size_t pn_decimal(char *out, double x);

#endif
