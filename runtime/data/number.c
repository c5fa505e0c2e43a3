/* number.c -- decimal text to double.  Nearly every number of a data file has a mantissa below 2^53 and a small power
 * of ten; both are then exact doubles and one multiplication or division rounds correctly
 * (Clinger 1990, the fast path).  The rest goes to the C library.  Depends on: number.h, libc.
 * Used by: libsvm.c, csv.c. */
#define _GNU_SOURCE /* strtod_l */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "data/number.h"

#define EXACT_MANTISSA ((uint64_t)1 << 53)
#define EXACT_POWER    22 /* 10^22 is the largest power of ten that is a double */
#define SAFE_DIGITS    19 /* any 19 digits fit 64 bits */
#define EXPONENT_CAP   100000

static const double power_of_ten[EXACT_POWER + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static const char *read_digits(const char *at, uint64_t *mantissa)
{
    unsigned digit;

    while ((digit = (unsigned)(unsigned char)*at - '0') <= 9) {
        *mantissa = *mantissa * 10 + digit; /* wraps beyond 19 digits: the caller then does not use it */
        at++;
    }
    return at;
}

/* The exponent after 'e'; `at` itself when no digit follows, so that the 'e' is left over and reported. */
static const char *read_exponent(const char *at, long *exponent)
{
    const char *digits = at + 1 + (at[1] == '-' || at[1] == '+');
    const char *start = digits;
    long value = 0;

    for (; (unsigned)(unsigned char)*digits - '0' <= 9; digits++)
        value = value < EXPONENT_CAP ? value * 10 + (*digits - '0') : value;
    if (digits == start)
        return at;
    *exponent += at[1] == '-' ? -value : value;
    return digits;
}

const char *pn_number_read(const char *at, double *out, void *c_locale)
{
    const char *start = at, *first;
    bool negative = *at == '-';
    uint64_t mantissa = 0;
    ptrdiff_t digits;
    long exponent = 0;

    at += *at == '-' || *at == '+';
    first = at;
    at = read_digits(at, &mantissa);
    digits = at - first;
    if (*at == '.') {
        const char *fraction = at + 1;

        at = read_digits(fraction, &mantissa);
        exponent = -(long)(at - fraction);
        digits += at - fraction;
    }
    if (digits == 0)
        return NULL;
    if (*at == 'e' || *at == 'E')
        at = read_exponent(at, &exponent);

    if (digits <= SAFE_DIGITS && mantissa <= EXACT_MANTISSA && exponent >= -EXACT_POWER && exponent <= EXACT_POWER) {
        double value = (double)mantissa;

        value = exponent < 0 ? value / power_of_ten[-exponent] : value * power_of_ten[exponent];
        *out = negative ? -value : value;
    } else {
        *out = strtod_l(start, NULL, (locale_t)c_locale);
    }
    return at;
}
