/* event_either_test.c -- one of two mechanisms: the larger of their curves, and what is refused.
 * Depends on: check.h, privacy/. */
#include <string.h>

#include "check.h"
#include "privacy/event/event_leaf.h"
#include "privacy/text/event_text.h"

static pn_event *gaussian(double sigma, size_t draws)
{
    pn_event *event = NULL;

    CHECK(pn_event_gaussian(&event, sigma, 1.0, draws, PN_REPLACE_ONE, NULL) == PN_OK);
    return event;
}

static pn_event *exponential(double epsilon)
{
    pn_event *event = NULL;

    CHECK(pn_event_exponential(&event, epsilon, PN_REPLACE_ONE, NULL) == PN_OK);
    return event;
}

/* Takes both over. */
static pn_event *either(pn_event *first, pn_event *second)
{
    pn_arg args[3] = { { .given = true, .object = first }, { .given = true, .object = second } };
    pn_event *event = NULL;

    CHECK(pn_event_from_args(&event, "either", args, PN_REPLACE_ONE, NULL) == PN_OK);
    pn_event_free(first);
    pn_event_free(second);
    return event;
}

/* Gaussian noise of sigma = 2 has alpha/8.  The exponential mechanism of epsilon = 1 has less at orders near 1 than
 * alpha/8, and at most 1 at all: the curves cross. */
static void has_the_larger_curve(void)
{
    static const double orders[] = { 1.01, 1.5, 2, 4, 9, 40, 1000 };
    pn_event *one = gaussian(2.0, 0), *other = exponential(1.0);
    pn_event *both = either(pn_event_keep(one), pn_event_keep(other));
    pn_event *turned = either(pn_event_keep(other), pn_event_keep(one));
    bool first = false, second = false;

    other = either(other, exponential(1.5));
    both = either(both, exponential(1.5));
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        double a = one->ops->rdp(one, orders[i]), b = other->ops->rdp(other, orders[i]);

        first = first || a > b;
        second = second || b > a;
        CHECK(both->ops->rdp(both, orders[i]) == fmax(a, b));
        CHECK(turned->ops->rdp(turned, orders[i]) <= fmax(a, b) && turned->ops->rdp(turned, orders[i]) >= a);
    }
    CHECK(first && second);
    CHECK(isinf(both->ops->rdp(both, INFINITY)) && other->ops->rdp(other, INFINITY) == 1.5);
    CHECK(both->ops->zcdp(both) == fmax(one->ops->zcdp(one), other->ops->zcdp(other)));
    pn_event_free(turned);
    pn_event_free(both);
    pn_event_free(other);
    pn_event_free(one);
}

static void pays_for_noise_as_drawn(void)
{
    pn_event *few = gaussian(4.0, 10), *many = gaussian(4.0, 1000);
    pn_slack most = pn_event_slack(many, 1), least = pn_event_slack(few, 1), slack;
    pn_event *both = either(few, many);

    slack = pn_event_slack(both, 1);
    CHECK(slack.epsilon == most.epsilon && slack.tail == most.tail && slack.window == most.window);
    CHECK(most.epsilon > least.epsilon && most.tail > least.tail);
    pn_event_free(both);
}

static void reads_back(void)
{
    pn_event *both = either(either(gaussian(3.0, 5), exponential(0.25)), gaussian(1.5, 0)), *read = NULL;
    pn_text text = { 0 };
    const char *cursor;

    CHECK(pn_event_write(&text, both, PN_REPLACE_ONE, NULL) == PN_OK);
    cursor = text.data;
    CHECK(cursor && pn_event_read(&read, &cursor, PN_REPLACE_ONE, NULL) == PN_OK && *cursor == '\0');
    CHECK(pn_event_same(both, read));
    pn_text_clear(&text);
    pn_event_free(read);
    pn_event_free(both);
}

static void refuses(pn_event *second, const char *why)
{
    pn_event *first = gaussian(1.0, 0), *event = NULL;
    pn_arg args[3] = { { .given = true, .object = first }, { .given = true, .object = second } };
    pn_err err;

    CHECK(pn_event_from_args(&event, "either", args, PN_REPLACE_ONE, &err) != PN_OK && !event);
    if (!CHECK(strstr(err.message, why)))
        (void)fprintf(stderr, "%s\n", err.message);
    pn_event_free(second);
    pn_event_free(first);
}

static void refuses_what_has_no_curve(void)
{
    pn_event *other = NULL;

    CHECK(pn_event_approximate(&other, 1.0, 1e-6, PN_REPLACE_ONE, NULL) == PN_OK);
    refuses(other, "second has a delta of its own");
    CHECK(pn_event_exponential(&other, 1.0, PN_ADD_REMOVE, NULL) == PN_OK);
    refuses(other, "make all for the same relation");
}

int main(void)
{
    has_the_larger_curve();
    pays_for_noise_as_drawn();
    reads_back();
    refuses_what_has_no_curve();
    return check_summary();
}
