/* in_process_test.c -- federated_frank_wolfe over parties in this process without noise: the same answer as Frank-Wolfe
 * on the product set and on the ball, rows of the trace; traffic, splits, memory that runs out.
 * Depends on: in_process_kit.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "runtime/federated/transport/in_process_kit.h"

/* ---- without noise ---- */

/* Frank-Wolfe over a product of l1 balls, by the book, with gradients of the objective. */
static void frank_wolfe(const problem *at, size_t parties, const size_t *columns, double radius, size_t rounds,
                        double *x)
{
    double gradient[D];
    pn_err err;

    for (size_t i = 0; i < at->d; i++)
        x[i] = 0.0;
    for (size_t t = 0; t < rounds; t++) {
        double gamma = 2.0 / ((double)t + 2.0);
        size_t first = 0;

        CHECK(pn_objective_evaluate(at->objective, x, NULL, gradient, NULL, &err) == PN_OK);
        for (size_t k = 0; k < parties; first += columns[k++]) {
            size_t best = first;

            for (size_t i = first; i < first + columns[k]; i++)
                best = fabs(gradient[i]) > fabs(gradient[best]) ? i : best;
            for (size_t i = first; i < first + columns[k]; i++)
                x[i] *= 1.0 - gamma;
            x[best] -= gradient[best] > 0.0 ? gamma * radius : -gamma * radius;
        }
    }
}

static void is_frank_wolfe(const char *loss, pn_federated_mode mode, const size_t *columns)
{
    static const size_t even[3] = { 3, 2, 2 }, whole[1] = { D };
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(3, columns, NULL);
    pn_fit *fit;
    double want[D];
    const manner how = { .iterations = 60, .mode = mode };

    CHECK(open_problem(&at, N, D, loss, &err) == PN_OK);
    fit = solve(&at, transport, &how);
    if (mode == PN_FEDERATED_PRODUCT)
        frank_wolfe(&at, 3, columns ? columns : even, 1.0 / 3.0, 60, want);
    else
        frank_wolfe(&at, 1, whole, 1.0, 60, want);
    for (size_t i = 0; fit && i < D; i++)
        CHECK_CLOSE(fit->theta[i], want[i], 1e-9);
    if (CHECK(fit && fit->rows == 60)) {
        CHECK(!fit->is_private && isfinite(fit->trace[59].value) && fit->trace[59].gap >= -1e-12);
        CHECK(fit->trace[59].value < fit->trace[0].value);
        CHECK(fit->gradients == 60 * N && fit->trace[0].step_size == 1.0);
        CHECK((mode == PN_FEDERATED_BALL) == (fit->trace[5].atom > 0));
    }
    pn_fit_free(fit);
    pn_transport_free(transport);
    close_problem(&at);
}

/* Value and gap are those before the step, and on the ball the step goes toward the vertex that the row names. */
static void check_row(const problem *at, const pn_trace_row *row, const double *before, const double *after, bool ball)
{
    const pn_set *set = pn_objective_set(at->objective);
    double value, gradient[D], scratch[D], want[D], gap = 0.0, largest[3] = { 0 };
    static const size_t owner[D] = { 0, 0, 0, 1, 1, 2, 2 };
    pn_atom atom;
    pn_err err;

    CHECK(pn_objective_evaluate(at->objective, before, &value, gradient, NULL, &err) == PN_OK);
    for (size_t i = 0; i < D; i++) {
        gap += gradient[i] * before[i];
        largest[owner[i]] = fmax(largest[owner[i]], fabs(gradient[i]));
    }
    gap += ball ? fmax(largest[0], fmax(largest[1], largest[2])) : (largest[0] + largest[1] + largest[2]) / 3.0;
    CHECK_CLOSE(row->value, value, 1e-12);
    CHECK_CLOSE(row->gap, gap, 1e-12);
    if (!ball || !CHECK(row->atom > 0 && strcmp(row->kind, "moved") == 0))
        return;
    for (size_t i = 0; i < D; i++)
        want[i] = (1.0 - row->step_size) * before[i];
    set->ops->atom(set, row->atom - 1, &atom, scratch);
    pn_atom_add(&atom, row->step_size, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(after[i], want[i], 1e-15);
}

static pn_party_phase phase_of(const pn_transport *transport, size_t party)
{
    pn_party_report report;

    CHECK(pn_party_report_of(pn_in_process_party(transport, party), &report, NULL) == PN_OK);
    return report.phase;
}

static void rows_say_what_was_done(pn_federated_mode mode)
{
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(3, NULL, NULL);
    const manner how = { .iterations = 25, .mode = mode };
    pn_plan *plan = NULL;
    pn_walk *walk = NULL;
    pn_trace_row row;
    double before[D] = { 0 }, last[D] = { 0 };
    bool done = false;

    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    CHECK(make_plan(&plan, &at, transport, &how, &err) == PN_OK);
    CHECK(pn_walk_new(&walk, plan, &(pn_run_options){ 0 }, &err) == PN_OK);
    while (walk && !done && CHECK(pn_walk_step(walk, &row, &done, &err) == PN_OK)) {
        const double *after = pn_walk_theta(walk);

        check_row(&at, &row, before, after, mode == PN_FEDERATED_BALL);
        memcpy(before, after, sizeof before);
        memcpy(last, after, sizeof last);
    }
    /* parties have their model when the host has had its own */
    CHECK(phase_of(transport, 0) == PN_PARTY_RUNNING && phase_of(transport, 2) == PN_PARTY_RUNNING);
    pn_walk_free(walk);
    CHECK(phase_of(transport, 0) == PN_PARTY_DONE && phase_of(transport, 2) == PN_PARTY_DONE);
    pn_party_model(pn_in_process_party(transport, 1), before);
    CHECK(before[0] == last[3] && before[1] == last[4]);
    pn_plan_free(plan);
    pn_transport_free(transport);
    close_problem(&at);
}

/* ---- traffic ---- */

static void traffic(size_t n, uint64_t *scalars)
{
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(2, NULL, NULL);
    const manner how = { .iterations = 60, .sampled = 1, .no_stay = true, .rows = 16 };
    uint64_t bytes = 0, down = 0;

    CHECK(open_problem(&at, n, D, "squared", &err) == PN_OK);
    for (int twice = 0; twice < 2; twice++) /* the accounts are those of one run */
        pn_fit_free(solve(&at, transport, &how));
    *scalars = 0;
    for (size_t k = 0; k < 2; k++) {
        const pn_peer *peer = &transport->peers[k];

        *scalars += peer->scalars_up;
        bytes += peer->bytes_up;
        down += peer->scalars_down;
        CHECK(peer->messages_up == 1 + 60 + pn_party_columns(pn_in_process_party(transport, k)));
        CHECK(peer->messages_down == peer->messages_up + 1);
    }
    CHECK(*scalars == 2 * 60 + 16 * D);
    CHECK(bytes >= 8 * 16 * D + 2 * 60 && bytes <= 8 * 16 * D + 64 * (2 * 61 + D));
    CHECK(down >= 2 * 60 * 16);
    pn_transport_free(transport);
    close_problem(&at);
}

static void traffic_does_not_know_n(void)
{
    uint64_t once, twice;

    traffic(N, &once);
    traffic(2 * N, &twice);
    CHECK(once == twice);
}

/* ---- splits ---- */

static void splits_columns(void)
{
    static const size_t given[2] = { 2, 5 }, wrong[2] = { 2, 4 }, none[2] = { 7, 0 };
    problem at, other;
    pn_err err;
    pn_transport *transport = transport_of(2, given, NULL), *bad = transport_of(2, wrong, NULL), *refused = NULL;
    pn_plan *plan = NULL;
    const manner how = { .iterations = 3 };
    pn_fit *fit;

    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    CHECK(open_problem(&other, N, 4, "squared", &err) == PN_OK);
    fit = solve(&at, transport, &how);
    CHECK(pn_party_columns(pn_in_process_party(transport, 0)) == 2);
    CHECK(pn_party_columns(pn_in_process_party(transport, 1)) == 5);
    CHECK(pn_in_process_party(transport, 2) == NULL);
    CHECK(make_plan(&plan, &other, transport, &how, &err) == PN_EDIM);
    CHECK(make_plan(&plan, &at, bad, &how, &err) == PN_EDIM);
    CHECK(pn_transport_in_process(&refused, &(pn_in_process_options){ .parties = 2, .columns = none }, &err) ==
          PN_EINVAL);
    CHECK(pn_transport_in_process(&refused, &(pn_in_process_options){ .parties = 0 }, &err) == PN_EINVAL);
    CHECK(pn_transport_in_process(&refused, &(pn_in_process_options){ .parties = PN_PARTIES_MAX + 1 }, &err) ==
          PN_EINVAL);
    pn_fit_free(fit);
    pn_transport_free(transport);
    pn_transport_free(bad);
    transport = transport_of(3, NULL, NULL); /* one after the other, of different widths */
    for (int i = 0; i < 2; i++) {
        fit = solve(i ? &other : &at, transport, &how);
        CHECK(fit && fit->p == (i ? 4 : D));
        pn_fit_free(fit);
    }
    pn_transport_free(transport);
    close_problem(&at);
    close_problem(&other);
}

/* ---- memory ---- */

static pn_status whole_run(void *how, pn_err *err)
{
    problem at = { NULL, NULL, 0 };

    return whole_run_of(&at, NULL, how, open_problem(&at, 12, 4, "squared", err), err);
}

int main(void)
{
    static const size_t uneven[3] = { 1, 2, 4 };
    manner memory = { .rho = 1.0, .iterations = 2, .seed = 3 };

    is_frank_wolfe("squared", PN_FEDERATED_PRODUCT, NULL);
    is_frank_wolfe("squared", PN_FEDERATED_PRODUCT, uneven);
    is_frank_wolfe("logistic", PN_FEDERATED_PRODUCT, NULL);
    is_frank_wolfe("squared", PN_FEDERATED_BALL, NULL);
    is_frank_wolfe("logistic", PN_FEDERATED_BALL, uneven);
    rows_say_what_was_done(PN_FEDERATED_PRODUCT);
    rows_say_what_was_done(PN_FEDERATED_BALL);
    traffic_does_not_know_n();
    splits_columns();
    fail_alloc_sweep("federated run", whole_run, &memory);
    return check_summary();
}
