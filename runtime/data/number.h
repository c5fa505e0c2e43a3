/* number.h -- decimal text to double, correctly rounded and untouched by the user's locale.
 * Depends on: libc.  Used by: libsvm.c, csv.c. */
#ifndef PN_DATA_NUMBER_H
#define PN_DATA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Read a decimal number (optional sign, digits with at most one point, optional exponent; no hexadecimal, no nan, no
 * inf).
 *   at        text in which a byte that belongs to no number (a newline) comes sooner or later.
 *   c_locale  a locale_t of the "C" locale.
 * Returns the first byte after the number, or NULL when `at` does not begin with one.  Beyond the range of a double the
 * result is an infinity, which the caller refuses.
 */
const char *pn_number_read(const char *at, double *out, void *c_locale);

/** The same, with whole numbers of up to nine digits, the most frequent ones, read in place. */
static inline const char *pn_number_next(const char *at, double *out, void *c_locale)
{
    const char *start = at, *first;
    bool negative = *at == '-';
    uint32_t whole = 0;
    unsigned digit;

    at += negative;
    for (first = at; (digit = (unsigned)(unsigned char)*at - '0') <= 9 && at - first < 9; at++)
        whole = whole * 10 + digit;
    if (at == first || digit <= 9 || *at == '.' || *at == 'e' || *at == 'E')
        return pn_number_read(start, out, c_locale);
    *out = negative ? -(double)whole : (double)whole;
    return at;
}

#endif
