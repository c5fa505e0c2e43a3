/* lledger_print.c -- a ledger as text: its budget, how much of it is gone as a bar, the largest charges, its slices.
 * Depends on: lledger.h, lprint.h.  Used by: lledger.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/privacy/lledger.h"

#define BAR_COLUMNS   40
#define SLICE_COLUMNS 20
#define LARGEST       3
#define PRICED        1000 /* charges whose prices are compared: more take too long for a text */
#define SLICES        12
#define LABEL_BYTES   40

static double size_of(const pn_budget *budget)
{
    return isnan(budget->rho) ? budget->epsilon : budget->rho;
}

static double share_of(const pn_ledger *self)
{
    double share = pn_ledger_spent(self) / size_of(pn_ledger_budget(self));

    return share >= 0.0 ? fmin(share, 1.0) : 0.0;
}

/* A label may hold anything; here it is part of a line. */
static void clean_label(char out[LABEL_BYTES], const char *label)
{
    (void)snprintf(out, LABEL_BYTES, "%s", label);
    if (strlen(label) >= LABEL_BYTES)
        memcpy(out + LABEL_BYTES - 4, "...", 3);
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    }
}

/* ---- the largest charges ---- */

typedef struct priced {
    size_t entry;
    double price;
} priced;

/* The largest first; returns how many there are. */
static size_t find_largest(const pn_ledger *self, priced largest[LARGEST])
{
    size_t entries = pn_ledger_entries(self), found = 0;

    for (size_t i = 0; i < entries; i++) {
        pn_charge charge = pn_ledger_entry(self, i);
        priced next = { i, pn_ledger_price(self, charge.event, charge.count) };

        for (size_t k = 0; k < LARGEST; k++) {
            if (k == found) {
                largest[found++] = next;
                break;
            }
            if (next.price > largest[k].price) {
                priced moved = largest[k];

                largest[k] = next;
                next = moved;
            }
        }
    }
    return found;
}

static void add_largest(luaL_Buffer *text, const pn_ledger *self)
{
    priced largest[LARGEST];
    size_t found = pn_ledger_entries(self) <= PRICED ? find_largest(self, largest) : 0;

    for (size_t k = 0; k < found; k++) {
        pn_charge charge = pn_ledger_entry(self, largest[k].entry);
        char label[LABEL_BYTES];

        clean_label(label, charge.label);
        pnl_add_format(text, "\n  %-8s %.4g  %s", k ? "" : "largest", largest[k].price,
                       label[0] ? label : "(no label)");
        if (charge.count > 1)
            pnl_add_format(text, ", %zu times", charge.count);
    }
}

/* ---- slices ---- */

/* "  slices   ####....  0.25 of 0.5  \"name\"", and what is below it further in.
 * *left: lines that may still be added. */
static void add_slices(luaL_Buffer *text, const pn_ledger *self, int depth, size_t *left)
{
    const pn_ledger *child;

    for (size_t i = 0; (child = pn_ledger_child(self, i)) != NULL; i++) {
        char bar[PNL_PICTURE_BYTES], name[LABEL_BYTES];

        if (*left == 0) {
            luaL_addstring(text, "\n           ...");
            return;
        }
        --*left;
        pnl_share_bar(bar, share_of(child), SLICE_COLUMNS);
        clean_label(name, pn_ledger_name(child) ? pn_ledger_name(child) : "");
        pnl_add_format(text, "\n  %-8s %s  %*s%s%s%.4g of %.4g", i == 0 && depth == 0 ? "slices" : "", bar, 2 * depth,
                       "", name, name[0] ? ": " : "", pn_ledger_spent(child), size_of(pn_ledger_budget(child)));
        add_slices(text, child, depth + 1, left);
    }
}

/* Spent and remaining are more than the budget where charges compose to less than their sum: says so. */
static void add_surplus(luaL_Buffer *text, const pn_ledger *self)
{
    double spent = pn_ledger_spent(self), remaining = pn_ledger_remaining(self);

    if (spent > 0.0 && isfinite(remaining) && spent + remaining > 1.001 * size_of(pn_ledger_budget(self)))
        pnl_add_format(text, "\n           a further run may cost %.4g: together they cost less than the sum",
                       remaining);
}

/* ---- all of it ---- */

int pnl_ledger_tostring(lua_State *L)
{
    const pn_ledger *self = pnl_check(L, 1, &pnl_ledger_class);
    const pn_budget *budget = pn_ledger_budget(self);
    const char *name = pn_ledger_name(self), *ended = pn_ledger_ended(self);
    char bar[PNL_PICTURE_BYTES];
    size_t left = SLICES;
    luaL_Buffer text;

    lua_settop(L, 1);
    pnl_push_budget(L, budget);
    luaL_buffinit(L, &text);
    pnl_add_format(&text, "ledger(%s%s%.80s%s)", lua_tostring(L, 2), name ? ", \"" : "", name ? name : "",
                   name ? "\"" : "");
    pnl_add_format(&text, "\n  spent %.6g, remaining %.6g, entries %zu%s%s%s", pn_ledger_spent(self),
                   pn_ledger_remaining(self), pn_ledger_entries(self), ended ? "; " : "", ended ? ended : "",
                   pnl_budget_warning(budget));
    if (pn_ledger_entries(self) > 0 || pn_ledger_child(self, 0)) {
        pnl_share_bar(bar, share_of(self), BAR_COLUMNS);
        pnl_add_format(&text, "\n  budget   %s  %.3g%% of %.4g spent", bar, 100.0 * share_of(self), size_of(budget));
        add_surplus(&text, self);
        add_largest(&text, self);
        add_slices(&text, self, 0, &left);
    }
    if (pn_ledger_path(self)) {
        luaL_addstring(&text, "\n  file ");
        luaL_addstring(&text, pn_ledger_path(self));
        if (pn_ledger_recovered(self))
            luaL_addstring(&text, ", of which an unfinished last record was cut off");
    }
    luaL_pushresult(&text);
    return 1;
}
