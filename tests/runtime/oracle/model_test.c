/* model_test.c -- releases of gradients and Hessians: what a record moves of them, what they cost, what storage,
 * regularisers and batches do to them.  Their law: model_law_test.c; what stops them: model_refusal_test.c.
 * Depends on: model_small.h. */
#include "runtime/oracle/model_small.h"

/* Norm of a packed difference as the noise sees it: with `frobenius` off-diagonal entries count twice. */
static double packed_norm(const double *a, const double *b, bool frobenius)
{
    double sum = 0.0;

    for (size_t j = 0, k = 0; j < DIM; j++) {
        for (size_t i = 0; i <= j; i++, k++)
            sum += (frobenius && i < j ? 2.0 : 1.0) * (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(sum);
}

/* ---- what a record moves ---- */

typedef struct pair {
    const char *loss;
    double row[2][DIM], label[2], at[DIM];
} pair;

/* Two data sets that differ in record 0, released from one stream: the noise cancels. */
static pn_model shift_of(const pair *of, size_t batch, bool frobenius, uint64_t seed, double *gradient, double *hessian)
{
    double x[N * DIM], y[N];
    outcome out[2];
    pn_model model = { 0 };

    random_rows(3, N, DIM, x, y);
    for (int side = 0; side < 2; side++) {
        recipe how = { .loss = of->loss, .x = x, .y = y, .n = N, .p = DIM };
        world made;

        memcpy(x, of->row[side], sizeof of->row[side]);
        y[0] = of->label[side];
        CHECK(world_make(&made, &how, NULL) == PN_OK);
        model = release_from(&made, batch, frobenius, 5.0, of->at, seed, &out[side]);
        world_free(&made);
    }
    *gradient = vector_distance(out[0].gradient, out[1].gradient);
    *hessian = packed_norm(out[0].packed, out[1].packed, frobenius);
    return model;
}

/* Orthogonal rows where l'' is largest: sqrt(2) B_H/n.  One row at the two ends of l'': (high - low)/n of the sigmoid
 * loss, whose second derivative is 1/(6 sqrt 3) in size at margin ln(2 + sqrt 3).
 * Gradients: rows nearly opposite, both of slope 1: 2 sqrt(.99)/n. */
static void test_the_worst_record_moves_a_release_by_its_sensitivity(bool frobenius)
{
    const double far = log(2.0 + sqrt(3.0));
    const pair orthogonal = { "logistic", { { 1 }, { 0, 1 } }, { 1.0, 1.0 }, { 0 } };
    const pair signs = { "sigmoid", { { 1 }, { 1 } }, { 1.0, -1.0 }, { far } };
    const pair opposite = {
        "logistic", { { -0.1, 0.99498743710662 }, { -0.1, -0.99498743710662 } }, { 1.0, 1.0 }, { 400.0 }
    };
    double gradient, hessian;
    pn_model model = shift_of(&orthogonal, 0, frobenius, 7, &gradient, &hessian);

    CHECK_CLOSE(hessian, sqrt(2.0) * 0.25 / N, 1e-11);
    CHECK_CLOSE(model.hessian_sensitivity, hessian, 1e-9 * hessian + 1e-11);
    CHECK(model.hessian_sensitivity >= sqrt(2.0) * 0.25 / N);
    model = shift_of(&signs, 0, frobenius, 8, &gradient, &hessian);
    CHECK_CLOSE(hessian, 2.0 / (6.0 * sqrt(3.0)) / N, 1e-10);
    CHECK_CLOSE(model.hessian_sensitivity, hessian, 1e-6 * hessian);
    model = shift_of(&opposite, 0, frobenius, 9, &gradient, &hessian);
    CHECK_CLOSE(gradient, 2.0 * sqrt(0.99) / N, 1e-9);
    CHECK(model.gradient_sensitivity >= gradient && model.gradient_sensitivity <= 2.0 / N * (1.0 + 1e-9));
}

/* In a batch without the record nothing moves; in one with it as much as in a data set of the batch's size. */
static void test_a_batch_moves_by_its_own_sensitivity_or_not_at_all(void)
{
    const pair orthogonal = { "logistic", { { 1 }, { 0, 1 } }, { 1.0, 1.0 }, { 0 } };
    const double want = sqrt(2.0) * 0.25 / (N / 4.0);
    size_t moved = 0, still = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        double gradient, hessian;
        pn_model model = shift_of(&orthogonal, N / 4, false, seed, &gradient, &hessian);

        CHECK_CLOSE(model.hessian_sensitivity, want, 1e-9 * want);
        CHECK(hessian == 0.0 || fabs(hessian - want) <= 1e-9 * want);
        CHECK(gradient <= model.gradient_sensitivity);
        moved += hessian > 0.0;
        still += hessian == 0.0;
    }
    CHECK(moved > 0 && still > 0);
}

static void test_no_pair_of_records_moves_more(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        pair any = { seed % 2 ? "logistic" : "sigmoid", { { 0 } }, { 0 }, { 0 } };
        double at[4], gradient, hessian;
        pn_rng *rng = NULL;
        pn_model model;

        CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
        random_rows(1000 + seed, 2, DIM, &any.row[0][0], any.label);
        pn_rng_normals(rng, DIM, at);
        for (size_t j = 0; j < DIM; j++)
            any.at[j] = (double)(seed % 5) * at[j];
        model = shift_of(&any, 0, seed % 3 == 0, seed, &gradient, &hessian);
        CHECK(gradient <= model.gradient_sensitivity && hessian <= model.hessian_sensitivity);
        pn_rng_free(rng);
    }
}

/* Up to how far certified second derivatives are rounded outward, 1e-9. */
static void test_sensitivities_of_other_kinds(world *of)
{
    pn_request replace = request_for(PN_REPLACE_ONE), zero = request_for(PN_ZERO_OUT);
    pn_model model;

    CHECK(pn_model_read(&model, "test", of->objective, &zero, 0, false, false, NULL) == PN_OK);
    CHECK_CLOSE(model.gradient_sensitivity, 1.0 / N, 1e-12);
    CHECK_CLOSE(model.hessian_sensitivity, 0.25 / N, 1e-10);
    CHECK(pn_model_read(&model, "test", of->objective, &zero, 0, false, true, NULL) == PN_OK);
    CHECK_CLOSE(model.hessian_sensitivity, sqrt((double)DIM) * 0.25 / N, 1e-10);
    CHECK(pn_model_read(&model, "test", of->objective, &replace, 0, false, true, NULL) == PN_OK);
    CHECK_CLOSE(model.hessian_sensitivity, 2.0 * sqrt((double)DIM) * 0.25 / N, 1e-10);
    CHECK(pn_model_read(&model, "test", of->objective, &replace, N / 4, true, false, NULL) == PN_OK);
    CHECK_CLOSE(model.gradient_sensitivity, 2.0 / (N / 4.0), 1e-12);
    CHECK_CLOSE(model.hessian_sensitivity, sqrt(2.0) * 0.25 / (N / 4.0), 1e-10);
}

/* ---- prices ---- */

/* 1/(2 z^2), and for batches the accountant's curve at multiplier z: RDP (q = .01, z = 2, alpha = 4) is 7.8173e-5 and
 * (.1, 1.5, 8) is .0410086, by quadrature of the formula in Gao, Wright. */
static void test_prices_are_those_of_the_multiplier(void)
{
    static double x[1000 * DIM], y[1000];
    const double z[2] = { 2.0, 1.5 }, alpha[2] = { 4.0, 8.0 }, want[2] = { 7.8173e-5, 0.0410086 };
    const size_t batch[2] = { 10, 100 };
    recipe how = { .x = x, .y = y, .n = 1000, .p = DIM };
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_event *event = NULL;
    pn_model model;
    world made;

    random_rows(4, 1000, DIM, x, y);
    CHECK(world_make(&made, &how, NULL) == PN_OK);
    for (int k = 0; k < 2; k++) {
        for (int part = 0; part < 2; part++) {
            pn_status (*price)(const pn_model *, double, pn_event **, pn_err *) =
                part ? pn_model_hessian_event : pn_model_gradient_event;

            CHECK(pn_model_read(&model, "test", made.objective, &request, batch[k], k == 1, false, NULL) == PN_OK);
            CHECK(price(&model, z[k], &event, NULL) == PN_OK);
            CHECK_CLOSE(event->ops->rdp(event, alpha[k]), want[k], 1e-5 * want[k]);
            pn_event_free(event);
            CHECK(pn_model_read(&model, "test", made.objective, &request, 0, false, k == 1, NULL) == PN_OK);
            CHECK(price(&model, z[k], &event, NULL) == PN_OK);
            CHECK_CLOSE(event->ops->zcdp(event), 0.5 / (z[k] * z[k]), 1e-8);
            CHECK(event->ops->zcdp(event) >= 0.5 / (z[k] * z[k]));
            pn_event_free(event);
        }
    }
    world_free(&made);
}

/* ---- storage, regulariser, value ---- */

static void test_storage_does_not_matter(const recipe *dense)
{
    outcome want, out;
    world made;

    CHECK(world_make(&made, dense, NULL) == PN_OK);
    (void)release_from(&made, N / 3, true, 2.0, theta, 5, &want);
    world_free(&made);
    for (int kind = 1; kind < 4; kind++) {
        recipe how = *dense;

        how.sparse = kind & 1;
        how.float32 = kind & 2;
        CHECK(world_make(&made, &how, NULL) == PN_OK);
        (void)release_from(&made, N / 3, true, 2.0, theta, 5, &out);
        CHECK(vector_distance(out.gradient, want.gradient) <= (how.float32 ? 1e-6 : 1e-10));
        CHECK(packed_norm(out.packed, want.packed, true) <= (how.float32 ? 1e-6 : 1e-10));
        CHECK(isnan(out.value));
        world_free(&made);
    }
}

/* r = lambda sum w^2/(1 + w^2): r' = 2 lambda w/(1 + w^2)^2, r'' = lambda (2 - 6 w^2)/(1 + w^2)^3. */
static void test_the_regulariser_is_added_to_what_was_released(const recipe *without, size_t batch)
{
    const double lambda = 0.7;
    recipe with = *without;
    outcome plain, regular;
    double value = 0.0;
    world made;

    CHECK(world_make(&made, without, NULL) == PN_OK);
    (void)release_from(&made, batch, true, 2.0, theta, 5, &plain);
    world_free(&made);
    with.nonconvex = lambda;
    CHECK(world_make(&made, &with, NULL) == PN_OK);
    (void)release_from(&made, batch, true, 2.0, theta, 5, &regular);
    for (size_t j = 0, k = 0; j < DIM; j++) {
        double w = theta[j], s = 1.0 + w * w;

        value += lambda * w * w / s;
        CHECK_CLOSE(regular.gradient[j] - plain.gradient[j], 2.0 * lambda * w / (s * s), 1e-13);
        for (size_t i = 0; i <= j; i++, k++)
            CHECK_CLOSE(regular.packed[k] - plain.packed[k], i == j ? lambda * (2.0 - 6.0 * w * w) / (s * s * s) : 0.0,
                        1e-13);
    }
    if (batch == 0)
        CHECK_CLOSE(regular.value - plain.value, value, 1e-13);
    (void)release_from(&made, 0, false, 0.0, theta, 5, &plain);
    CHECK(batch || plain.value == regular.value);
    world_free(&made);
}

/* Without privacy a batch is drawn and nothing else: the mean of some six records, by the average over all draws. */
static void test_batches_without_privacy_are_without_noise(world *of)
{
    pn_request request = no_privacy();
    pn_step_context context = { 0 };
    pn_model_release *release = NULL;
    pn_model model;
    outcome whole, out;
    uint64_t records = 0;
    double mean[DIM] = { 0 };

    (void)release_from(of, 0, false, 0.0, theta, 1, &whole);
    CHECK(pn_rng_seeded(&context.rng, 2, NULL) == PN_OK);
    CHECK(pn_model_read(&model, "test", of->objective, &request, N / 4, false, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, 0.0, 0.0, NULL) == PN_OK);
    for (int k = 0; k < 20000; k++) {
        CHECK(pn_model_both(release, &context, NULL, theta, NULL, out.gradient, out.packed, &records, NULL) == PN_OK);
        for (size_t j = 0; j < DIM; j++)
            mean[j] += out.gradient[j] / 20000.0;
    }
    /* A batch's mean is within 2 of the other's: Hoeffding, 6 deviations, over 20000 draws. */
    CHECK(vector_distance(mean, whole.gradient) <= 2.0 * 6.0 / sqrt(20000.0) && context.releases == 0);
    CHECK(vector_distance(out.gradient, whole.gradient) > 0.0 && records == 20000 * 2 * (N / 4));
    pn_model_close(release);
    pn_rng_free(context.rng);
}

/* ---- real noise, other batches, the plan's lines ---- */

/* Two queries of one model on batches: other records, and with a secure stream and a real budget. */
static void test_every_query_has_its_own_batch(world *of)
{
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_budget budget = { .epsilon = NAN, .rho = 1e9 };
    pn_step_context context = { 0 };
    pn_model_release *release = NULL;
    pn_model model;
    outcome out[20];
    size_t same = 0;

    CHECK(pn_ledger_new(&context.ledger, &budget, NULL) == PN_OK && pn_rng_secure(&context.rng, NULL) == PN_OK);
    CHECK(pn_model_read(&model, "test", of->objective, &request, N / 4, false, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, 1e-3, 1e-3, NULL) == PN_OK); /* too little noise to hide which batch it was */
    for (int k = 0; k < 20; k++) {
        pn_status status =
            pn_model_both(release, &context, NULL, theta, NULL, out[k].gradient, out[k].packed, NULL, NULL);

        CHECK(status == PN_OK);
        same += k > 0 && vector_distance(out[k].gradient, out[k - 1].gradient) < 0.01;
    }
    /* One of 134596 batches again: less than 2e-4 for any of 19.  Thrice: below 1e-9. */
    CHECK(same < 3 && charges(context.ledger) == 40);
    pn_model_close(release);
    context_free(&context);
}

static const pn_plan_line *line_of(const pn_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->lines.count; i++) {
        if (strcmp(plan->lines.line[i].name, name) == 0)
            return &plan->lines.line[i];
    }
    return NULL;
}

static void test_the_plan_says_what_a_record_moves(world *of)
{
    static pn_plan plan;
    const char *const names[] = { "bound B_g",       "bound B_H",      "Hessian change M", "sensitivity D_g",
                                  "sensitivity D_H", "gradient noise", "Hessian noise" };
    const double want[] = {
        1.0, 0.25, 1.0 / (6.0 * sqrt(3.0)), 2.0 / N, sqrt(2.0) / 4.0 / N, 6.0 / N, 3.0 * sqrt(2.0) / 4.0 / N
    };
    pn_request request = request_for(PN_REPLACE_ONE), none = no_privacy();
    pn_model model;

    CHECK(pn_model_read(&model, "test", of->objective, &request, 0, true, false, NULL) == PN_OK);
    pn_model_explain(&model, 3.0, &plan);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const pn_plan_line *line = line_of(&plan, names[k]);

        if (CHECK(line != NULL))
            CHECK_CLOSE(line->value, want[k], 1e-6 * want[k]);
    }
    CHECK(strstr(line_of(&plan, "sensitivity D_H")->formula, "sqrt(2) B_H/m") != NULL);
    plan.lines.count = 0;
    CHECK(pn_model_read(&model, "test", of->objective, &none, 0, true, false, NULL) == PN_OK);
    pn_model_explain(&model, 0.0, &plan);
    CHECK(plan.lines.count == 3 && !line_of(&plan, "sensitivity D_g"));
}

int main(void)
{
    double x[N * DIM], y[N];
    recipe how = { .x = x, .y = y, .n = N, .p = DIM };
    world made;

    random_rows(1, N, DIM, x, y);
    CHECK(world_make(&made, &how, NULL) == PN_OK);
    test_the_worst_record_moves_a_release_by_its_sensitivity(false);
    test_the_worst_record_moves_a_release_by_its_sensitivity(true);
    test_a_batch_moves_by_its_own_sensitivity_or_not_at_all();
    test_no_pair_of_records_moves_more();
    test_sensitivities_of_other_kinds(&made);
    test_prices_are_those_of_the_multiplier();
    test_storage_does_not_matter(&how);
    test_the_regulariser_is_added_to_what_was_released(&how, 0);
    test_the_regulariser_is_added_to_what_was_released(&how, N / 3);
    test_batches_without_privacy_are_without_noise(&made);
    test_every_query_has_its_own_batch(&made);
    test_the_plan_says_what_a_record_moves(&made);
    world_free(&made);
    return check_summary();
}
