/* power_root.h -- mirror steps of potentials made of powers: entries factor (c_j - nu)_+^t with the nu that makes them
 * add up.
 * Depends on: numeric/simd/simd.h.  Used by: potential_lp.c, potential_group.c, potential_schatten.c.
 * See geometry.md 3.1, 3.2, 3.4. */
#ifndef PN_GEOMETRY_POWER_ROOT_H
#define PN_GEOMETRY_POWER_ROOT_H

#include <stdbool.h>
#include <stddef.h>

/* With mu = top - nu, u_j = (c_j - nu)_+ / mu in [0, 1] and s_a = sum u_j^a, the size to be met is
 *     gain mu s_t^(1/t)                              (dual false: the t-norm of gain (c - nu)_+, convex in nu)
 *     gain mu s_t s_{t+1}^((1-t)/(t+1))              (dual true: the l1 norm of the gradient of ||.||_{t+1}^2 / 2,
 *         times gain) */
typedef struct pn_power_problem {
    const double *c; /* [n] */
    size_t n;
    bool magnitude; /* of |c_j| instead of c_j */
    bool dual;
    double top; /* the largest of them */
    double t;   /* >= 1 */
    double gain;
} pn_power_problem;

typedef struct pn_power_root {
    double mu;    /* 0 when all entries are 0 */
    double sum;   /* s_t there */
    double above; /* s_{t+1} there, when dual */
} pn_power_root;

/** Fills `top`. */
void pn_power_open(pn_power_problem *problem);

/** The size at a root, as above. */
double pn_power_size(const pn_power_problem *problem, const pn_power_root *at);

/**
 * mu in (0, most] at which the size is `target` > 0, or `most` when it is smaller there
 * (most = top keeps nu >= 0; INFINITY: any nu).
 *   met  whether the target is met.
 * Newton's method between bounds, from a start that a sample gives: as a rule two passes over c.
 */
double pn_power_solve(const pn_power_problem *problem, double target, double most, bool *met);

/** out[j] = factor u_j^t, with the sign of c_j when `magnitude`; out may be c.  Returns the sums at mu. */
pn_power_root pn_power_write(const pn_power_problem *problem, double mu, double factor, double *out);
/** The same with the factor that makes sum |out_j| = total; mu > 0. */
void pn_power_write_total(const pn_power_problem *problem, double mu, double total, double *out);

/** out[j] = factor sign(x_j) |x_j / size|^exponent, exponent > 0; out may be x.
 *  Returns the first entry that is not finite, or n. */
size_t pn_signed_power(size_t n, const double *x, double size, double exponent, double factor, double *out);
/** out[j] = sign(x_j) |x_j / size|^exponent and the sum of |x_j / size|^(exponent + 1), for the price of one. */
double pn_signed_power_sum(size_t n, const double *x, double size, double exponent, double *out);

/** sum |x_j / size|^exponent, exponent > 0. */
double pn_power_sum(size_t n, const double *x, double size, double exponent);

#endif
