/* bound_bench.c -- how long certified bounds take and how wide they are: each loss with three derivatives, then hard
 * cases.  Limits: losses to 1e-6 of their magnitude, hard ones to 1e-3 within 10 ms; a miss prints OVER and fails.
 * Depends on: bench.h, formulas.h, expr/bound.h. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>

#include "bench/bench.h"
#include "expr/bound.h"
#include "runtime/expr/formulas.h"

#define RUNS     5
#define LIMIT_MS 10.0
#define LOSS     1e-6
#define HARD     1e-3
#define NO_LABELS                                                                                                      \
    {                                                                                                                  \
        { -1.0, 1.0 }, NULL, 0                                                                                         \
    }

static const double signs[] = { -1.0, 1.0 };

static double width(const pn_extremes *r)
{
    double scale = fmax(pn_interval_magnitude(r->min), pn_interval_magnitude(r->max));
    double widest = fmax(r->min.high - r->min.low, r->max.high - r->max.low);

    return widest > 0.0 ? widest / scale : 0.0;
}

static int ask(const char *name, const formulas *f, pn_node root, const pn_domain *domains, double limit)
{
    double times[RUNS], median;
    pn_extremes r = { .boxes = 0 };
    pn_err err = { .message = "" };
    bool over;

    for (int i = 0; i < RUNS; i++) {
        double start = bench_now();

        if (pn_bound_range(&r, f->g, root, domains, NULL, &err) != PN_OK) {
            printf("%-36s %s  OVER\n", name, err.message);
            return 1;
        }
        times[i] = 1e3 * (bench_now() - start);
    }
    qsort(times, RUNS, sizeof *times, bench_compare);
    median = times[RUNS / 2];
    over = !(width(&r) <= limit) || median > LIMIT_MS;
    printf("%-36s %8.3f ms (limit %g), width %.1e (limit %.0e), %5zu boxes%s  [%.9g, %.9g]\n", name, median, LIMIT_MS,
           width(&r), limit, r.boxes, over ? "  OVER" : "", r.min.low, r.max.high);
    fflush(stdout);
    return over;
}

/* A loss and its derivatives, and then all that is certified of it at once. */
static int ask_loss(const char *name, const formulas *f, pn_node root, pn_domain y)
{
    const pn_domain domains[2] = { { { -5.0, 5.0 }, NULL, 0 }, y };
    double start = bench_now();
    char text[64];
    pn_shape shape;
    int over = 0;
    pn_node part = root;

    for (int k = 0; k < 4; k++) {
        (void)snprintf(text, sizeof text, "%s%.*s", name, k, "'''");
        over += ask(text, f, part, domains, LOSS);
        part = pn_graph_derivative(f->g, part, 0);
    }
    start = bench_now();
    if (pn_shape_of(&shape, f->g, root, 0, domains, NULL, NULL) != PN_OK)
        return over + 1;
    printf("%-36s %8.3f ms%s%s%s%s %s\n", "  all of it", 1e3 * (bench_now() - start),
           shape.continuous ? " continuous" : "", shape.smooth ? " smooth" : "", shape.twice_smooth ? " twice" : "",
           shape.convex ? " convex" : "", shape.missing);
    return over;
}

static int losses(const formulas *f)
{
    const pn_domain classes = { { 0.0, 0.0 }, signs, 2 }, y = NO_LABELS, counts = { { 0.0, 10.0 }, NULL, 0 };
    int over = 0;

    over += ask_loss("logistic", f, logistic_of(f), classes);
    over += ask_loss("logistic, y in [-1, 1]", f, logistic_of(f), y);
    over += ask_loss("hinge", f, hinge_of(f), classes);
    over += ask_loss("smooth hinge", f, smooth_hinge_of(f), classes);
    over += ask_loss("sigmoid", f, sigmoid_of(f), classes);
    over += ask_loss("squared", f, MUL(C(0.5), SQUARE(f->r)), y);
    over += ask_loss("quantile", f, quantile_of(f, 0.3), y);
    over += ask_loss("smoothed pinball", f, smooth_pinball_of(f, 0.3, 0.1), y);
    over += ask_loss("huber", f, huber_of(f, 1.345), y);
    over += ask_loss("pseudo-huber", f, pseudo_huber_of(f), y);
    over += ask_loss("cauchy", f, cauchy_of(f), y);
    over += ask_loss("tukey", f, tukey_of(f, 4.685), y);
    over += ask_loss("welsch", f, welsch_of(f), y);
    over += ask_loss("geman-mcclure", f, geman_of(f), y);
    over += ask_loss("poisson", f, poisson_of(f), counts);
    over += ask_loss("log-cosh", f, log_cosh_of(f), y);
    return over;
}

static int hard_ones(const formulas *f)
{
    const pn_domain near[2] = { { { 0.0, 2.0 }, NULL, 0 }, NO_LABELS };
    const pn_domain box[2] = { { { -5.0, 5.0 }, NULL, 0 }, { { -5.0, 5.0 }, NULL, 0 } };
    const pn_domain line[2] = { { { -INFINITY, INFINITY }, NULL, 0 }, NO_LABELS };
    const pn_domain unit[2] = { NO_LABELS, NO_LABELS }, wide[2] = { { { -5.0, 5.0 }, NULL, 0 }, NO_LABELS };
    pn_node w = nonconvex_of(f), ridge = SUB(SQUARE(f->z), f->y);
    int over = 0;

    over += ask("sin(20 z) exp(-z^2) + cos(7 y z)", f, waves_of(f), wide, HARD);
    over += ask("(z - 1)^8 multiplied out, [0, 2]", f, eighth_power_of(f), near, HARD);
    over += ask("(z - 1)^8 multiplied out, [-5, 5]", f, eighth_power_of(f), box, HARD);
    over += ask("himmelblau", f, himmelblau_of(f), box, HARD);
    over += ask("rosenbrock", f, ADD(MUL(C(100.0), SQUARE(ridge)), SQUARE(SUB(C(1.0), f->z))), box, HARD);
    over += ask("sin(z y) cos(z - y) exp(-z^2/9)", f,
                MUL(MUL(CALL(SIN, MUL(f->z, f->y)), CALL(COS, f->r)), CALL(EXP, NEG(DIV(SQUARE(f->z), C(9.0))))), box,
                HARD);
    over += ask("nest of 10 sines", f, nest_of(f, 10), unit, HARD);
    over += ask("nest of 30 sines", f, nest_of(f, 30), unit, HARD);
    over += ask("where(z < y, z y, z^2 - y)", f, IF(PAIR(LT, f->z, f->y), MUL(f->z, f->y), SUB(SQUARE(f->z), f->y)),
                box, HARD);
    for (int k = 0; k < 4; k++, w = pn_graph_derivative(f->g, w, 0))
        over += ask(k == 0 ? "w^2/(1 + w^2), all numbers" : "  its derivative", f, w, line, HARD);
    return over;
}

int main(void)
{
    formulas f;
    int over;

    if (formulas_open(&f, NULL) != PN_OK)
        return 1;
    over = losses(&f) + hard_ones(&f);
    pn_graph_free(f.g);
    return over > 0;
}
