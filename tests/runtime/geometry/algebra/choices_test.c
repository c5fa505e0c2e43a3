/* choices_test.c -- vertices made of choices: exact choices find what the support function finds, a change of the
 * direction moves scores by no more than the bounds, and noise loses no more than is said.
 * Depends on: check.h, fail_alloc.h, choices_kit.h, geometry/, random/. */
#include <string.h>

#include "geometry/algebra/choices.h"
#include "numeric/blas.h"
#include "random/rng.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/geometry/algebra/choices_kit.h"

/* ---- choosers ---- */

typedef struct recorder {
    double scores[MOST][MOST];
    size_t count[MOST], made;
    bool largest; /* else the middle one, whatever the scores are */
} recorder;

static pn_status record(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err)
{
    recorder *to = self;

    (void)err;
    memcpy(to->scores[to->made], scores, count * sizeof *scores);
    to->count[to->made++] = count;
    *chosen = to->largest ? 0 : count / 2;
    for (size_t i = 1; to->largest && i < count; i++)
        *chosen = scores[i] > scores[*chosen] ? i : *chosen;
    return PN_OK;
}

static void make(const pn_choices *choices, const double *g, recorder *to, double *vertex)
{
    double *room = malloc(pn_choices_room(choices) * sizeof *room);

    to->made = 0;
    CHECK(pn_choices_make(choices, g, record, to, room, vertex, NULL) == PN_OK);
    CHECK(to->made == choices->picks);
    free(room);
}

static void normals(pn_rng *rng, double *x, size_t n)
{
    pn_rng_normals(rng, n, x);
}

static void exact_choices_find_the_support(const pn_set *set, const pn_choices *choices, pn_rng *rng)
{
    static recorder to = { .largest = true };
    double g[MOST], vertex[MOST], point[MOST], value = 0.0, reached;

    for (int i = 0; i < 50; i++) {
        normals(rng, g, set->dim);
        make(choices, g, &to, vertex);
        CHECK(set->ops->support(set, g, point, &value, NULL) == PN_OK);
        reached = 0.0;
        for (size_t j = 0; j < set->dim; j++) {
            CHECK_CLOSE(vertex[j], point[j], 1e-13);
            reached += vertex[j] * g[j];
        }
        CHECK_CLOSE(reached, value, 1e-12);
    }
}

/* Half of how far the scores of choice r move against each other: what d_r bounds. */
static double half_range(const recorder *a, const recorder *b, size_t r)
{
    double low = INFINITY, high = -INFINITY;

    CHECK(a->count[r] == b->count[r]);
    for (size_t i = 0; i < a->count[r]; i++) {
        low = fmin(low, b->scores[r][i] - a->scores[r][i]);
        high = fmax(high, b->scores[r][i] - a->scores[r][i]);
    }
    return 0.5 * (high - low);
}

/* Delta dense, of one entry, or of signs; the ratio to the bounds, at most 1. */
static void moves_are_within_their_bounds(const pn_set *set, const pn_choices *choices, pn_rng *rng, double *tightest)
{
    static recorder before, after;
    double g[MOST], other[MOST], delta[MOST], vertex[MOST];

    for (int i = 0; i < 60; i++) {
        double squares = 0.0, sum = 0.0;

        normals(rng, g, set->dim);
        normals(rng, delta, set->dim);
        for (size_t j = 0; j < set->dim; j++) {
            delta[j] = i % 3 == 0   ? delta[j]
                       : i % 3 == 1 ? (j == (size_t)i % set->dim ? 1.0 : 0.0)
                                    : copysign(1, delta[j]);
            other[j] = g[j] + delta[j];
        }
        make(choices, g, &before, vertex);
        make(choices, other, &after, vertex);
        for (size_t r = 0; r < choices->picks; r++) {
            double d = half_range(&before, &after, r);

            squares += d * d;
            sum += d;
        }
        for (int q = 0; q < PN_LP_COUNT; q++) {
            double length = pn_lp_norm(pn_lp_dual((pn_lp)q), set->dim, delta);

            CHECK(squares <= choices->squares[q] * length * length * (1.0 + 1e-12));
            CHECK(sum <= choices->sums[q] * length * (1.0 + 1e-12));
            tightest[q] = fmax(tightest[q], squares / (choices->squares[q] * length * length));
        }
    }
}

static void every_set_is_what_it_says(void)
{
    pn_rng *rng = NULL;
    pn_err err;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    for (int which = 0; which < SETS; which++) {
        pn_set *set = set_number(which);
        pn_choices *choices = NULL;
        double tightest[PN_LP_COUNT] = { 0.0 };

        if (!CHECK(pn_choices_new(&choices, set, "test", &err) == PN_OK))
            (void)fprintf(stderr, "%s\n", err.message);
        exact_choices_find_the_support(set, choices, rng);
        moves_are_within_their_bounds(set, choices, rng, tightest);
        if (which == 0 || which == 3) { /* the cube and signs: nothing is given away, in the norm that suits them */
            CHECK(tightest[PN_L1] > 1.0 - 1e-9);
            CHECK(which != 0 || (tightest[PN_L2] > 1.0 - 1e-9 && tightest[PN_LINF] > 1.0 - 1e-9));
        }
        pn_choices_free(choices);
        pn_set_free(set);
    }
    pn_rng_free(rng);
}

/* ---- what noise loses ---- */

/* Of `count` scores x below the largest, all alike: the mean loss for b = 1. */
static double loss_at(double count, double x)
{
    return count * x * exp(-x) / (1.0 + count * exp(-x));
}

/* The mean loss of permute-and-flip for b = 1 with scores x[0..2] below the largest: the chance of each is p_i times
 * the integral over [0, 1] of the product of 1 - p_j t over the others, a cubic, for which Simpson's rule is exact. */
static double flip_loss_at(const double *x)
{
    double p[4] = { 1.0, exp(-x[0]), exp(-x[1]), exp(-x[2]) }, loss = 0.0;

    for (int i = 1; i < 4; i++) {
        double at[3] = { 1.0, 1.0, 1.0 };

        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3 && j != i; k++)
                at[k] *= 1.0 - p[j] * 0.5 * k;
        loss += x[i - 1] * p[i] * (at[0] + 4.0 * at[1] + at[2]) / 6.0;
    }
    return loss;
}

static void losses_of_permute_and_flip_are_the_worst_ones(void)
{
    pn_set *cube = ball("linf_ball", 0, 0.5), *simplex = ball("simplex", 0, 1.0);
    pn_choices *of_cube = NULL, *of_simplex = NULL;
    double alike = 0.0, any = 0.0;

    CHECK(pn_choices_new(&of_cube, cube, "test", NULL) == PN_OK);
    CHECK(pn_choices_new(&of_simplex, simplex, "test", NULL) == PN_OK);
    CHECK_CLOSE(of_cube->flip_loss / DIM, 0.18393972058572117, 1e-9); /* 1/(2 e) */
    for (double x = 0.0; x < 6.0; x += 0.05) {
        alike = fmax(alike, flip_loss_at((double[]){ x, x, x }));
        for (double y = x; y < 6.0; y += 0.05)
            for (double z = y; z < 6.0; z += 0.05)
                any = fmax(any, flip_loss_at((double[]){ x, y, z }));
    }
    CHECK(any <= alike && any <= of_simplex->flip_loss);
    CHECK_CLOSE(of_simplex->flip_loss, alike, 1e-4);
    pn_choices_free(of_cube);
    pn_choices_free(of_simplex);
    pn_set_free(cube);
    pn_set_free(simplex);
}

static void losses_are_the_worst_ones(void)
{
    pn_set *cube = ball("linf_ball", 0, 0.5), *simplex = ball("simplex", 0, 1.0);
    pn_choices *of_cube = NULL, *of_simplex = NULL;
    double two = 0.0, four = 0.0;

    CHECK(pn_choices_new(&of_cube, cube, "test", NULL) == PN_OK);
    CHECK(pn_choices_new(&of_simplex, simplex, "test", NULL) == PN_OK);
    for (double x = 0.0; x < 6.0; x += 1e-3) {
        two = fmax(two, loss_at(1.0, x));
        four = fmax(four, loss_at(3.0, x));
    }
    CHECK_CLOSE(of_cube->loss / DIM, 0.278464542761, 1e-10); /* W(1/e) */
    CHECK_CLOSE(of_cube->loss / DIM, two, 1e-6);
    CHECK_CLOSE(of_simplex->loss, four, 1e-6);
    CHECK(of_cube->picks == DIM && of_cube->most == 2 && of_simplex->picks == 1 && of_simplex->most == DIM);
    pn_choices_free(of_cube);
    pn_choices_free(of_simplex);
    pn_set_free(cube);
    pn_set_free(simplex);
}

static void others_are_refused_by_name(void)
{
    pn_set *set = joined(ball("simplex", 0, 1.0), ball("l2_ball", 0, 1.0), true);
    pn_choices *choices = NULL;
    pn_err err;

    CHECK(pn_choices_new(&choices, set, "test", &err) == PN_EUNSUPPORTED && choices == NULL);
    CHECK(strstr(err.message, "l2_ball is none of these") && strstr(err.message, "frank_wolfe_convex"));
    pn_set_free(set);
}

static pn_status scenario(void *set, pn_err *err)
{
    pn_choices *choices = NULL;
    pn_status status = pn_choices_new(&choices, set, "test", err);

    pn_choices_free(choices);
    return status;
}

int main(void)
{
    pn_set *set = set_number(9);

    every_set_is_what_it_says();
    losses_are_the_worst_ones();
    losses_of_permute_and_flip_are_the_worst_ones();
    others_are_refused_by_name();
    CHECK(fail_alloc_sweep("choices", scenario, set) >= 4);
    pn_set_free(set);
    return check_summary();
}
