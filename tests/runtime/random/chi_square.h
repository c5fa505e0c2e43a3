/* chi_square.h -- Pearson's statistic, and the thresholds that a true law exceeds with probability 1e-6.
 * Depends on: libc.  Used by: the tests of this folder. */
#ifndef PN_TESTS_CHI_SQUARE_H
#define PN_TESTS_CHI_SQUARE_H

#include <stddef.h>

/* Upper quantiles at 1e-6 by degrees of freedom (incomplete gamma function, bisected in an independent program). */
#define CHI2_2  27.631021
#define CHI2_5  35.888187
#define CHI2_6  38.258336
#define CHI2_7  40.521831
#define CHI2_9  44.810938
#define CHI2_19 63.677052
#define CHI2_24 72.228854

/* |z| of a normal number at false-alarm rate 1e-6. */
#define Z_MILLIONTH 4.891639

static inline double chi_square(const double *counts, const double *law, size_t cells)
{
    double total = 0.0, sum = 0.0;

    for (size_t i = 0; i < cells; i++)
        total += counts[i];
    for (size_t i = 0; i < cells; i++)
        sum += (counts[i] - total * law[i]) * (counts[i] - total * law[i]) / (total * law[i]);
    return sum;
}

#endif
