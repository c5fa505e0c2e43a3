/* loss_range.h -- what the certified ranges of losses share: outward rounding and checks of the intervals.
 * Depends on: loss.h.  Used by: the losses of this room. */
#ifndef PN_OBJECTIVE_LOSS_RANGE_H
#define PN_OBJECTIVE_LOSS_RANGE_H

#include "objective/loss.h"

/** [low, high] widened by 8 units in the last place at each end: covers the rounding of the vector functions. */
pn_interval pn_outward(double low, double high);

/** `part` cut to [low, high], where the truth is known to lie. */
pn_interval pn_cut(pn_interval part, double low, double high);

/** Errors: PN_EINVAL when low > high or NaN (`owner`: "loss.squared"); PN_EUNSUPPORTED with the remedy when infinite. */
pn_status pn_check_margin(const char *owner, pn_interval z, pn_err *err);
pn_status pn_check_labels(const char *owner, pn_interval y, pn_err *err);

#endif
