/* adversary_test.c -- what one record moves in everything that a stream measures, against somebody who picks the
 * leaves, those of the neighbour and where they differ, to the last bit, and climbs: never more than is charged.
 * The lattice's step is 1 here and records move leaves by about a step, so that rounding is most of what there is to
 * hide: a charge that forgets any of it is too small by much.
 * Shifts are exact: releases are whole numbers below 2^53, and noise has its address.
 * Depends on: check.h, prefix_kit.h, continual/. */
#include <math.h>

#include "continual/binary_prefix.h"
#include "continual/prefix_state.h"
#include "continual/toeplitz.h"

#include "runtime/continual/prefix_kit.h"

enum { LONGEST = 13, MOST_DIM = 3, MOST = LONGEST * MOST_DIM };

/* A pair of neighbours: leaves, and how the other's differ in those that `where` names. */
typedef struct pair {
    double leaf[MOST], moved[MOST];
} pair;

typedef struct duel {
    pn_prefix_design *design;
    size_t dim, horizon;
    double bound, sensitivity;
    /* of factorizations C = C' diag(scale): C' with ones on its diagonal; all of scale are powers of 2 */
    double c[LONGEST][LONGEST], scale[LONGEST];
} duel;

static uint64_t random_state = 20241121;

static double draw(void) /* [0, 1) */
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

static size_t draw_below(size_t n)
{
    return (size_t)(draw() * (double)n);
}

/* ---- what is measured ---- */

static void run(const duel *self, const double *leaves, double *out, pn_prefix **kept)
{
    pn_prefix *stream = stream_of(self->design, 77);

    for (size_t t = 0; t < self->horizon; t++)
        CHECK(pn_prefix_push(stream, leaves + t * self->dim, out + t * self->dim, NULL, NULL) == PN_OK);
    *kept = stream;
}

/* All measurements of estimator "full", whose state keeps them. */
static double moved_in_full(const duel *self, const pn_prefix *one, const pn_prefix *two)
{
    const binary_tree *tree = (const binary_tree *)self->design->method;
    pn_prefix_block view[2] = { pn_prefix_view(one, 0), pn_prefix_view(two, 0) };
    double sum = 0.0;

    for (unsigned i = 0; i < tree->levels; i++) {
        for (uint64_t j = 0; j < binary_nodes(tree, i); j++) {
            size_t at = (3 * (size_t)i + tree->offset[i] + 3 + j) * view[0].stride;

            for (size_t k = 0; k < self->dim; k++) {
                double moved = ((double *)(void *)view[1].state)[at + k] - ((double *)(void *)view[0].state)[at + k];

                sum += moved * moved;
            }
        }
    }
    return sum;
}

/* Of plain trees the node that ends at t is the difference of two releases; in units of the least noise. */
static double moved_in_nodes(const duel *self, const double *one, const double *two)
{
    const binary_tree *tree = (const binary_tree *)self->design->method;
    double sum = 0.0;

    for (size_t t = 1; t <= self->horizon; t++) {
        size_t rest = binary_halves(tree, t) ? t / 2 : t & (t - 1);
        double share = binary_own(tree, binary_level(tree, t), t >> binary_level(tree, t));

        for (size_t k = 0; k < self->dim; k++) {
            size_t at = (t - 1) * self->dim + k, before = (rest - 1) * self->dim + k;
            double moved = (two[at] - (rest ? two[before] : 0.0)) - (one[at] - (rest ? one[before] : 0.0));

            sum += moved * moved / share;
        }
    }
    return sum;
}

/* K that releases whose leaves are m, when u = m + w is released: K_t = w_t + round(sum_s C'_ts w_s), in steps of leaf
 * t, which are 1 / scale_t long. */
static double noise_behind(const duel *self, const double *out, const double *leaves, size_t t, size_t k)
{
    double w[LONGEST];
    long double mixed = 0.0L;

    for (size_t s = 0; s <= t; s++) {
        size_t at = s * self->dim + k;

        w[s] =
            (out[at] - (s > 0 ? out[at - self->dim] : 0.0)) * self->scale[s] - nearbyint(leaves[at] * self->scale[s]);
    }
    for (size_t s = t; s-- > 0;)
        mixed += (long double)self->c[t][s] * w[s];
    return w[t] + (double)nearbyintl(mixed);
}

/* What was released has the neighbour's leaves behind it under other noise: how far away,
 * whatever it is that was released. */
static double moved_in_rows(const duel *self, const pair *at, const double *out)
{
    double other[MOST], sum = 0.0;

    for (size_t i = 0; i < self->horizon * self->dim; i++)
        other[i] = at->leaf[i] + at->moved[i];
    for (size_t t = 0; t < self->horizon; t++) {
        for (size_t k = 0; k < self->dim; k++) {
            double moved = noise_behind(self, out, other, t, k) - noise_behind(self, out, at->leaf, t, k);

            sum += moved * moved;
        }
    }
    return sum;
}

/* The l2 norm of all shifts, in steps. */
static double moved(const duel *self, const pair *at)
{
    const pn_prefix_options *options = &self->design->options;
    double other[MOST], out[2][MOST], sum;
    pn_prefix *one, *two;

    for (size_t i = 0; i < self->horizon * self->dim; i++)
        other[i] = at->leaf[i] + at->moved[i];
    run(self, at->leaf, out[0], &one);
    run(self, other, out[1], &two);
    if (self->design->ops != &pn_prefix_binary)
        sum = moved_in_rows(self, at, out[0]);
    else if (options->estimator == PN_PREFIX_FULL)
        sum = moved_in_full(self, one, two);
    else
        sum = moved_in_nodes(self, out[0], out[1]);
    pn_prefix_free(one);
    pn_prefix_free(two);
    return sqrt(sum);
}

/* ---- climbing ---- */

/* Leaves of which one record may be in: at most q, at least b apart. */
static void draw_places(const duel *self, bool *where)
{
    const pn_prefix_options *options = &self->design->options;
    size_t next = draw_below(self->horizon);

    memset(where, 0, LONGEST * sizeof *where);
    for (size_t q = 0; q < options->participations && next < self->horizon; q++) {
        where[next] = true;
        next += options->separation + (draw_below(3) == 0);
    }
}

/* A leaf near where rounding turns, and a difference as long as it may be. */
static void draw_leaf(const duel *self, pair *at, size_t t, bool differs)
{
    const double *each = self->design->options.sensitivities;
    double limit = each ? each[t] : self->sensitivity, norm = 0.0;
    double *leaf = at->leaf + t * self->dim, *by = at->moved + t * self->dim, scale = self->scale[t];

    for (size_t k = 0; k < self->dim; k++) {
        leaf[k] = floor((draw() - 0.5) * self->bound * scale) + 0.5 + (draw() - 0.5) * (draw_below(2) ? 0.02 : 1.0);
        leaf[k] /= scale;
        by[k] = differs ? (draw_below(4) ? 1.0 : draw() * 2.0 - 1.0) : 0.0;
        norm += by[k] * by[k];
    }
    for (size_t k = 0; norm > 0.0 && k < self->dim; k++)
        by[k] *= limit * (1.0 - 0x1p-50) / sqrt(norm);
}

static double climb(const duel *self, int starts, int steps)
{
    double most = 0.0;

    for (int start = 0; start < starts; start++) {
        bool where[LONGEST];
        pair best = { { 0.0 }, { 0.0 } };
        double reached;

        draw_places(self, where);
        for (size_t t = 0; t < self->horizon; t++)
            draw_leaf(self, &best, t, where[t]);
        reached = moved(self, &best);
        for (int step = 0; step < steps; step++) {
            pair next = best;
            size_t t = draw_below(self->horizon);
            double to;

            draw_leaf(self, &next, t, where[t]);
            to = moved(self, &next);
            if (to >= reached) {
                best = next;
                reached = to;
            }
        }
        most = fmax(most, reached);
    }
    return most;
}

/* ---- designs ---- */

static void fill_factorization(duel *self, const pn_prefix_options *options)
{
    const pn_mat *given = &options->matrix;
    double c[LONGEST] = { 0.0 };

    if (self->design->ops == &pn_prefix_blt)
        pn_toeplitz_blt(options->theta.n, options->theta.data, options->omega.data, LONGEST, c);
    else
        pn_toeplitz_sqrt(options->bands > 0 ? options->bands : LONGEST, c);
    for (size_t t = 0; t < self->horizon; t++) {
        self->scale[t] = given->rows > 0 ? given->data[t * given->cols + t] : 1.0;
        for (size_t s = 0; s <= t; s++)
            self->c[t][s] = given->rows > 0 ? given->data[t * given->cols + s] / self->scale[s] : c[t - s];
    }
}

static double share_reached(pn_prefix_options options, double sensitivity)
{
    duel self = { .dim = options.dim, .horizon = options.horizon, .bound = 100.0, .sensitivity = sensitivity };
    double charged, reached;

    options.sigma = 0x1p40; /* a step is 1 */
    options.sensitivity = options.sensitivities ? 0.0 : sensitivity;
    options.bound = self.bound;
    self.design = design_of(options);
    CHECK(self.design->method->step == 1.0);
    fill_factorization(&self, &options);
    charged = pn_prefix_design_mu(self.design) * 0x1p40;
    reached = climb(&self, 8, 20);
    CHECK(reached <= charged);
    /* columns of a matrix differ, and the climb begins at any */
    CHECK(reached >= (options.matrix.rows > 0 ? 0.2 : 0.5) * pn_prefix_gain(self.design) * sensitivity);
    pn_prefix_design_free(self.design);
    return reached / charged;
}

static double worst_share(pn_prefix_options options)
{
    static const double sensitivities[] = { 0.01, 0.75, 3.3, 40.0 };
    double most = 0.0;

    for (options.dim = 1; options.dim <= MOST_DIM; options.dim++) {
        for (size_t i = 0; i < 4; i += (size_t)check_times(3, 1))
            most = fmax(most, share_reached(options, sensitivities[i]));
    }
    return most;
}

static void no_tree_moves_more_than_is_charged(void)
{
    static const size_t horizons[] = { 1, 4, 8, 11 };

    for (size_t i = 0; i < 4; i++) {
        pn_prefix_options options = unit_noise(1, horizons[i]);

        CHECK(worst_share(options) > 0.8);
        options.memory = PN_PREFIX_REGENERATE;
        CHECK(worst_share(options) > 0.8);
        options.memory = PN_PREFIX_KEEP;
        options.participations = 3;
        options.separation = 2;
        CHECK(worst_share(options) > 0.6);
        options.participations = options.separation = 0;
        options.estimator = PN_PREFIX_FULL;
        if (horizons[i] != 11)
            CHECK(worst_share(options) > 0.8);
    }
}

static void no_tree_of_unequal_nodes_moves_more_than_is_charged(void)
{
    static const double shapes[3][LONGEST] = { { 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
                                               { 1, 2, .5, 3, .1, .1, .1, .2, 1.7, 1, .25, 1, 1 },
                                               { .01, .01, 5, .01, .01, .01, .01, .01, 1, .01, .01, .01, .01 } };

    static const double scales[] = { 1.0, 0.01 }; /* rounding is little; rounding is all */

    for (size_t i = 0; i < 6; i++) {
        pn_prefix_options options = unit_noise(2, 11);
        double sensitivities[LONGEST];

        for (size_t t = 0; t < LONGEST; t++)
            sensitivities[t] = scales[i / 3] * shapes[i % 3][t];
        options.sensitivities = sensitivities;
        options.scale = PN_PREFIX_BY_NODE;
        CHECK(share_reached(options, 0.0) > 0.05);
    }
}

static void no_factorization_moves_more_than_is_charged(void)
{
    static const double theta[] = { 0.9, 0.5 }, omega[] = { 0.2, 0.25 };
    static const size_t participations[] = { 1, 3 };

    for (size_t i = 0; i < 2; i++) {
        pn_prefix_options options = unit_noise(1, LONGEST);

        options.participations = participations[i];
        options.separation = i == 0 ? 0 : 2;
        options.factorization = "sqrt";
        CHECK(worst_share(options) > 0.4);
        options.factorization = "banded";
        options.bands = 3;
        CHECK(worst_share(options) > 0.4);
        options.factorization = "blt";
        options.bands = 0;
        options.theta = (pn_vec){ (double *)theta, 2 };
        options.omega = (pn_vec){ (double *)omega, 2 };
        CHECK(worst_share(options) > 0.4);
    }
}

/* Long steps, where rounding is all there is: of a leaf, and of the noise of those after it. */
static void rounding_is_charged_in_the_steps_of_the_leaf(void)
{
    enum { T = 6 };
    double one[] = { 0.125 }, six[T * T] = { 0.0 };
    pn_prefix_options options = unit_noise(1, 1);

    options.factorization = "matrix";
    options.matrix = (pn_mat){ one, 1, 1 };
    CHECK(worst_share(options) > 0.8);
    for (size_t t = 0; t < T; t++) {
        six[t * T] = 0.05 + 0.025 * (double)t;
        six[t * T + t] = 0.25;
    }
    options.horizon = T;
    options.matrix = (pn_mat){ six, T, T };
    CHECK(worst_share(options) > 0.4);
}

/* Of any signs, with steps of leaves that differ by a factor of 4. */
static void no_matrix_moves_more_than_is_charged(void)
{
    static const size_t bands[] = { 1, 3, LONGEST };
    double c[LONGEST * LONGEST];
    pn_prefix_options options = unit_noise(1, LONGEST);

    options.factorization = "matrix";
    options.matrix = (pn_mat){ c, LONGEST, LONGEST };
    for (size_t i = 0; i < 6; i++) {
        for (size_t t = 0; t < LONGEST; t++)
            for (size_t s = 0; s < LONGEST; s++)
                c[t * LONGEST + s] = s == t                          ? ldexp(1.0, (int)draw_below(3) - 1)
                                     : s < t && t - s < bands[i % 3] ? draw() - 0.5
                                                                     : 0.0;
        options.participations = i < 3 ? 1 : 3;
        options.separation = i < 3 ? 0 : 2;
        CHECK(worst_share(options) > 0.4);
    }
}

int main(void)
{
    no_tree_moves_more_than_is_charged();
    no_tree_of_unequal_nodes_moves_more_than_is_charged();
    no_factorization_moves_more_than_is_charged();
    rounding_is_charged_in_the_steps_of_the_leaf();
    no_matrix_moves_more_than_is_charged();
    return check_summary();
}
