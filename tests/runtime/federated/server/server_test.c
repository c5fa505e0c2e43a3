/* server_test.c -- the server against parties of plain arithmetic: the same x as Frank-Wolfe on the product set and on
 * the ball, what "stay" is for, q = J A x, what is said and how often.
 * Depends on: server_kit.h.  The numbers are those of distributed-frank-wolfe.md section 4. */
#include <stdio.h>

#include "runtime/federated/server/server_kit.h"

/* ---- what x becomes ---- */

static void is_product_frank_wolfe(void)
{
    party_double parties;
    pn_terms terms[K];
    double x[D], want[D];

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 3, 0.5, false, double_identity(N), terms);
    run(&parties, terms, 300, x);
    frank_wolfe(K, 0.5, 300, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(x[i], want[i], 1e-12);
    double_close(&parties);
}

static void is_frank_wolfe_on_the_ball(void)
{
    party_double parties;
    pn_terms terms[K];
    double x[D], want[D];

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_BALL, 0, 1.0, false, double_identity(N), terms);
    run(&parties, terms, 300, x);
    frank_wolfe(1, 1.0, 300, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(x[i], want[i], 1e-12);
    double_close(&parties);
}

static double loss_of(pn_federated_mode mode, size_t tau, double radius, bool stay, size_t rounds)
{
    party_double parties;
    pn_terms terms[K];
    double x[D] = { 0 };

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, mode, tau, radius, stay, double_identity(N), terms);
    run(&parties, terms, rounds, x);
    double_close(&parties);
    return loss_at(x, NULL);
}

/* A block that is sampled and not whole needs the candidate that leaves it alone. */
static void stay_makes_sampling_right(void)
{
    double x[D], best, on_ball;

    frank_wolfe(K, 0.5, 400000, x);
    best = loss_at(x, NULL);
    CHECK_CLOSE(loss_of(PN_FEDERATED_PRODUCT, 1, 0.5, true, 4000), best, 1e-5);
    CHECK(loss_of(PN_FEDERATED_PRODUCT, 1, 0.5, false, 4000) > best + 1e-2);
    frank_wolfe(1, 1.0, 400000, x);
    on_ball = loss_at(x, NULL);
    CHECK_CLOSE(loss_of(PN_FEDERATED_BALL, 2, 1.0, true, 4000), on_ball, 1e-4);
}

/* d = 2, tau = 1, f = -x_1 on the unit l1 ball. */
static double counterexample(bool stay, double *second)
{
    party_double parties;
    pn_terms terms;
    double x[2] = { 0 };

    double_open(&parties, 1, NULL, NULL, 1, 2);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 1, 1.0, stay, double_identity(1), &terms);
    run(&parties, &terms, 20000, x);
    double_close(&parties);
    *second = x[1];
    return x[0];
}

/* Without: x_1 is a mean of coins with weights ~ t^3, standard deviation 0.0047 after 20000 rounds;
 * 0.03 is more than 6 of them. */
static void counterexample_of_sampling(void)
{
    double second;

    CHECK_CLOSE(counterexample(false, &second), 0.5, 0.03);
    CHECK_CLOSE(fabs(second), 0.5, 0.03);
    CHECK(counterexample(true, &second) > 0.999999);
}

/* ---- q ---- */

static void check_margin(party_double *parties, const pn_server *server, size_t m)
{
    double x[D], want[N] = { 0 }, feature[N];

    pn_server_model(server, x);
    for (size_t k = 0; k < K; k++) {
        for (size_t i = 0; i < D / K; i++) {
            double_feature(parties, k, i, feature);
            for (size_t l = 0; l < m; l++)
                want[l] += x[k * (D / K) + i] * feature[l];
        }
    }
    for (size_t l = 0; l < m; l++)
        CHECK_CLOSE(pn_server_margin(server)[l], want[l], 1e-12);
}

static void margin_is_sketch_of_model(pn_sketch_kind kind, size_t m)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 2, 0.5, true, (pn_sketch_shape){ kind, m, N, 3 }, terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    for (size_t t = 0; t < 50; t++) {
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
        CHECK(made.round == t + 1);
        CHECK_CLOSE(made.step_size, 2.0 / (2.0 / 3.0 * (double)t + 2.0), 1e-15);
        check_margin(&parties, server, m);
    }
    pn_server_free(server);
    CHECK(parties.farewell == PN_MESSAGE_REFUSED && strcmp(parties.reason, "stopped") == 0);
    double_close(&parties);
}

/* ---- what is said ---- */

static void uplink(size_t n, uint64_t *scalars)
{
    static double longer[2 * N * D], labels[2 * N];
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    enum { T = 40, M = 16 };

    for (size_t j = 0; j < n; j++) {
        memcpy(longer + j * D, A + (j % N) * D, D * sizeof *longer);
        labels[j] = Y[j % N];
    }
    double_open(&parties, K, longer, labels, n, D);
    /* one sampled column and no "stay": each of the columns is chosen at some time */
    double_terms(&parties, PN_FEDERATED_PRODUCT, 1, 0.5, false, (pn_sketch_shape){ PN_SKETCH_GAUSSIAN, M, n, 3 },
                 terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    for (size_t t = 0; t < T; t++)
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
    *scalars = parties.base.peers[0].scalars_up + parties.base.peers[1].scalars_up;
    CHECK(*scalars == K * T + M * pn_server_all_features(server));
    CHECK(pn_server_all_features(server) == D);
    CHECK(pn_server_features(server, 0) + pn_server_features(server, 1) == pn_server_all_features(server));
    CHECK(parties.said[PN_MESSAGE_FETCH] == pn_server_all_features(server));
    CHECK(parties.said[PN_MESSAGE_ROUND] == K * T && parties.said[PN_MESSAGE_TERMS] == K);
    pn_server_free(server);
    double_close(&parties);
}

static void uplink_does_not_know_n(void)
{
    uint64_t once, twice;

    uplink(N, &once);
    uplink(2 * N, &twice);
    CHECK(once == twice);
}

static void ball_fetches_of_the_best_only(void)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    size_t features = 0;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_BALL, 0, 1.0, false, double_identity(N), terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    for (size_t t = 0; t < 20; t++) {
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
        CHECK(made.moved == 1 && made.best >= 1 && made.best <= K && made.features <= 1);
        features += made.features;
    }
    CHECK(features == pn_server_all_features(server) && parties.said[PN_MESSAGE_FETCH] == features);
    /* a code and a score of each party in each round */
    CHECK(parties.base.peers[0].scalars_up + parties.base.peers[1].scalars_up == 20 * K * 2 + N * features);
    pn_server_free(server);
    double_close(&parties);
}

static void shape_of_the_parties(void)
{
    party_double parties;
    pn_dataset *data = NULL;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    CHECK(pn_transport_shape(&parties.base, &data, &err) == PN_EINVAL);
    CHECK(pn_transport_gather(&parties.base, NULL, &err) == PN_OK);
    CHECK(pn_transport_shape(&parties.base, &data, &err) == PN_OK);
    CHECK(data->absent && data->n == N && data->p == D);
    CHECK_CLOSE(data->bounds.norm[PN_LINF], 1.0, 0.0);
    CHECK_CLOSE(data->bounds.label_high, 1.0, 0.0);
    pn_dataset_free(data);
    double_close(&parties);
}

int main(void)
{
    fill();
    is_product_frank_wolfe();
    is_frank_wolfe_on_the_ball();
    stay_makes_sampling_right();
    counterexample_of_sampling();
    margin_is_sketch_of_model(PN_SKETCH_IDENTITY, N);
    margin_is_sketch_of_model(PN_SKETCH_GAUSSIAN, 16);
    margin_is_sketch_of_model(PN_SKETCH_SPARSE, 16);
    uplink_does_not_know_n();
    ball_fetches_of_the_best_only();
    shape_of_the_parties();
    return check_summary();
}
