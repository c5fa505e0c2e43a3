/* ledger_charge.c -- admission, refusals and charges, in a ledger and in all the budgets above it.
 * Depends on: ledger_impl.h, accountant.h.  Used by: mechanisms, solvers, bindings. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/process.h"
#include "core/size.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"
#include "privacy/text/ledger_text.h"
#include "privacy/ledger/ledger_impl.h"
#include "privacy/ledger/ledger_watch.h"

/* ---- admission ---- */

/* `order` alone, or mu^2 where it is 0. */
static bool choose_one(const pn_budget *budget, const pn_event *event, size_t count, double order, double share,
                       pn_filter *filter)
{
    pn_filter_start(filter, order > 0.0 ? PN_FILTER_RENYI : PN_FILTER_GAUSSIAN, budget->epsilon, budget->delta, share,
                    &order, 1);
    return pn_filter_admits(filter, event, count);
}

static bool choose_default(const pn_budget *budget, const pn_event *event, size_t count, double share,
                           pn_filter *filter)
{
    double orders[PN_FILTER_DEFAULT_ORDERS];

    pn_filter_default_orders(budget->epsilon, budget->delta, orders);
    pn_filter_start(filter, PN_FILTER_RENYI, budget->epsilon, budget->delta, share, orders, PN_FILTER_DEFAULT_ORDERS);
    return pn_filter_admits(filter, event, count);
}

/* Orders from the first request alone: the default ones with delta/J each when they cover it, else the one of its price
 * with all of delta, or mu^2 when the price is that of Gaussian noise.  With a larger share for the tails where they
 * need it, as prices do (conversion.h).  False when nothing covers it; `filter` then holds nothing of use. */
static bool choose(const pn_ledger *ledger, const pn_event *event, size_t count, pn_filter *filter)
{
    const pn_budget *budget = &ledger->budget;
    double order;

    if (choose_default(budget, event, count, pn_tail_shares[0], filter))
        return true;
    if (!pn_within(pn_event_epsilon(event, count, budget->delta, &order), budget->epsilon, filter->slop))
        return false;
    if (choose_one(budget, event, count, order, pn_tail_shares[0], filter))
        return true;
    for (size_t i = 1; i < PN_TAIL_SHARES - 1; i++) {
        if (choose_default(budget, event, count, pn_tail_shares[i], filter) ||
            choose_one(budget, event, count, order, pn_tail_shares[i], filter))
            return true;
    }
    return isinf(order) && choose_one(budget, event, count, order, 1.0, filter);
}

/* The filter under which the request is admitted: the ledger's own, or (while nothing is charged) a new choice in the
 * passage.  NULL when it is refused. */
static const pn_filter *admitting(const pn_ledger *ledger, const pn_event *event, size_t count)
{
    if (ledger->filter.count > 0 && pn_filter_admits(&ledger->filter, event, count))
        return &ledger->filter;
    if (!ledger->fixed && ledger->count == 0 && choose(ledger, event, count, &ledger->passage->scratch))
        return &ledger->passage->scratch;
    return NULL;
}

/* ---- refusals ---- */

static void amount(char *text, size_t size, const char *unit, double requested, double left)
{
    (void)snprintf(text, size, "Requested %s %.6g, Remaining %.6g, Difference %.6g", unit, requested, left,
                   requested - left);
}

/* In the user's unit where that shows the shortfall, with the Renyi order that comes closest. */
static pn_status refuse_by_filter(const pn_ledger *ledger, const pn_event *event, size_t count, double price,
                                  pn_err *err)
{
    double asked = price, left = 0.0, remaining = pn_ledger_remaining(ledger);
    double order = pn_filter_closest(&ledger->filter, event, count, &asked, &left);
    const char *unit = pn_ledger_is_rho(ledger) ? "rho" : "epsilon";
    char numbers[160];

    if (ledger->filter.kind == PN_FILTER_GAUSSIAN) {
        amount(numbers, sizeof numbers, unit, price, remaining);
        return pn_fail(err, PN_EBUDGET, "ledger: %s at delta %g (mu^2: %.6g asked, %.6g left%s)", numbers,
                       ledger->budget.delta, asked, left,
                       isinf(asked) ? "; the Gaussian filter admits gaussian events only" : "");
    }
    if (ledger->filter.kind == PN_FILTER_ORDER) {
        amount(numbers, sizeof numbers, unit, price, remaining);
        return pn_fail(err, PN_EBUDGET, "ledger: %s (Renyi epsilon of order %.4g)", numbers, order);
    }
    if (!(order > 0.0 && isfinite(order))) {
        amount(numbers, sizeof numbers, unit, asked, left);
        return pn_fail(err, PN_EBUDGET, "ledger: %s", numbers);
    }
    if (price > remaining) {
        amount(numbers, sizeof numbers, unit, price, remaining);
        return pn_fail(err, PN_EBUDGET, "ledger: %s at delta %g (Renyi order %.4g: %.6g asked, %.6g left)", numbers,
                       ledger->budget.delta, order, asked, left);
    }
    amount(numbers, sizeof numbers, unit, asked, left);
    return pn_fail(
        err, PN_EBUDGET,
        "ledger: a price of %.6g at delta %g does not fit what was spent before: %s at Renyi order %.4g, the filter's "
        "order that comes closest",
        price, ledger->budget.delta, numbers, order);
}

/* An (epsilon, delta)-DP mechanism where its delta has no place; PN_OK where that is not what is wrong. */
static pn_status refuse_own_delta(const pn_ledger *at, const pn_event *event, size_t count, pn_err *err)
{
    double own = pn_event_own_delta(event, count), share = at->filter.share;
    const pn_budget *budget = &at->budget;
    pn_slack slack = pn_filter_slack(&at->filter);

    if (own == 0.0 || at->filter.kind == PN_FILTER_GAUSSIAN)
        return PN_OK;
    if (pn_ledger_is_rho(at) || budget->delta == 0.0)
        return pn_fail(err, PN_EBUDGET,
                       "ledger: an event approximate takes delta %.6g, and a budget of %s has none; charge it to a "
                       "budget of epsilon and delta",
                       own,
                       pn_ledger_is_rho(at)  ? "rho"
                       : budget->alpha > 0.0 ? "one Renyi order"
                                             : "pure epsilon");
    if (own > budget->delta * (1.0 + 0x1p-50))
        return pn_fail(err, PN_EBUDGET, "ledger: Requested delta %.6g, the budget's is %.6g (event approximate)", own,
                       budget->delta);
    if (!at->fixed && at->count == 0)
        return PN_OK;
    pn_slack_add(&slack, 1.0, pn_event_slack(event, count));
    if (pn_tails_fit(slack, at->filter.limit, budget->delta, share, 1.0))
        return PN_OK;
    return pn_fail(
        err, PN_EBUDGET,
        "ledger: Requested delta %.6g (event approximate): of the budget's delta %.6g, the part %.6g was set aside for "
        "such events %s, and %.6g of it is taken; charge it first, or to a slice or ledger of its own",
        own, budget->delta, (share > 0.5 ? share : share / 2.0) * budget->delta,
        at->fixed ? "when the ledger was opened with orders" : "at the first charge",
        pn_filter_slack(&at->filter).window);
}

static pn_status refuse_ended(const pn_ledger *ledger, const pn_event *event, size_t count, const char *why,
                              pn_err *err)
{
    char numbers[160];

    amount(numbers, sizeof numbers, pn_ledger_is_rho(ledger) ? "rho" : "epsilon", pn_ledger_price(ledger, event, count),
           0.0);
    return pn_fail(err, PN_EBUDGET, "ledger: %s (%s)", numbers, why);
}

static pn_status refuse(const pn_ledger *ledger, const pn_ledger *at, const pn_event *event, size_t count, pn_err *err)
{
    double requested = pn_ledger_price(at, event, count);
    char context[120], numbers[160];
    pn_status status = refuse_own_delta(at, event, count, err);

    if (status != PN_OK) {
        /* said already */
    } else if (!at->fixed && at->count == 0) { /* by itself it exceeds the whole budget */
        amount(numbers, sizeof numbers, "epsilon", requested, at->budget.epsilon);
        status = pn_fail(err, PN_EBUDGET, "ledger: %s (at delta %g)", numbers, at->budget.delta);
    } else {
        status = refuse_by_filter(at, event, count, requested, err);
    }
    if (!ledger->name)
        return status;
    (void)snprintf(context, sizeof context,
                   at == ledger ? "slice \"%.60s\"" : "slice \"%.60s\" has room, the budget above it has not",
                   ledger->name);
    return pn_fail_in(err, status, context);
}

static pn_status check_request(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    const char *ended = pn_ledger_ended(ledger);

    if (count == 0 || count > PN_SIZE_MAX)
        return pn_fail(err, PN_EINVAL, "ledger: count must be a whole number from 1 to 2^48, got %zu", count);
    if (event->neighbours != ledger->budget.neighbours)
        return pn_fail(
            err, PN_EPRIVACY,
            "ledger: the event is for \"%s\" neighbours, the budget for \"%s\"; make both for the same relation",
            pn_neighbours_names[event->neighbours], pn_neighbours_names[ledger->budget.neighbours]);
    if (ledger->root->process != (long)pn_process())
        return pn_fail(err, PN_EUNSUPPORTED,
                       "ledger: this is the copy of a child process; only process %ld, which opened the ledger, may "
                       "charge it",
                       ledger->root->process);
    return ended ? refuse_ended(ledger, event, count, ended, err) : PN_OK;
}

/* Leaves in each passage, from the ledger to the root, the filter that the charge goes to. */
static pn_status decide(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    pn_status status = check_request(ledger, event, count, err);
    bool asked = true;

    for (const pn_ledger *node = ledger; status == PN_OK && node; asked = !node->part, node = node->parent) {
        node->passage->found = asked ? admitting(node, event, count) : &node->filter;
        if (!node->passage->found)
            status = refuse(ledger, node, event, count, err);
    }
    return status;
}

/* ---- the three questions ---- */

/* Make the choice in the passage the ledger's own. */
static void adopt(pn_ledger *ledger)
{
    pn_measure *measure = ledger->filter.measure;
    const pn_filter *found = ledger->passage->found;

    if (found == &ledger->filter)
        return;
    memcpy(measure, found->measure, found->count * sizeof *measure);
    ledger->filter = *found;
    ledger->filter.measure = measure;
    ledger->filter.cache = &ledger->cache;
    pn_event_free(ledger->cache.event);
    ledger->cache.event = NULL;
}

static pn_status covers_locked(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    return decide(ledger, event, count, err);
}

pn_status pn_ledger_covers(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    pn_status result;

    if (ledger->link)
        return pn_link_charge(ledger, PN_WISH_COVERS, event, count, NULL, err);
    pn_ledger_lock(ledger);
    result = covers_locked(ledger, event, count, err);
    pn_ledger_unlock(ledger);
    return result;
}

static pn_status reserve_locked(pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    pn_status status = decide(ledger, event, count, err);

    for (pn_ledger *node = ledger; status == PN_OK && node; node = node->parent)
        adopt(node);
    return status;
}

pn_status pn_ledger_reserve(pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    pn_status result;

    if (ledger->link)
        return pn_link_charge(ledger, PN_WISH_RESERVE, event, count, NULL, err);
    pn_ledger_lock(ledger);
    result = reserve_locked(ledger, event, count, err);
    pn_ledger_unlock(ledger);
    return result;
}

/* ---- charging ---- */

/* "label" in the ledger, "name: label" in the one above it, and so on; allocated. */
static char *label_above(const char *name, const char *label)
{
    size_t size = strlen(name) + strlen(label) + 3;
    char *text = pn_alloc(size, 1);

    if (text)
        (void)snprintf(text, size, *label ? "%s: %s" : "%s", name, label);
    return text;
}

#define LONG   1000 /* entries, from which on order matters less than memory: */
#define RECENT 8    /* so many back may be joined then, for runs that take turns between their releases */

/* Whether the last entry, or one of the last, is of the same event and label, and where. */
static bool find_recent(const pn_ledger *ledger, const pn_event *event, size_t count, const char *label, size_t *at)
{
    size_t back = ledger->count < LONG ? 1 : RECENT;

    for (size_t i = ledger->count; i > 0 && ledger->count - i < back; i--) {
        const pn_entry *entry = &ledger->entries[i - 1];
        size_t joined;

        *at = i - 1;
        if (pn_size_add(&joined, entry->count, count) && strcmp(entry->label, label) == 0 &&
            pn_event_same(entry->event, event))
            return true;
    }
    return false;
}

/* Room for one more entry; takes over `label` where the entry is a new one, and frees it otherwise. */
static pn_status prepare_entry(pn_ledger *ledger, const pn_event *event, size_t count, char *label, pn_err *err)
{
    ledger->passage->label = NULL;
    if (find_recent(ledger, event, count, label, &ledger->passage->joins)) {
        pn_free(label);
        return PN_OK;
    }
    if (ledger->count == ledger->room) {
        size_t room = ledger->room ? 2 * ledger->room : 8;
        pn_entry *entries = pn_resize(ledger->entries, room, sizeof *entries);

        if (!entries) {
            pn_free(label);
            return pn_fail(err, PN_ENOMEM, "ledger: out of memory for %zu entries", room);
        }
        ledger->entries = entries;
        ledger->room = room;
    }
    ledger->passage->label = label;
    return PN_OK;
}

static void drop_labels(pn_ledger *ledger)
{
    for (; ledger; ledger = ledger->parent) {
        pn_free(ledger->passage->label);
        ledger->passage->label = NULL;
    }
}

/* Memory for all entries, before anything is charged. */
static pn_status prepare(pn_ledger *ledger, const pn_event *event, size_t count, const char *label, pn_err *err)
{
    char *text = pn_strdup(label);
    pn_status status = PN_OK;

    for (pn_ledger *node = ledger; node; node = node->parent)
        node->passage->label = NULL;
    for (pn_ledger *node = ledger; status == PN_OK && node; node = node->parent) {
        char *next = text && node->parent ? label_above(node->name, text) : NULL;

        if (!text || (node->parent && !next)) {
            pn_free(text);
            text = NULL;
            status = pn_fail(err, PN_ENOMEM, "ledger: out of memory for a label");
        } else {
            status = prepare_entry(node, event, count, text, err);
            text = next;
        }
    }
    if (status != PN_OK) {
        pn_free(text);
        drop_labels(ledger);
    }
    return status;
}

/* Cannot fail: the charge is on the disk already. */
static void commit(pn_ledger *ledger, pn_event *event, size_t count)
{
    for (pn_ledger *node = ledger; node; node = node->parent) {
        adopt(node);
        pn_filter_charge(&node->filter, event, count);
        if (node->passage->label)
            node->entries[node->count++] = (pn_entry){ node->passage->label, pn_event_keep(event), count };
        else
            node->entries[node->passage->joins].count += count;
        node->passage->label = NULL;
    }
}

static pn_status spend_locked(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err)
{
    pn_status status = decide(ledger, event, count, err);

    label = label ? label : "";
    if (status == PN_OK)
        status = prepare(ledger, event, count, label, err);
    if (status != PN_OK)
        return status;
    status = pn_ledger_tell(ledger, event, count, err);
    if (status != PN_OK) {
        drop_labels(ledger);
        return status;
    }
    status = pn_record_spend(ledger, event, count, label, err);
    if (status == PN_OK || (ledger->root->store && pn_store_broken(ledger->root->store)))
        commit(ledger, event, count); /* a record that may be on the disk counts as made */
    else
        drop_labels(ledger);
    return status;
}

pn_status pn_ledger_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err)
{
    pn_status result;

    if (ledger->link)
        return pn_link_charge(ledger, PN_WISH_SPEND, event, count, label, err);
    pn_ledger_lock(ledger);
    result = spend_locked(ledger, event, count, label, err);
    pn_ledger_unlock(ledger);
    return result;
}

/* ---- charges from a file ---- */

/* "@0.5" where the share of the tails is not the usual one. */
static double read_share(const char **cursor)
{
    double share = PN_TAIL_SHARE;
    char *end;

    if (**cursor == '@') {
        share = strtod(*cursor + 1, &end);
        *cursor = end;
    }
    return share;
}

static pn_status read_gaussian(pn_ledger *node, const char **cursor, pn_err *err)
{
    double share = read_share(cursor);
    const double none = 0.0;

    if (!(share > 0.0 && share < 1.0) || !strchr("; ", **cursor))
        return pn_text_malformed(err, "orders", *cursor);
    node->passage->found = &node->passage->scratch;
    pn_filter_start(&node->passage->scratch, PN_FILTER_GAUSSIAN, node->budget.epsilon, node->budget.delta, share, &none,
                    1);
    return PN_OK;
}

/* "gaussian", or "8,16,24" of at most PN_FILTER_DEFAULT_ORDERS orders up to `;` or the end, with "@0.5" where the share
 * of the tails is another one; "-" leaves the filter as it is. */
static pn_status read_orders(pn_ledger *node, const char **cursor, pn_err *err)
{
    double orders[PN_FILTER_DEFAULT_ORDERS], share;
    size_t count = 0;
    char *end;

    node->passage->found = &node->filter;
    if (**cursor == '-') {
        (*cursor)++;
        return PN_OK;
    }
    if (strncmp(*cursor, "gaussian", 8) == 0 && !node->fixed) {
        *cursor += 8;
        return read_gaussian(node, cursor, err);
    }
    while (count < PN_FILTER_DEFAULT_ORDERS) {
        orders[count] = strtod(*cursor, &end);
        if (end == *cursor || !(orders[count] > 1.0))
            break;
        count++;
        *cursor = end + (*end == ',');
        if (*end != ',')
            break;
    }
    share = read_share(cursor);
    if (count == 0 || node->fixed || !(share > 0.0 && share <= 1.0) || !strchr("; ", **cursor))
        return pn_text_malformed(err, "orders", *cursor);
    pn_filter_start(&node->passage->scratch, PN_FILTER_RENYI, node->budget.epsilon, node->budget.delta, share, orders,
                    count);
    node->passage->found = &node->passage->scratch;
    return PN_OK;
}

pn_status pn_ledger_replay_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, const char *lists,
                                 pn_err *err)
{
    pn_status status = PN_OK;

    for (pn_ledger *node = ledger; status == PN_OK && node; node = node->parent) {
        status = read_orders(node, &lists, err);
        if (status == PN_OK && *lists == ';')
            lists++;
    }
    if (status == PN_OK)
        status = prepare(ledger, event, count, label, err);
    if (status == PN_OK)
        commit(ledger, event, count);
    return status;
}
