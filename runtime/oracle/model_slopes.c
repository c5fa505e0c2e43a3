/* model_slopes.c -- how much less a neighbour moves of a gradient at a point that is known beforehand, and of what
 * later gradients differ from that one.
 * Depends on: model_noise.h, objective.  Used by: newton_plan.c. */
#include <math.h>

#include "oracle/model_noise.h"

#define SLACK 1e-9 /* on slopes, for the rounding of their evaluation, and on radii, beyond which points may lie */

static double known_max(double so_far, double found)
{
    return isnan(found) ? INFINITY : fmax(so_far, found);
}

/* What one range of labels adds.  Of several margins the slopes are a vector, of which intervals bound the entries
 * only: norms of both ends stand for the range of a change. */
static pn_status add_slopes(pn_objective *objective, pn_interval near, pn_interval labels, pn_slopes *out, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    pn_loss *loss = pn_objective_loss(objective);
    double reach = pn_interval_magnitude(bounds->margin) + pn_interval_magnitude(near), apart;
    pn_loss_bounds here, anywhere;

    PN_TRY(pn_loss_certify(loss, near, labels, &here, err));
    PN_TRY(pn_loss_certify(loss, bounds->margin, labels, &anywhere, err));
    apart = known_max(known_max(0.0, anywhere.slope.high - here.slope.low), here.slope.high - anywhere.slope.low);
    if (loss->margins > 1)
        apart = anywhere.slope_norm[PN_L2] + here.slope_norm[PN_L2];
    out->start = known_max(out->start, here.slope_norm[PN_L2]);
    out->change = known_max(out->change, fmin(apart, anywhere.curvature_norm * reach));
    return PN_OK;
}

/* Label by label where there are few, so that a slope is compared with that of the same label. */
static pn_status all_slopes(pn_objective *objective, pn_interval near, pn_slopes *out, pn_err *err)
{
    const pn_labels *labels = &pn_objective_loss(objective)->labels;
    const pn_record_bounds *records = &pn_objective_data(objective)->bounds;
    bool known = isfinite(records->label_low) && isfinite(records->label_high);
    pn_interval range =
        known ? (pn_interval){ records->label_low, records->label_high } : (pn_interval){ -INFINITY, INFINITY };

    if (labels->kind != PN_LABELS_VALUES)
        return add_slopes(objective, near, range, out, err);
    for (size_t k = 0; k < labels->count; k++) {
        double value = labels->values[k];

        if (value >= range.low && value <= range.high)
            PN_TRY(add_slopes(objective, near, (pn_interval){ value, value }, out, err));
    }
    return PN_OK;
}

pn_status pn_slopes_read(pn_slopes *out, pn_objective *objective, const double *start, pn_err *err)
{
    double row = pn_objective_data(objective)->bounds.norm[PN_L2], length = 0.0, reach;
    pn_slopes found = { -1.0, -1.0 }; /* nothing seen */
    pn_status status;

    *out = (pn_slopes){ pn_objective_bounds(objective)->loss.slope_norm[PN_L2], INFINITY };
    for (size_t j = 0; j < pn_objective_dim(objective); j++)
        length = hypot(length, start[j]);
    if (!isfinite(row))
        return PN_OK;
    reach = length * row * (1.0 + SLACK);
    status = all_slopes(objective, (pn_interval){ -reach, reach }, &found, err);
    if (status == PN_ENOMEM)
        return status;
    if (status != PN_OK || found.start < 0.0) /* what is unknown is no gain */
        return PN_OK;
    out->start = fmin(out->start, found.start * (1.0 + SLACK));
    out->change = found.change * (1.0 + SLACK);
    return PN_OK;
}

double pn_model_moved(const pn_model *self, double slope, double passes)
{
    double count = pn_contributions(self->neighbours), n = (double)self->n;
    double each = slope * pn_objective_data(self->objective)->bounds.norm[PN_L2];
    double rounding = self->gradient_sensitivity - count * self->lipschitz / n + 0x1p-50 * self->gradient_sensitivity;

    return (count * each / n + passes * rounding + (passes - 1.0) * 0x1p-52 * each) * (1.0 + 1e-14);
}
