/* bound_random_test.c -- random expressions: no value that is sampled in long double lies outside what is certified.
 * A sample may only claim to lie outside by more than the bound on its own rounding.  Depends on: check.h,
 * sample.h, expr/bound.h. */
#include <string.h>

#include "check.h"
#include "expr/bound.h"
#include "runtime/expr/sample.h"

#if defined(__SANITIZE_ADDRESS__)
#define EXPRESSIONS 300
#else
#define EXPRESSIONS 10000
#endif
#define SEEDS  4
#define POINTS 60

static const char *const names[] = { "x", "y" };
static size_t bounded, compared;

static double ends(void)
{
    return sample_bits() % 3 ? rint(sample_uniform(-4.0, 4.0)) : sample_uniform(-4.0, 4.0);
}

static void random_domain(pn_domain *domain, double *list)
{
    double a = ends(), b = ends();

    domain->range = (pn_interval){ fmin(a, b), fmax(a, b) };
    domain->values = list;
    domain->count = sample_bits() % 5 == 0 ? 1 + sample_bits() % 3 : 0;
    for (size_t i = 0; i < domain->count; i++)
        list[i] = ends();
    if (domain->count == 0 && sample_bits() % 6 == 0)
        domain->range.high = INFINITY;
    if (domain->count == 0 && sample_bits() % 6 == 0)
        domain->range.low = -INFINITY;
}

static double random_point(const pn_domain *d, int k)
{
    double low = fmax(d->range.low, -1e3), high = fmin(d->range.high, 1e3), x;

    if (d->count > 0)
        return d->values[sample_bits() % d->count];
    if (k % 4 == 0)
        return sample_bits() % 2 ? low : high;
    if (k % 4 == 1) {
        x = rint(sample_uniform(low, high));
        return x < low || x > high ? low : x;
    }
    if (k % 4 == 2 && (isinf(d->range.low) || isinf(d->range.high))) {
        x = exp2(sample_uniform(-30.0, 400.0)) * (sample_bits() % 2 ? 1.0 : -1.0);
        return x < d->range.low || x > d->range.high ? high : x;
    }
    return sample_uniform(low, high);
}

static void describe(const pn_graph *graph, pn_node root, const pn_domain *d, uint64_t seed)
{
    char text[1000];

    pn_graph_text(graph, root, text, sizeof text);
    (void)fprintf(stderr, "    seed %llu: %s\n", (unsigned long long)seed, text);
    for (int v = 0; v < 2; v++)
        (void)fprintf(stderr, "    %s in [%.17g, %.17g] or %zu values from %.17g\n", names[v], d[v].range.low,
                      d[v].range.high, d[v].count, d[v].count ? d[v].values[0] : 0.0);
}

static bool lies_in(sample s, double low, double high)
{
    return !(s.value + s.error < low) && !(s.value - s.error > high);
}

/* The extremes of one expression against samples of it. */
static void check_extremes(const pn_graph *graph, pn_node root, const pn_domain *domains, const pn_extremes *r,
                           uint64_t seed)
{
    sample *work = malloc((root + 1u) * sizeof *work);
    bool ordered = r->min.low <= r->min.high && r->max.low <= r->max.high && r->min.low <= r->max.high;

    if (!CHECK(ordered))
        describe(graph, root, domains, seed);
    for (int k = 0; k < POINTS && work; k++) {
        double x[2] = { random_point(&domains[0], k), random_point(&domains[1], k / 4) };
        sample s = sample_at(graph, root, x, work);

        if (isnan(s.value) || isinf(s.value))
            continue;
        compared++;
        if (!CHECK(lies_in(s, r->min.low, r->max.high))) {
            describe(graph, root, domains, seed);
            (void)fprintf(stderr, "    at %.17g, %.17g: %.20Lg +- %.2Lg outside [%.17g, %.17g]\n", x[0], x[1], s.value,
                          s.error, r->min.low, r->max.high);
            break;
        }
    }
    free(work);
}

static void one_expression(uint64_t seed)
{
    pn_graph *graph = NULL;
    pn_domain domains[2];
    double lists[2][3];
    pn_extremes r;
    pn_node root;
    pn_status status;
    pn_err err;

    sample_state = seed;
    if (!CHECK(pn_graph_new(&graph, names, 1 + sample_bits() % 2, NULL) == PN_OK))
        return;
    random_domain(&domains[0], lists[0]);
    random_domain(&domains[1], lists[1]);
    root = sample_expression(graph, 2 + sample_bits() % 12);
    status = pn_bound_range(&r, graph, root, domains, NULL, &err);
    if (status == PN_OK) {
        bounded++;
        check_extremes(graph, root, domains, &r, seed);
    } else if (!CHECK((status == PN_EUNSUPPORTED && strstr(err.message, "unbounded")) ||
                      (status == PN_EDOMAIN && strstr(err.message, "undefined")))) {
        describe(graph, root, domains, seed);
    }
    pn_graph_free(graph);
}

int main(void)
{
    if (LDBL_MANT_DIG < 64) {
        (void)puts("skipped: long double is no wider than double here");
        CHECK(true);
        return check_summary();
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (uint64_t i = 0; i < EXPRESSIONS / SEEDS; i++)
            one_expression(seed * 1000003u + i);
    (void)printf("%zu of %d expressions bounded, %zu values compared\n", bounded, EXPRESSIONS, compared);
    CHECK(bounded > EXPRESSIONS / 3 && compared > bounded);
    return check_summary();
}
