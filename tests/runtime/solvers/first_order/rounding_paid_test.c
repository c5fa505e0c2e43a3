/* rounding_paid_test.c -- rounding is paid for: of every release, what is charged minus what one record moves in exact
 * arithmetic is at least the error of computing it, in both neighbours; and every stated error is at least that of the
 * additions which a record's part goes through, counted here from the number of records: 2^-53 of the sum of all sizes
 * for each.  A term that is forgotten, or counted once for twice, is below; nothing is drawn.
 * Depends on: check.h, model_kit.h, solvers/, party_kit.h. */
#include "objective/measures/smoothed.h"
#include "objective/passes/objective_impl.h"
#include "privacy/mechanism/batch_release.h"
#include "runtime/oracle/model_kit.h"
#include "solvers/catalogue/solvers.h"
#include "oracle/gradient_noise.h"
#include "solvers/first_order/sgd.h"
#include "solvers/zeroth_order/zeroth_order.h"

#include "runtime/federated/party/party_kit.h"

enum { MOST = 4000, P = 3, OWN = 64 };

#define UNIT 0x1p-53

static double x[MOST * P], y[MOST];

/* Of sums of `additions` terms, of which a part goes through that many: its product and its division, too. */
static double least_error(double additions, double sizes)
{
    return (additions + 2.0) * UNIT * sizes;
}

static world world_of(size_t n, bool sparse)
{
    recipe of = { .x = x, .y = y, .n = n, .p = P, .sparse = sparse };
    world out;

    random_rows(3, n, P, x, y);
    CHECK(world_make(&out, &of, NULL) == PN_OK);
    return out;
}

/* ---- errors ---- */

/* A few records are added one after the other; of many, 64 chunks are, and so are those. */
static double additions_of(size_t n)
{
    return n <= 30 ? (double)n - 1.0 : fmin((double)n, (double)n / 64.0);
}

static void errors_are_of_all_additions(void)
{
    static const size_t counts[] = { 1, 2, 7, 30, 1000, MOST };

    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        size_t n = counts[i / 2];
        world of = world_of(n, i % 2);
        const pn_bounds *bounds = pn_objective_bounds(of.objective);
        double least = least_error(additions_of(n), (double)n);

        for (double size = 1e-3; size < 1e4; size *= 31.0)
            CHECK(pn_objective_batch_error(of.objective, n, size) >= least * size);
        CHECK(pn_objective_gradient_error(of.objective) >=
              least_error((double)pn_objective_longest_chunk(of.objective) + PN_CHUNKS_MAX, 1.0) *
                  bounds->lipschitz[PN_L1]);
        CHECK((double)pn_objective_longest_chunk(of.objective) >= fmin(additions_of(n) + 1.0, (double)n));
        CHECK(pn_objective_line_error(of.objective, n) >= least);
        CHECK(pn_objective_hessian_error(of.objective, n) >= least_error(fmin(additions_of(n), 30.0), (double)n));
        world_free(&of);
    }
}

/* Terms of at most a norm, of a batch: one after the other; by groups their coefficients,
 * and a product with U that adds up d of them. */
static void errors_of_smoothed_gradients_are_of_all_additions(void)
{
    for (int way = 0; way < 3 * 3 * 2; way++) {
        pn_smoothing how = { .directions = (pn_directions)(way % 3), .radius = 0.1, .lipschitz = 2.0 };
        size_t dim = way / 9 ? 40 : 3, count = 1 + (size_t)(way / 3 % 3) * 12;
        double norm = pn_smoothed_norm(&how, dim), d = (double)dim, alone, grouped;
        double exact = (way % 3 == PN_DIRECTIONS_ORTHOGONAL ? sqrt(d) : d) * how.lipschitz;

        alone = pn_smoothed_error(&how, dim, count, norm);
        CHECK(alone >= least_error(fmin((double)count, dim > 3 ? 5.0 : INFINITY) - 1.0, norm)); /* in chunks of a few */
        how.group = 4;
        grouped = pn_smoothed_error(&how, dim, count, norm);
        CHECK(grouped >= alone + (fmin(4.0, (double)count) - 2.0) * UNIT * norm + d * UNIT * norm);
        CHECK(grouped > alone);
        CHECK(norm >= exact * (1.0 + (d + 2.0) * UNIT)); /* of d products with a unit vector that is rounded */
        CHECK(pn_smoothed_difference_norm(&how, dim, 0.01) >= 0.1 * exact * (1.0 + d * UNIT));
        CHECK(pn_smoothed_sensitivity(&how, dim, count, norm) >= 2.0 * norm / (double)count + 2.0 * grouped);
    }
}

/* ---- what solvers charge ---- */

static double moved(pn_neighbours neighbours)
{
    return neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;
}

static const pn_neighbours relations[] = { PN_REPLACE_ONE, PN_ZERO_OUT };

/* Each entry is off by the error, in each of two neighbours. */
static void gradients_pay(void)
{
    for (int way = 0; way < 8; way++) {
        size_t n = way / 2 % 2 ? 1000 : 20, batch = way / 4 ? 5 : 0;
        pn_request request = request_for(relations[batch ? 0 : way % 2]); /* batches replace */
        double L, m = batch ? (double)batch : (double)n, root = sqrt((double)P), error;
        world of = world_of(n, false);
        pn_gradient_noise noise;
        pn_model model;

        CHECK(pn_gradient_noise_read(&noise, "test", of.objective, &request, NULL) == PN_OK);
        L = pn_objective_bounds(of.objective)->lipschitz[PN_L2];
        error = pn_objective_gradient_error(of.objective);
        CHECK(error > 0.0 && noise.sensitivity >= moved(request.neighbours) * L / (double)n + 2.0 * root * error);
        CHECK(noise.bound >= L + error);
        CHECK(pn_model_read(&model, "test", of.objective, &request, batch, true, false, NULL) == PN_OK);
        error = pn_objective_batch_error(of.objective, (size_t)m, L) / m;
        CHECK(model.gradient_sensitivity >= moved(request.neighbours) * L / m + 2.0 * root * error);
        CHECK(model.gradient_bound >= L + error);
        error = (pn_objective_hessian_error(of.objective, (size_t)m) / m + 0x1p-51) * model.bounds.zero;
        CHECK(model.hessian_sensitivity >=
              (request.neighbours == PN_REPLACE_ONE ? model.bounds.replace : model.bounds.zero) / m + 2.0 * error);
        CHECK(model.hessian_bound >= fmin(model.bounds.zero, model.bounds.record) + error);
        world_free(&of);
    }
}

/* A batch that is released pays for `error` on every entry of its sum: a large one shows how often. */
static void batches_pay(void)
{
    static const char *const schemes[] = { "full", "poisson", "fixed", "shuffled" };

    for (int way = 0; way < 8; way++) {
        pn_batch_release_options options = { .scheme = schemes[way / 2],
                                             .n = 100,
                                             .batch = 20,
                                             .q = 0.2,
                                             .neighbours = relations[way % 2],
                                             .dim = 9,
                                             .contribution = 1.0,
                                             .bound = INFINITY,
                                             .sigma = 200.0 };
        size_t per_event = 0;
        pn_event *exact = NULL, *same = NULL, *rounded = NULL;

        if (pn_batch_release_price(&exact, &per_event, &options, NULL) != PN_OK) {
            CHECK(way >= 4 && relations[way % 2] == PN_ZERO_OUT); /* batches of one size replace */
            continue;
        }
        options.error = 0.5;
        CHECK(pn_batch_release_price(&rounded, &per_event, &options, NULL) == PN_OK);
        /* two neighbours and 3 = sqrt(dim): 3 more, which is worth at least 2.5 times a sensitivity of 1 or 2 */
        options.error = 0.0;
        options.contribution = 2.5;
        CHECK(pn_batch_release_price(&same, &per_event, &options, NULL) == PN_OK);
        CHECK(rounded->ops->rdp(rounded, 2.0) >= 0.999 * same->ops->rdp(same, 2.0));
        CHECK(rounded->ops->rdp(rounded, 2.0) > 2.0 * exact->ops->rdp(exact, 2.0));
        pn_event_free(exact);
        pn_event_free(rounded);
        pn_event_free(same);
    }
}

static pn_plan *plan_of(const char *solver, const world *of, pn_neighbours neighbours, pn_arg *own)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } };
    pn_plan *plan = NULL;
    pn_err err;

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    common[PN_OPT_NEIGHBOURS] = (pn_arg){ .given = true, .text = pn_neighbours_names[neighbours] };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = strcmp(solver, "sgd") == 0, .count = 10 };
    if (!CHECK(pn_plan_from_args(&plan, solver, of->objective, NULL, common, own, NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return plan;
}

static void sums_of_sgd_pay(void)
{
    for (int way = 0; way < 2; way++) {
        world of = world_of(1000, false);
        pn_arg own[OWN] = { { 0 } };
        pn_plan *plan;
        const pn_batch_release_options *batches;
        double L = pn_objective_bounds(of.objective)->lipschitz[PN_L2];

        own[SGD_BATCH] = (pn_arg){ .given = true, .count = 50 };
        own[SGD_STEP] = (pn_arg){ .given = true, .real = 0.1 };
        own[SGD_SAMPLING] = (pn_arg){ .given = true, .text = way ? "poisson" : "fixed" };
        plan = plan_of("sgd", &of, way ? PN_ZERO_OUT : PN_REPLACE_ONE, own);
        batches = plan ? &plan->questions[0].batches : NULL;
        CHECK(batches && batches->contribution >= L * (1.0 + 2.0 * UNIT));
        CHECK(batches && batches->error >= pn_objective_batch_error(of.objective, way ? 1000 : 50, L));
        pn_plan_free(plan);
        world_free(&of);
    }
}

static pn_status nothing(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                         double *values, pn_err *err)
{
    (void)self, (void)thetas, (void)dim, (void)record, (void)err;
    memset(values, 0, count * sizeof *values);
    return PN_OK;
}

/* Leaves are means; both neighbours round. */
static void leaves_of_zeroth_order_pay(void)
{
    for (int way = 0; way < 6; way++) {
        double ones[P] = { 1.0, 1.0, 1.0 };
        pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN] = { { 0 } };
        pn_objective_parts parts = { 0 };
        pn_neighbours neighbours = relations[way % 2];
        size_t n = 600, batch = 50;
        world of = { NULL, NULL };
        pn_plan *plan = NULL;
        pn_err err;

        random_rows(3, n, P, x, y);
        CHECK(pn_dataset_from_dense(&of.data, x, n, P, y, NULL, NULL) == PN_OK);
        parts.data = of.data;
        CHECK(pn_loss_black_box(&parts.loss, nothing, NULL, NULL, P, 2.0, NULL) == PN_OK);
        CHECK(pn_objective_new(&of.objective, &parts, NULL) == PN_OK);
        pn_loss_free(parts.loss);
        common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
        common[PN_OPT_START] = (pn_arg){ .given = true, .vector = { ones, P } };
        common[PN_OPT_NEIGHBOURS] = (pn_arg){ .given = true, .text = pn_neighbours_names[neighbours] };
        own[ZO_BATCH] = (pn_arg){ .given = true, .count = batch };
        own[ZO_ROUNDS] = (pn_arg){ .given = true, .count = 12 };
        own[ZO_EPOCHS] = (pn_arg){ .given = true, .count = 1 };
        own[ZO_SMOOTHING] = (pn_arg){ .given = true, .real = 0.05 };
        own[ZO_STEP] = (pn_arg){ .given = true, .real = 1e-3 };
        own[ZO_DIRECTIONS] = (pn_arg){ .given = true, .text = pn_directions_names[way / 2] };
        own[ZO_RADIUS] = (pn_arg){ .given = true, .real = 0.01 };
        if (CHECK(pn_plan_from_args(&plan, "zeroth_order_naive", of.objective, NULL, common, own, NULL, &err) ==
                  PN_OK)) {
            const zo_plan *details = (const zo_plan *)plan;
            const pn_smoothing *how = &plan->questions[0].smoothing;
            double norm = pn_smoothed_norm(how, P), b = (double)details->choice.first;
            double error = pn_smoothed_error(how, P, details->choice.first, norm);

            CHECK(details->choice.sensitivity >= moved(neighbours) * norm / b + 2.0 * error && error > 0.0);
        } else {
            (void)fprintf(stderr, "    %s\n", err.message);
        }
        pn_plan_free(plan);
        world_free(&of);
    }
}

/* ---- a party ---- */

/* A round at q: what the answer is computed with. */
static void scores_at(party_scores *out, pn_terms terms, const double *q, double *column, double *entry)
{
    records r = records_new((size_t)terms.records, (size_t)terms.columns, 1.0, terms.loss == PN_FEDERATED_LOGISTIC, 5);
    pn_dataset *data = dataset_of(&r, false);
    pn_ledger *ledger = ledger_of(1e9, PN_REPLACE_ONE);
    pn_party *party = party_of(data, ledger, 5);
    pn_message reply = { 0 }, request;

    if (!CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    request = round_of(&terms, 1, NULL, q);
    CHECK(party_scores_of(party, &request, out, NULL, NULL) == PN_OK);
    *column = pn_sketch_column_norm(party->run.sketch);
    *entry = pn_sketch_error(party->run.sketch, terms.feature_bound);
    pn_message_clear(&request);
    pn_message_clear(&reply);
    pn_party_free(party);
    pn_ledger_free(ledger);
    pn_dataset_free(data);
    records_free(&r);
}

/* n times an entry is <J a_i, q> - a_i^T y, of m and of n terms; by records it is a sum of n slopes.
 * Scores are r/n of that. */
/* Terms that are a thousandth of the rest are seen: all of them are added up here, from what is stated of each. */
static void scores_of_a_party_pay(void)
{
    enum { N = 200, C = 2, M = 64 };

    for (int way = 0; way < 12; way++) {
        pn_terms terms = terms_of(N, C, 5);
        double q[N], q1 = 0.0, q2 = 0.0, size = (double[]){ 0.0, 1e-2, 1e6 }[way % 3], least, column, entry, pull;
        size_t m = way / 3 == 1 ? M : N;
        party_scores scores;

        terms = way / 3 == 1 ? sketched(terms, PN_SKETCH_GAUSSIAN, M) : terms;
        terms.loss = way / 3 == 2 ? PN_FEDERATED_LOGISTIC : PN_FEDERATED_SQUARED;
        terms.clip = way / 3 == 3 ? 0.7 : 0.0;
        terms.radius = 0.8;
        for (size_t l = 0; l < m; l++) {
            q[l] = l % 2 ? size : -size;
            q1 += size;
            q2 = hypot(q2, size);
        }
        scores_at(&scores, terms, q, &column, &entry);
        pull = party_pull(&terms, way / 3 == 3 ? fmin(size, 0.7) : 0.0);
        least = party_dot_error(N) * N * pull; /* of A^T y, or of the sum of slopes */
        if (way / 3 < 2)                       /* of S q, of the entries of S = J A, and of the difference */
            least += party_dot_error(m) * (way / 3 ? N * column : sqrt(N)) * q2 + q1 * entry + 4.0 * UNIT * N * pull;
        least += 16.0 * UNIT * N * pull; /* and from it to a score */
        CHECK(scores.error >= terms.radius / N * least * (1.0 - 1e-12));
        CHECK(entry > 0.0 || way / 3 != 1);
        CHECK(scores.unit >= scores.sensitivity + 2.0 * scores.error);
        CHECK(scores.unit <= (scores.sensitivity + 2.0 * scores.error) * (1.0 + 0x1p-49));
        party_scores_clear(&scores);
    }
}

/* Each term of its own, where it is nearly all there is. */
static void terms_of_a_score_pay(void)
{
    pn_terms terms = terms_of(50, 2, 5);
    double pull = 3.0, bound = party_score_bound(&terms, pull);

    CHECK(bound >= terms.radius * pull);
    CHECK(party_score_error(&terms, pull, 0.0, 0) >= 4.0 * UNIT * bound); /* two products, a division, a sign */
    CHECK(party_score_error(&terms, pull, 0.0, 1000) >= 1000.0 * UNIT * bound);
    CHECK(party_score_error(&terms, pull, 7.0, 0) >= 7.0 * terms.radius / 50.0);
    CHECK(party_sum_error(&terms, pull) >= least_error(49.0, 50.0 * pull));
    for (size_t n = 1; n <= 1024; n *= 4)
        CHECK(party_dot_error(n) >= ((double)n + 1.0) * UNIT);
    for (size_t n = 4096; n <= (size_t)1 << 30; n *= 4)
        CHECK(party_dot_error(n) >= 1025.0 * UNIT + (double)(n / 1024) * 0x1p-64);
}

int main(void)
{
    errors_are_of_all_additions();
    errors_of_smoothed_gradients_are_of_all_additions();
    gradients_pay();
    batches_pay();
    sums_of_sgd_pay();
    leaves_of_zeroth_order_pay();
    scores_of_a_party_pay();
    terms_of_a_score_pay();
    return check_summary();
}
