/* event.h -- what a release costs: immutable descriptions of private mechanisms, and their curves.
 * Every event carries its neighbouring relation; composing different ones is an error.
 * Depends on: core, numeric.  Used by: accountant, ledger, mechanism, solvers.  Spec: accounting.md sections 1 and 2. */
#ifndef PN_PRIVACY_EVENT_H
#define PN_PRIVACY_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"

typedef enum pn_neighbours { PN_REPLACE_ONE = 0, PN_ADD_REMOVE, PN_ZERO_OUT } pn_neighbours;
/** "replace_one", "add_remove", "zero_out"; the NULL-terminated list for PN_CHOICE parameters. */
extern const char *const pn_neighbours_names[];

typedef struct pn_event pn_event;

typedef struct pn_event_ops {
    const char *name; /* "exponential" */
    const char *doc;
    const char *source;
    const pn_param *params; /* the binding adds `neighbours` to every row */
    pn_status (*create)(pn_event **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_event *self);

    /* Renyi divergence bound of order alpha in (1, inf]; +inf where there is none.  Never NaN. */
    double (*rdp)(const pn_event *self, double alpha);
    /* Smallest known rho with rdp(alpha) <= rho alpha for all alpha > 1; +inf when none. */
    double (*zcdp)(const pn_event *self);
    /* "exponential(epsilon=0.1)" */
    void (*describe)(const pn_event *self, char *text, size_t size);
} pn_event_ops;

struct pn_event {
    const pn_event_ops *ops;
    pn_neighbours neighbours;
    int references;
};

const pn_event_ops *const *pn_event_table(void);

/** Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for a parameter; PN_ENOMEM. */
pn_status pn_event_new(pn_event **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err);
pn_event *pn_event_keep(pn_event *event);
void pn_event_free(pn_event *event);

/** Convenience for the tables of other rooms.  All PN_ENOMEM or PN_EINVAL. */
pn_status pn_event_exponential(pn_event **out, double epsilon, pn_neighbours neighbours, pn_err *err);
pn_status pn_event_report_noisy_max(pn_event **out, double scale, double sensitivity, pn_neighbours n, pn_err *err);

/** All of them, in sequence or adaptively.  Keeps each.  Errors: PN_EPRIVACY when the relations differ (names both). */
pn_status pn_event_compose(pn_event **out, pn_event *const *events, size_t count, pn_err *err);
/** `event`, count times (count >= 1).  Keeps it. */
pn_status pn_event_repeated(pn_event **out, pn_event *event, size_t count, pn_err *err);

void pn_event_describe(const pn_event *event, char *text, size_t size);

#endif
