/* event_shared_sampled_test.c -- one noise on a batch and on all records: its curve against an independent program, its
 * bounds, its text, and what it refuses.  Depends on: check.h, fail_alloc.h, privacy/.
 *
 * The figures of the curve come from a numpy program: R_wor by 64-point Gauss-Legendre panels in logarithms, the split
 * of the noise by golden section around the best of 41 points. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/text/event_text.h"
#include "privacy/event/sampled_curve.h"
#include "random/noise.h"

static pn_event *shared(size_t batch, size_t n, double sigma, double sampled, double whole, size_t draws)
{
    pn_event *event = NULL;

    CHECK(pn_event_sampled_and_whole(&event, batch, n, sigma, sampled, whole, draws, PN_REPLACE_ONE, NULL) == PN_OK);
    return event;
}

static double rdp(const pn_event *event, double alpha)
{
    return event->ops->rdp(event, alpha);
}

static void test_curve_is_that_of_an_independent_program(void)
{
    static const struct {
        size_t batch, n;
        double sigma, alpha, value;
    } known[] = {
        { 1, 10000, 3.288, 4.5, 2.48790734749169e-07 },
        { 20, 10000, 0.4509, 16.0, 1.9657513742692652e-05 },
        { 100, 10000, 0.3916, 10.0, 1.2558976444401132e-05 },
        { 100, 10000, 0.3916, 64.0, 8.039833905975422e-05 },
        { 500, 10000, 0.3807, 10.0, 1.2582881331861785e-05 },
        { 5, 50, 2.0, 3.3, 0.00765157451110051 },
        { 40, 50, 0.5, 7.0, 0.20987049704340668 },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double b = (double)known[i].batch, n = (double)known[i].n;
        pn_event *event = shared(known[i].batch, known[i].n, known[i].sigma, 4.0 / b, 2.0 / n, 0);

        CHECK_CLOSE(rdp(event, known[i].alpha) / known[i].value, 1.0, 1e-5);
        pn_event_free(event);
    }
}

/* Each part alone costs less; without sampling both together cost more; and any split of the noise is a bound. */
static void test_curve_lies_between_its_bounds(void)
{
    static const double sigmas[] = { 0.02, 0.11, 0.4, 3.0, 50.0 }, splits[] = { 1e-6, 1e-3, 0.02, 0.2, 0.6, 0.95 };
    static const size_t batches[] = { 1, 7, 100, 999, 1000 };

    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            double b = (double)batches[i], sampled = 4.0 / b, whole = 2.0 / 1000.0, sigma = sigmas[j], before = 0.0;
            pn_event *event = shared(batches[i], 1000, sigma, sampled, whole, 0);

            for (double alpha = 1.003; alpha < 5000.0; alpha *= 1.37) {
                double value = rdp(event, alpha), q = b / 1000.0, z = sigma / sampled;

                CHECK(value <= event->ops->zcdp(event) * alpha * (1.0 + 1e-15) && value >= before * (1.0 - 1e-4));
                CHECK(value >= alpha * whole * whole / (2.0 * sigma * sigma));
                CHECK(q == 1.0 || value >= pn_curve_fixed_size(q, z, alpha));
                for (size_t k = 0; k < 6 && q < 1.0; k++)
                    CHECK(value <= 1.001 * (pn_curve_fixed_size(q, z * sqrt(1.0 - splits[k]), alpha) +
                                            alpha * whole * whole / (2.0 * splits[k] * sigma * sigma)));
                before = value;
            }
            CHECK(isinf(rdp(event, INFINITY)));
            pn_event_free(event);
        }
    }
}

/* rho = (S+W)^2/(2 sigma^2), to which the ratio of curve and order tends;
 * a batch of everything is a Gaussian release of S + W. */
static void test_zcdp_and_the_whole_batch(void)
{
    pn_event *event = shared(3, 1000, 2.0, 0.75, 0.25, 0), *all = shared(1000, 1000, 2.0, 0.75, 0.25, 0);

    CHECK_CLOSE(event->ops->zcdp(event), 0.125, 1e-16);
    CHECK_CLOSE(rdp(all, 3.0), 0.375, 1e-15);
    CHECK(rdp(event, 1e6) > 0.999 * 0.125e6);
    CHECK(rdp(event, 2.0) < 0.1 * 0.25);
    pn_event_free(event);
    pn_event_free(all);
}

static void test_every_draw_is_paid_for_once(void)
{
    pn_event *event = shared(3, 1000, 2.0, 3.0, 1.0, 12);
    pn_slack slack = pn_event_slack(event, 5), one = pn_gaussian_slack(12.0, 2.0);

    CHECK(slack.epsilon == 120.0 * PN_GAUSSIAN_ETA && slack.tail == 60.0 * PN_GAUSSIAN_TAIL);
    CHECK(slack.window >= 5.0 * one.window && slack.window <= 5.0 * one.window * (1.0 + 1e-12));
    pn_event_free(event);
}

static void test_text(void)
{
    static const char text[] = "fixed_sampled_and_whole(batch=20,n=10000,sigma=0.445,sampled_sensitivity=0.2,whole_"
                               "sensitivity=0.0002,draws=7)";
    const char *cursor = text;
    pn_event *event = NULL;
    pn_text again = { 0 };
    char described[200];

    CHECK(pn_event_read(&event, &cursor, PN_REPLACE_ONE, NULL) == PN_OK && *cursor == '\0');
    CHECK(pn_event_write(&again, event, PN_REPLACE_ONE, NULL) == PN_OK && strcmp(again.data, text) == 0);
    pn_event_describe(event, described, sizeof described);
    CHECK(strcmp(described, "fixed_sampled_and_whole(batch=20, n=10000, sigma=0.445, sampled_sensitivity=0.2, "
                            "whole_sensitivity=0.0002, draws=7)") == 0);
    pn_text_clear(&again);
    pn_event_free(event);
}

static void test_refusals(void)
{
    pn_event *event = NULL;
    pn_accountant *accountant = NULL;
    pn_arg none[8];
    pn_err err;

    CHECK(pn_event_sampled_and_whole(&event, 11, 10, 1.0, 1.0, 1.0, 0, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "batch must be at most n = 10, got 11") && !event);
    CHECK(pn_event_sampled_and_whole(&event, 1, 10, 1.0, 1.0, 1.0, 0, PN_ADD_REMOVE, &err) == PN_EPRIVACY);
    CHECK(strstr(err.message, "\"replace_one\" neighbours only, got \"add_remove\""));
    CHECK(pn_event_sampled_and_whole(&event, 1, (size_t)1 << 54, 1.0, 1.0, 1.0, 0, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_event_sampled_and_whole(&event, 1, 10, 0.0, 1.0, 1.0, 0, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_event_sampled_and_whole(&event, 1, 10, 1.0, NAN, 1.0, 0, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_event_sampled_and_whole(&event, 1, 10, 1.0, 1.0, -1.0, 0, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_event_sampled_and_whole(&event, 1, 10, 1e-200, 1.0, 1.0, 0, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(!event);

    memset(none, 0, sizeof none);
    event = shared(1, 10, 1.0, 1.0, 1.0, 0);
    CHECK(pn_accountant_from_args(&accountant, "pld", none, NULL) == PN_OK);
    CHECK(pn_accountant_add(accountant, event, 1, &err) == PN_EUNSUPPORTED && strstr(err.message, "accountant.rdp"));
    pn_accountant_free(accountant);
    pn_event_free(event);
}

/* A law that the event describes: one data set's queries are 0, its neighbour's are W, and S in a batch with the
 * record.  Brute force (numpy: losses on a lattice of 2e-5 with their mean kept, 19210-fold convolution by FFT): no
 * certified epsilon may be below. */
static void test_never_below_brute_force(void)
{
    static const struct {
        size_t batch;
        double sigma, epsilon;
    } known[] = {
        { 1, 3.28217, 0.12232 },
        { 20, 0.444999, 0.79934 },
        { 100, 0.389813, 0.89616 },
        { 500, 0.379269, 0.92111 },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        pn_event *event = shared(known[i].batch, 10000, known[i].sigma, 4.0 / (double)known[i].batch, 2e-4, 0);
        double certified = pn_event_epsilon(event, 19210, 1e-6, NULL);

        CHECK(certified >= known[i].epsilon && certified <= 1.0);
        pn_event_free(event);
    }
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_event *event = NULL;
    pn_status status = pn_event_sampled_and_whole(&event, 2, 9, 1.0, 1.0, 0.5, 3, PN_REPLACE_ONE, err);

    (void)self;
    pn_event_free(event);
    return status;
}

int main(void)
{
    test_curve_is_that_of_an_independent_program();
    test_curve_lies_between_its_bounds();
    test_zcdp_and_the_whole_batch();
    test_every_draw_is_paid_for_once();
    test_text();
    test_refusals();
    test_never_below_brute_force();
    fail_alloc_sweep("one noise on a batch and on all records", scenario, NULL);
    return check_summary();
}
