/* loss_range.c -- outward rounding and checks of intervals.  Depends on: loss_range.h.  Used by: the losses of this room. */
#include <float.h>
#include <math.h>

#include "objective/loss_range.h"

pn_interval pn_outward(double low, double high)
{
    pn_interval out = { low - (8.0 * DBL_EPSILON * fabs(low) + DBL_MIN),
                        high + (8.0 * DBL_EPSILON * fabs(high) + DBL_MIN) };

    return out;
}

pn_interval pn_cut(pn_interval part, double low, double high)
{
    pn_interval out = { fmax(part.low, low), fmin(part.high, high) };

    return out;
}

static pn_status check_order(const char *owner, const char *what, pn_interval part, pn_err *err)
{
    if (!(part.low <= part.high))
        return pn_fail(err, PN_EINVAL, "%s: %s must be an interval {lo, hi} with lo <= hi, got {%g, %g}", owner, what,
                       part.low, part.high);
    return PN_OK;
}

pn_status pn_check_margin(const char *owner, pn_interval z, pn_err *err)
{
    pn_status status = check_order(owner, "the margin", z, err);

    if (status == PN_OK && (isinf(z.low) || isinf(z.high)))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "%s: the margin <x, theta> is unbounded: bound the records, d:clip_rows(norm, bound), and give a "
            "bounded set",
            owner);
    return status;
}

pn_status pn_check_labels(const char *owner, pn_interval y, pn_err *err)
{
    pn_status status = check_order(owner, "the labels", y, err);

    if (status == PN_OK && (isinf(y.low) || isinf(y.high)))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: the labels are unbounded: clip them, d:clip_labels(lo, hi)", owner);
    return status;
}
