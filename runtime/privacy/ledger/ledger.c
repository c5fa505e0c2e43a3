/* ledger.c -- the ledger: budgets, their filters, making and freeing one; ledger_look.c says what has been charged.
 * Depends on: ledger_impl.h, accountant.h.  Used by: mechanisms, solvers, bindings.
 *
 * A budget of rho is one sum of zCDP, a pure budget one sum at the order inf; these are fixed when the ledger is
 * opened, as are orders given by the owner.  Otherwise the first request chooses (ledger_charge.c). */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/process.h"
#include "privacy/accounting/accountant.h"
#include "privacy/ledger/ledger_impl.h"

#define CACHED_PARTS 8 /* of a composed event */

/* ---- budgets ---- */

static pn_status check_amounts(const pn_budget *budget, pn_err *err)
{
    if (isnan(budget->epsilon) == isnan(budget->rho))
        return pn_fail(err, PN_EINVAL,
                       "ledger: give either epsilon (with delta, or 0 for pure) or rho, and NaN for the other; got "
                       "epsilon %g and rho %g",
                       budget->epsilon, budget->rho);
    if (!isnan(budget->rho)) {
        if (!(budget->rho > 0.0 && isfinite(budget->rho)))
            return pn_fail(err, PN_EINVAL, "ledger: rho must be a positive number, got %g", budget->rho);
        if (budget->delta != 0.0)
            return pn_fail(err, PN_EINVAL, "ledger: a budget of rho has no delta, got %g; leave it out", budget->delta);
    } else if (!(budget->epsilon > 0.0 && isfinite(budget->epsilon))) {
        return pn_fail(err, PN_EINVAL, "ledger: epsilon must be a positive number, got %g", budget->epsilon);
    } else if (!(budget->delta >= 0.0 && budget->delta < 1.0)) {
        return pn_fail(err, PN_EINVAL, "ledger: delta must be a number from 0 up to but not including 1, got %g",
                       budget->delta);
    }
    if (budget->alpha != 0.0 && !(budget->alpha > 1.0))
        return pn_fail(err, PN_EINVAL, "ledger: alpha must be greater than 1, got %g", budget->alpha);
    if (budget->alpha != 0.0 && (isnan(budget->epsilon) || budget->delta != 0.0))
        return pn_fail(err, PN_EINVAL,
                       "ledger: alpha goes with epsilon alone, the limit of the Renyi divergence of that order");
    return PN_OK;
}

static pn_status check_budget(const pn_budget *budget, pn_err *err)
{
    bool filtered = budget->delta > 0.0 && budget->alpha == 0.0;

    PN_TRY(check_amounts(budget, err));
    if (budget->order_count > 0 && !filtered)
        return pn_fail(err, PN_EINVAL, "ledger: orders belong to a budget with epsilon and delta > 0; leave them out");
    if (budget->gaussian && (!filtered || budget->order_count > 0))
        return pn_fail(err, PN_EINVAL,
                       "ledger: the Gaussian filter is for a budget with epsilon and delta > 0, and has no orders");
    for (size_t i = 0; i < budget->order_count; i++) {
        if (!(budget->orders[i] > 1.0))
            return pn_fail(err, PN_EINVAL, "ledger: every order must be greater than 1, got %g at entry %zu",
                           budget->orders[i], i + 1);
    }
    return PN_OK;
}

static pn_status fix_orders(pn_ledger *self, pn_err *err)
{
    const pn_budget *budget = &self->budget;
    bool any = false;

    pn_filter_start(&self->filter, PN_FILTER_RENYI, budget->epsilon, budget->delta, PN_TAIL_SHARE, self->orders,
                    budget->order_count);
    for (size_t j = 0; j < budget->order_count; j++)
        any = any || self->filter.measure[j].alive;
    return any ? PN_OK
               : pn_fail(err, PN_EINVAL,
                         "ledger: none of the %zu orders leaves anything to spend at epsilon %g, delta %g; give larger "
                         "orders, or leave them out",
                         budget->order_count, budget->epsilon, budget->delta);
}

static pn_status fix_filter(pn_ledger *self, pn_err *err)
{
    const pn_budget *budget = &self->budget;
    const double none = 0.0, pure = INFINITY;

    self->fixed = true;
    if (pn_ledger_is_rho(self))
        pn_filter_start(&self->filter, PN_FILTER_RHO, budget->rho, 0.0, PN_TAIL_SHARE, &none, 1);
    else if (budget->alpha > 0.0)
        pn_filter_start(&self->filter, PN_FILTER_ORDER, budget->epsilon, 0.0, PN_TAIL_SHARE, &budget->alpha, 1);
    else if (budget->gaussian)
        pn_filter_start(&self->filter, PN_FILTER_GAUSSIAN, budget->epsilon, budget->delta, PN_TAIL_SHARE, &none, 1);
    else if (budget->delta == 0.0)
        pn_filter_start(&self->filter, PN_FILTER_RENYI, budget->epsilon, 0.0, PN_TAIL_SHARE, &pure, 1);
    else if (budget->order_count > 0)
        return fix_orders(self, err);
    else
        self->fixed = false; /* the first request chooses */
    return PN_OK;
}

/* ---- making and freeing ---- */

static pn_status allocate(pn_ledger *self, const char *name, pn_err *err)
{
    size_t given = self->budget.order_count,
           measures = given > PN_FILTER_DEFAULT_ORDERS ? given : PN_FILTER_DEFAULT_ORDERS;

    self->filter.measure = pn_alloc(measures, sizeof *self->filter.measure);
    self->filter.cache = &self->cache;
    self->cache.room = CACHED_PARTS;
    self->cache.values = pn_alloc(measures * CACHED_PARTS, sizeof *self->cache.values);
    self->passage = pn_calloc(1, sizeof *self->passage);
    self->orders = given ? pn_alloc(given, sizeof *self->orders) : NULL;
    self->name = name ? pn_strdup(name) : NULL;
    if (!self->filter.measure || !self->cache.values || !self->passage || (given && !self->orders) ||
        (name && !self->name))
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory for %zu orders", measures);
    self->passage->scratch.measure = self->passage->measures;
    self->filter.slop = self->passage->scratch.slop = PN_FILTER_SLOP;
    if (given)
        memcpy(self->orders, self->budget.orders, given * sizeof *self->orders);
    self->budget.orders = self->orders;
    return PN_OK;
}

pn_status pn_ledger_make(pn_ledger **out, const pn_budget *budget, const char *name, pn_err *err)
{
    pn_status status = check_budget(budget, err);
    pn_ledger *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_calloc(1, sizeof *self);
    if (!self || !pn_ledger_make_lock(&self->lock)) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory");
    }
    self->root = self;
    self->references = 1;
    self->process = (long)pn_process();
    self->budget = *budget;
    status = allocate(self, name, err);
    if (status == PN_OK)
        status = fix_filter(self, err);
    if (status == PN_OK)
        *out = self;
    else
        pn_ledger_unmake(self);
    return status;
}

pn_status pn_ledger_new(pn_ledger **out, const pn_budget *budget, pn_err *err)
{
    return pn_ledger_make(out, budget, NULL, err);
}

void pn_ledger_unmake(pn_ledger *ledger)
{
    if (!ledger)
        return;
    for (size_t i = 0; i < ledger->count; i++) {
        pn_free(ledger->entries[i].label);
        pn_event_free(ledger->entries[i].event);
    }
    pn_free(ledger->entries);
    pn_event_free(ledger->cache.event);
    pn_free(ledger->cache.values);
    pn_free(ledger->filter.measure);
    pn_free(ledger->passage);
    pn_free(ledger->orders);
    pn_free(ledger->name);
    pn_free(ledger->children);
    pn_free(ledger->link);
    (void)pthread_mutex_destroy(&ledger->lock);
    pn_free(ledger);
}

static void free_family(pn_ledger *ledger)
{
    for (size_t i = 0; i < ledger->child_count; i++)
        free_family(ledger->children[i]);
    pn_store_close(ledger->store);
    pn_ledger_unmake(ledger);
}

pn_ledger *pn_ledger_keep(pn_ledger *ledger)
{
    (void)__atomic_add_fetch(&ledger->root->references, 1, __ATOMIC_RELAXED);
    return ledger;
}

void pn_ledger_free(pn_ledger *ledger)
{
    if (ledger && __atomic_sub_fetch(&ledger->root->references, 1, __ATOMIC_ACQ_REL) == 0)
        free_family(ledger->root);
}
