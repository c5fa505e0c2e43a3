/* hessian_weights.c -- the second derivatives of a block's losses, and weights of a quadratic that stays about above a
 * record's loss while its margin goes to where the loss is least.
 * Depends on: hessian_impl.h.  Used by: hessian.c.
 * Source: de Leeuw, Lange (2009), Sharp quadratic majorization in one dimension; Huber (1981), section 7.8,
 * the weights psi(r)/r.
 *
 * A second derivative says how a loss bends at z, and nothing of what follows: that of huber is 0 where a residual is
 * beyond delta, yet a step may end within it.  With s = |l'(z)|, and s(h) what is left of it at distance h on the way
 * down,
 *     w = sup over h of (s - s(h))/h, s(h) >= 0,
 * is a weight with l <= l(z) - s h + w h^2/2 all the way to the minimum, and l''(z) or more: psi(r)/r of huber, and
 * more than l'' of a logistic loss whose margin has the wrong sign.  It is looked for at few distances: since l'' <= B,
 * s(h) > 0 before h = s/B; from there h is doubled until the slope changes sign, and then halved toward that place, for
 * as long as s/h, which bounds what is still to come, is above w.  So huber's is found to a twentieth, and that of a
 * logistic loss at z y = -1 is .206 where .231 is needed.  Privacy does not rest on it: a weight is in [0,
 * B] whatever the search finds. */
#include <math.h>
#include <string.h>

#include "objective/passes/hessian_impl.h"

/* ---- second derivatives ---- */

/* Where clipping acts the loss continues in a straight line. */
static void flatten_clipped(const pn_objective *objective, const pn_block *block, const double *slope, double *bend)
{
    for (size_t r = 0; r < block->count; r++) {
        size_t i = block->rows ? block->rows[r] : block->first + r;

        if (!(fabs(slope[r]) * objective->norms[i] <= objective->clip))
            bend[r] = 0.0;
    }
}

void pn_bend_one(const pn_objective *objective, const pn_block *block, const double *z, const double *y,
                 const double *slope, double *along, double *bend)
{
    const pn_loss *loss = objective->loss;

    for (size_t r = 0; r < block->count; r++)
        along[r] = 1.0;
    loss->ops->curve(loss, block->count, z, y, along, bend);
    pn_clamp_bends(&objective->bounds, block->count, along, bend);
    if (objective->norms)
        flatten_clipped(objective, block, slope, bend);
}

void pn_bend_margins(const pn_objective *objective, size_t count, const double *z, const double *y, double *along,
                     double *column, double *bend)
{
    const pn_loss *loss = objective->loss;
    size_t margins = loss->margins;

    memset(along, 0, margins * count * sizeof *along);
    for (size_t l = 0; l < margins; l++) {
        for (size_t r = 0; r < count; r++)
            along[l * count + r] = 1.0;
        loss->ops->curve(loss, count, z, y, along, column);
        memset(along + l * count, 0, count * sizeof *along);
        memcpy(bend + l * (l + 1) / 2 * count, column, (l + 1) * count * sizeof *column);
    }
    pn_clamp_pairs(&objective->bounds, margins, count, bend);
}

/* ---- the majorant ---- */

#define ROUNDS 64
#define NEAR   1.05 /* times the weight: near enough */

/* One record's search. */
typedef struct way {
    double s;         /* 0: over */
    double low, high; /* distances with a slope of the first sign, and of the other one; 0, +inf: none yet */
} way;

static double distance_of(const way *of, double most)
{
    if (isfinite(of->high))
        return 0.5 * (of->low + of->high);
    return of->low > 0.0 ? 2.0 * of->low : of->s / most;
}

static void take(way *of, double h, double left, double *weight)
{
    if (left >= 0.0) {
        *weight = fmax(*weight, (of->s - left) / h);
        of->low = h;
    } else {
        of->high = h;
    }
    if (!(of->s > NEAR * *weight * of->low))
        of->s = 0.0;
}

void pn_majorant_weights(const pn_objective *objective, const pn_block *block, const double *z, const double *y,
                         double *slope, double *weight)
{
    double most = objective->bounds.loss.curvature.high, at[PN_LOSS_BLOCK], left[PN_LOSS_BLOCK];
    way ways[PN_LOSS_BLOCK];
    bool any = isfinite(most) && most > 0.0;

    pn_block_enforce(objective, block, slope);
    for (size_t r = 0; r < block->count; r++)
        ways[r] = (way){ weight[r] < most && isfinite(slope[r]) ? fabs(slope[r]) : 0.0, 0.0, INFINITY };
    for (int round = 0; any && round < ROUNDS; round++) {
        any = false;
        for (size_t r = 0; r < block->count; r++) {
            at[r] = z[r] - (ways[r].s > 0.0 ? copysign(distance_of(&ways[r], most), slope[r]) : 0.0);
            any |= ways[r].s > 0.0;
        }
        if (!any)
            break;
        objective->loss->ops->evaluate(objective->loss, block->count, at, y, NULL, left);
        pn_block_enforce(objective, block, left);
        for (size_t r = 0; r < block->count; r++) {
            if (ways[r].s > 0.0)
                take(&ways[r], distance_of(&ways[r], most), copysign(1.0, slope[r]) * left[r], &weight[r]);
        }
    }
    for (size_t r = 0; r < block->count; r++)
        weight[r] = fmax(fmin(weight[r], most), 0.0);
}
