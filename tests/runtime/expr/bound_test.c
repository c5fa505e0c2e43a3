/* bound_test.c -- certified extremes against closed forms; domains, lists, what cannot be bounded and how it is said.
 * Depends on: check.h, fail_alloc.h, formulas.h, expr/bound.h. */
#include <string.h>

#include "core/task.h"
#include "expr/bound.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/expr/formulas.h"

#define TIGHT 1e-6 /* relative, what common losses must be bounded to; the search aims at 1e-9 */

static pn_domain between(double low, double high)
{
    return (pn_domain){ { low, high }, NULL, 0 };
}

static pn_domain listed(const double *values, size_t count)
{
    return (pn_domain){ { 0.0, 0.0 }, values, count };
}

/* Enclosed from both sides, and closely. */
static void check_extremes(const pn_extremes *r, double least, double most, const char *what)
{
    double scale = fmax(fabs(least), fabs(most)), slack = 4e-16 * scale; /* of the closed forms */
    bool holds = r->min.low <= least + slack && r->min.high >= least - slack && r->max.low <= most + slack &&
                 r->max.high >= most - slack;
    bool close = r->min.low >= least - TIGHT * scale && r->max.high <= most + TIGHT * scale && r->converged;

    if (!CHECK(holds) || !CHECK(close))
        (void)fprintf(stderr, "    %s: [%.17g, %.17g] .. [%.17g, %.17g], want %.17g .. %.17g\n", what, r->min.low,
                      r->min.high, r->max.low, r->max.high, least, most);
}

static void expect(const formulas *f, pn_node root, pn_domain z, pn_domain y, double least, double most,
                   const char *what)
{
    const pn_domain domains[2] = { z, y };
    pn_extremes r;
    pn_err err;

    if (CHECK(pn_bound_range(&r, f->g, root, domains, NULL, &err) == PN_OK))
        check_extremes(&r, least, most, what);
    else
        (void)fprintf(stderr, "    %s: %s\n", what, err.message);
}

/* The value and its derivatives in z; ranges[k] = least, most of the k-th. */
static void expect_all(const formulas *f, pn_node root, pn_domain z, pn_domain y, const double ranges[4][2],
                       const char *what)
{
    for (int k = 0; k < 4; k++) {
        expect(f, root, z, y, ranges[k][0], ranges[k][1], what);
        root = pn_graph_derivative(f->g, root, 0);
    }
}

/* ---- losses; r = z - y in [-6, 6] ---- */

static void test_losses_of_residuals(const formulas *f)
{
    const pn_domain z = between(-5.0, 5.0), y = between(-1.0, 1.0);
    double a = sqrt(37.0), e = exp(1.0), s = 3.0 - sqrt(6.0), g = 1.0 - 2.0 / sqrt(5.0), t = 1.0 + g;
    double third = sqrt(s) * (3.0 - s) * exp(-0.5 * s);

    expect_all(f, pseudo_huber_of(f), z, y,
               (const double[4][2]){ { 0.0, a - 1.0 },
                                     { -6.0 / a, 6.0 / a },
                                     { pow(37.0, -1.5), 1.0 },
                                     { -1.5 * pow(1.25, -2.5), 1.5 * pow(1.25, -2.5) } },
               "pseudo-Huber");
    expect_all(f, cauchy_of(f), z, y,
               (const double[4][2]){
                   { 0.0, log(37.0) }, { -1.0, 1.0 }, { -0.25, 2.0 }, { -1.5 - sqrt(2.0), 1.5 + sqrt(2.0) } },
               "Cauchy");
    /* with u = r/c: (1 - u^2)(1 - 5 u^2) least at u^2 = 3/5; 20 u^3 - 12 u greatest at u = 1 */
    expect_all(f, tukey_of(f, 4.0), z, y,
               (const double[4][2]){
                   { 0.0, 16.0 / 6.0 }, { -2.56 / sqrt(5.0), 2.56 / sqrt(5.0) }, { -0.8, 1.0 }, { -2.0, 2.0 } },
               "Tukey");
    expect_all(f, welsch_of(f), z, y,
               (const double[4][2]){ { 0.0, 1.0 - exp(-18.0) },
                                     { -1.0 / sqrt(e), 1.0 / sqrt(e) },
                                     { -2.0 * pow(e, -1.5), 1.0 },
                                     { -third, third } },
               "Welsch");
    third = 24.0 * sqrt(g) * (1.0 - g) / (t * t * t * t);
    expect_all(f, geman_of(f), z, y,
               (const double[4][2]){
                   { 0.0, 36.0 / 37.0 }, { -0.375 * sqrt(3.0), 0.375 * sqrt(3.0) }, { -0.5, 2.0 }, { -third, third } },
               "Geman-McClure");
    expect_all(f, log_cosh_of(f), z, y,
               (const double[4][2]){ { 0.0, log(cosh(6.0)) },
                                     { -tanh(6.0), tanh(6.0) },
                                     { 1.0 / (cosh(6.0) * cosh(6.0)), 1.0 },
                                     { -4.0 / (3.0 * sqrt(3.0)), 4.0 / (3.0 * sqrt(3.0)) } },
               "log-cosh");
    expect_all(f, huber_of(f, 1.5), z, y,
               (const double[4][2]){ { 0.0, 7.875 }, { -1.5, 1.5 }, { 0.0, 1.0 }, { 0.0, 0.0 } }, "Huber");
    expect_all(f, quantile_of(f, 0.25), z, y,
               (const double[4][2]){ { 0.0, 4.5 }, { -0.75, 0.25 }, { 0.0, 0.0 }, { 0.0, 0.0 } }, "quantile");
}

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static void test_losses_of_margins(const formulas *f)
{
    static const double labels[] = { -1.0, 1.0 };
    const pn_domain z = between(-5.0, 5.0), two = listed(labels, 2), all = between(-1.0, 1.0);
    double s = logistic(5.0), cube = 1.0 / (6.0 * sqrt(3.0)), low = log1p(exp(-5.0));

    expect_all(f, logistic_of(f), z, two,
               (const double[4][2]){ { low, 5.0 + low }, { -s, s }, { s * logistic(-5.0), 0.25 }, { -cube, cube } },
               "logistic");
    expect_all(f, logistic_of(f), z, all,
               (const double[4][2]){ { low, 5.0 + low }, { -s, s }, { 0.0, 0.25 }, { -cube, cube } },
               "logistic, labels in an interval");
    expect_all(f, sigmoid_of(f), z, two,
               (const double[4][2]){ { 1.0 - s, s }, { -0.25, 0.25 }, { -cube, cube }, { -0.125, 0.125 } }, "sigmoid");
    expect_all(f, hinge_of(f), z, two, (const double[4][2]){ { 0.0, 6.0 }, { -1.0, 1.0 }, { 0.0, 0.0 }, { 0.0, 0.0 } },
               "hinge");
    expect_all(f, smooth_hinge_of(f), z, two,
               (const double[4][2]){ { 0.0, 5.5 }, { -1.0, 1.0 }, { 0.0, 1.0 }, { 0.0, 0.0 } }, "smooth hinge");
    expect_all(f, poisson_of(f), z, between(0.0, 10.0),
               (const double[4][2]){ { 10.0 - 10.0 * log(10.0), exp(5.0) },
                                     { exp(-5.0) - 10.0, exp(5.0) },
                                     { exp(-5.0), exp(5.0) },
                                     { exp(-5.0), exp(5.0) } },
               "Poisson");
    /* r in [-6, 6], so that both tails of the slope are full */
    expect(f, pn_graph_derivative(f->g, smooth_pinball_of(f, 0.25, 0.125), 0), z, all, 0.25 - logistic(48.0),
           0.25 - logistic(-48.0), "smoothed pinball, slope");
}

/* ---- other expressions ---- */

static void test_polynomials_and_waves(const formulas *f)
{
    const pn_domain y = between(-1.0, 1.0);

    expect(f, SUB(SQUARE(f->z), f->z), between(-1.0, 2.0), y, -0.25, 2.0, "z^2 - z");
    expect(f, himmelblau_of(f), between(-5.0, 5.0), between(-5.0, 5.0), 0.0, 890.0, "Himmelblau");
    expect(f, nest_of(f, 3), between(-1.0, 1.0), y, -1.0, 1.0, "nested sines");
    expect(f, CALL(SIN, f->z), between(1.0, 2.0), y, sin(1.0), 1.0, "sin");
    expect(f, CALL(TANH, MUL(f->z, f->y)), between(-2.0, 3.0), y, -tanh(3.0), tanh(3.0), "tanh(z y)");
    expect(f, SUB(f->z, CALL(SIN, f->z)), between(0.0, 1.0), y, 0.0, 1.0 - sin(1.0), "z - sin z");
    expect(f, IF(PAIR(LT, f->z, C(0.25)), f->z, SQUARE(f->z)), between(-1.0, 2.0), y, -1.0, 4.0, "where");
    /* switches in both variables: reduced through z - y */
    expect(f, IF(PAIR(LT, f->z, f->y), MUL(C(0.1), SUB(f->y, f->z)), MUL(C(0.9), f->r)), between(-2.0, 2.0), y, 0.0,
           2.7, "quantile with a condition between variables");
}

static void test_points_and_degenerate_boxes(const formulas *f)
{
    expect(f, SQUARE(f->z), between(3.0, 3.0), between(0.0, 0.0), 9.0, 9.0, "a point");
    expect(f, ADD(f->z, f->y), between(1.0, 1.0), between(0.0, 2.0), 1.0, 3.0, "a point and an interval");
    expect(f, C(2.5), between(0.0, 1.0), between(0.0, 1.0), 2.5, 2.5, "a constant");
    expect(f, MUL(f->y, C(2.0)), between(-INFINITY, INFINITY), between(0.0, 1.0), 0.0, 2.0, "a variable not used");
    expect(f, CALL(EXP, f->z), between(1.0, nextafter(1.0, 2.0)), between(0.0, 1.0), exp(1.0), exp(1.0), "two doubles");
}

static void test_lists(const formulas *f)
{
    static const double ends[] = { 1.0, 0.0 };
    double many[100];

    for (int i = 0; i < 100; i++)
        many[i] = (i * 37 % 100) - 50.0;
    /* between the values of a list there is nothing */
    expect(f, MUL(f->z, SUB(C(1.0), f->z)), listed(ends, 2), between(0.0, 1.0), 0.0, 0.0, "two values");
    expect(f, SQUARE(SUB(f->z, C(0.5))), listed(many, 100), between(0.0, 1.0), 0.25, 50.5 * 50.5, "a hundred values");
    expect(f, SQUARE(SUB(f->z, f->y)), listed(many, 100), listed(ends, 2), 0.0, 51.0 * 51.0, "two lists");
    expect(f, CALL(COS, MUL(C(3.14159265358979312), f->z)), listed(many, 100), between(0.0, 1.0), -1.0, 1.0,
           "many waves");
    expect(f, SQUARE(SUB(f->r, C(0.25))), listed(many, 100), listed(many, 100), 0.0625, 99.25 * 99.25, "long lists");
}

static void test_unbounded_domains(const formulas *f)
{
    const pn_domain all = between(-INFINITY, INFINITY), y = between(-1.0, 1.0);
    double g = 1.0 - 2.0 / sqrt(5.0), t = 1.0 + g, third = 24.0 * sqrt(g) * (1.0 - g) / (t * t * t * t);
    double cube = 1.0 / (6.0 * sqrt(3.0)), e = exp(1.0);
    pn_node z = f->z;

    expect_all(f, nonconvex_of(f), all, y,
               (const double[4][2]){
                   { 0.0, 1.0 }, { -0.375 * sqrt(3.0), 0.375 * sqrt(3.0) }, { -0.5, 2.0 }, { -third, third } },
               "w^2/(1 + w^2)");
    expect(f, MUL(CALL(SIGMOID, z), CALL(SIGMOID, NEG(z))), all, y, 0.0, 0.25, "logistic density");
    expect_all(f, CALL(SIGMOID, z), all, y,
               (const double[4][2]){ { 0.0, 1.0 }, { 0.0, 0.25 }, { -cube, cube }, { -0.125, 1.0 / 24.0 } }, "sigmoid");
    expect(f, MUL(z, CALL(EXP, NEG(SQUARE(z)))), all, y, -1.0 / sqrt(2.0 * e), 1.0 / sqrt(2.0 * e), "z exp(-z^2)");
    expect(f, MUL(z, CALL(EXP, NEG(z))), between(0.0, INFINITY), y, 0.0, 1.0 / e, "z exp(-z)");
    expect(f, DIV(z, CALL(SQRT, ADD(C(1.0), SQUARE(z)))), all, y, -1.0, 1.0, "z/sqrt(1 + z^2)");
    expect(f, SUB(CALL(SOFTPLUS, z), z), between(0.0, INFINITY), y, 0.0, log(2.0), "softplus(z) - z");
    expect(f, DIV(z, ADD(C(1.0), SQUARE(z))), between(1e9, INFINITY), y, 0.0, 1e-9, "a falling quotient");
    expect(f, CALL(TANH, f->r), all, y, -1.0, 1.0, "tanh(z - y)");
}

/* tanh(1/z) leaps over [-0.76, 0.76], so its square does not come near 0, whatever lies between the extremes. */
static void test_a_pole_is_no_bridge(const formulas *f)
{
    pn_node m = ADD(CALL(TANH, DIV(C(1.0), f->z)), f->y);
    const pn_domain domains[2] = { between(-1.0, 1.0), between(-0.1, 0.1) };
    double least = tanh(1.0) - 0.1;
    pn_extremes r;

    if (CHECK(pn_bound_range(&r, f->g, SQUARE(m), domains, NULL, NULL) == PN_OK)) {
        CHECK(r.min.low <= least * least && r.min.high >= least * least);
        CHECK(r.max.low <= 1.21 && r.max.high >= 1.21);
    }
}

/* erf'(0) = 2/sqrt(pi) lies between two doubles: neither may stand for it. */
static void test_rounded_constants_are_enclosed(const formulas *f)
{
    const pn_domain domains[2] = { between(-1.0, 1.0), between(0.0, 1.0) };
    pn_node slope = pn_graph_derivative(f->g, CALL(ERF, f->z), 0);
    const long double two_over_root_pi = 1.128379167095512573896158903121545172L;
    pn_extremes r;

    CHECK(pn_bound_range(&r, f->g, slope, domains, NULL, NULL) == PN_OK);
    CHECK(r.max.high >= two_over_root_pi && r.max.low <= two_over_root_pi && r.max.high < 1.1283791671);
    CHECK(pn_bound_range(&r, f->g, NEG(slope), domains, NULL, NULL) == PN_OK);
    CHECK(r.min.low <= -two_over_root_pi && r.min.high >= -two_over_root_pi);
}

static void test_cancellation_is_honest(const formulas *f)
{
    const pn_domain domains[2] = { between(0.0, 2.0), between(0.0, 1.0) };
    pn_extremes r;

    CHECK(pn_bound_range(&r, f->g, eighth_power_of(f), domains, NULL, NULL) == PN_OK);
    CHECK(r.min.low <= 0.0 && r.min.low > -1e-3 && r.min.high >= 0.0); /* least 0 */
    CHECK(r.max.low <= 1.0 && r.max.high >= 1.0 && r.max.high < 1.0 + 1e-3);
    CHECK(r.boxes <= PN_BOUND_BOXES + 16);
}

static void test_the_effort_is_deterministic(const formulas *f)
{
    const pn_domain domains[2] = { between(-5.0, 5.0), between(-1.0, 1.0) };
    pn_extremes a, b;

    CHECK(pn_bound_range(&a, f->g, waves_of(f), domains, NULL, NULL) == PN_OK);
    CHECK(pn_bound_range(&b, f->g, waves_of(f), domains, NULL, NULL) == PN_OK);
    CHECK(a.boxes == b.boxes && a.min.low == b.min.low && a.max.high == b.max.high);
}

/* ---- what cannot be ---- */

static void refuse(const formulas *f, pn_node root, pn_domain z, pn_domain y, pn_status want, const char *text)
{
    const pn_domain domains[2] = { z, y };
    pn_extremes r = { .boxes = 77 };
    pn_err err = { .message = "" };

    if (!CHECK(pn_bound_range(&r, f->g, root, domains, NULL, &err) == want) || !CHECK(strcmp(err.message, text) == 0))
        (void)fprintf(stderr, "    got:  %s\n    want: %s\n", err.message, text);
    CHECK(r.boxes == 77);
}

static void test_says_what_is_unbounded_where(const formulas *f)
{
    const pn_domain unit = between(0.0, 1.0);

    refuse(f, CALL(LOG, f->z), unit, unit, PN_EUNSUPPORTED,
           "bound: log(z) is unbounded where z is in [0, 9.09495e-13]");
    refuse(f, ADD(f->y, CALL(LOG, SUB(C(1.0), f->z))), between(0.0, 1.0), unit, PN_EUNSUPPORTED,
           "bound: log(1 - z) is unbounded where 1 - z is in [0, 1.11022e-16]");
    refuse(f, SQUARE(f->z), between(-INFINITY, INFINITY), unit, PN_EUNSUPPORTED,
           "bound: z^2 is unbounded where z is in [-inf, inf]");
    refuse(f, CALL(EXP, f->r), between(0.0, INFINITY), unit, PN_EUNSUPPORTED,
           "bound: exp(z - y) is unbounded where z - y is in [-1, inf]");
    refuse(f, CALL(LOG, f->z), between(-2.0, -1.0), unit, PN_EDOMAIN,
           "bound: log(z) may be undefined where z is in [-2, -1]");
    /* the root of a negative number has a finite enclosure, and may be hidden behind a switch */
    refuse(f, IF(PAIR(LT, f->y, C(0.5)), CALL(SQRT, f->z), C(1.0)), between(-1.0, 1.0), unit, PN_EDOMAIN,
           "bound: sqrt(z) may be undefined where z is in [-1, 0]");
    refuse(f, CALL(SQRT, C(-1.0)), unit, unit, PN_EDOMAIN, "bound: sqrt(-1) may be undefined where -1 is -1");
    refuse(f, CALL(EXP, CALL(EXP, f->z)), between(0.0, 10.0), unit, PN_EUNSUPPORTED,
           "bound: exp(exp(z)) is unbounded where exp(z) is in [22026.5, 22026.5]");
}

static void test_refuses_domains_that_are_none(const formulas *f)
{
    static const double bad[] = { 1.0, NAN };
    const pn_domain unit = between(0.0, 1.0);

    refuse(f, f->z, between(1.0, 0.0), unit, PN_EINVAL,
           "bound: z must range over an interval [low, high] with low <= high, got [1, 0]");
    refuse(f, f->z, unit, between(NAN, 0.0), PN_EINVAL,
           "bound: y must range over an interval [low, high] with low <= high, got [nan, 0]");
    refuse(f, f->z, between(INFINITY, INFINITY), unit, PN_EINVAL,
           "bound: z must range over an interval [low, high] with low <= high, got [inf, inf]");
    refuse(f, f->z, listed(bad, 2), unit, PN_EINVAL, "bound: value 2 of z must be a finite number, got nan");
}

static void test_stops_when_cancelled(const formulas *f)
{
    const pn_domain domains[2] = { between(0.0, 2.0), between(0.0, 1.0) };
    pn_task *task = NULL;
    pn_extremes r;
    pn_shape shape;

    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_bound_range(&r, f->g, eighth_power_of(f), domains, task, NULL) == PN_ECANCELLED);
    CHECK(pn_shape_of(&shape, f->g, eighth_power_of(f), 0, domains, task, NULL) == PN_ECANCELLED);
    pn_task_free(task);
}

/* One variable, sixteen, and an expression whose derivatives do not fit a graph. */
static void test_sizes(void)
{
    static const char *const names[] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"
    };
    pn_domain domains[16];
    pn_graph *graph = NULL;
    pn_node sum, x;
    pn_extremes r;

    CHECK(pn_graph_new(&graph, names, 16, NULL) == PN_OK);
    sum = pn_x_const(graph, 0.0);
    for (unsigned v = 0; v < 16; v++) {
        domains[v] = between(-1.0, v + 1.0);
        x = pn_x_var(graph, v);
        sum = pn_x_binary(graph, PN_X_ADD, sum, pn_x_binary(graph, PN_X_MUL, x, x));
    }
    CHECK(pn_bound_range(&r, graph, sum, domains, NULL, NULL) == PN_OK);
    CHECK(r.min.low == 0.0 && r.max.low == 1496.0 && r.max.high == 1496.0); /* 1 + 4 + ... + 256 */
    x = pn_x_var(graph, 0);
    for (int i = 0; i < 12000; i++)
        x = pn_x_unary(graph, PN_X_TANH, pn_x_binary(graph, PN_X_ADD, x, pn_x_const(graph, 0.5)));
    CHECK(pn_bound_range(&r, graph, x, domains, NULL, NULL) == PN_OK);
    CHECK(r.min.low > 0.0 && r.max.high < 1.0);
    CHECK(pn_graph_status(graph, NULL) == PN_OK);
    pn_graph_free(graph);
}

/* ---- memory ---- */

static pn_status everything(void *self, pn_err *err)
{
    const pn_domain domains[2] = { between(-5.0, 5.0), between(-1.0, 1.0) };
    formulas lost, *f = &lost;
    pn_status status = formulas_open(f, err);
    pn_extremes r;
    pn_jump jump;
    pn_shape shape;
    pn_node root;

    (void)self;
    if (status != PN_OK)
        return status;
    root = huber_of(f, 1.0);
    status = pn_bound_range(&r, f->g, root, domains, NULL, err);
    if (status == PN_OK)
        status = pn_bound_jump(&jump, f->g, pn_graph_derivative(f->g, hinge_of(f), 0), 0, domains, NULL, err);
    if (status == PN_OK)
        status = pn_shape_of(&shape, f->g, hinge_of(f), 0, domains, NULL, err);
    pn_graph_free(f->g);
    return status;
}

int main(void)
{
    formulas f;

    if (!CHECK(formulas_open(&f, NULL) == PN_OK))
        return check_summary();
    test_losses_of_residuals(&f);
    test_losses_of_margins(&f);
    test_polynomials_and_waves(&f);
    test_points_and_degenerate_boxes(&f);
    test_lists(&f);
    test_unbounded_domains(&f);
    test_a_pole_is_no_bridge(&f);
    test_rounded_constants_are_enclosed(&f);
    test_cancellation_is_honest(&f);
    test_the_effort_is_deterministic(&f);
    test_says_what_is_unbounded_where(&f);
    test_refuses_domains_that_are_none(&f);
    test_stops_when_cancelled(&f);
    test_sizes();
    fail_alloc_sweep("bound", everything, NULL);
    pn_graph_free(f.g);
    return check_summary();
}
