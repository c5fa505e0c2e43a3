/* server_block_test.c -- a server whose parties have sets of their own: a run is Frank-Wolfe over their product,
 * choices that make no vertex end it, it costs what its plan says, and one that was closed goes on with the same
 * answers.
 * Depends on: in_process_kit.h, fail_alloc.h, geometry. */
#define _GNU_SOURCE
#include <math.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "federated/wire/release.h"
#include "geometry/algebra/set_algebra.h"
#include "runtime/federated/transport/in_process_kit.h"

enum { FIRST = 3, ROUNDS = 40 };

static pn_status body(pn_set **out, const char *name, size_t dim, double radius, size_t k, pn_err *err)
{
    const pn_param *params = pn_set_find(name)->params;
    pn_arg args[8] = { { 0 } };

    args[pn_param_find(params, "dim")] = (pn_arg){ .given = true, .count = dim };
    args[pn_param_find(params, "radius")] = (pn_arg){ .given = true, .real = radius };
    if (k > 0)
        args[pn_param_find(params, "k")] = (pn_arg){ .given = true, .count = k };
    return pn_set_from_args(out, name, args, err);
}

/* A simplex of 3 coordinates at one party; 2 of a cube and a hypersimplex of 2 at the other. */
static pn_status make_set(pn_set **out, pn_err *err)
{
    pn_set *simplex = NULL, *cube = NULL, *hyper = NULL, *two = NULL;
    pn_status status = body(&simplex, "simplex", FIRST, 0.5, 0, err);

    if (status == PN_OK)
        status = body(&cube, "linf_ball", 2, 0.4, 0, err);
    if (status == PN_OK)
        status = body(&hyper, "hypersimplex", 2, 0.3, 1, err);
    if (status == PN_OK)
        status = pn_set_product(&two, cube, hyper, err);
    if (status == PN_OK)
        status = pn_set_product(out, simplex, two, err);
    pn_set_free(simplex);
    pn_set_free(cube);
    pn_set_free(hyper);
    pn_set_free(two);
    return status;
}

static pn_status make_product(problem *self, size_t n, pn_err *err)
{
    pn_set *set = NULL;
    pn_status status = make_set(&set, err);

    if (status == PN_OK)
        status = open_problem_over(self, n, D, set, "squared", err);
    pn_set_free(set);
    return status;
}

static void open_product(problem *self)
{
    pn_err err;

    *self = (problem){ NULL, NULL, 0 };
    (void)went_well(make_product(self, N, &err), &err);
}

static pn_transport *two_parties(void)
{
    static const size_t columns[] = { FIRST, D - FIRST };

    return transport_of(2, columns, NULL);
}

/* ---- by the book ---- */

static void gradient_at(const problem *at, const double *x, double *gradient)
{
    double value;
    pn_err err;

    CHECK(pn_objective_evaluate(at->objective, x, &value, gradient, NULL, &err) == PN_OK);
}

static void best_vertex(const double *g, double *v)
{
    size_t best = 0;

    memset(v, 0, D * sizeof *v);
    for (size_t i = 1; i < FIRST; i++)
        best = g[i] < g[best] ? i : best;
    v[best] = 0.5;
    for (size_t i = FIRST; i < FIRST + 2; i++)
        v[i] = g[i] < 0.0 ? 0.4 : -0.4;
    v[g[D - 1] < g[D - 2] ? D - 1 : D - 2] = 0.3;
}

static size_t moved_columns(const bool *moved, size_t first, size_t end)
{
    size_t count = 0;

    for (size_t i = first; i < end; i++)
        count += moved[i];
    return count;
}

static void a_run_is_frank_wolfe_over_the_product(void)
{
    const manner how = { .iterations = ROUNDS };
    double x[D] = { 0.0 }, g[D], v[D];
    bool moved[D] = { false };
    pn_transport *transport = two_parties();
    problem at;
    pn_fit *fit;

    open_product(&at);
    for (size_t t = 0; t < ROUNDS; t++) {
        double gamma = 2.0 / ((double)t + 2.0);

        gradient_at(&at, x, g);
        best_vertex(g, v);
        for (size_t i = 0; i < D; i++) {
            x[i] = (1.0 - gamma) * x[i] + gamma * v[i];
            moved[i] = moved[i] || v[i] != 0.0;
        }
    }
    fit = solve(&at, transport, &how);
    for (size_t i = 0; fit && i < D; i++)
        CHECK_CLOSE(fit->theta[i], x[i], 1e-12);
    /* One choice of the first party a round, three of the second; a column that moves is sent once. */
    CHECK(transport->peers[0].scalars_up == ROUNDS + N * moved_columns(moved, 0, FIRST));
    CHECK(transport->peers[1].scalars_up == 3 * ROUNDS + N * moved_columns(moved, FIRST, D));
    pn_fit_free(fit);
    pn_transport_free(transport);
    close_problem(&at);
}

/* ---- parties that lie ---- */

static const pn_transport_ops *honest;
static pn_transport_ops lying;
static int lie;
static uint64_t lie_at;

/* Of the second party, whose vertex takes three choices of two candidates. */
static pn_status exchange_lies(pn_transport *self, const pn_message *requests, pn_message *replies, pn_task *task,
                               pn_err *err)
{
    pn_status status = honest->exchange(self, requests, replies, task, err);
    pn_message *reply = &replies[1];

    if (status != PN_OK || reply->kind != PN_MESSAGE_CHOICE || reply->round != lie_at)
        return status;
    CHECK(reply->picks == 3);
    switch (lie) {
    case 0:
        reply->pick[0] = 2;
        break;
    case 1:
        reply->pick[2] = UINT32_MAX;
        break;
    case 2:
        reply->picks = 2;
        break;
    case 3:
        reply->picks = 0;
        break;
    case 4:
        CHECK(pn_message_reserve_picks(reply, 4, NULL) == PN_OK);
        memset(reply->pick, 0, 4 * sizeof *reply->pick);
        break;
    case 5:
        reply->code = 1;
        break;
    default:
        break;
    }
    return PN_OK;
}

static void choices_that_make_no_vertex_end_the_run(void)
{
    for (lie = 0; lie < 7; lie++) {
        const manner how = { .iterations = 5, .rho = 1e4, .seed = 3 };
        pn_budget budget = { .epsilon = NAN, .rho = 1e5, .teaching = true };
        manner paid = how;
        pn_transport *transport = two_parties();
        problem at;
        pn_plan *plan = NULL;
        pn_fit *fit = NULL;
        pn_err err = { .message = "" };

        open_product(&at);
        CHECK(pn_ledger_new(&paid.ledger, &budget, NULL) == PN_OK);
        honest = transport->ops;
        lying = *honest;
        lying.exchange = exchange_lies;
        transport->ops = &lying;
        lie_at = 3;
        if (went_well(make_plan(&plan, &at, transport, &paid, &err), &err)) {
            pn_status status = run(&fit, plan, &paid, &err);

            CHECK(status == (lie < 6 ? PN_EIO : PN_OK));
            if (lie < 6 && !CHECK(strstr(err.message, "party 2 answered with choices that make no vertex of its set in "
                                                      "round 3") != NULL))
                (void)fprintf(stderr, "    %d: %s\n", lie, err.message);
        }
        pn_fit_free(fit);
        pn_plan_free(plan);
        transport->ops = honest;
        pn_transport_free(transport);
        pn_ledger_free(paid.ledger);
        close_problem(&at);
    }
}

/* ---- accounts ---- */

/* One event for a vertex of any party, K T of them, and features: what the plan says to the last bit. */
static void a_run_costs_what_its_plan_says(void)
{
    pn_budget budget = { .epsilon = NAN, .rho = 1e3, .teaching = true };
    manner how = { .iterations = 6, .rho = 0.5, .seed = 9 };
    pn_transport *transport = two_parties();
    problem at;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_err err;

    open_product(&at);
    CHECK(pn_ledger_new(&how.ledger, &budget, NULL) == PN_OK);
    if (went_well(make_plan(&plan, &at, transport, &how, &err), &err) && went_well(run(&fit, plan, &how, &err), &err)) {
        const fed_plan *of = (const fed_plan *)plan;

        CHECK(of->features <= D && of->terms[0].features == D - FIRST && of->terms[1].features == D - FIRST);
        CHECK(of->width[0] == 1 && of->width[1] == 3);
        CHECK(plan->event->ops->zcdp(plan->event) <= 0.5 && plan->event->ops->zcdp(plan->event) > 0.4999);
        CHECK(pn_ledger_spent(how.ledger) <= plan->event->ops->zcdp(plan->event) * (1.0 + 1e-12));
        CHECK_CLOSE(pn_ledger_spent(how.ledger),
                    12.0 * pn_release_round_rho(&of->terms[0]) +
                        (double)(transport->peers[0].scalars_up + transport->peers[1].scalars_up - 6 - 18) / N *
                            of->feature->ops->zcdp(of->feature),
                    1e-9);
    }
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_transport_free(transport);
    pn_ledger_free(how.ledger);
    close_problem(&at);
}

/* ---- after a restart ---- */

/* Parties that outlive a server, asked without a wire. */
typedef struct direct {
    pn_transport base; /* first */
    pn_party *party[2];
    size_t fetches;
} direct;

static void direct_destroy(pn_transport *transport)
{
    pn_transport_clear(transport);
}

static pn_status direct_exchange(pn_transport *transport, const pn_message *requests, pn_message *replies,
                                 pn_task *task, pn_err *err)
{
    direct *self = (direct *)transport;

    for (size_t k = 0; k < 2; k++) {
        self->fetches += requests[k].kind == PN_MESSAGE_FETCH;
        if (requests[k].kind != PN_MESSAGE_NONE)
            PN_TRY(pn_party_answer(self->party[k], &requests[k], &replies[k], task, err));
    }
    return PN_OK;
}

static pn_status direct_gather(pn_transport *transport, pn_task *task, pn_err *err)
{
    (void)transport, (void)task, (void)err;
    return PN_OK;
}

static void direct_end(pn_transport *transport, const pn_message *farewells)
{
    (void)transport, (void)farewells;
}

static const pn_transport_ops direct_ops = { .name = "direct",
                                             .doc = "parties of a test",
                                             .destroy = direct_destroy,
                                             .gather = direct_gather,
                                             .exchange = direct_exchange,
                                             .end = direct_end };

static void direct_open(direct *self, const problem *at)
{
    memset(self, 0, sizeof *self);
    CHECK(pn_transport_init(&self->base, &direct_ops, 2, NULL) == PN_OK);
    for (size_t k = 0; k < 2; k++) {
        pn_party_options options = { .name = k ? "B" : "A",
                                     .data = at->data,
                                     .first = k ? FIRST : 0,
                                     .columns = k ? D - FIRST : FIRST,
                                     .nonprivate = true };
        pn_message hello = { 0 };

        CHECK(pn_party_new(&self->party[k], &options, NULL) == PN_OK);
        pn_party_hello(self->party[k], &hello);
        pn_transport_meet(&self->base, k, &hello);
        pn_message_clear(&hello);
    }
}

static void direct_close(direct *self)
{
    pn_party_free(self->party[0]);
    pn_party_free(self->party[1]);
    pn_transport_free(&self->base);
}

/* Rounds of one server from where the checkpoint is; *x after them. */
static void serve_rounds(direct *self, const pn_terms *terms, const char *checkpoint, size_t rounds, double *x)
{
    const pn_transport_run begins = { 0 };
    const pn_server_options options = { .transport = &self->base, .terms = terms, .checkpoint = checkpoint };
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;

    CHECK(pn_transport_begin(&self->base, &begins, &err) == PN_OK);
    if (!went_well(pn_server_new(&server, &options, NULL, &err), &err))
        return;
    for (size_t t = 0; t < rounds; t++)
        (void)went_well(pn_server_step(server, &made, NULL, &err), &err);
    pn_server_model(server, x);
    pn_server_free(server);
}

static void a_closed_run_goes_on_with_the_same_answers(void)
{
    const manner how = { .iterations = 9 };
    double whole[D] = { 0.0 }, parts[D] = { 0.0 };
    char path[64];
    direct one, two;
    pn_plan *plan = NULL;
    problem at;
    pn_err err;

    open_product(&at);
    (void)snprintf(path, sizeof path, "/tmp/penumbra-blocks-%ld", (long)getpid());
    direct_open(&one, &at);
    direct_open(&two, &at);
    if (went_well(make_plan(&plan, &at, &one.base, &how, &err), &err)) {
        const pn_terms *terms = ((const fed_plan *)plan)->terms;
        size_t fetched;

        serve_rounds(&one, terms, NULL, 9, whole);
        serve_rounds(&two, terms, path, 4, parts);
        fetched = two.fetches;
        CHECK(memcmp(whole, parts, sizeof whole) != 0 && fetched >= 4);
        serve_rounds(&two, terms, path, 3, parts); /* the features are asked for again */
        CHECK(two.fetches >= 2 * fetched);
        serve_rounds(&two, terms, path, 2, parts);
        CHECK(memcmp(whole, parts, sizeof whole) == 0);
    }
    (void)unlink(path);
    pn_plan_free(plan);
    direct_close(&one);
    direct_close(&two);
    close_problem(&at);
}

/* ---- memory ---- */

static pn_status whole_run(void *how, pn_err *err)
{
    static const size_t columns[] = { FIRST, D - FIRST };
    problem at = { NULL, NULL, 0 };

    return whole_run_of(&at, columns, how, make_product(&at, 6, err), err);
}

int main(void)
{
    manner memory = { .rho = 1.0, .iterations = 2, .seed = 3 };

    a_run_is_frank_wolfe_over_the_product();
    choices_that_make_no_vertex_end_the_run();
    a_run_costs_what_its_plan_says();
    a_closed_run_goes_on_with_the_same_answers();
    fail_alloc_sweep("run over blocks", whole_run, &memory);
    return check_summary();
}
