/* mixed_curve.c -- cubic interpolation of ln y between nodes, which is right to 1e-6, and one step of third order from there.
 * Left of the table y is tau^(1/e) and right of it tau, to the last digit.  Depends on: mixed_curve.h.  Used by: mixed_root.c. */
#include <math.h>

#include "geometry/mixed_curve.h"
#include "geometry/potential_parts.h"
#include "numeric/simd.h"

#define KNEE   2.0
#define VANISH 39.0 /* e^-39 is below the last digit */

/* The next node from the one before: Newton's method for ln(y^e + y) = ln tau. */
static pn_mixed_node node_at(double e, double log_tau, double z)
{
    pn_mixed_node node = { z, 1.0, 0.0 };

    for (int round = 0; round < 4; round++) {
        double p = exp(e * node.z), q = exp(node.z);

        node.slope = (p + q) / (e * p + q);
        node.z -= (log(p + q) - log_tau) * node.slope;
    }
    node.power = exp(e * node.z);
    node.slope = (node.power + exp(node.z)) / (e * node.power + exp(node.z));
    return node;
}

void pn_mixed_curve_open(pn_mixed_curve *curve, double e)
{
    double knee = KNEE, z;

    curve->e = e;
    curve->low = -VANISH * e / (1.0 - e);
    curve->high = VANISH / (1.0 - e);
    curve->below = (size_t)ceil((knee - curve->low) * 8.0 / e);
    curve->step[0] = (knee - curve->low) / (double)curve->below;
    curve->step[1] = (curve->high - knee) / (double)(PN_MIXED_NODES - 2 - curve->below);
    for (int side = 0; side < 2; side++)
        curve->per_unit[side] = 1.0 / curve->step[side];
    z = curve->low / e;
    for (size_t i = 0; i < PN_MIXED_NODES; i++) {
        size_t above = i - curve->below;
        double log_tau =
            i < curve->below ? curve->low + (double)i * curve->step[0] : knee + (double)above * curve->step[1];

        curve->node[i] = node_at(e, log_tau, z);
        z = curve->node[i].z + curve->node[i].slope * curve->step[i >= curve->below];
    }
}

/* ln y near log_tau, and y^e at that very z. */
static inline void look_up(const pn_mixed_curve *curve, double log_tau, double *z, double *power)
{
    size_t side = log_tau >= KNEE;
    double from = side ? KNEE : curve->low, width = curve->step[side], place = (log_tau - from) * curve->per_unit[side];
    size_t cell = (size_t)place, first = side ? curve->below : 0;
    const pn_mixed_node *a = &curve->node[first + cell], *b = a + 1;
    double t = place - (double)cell, rise = b->z - a->z, left = a->slope * width - rise,
           right = rise - b->slope * width;
    double along = t * (rise + (1.0 - t) * ((1.0 - t) * left + t * right)), x = curve->e * along;

    *z = a->z + along;
    *power = a->power * (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0))))));
}

void pn_mixed_curve_at(const pn_mixed_curve *curve, size_t n, const double *tau, const double *log_tau, double *y,
                       double *slope)
{
    double power[PN_POTENTIAL_PIECE], e = curve->e;

    for (size_t j = 0; j < n; j++) {
        if (log_tau[j] > curve->low && log_tau[j] < curve->high) {
            look_up(curve, log_tau[j], &y[j], &power[j]);
        } else if (log_tau[j] < KNEE) {
            y[j] = log_tau[j] / e;
            power[j] = tau[j];
        } else {
            y[j] = log_tau[j];
            power[j] = exp(e * log_tau[j]);
        }
    }
    pn_simd_best()->exp(n, y, y);
    for (size_t j = 0; j < n; j++) {
        double p = power[j], q = y[j], along = e * p + q, move = ((p - tau[j]) + q) / along;

        move *= 1.0 + 0.5 * move * (e * e * p + q) / along;
        q -= q * move * (1.0 - 0.5 * move);
        y[j] = q;
        slope[j] = q / (e * (tau[j] - q) + q);
    }
}
