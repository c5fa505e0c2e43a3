/* mixed_curve.c -- cubic interpolation of ln y between nodes, which is right to 1e-6, and one step of third order from
 * there.  Left of the table y is tau^(1/e) and right of it tau, to the last digit.  Depends on: mixed_curve.h.
 * Used by: mixed_root.c. */
#include <math.h>
#include <stdbool.h>

#include "geometry/potentials/mixed_curve.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/simd/simd.h"

#define KNEE   2.0
#define VANISH 39.0 /* e^-39 is below the last digit */

/* Newton's method for ln(y^e + y) = ln tau, from z; *slope = d ln y / d ln tau there. */
static double root_at(double e, double log_tau, double z, double *slope)
{
    double p = exp(e * z), q = exp(z);

    for (int round = 0; round < 4; round++) {
        z -= (log(p + q) - log_tau) * (p + q) / (e * p + q);
        p = exp(e * z);
        q = exp(z);
    }
    *slope = (p + q) / (e * p + q);
    return z;
}

static double place_of(const pn_mixed_curve *curve, size_t i)
{
    return i < curve->below ? curve->low + (double)i * curve->step[0]
                            : KNEE + (double)(i - curve->below) * curve->step[1];
}

void pn_mixed_curve_open(pn_mixed_curve *curve, double e)
{
    double slope, z;

    curve->e = e;
    curve->low = -VANISH * e / (1.0 - e);
    curve->high = VANISH / (1.0 - e);
    curve->below = (size_t)ceil((KNEE - curve->low) * 8.0 / e);
    curve->step[0] = (KNEE - curve->low) / (double)curve->below;
    curve->step[1] = (curve->high - KNEE) / (double)(PN_MIXED_NODES - 2 - curve->below);
    for (int side = 0; side < 2; side++)
        curve->per_unit[side] = 1.0 / curve->step[side];
    z = root_at(e, curve->low, curve->low / e, &slope);
    for (size_t i = 0; i < PN_MIXED_NODES; i++) {
        double width = curve->step[i >= curve->below], next_slope;
        double next = root_at(e, place_of(curve, i + 1), z + slope * width, &next_slope);
        double rise = next - z, left = slope * width - rise, right = rise - next_slope * width;

        curve->node[i] = (pn_mixed_node){ z, exp(e * z), { slope * width, right - 2.0 * left, left - right } };
        z = next;
        slope = next_slope;
    }
}

/* ln y and y^e at the same place, near the root. */
static void look_up(const pn_mixed_curve *curve, size_t n, const double *tau, const double *log_tau, double *z,
                    double *power)
{
    const pn_simd *simd = pn_simd_best();
    double low = curve->low, high = curve->high, e = curve->e, per_e = 1.0 / e;
    double along[PN_POTENTIAL_PIECE], inside[PN_POTENTIAL_PIECE];
    bool beyond = n > 0 && pn_potential_largest(log_tau, n) >= curve->high;

    for (size_t j = 0; j < n; j++) {
        double at = log_tau[j] > low ? log_tau[j] : low, place;
        size_t side, cell;
        const pn_mixed_node *node;

        at = at < high ? at : high;
        side = at >= KNEE;
        place = (at - (side ? KNEE : curve->low)) * curve->per_unit[side];
        cell = (size_t)(int)place;
        node = &curve->node[cell + (side ? curve->below : 0)];
        place -= (double)(int)place;
        along[j] = place * (node->c[0] + place * (node->c[1] + place * node->c[2]));
        z[j] = node->z + along[j];
        power[j] = node->power;
    }
    for (size_t j = 0; j < n; j++) {
        double x = e * along[j];

        power[j] *= 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0)))));
        along[j] = log_tau[j] * per_e; /* left of the table */
    }
    simd->lt(n, &low, 0, log_tau, 1, inside);
    simd->where(n, inside, power, 1, tau, 1, power);
    simd->where(n, inside, z, 1, along, 1, z);
    for (size_t j = 0; beyond && j < n; j++) {
        if (log_tau[j] >= curve->high) {
            z[j] = log_tau[j];
            power[j] = exp(e * log_tau[j]);
        }
    }
}

void pn_mixed_curve_at(const pn_mixed_curve *curve, size_t n, const double *tau, const double *log_tau, double *y,
                       double *slope)
{
    double power[PN_POTENTIAL_PIECE], e = curve->e;

    look_up(curve, n, tau, log_tau, y, power);
    pn_simd_best()->exp(n, y, y);
    for (size_t j = 0; j < n; j++) {
        double p = power[j], q = y[j], per = 1.0 / (e * p + q), move = ((p - tau[j]) + q) * per;

        slope[j] = q * per;
        move *= 1.0 + 0.5 * move * (e * e * p + q) * per;
        y[j] = q - q * move * (1.0 - 0.5 * move);
    }
}
