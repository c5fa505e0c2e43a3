/* receipt_memory_test.c -- receipts when memory runs out: whatever call fails, jansson's among them, there is an error
 * and no receipt, rather than one that says something else.
 * Depends on: receipt/receipt.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "fail_alloc.h"
#include "receipt/receipt.h"

static const char *reference; /* the receipt that comes with memory enough */

static pn_status compare(pn_status status, char *receipt)
{
    CHECK((status == PN_OK) == (receipt != NULL));
    if (receipt && reference)
        CHECK(strcmp(receipt, reference) == 0);
    pn_free(receipt);
    return status;
}

/* ---- a ledger ---- */

static pn_status ledger_receipt(void *ledger, pn_err *err)
{
    char *receipt = NULL;
    pn_status status = pn_ledger_receipt(&receipt, ledger, "Lua 5.4", err);

    return compare(status, receipt);
}

/* With labels in UTF-8 and in no encoding. */
static pn_ledger *make_ledger(void)
{
    const pn_budget whole = { .epsilon = NAN, .rho = 1.0 }, part = { .epsilon = NAN, .rho = 0.5 };
    pn_ledger *ledger = NULL, *slice = NULL;
    pn_event *event = NULL;
    pn_err err;

    CHECK(pn_event_exponential(&event, 0.01, PN_REPLACE_ONE, &err) == PN_OK);
    CHECK(pn_ledger_new(&ledger, &whole, &err) == PN_OK);
    CHECK(pn_ledger_slice(&slice, ledger, "Ma\xc3\x9f", &part, &err) == PN_OK);
    CHECK(pn_ledger_spend(ledger, event, 1, "Gr\xc3\xb6\xc3\x9f", &err) == PN_OK);
    CHECK(pn_ledger_spend(slice, event, 2, "a\xff", &err) == PN_OK);
    pn_ledger_free(slice);
    pn_event_free(event);
    return ledger;
}

static void of_a_ledger(void)
{
    pn_ledger *ledger = make_ledger();
    char *whole = NULL;

    CHECK(pn_ledger_receipt(&whole, ledger, "Lua 5.4", NULL) == PN_OK);
    CHECK(whole && strstr(whole, "Gr\xc3\xb6\xc3\x9f") && strstr(whole, "a\\\\xff"));
    reference = whole;
    fail_alloc_sweep_all("receipt of a ledger", ledger_receipt, ledger);
    reference = NULL;
    pn_free(whole);
    pn_ledger_free(ledger);
}

int main(void)
{
    of_a_ledger();
    return check_summary();
}
