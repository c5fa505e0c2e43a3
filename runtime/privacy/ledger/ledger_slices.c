/* ledger_slices.c -- ledgers below ledgers: slices that pass their charges through, parts of a split, and closing.
 * Depends on: ledger_impl.h.  Used by: bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/event/event_leaf.h"
#include "privacy/ledger/ledger_impl.h"

/* ---- the family ---- */

pn_status pn_ledger_make_room(pn_ledger *parent, size_t more, pn_err *err)
{
    size_t room = parent->child_count + more;
    pn_ledger **children;

    if (room <= parent->child_room)
        return PN_OK;
    room = room > 2 * parent->child_room ? room : 2 * parent->child_room;
    children = pn_resize(parent->children, room, sizeof(pn_ledger *));
    PN_TRY(pn_made(children, err, "ledger: out of memory for %zu slices", room));
    parent->children = children;
    parent->child_room = room;
    return PN_OK;
}

void pn_ledger_adopt(pn_ledger *parent, pn_ledger *child, bool part)
{
    parent->children[parent->child_count++] = child;
    child->number = parent->child_count;
    child->parent = parent;
    child->root = parent->root;
    child->part = part;
}

const pn_ledger *pn_ledger_child(const pn_ledger *ledger, size_t index)
{
    return index < ledger->child_count ? ledger->children[index] : NULL;
}

bool pn_ledger_is_within(const pn_ledger *ledger, const pn_ledger *above)
{
    while (ledger && ledger != above)
        ledger = ledger->parent;
    return ledger != NULL;
}

/* ---- comparing budgets ---- */

static void describe(const pn_budget *b, char *text, size_t size)
{
    char first[32], second[32];
    size_t used;

    pn_shortest(isnan(b->rho) ? b->epsilon : b->rho, first, sizeof first);
    pn_shortest(b->alpha > 0.0 ? b->alpha : b->delta, second, sizeof second);
    if (!isnan(b->rho))
        used = (size_t)snprintf(text, size, "rho=%s", first);
    else
        used = (size_t)snprintf(text, size, "epsilon=%s, %s=%s", first, b->alpha > 0.0 ? "alpha" : "delta", second);
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, ", %s%s%s", pn_neighbours_names[b->neighbours],
                                 b->teaching ? ", teaching" : "", b->gaussian ? ", Gaussian filter" : "");
    if (used < size && b->order_count > 0)
        (void)snprintf(text + used, size - used, ", %zu orders given", b->order_count);
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

pn_status pn_budget_compare(const char *what, const pn_budget *there, const pn_budget *asked, pn_err *err)
{
    char first[180], second[180];
    bool same = same_number(there->epsilon, asked->epsilon) && there->delta == asked->delta &&
                same_number(there->rho, asked->rho) && there->alpha == asked->alpha &&
                there->neighbours == asked->neighbours && there->teaching == asked->teaching &&
                there->gaussian == asked->gaussian && there->order_count == asked->order_count;

    for (size_t i = 0; same && i < there->order_count; i++)
        same = there->orders[i] == asked->orders[i];
    if (same)
        return PN_OK;
    describe(there, first, sizeof first);
    describe(asked, second, sizeof second);
    return pn_fail(err, PN_EINVAL, "ledger: %.160s has the budget %s, not %s; leave the budget out to go on with it",
                   what, first, second);
}

/* ---- slices ---- */

static pn_ledger *find_slice(const pn_ledger *parent, const char *name)
{
    for (size_t i = 0; i < parent->child_count; i++) {
        if (!parent->children[i]->part && strcmp(parent->children[i]->name, name) == 0)
            return parent->children[i];
    }
    return NULL;
}

static pn_status check_depth(const pn_ledger *parent, pn_err *err)
{
    size_t depth = 1;

    for (const pn_ledger *node = parent; node->parent; node = node->parent)
        depth++;
    return depth <= PN_LEDGER_DEPTH
               ? PN_OK
               : pn_fail(err, PN_EUNSUPPORTED, "ledger: slices of slices go down to %d levels", PN_LEDGER_DEPTH);
}

static pn_status check_slice(const pn_ledger *parent, const pn_budget *budget, pn_err *err)
{
    if (pn_ledger_ended(parent))
        return pn_fail(err, PN_EBUDGET, "ledger: the parent takes no more charges (%s)", pn_ledger_ended(parent));
    if (budget->neighbours != parent->budget.neighbours)
        return pn_fail(err, PN_EPRIVACY,
                       "ledger: the slice is for \"%s\" neighbours, its parent for \"%s\"; leave neighbours out",
                       pn_neighbours_names[budget->neighbours], pn_neighbours_names[parent->budget.neighbours]);
    if (budget->teaching != parent->budget.teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "ledger: a slice has teaching = %s like its parent, whose budget it spends; leave teaching out",
                       parent->budget.teaching ? "true" : "false");
    return PN_OK;
}

static pn_status slice_locked(pn_ledger **out, pn_ledger *parent, const char *name, const pn_budget *budget,
                              pn_err *err)
{
    pn_ledger *child = name ? find_slice(parent, name) : NULL;
    char number[40];
    pn_status status;

    *out = NULL;
    if (child) {
        status = budget ? pn_budget_compare(name, &child->budget, budget, err) : PN_OK;
        *out = status == PN_OK ? pn_ledger_keep(child) : NULL;
        return status;
    }
    if (!budget)
        return pn_fail(err, PN_EINVAL, "ledger: there is no slice \"%.60s\" yet; give its budget (epsilon = ...)",
                       name ? name : "");
    for (size_t i = parent->child_count + 1; !name; i++) {
        (void)snprintf(number, sizeof number, "slice %zu", i);
        name = find_slice(parent, number) ? NULL : number;
    }
    status = check_slice(parent, budget, err);
    if (status == PN_OK)
        status = check_depth(parent, err);
    if (status == PN_OK)
        status = pn_ledger_make_room(parent, 1, err);
    if (status == PN_OK)
        status = pn_ledger_make(&child, budget, name, err);
    if (status == PN_OK)
        status = pn_record_slice(parent, child, err);
    if (status == PN_OK) {
        pn_ledger_adopt(parent, child, false);
        *out = pn_ledger_keep(child);
    } else {
        pn_ledger_unmake(child);
    }
    return status;
}

pn_status pn_ledger_slice(pn_ledger **out, pn_ledger *parent, const char *name, const pn_budget *budget, pn_err *err)
{
    pn_status result;

    pn_ledger_lock(parent);
    result = slice_locked(out, parent, name, budget, err);
    pn_ledger_unlock(parent);
    return result;
}

/* ---- parts ---- */

/* A k-th of the budget, to the nearest double.  Why this is exact enough.  The parts stand for whole/k, and k of them
 * add up to the whole: k fl(whole/k) differs from it by less than a unit in its last place, which pn_within takes for
 * nothing, just as it takes ten charges of 0.1 for 1 although the double 0.1 is more than a tenth.  Rounding down
 * instead would refuse fl(whole/k), the way that a user writes the part.  Other ways to compute it round differently:
 * whole * (1/k) is off by at most 3 2^-53, relative, and what k - 1 parts leave, whole - (k - 1) fl(whole/k), by a unit
 * in the last place of the WHOLE, k times as much.  So a part takes totals for its limit up to a relative k 2^-51,
 * which is 2^-51 of the whole (and up to 1e-10 at most): k parts together stay below whole (1 + k 2^-50), far below the
 * digits that any statement shows.  delta: k fl(delta/k) <= delta (1 + 2^-53), while the orders of the parts share k
 * fl(delta/k) (1 - PN_TAIL_SHARE). */
static double part_of(double whole, size_t k)
{
    return whole / (double)k;
}

static double part_slop(size_t k)
{
    return fmin(fmax(PN_FILTER_SLOP, (double)k * 0x1p-51), 1e-10);
}

pn_status pn_ledger_make_parts(pn_ledger *ledger, size_t k, pn_err *err)
{
    pn_budget budget = ledger->budget;
    size_t first = ledger->child_count;
    pn_status status;

    if (k > PN_LEDGER_PARTS)
        return pn_fail(err, PN_EINVAL, "ledger: k, the parts of a split, must be at most %d, got %zu", PN_LEDGER_PARTS,
                       k);
    status = pn_ledger_make_room(ledger, k, err);
    budget.epsilon = part_of(budget.epsilon, k); /* NaN stays NaN */
    budget.rho = part_of(budget.rho, k);
    budget.delta = part_of(budget.delta, k);
    for (size_t i = 0; i < k && status == PN_OK; i++) {
        char name[60];
        pn_ledger *part;

        (void)snprintf(name, sizeof name, "part %zu of %zu", i + 1, k);
        status = pn_ledger_make(&part, &budget, name, err);
        if (status == PN_OK) {
            part->filter.slop = part->passage->scratch.slop = part_slop(k);
            pn_ledger_adopt(ledger, part, true);
        }
    }
    while (status != PN_OK && ledger->child_count > first)
        pn_ledger_unmake(ledger->children[--ledger->child_count]);
    return status;
}

static void hand_out(pn_ledger *ledger, pn_ledger **out)
{
    for (size_t i = 0; i < ledger->child_count; i++) {
        if (ledger->children[i]->part)
            *out++ = pn_ledger_keep(ledger->children[i]);
    }
}

static pn_status split_locked(pn_ledger *ledger, size_t k, pn_ledger **out, pn_err *err)
{
    const char *ended = pn_ledger_ended(ledger);
    pn_status status;

    if (k == 0)
        return pn_fail(err, PN_EINVAL, "ledger: split needs a whole number from 1, got 0");
    if (ledger->parts == k && !ledger->closed && !ledger->retired) {
        hand_out(ledger, out);
        return PN_OK;
    }
    if (ledger->parts > 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "ledger: only an untouched budget can be split; this one was split into %zu parts already",
                       ledger->parts);
    if (ended || ledger->count > 0)
        return pn_fail(err, PN_EUNSUPPORTED, "ledger: only an untouched budget can be split; this one %s",
                       ended ? "is used up" : "has been charged already");
    status = check_depth(ledger, err);
    if (status == PN_OK)
        status = pn_ledger_make_parts(ledger, k, err);
    if (status != PN_OK)
        return status;
    status = pn_record_split(ledger, k, err);
    if (status != PN_OK) {
        while (ledger->child_count > 0 && ledger->children[ledger->child_count - 1]->part)
            pn_ledger_unmake(ledger->children[--ledger->child_count]);
        return status;
    }
    ledger->parts = k;
    hand_out(ledger, out);
    return PN_OK;
}

pn_status pn_ledger_split(pn_ledger *ledger, size_t k, pn_ledger **out, pn_err *err)
{
    pn_status result;

    pn_ledger_lock(ledger);
    result = split_locked(ledger, k, out, err);
    pn_ledger_unlock(ledger);
    return result;
}

/* ---- the end ---- */

static pn_status retire_locked(pn_ledger *ledger, pn_err *err)
{
    pn_status status = ledger->retired ? PN_OK : pn_record_retire(ledger, err);

    ledger->retired = true; /* also when the file could not say so: here at least nothing more is charged */
    return status;
}

pn_status pn_ledger_retire(pn_ledger *ledger, pn_err *err)
{
    pn_status result;

    pn_ledger_lock(ledger);
    result = retire_locked(ledger, err);
    pn_ledger_unlock(ledger);
    return result;
}

void pn_ledger_close(pn_ledger *ledger)
{
    pn_ledger_lock(ledger);
    ledger->closed = true;
    if (!ledger->parent) {
        pn_store_close(ledger->store);
        ledger->store = NULL;
    }
    pn_ledger_unlock(ledger);
}
