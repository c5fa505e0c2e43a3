/* number.h -- decimal text to double, correctly rounded and untouched by the user's locale.
 * Depends on: libc.  Used by: libsvm.c, csv.c. */
#ifndef PN_DATA_NUMBER_H
#define PN_DATA_NUMBER_H

/**
 * Read a decimal number (optional sign, digits with at most one point, optional exponent; no hexadecimal, no nan, no inf).
 *   at        text in which a byte that belongs to no number (a newline) comes sooner or later.
 *   c_locale  a locale_t of the "C" locale.
 * Returns the first byte after the number, or NULL when `at` does not begin with one.  Beyond the range of a double the
 * result is an infinity, which the caller refuses.
 */
const char *pn_number_read(const char *at, double *out, void *c_locale);

#endif
