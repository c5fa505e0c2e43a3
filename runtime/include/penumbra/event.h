/* event.h -- what a release costs: immutable descriptions of private mechanisms, each for one relation between
 * neighbouring data sets.  Depends on: options.h. */
#ifndef PENUMBRA_EVENT_H
#define PENUMBRA_EVENT_H

#include <stddef.h>

#include "penumbra/options.h"
#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pn_neighbours { PN_REPLACE_ONE = 0, PN_ADD_REMOVE, PN_ZERO_OUT } pn_neighbours;

/** "replace_one", "add_remove", "zero_out". */
const char *pn_neighbours_name(pn_neighbours neighbours);

typedef struct pn_event pn_event;

/* The option "divergence" of the event "curve", as pn_options_object(options, "divergence", "function", &curve): asked
 * at each of its orders while the event is made, and not kept. */
typedef struct pn_renyi_curve {
    /* *value = a bound on the Renyi divergence of `order` > 1, in both directions; INFINITY where there is none.  Its
     * failure is that of the call. */
    pn_status (*divergence)(void *self, double order, double *value, pn_err *err);
    void *self;
} pn_renyi_curve;

/** Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for a parameter; PN_ENOMEM. */
pn_status pn_event_new(pn_event **out, const char *name, const pn_options *options, pn_err *err);

void pn_event_free(pn_event *event);

/** All of them, in sequence or adaptively.  Keeps each.  Errors: PN_EPRIVACY when the relations differ (names both). */
pn_status pn_event_compose(pn_event **out, pn_event *const *events, size_t count, pn_err *err);

/** `event`, count times (count >= 1).  Keeps it. */
pn_status pn_event_repeated(pn_event **out, pn_event *event, size_t count, pn_err *err);

/** One line for people: "gaussian(sigma=2, sensitivity=1)".  Ends in "..." where it fills text[size]. */
void pn_event_describe(const pn_event *event, char *text, size_t size);

/** The relation that it is for. */
pn_neighbours pn_event_neighbours(const pn_event *event);
/** A bound on its Renyi divergence of order alpha in (1, inf]; +inf where there is none. */
double pn_event_rdp(const pn_event *event, double alpha);
/** The smallest known rho with pn_event_rdp(event, alpha) <= rho alpha for all alpha > 1; +inf when none. */
double pn_event_zcdp(const pn_event *event);

#ifdef __cplusplus
}
#endif

#endif
