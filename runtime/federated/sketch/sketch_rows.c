/* sketch_rows.c -- how many rows J needs, and what a number of rows gives.
 * Gaussian: ||J u||^2 is within iota ||u||^2 but with probability 2 exp(-m (iota^2 - iota^3)/4); a pair needs this of u
 * + v and u - v.  Sparse: E(<J u, J v> - <u, v>)^2 <= 2 ||u||^2 ||v||^2 / m, and Chebyshev's inequality,
 * which is what is proven for a fixed s.
 * Depends on: sketch.h.  Used by: plan.  Source: Johnson, Lindenstrauss (1984); Dasgupta, Gupta (2003); Kane,
 * Nelson (2014). */
#include <math.h>

#include "federated/sketch/sketch.h"

/* ln N, N = d (d + 1) / 2 pairs of columns, a column with itself among them. */
static double log_pairs(size_t d)
{
    return log((double)d) + log((double)d + 1.0) - log(2.0);
}

/* 4 ln(4 N / beta) */
static double gaussian_need(double beta, size_t d)
{
    return 4.0 * (log(4.0) + log_pairs(d) - log(beta));
}

size_t pn_sketch_rows(double iota, double beta, size_t d)
{
    double rows = ceil(gaussian_need(beta, d) / (iota * iota * (1.0 - iota)));

    return rows < 0x1p62 ? (size_t)rows : (size_t)1 << 62;
}

size_t pn_sketch_rows_most(size_t n)
{
    return 4 * (n > 256 ? n : 256);
}

/* The smallest iota with iota^2 - iota^3 >= share; the left side rises up to 2/3. */
static double gaussian_accuracy(double share)
{
    double low = 0.0, high = 2.0 / 3.0;

    if (!(share < high * high * (1.0 - high)))
        return 1.0;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);

        if (middle * middle * (1.0 - middle) >= share)
            high = middle;
        else
            low = middle;
    }
    return high;
}

double pn_sketch_accuracy(pn_sketch_kind kind, size_t m, double beta, size_t d)
{
    if (kind == PN_SKETCH_IDENTITY)
        return 0.0;
    if (kind == PN_SKETCH_SPARSE)
        return fmin(1.0, exp(0.5 * (log(2.0) + log_pairs(d) - log((double)m) - log(beta))));
    return gaussian_accuracy(gaussian_need(beta, d) / (double)m);
}
