/* averaged_step.c -- see averaged_step.h.  Depends on: averaged_step.h.  Used by: svrg.c, benchmarks. */
#include <math.h>

#include "minimise/averaged_step.h"

#define LANES 4 /* sums side by side, which compile to vectors */

/* Of the soft threshold, and the factor after it. */
typedef struct shrinkage {
    double threshold, factor;
} shrinkage;

#define EACH static inline __attribute__((always_inline))

EACH double shrink(shrinkage by, double moved)
{
    double up = moved > -by.threshold ? moved : -by.threshold, middle = up < by.threshold ? up : by.threshold;

    return (moved - middle) * by.factor;
}

/* Takes *x to `next`, and the average along; the square of its distance from the snapshot. */
EACH double arrive(double next, double weight, double y, double *x, double *average)
{
    double apart = next - y;

    *x = next;
    *average += weight * (next - *average);
    return apart * apart;
}

/* All cases in one text: what is constant where it is taken in costs nothing there.
 * No two of the vectors share memory. */
EACH double fused(const pn_averaged_step *self, bool with_v, bool shrinks, shrinkage by)
{
    const double *restrict direction = self->direction, *restrict v = self->v, *restrict y = self->y;
    double *restrict x = self->x, *restrict average = self->average;
    const double share = self->share, eta = self->eta, weight = self->weight;
    const size_t p = self->p, whole = p - p % LANES;
    double sums[LANES] = { 0.0 };

    for (size_t j = 0; j < whole; j += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            size_t k = j + lane;
            double next = x[k] - eta * (with_v ? direction[k] * share + v[k] : direction[k] * share);

            sums[lane] += arrive(shrinks ? shrink(by, next) : next, weight, y[k], &x[k], &average[k]);
        }
    }
    for (size_t k = whole; k < p; k++) {
        double next = x[k] - eta * (with_v ? direction[k] * share + v[k] : direction[k] * share);

        sums[k - whole] += arrive(shrinks ? shrink(by, next) : next, weight, y[k], &x[k], &average[k]);
    }
    return sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

static pn_status general(const pn_averaged_step *self, const pn_composite *composite, double *apart, pn_err *err)
{
    double total = 0.0;
    pn_status status;

    for (size_t j = 0; j < self->p; j++)
        self->next[j] = self->direction[j] * self->share + (self->v ? self->v[j] : 0.0);
    status = pn_composite_gradient(composite, self->x, self->p, self->next, err);
    for (size_t j = 0; j < self->p; j++)
        self->next[j] = self->x[j] - self->eta * self->next[j];
    if (status == PN_OK)
        status = pn_composite_step(composite, self->next, self->p, self->eta, err);
    if (status != PN_OK)
        return status;
    for (size_t j = 0; j < self->p; j++)
        total += arrive(self->next[j], self->weight, self->y[j], &self->x[j], &self->average[j]);
    *apart = sqrt(total);
    return PN_OK;
}

pn_status pn_averaged_step_make(const pn_averaged_step *self, const pn_composite *composite, double *apart, pn_err *err)
{
    pn_prox_net net = { 0.0, 0.0, NULL };
    bool is_net = !composite->prox || pn_prox_as_net(&net, composite->prox);
    shrinkage by = { self->eta * net.l1, 1.0 / (1.0 + self->eta * net.l2) };

    if (composite->smooth || !is_net || net.clip || !isfinite(by.threshold) || by.factor == 0.0)
        return general(self, composite, apart, err);
    if (composite->prox)
        *apart = self->v ? fused(self, true, true, by) : fused(self, false, true, by);
    else
        *apart = self->v ? fused(self, true, false, by) : fused(self, false, false, by);
    return PN_OK;
}
