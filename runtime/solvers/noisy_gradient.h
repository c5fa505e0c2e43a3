/* noisy_gradient.h -- the mean gradient of the data plus Gaussian noise: what first-order private solvers release once a step.
 * Sensitivity, calibration, event, draw and the plan's lines about them are here and in no solver.
 * Depends on: solver.h.  Used by: mirror_descent*.c, frank_wolfe*.c.  Source: Talwar, Thakurta, Zhang (2014), Algorithms 2 and 5;
 * mirror-descent.md section 2, noise.md section 3. */
#ifndef PN_SOLVERS_NOISY_GRADIENT_H
#define PN_SOLVERS_NOISY_GRADIENT_H

#include "solvers/solver.h"

typedef struct pn_gradient_noise {
    double lipschitz; /* L: every record's gradient has at most this l2 norm, certified or by clipping */
    double
        sensitivity; /* l2, of the mean gradient as computed: 2L/n (replace one) or L/n, and what its rounding adds */
    double bound;    /* public bound on every |coordinate| */
    double sigma;    /* standard deviation of the noise on each coordinate */
    size_t dim;
    pn_neighbours neighbours;
} pn_gradient_noise;

/**
 * All but sigma.  Non-private requests get L (+inf when nothing bounds it) and sensitivity 0.
 * Errors: PN_EUNSUPPORTED for add_remove (n is public) and for losses without gradients; PN_EPRIVACY without a finite L.
 */
pn_status pn_gradient_noise_read(pn_gradient_noise *noise, const char *owner, const pn_objective *objective,
                                 const pn_request *request, pn_err *err);

/** sigma such that `steps` releases cost what the request allows, rounding and sampling included.  NaN when none does. */
double pn_gradient_noise_tight(const pn_gradient_noise *noise, const pn_request *request, size_t steps);
/** The article's: sqrt(32 T) L ln(T/delta) / (n epsilon), for requests of epsilon and delta. */
double pn_gradient_noise_paper(const pn_gradient_noise *noise, const pn_request *request, double n, size_t steps);

/** rho, or mu^2/2 for epsilon and delta: sigma is close to sensitivity sqrt(steps / (2 rho)).  Used to choose the steps. */
double pn_gradient_noise_rho(const pn_request *request);

/**
 * Set noise->sigma by the calibration option, and plan->event, proven and the lines about noise, for plan->iterations steps.
 * Errors: PN_EBUDGET when no noise on the lattice fits; PN_EUNSUPPORTED for "paper" without epsilon and delta; PN_EINVAL when the
 * article's noise costs more than was asked for.
 */
pn_status pn_gradient_noise_attach(pn_plan *plan, pn_gradient_noise *noise, const pn_arg *common, pn_err *err);

/** The mechanism of one release, for a state; NULL in *out when sigma is 0. */
pn_status pn_gradient_noise_open(pn_mechanism **out, const pn_gradient_noise *noise, pn_err *err);

/**
 * gradient[dim] = gradient of the mean loss at theta + noise (charged first) + gradient of the regulariser, which is public.  Counts the
 * release in the context.
 * mechanism NULL: without noise.  *value (may be NULL) is f(theta), raw.
 */
pn_status pn_noisy_gradient(pn_objective *objective, pn_mechanism *mechanism, pn_step_context *context,
                            const char *label, const double *theta, double *value, double *gradient, pn_err *err);

/** The most steps by default: about 1e10 multiplications, from public sizes only; at least 100. */
size_t pn_gradient_steps_max(const pn_objective *objective);

#endif
