/* shape_random_test.c -- random expressions: secants of the value, the slope and the curvature, taken in long double,
 * lie in the certified ranges of the next derivative wherever the expression is said not to jump;
 * convex means below its chords.
 * Depends on: check.h, sample.h, expr/bound.h. */
#include <string.h>

#include "check.h"
#include "expr/bound.h"
#include "runtime/expr/sample.h"

#if defined(__SANITIZE_ADDRESS__)
#define EXPRESSIONS 100
#else
#define EXPRESSIONS 3000
#endif
#define PAIRS 40

static const char *const names[] = { "z", "y" };
static const double labels[] = { -1.0, 1.0 };
static size_t secants, convex;

typedef struct subject {
    pn_graph *graph;
    pn_node part[3];
    pn_domain domain[2];
    pn_shape shape;
    sample *work;
    uint64_t seed;
} subject;

static void describe(const subject *s, int k, double a, double b)
{
    char text[1000];

    pn_graph_text(s->graph, s->part[0], text, sizeof text);
    (void)fprintf(stderr, "    seed %llu, part %d, from %.17g to %.17g: %s\n", (unsigned long long)s->seed, k, a, b,
                  text);
    (void)fprintf(stderr, "    z in [%.17g, %.17g], y in [%.17g, %.17g] or %zu values\n", s->domain[0].range.low,
                  s->domain[0].range.high, s->domain[1].range.low, s->domain[1].range.high, s->domain[1].count);
}

static double place(const subject *s)
{
    pn_interval range = s->domain[0].range;
    double x = rint(sample_uniform(range.low, range.high));

    return sample_bits() % 3 == 0 && x >= range.low && x <= range.high ? x : sample_uniform(range.low, range.high);
}

static bool is_known(sample s)
{
    return !isnan(s.value) && !isinf(s.value) && !isinf(s.error);
}

/* The secant of part k between two places against the range of part k + 1. */
static void check_secant(const subject *s, int k, pn_interval range, double y)
{
    double a = place(s), b = sample_bits() % 2 ? place(s) : fmin(a + 0x1p-20, s->domain[0].range.high), at[2];
    sample u, v;
    long double rise, error, run = (long double)b - a;

    if (run <= 0.0L)
        return;
    at[1] = y;
    at[0] = a;
    u = sample_at(s->graph, s->part[k], at, s->work);
    at[0] = b;
    v = sample_at(s->graph, s->part[k], at, s->work);
    if (!is_known(u) || !is_known(v))
        return;
    rise = v.value - u.value;
    error = u.error + v.error + SAMPLE_EPS * fabsl(rise);
    /* A jump below 2^-40 of the expression's magnitude counts as none. */
    error += 0x1p-38L * (fabsl(u.value) + fabsl(v.value) + pn_interval_magnitude(s->shape.value) * 0x1p-10L);
    secants++;
    if (!CHECK(rise + error >= run * range.low && rise - error <= run * range.high))
        describe(s, k, a, b);
}

static void check_chord(const subject *s, double y)
{
    double a = place(s), b = place(s), at[2] = { a, y };
    sample u = sample_at(s->graph, s->part[0], at, s->work), v, middle;
    long double error;

    at[0] = b;
    v = sample_at(s->graph, s->part[0], at, s->work);
    at[0] = 0.5 * a + 0.5 * b;
    middle = sample_at(s->graph, s->part[0], at, s->work);
    if (!is_known(u) || !is_known(v) || !is_known(middle) || isinf(pn_interval_magnitude(s->shape.slope)))
        return;
    error = u.error + v.error + middle.error + 0x1p-38L * (fabsl(u.value) + fabsl(v.value) + fabsl(middle.value));
    error += fabsl((long double)at[0] - 0.5L * a - 0.5L * b) * pn_interval_magnitude(s->shape.slope);
    convex++;
    if (!CHECK(middle.value <= 0.5L * (u.value + v.value) + error))
        describe(s, 9, a, b);
}

static void check_shape(const subject *s)
{
    const bool steady[3] = { s->shape.continuous, s->shape.smooth, s->shape.twice_smooth };
    const pn_interval next[3] = { s->shape.slope, s->shape.curvature, s->shape.third };

    CHECK(steady[0] >= steady[1] && steady[1] >= steady[2] && (steady[0] || !s->shape.convex));
    CHECK(strlen(s->shape.missing) > 0 || (steady[2] && isfinite(s->shape.third.high)));
    for (int i = 0; i < PAIRS; i++) {
        double y = s->domain[1].count ? labels[i % 2] : sample_uniform(s->domain[1].range.low, s->domain[1].range.high);

        for (int k = 0; k < 3; k++)
            if (steady[k])
                check_secant(s, k, next[k], y);
        if (s->shape.convex)
            check_chord(s, y);
    }
}

/* Random operations of z - y, y z or of z and y themselves: what losses are made of. */
static pn_node random_loss(pn_graph *graph)
{
    pn_node z = pn_x_var(graph, 0), y = pn_x_var(graph, 1), made[24];
    size_t count = 0, operations = 1 + sample_bits() % 6, start = sample_bits() % 3;

    made[count++] = start == 0   ? pn_x_binary(graph, PN_X_SUB, z, y)
                    : start == 1 ? pn_x_binary(graph, PN_X_MUL, y, z)
                                 : z;
    if (start == 2)
        made[count++] = y;
    made[count++] = pn_x_const(graph, sample_constant());
    for (size_t i = 0; i < operations; i++, count++)
        made[count] = sample_operation(graph, made, count);
    return made[count - 1];
}

static void one_expression(uint64_t seed)
{
    subject s = { .seed = seed };
    pn_status status;
    pn_err err;

    sample_state = seed;
    if (!CHECK(pn_graph_new(&s.graph, names, 2, NULL) == PN_OK))
        return;
    s.domain[0].range = (pn_interval){ -rint(sample_uniform(0.0, 4.0)), sample_uniform(0.0, 4.0) };
    s.domain[1].range = (pn_interval){ -1.0, 1.0 };
    s.domain[1].values = labels;
    s.domain[1].count = sample_bits() % 2 ? 2 : 0;
    s.part[0] = random_loss(s.graph);
    s.part[1] = pn_graph_derivative(s.graph, s.part[0], 0);
    s.part[2] = pn_graph_derivative(s.graph, s.part[1], 0);
    s.work = malloc((pn_graph_size(s.graph) + 1) * sizeof *s.work);
    status = pn_shape_of(&s.shape, s.graph, s.part[0], 0, s.domain, NULL, &err);
    if (s.work && status == PN_OK)
        check_shape(&s);
    else if (!CHECK(status == PN_EDOMAIN && strstr(err.message, "undefined")))
        describe(&s, 0, 0.0, 0.0);
    free(s.work);
    pn_graph_free(s.graph);
}

int main(void)
{
    if (LDBL_MANT_DIG < 64) {
        (void)puts("skipped: long double is no wider than double here");
        CHECK(true);
        return check_summary();
    }
    for (uint64_t i = 0; i < EXPRESSIONS; i++)
        one_expression(77000077u + i);
    (void)printf("%zu secants, %zu chords of %d expressions\n", secants, convex, EXPRESSIONS);
    CHECK(secants > 20 * EXPRESSIONS && convex > EXPRESSIONS);
    return check_summary();
}
