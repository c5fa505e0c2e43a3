/* smoothed_test.c -- what holds of a smoothed gradient for every loss and every draw: norms and sensitivities against
 * adversaries, values that are no numbers, directions, agreement of black boxes and losses of margins,
 * threads, failures.
 * Depends on: smoothed_helpers.h, fail_alloc.h, numeric/lanczos.h. */
#include "runtime/objective/measures/smoothed_helpers.h"

#include "fail_alloc.h"
#include "numeric/lanczos.h"

static pn_smoothing plain(pn_directions directions)
{
    return (pn_smoothing){ .directions = directions, .radius = 0.25, .lipschitz = 1.0 };
}

/* ---- an adversary: it sees all points of a record, hence the directions, and answers as it likes ---- */

typedef enum answers { SIGNS, CONSISTENT, STRANGE } answers;

typedef struct adversary {
    answers kind;
    double radius, center[DIM_MAX];
    size_t lines, sides;
    unsigned state;
    double rows[DIM_MAX * DIM_MAX]; /* of the last call */
    double sign;                    /* of everything */
} adversary;

static unsigned next(adversary *self)
{
    self->state = self->state * 1664525u + 1013904223u;
    return self->state >> 8;
}

/* Signs that make || sum_j s_j u_j || large: each in turn on the side of the sum of the others. */
static void long_signs(const adversary *self, size_t dim, double *signs)
{
    for (size_t j = 0; j < self->lines; j++)
        signs[j] = 1.0;
    for (int round = 0; round < 4; round++) {
        for (size_t j = 0; j < self->lines; j++) {
            double along = 0.0;

            for (size_t k = 0; k < self->lines; k++) {
                for (size_t i = 0; k != j && i < dim; i++)
                    along += signs[k] * self->rows[k * dim + i] * self->rows[j * dim + i];
            }
            signs[j] = along < 0.0 ? -1.0 : 1.0;
        }
    }
}

/* The values at +-u_j that a Lipschitz function can have and that make the coefficients longest: zeroth-order.md
 * section 3. */
static double consistent(size_t dim, size_t j)
{
    if (dim == 2)
        return j == 0 ? 1.0 : sqrt(2.0) - 1.0;
    return dim == 1 ? 1.0 : sqrt(0.5);
}

static double strange(adversary *self)
{
    static const double values[] = { NAN, INFINITY, -INFINITY, 1.7e308, -1.7e308, 0.0, 1e-320, 1.0, -3.0 };

    return values[next(self) % 9];
}

static pn_status adversary_values(void *context, const double *thetas, size_t count, size_t dim,
                                  const pn_record *record, double *values, pn_err *err)
{
    adversary *self = context;
    double signs[DIM_MAX];

    (void)record, (void)err;
    self->lines = count / self->sides;
    for (size_t j = 0; j < self->lines * dim; j++)
        self->rows[j] = (thetas[j] - self->center[j % dim]) / self->radius;
    long_signs(self, dim, signs);
    for (size_t t = 0; t < count; t++) {
        size_t side = t / self->lines, j = t % self->lines;
        double way = (side % 2 ? -1.0 : 1.0) * (side < 2 ? 1.0 : -1.0) * self->sign;

        values[t] = self->kind == SIGNS        ? 1e9 * way * signs[j]
                    : self->kind == CONSISTENT ? way * self->radius * consistent(dim, j)
                                               : strange(self);
    }
    return PN_OK;
}

typedef struct duel {
    world at;
    adversary adversary;
} duel;

static void duel_open(duel *self, answers kind, const pn_smoothing *how, size_t dim, size_t sides)
{
    const double x = 0.0, y = 0.0;
    pn_loss *loss = NULL;
    pn_err err;

    memset(self, 0, sizeof *self);
    self->adversary = (adversary){ .kind = kind, .radius = how->radius, .sides = sides, .state = 7, .sign = 1.0 };
    CHECK(pn_loss_black_box(&loss, adversary_values, NULL, &self->adversary, dim, 1.0, &err) == PN_OK);
    world_open(&self->at, loss, &x, 1, 1, &y);
}

/* The largest norm that `draws` records reach, relative to the bound; of gradients,
 * or of differences at `distance` > 0. */
static double reached(answers kind, pn_smoothing how, size_t dim, double distance, size_t draws)
{
    double theta[DIM_MAX] = { 0.0 }, other[DIM_MAX] = { 0.0 }, out[DIM_MAX], most = 0.0;
    double bound = distance > 0.0 ? pn_smoothed_difference_norm(&how, dim, distance) : pn_smoothed_norm(&how, dim);
    static duel self;

    duel_open(&self, kind, &how, dim, distance > 0.0 ? 4 : 2);
    other[0] = distance;
    for (size_t draw = 0; draw < draws; draw++) {
        if (distance > 0.0)
            difference(&self.at, &how, 1, draw, theta, other, distance, out);
        else
            gradient(&self.at, &how, 1, draw, theta, out);
        most = fmax(most, length(dim, out) / bound);
        CHECK(length(dim, out) <= bound);
    }
    world_close(&self.at);
    return most;
}

static const size_t dims[] = { 1, 2, 3, 5, 10, 54 };

/* Item 3.  Orthogonal directions and one direction reach their bound on every draw. */
static void check_norms(void)
{
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        for (size_t group = 0; group <= 3; group += 3) {
            pn_smoothing orthogonal = plain(PN_DIRECTIONS_ORTHOGONAL), iid = plain(PN_DIRECTIONS_IID);
            pn_smoothing one = plain(PN_DIRECTIONS_ONE);

            orthogonal.group = iid.group = one.group = group;
            CHECK(reached(SIGNS, orthogonal, dims[i], 0.0, 20) > 1.0 - 1e-11);
            CHECK(reached(SIGNS, orthogonal, dims[i], 0.1, 20) > 1.0 - 1e-11);
            CHECK(reached(SIGNS, orthogonal, dims[i], 3.0, 20) > 1.0 - 1e-11);
            CHECK(reached(SIGNS, one, dims[i], 0.0, 20) > 1.0 - 1e-11);
            CHECK(reached(SIGNS, one, dims[i], 0.1, 20) > 1.0 - 1e-11);
            CHECK(reached(SIGNS, iid, dims[i], 0.0, 20) > (dims[i] < 3 ? 0.9 : 0.2));
            CHECK(reached(SIGNS, iid, dims[i], 0.1, 20) > (dims[i] < 3 ? 0.9 : 0.2));
            (void)reached(STRANGE, orthogonal, dims[i], 0.0, 20);
            (void)reached(STRANGE, orthogonal, dims[i], 0.1, 20);
            (void)reached(STRANGE, iid, dims[i], 0.0, 20);
            (void)reached(STRANGE, one, dims[i], 0.1, 20);
        }
    }
    CHECK(reached(SIGNS, plain(PN_DIRECTIONS_IID), 2, 0.0, 2000) > 0.999);
    CHECK(reached(SIGNS, plain(PN_DIRECTIONS_IID), 3, 0.0, 4000) > 0.95);
}

/* Directions within a level: two of them reach it with coefficients of one size.  No level is too low to end. */
static void check_level(void)
{
    pn_smoothing how = plain(PN_DIRECTIONS_IID);

    how.level = 1.3;
    CHECK(reached(SIGNS, how, 2, 0.0, 500) > 0.97);
    CHECK(reached(SIGNS, how, 2, 0.1, 500) > 0.97);
    how.level = 1.8;
    CHECK(reached(SIGNS, how, 10, 0.0, 300) > 0.7);
    how.level = 1.0 + 1e-9;
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
        CHECK(reached(SIGNS, how, dims[i], 0.0, 3) > 1.0 - 1e-8);
}

/* Values of a function that is Lipschitz reach kappa_d, and no more, with orthogonal directions. */
static void check_kappa(void)
{
    static const double kappa[] = { 1.0, 1.0823922, 1.2247449, 1.5811388, 2.2360680 };

    for (size_t i = 0; i < 5; i++) {
        size_t dim = dims[i];
        pn_smoothing how = plain(PN_DIRECTIONS_ORTHOGONAL);
        double theta[DIM_MAX] = { 0.0 }, out[DIM_MAX];
        static duel self;

        duel_open(&self, CONSISTENT, &how, dim, 2);
        gradient(&self.at, &how, 1, 0, theta, out);
        CHECK_CLOSE(length(dim, out), kappa[i], 1e-6);
        for (size_t j = 0; j < dim; j++) { /* +-u_j and +-u_k are sqrt(2) radius apart, u_j and -u_j 2 radius */
            CHECK(consistent(dim, j) <= 1.0);
            for (size_t k = 0; k < j; k++)
                CHECK(consistent(dim, j) + consistent(dim, k) <= sqrt(2.0) * (1.0 + 1e-15));
        }
        world_close(&self.at);
    }
}

/* ---- directions ---- */

static void check_rows(pn_directions directions, double level, size_t dim)
{
    pn_smoothing how = plain(directions);
    double theta[DIM_MAX] = { 0.0 }, out[DIM_MAX], u[DIM_MAX], v[DIM_MAX], sigma;
    static duel self;
    pn_err err;

    how.level = level;
    duel_open(&self, SIGNS, &how, dim, 2);
    for (size_t draw = 0; draw < 20; draw++) {
        const double *rows = self.adversary.rows;

        gradient(&self.at, &how, 1, draw, theta, out);
        CHECK(self.adversary.lines == (directions == PN_DIRECTIONS_ONE ? 1 : dim));
        for (size_t j = 0; j < self.adversary.lines; j++) {
            for (size_t k = 0; k <= j && (j == k || directions == PN_DIRECTIONS_ORTHOGONAL); k++) {
                double product = 0.0;

                for (size_t i = 0; i < dim; i++)
                    product += rows[j * dim + i] * rows[k * dim + i];
                CHECK_CLOSE(product, j == k ? 1.0 : 0.0, 1e-13 * (double)(dim + 4));
            }
        }
        if (level > 0.0) {
            CHECK(pn_top_singular(&sigma, u, v, (pn_mat){ self.adversary.rows, dim, dim }, 1e-12, &err) == PN_OK);
            CHECK(sigma <= level * (1.0 + 1e-13));
        }
    }
    world_close(&self.at);
}

/* Haar measure: every entry of U has mean 0, mean square 1/d and mean fourth power 3 / (d (d + 2)); without the signs
 * of the diagonal the first fails.  6 standard errors and 3 * 3 * 9 comparisons: 2e-7. */
static void check_haar(pn_directions directions, double level)
{
    enum { D = 3, DRAWS = 20000 };
    pn_smoothing how = plain(directions);
    double theta[D] = { 0.0 }, out[D], sums[3][D * D] = { { 0.0 } };
    const double want[3] = { 0.0, 1.0 / D, 3.0 / (D * (D + 2.0)) }, spread[3] = { 0.58, 0.30, 0.27 };
    static duel self;

    how.level = level;
    duel_open(&self, SIGNS, &how, D, 2);
    for (size_t draw = 0; draw < DRAWS; draw++) {
        gradient(&self.at, &how, 1, draw, theta, out);
        for (size_t j = 0; j < D * D; j++) {
            double u = self.adversary.rows[j];

            sums[0][j] += u;
            sums[1][j] += u * u;
            sums[2][j] += u * u * u * u;
        }
    }
    for (int power = 0; power < 3; power++) {
        for (size_t j = 0; j < D * D; j++)
            CHECK_CLOSE(sums[power][j] / DRAWS, want[power], 6.0 * spread[power] / sqrt(DRAWS));
    }
    world_close(&self.at);
}

/* ---- sensitivity ---- */

/* A box that answers one record in one way and all others in another: a neighbour is the same with that record
 * turned. */
static pn_status turned_values(void *context, const double *thetas, size_t count, size_t dim, const pn_record *record,
                               double *values, pn_err *err)
{
    adversary *self = context;
    double sign = self->sign;
    pn_status status;

    self->sign = record->row == 2 ? sign : 1.0;
    status = adversary_values(self, thetas, count, dim, record, values, err);
    self->sign = sign;
    return status;
}

static void check_sensitivity(pn_smoothing how, size_t dim, size_t count, double least)
{
    const double x[5] = { 0.0 }, y[5] = { 0.0 };
    double theta[DIM_MAX] = { 0.0 }, out[DIM_MAX], turned[DIM_MAX], apart, bound;
    adversary turns = { .kind = SIGNS, .radius = how.radius, .sides = 2, .sign = 1.0 };
    world at = { 0 };
    pn_loss *loss = NULL;
    pn_err err;

    CHECK(pn_loss_black_box(&loss, turned_values, NULL, &turns, dim, 1.0, &err) == PN_OK);
    world_open(&at, loss, x, 5, 1, y);
    at.rows[2] = 2;
    for (size_t r = 3; r < count; r++)
        at.rows[r] = r % 2;
    gradient(&at, &how, count, 3, theta, out);
    turns.sign = -1.0;
    gradient(&at, &how, count, 3, theta, turned);
    for (size_t j = 0; j < dim; j++)
        turned[j] -= out[j];
    apart = length(dim, turned);
    bound = pn_smoothed_sensitivity(&how, dim, count, pn_smoothed_norm(&how, dim));
    CHECK(apart <= bound);
    CHECK(apart >= least * bound);
    CHECK(bound <= 2.0 * pn_smoothed_norm(&how, dim) / (double)count * (1.0 + 1e-8));
    world_close(&at);
}

/* Item 4's s1 and s2, whose unit is a record's norm. */
static void check_figures(void)
{
    pn_smoothing iid = { .directions = PN_DIRECTIONS_IID, .radius = 0.05, .lipschitz = 1.0 }, orthogonal = iid;

    orthogonal.directions = PN_DIRECTIONS_ORTHOGONAL;
    CHECK_CLOSE(2.0 * pn_smoothed_norm(&iid, 10) / 64.0, 0.3125, 1e-10);
    CHECK_CLOSE(2.0 * pn_smoothed_difference_norm(&iid, 10, 0.002) / 2.0, 0.4, 1e-10);
    CHECK_CLOSE(2.0 * pn_smoothed_norm(&orthogonal, 10) / 64.0, 0.098821, 5e-7);
    CHECK_CLOSE(2.0 * pn_smoothed_difference_norm(&orthogonal, 10, 0.002) / 2.0, 0.126491, 5e-7);
    CHECK(pn_smoothed_norm(&orthogonal, 10) >= sqrt(10.0));
    CHECK(pn_smoothed_norm(&orthogonal, 10) <= sqrt(10.0) * (1.0 + 1e-12));
    CHECK_CLOSE(pn_smoothed_curvature(1), 1.0, 1e-13);
    CHECK_CLOSE(pn_smoothed_curvature(2), 1.2732, 5e-5);
    CHECK_CLOSE(pn_smoothed_curvature(3), 1.5, 1e-13);
    CHECK_CLOSE(pn_smoothed_curvature(10), 2.5869, 5e-5);
    CHECK_CLOSE(pn_smoothed_curvature(54), 5.8904, 5e-5);
}

int main(void)
{
    check_norms();
    check_level();
    check_kappa();
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        check_rows(PN_DIRECTIONS_ORTHOGONAL, 0.0, dims[i]);
        check_rows(PN_DIRECTIONS_IID, 0.0, dims[i]);
        check_rows(PN_DIRECTIONS_IID, 1.9, dims[i]);
        check_rows(PN_DIRECTIONS_IID, 1.001, dims[i]);
        check_rows(PN_DIRECTIONS_ONE, 0.0, dims[i]);
    }
    check_haar(PN_DIRECTIONS_ORTHOGONAL, 0.0);
    check_haar(PN_DIRECTIONS_IID, 0.0);
    check_haar(PN_DIRECTIONS_IID, 1.4);
    check_haar(PN_DIRECTIONS_IID, 1.01);
    for (size_t group = 0; group <= 8; group += 4) {
        pn_smoothing how = plain(PN_DIRECTIONS_ORTHOGONAL), one = plain(PN_DIRECTIONS_ONE);

        how.group = one.group = group;
        check_sensitivity(how, 10, 3, 1.0 - 1e-9);
        check_sensitivity(how, 10, 500, 1.0 - 1e-9);
        check_sensitivity(how, 54, 40, 1.0 - 1e-9);
        check_sensitivity(one, 10, 500, 1.0 - 1e-9);
    }
    check_figures();
    return check_summary();
}
