/* width_bound_test.c -- upper bounds of widths: exact where a formula is known, what the rules say of sets made of
 * sets, and never below what draws certify: before their seed was fixed each lower end was above the width with
 * probability 1e-9.
 * Depends on: geometry/algebra/width_bound.h, geometry/algebra/set_algebra.h, check.h. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"
#include "geometry/algebra/width_bound.h"

#define DIM  30
#define HALF (DIM / 2)

static pn_set *ball(const char *name, size_t dim, double radius)
{
    pn_arg args[8] = { { .given = true, .count = dim }, { .given = true, .real = radius } };
    pn_set *set = NULL;

    if (!CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK))
        exit(check_summary());
    return set;
}

static pn_set *joined(pn_status (*join)(pn_set **, pn_set *, pn_set *, pn_err *), pn_set *a, pn_set *b)
{
    pn_set *out = NULL;

    if (!CHECK(join(&out, a, b, NULL) == PN_OK))
        exit(check_summary());
    pn_set_free(a);
    pn_set_free(b);
    return out;
}

static double bound_of(const pn_set *set)
{
    double most = NAN;

    CHECK(pn_set_width_at_most(&most, set, NULL) == PN_OK);
    return most;
}

static double exact(const pn_set *set)
{
    pn_width_options how = { .method = PN_WIDTH_QUADRATURE };
    pn_width width = { .value = NAN };

    CHECK(pn_set_width(set, &how, &width, NULL) == PN_OK);
    return width.value;
}

/* Takes the set over.  `want`: what the rules give, or 0. */
static void check(const char *name, pn_set *set, double want)
{
    pn_width_options how = { .method = PN_WIDTH_MONTE_CARLO, .draws = 400, .confidence = 1.0 - 2e-9 };
    pn_width drawn = { .low = NAN };
    double most = bound_of(set);

    CHECK(pn_set_width(set, &how, &drawn, NULL) == PN_OK);
    if (!CHECK(most >= drawn.low))
        (void)fprintf(stderr, "    %s: at most %g, by draws at least %g\n", name, most, drawn.low);
    if (want > 0.0)
        CHECK_CLOSE(most, want, 1e-9 * want);
    pn_set_free(set);
}

static double width_of(const char *name, size_t dim, double radius)
{
    pn_set *set = ball(name, dim, radius);
    double width = exact(set);

    pn_set_free(set);
    return width;
}

static pn_set *image(double stretch)
{
    static double entries[DIM * DIM];
    pn_set *inner = ball("l2_ball", DIM, 1.0), *out = NULL;

    for (size_t i = 0; i < DIM; i++)
        entries[i * DIM + i] = i == 3 ? stretch : 1.0;
    CHECK(pn_set_image(&out, inner, (pn_mat){ entries, DIM, DIM }, NULL) == PN_OK);
    pn_set_free(inner);
    return out;
}

static void test_rules(void)
{
    pn_set *hull;
    double l1 = width_of("l1_ball", DIM, 2.0), l2 = width_of("l2_ball", DIM, 0.3),
           box = width_of("linf_ball", DIM, 0.2);

    check("l1", ball("l1_ball", DIM, 2.0), l1);
    check("sum", joined(pn_set_sum, ball("l1_ball", DIM, 2.0), ball("l2_ball", DIM, 0.3)), l1 + l2);
    check("product", joined(pn_set_product, ball("l1_ball", HALF, 1.0), ball("l2_ball", HALF, 1.0)),
          width_of("l1_ball", HALF, 1.0) + width_of("l2_ball", HALF, 1.0));
    check("intersection", joined(pn_set_intersect, ball("l1_ball", DIM, 2.0), ball("linf_ball", DIM, 0.2)),
          fmin(l1, box));
    hull = joined(pn_set_hull, ball("l2_ball", DIM, 0.3), ball("linf_ball", DIM, 0.2));
    CHECK(bound_of(hull) <= fmax(l2, box) + 0.2 * sqrt((double)DIM) * sqrt(2.0 * log(2.0)));
    check("hull", hull, 0.0);
    check("image", image(3.0), 3.0 * width_of("l2_ball", DIM, 1.0));
    check("linf", ball("linf_ball", DIM, 4.0), width_of("linf_ball", DIM, 4.0));
}

static void test_scale_and_shift(void)
{
    double far[DIM], before;
    pn_set *inner = joined(pn_set_intersect, ball("l1_ball", DIM, 2.0), ball("l2_ball", DIM, 0.5)), *scaled, *moved;

    for (size_t j = 0; j < DIM; j++)
        far[j] = 100.0;
    before = bound_of(inner);
    CHECK(pn_set_scale(&scaled, inner, -2.5, NULL) == PN_OK);
    CHECK(pn_set_shift(&moved, scaled, far, DIM, NULL) == PN_OK);
    CHECK_CLOSE(bound_of(moved), 2.5 * before, 1e-12 * before);
    pn_set_free(inner);
    pn_set_free(scaled);
    pn_set_free(moved);
}

static void test_unbounded(void)
{
    pn_arg args[1] = { { .given = true, .count = DIM } };
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, "free", args, NULL) == PN_OK);
    CHECK(isinf(bound_of(set)));
    pn_set_free(set);
}

int main(void)
{
    test_rules();
    test_scale_and_shift();
    test_unbounded();
    return check_summary();
}
