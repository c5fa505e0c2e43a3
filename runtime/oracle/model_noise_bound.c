/* model_noise_bound.c -- how far a released gradient or Hessian is from that of all records: noise,
 * and what a batch leaves out.
 * Depends on: model_noise.h.  Used by: second_order*.c, trust_region*.c, newton*.c.
 * Source: Borell (1975); Kwapien (1994); El-Yaniv, Pechyony (2009); Gross, Nesme (2010); Tropp (2012).
 *
 * Noise.  The Gaussian mass of { f > median + t } is at most Q(t/L) <= exp(-t^2/(2 L^2))/2 for f with Lipschitz
 * constant L (Borell), and the median of a convex f is at most its mean (Kwapien).  A norm of d standard numbers: L =
 * 1, mean at most sqrt(d).  The largest eigenvalue of a symmetric matrix of standard numbers: u^T E u and v^T E v
 * differ by a variance of at most 2 ||u u^T - v v^T||_F^2 <= 4 ||u - v||^2, that of 2 <g, u> and 2 <g, v>, so that its
 * mean is at most 2 sqrt(d) (Sudakov, Fernique); as a function of the packed numbers L = sqrt(2).  With variance 1/2
 * beside the diagonal the difference has ||u u^T - v v^T||_F^2, and L = 1 in the isotropic numbers: 1/sqrt(2) of both.
 * The two ends of the spectrum use up the two halves.
 *
 * Batches.  f(batch) that changes by at most c when one record of the batch is exchanged for one outside:
 *     P(f > E f + t) <= exp(-2 t^2/(a c^2)),   a = m u/((n - 1/2)(1 - 1/(2 max(m, u)))),  u = n - m,
 * by bounded differences along the order of drawing: what record i reveals moves E f by at most c u/(n - i), and the
 * squares of these add up to at most a c^2 (with the batch and its complement exchanged, if m > u).  For a mean of
 * vectors within variance s^2: E ||deviation|| <= s sqrt(u/(m (n - 1))).
 * Matrices between L and L + w I (w = B_H for convex losses, else 2 B_H): variance at most w^2/4, deviations at most w,
 * and sampling without replacement has no larger trace of its moment generating function than with (Gross, Nesme):
 * Bernstein's inequality. */
#include <math.h>

#include "oracle/model_noise.h"

/* ---- noise ---- */

double pn_model_gradient_noise(const pn_model *self, double z, double failure)
{
    if (!(z > 0.0))
        return 0.0;
    return self->gradient_sensitivity * z * (sqrt((double)self->dim) + sqrt(-2.0 * log(failure)));
}

double pn_model_hessian_noise(const pn_model *self, double z, double failure)
{
    double norm = 2.0 * sqrt((double)self->dim) + 2.0 * sqrt(-log(failure)); /* on the packed numbers */

    if (!(z > 0.0))
        return 0.0;
    return self->hessian_sensitivity * z * (self->frobenius ? norm / sqrt(2.0) : norm);
}

/* ---- batches ---- */

typedef struct sample {
    double n, m, u; /* records, in the batch, outside */
} sample;

static sample sample_of(const pn_model *self)
{
    return (sample){ (double)self->n, (double)self->batch, (double)(self->n - self->batch) };
}

/* Deviation of a mean of vectors with standard deviation s from its expectation (at most s a vector), and then up to
 * the tail, when exchanging a record moves the sum by at most `apart`. */
static double by_differences(sample of, double s, double apart, double failure)
{
    double a = of.m * of.u / ((of.n - 0.5) * (1.0 - 0.5 / fmax(of.m, of.u)));

    return s * sqrt(of.u / (of.m * (of.n - 1.0))) + apart / of.m * sqrt(-a * log(failure) / 2.0);
}

/* Of the mean over m matrices of order d. */
static double bernstein(double m, double d, double w, double failure)
{
    double l = log(2.0 * d / failure), first = w * l / 3.0;

    return (first + sqrt(first * first + m * w * w / 2.0 * l)) / m;
}

double pn_model_gradient_sampling(const pn_model *self, double failure)
{
    sample of = sample_of(self);
    double most = 2.0 * self->lipschitz * of.u / of.n; /* the batch's mean against that of the others */

    return of.u == 0.0 ? 0.0 : fmin(most, by_differences(of, self->lipschitz, 2.0 * self->lipschitz, failure));
}

double pn_model_hessian_sampling(const pn_model *self, double failure)
{
    sample of = sample_of(self);
    double d = (double)self->dim, w = self->convex ? self->bounds.record : 2.0 * self->bounds.record;
    double s = fmin(self->bounds.zero, self->bounds.replace / sqrt(2.0)); /* s^2: half the mean square of differences */
    double best = w * of.u / of.n;

    if (of.u == 0.0)
        return 0.0;
    best = fmin(best, by_differences(of, s, w, failure));
    best = fmin(best, bernstein(of.m, d, w, failure));
    return fmin(best, of.u / of.m * bernstein(of.u, d, w, failure)); /* the complement deviates by m/u as much */
}

/* ---- records ---- */

/* noise x^2 + sampling x = limit with x = sqrt(records/n). */
double pn_records_for(double records, double noise, double sampling, double limit)
{
    double x;

    if (noise <= 0.0 && sampling <= 0.0)
        return 1.0;
    x = 2.0 * limit / (sampling + sqrt(sampling * sampling + 4.0 * noise * limit)); /* no cancellation */
    return ceil(records / (x * x));
}
