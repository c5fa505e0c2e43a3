/* options.h -- options by name, for everything that is made by name: sets, losses, mechanisms, plans, ...
 *
 *     pn_options *options;
 *     pn_options_new(&options, &err);
 *     pn_options_count(options, "dim", 100);           by its type, or
 *     pn_options_set(options, "radius", "2.5");        as text, such as a file of settings holds
 *     pn_set_new(&set, "l2_ball", options, &err);      reads them: set.l2_ball: unknown option "radios", the nearest
 *     is ... pn_options_free(options);
 *
 * A setter does not fail: what is wrong with an option (no such name, a wrong kind, a value out of range or given
 * twice, no memory to keep it) is said by the call that reads the options, before it does anything else.  NULL stands
 * for no options.  Depends on: status.h. */
#ifndef PENUMBRA_OPTIONS_H
#define PENUMBRA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names and their values, in the order in which they were given.  What reads them changes nothing, so they can be
 * read again. */
typedef struct pn_options pn_options;

/** No options yet.  Errors: PN_ENOMEM. */
pn_status pn_options_new(pn_options **out, pn_err *err);
/** NULL is allowed. */
void pn_options_free(pn_options *options);

/**
 * A value as text, which is read as what the option is: a number ("0.5", "1e-6", "inf"), a whole number ("100"),
 * "true" or "false", a name ("add_remove"), or numbers between commas ("1, 2, 3").  The decimal point is a point,
 * whatever the locale.  A matrix or an object has no text.
 */
void pn_options_set(pn_options *options, const char *name, const char *text);
/** A number. */
void pn_options_real(pn_options *options, const char *name, double value);
/** A whole number; also for an option that takes any number. */
void pn_options_count(pn_options *options, const char *name, size_t value);
/** True or false. */
void pn_options_flag(pn_options *options, const char *name, bool value);
/** One of the names that the option takes; copied. */
void pn_options_text(pn_options *options, const char *name, const char *value);
/** value[n], copied; also for an option that takes one number for each step of a run. */
void pn_options_vector(pn_options *options, const char *name, const double *value, size_t n);
/** value[rows * cols], row-major, copied. */
void pn_options_matrix(pn_options *options, const char *name, const double *value, size_t rows, size_t cols);
/**
 * Another object of the library.
 *   type    what it is, as the option's documentation names it: "pn.set", "pn.norm", "pn.potential", "pn.event", ...
 *   object  borrowed: it must live as long as the options are read, and as long as what keeps it says.
 */
void pn_options_object(pn_options *options, const char *name, const char *type, const void *object);

#ifdef __cplusplus
}
#endif

#endif
