/* accountant_terms.h -- the events that an accountant has been given, and the sums over them.  Private to privacy/.
 * Depends on: event_leaf.h.  Used by: accountant_*.c. */
#ifndef PN_PRIVACY_ACCOUNTANT_TERMS_H
#define PN_PRIVACY_ACCOUNTANT_TERMS_H

#include "privacy/accounting/accountant.h"
#include "privacy/event/event_leaf.h"

typedef struct pn_terms {
    pn_term *terms; /* consecutive equal events are one term */
    size_t count, room;
} pn_terms;

/* An accountant that is a list of terms and nothing else. */
typedef struct pn_terms_accountant {
    pn_accountant base;
    pn_terms terms;
} pn_terms_accountant;

pn_status pn_terms_accountant_new(pn_accountant **out, const pn_accountant_ops *ops, pn_err *err);
void pn_terms_accountant_destroy(pn_accountant *self);
/** For pn_accountant_ops.add, .rdp and .zcdp. */
pn_status pn_terms_accountant_add(pn_accountant *self, pn_event *event, size_t count, pn_err *err);
double pn_terms_accountant_rdp(const pn_accountant *self, double alpha);
double pn_terms_accountant_zcdp(const pn_accountant *self);

static inline const pn_terms *pn_terms_of(const pn_accountant *self)
{
    return &((const pn_terms_accountant *)self)->terms;
}

/** Keeps the event.  Errors: PN_ENOMEM, in the name of `owner`. */
pn_status pn_terms_add(pn_terms *self, pn_event *event, size_t count, const char *owner, pn_err *err);
void pn_terms_clear(pn_terms *self);

double pn_terms_rdp(const pn_terms *self, double alpha);
double pn_terms_zcdp(const pn_terms *self);
pn_slack pn_terms_slack(const pn_terms *self);

/** epsilon at delta and delta at epsilon by Renyi orders in (1, inf], slack included. */
double pn_terms_epsilon(const pn_terms *self, double delta, double *order);
double pn_terms_delta(const pn_terms *self, double epsilon);

/** Calls `visit` with every event and its count, compositions taken apart,
 *  until it returns something else than PN_OK. */
typedef pn_status (*pn_terms_visit)(void *self, const pn_event *event, double count, pn_err *err);
pn_status pn_terms_walk(const pn_terms *self, pn_terms_visit visit, void *visitor, pn_err *err);

#endif
