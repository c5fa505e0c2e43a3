/* residual_certificate_test.c -- how near the minimum the residual of a projected step says a point is, on problems
 * whose minimum is known: f(x) = (x - m)' H (x - m)/2 - <v, x> with v normal to the set at m,
 * so that m is the minimum whatever H is.
 * Depends on: minimise/descent.h, geometry/convex/set.h, check.h. */
#include <string.h>

#include "check.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"
#include "random/rng.h"
#include "minimise/descent.h"

#define DIM 8

enum place { INTERIOR, FACE, VERTEX, PLACES };

typedef struct problem {
    double minimum[DIM], normal[DIM];
    double stiffness[DIM];  /* eigenvalues of H, from 1 up to kappa */
    double reflection[DIM]; /* eigenvectors: columns of I - 2 w w' */
    double kappa, strong;
} problem;

/* x <- (I - 2 w w') x */
static void reflect(const double *w, long double *x)
{
    long double along = 0.0L;

    for (size_t j = 0; j < DIM; j++)
        along += (long double)w[j] * x[j];
    for (size_t j = 0; j < DIM; j++)
        x[j] -= 2.0L * along * (long double)w[j];
}

static pn_status gradient(void *self, const double *x, double *out, pn_err *err)
{
    const problem *at = self;
    long double g[DIM];

    (void)err;
    for (size_t j = 0; j < DIM; j++)
        g[j] = (long double)x[j] - (long double)at->minimum[j];
    reflect(at->reflection, g);
    for (size_t j = 0; j < DIM; j++)
        g[j] *= (long double)at->stiffness[j];
    reflect(at->reflection, g);
    for (size_t j = 0; j < DIM; j++)
        out[j] = (double)(g[j] - (long double)at->normal[j]);
    return PN_OK;
}

static double uniform(pn_rng *rng, double low, double high)
{
    return low + (high - low) * pn_rng_uniform(rng);
}

/* A point of the unit ball and a normal of size up to `pull` there. */
static void in_l2_ball(pn_rng *rng, enum place place, double pull, problem *at)
{
    double size;

    pn_rng_normals(rng, DIM, at->minimum);
    if (place == VERTEX) { /* exactly on the sphere */
        memset(at->minimum, 0, sizeof at->minimum);
        at->minimum[3] = -1.0;
    }
    size = pn_lp_norm(PN_L2, DIM, at->minimum) * (place == INTERIOR ? uniform(rng, 1.1, 5.0) : 1.0);
    for (size_t j = 0; j < DIM; j++) {
        at->minimum[j] /= size;
        at->normal[j] = place == INTERIOR ? 0.0 : pull * at->minimum[j];
    }
}

/* Entries `first` to `last` - 1 share what there is. */
static void in_simplex(pn_rng *rng, enum place place, double pull, problem *at)
{
    size_t last = place == VERTEX ? 1 : place == FACE ? 3 : DIM;
    double left = 1.0;

    for (size_t j = 0; j < DIM; j++) {
        at->minimum[j] = j + 1 < last ? ldexp(floor(ldexp(uniform(rng, 0.05, 0.12), 20)), -20) : 0.0;
        left -= at->minimum[j];
        at->normal[j] = j < last ? pull : uniform(rng, -pull, pull);
    }
    at->minimum[last - 1] = left;
}

static void in_l1_ball(pn_rng *rng, enum place place, double pull, problem *at)
{
    in_simplex(rng, place == INTERIOR ? FACE : place, pull, at);
    for (size_t j = 0; j < DIM; j++) {
        double sign = j % 2 ? -1.0 : 1.0;

        at->minimum[j] *= place == INTERIOR ? 0.5 : sign;
        at->normal[j] *= place == INTERIOR ? 0.0 : sign;
    }
}

static void in_cube(pn_rng *rng, enum place place, double pull, problem *at)
{
    for (size_t j = 0; j < DIM; j++) {
        bool at_end = place == VERTEX || (place == FACE && j < 3);
        double sign = j % 2 ? -1.0 : 1.0;

        at->minimum[j] = at_end ? sign : uniform(rng, -0.9, 0.9);
        at->normal[j] = at_end ? sign * uniform(rng, 0.0, pull) : 0.0;
    }
}

static const struct {
    const char *set;
    void (*choose)(pn_rng *rng, enum place place, double pull, problem *at);
} rows[] = {
    { "l2_ball", in_l2_ball },
    { "simplex", in_simplex },
    { "l1_ball", in_l1_ball },
    { "linf_ball", in_cube },
};

#define ROWS (sizeof rows / sizeof rows[0])

static void choose(pn_rng *rng, size_t row, enum place place, double kappa, problem *at)
{
    double size;

    rows[row].choose(rng, place, uniform(rng, 0.0, 1.0) * kappa, at);
    for (size_t j = 0; j < DIM; j++)
        at->stiffness[j] = pow(kappa, (double)j / (DIM - 1.0));
    pn_rng_normals(rng, DIM, at->reflection);
    size = pn_lp_norm(PN_L2, DIM, at->reflection);
    for (size_t j = 0; j < DIM; j++)
        at->reflection[j] /= size;
    at->kappa = kappa;
    at->strong = 1.0;
}

static double distance_to_minimum(const problem *at, const double *x)
{
    double square = 0.0;

    for (size_t j = 0; j < DIM; j++)
        square += (x[j] - at->minimum[j]) * (x[j] - at->minimum[j]);
    return sqrt(square);
}

/* Steps that are enough, as objective_perturbation_problem.c counts them;
 * the largest slope over the set bounds that at the start. */
static double enough_steps(const problem *at, double tolerance)
{
    double slope = 2.0 * sqrt(DIM) * at->kappa + pn_lp_norm(PN_L2, DIM, at->normal);
    double near = tolerance * tolerance * at->strong / (64.0 * at->kappa * at->kappa);

    return 10.0 + sqrt(at->kappa / at->strong) * log(slope * slope / (at->strong * near));
}

/* The distance over what the certificate says of it. */
static double run(const pn_set *set, problem *at, bool known_step, double tolerance)
{
    double x[DIM], certificate = NAN, off;
    bool reached = false;
    pn_descent how = { .owner = "test",
                       .label = "test",
                       .gradient = gradient,
                       .self = at,
                       .set = set,
                       .p = DIM,
                       .strong_convexity = known_step ? at->strong : 0.0,
                       .smoothness = known_step ? at->kappa : 0.0,
                       .tolerance = tolerance,
                       .residual = true,
                       .most_steps = (size_t)enough_steps(at, tolerance),
                       .smooth = true,
                       .quiet = true };

    set->ops->center(set, x);
    CHECK(pn_descend(&how, x, &certificate, &reached, NULL) == PN_OK);
    CHECK(!known_step || reached);
    off = distance_to_minimum(at, x);
    /* and what rounding hides: of the projection, twice the smoothness of its error, and of the point */
    CHECK(off <= certificate / at->strong + 4.0 * at->kappa * 0x1p-53 * 100.0);
    return reached && certificate > 1e-7 * at->kappa ? off * at->strong / certificate : 0.0;
}

static void test_set(pn_rng *rng, size_t row)
{
    pn_arg args[4] = { { .given = true, .count = DIM }, { .given = true, .real = 1.0 }, { 0 } };
    double share = 0.0, known_share = 0.0;
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, rows[row].set, args, NULL) == PN_OK);
    for (int trial = 0; trial < 400; trial++) {
        problem at;
        double tolerance = pow(10.0, uniform(rng, -9.0, -1.0)), kappa = pow(10.0, uniform(rng, 0.2, 5.0));

        choose(rng, row, (enum place)(trial % PLACES), kappa, &at);
        share = fmax(share, run(set, &at, false, tolerance * kappa));
        known_share = fmax(known_share, run(set, &at, true, tolerance * kappa));
    }
    CHECK(share <= 1.0 + 1e-6 && share > 0.9);
    CHECK(known_share <= 1.0 + 1e-6 && known_share > 0.9);
    pn_set_free(set);
}

int main(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 8, NULL) == PN_OK);
    for (size_t row = 0; row < ROWS; row++)
        test_set(rng, row);
    pn_rng_free(rng);
    return check_summary();
}
