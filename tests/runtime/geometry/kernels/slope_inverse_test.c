/* slope_inverse_test.c -- inverse slopes of formulas: as a bisection of the slope in long doubles finds them, for
 * arguments of every size, and the same for one number as for many; steps of formulas over simplices and l1 balls by
 * their optimality; both end when they are asked to.
 * Depends on: geometry/potentials/custom_potential.h, core/stop.h, check.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/stop.h"
#include "geometry/potentials/custom_potential.h"
#include "geometry/sets/sets.h"

#define N 5000 /* enough for nodes */

typedef struct formula {
    const char *name;
    pn_node (*make)(pn_graph *g, pn_node t);
    long double (*slope)(long double t);
    double low, high;         /* the domain */
    double smallest, largest; /* sizes of the arguments, on a logarithmic scale; largest < smallest: from low_u on */
    double low_u, high_u;     /* else on a straight one */
} formula;

static pn_node add(pn_graph *g, pn_node a, pn_node b)
{
    return pn_x_binary(g, PN_X_ADD, a, b);
}

static pn_node times(pn_graph *g, pn_node a, pn_node b)
{
    return pn_x_binary(g, PN_X_MUL, a, b);
}

static pn_node half_square(pn_graph *g, pn_node t)
{
    return times(g, pn_x_const(g, 0.5), times(g, t, t));
}

static pn_node make_quartic(pn_graph *g, pn_node t)
{
    return add(g, half_square(g, t), times(g, pn_x_const(g, 0.25), times(g, times(g, t, t), times(g, t, t))));
}

static long double quartic_slope(long double t)
{
    return t + t * t * t;
}

static pn_node make_entropy(pn_graph *g, pn_node t)
{
    return times(g, t, pn_x_unary(g, PN_X_LOG, t));
}

static long double entropy_slope(long double t)
{
    return logl(t) + 1.0L;
}

static pn_node make_exponential(pn_graph *g, pn_node t)
{
    return add(g, pn_x_unary(g, PN_X_EXP, t), half_square(g, t));
}

static long double exponential_slope(long double t)
{
    return expl(t) + t;
}

/* t^2/2 + 50 max(t - 1/2, 0)^2: psi'' jumps from 1 to 101 */
static pn_node make_kink(pn_graph *g, pn_node t)
{
    pn_node over = pn_x_binary(g, PN_X_MAX, pn_x_binary(g, PN_X_SUB, t, pn_x_const(g, 0.5)), pn_x_const(g, 0.0));

    return add(g, half_square(g, t), times(g, pn_x_const(g, 50.0), times(g, over, over)));
}

static long double kink_slope(long double t)
{
    return t + (t > 0.5L ? 100.0L * (t - 0.5L) : 0.0L);
}

static const formula formulas[] = {
    { "t^2/2 + t^4/4", make_quartic, quartic_slope, -INFINITY, INFINITY, 1e-100, 1e100, 0.0, 0.0 },
    { "the same, near 1", make_quartic, quartic_slope, -INFINITY, INFINITY, 1.0, 0.0, -3.0, 3.0 },
    { "the same, [-1, 2]", make_quartic, quartic_slope, -1.0, 2.0, 1e-3, 1e3, 0.0, 0.0 },
    { "t ln t", make_entropy, entropy_slope, 1e-200, 10.0, 1.0, 0.0, -450.0, 5.0 },
    { "e^t + t^2/2", make_exponential, exponential_slope, -50.0, 50.0, 1e-6, 1e20, 0.0, 0.0 },
    { "curvature that jumps", make_kink, kink_slope, -10.0, 10.0, 1.0, 0.0, 0.4, 0.6 },
};

static pn_potential *make(const formula *of)
{
    static const char *const names[1] = { "t" };
    pn_potential *p = NULL;
    pn_graph *graph = NULL;
    pn_err err = { .message = "" };

    if (!CHECK(pn_graph_new(&graph, names, 1, NULL) == PN_OK) ||
        !CHECK(pn_potential_separable(&p, graph, of->make(graph, pn_x_var(graph, 0)),
                                      (pn_interval){ of->low, of->high }, NULL, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s: %s\n", of->name, err.message);
        exit(check_summary());
    }
    pn_graph_free(graph);
    return p;
}

/* By halving, or by square roots of products where the ends are far apart. */
static double bisected(const formula *of, long double u)
{
    long double low = of->low < -1e150 ? -1e150L : of->low, high = of->high > 1e150 ? 1e150L : of->high;

    if (of->slope(low) >= u)
        return (double)low;
    if (of->slope(high) <= u)
        return (double)high;
    if (low < 0.0L && high > 0.0L && of->slope(0.0L) < u)
        low = 0.0L;
    else if (low < 0.0L && high > 0.0L)
        high = 0.0L;
    for (int k = 0; k < 20000; k++) {
        long double middle = 0.5L * low + 0.5L * high;

        if (!(middle > low && middle < high))
            break;
        if (of->slope(middle) < u)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}

static void fill(const formula *of, double *u)
{
    for (size_t j = 0; j < N; j++) {
        double place = (double)(j / 2) / (double)(N / 2 - 1);

        if (of->largest > of->smallest)
            u[j] = (j % 2 ? -1.0 : 1.0) * of->smallest * pow(of->largest / of->smallest, place);
        else
            u[j] = of->low_u + (of->high_u - of->low_u) * (double)j / (double)(N - 1);
    }
    u[N / 2] = of->largest > of->smallest ? 0.0 : u[N / 2];
}

static void test_against_bisection(const formula *of)
{
    static double u[N], x[N];
    pn_potential *p = make(of);
    double worst = 0.0, apart = 0.0;

    fill(of, u);
    CHECK(pn_potential_inverse_gradient(p, u, N, x, NULL) == PN_OK);
    for (size_t j = 0; j < N; j += 7) {
        double want = bisected(of, (long double)u[j]), one;

        worst = fmax(worst, fabs(x[j] - want) / fmax(fabs(want), DBL_MIN));
        CHECK(pn_potential_inverse_gradient(p, &u[j], 1, &one, NULL) == PN_OK);
        apart = fmax(apart, fabs(one - x[j]) / fmax(fabs(want), DBL_MIN));
    }
    if (!CHECK(worst <= 1e-12 && apart <= 1e-12))
        (void)fprintf(stderr, "    %s: off by %.3g, alone by %.3g\n", of->name, worst, apart);
    pn_potential_free(p);
}

/* <c - psi'(x), v - x> <= 0 for every point v of the set, and so for its support point. */
static void test_steps(const char *name, const formula *of, double scale)
{
    static double c[N], x[N], away[N], same[N];
    pn_arg args[8] = { { .given = true, .count = N }, { .given = true, .real = 3.0 } };
    pn_potential *p = make(of);
    pn_set *set = NULL;
    double value = 0.0, here = 0.0, size = 0.0;
    bool inside = false;

    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    for (size_t j = 0; j < N; j++)
        same[j] = c[j] = scale * sin((double)(j + 1) * 1.7);
    CHECK(pn_potential_step(p, set, c, x, NULL) == PN_OK);
    CHECK(pn_set_contains(set, x, N, 1e-12, &inside, NULL) == PN_OK && inside);
    CHECK(pn_potential_gradient(p, x, N, away, NULL) == PN_OK);
    for (size_t j = 0; j < N; j++) {
        away[j] = c[j] - away[j];
        here += away[j] * x[j];
        size += fabs(away[j] * x[j]);
    }
    CHECK(pn_set_support(set, away, N, &value, NULL, NULL) == PN_OK);
    if (!CHECK(value - here <= 1e-10 * (1.0 + size)))
        (void)fprintf(stderr, "    %s over %s: %.3g to gain\n", of->name, name, value - here);
    CHECK(pn_potential_step(p, set, same, same, NULL) == PN_OK && memcmp(same, x, sizeof x) == 0); /* in place */
    pn_set_free(set);
    pn_potential_free(p);
}

static void test_stops(void)
{
    static double u[N], x[N];
    pn_arg args[8] = { { .given = true, .count = N }, { .given = true, .real = 3.0 } };
    pn_potential *p = make(&formulas[0]);
    pn_task *task = NULL;
    pn_set *set = NULL;

    fill(&formulas[0], u);
    for (size_t j = 0; j < N; j++)
        u[j] = fmin(u[j], 10.0);
    CHECK(pn_task_new(&task, 1, NULL) == PN_OK && pn_set_from_args(&set, "simplex", args, NULL) == PN_OK);
    (void)pn_stop_enter(task);
    CHECK(pn_potential_inverse_gradient(p, u, N, x, NULL) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_potential_inverse_gradient(p, u, N, x, NULL) == PN_ECANCELLED);
    CHECK(pn_potential_step(p, set, u, x, NULL) == PN_ECANCELLED);
    (void)pn_stop_enter(NULL);
    pn_set_free(set);
    pn_task_free(task);
    pn_potential_free(p);
}

int main(void)
{
    for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++)
        test_against_bisection(&formulas[k]);
    for (int k = 0; k < 3; k++) {
        double scale = k == 0 ? 1e-4 : k == 1 ? 1.0 : 300.0;

        test_steps("simplex", &formulas[0], scale);
        test_steps("l1_ball", &formulas[0], scale);
        test_steps("simplex", &formulas[3], scale);
        test_steps("l1_ball", &formulas[4], scale);
        test_steps("l1_ball", &formulas[5], scale);
    }
    test_stops();
    return check_summary();
}
