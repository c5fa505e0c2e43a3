/* sampled_curve.h -- Renyi curves of Gaussian noise on a random part of the records.  Private to privacy/.
 * Depends on: libm.  Used by: event_sampled.c.  See accounting.md section 4.
 *
 * Everywhere 0 < q < 1, z = sigma / sensitivity > 0, order alpha in (1, inf].  The integrals and sums are good to about
 * 1e-13 relative; what is returned is 1e-12 relative above them and at most the curve without sampling.
 * Nothing overflows. */
#ifndef PN_PRIVACY_SAMPLED_CURVE_H
#define PN_PRIVACY_SAMPLED_CURVE_H

/** Poisson sampling, one record added, removed or zeroed: N(0, z^2) against (1-q) N(0, z^2) + q N(1, z^2),
 *  the larger of both
 *  directions.  Source: Mironov, Talwar, Zhang (2019). */
double pn_curve_poisson(double q, double z, double alpha);

/** A batch of fixed size without replacement, one record replaced; z relative to the replace-one sensitivity of the
 *  batch
 *  query.  Source: Balle, Barthe, Gaboardi (2018) with Sason, Verdu (2016). */
double pn_curve_fixed_size(double q, double z, double alpha);

/** Poisson sampling, one record replaced: (1-q) N(0, z^2) + q N(1, z^2) against (1-q) N(0, z^2) + q N(-1, z^2); z
 *  relative to the contribution of ONE record.  Source of the pair: Zhu, Dong, Wang (2022). */
double pn_curve_poisson_replace(double q, double z, double alpha);

#endif
