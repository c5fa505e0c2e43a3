/* event_declared_test.c -- declared curves and loss distributions by the public interface of C, and short of memory.
 * What they cost is tested in event_declared_spec.lua and event_loss_spec.lua.
 * Depends on: check.h, fail_alloc.h, penumbra/event.h, penumbra/accountant.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "penumbra/accountant.h"
#include "penumbra/event.h"

static const double orders[] = { 2.0, 4.0 }, divergences[] = { 0.1, 0.3 };

typedef struct asked {
    size_t times;
    double last;
    bool fails;
} asked;

static pn_status half_the_order(void *self, double order, double *value, pn_err *err)
{
    asked *a = self;

    a->times++;
    a->last = order;
    *value = order / 2.0;
    return a->fails ? pn_fail(err, PN_ECALLBACK, "no divergence today") : PN_OK;
}

static pn_status made(pn_event **out, const char *name, pn_options *options, pn_err *err)
{
    pn_status status = pn_event_new(out, name, options, err);

    pn_options_free(options);
    return status;
}

static pn_options *fresh(void)
{
    pn_options *options = NULL;

    CHECK(pn_options_new(&options, NULL) == PN_OK);
    return options;
}

static void test_by_lists(void)
{
    pn_options *options = fresh();
    pn_event *event = NULL;

    pn_options_vector(options, "orders", orders, 2);
    pn_options_vector(options, "divergences", divergences, 2);
    pn_options_set(options, "neighbours", "zero_out");
    CHECK(made(&event, "curve", options, NULL) == PN_OK);
    CHECK(pn_event_neighbours(event) == PN_ZERO_OUT);
    CHECK(pn_event_rdp(event, 4.0) == 0.3 && isinf(pn_event_rdp(event, 5.0)) && isinf(pn_event_zcdp(event)));
    pn_event_free(event);
}

static void test_by_function(void)
{
    asked a = { 0 };
    pn_renyi_curve curve = { half_the_order, &a };
    pn_options *options = fresh();
    pn_event *event = NULL;
    pn_err err;

    pn_options_object(options, "divergence", "function", &curve);
    CHECK(made(&event, "curve", options, &err) == PN_OK);
    CHECK(a.times == 305 && a.last == 32769.0);
    CHECK(pn_event_rdp(event, 2.0) == 1.0 && a.times == 305);
    CHECK(pn_event_rdp(event, 2.01) >= 1.005 && pn_event_rdp(event, 2.01) < 1.006);
    pn_event_free(event);
    event = NULL;
    a.fails = true;
    options = fresh();
    pn_options_object(options, "divergence", "function", &curve);
    CHECK(made(&event, "curve", options, &err) == PN_ECALLBACK && strcmp(err.message, "no divergence today") == 0);
    CHECK(event == NULL && a.times == 306);
}

static void test_no_function(void)
{
    pn_options *options = fresh();
    pn_event *event = NULL;
    pn_err err;

    pn_options_object(options, "divergence", "function", NULL);
    CHECK(made(&event, "curve", options, &err) == PN_EINVAL && event == NULL);
}

static pn_status scenario(void *self, pn_err *err)
{
    static const double p[] = { 0.5, 0.25, 0.25 }, q[] = { 0.25, 0.25, 0.5 };
    bool laws = *(bool *)self;
    pn_options *options = NULL;
    pn_event *event = NULL;
    pn_accountant *accountant = NULL;
    double epsilon = 0.0;
    pn_status status = pn_options_new(&options, err);

    if (status != PN_OK)
        return status;
    pn_options_vector(options, laws ? "p" : "orders", laws ? p : orders, laws ? 3 : 2);
    pn_options_vector(options, laws ? "q" : "divergences", laws ? q : divergences, laws ? 3 : 2);
    status = made(&event, laws ? "loss_distribution" : "curve", options, err);
    if (status == PN_OK)
        status = pn_accountant_new(&accountant, laws ? "pld" : "rdp", NULL, err);
    if (status == PN_OK)
        status = pn_accountant_add(accountant, event, 3, err);
    if (status == PN_OK)
        status = pn_accountant_epsilon(accountant, 1e-5, &epsilon, err);
    CHECK(status != PN_OK || (epsilon > 0.1 && epsilon < 20.0));
    pn_accountant_free(accountant);
    pn_event_free(event);
    return status;
}

int main(void)
{
    bool laws = false;

    test_by_lists();
    test_by_function();
    test_no_function();
    fail_alloc_sweep("curve", scenario, &laws);
    laws = true;
    fail_alloc_sweep("loss_distribution", scenario, &laws);
    return check_summary();
}
