/* server_kit.h -- 60 records of 6 columns for two parties, Frank-Wolfe by the book, and a run over party_double.h.
 * Depends on: party_double.h.  Used by: server*_test.c. */
#ifndef PN_TESTS_SERVER_KIT_H
#define PN_TESTS_SERVER_KIT_H

#include "runtime/federated/party/party_double.h"

enum { N = 60, D = 6, K = 2 };

static double A[N * D], Y[N];

static inline double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

static inline void fill(void)
{
    static const double truth[D] = { 0.7, 0.0, -0.2, 0.4, 0.0, 0.0 };
    unsigned state = 5;

    for (size_t j = 0; j < N; j++) {
        Y[j] = 0.1 * (unit(&state) - 0.5);
        for (size_t i = 0; i < D; i++) {
            A[j * D + i] = unit(&state) < 0.5 ? -1.0 : 1.0;
            Y[j] += truth[i] * A[j * D + i];
        }
        Y[j] = fmax(-1.0, fmin(1.0, Y[j]));
    }
}

static inline double loss_at(const double *x, double *gradient)
{
    double value = 0.0;

    for (size_t i = 0; gradient && i < D; i++)
        gradient[i] = 0.0;
    for (size_t j = 0; j < N; j++) {
        double residual = -Y[j];

        for (size_t i = 0; i < D; i++)
            residual += A[j * D + i] * x[i];
        value += residual * residual / (2.0 * N);
        for (size_t i = 0; gradient && i < D; i++)
            gradient[i] += A[j * D + i] * residual / N;
    }
    return value;
}

/* Frank-Wolfe over a product of `blocks` l1 balls, by the book: an independent program. */
static inline void frank_wolfe(size_t blocks, double radius, size_t rounds, double *x)
{
    size_t c = D / blocks;

    for (size_t i = 0; i < D; i++)
        x[i] = 0.0;
    for (size_t t = 0; t < rounds; t++) {
        double gamma = 2.0 / ((double)t + 2.0), gradient[D];

        (void)loss_at(x, gradient);
        for (size_t k = 0; k < blocks; k++) {
            size_t best = k * c;

            for (size_t i = k * c; i < (k + 1) * c; i++)
                best = fabs(gradient[i]) > fabs(gradient[best]) ? i : best;
            for (size_t i = k * c; i < (k + 1) * c; i++)
                x[i] *= 1.0 - gamma;
            x[best] -= gradient[best] > 0.0 ? gamma * radius : -gamma * radius;
        }
    }
}

/* A run of `rounds` over all of A; every x_k stays in its ball. */
static inline void run(party_double *parties, const pn_terms *terms, size_t rounds, double *x)
{
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    bool inside = true;

    if (!CHECK(double_serve(parties, terms, NULL, &server, &err) == PN_OK))
        return;
    for (size_t t = 0; t < rounds; t++) {
        if (!CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK))
            break;
        pn_server_model(server, x);
        for (size_t k = 0; k < parties->base.parties; k++) {
            double length = 0.0;

            for (size_t i = 0; i < terms[k].columns; i++)
                length += fabs(x[double_first(parties, k) + i]);
            inside = inside && length <= terms[k].radius * (1.0 + 1e-12);
        }
    }
    CHECK(inside);
    CHECK(pn_server_rounds(server) == rounds);
    pn_server_finish(server);
    pn_server_free(server);
    CHECK(parties->farewell == PN_MESSAGE_DONE);
}

#endif
