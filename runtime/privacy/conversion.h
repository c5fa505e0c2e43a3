/* conversion.h -- minimising a conversion over Renyi orders.  Private to privacy/.
 * Depends on: numeric/root.h.  Used by: accountant*.c, ledger*.c.  Spec: accounting.md section 3. */
#ifndef PN_PRIVACY_CONVERSION_H
#define PN_PRIVACY_CONVERSION_H

/* A Renyi curve: order in (1, inf] -> bound, +inf where there is none. */
typedef struct pn_curve {
    double (*rdp)(const void *self, double alpha);
    const void *self;
} pn_curve;

/** min over alpha in (1, inf] of pn_rdp_epsilon(alpha, rdp(alpha), delta), delta in [0,1).  At delta = 0 only alpha = inf
 *  counts.  *order (may be NULL) is the minimising order: pn_rdp_epsilon at it gives the returned number to the last bit;
 *  0 when the result is +inf.  `guess` > 1 is one more order to look around, 0 for none. */
double pn_curve_epsilon(const pn_curve *curve, double delta, double guess, double *order);

/** The smallest delta certified at epsilon >= 0; in [0, 1]. */
double pn_curve_delta(const pn_curve *curve, double epsilon, double guess);

/** The order that the textbook conversion of rho-zCDP at delta in (0,1) would take; 0 when rho is infinite or 0. */
double pn_zcdp_guess(double rho, double delta);

#endif
