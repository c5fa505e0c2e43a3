/* smoothed_adversary_test.c -- what one record moves in a smoothed gradient of losses of margins: records of any size,
 * thetas and slopes at which values keep few digits of a coefficient.  Never more than the sensitivity,
 * and so nothing of what the others add.
 * Depends on: smoothed_helpers.h, batch_helpers.h. */
#include "runtime/objective/measures/smoothed_helpers.h"
#include "runtime/objective/passes/batch_helpers.h"

enum { N = 24, MOST_P = 9, MOST_OUT = 3 * MOST_P };

static uint64_t random_state = 99;

static double draw(void) /* [-1, 1) */
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-52 - 1.0;
}

static size_t draw_below(size_t n)
{
    return (size_t)((0.5 * draw() + 0.5) * (double)n);
}

static void draw_row(double *x, size_t p, bool strange)
{
    static const double sizes[] = { 0.0, 1e-320, 1e-150, 1e-8, 1.0, 30.0, 1e8, 1e154, 1.7e308 };

    for (size_t j = 0; j < p; j++)
        x[j] = draw() * (strange ? sizes[draw_below(9)] : 1.0);
}

static double label(const char *loss)
{
    return strcmp(loss, "softmax") == 0 ? 1.0 + (double)draw_below(3) : draw() < 0.0 ? -1.0 : 1.0;
}

/* Two neighbours: `y` and rows differ in record `where`. */
static void two_worlds(world at[2], const char *loss, size_t p, size_t where)
{
    double X[N * MOST_P], y[N];

    for (size_t i = 0; i < N; i++) {
        draw_row(X + i * p, p, false);
        y[i] = label(loss);
    }
    for (int k = 0; k < 2; k++) {
        draw_row(X + where * p, p, true);
        y[where] = label(loss);
        memset(&at[k], 0, sizeof at[k]);
        world_open(&at[k], make_loss(loss), X, N, p, y);
    }
}

static double apart(size_t n, const double *a, const double *b)
{
    double by[MOST_OUT];

    for (size_t j = 0; j < n; j++)
        by[j] = a[j] - b[j];
    return length(n, by);
}

static double attack(const char *loss, pn_smoothing how)
{
    static world at[2];
    size_t p = 1 + draw_below(MOST_P), where = draw_below(N), count = draw_below(2) ? N : where + 1, dim;
    double theta[MOST_OUT], other[MOST_OUT], out[2][MOST_OUT], most, distance = 0.1, size = draw_below(2) ? 1.0 : 1e4;

    two_worlds(at, loss, p, where);
    dim = pn_objective_dim(at[0].objective);
    for (size_t j = 0; j < dim; j++) {
        theta[j] = size * draw();
        other[j] = theta[j] + 0.5 * distance * draw() / sqrt((double)dim);
    }
    for (int k = 0; k < 2; k++)
        gradient(&at[k], &how, count, 3, theta, out[k]);
    most = apart(dim, out[0], out[1]) / pn_smoothed_sensitivity(&how, dim, count, pn_smoothed_norm(&how, dim));
    for (int k = 0; k < 2; k++)
        difference(&at[k], &how, count, 4, theta, other, distance, out[k]);
    most = fmax(most, apart(dim, out[0], out[1]) /
                          pn_smoothed_sensitivity(&how, dim, count, pn_smoothed_difference_norm(&how, dim, distance)));
    world_close(&at[0]);
    world_close(&at[1]);
    return most;
}

int main(void)
{
    static const char *const losses[] = { "logistic", "squared", "absolute", "hinge", "softmax" };
    /* at 1e-10 a last bit of a value is as much as a coefficient may be */
    static const double slopes[] = { 1.0, 1e-10 };
    double most = 0.0;

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        for (int round = 0; round < 300; round++) {
            pn_smoothing how = { .directions = (pn_directions)(round % 3),
                                 .radius = round % 7 ? 1e-3 : 0.5,
                                 .lipschitz = slopes[round / 3 % 2],
                                 .group = (size_t)(round / 6 % 3 * 5),
                                 .level = round % 3 == PN_DIRECTIONS_IID && round / 18 % 2 ? 1.7 : 0.0 };
            double reached = attack(losses[i], how);

            CHECK(reached <= 1.0);
            most = fmax(most, reached);
        }
    }
    CHECK(most > 0.99);
    return check_summary();
}
