/* gaussian.h -- the exact privacy of Gaussian noise: the hockey stick of N(0,1) and N(mu,1), mu = sensitivity/sigma.
 * Any adaptive composition of Gaussian releases is this with mu^2 = sum of (sensitivity_i/sigma_i)^2.
 * Depends on: numeric/special.h.  Used by: calibration, accountants, mechanisms, tests.  See accounting.md section 3.
 * Source: Balle, Wang (2018), Theorem 8; Dong, Roth, Su (2022). */
#ifndef PN_PRIVACY_GAUSSIAN_H
#define PN_PRIVACY_GAUSSIAN_H

/** delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), rounded upward by 1e-12 relative.
 *  mu > 0, epsilon >= 0, else NaN. */
double pn_gaussian_delta(double mu, double epsilon);

/** The smallest epsilon >= 0 with pn_gaussian_delta(mu, epsilon) <= delta; +inf at delta = 0.  mu > 0, delta in [0, 1],
 *  else NaN. */
double pn_gaussian_epsilon(double mu, double delta);

/** The largest mu with pn_gaussian_delta(mu, epsilon) <= delta; 0 at delta = 0.  epsilon >= 0, delta in [0,
 *  1), else NaN. */
double pn_gaussian_mu(double epsilon, double delta);

#endif
