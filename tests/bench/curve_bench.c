/* curve_bench.c -- what it takes to price 10000 sampled steps: milliseconds of one epsilon, all orders searched.  The
 * aim is below one for what training uses (z from 0.5, rates from 0.1 %).  And of one exact Gaussian, beside a search
 * that takes the full form of its delta at every step: at most half of that.  Depends on: privacy/.
 * Run with `make bench`. */
#include <stdio.h>

#include "bench/bench.h"
#include "numeric/root.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/gaussian.h"

typedef struct problem {
    pn_event *event;
    double result;
} problem;

static void price(void *self)
{
    problem *p = self;

    p->result = pn_event_epsilon(p->event, 10000, 1e-5, NULL);
}

static void exact_gaussian(void *self)
{
    ((problem *)self)->result = pn_gaussian_epsilon(1.0, 1e-5);
}

static bool within(void *self, double epsilon)
{
    (void)self;
    return pn_gaussian_delta(1.0, epsilon) <= 1e-5;
}

static void plain_search(void *self)
{
    ((problem *)self)->result = pn_bisect(within, NULL, 0.0, 6.0);
}

static double milliseconds(bench_fn run, problem *p)
{
    double best = 1e9;

    for (int i = 0; i < 21; i++) {
        double start = bench_now(), took;

        run(p);
        took = bench_now() - start;
        best = took < best ? took : best;
    }
    return 1e3 * best;
}

static int line(double rate, double z)
{
    static const char *const names[] = { "Poisson", "Poisson, replace", "fixed size" };
    int failed = 0;

    printf("rate %-6g z %-4g", rate, z);
    for (int k = 0; k < 3; k++) {
        pn_neighbours neighbours = k ? PN_REPLACE_ONE : PN_ADD_REMOVE;
        problem p = { NULL, 0.0 };
        pn_event *inner = NULL;
        pn_status status = pn_event_gaussian(&inner, z, 1.0, 0, neighbours, NULL);

        if (status == PN_OK && k < 2)
            status = pn_event_poisson_sampled(&p.event, rate, inner, neighbours, NULL);
        else if (status == PN_OK)
            status = pn_event_fixed_sampled(&p.event, (size_t)(rate * 1e6), 1000000, inner, neighbours, NULL);
        if (status == PN_OK)
            printf("   %s %.3f ms", names[k], milliseconds(price, &p));
        failed |= status != PN_OK;
        pn_event_free(p.event);
        pn_event_free(inner);
    }
    printf("\n");
    return failed;
}

int main(void)
{
    static const double rates[] = { 0.001, 0.01, 0.1 }, z[] = { 0.5, 1.0, 3.0, 10.0 };
    problem p = { NULL, 0.0 };
    double exact, plain;
    int failed = 0;

    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++)
            failed |= line(rates[i], z[j]);
    }
    exact = milliseconds(exact_gaussian, &p);
    plain = milliseconds(plain_search, &p);
    printf("exact Gaussian epsilon %.3f ms, by the full form alone %.3f ms\n", exact, plain);
    return failed || exact > plain / 2.0;
}
