/* ledger_look.c -- what a ledger says of itself: its budget, what was charged, what remains, under the lock of its
 * family or from the process that has the budget.
 * Depends on: ledger_impl.h, accountant.h, conversion.h.  Used by: mechanisms, solvers, bindings. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"
#include "privacy/ledger/ledger_impl.h"

const pn_budget *pn_ledger_budget(const pn_ledger *ledger)
{
    return &ledger->budget;
}

const char *pn_ledger_name(const pn_ledger *ledger)
{
    return ledger->name;
}

static const char *path_locked(const pn_ledger *ledger)
{
    return ledger->root->store ? pn_store_path(ledger->root->store) : NULL;
}

const char *pn_ledger_path(const pn_ledger *ledger)
{
    const char *result;

    pn_ledger_lock(ledger);
    result = path_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static bool recovered_locked(const pn_ledger *ledger)
{
    return ledger->root->store && pn_store_cut(ledger->root->store);
}

bool pn_ledger_recovered(const pn_ledger *ledger)
{
    bool result;

    pn_ledger_lock(ledger);
    result = recovered_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static const char *theorem_locked(const pn_ledger *ledger)
{
    const pn_budget *budget = &ledger->budget;

    if (pn_ledger_is_rho(ledger))
        return "the fully adaptive filter of zCDP (Feldman, Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023)";
    if (budget->alpha > 0.0)
        return "the fully adaptive Renyi filter of one order (Feldman, Zrnic 2021; Lecuyer 2021)";
    if (ledger->filter.kind == PN_FILTER_GAUSSIAN)
        return "the fully adaptive Gaussian filter (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023)";
    if (budget->delta == 0.0)
        return "the fully adaptive filter of pure privacy (Rogers, Roth, Ullman, Vadhan 2016)";
    return "the fully adaptive Renyi filter, its orders sharing delta (Feldman, Zrnic 2021; Lecuyer 2021)";
}

const char *pn_ledger_theorem(const pn_ledger *ledger)
{
    const char *result;

    if (ledger->link)
        return pn_link_text(ledger, PN_WISH_THEOREM);
    pn_ledger_lock(ledger);
    result = theorem_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static const char *ended_locked(const pn_ledger *ledger)
{
    if (ledger->retired)
        return "the budget was retired";
    if (ledger->closed)
        return "the ledger is closed";
    if (ledger->parts > 0)
        return "the budget was split";
    for (const pn_ledger *node = ledger; node->parent; node = node->parent) {
        if (node->parent->retired)
            return "the budget above it was retired";
        if (node->parent->closed)
            return "the ledger above it is closed";
        if (node->parent->parts > 0 && !node->part)
            return "the budget above it was split";
    }
    return ledger->root->store ? pn_store_broken(ledger->root->store) : NULL;
}

const char *pn_ledger_ended(const pn_ledger *ledger)
{
    const char *result;

    if (ledger->link)
        return pn_link_text(ledger, PN_WISH_ENDED);
    pn_ledger_lock(ledger);
    result = ended_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static bool gaussian_locked(const pn_ledger *ledger)
{
    return ledger->filter.kind == PN_FILTER_GAUSSIAN;
}

bool pn_ledger_gaussian(const pn_ledger *ledger)
{
    bool result;
    pn_ledger_answer answer;

    if (ledger->link)
        return pn_link_look(ledger, PN_WISH_GAUSSIAN, &answer) && answer.count > 0;
    pn_ledger_lock(ledger);
    result = gaussian_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static size_t order_count_locked(const pn_ledger *ledger)
{
    return pn_ledger_is_rho(ledger) || ledger->filter.kind == PN_FILTER_GAUSSIAN ? 0 : ledger->filter.count;
}

size_t pn_ledger_order_count(const pn_ledger *ledger)
{
    size_t result;

    pn_ledger_lock(ledger);
    result = order_count_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static double order_locked(const pn_ledger *ledger, size_t index, bool *alive)
{
    if (alive)
        *alive = ledger->filter.measure[index].alive;
    return ledger->filter.measure[index].order;
}

double pn_ledger_order(const pn_ledger *ledger, size_t index, bool *alive)
{
    double result;

    pn_ledger_lock(ledger);
    result = order_locked(ledger, index, alive);
    pn_ledger_unlock(ledger);
    return result;
}

static pn_slack slack_locked(const pn_ledger *ledger)
{
    return pn_filter_slack(&ledger->filter);
}

pn_slack pn_ledger_slack(const pn_ledger *ledger)
{
    pn_slack result;
    pn_ledger_answer answer;

    if (ledger->link)
        return pn_link_look(ledger, PN_WISH_SLACK, &answer) ? answer.slack : (pn_slack){ INFINITY, 1.0, 1.0 };
    pn_ledger_lock(ledger);
    result = slack_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static double price_locked(const pn_ledger *ledger, const pn_event *event, size_t count)
{
    pn_filter filter;
    pn_measure measure = { 0.0, { 0.0, 0.0 }, true };

    if (ledger->filter.kind == PN_FILTER_RENYI)
        return pn_event_epsilon(event, count, ledger->budget.delta, NULL);
    filter = ledger->filter;
    filter.measure = &measure;
    filter.cache = NULL;
    pn_filter_start(&filter, filter.kind, filter.limit, filter.delta, filter.share, &ledger->filter.measure[0].order,
                    1);
    pn_filter_charge(&filter, (pn_event *)(size_t)event, count);
    return pn_filter_spent(&filter);
}

double pn_ledger_price(const pn_ledger *ledger, const pn_event *event, size_t count)
{
    double result;

    if (ledger->link)
        return pn_link_price(ledger, event, count);
    pn_ledger_lock(ledger);
    result = price_locked(ledger, event, count);
    pn_ledger_unlock(ledger);
    return result;
}

double pn_ledger_rdp(const void *self, double alpha)
{
    const pn_ledger *ledger = self;
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < ledger->count; i++)
        pn_event_add_rdp(ledger->entries[i].event, ledger->entries[i].count, alpha, &sum);
    return sum.high;
}

static double spent_locked(const pn_ledger *ledger)
{
    pn_curve curve = { pn_ledger_rdp, ledger };
    pn_sum rho = { 0.0, 0.0 }, mu_squared = { 0.0, 0.0 };
    pn_slack slack = pn_filter_slack(&ledger->filter);
    double exact;

    if (ledger->count == 0)
        return 0.0;
    if (ledger->filter.kind != PN_FILTER_RENYI)
        return pn_filter_spent(&ledger->filter);
    for (size_t i = 0; i < ledger->count; i++) {
        pn_event_add_zcdp(ledger->entries[i].event, ledger->entries[i].count, &rho);
        pn_event_add_mu_squared(ledger->entries[i].event, ledger->entries[i].count, &mu_squared);
    }
    exact = pn_gaussian_price(mu_squared.high, ledger->budget.delta, slack);
    return fmin(exact, pn_curve_release_epsilon(&curve, rho.high, ledger->budget.delta, slack, NULL));
}

double pn_ledger_spent(const pn_ledger *ledger)
{
    double result;
    pn_ledger_answer answer;

    if (ledger->link)
        return pn_link_look(ledger, PN_WISH_SPENT, &answer) ? answer.number : INFINITY;
    pn_ledger_lock(ledger);
    result = spent_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static double own_remaining(const pn_ledger *ledger)
{
    return !ledger->fixed && ledger->count == 0 ? ledger->budget.epsilon : pn_filter_remaining(&ledger->filter);
}

/* Whether what remains in two budgets can be compared. */
static bool same_unit(const pn_budget *a, const pn_budget *b)
{
    return isnan(a->rho) == isnan(b->rho) && a->delta == b->delta && a->alpha == b->alpha && a->gaussian == b->gaussian;
}

static double remaining_locked(const pn_ledger *ledger)
{
    double left;

    if (pn_ledger_ended(ledger))
        return 0.0;
    left = own_remaining(ledger);
    for (const pn_ledger *node = ledger; node->parent; node = node->parent) {
        double above = node->part ? INFINITY : own_remaining(node->parent);

        if (above == 0.0 || same_unit(&ledger->budget, &node->parent->budget))
            left = fmin(left, above);
    }
    return left;
}

double pn_ledger_remaining(const pn_ledger *ledger)
{
    double result;
    pn_ledger_answer answer;

    if (ledger->link)
        return pn_link_look(ledger, PN_WISH_REMAINING, &answer) ? answer.number : 0.0;
    pn_ledger_lock(ledger);
    result = remaining_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static size_t entries_locked(const pn_ledger *ledger)
{
    return ledger->count;
}

size_t pn_ledger_entries(const pn_ledger *ledger)
{
    size_t result;
    pn_ledger_answer answer;

    if (ledger->link)
        return pn_link_look(ledger, PN_WISH_ENTRIES, &answer) ? answer.count : 0;
    pn_ledger_lock(ledger);
    result = entries_locked(ledger);
    pn_ledger_unlock(ledger);
    return result;
}

static pn_charge entry_locked(const pn_ledger *ledger, size_t index)
{
    const pn_entry *e = &ledger->entries[index];

    return (pn_charge){ e->label, e->event, e->count };
}

pn_charge pn_ledger_entry(const pn_ledger *ledger, size_t index)
{
    pn_charge result;

    pn_ledger_lock(ledger);
    result = entry_locked(ledger, index);
    pn_ledger_unlock(ledger);
    return result;
}
