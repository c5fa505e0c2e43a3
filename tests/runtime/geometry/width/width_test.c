/* width_test.c -- Gaussian widths by draws: the interval, the streams, the threads, and what happens when a set fails.
 * Depends on: geometry/convex/set.h, check.h, fail_alloc.h. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "core/task.h"
#include "fail_alloc.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "geometry/width/width.h"

static pn_width_options draws_of(size_t draws, double confidence)
{
    return (pn_width_options){ .method = PN_WIDTH_MONTE_CARLO, .draws = draws, .confidence = confidence };
}

static pn_set *ball(const char *name, size_t dim, double radius)
{
    pn_arg args[3] = { { .given = true, .count = dim }, { .given = true, .real = radius }, { .given = false } };
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    return set;
}

static pn_set *polytope(double *vertices, size_t rows, size_t dim)
{
    pn_arg args[1] = { { .given = true, .matrix = { vertices, rows, dim } } };
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, "polytope", args, NULL) == PN_OK);
    return set;
}

static pn_width draw(const pn_set *set, size_t draws, double confidence)
{
    pn_width_options how = draws_of(draws, confidence);
    pn_width out = { 0 };

    CHECK(pn_set_width(set, &how, &out, NULL) == PN_OK);
    return out;
}

/* radius sqrt 2, 200000 draws, 95 %: the half-width of geometry.md, section 4 */
static void the_interval(void)
{
    pn_set *square = ball("linf_ball", 2, 1.0);
    pn_width w = draw(square, 200000, 0.95);

    CHECK_CLOSE(w.high - w.value, 0.0085894, 5e-8);
    CHECK_CLOSE(w.value - w.low, 0.0085894, 5e-8);
    CHECK(w.draws == 200000 && w.confidence == 0.95 && w.method == PN_WIDTH_MONTE_CARLO);
    /* Var(|a| + |b|) = 2 (1 - 2/pi); 1 % is 6 standard deviations of the sample's */
    CHECK_CLOSE(w.standard_error, sqrt(2.0 * (1.0 - 2.0 / 3.14159265358979) / 200000.0), 0.01 * w.standard_error);
    CHECK_CLOSE(w.value, 2.0 * sqrt(2.0 / 3.14159265358979), w.high - w.value);
    w = draw(square, 1, 0.5);
    CHECK(isinf(w.standard_error) && w.low == 0.0);
    pn_set_free(square);
}

/* Intervals that miss with probability 1e-9 around geometry.md's values. */
static void known_widths(void)
{
    static const struct {
        const char *name;
        size_t dim;
        double want;
    } cases[] = {
        { "l2_ball", 2, 1.253314137 }, { "l2_ball", 10, 3.084327760 }, { "l2_ball", 100, 9.975031640 },
        { "l1_ball", 2, 1.128379167 }, { "l1_ball", 10, 1.880715694 }, { "l1_ball", 100, 2.746957688 },
        { "simplex", 2, 0.564189584 }, { "simplex", 10, 1.538752731 }, { "simplex", 100, 2.507593636 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pn_set *set = ball(cases[i].name, cases[i].dim, 1.0);
        pn_width w = draw(set, 100000, 1.0 - 1e-9);

        CHECK(w.low <= cases[i].want && cases[i].want <= w.high);
        CHECK_CLOSE(w.value, cases[i].want, 6.0 * w.standard_error);
        CHECK(w.high - w.low < 0.042);
        pn_set_free(set);
    }
}

/* (1,0), (0,1), (-1,-1): half the perimeter over sqrt(2 pi), since the width of the plane is that of the boundary. */
static void a_triangle(void)
{
    double vertices[] = { 1.0, 0.0, 0.0, 1.0, -1.0, -1.0 }, far[] = { 1e6, 0.0, 1e6 - 1.0, 1.0, 1e6 - 2.0, -1.0 };
    pn_set *set = polytope(vertices, 3, 2), *shifted = polytope(far, 3, 2);
    pn_width w = draw(set, 200000, 0.95);
    double perimeter = sqrt(2.0) + 2.0 * sqrt(5.0), want = 0.5 * perimeter / sqrt(2.0 * 3.14159265358979);

    CHECK_CLOSE(w.value, 1.175, 0.005); /* geometry.md, section 4 */
    CHECK_CLOSE(w.value, want, 6.0 * w.standard_error);
    CHECK_CLOSE(w.high - w.value, 0.5 * sqrt(5.0) * sqrt(2.0 * log(40.0) / 200000.0), 1e-12);
    w = draw(shifted, 200000, 0.95); /* far from the origin is no further from itself */
    CHECK_CLOSE(w.value, want, 6.0 * w.standard_error + 1e-6);
    CHECK_CLOSE(w.high - w.value, 0.5 * sqrt(5.0) * sqrt(2.0 * log(40.0) / 200000.0), 1e-9);
    CHECK(w.standard_error < 0.002);
    pn_set_free(set);
    pn_set_free(shifted);
}

static void scaling_shifting_and_points(void)
{
    double shift[3] = { 5.0, -7.0, 1e3 }, point[3] = { 1e8, -2.0, 3.0 };
    pn_set *set = ball("simplex", 3, 1.0), *scaled = NULL, *moved = NULL, *one = polytope(point, 1, 3);
    pn_width plain = draw(set, 5000, 0.9), w;

    CHECK(pn_set_scale(&scaled, set, 3.0, NULL) == PN_OK && pn_set_shift(&moved, scaled, shift, 3, NULL) == PN_OK);
    w = draw(scaled, 5000, 0.9);
    CHECK(w.value == 3.0 * plain.value && w.high == 3.0 * plain.high && w.standard_error == 3.0 * plain.standard_error);
    w = draw(moved, 5000, 0.9);
    CHECK(w.value == 3.0 * plain.value && w.low == 3.0 * plain.low);
    w = draw(one, 1000, 0.9);
    CHECK(w.value == 0.0 && w.low == 0.0 && w.high == 0.0);
    pn_set_free(one);
    pn_set_free(moved);
    pn_set_free(scaled);
    pn_set_free(set);
}

/* With the same draws it holds draw for draw. */
static void a_larger_set_is_wider(void)
{
    pn_set *inner = ball("l1_ball", 7, 1.0), *middle = ball("l2_ball", 7, 1.0), *outer = ball("linf_ball", 7, 1.0);

    for (size_t draws = 1; draws < 5; draws++) {
        double a = draw(inner, draws, 0.9).value, b = draw(middle, draws, 0.9).value, c = draw(outer, draws, 0.9).value;

        CHECK(a < b && b < c);
    }
    pn_set_free(inner);
    pn_set_free(middle);
    pn_set_free(outer);
}

static void same_width(const pn_set *set, size_t draws)
{
    double value[4];

    for (unsigned i = 0; i < 4; i++) {
        pn_width_options how = draws_of(draws, 0.99);
        pn_task *task = NULL;
        pn_width out;

        CHECK(i == 3 || pn_task_new(&task, 2 * i + 1, NULL) == PN_OK);
        how.task = task;
        CHECK(pn_set_width(set, &how, &out, NULL) == PN_OK);
        value[i] = out.value;
        pn_task_free(task);
    }
    CHECK(value[0] == value[1] && value[1] == value[2] && value[2] == value[3]);
}

static void threads_change_nothing(void)
{
    static double vertices[700 * 300];
    pn_set *wide = ball("simplex", 3001, 1.0), *narrow = ball("l2_ball", 3, 1.0), *list;

    for (size_t i = 0; i < sizeof vertices / sizeof vertices[0]; i++)
        vertices[i] = sin((double)i);
    list = polytope(vertices, 700, 300);
    same_width(wide, 1001);
    same_width(narrow, 70001);
    same_width(list, 601);
    pn_set_free(wide);
    pn_set_free(narrow);
    pn_set_free(list);
}

static void streams(void)
{
    pn_set *set = ball("l2_ball", 4, 1.0);
    pn_width_options how = draws_of(2000, 0.99);
    pn_width a, b, c;

    CHECK(pn_rng_seeded(&how.rng, 7, NULL) == PN_OK);
    CHECK(pn_set_width(set, &how, &a, NULL) == PN_OK && pn_set_width(set, &how, &b, NULL) == PN_OK);
    pn_rng_free(how.rng);
    CHECK(pn_rng_seeded(&how.rng, 7, NULL) == PN_OK && pn_set_width(set, &how, &c, NULL) == PN_OK);
    pn_rng_free(how.rng);
    CHECK(a.value != b.value && a.value == c.value); /* a second question gets draws of its own */
    how.rng = NULL;
    CHECK(pn_set_width(set, &how, &a, NULL) == PN_OK && pn_set_width(set, &how, &b, NULL) == PN_OK);
    CHECK(a.value == b.value);
    pn_set_free(set);
}

static pn_status support_only(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    (void)self;
    (void)point;
    (void)err;
    *value = fmax(fmax(g[0], g[1]), -g[0] - g[1]);
    return PN_OK;
}

/* ---- a set that misbehaves ---- */

typedef struct odd_set {
    pn_set base;
    pn_set_ops ops;
    double radius;
    atomic_long calls;
    long fail_at, cancel_at;
    pn_task *task;
    pthread_t thread;
    atomic_bool elsewhere;
} odd_set;

static pn_status odd_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    odd_set *set = (odd_set *)(size_t)self;
    long call = atomic_fetch_add(&set->calls, 1) + 1;

    if (!pthread_equal(pthread_self(), set->thread))
        atomic_store(&set->elsewhere, true);
    if (call == set->cancel_at)
        pn_task_cancel(set->task);
    if (call == set->fail_at)
        return pn_fail(err, PN_ENUMERIC, "odd: enough");
    return support_only(self, g, point, value, err);
}

static double odd_radius(const pn_set *self, pn_lp norm)
{
    (void)norm;
    return ((const odd_set *)self)->radius;
}

static pn_status odd_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)self;
    (void)err;
    *out = (pn_width){ 1.0, 1.0, 1.0, how->confidence == 0.5 ? PN_WIDTH_EXACT : PN_WIDTH_QUADRATURE, 0, 1.0, 0.0 };
    return PN_OK;
}

static void odd_init(odd_set *set, pn_task *task)
{
    *set = (odd_set){ .radius = 2.0, .task = task, .thread = pthread_self() };
    set->ops = (pn_set_ops){ .name = "odd", .support = odd_support, .radius = odd_radius, .diameter = odd_radius };
    pn_set_init(&set->base, &set->ops, 2);
}

static pn_status width_of(const odd_set *set, pn_width_method method, pn_width *out, pn_err *err)
{
    pn_width_options how = { .method = method, .draws = 20000, .task = set->task };

    memset(err, 0, sizeof *err);
    return pn_set_width(&set->base, &how, out, err);
}

static void a_set_that_fails(pn_task *task)
{
    odd_set set;
    pn_width out = { .value = 3.0 };
    pn_err err;

    odd_init(&set, task);
    set.fail_at = 5000;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_ENUMERIC && strcmp(err.message, "odd: enough") == 0);
    CHECK(out.value == 3.0);
    odd_init(&set, task);
    set.cancel_at = 5000;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_ECANCELLED && out.value == 3.0);
    pn_task_reset(task);
    odd_init(&set, task);
    set.ops.single_thread = true;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_OK && !atomic_load(&set.elsewhere));
    CHECK(atomic_load(&set.calls) == 40000); /* both ways */
    odd_init(&set, task);
    set.ops.single_thread = true;
    set.cancel_at = 5000;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_ECANCELLED && atomic_load(&set.calls) < 8000);
    pn_task_reset(task);
}

static void methods(pn_task *task)
{
    odd_set set;
    pn_width out;
    pn_err err;

    odd_init(&set, task);
    CHECK(width_of(&set, PN_WIDTH_EXACT, &out, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "odd has no formula") != NULL);
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_OK && out.method == PN_WIDTH_MONTE_CARLO);
    set.ops.width = odd_width;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_OK && out.method == PN_WIDTH_QUADRATURE);
    CHECK(width_of(&set, PN_WIDTH_EXACT, &out, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "use \"quadrature\"") != NULL);
    CHECK(width_of(&set, PN_WIDTH_MONTE_CARLO, &out, &err) == PN_OK && out.draws == 20000);
    set.radius = INFINITY;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_EUNSUPPORTED && strstr(err.message, "unbounded") != NULL);
    odd_init(&set, task);
    set.ops.support = NULL;
    CHECK(width_of(&set, PN_WIDTH_AUTO, &out, &err) == PN_EUNSUPPORTED && strstr(err.message, "support") != NULL);
}

static void options(void)
{
    static const pn_width_options wrong[] = {
        { .tolerance = -1.0 },     { .tolerance = NAN },
        { .tolerance = INFINITY }, { .confidence = 1.0 },
        { .confidence = -0.5 },    { .confidence = NAN },
        { .confidence = 2.0 },     { .method = PN_WIDTH_MONTE_CARLO, .tolerance = 1e-9 },
    };
    pn_set *set = ball("linf_ball", 3, 2.0);
    pn_width_options how = { .method = PN_WIDTH_MONTE_CARLO };
    pn_width out;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(pn_set_width(set, &wrong[i], &out, NULL) == PN_EINVAL);
    CHECK(pn_set_width(set, &how, &out, NULL) == PN_OK);
    CHECK(out.draws == 105967 && out.confidence == 0.99); /* 2 ln 200 / 0.01^2, rounded up */
    CHECK(out.high - out.value <= 0.01 * set->ops->radius(set, PN_L2));
    how.tolerance = 0.1;
    how.confidence = 0.5;
    CHECK(pn_set_width(set, &how, &out, NULL) == PN_OK && out.draws == 278); /* 200 ln 4 = 277.26 */
    pn_set_free(set);
}

/* ---- memory ---- */

static pn_status draw_little(void *self, pn_err *err)
{
    pn_width_options how = draws_of(50, 0.9);
    pn_arg args[3] = { { .given = true, .count = 3 }, { .given = true, .real = 1.0 }, { .given = false } };
    double vertices[] = { 1.0, 0.0, 0.0, 1.0, 1.0, 1.0 };
    pn_set *set = NULL;
    pn_status status;
    pn_width out;

    if (self)
        args[0] = (pn_arg){ .given = true, .matrix = { vertices, 3, 2 } };
    status = pn_set_from_args(&set, self ? "polytope" : "simplex", args, err);
    if (status == PN_OK)
        status = pn_set_width(set, &how, &out, err);
    pn_set_free(set);
    return status;
}

int main(void)
{
    pn_task *task = NULL;

    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    the_interval();
    known_widths();
    a_triangle();
    scaling_shifting_and_points();
    a_larger_set_is_wider();
    threads_change_nothing();
    streams();
    a_set_that_fails(task);
    methods(task);
    options();
    CHECK(fail_alloc_sweep("width by support", draw_little, NULL) > 3);
    CHECK(fail_alloc_sweep("width by product", draw_little, task) > 3);
    pn_task_free(task);
    return check_summary();
}
