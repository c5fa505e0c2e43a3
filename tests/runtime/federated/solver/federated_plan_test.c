/* federated_plan_test.c -- what a federated run costs, before anybody releases anything.
 * Depends on: federated_plan_kit.h, privacy.  See distributed-frank-wolfe.md sections 3 and 4. */
#include "privacy/accounting/accountant.h"
#include "random/selection.h"
#include "runtime/federated/solver/federated_plan_kit.h"

/* ---- an accountant of three lines ---- */

/* rho by hand: eps0^2/8 a selection, (s/sigma)^2/2 a feature, 1/(2 z^2) a score of which there are K, or K + 1,
 * in a round. */
static double rho_of(const fed_plan *plan, double column_norm)
{
    const pn_terms *terms = &plan->terms[0];
    double K = (double)plan->parties, T = (double)plan->base.iterations;
    double s = (terms->neighbours == PN_REPLACE_ONE ? 2.0 : 1.0) * terms->feature_bound * column_norm;
    double sum = K * T * terms->epsilon0 * terms->epsilon0 / 8.0;

    sum += (double)plan->features * s * s / (2.0 * terms->sigma_feature * terms->sigma_feature);
    if (terms->mode == PN_FEDERATED_BALL)
        sum += (terms->stay ? K + 1.0 : K) * T / (2.0 * terms->sigma_score * terms->sigma_score);
    return sum;
}

/* Canonne, Kamath, Steinke (2020), Proposition 12, over a fine grid of orders. */
static double epsilon_of(double rho, double delta)
{
    double best = INFINITY;

    for (double a = 1.001; a < 1e4; a *= 1.001)
        best = fmin(best, rho * a + log1p(-1.0 / a) - log(delta * a) / (a - 1.0));
    return best;
}

/* A ledger of just the plan's budget takes the run apart: as many charges of one kind as parties make. */
static void a_ledger_admits_it(const fed_plan *plan, double epsilon, double delta)
{
    pn_budget budget = { .epsilon = epsilon, .delta = delta, .rho = NAN };
    size_t each = plan->base.iterations * plan->parties;
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    CHECK(pn_ledger_reserve(ledger, plan->base.event, 1, NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, plan->selection, each, "selections", NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, plan->feature, plan->features, "features", NULL) == PN_OK);
    if (plan->score && !plan->terms[0].stay)
        CHECK(pn_ledger_spend(ledger, plan->score, each, "scores", NULL) == PN_OK);
    if (!plan->terms[0].stay) /* whose scores cost what x makes them cost */
        CHECK(pn_ledger_spend(ledger, plan->selection, each / 10 + 1, "more", NULL) == PN_EBUDGET);
    pn_ledger_free(ledger);
}

/* The party with the most columns, with a ledger of what the plan says of it, round by round. */
static void a_party_can_pay_its_part(const fed_plan *plan, double delta)
{
    pn_budget budget = { .epsilon = plan->party_epsilon, .delta = delta, .rho = NAN };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    CHECK(pn_ledger_reserve(ledger, plan->party_event, 1, NULL) == PN_OK);
    for (size_t t = 0; t < plan->base.iterations; t++) {
        CHECK(pn_ledger_spend(ledger, plan->selection, 1, "selection", NULL) == PN_OK);
        if (plan->score)
            CHECK(pn_ledger_spend(ledger, plan->score, 1, "score", NULL) == PN_OK);
        if (t < plan->terms[0].columns)
            CHECK(pn_ledger_spend(ledger, plan->feature, 1, "feature", NULL) == PN_OK);
    }
    CHECK(pn_ledger_spend(ledger, plan->feature, 1, "feature", NULL) == PN_EBUDGET);
    pn_ledger_free(ledger);
}

/* ---- noise ---- */

static void a_run_costs_what_was_asked_for(void)
{
    const char *const modes[] = { "product", "ball", "ball" };
    fixture f;

    open_fixture(&f, "squared", 400, 10, 3, 2.0);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_rounds(&f, 7);
    for (int i = 0; i < 3; i++) {
        fed_plan *plan;
        double price, by_hand;

        use_choice(&f, FED_MODE, modes[i]);
        if (i == 2) {
            use_number(&f, FED_STAY, 1.0);
            use_number(&f, FED_SAMPLED, 2.0);
        }
        plan = plan_of(&f);
        terms_are_in_order(plan);
        price = pn_event_epsilon(plan->base.event, 1, 1e-6, NULL);
        by_hand = epsilon_of(rho_of(plan, 1.0), 1e-6);
        CHECK(price <= 2.0 && price > 1.9);
        CHECK_CLOSE(plan->base.event->ops->zcdp(plan->base.event) / rho_of(plan, 1.0), 1.0, 1e-5);
        CHECK(price <= by_hand * (1.0 + 1e-6) && by_hand <= 2.0 * 1.05);
        CHECK(plan->party_epsilon < price && plan->party_epsilon > price / 3.0);
        a_ledger_admits_it(plan, 2.0, 1e-6);
        a_party_can_pay_its_part(plan, 1e-6);
        drop(plan);
    }
    close_fixture(&f);
}

static void a_budget_of_rho_is_used_up(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 400, 10, 3, 2.0);
    f.request = (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = 0.25 };
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_number(&f, FED_SHARE, 0.3);
    use_rounds(&f, 20);
    plan = plan_of(&f);
    CHECK(plan->features == 10 && plan->party_rho > 0.0 && isnan(plan->party_epsilon));
    CHECK(rho_of(plan, 1.0) <= 0.25);
    CHECK(rho_of(plan, 1.0) >= 0.25 * (1.0 - 1e-4));
    CHECK_CLOSE(10.0 * 2.0 * 2.0 / (2.0 * pow(plan->terms[0].sigma_feature, 2.0)), 0.3 * 0.25, 1e-4);
    CHECK_CLOSE(plan->party_rho, 20.0 * pow(plan->terms[0].epsilon0, 2.0) / 8.0 + 0.4 * 0.3 * 0.25, 1e-4);
    drop(plan);
    f.request.neighbours = PN_ZERO_OUT; /* one contribution, not two */
    plan = plan_of(&f);
    CHECK_CLOSE(rho_of(plan, 1.0), 0.25, 1e-4);
    CHECK_CLOSE(10.0 / (2.0 * pow(plan->terms[0].sigma_feature, 2.0)), 0.3 * 0.25, 1e-4);
    drop(plan);
    close_fixture(&f);
}

/* What all parties charge over a round, however x is spread, against what the plan counts. */
static void staying_costs_one_score_of_all_parties(void)
{
    pn_terms terms = { .mode = PN_FEDERATED_BALL, .sigma_score = 30.0, .stay = true };
    double weight[5], alone, together, plain;
    pn_mechanism *mechanism = NULL;

    CHECK(pn_release_score(&mechanism, &terms, sqrt(0.2), NULL) == PN_OK);
    together = 5.0 * mechanism->event->ops->zcdp(mechanism->event);
    pn_mechanism_free(mechanism);
    CHECK_CLOSE(together, 6.0 / (2.0 * 900.0), 1e-5 * together);
    for (int trial = 0; trial < 200; trial++) {
        double sum = 0.0, cost = 0.0;

        for (int k = 0; k < 5; k++)
            sum += weight[k] = pow((double)((trial * 7919 + k * 104729) % 1000), 1.0 + trial % 5);
        for (int k = 0; k < 5; k++) {
            CHECK(pn_release_score(&mechanism, &terms, weight[k] / sum, NULL) == PN_OK);
            cost += mechanism->event->ops->zcdp(mechanism->event);
            pn_mechanism_free(mechanism);
        }
        CHECK(cost <= together);
    }
    CHECK(pn_release_score(&mechanism, &terms, 1.0, NULL) == PN_OK);
    alone = mechanism->event->ops->zcdp(mechanism->event);
    pn_mechanism_free(mechanism);
    CHECK_CLOSE(alone, 2.0 / (2.0 * 900.0), 1e-5 * alone);
    terms.stay = false;
    CHECK(pn_release_score(&mechanism, &terms, 1.0, NULL) == PN_OK);
    plain = mechanism->event->ops->zcdp(mechanism->event);
    pn_mechanism_free(mechanism);
    CHECK_CLOSE(plain, 1.0 / (2.0 * 900.0), 1e-5 * plain);
}

static void events_are_counted(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 400, 10, 3, 2.0);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_rounds(&f, 2);
    plan = plan_of(&f); /* three parties choose twice, and can have uploaded two columns each */
    CHECK(plan->features == 6 && pn_event_releases(plan->base.event) == 6.0 + 6.0);
    CHECK(pn_event_releases(plan->party_event) == 2.0 + 2.0);
    CHECK(plan->base.charges == 1 && !plan->score);
    drop(plan);
    use_rounds(&f, 50);
    plan = plan_of(&f);
    CHECK(plan->features == 10 && pn_event_releases(plan->base.event) == 150.0 + 10.0);
    CHECK(pn_event_releases(plan->party_event) == 50.0 + 4.0); /* 4, 3 and 3 columns */
    drop(plan);
    use_choice(&f, FED_MODE, "ball"); /* one of them moves */
    use_rounds(&f, 4);
    plan = plan_of(&f);
    CHECK(plan->features == 4 && pn_event_releases(plan->base.event) == 12.0 + 4.0 + 12.0);
    CHECK(pn_event_releases(plan->party_event) == 4.0 + 4.0 + 4.0);
    CHECK(plan->score != NULL);
    drop(plan);
    f.transport.peers[0].columns = 1;
    f.transport.peers[1].columns = 7;
    f.transport.peers[2].columns = 2;
    use_choice(&f, FED_MODE, "product");
    plan = plan_of(&f);
    CHECK(plan->features == 1 + 4 + 2 && plan->terms[1].columns == 7 && plan->terms[0].sampled == 1);
    CHECK(pn_event_releases(plan->party_event) == 4.0 + 4.0);
    drop(plan);
    close_fixture(&f);
}

/* ---- the problem in numbers ---- */

static void numbers_of_the_explanation(void)
{
    fixture f;
    fed_plan *plan;
    double delta;

    open_fixture(&f, "squared", 400, 10, 3, 2.0);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_number(&f, FED_SAMPLED, 2.0);
    use_number(&f, FED_CLIP, 0.0);
    use_rounds(&f, 25);
    plan = plan_of(&f);
    terms_are_in_order(plan);
    CHECK_CLOSE(plan->p, 0.5, 0.0); /* two of four columns */
    CHECK_CLOSE(plan->terms[2].radius, 2.0 / 3.0, 1e-15);
    CHECK(plan->terms[0].stay && plan->terms[0].clip == 0.0 && plan->terms[0].is_private);
    CHECK_CLOSE(line_of(plan, "curvature C"), 16.0, 1e-10); /* 4 r^2 X^2 */
    CHECK_CLOSE(line_of(plan, "start gap h0"), 0.5, 0.0);   /* Y^2/2 */
    CHECK_CLOSE(line_of(plan, "sensitivity s_J"), 2.0, 1e-9);
    delta = 2.0 / 3.0 * (2.0 * 2.0 + 2.0) / 400.0; /* r_k (2 B + 2)/n at B = r */
    CHECK_CLOSE(line_of(plan, "sensitivity Delta"), delta, 1e-12);
    CHECK_CLOSE(line_of(plan, "Gumbel scale"), 2.0 * delta / plan->terms[0].epsilon0, 1e-12);
    CHECK_CLOSE(line_of(plan, "excess risk bound"), plan->base.bound, 0.0);
    CHECK_CLOSE(plan->base.bound, fed_bound(0.5, 16.0, 0.5, 25.0, line_of(plan, "error e")), 1e-9);
    CHECK(plan->base.predicted < plan->base.bound && plan->base.predicted > 0.0);
    CHECK(plan->terms[0].epsilon0 == pn_dyadic_value(pn_dyadic_floor(plan->terms[0].epsilon0)));
    drop(plan);
    close_fixture(&f);
}

static void radii_and_clip_are_taken(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 400, 10, 2, 2.0);
    use_rounds(&f, 5);
    use_number(&f, FED_CLIP, 3.0);
    f.vector[0] = 0.25;
    f.vector[1] = 0.75;
    f.own[FED_RADII] = (pn_arg){ .given = true, .vector = { .data = f.vector, .n = 2 } };
    plan = plan_of(&f);
    CHECK(plan->terms[0].radius == 0.25 && plan->terms[1].radius == 0.75 && plan->terms[1].clip == 3.0);
    CHECK_CLOSE(line_of(plan, "curvature C"), 4.0, 1e-10); /* over what x can reach, ||x||_1 <= 1 */
    CHECK_CLOSE(line_of(plan, "sensitivity Delta"), 0.25 * 8.0 / 400.0, 1e-12);
    CHECK(isnan(plan->base.bound)); /* clipped margins are not those of f */
    drop(plan);
    close_fixture(&f);
}

static void more_records_do_not_cost_traffic(void)
{
    double floats[2], codes[2], down[2];
    fixture f;
    fed_plan *plan;

    for (size_t i = 0; i < 2; i++) {
        open_fixture(&f, "squared", 300 * (i + 1), 10, 3, 2.0);
        use_number(&f, FED_SKETCH_ROWS, 20.0);
        use_rounds(&f, 3);
        plan = plan_of(&f);
        floats[i] = plan->uplink_floats;
        codes[i] = plan->uplink_bits;
        down[i] = plan->downlink_floats;
        CHECK(line_of(plan, "uplink codes") == 9.0);
        CHECK(line_of(plan, "sketch upload") == 200.0 && line_of(plan, "raw upload") == 3000.0 * (double)(i + 1));
        drop(plan);
        close_fixture(&f);
    }
    CHECK(floats[0] == 20.0 * 9.0 && floats[1] == floats[0]);
    CHECK(codes[0] == 3.0 * (4.0 + 3.0 + 3.0) && codes[1] == codes[0]); /* 9 codes, and 7 twice */
    CHECK(down[0] == 20.0 * 9.0 + 3.0 * (1.0 + 2.0 + 3.0) && down[1] == down[0]);
}

/* ---- the article ---- */

static void the_article_to_the_letter(void)
{
    fixture f;
    fed_plan *plan;
    double top, laplace, tight;

    open_fixture(&f, "squared", 2000, 10, 2, 2.0);
    use_number(&f, FED_SKETCH_ROWS, 64.0);
    use_rounds(&f, 5);
    plan = plan_of(&f);
    tight = line_of(plan, "sensitivity s_J");
    CHECK(plan->base.proven && !plan->base.simulation_only);
    drop(plan);
    use_choice(&f, FED_MODE, "paper");
    plan = plan_of(&f);
    terms_are_in_order(plan);
    top = line_of(plan, "sigma(J)");
    CHECK(tight / 2.0 > 1.2 && tight / 2.0 < 1.4);     /* about 1.28 */
    CHECK_CLOSE(top, 1.0 + sqrt(2000.0 / 64.0), 0.15); /* the edge of the law of Marchenko and Pastur: 6.59 */
    CHECK_CLOSE(top / (tight / 2.0), 2.0 * 2.6, 0.35);
    CHECK(!plan->base.proven && plan->base.simulation_only && isnan(plan->base.bound));
    CHECK(plan->base.warnings[0][0] && plan->base.warnings[1][0]);
    CHECK(plan->terms[0].epsilon0 == 0.0 && !plan->terms[0].stay && plan->terms[1].radius == 2.0);
    laplace = 2.0 * 3.0 * 2.0 / (2.0 * 2000.0) * sqrt(10.0 * log(2e6)) / 1.0; /* G = 3, epsilon/2 = 1 */
    CHECK_CLOSE(plan->terms[0].laplace_scale, laplace, 1e-12);
    CHECK_CLOSE(plan->terms[0].sigma_feature, top * sqrt(10.0) * sqrt(2.0 * (log(1e6) + 1.0)), 1e-9);
    drop(plan);
    use_choice(&f, FED_PAPER_SCALE, "table");
    plan = plan_of(&f);
    CHECK_CLOSE(plan->terms[0].laplace_scale, 2.0 * laplace, 1e-12);
    drop(plan);
    f.common[PN_OPT_ITERATIONS].given = false;
    plan = plan_of(&f);
    CHECK(plan->base.iterations == 252); /* (2000 * 2)^(2/3) = 251.98 */
    drop(plan);
    close_fixture(&f);
}

/* Against the largest eigenvalue of J J^T, J column by column. */
static void power_iterations_find_the_top(void)
{
    pn_sketch_shape shape = { PN_SKETCH_GAUSSIAN, 3, 40, 5 };
    pn_sketch *sketch = NULL;
    double J[40][3], unit[40] = { 0 }, best = 0.0, top = 0.0;

    CHECK(pn_sketch_new(&sketch, &shape, NULL, NULL) == PN_OK);
    for (int j = 0; j < 40; j++) {
        unit[j] = 1.0;
        CHECK(pn_sketch_columns(sketch, unit, 1, J[j], NULL, NULL) == PN_OK);
        unit[j] = 0.0;
    }
    for (int a = 0; a < 400; a++) { /* directions of a half sphere, 0.8 degrees apart */
        for (int b = 0; b < 400; b++) {
            double u = acos(-1.0) * a / 400.0, v = acos(-1.0) * b / 400.0, sum = 0.0;
            double q[3] = { sin(u) * cos(v), sin(u) * sin(v), cos(u) };

            for (int j = 0; j < 40; j++)
                sum += pow(q[0] * J[j][0] + q[1] * J[j][1] + q[2] * J[j][2], 2.0);
            best = fmax(best, sqrt(sum));
        }
    }
    CHECK(fed_top_singular(&top, sketch, NULL, NULL) == PN_OK);
    CHECK_CLOSE(top, best, 2e-4 * best);
    pn_sketch_free(sketch);
}

/* ---- runs without privacy ---- */

static void a_run_without_privacy(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 400, 10, 3, 2.0);
    f.request = (pn_request){ .kind = PN_NONPRIVATE, .epsilon = NAN, .delta = NAN, .rho = NAN };
    use_choice(&f, FED_SKETCH_KIND, "identity");
    plan = plan_of(&f);
    terms_are_in_order(plan);
    CHECK(!plan->base.event && !plan->selection && !plan->party_event && !plan->terms[0].is_private);
    CHECK(plan->terms[0].sigma_feature == 0.0 && plan->base.proven);
    CHECK_CLOSE(plan->base.bound, fed_bound(0.5, 16.0, 1.0, 100.0, 0.0), 1e-9);
    drop(plan);
    close_fixture(&f);
}

/* ---- parties elsewhere ---- */

/* Nobody here has a record: what parties said of themselves is enough. */
static void plans_for_parties_elsewhere(const char *loss)
{
    pn_objective_parts parts = { 0 };
    pn_dataset *shape = NULL;
    fixture f;
    fed_plan *plan;

    open_fixture(&f, loss, 40, 10, 3, 2.0);
    for (size_t k = 0; k < 3; k++) {
        f.transport.peers[k].records = 5000;
        f.transport.peers[k].columns = 2 + k + (k == 2);
    }
    f.transport.records = 5000;
    f.transport.feature_bound = f.transport.label_bound = 1.0;
    f.transport.gathered = true;
    CHECK(pn_transport_shape(&f.transport, &shape, NULL) == PN_OK);
    parts = (pn_objective_parts){ .data = shape, .loss = f.loss, .set = f.set };
    pn_objective_free(f.objective);
    CHECK(pn_objective_new(&f.objective, &parts, NULL) == PN_OK);
    use_rounds(&f, 4);
    plan = plan_of(&f);
    terms_are_in_order(plan);
    CHECK(plan->terms[0].columns == 2 && plan->terms[1].columns == 3 && plan->terms[2].columns == 5);
    CHECK(plan->terms[2].records == 5000 && plan->features == 2 + 3 + 4);
    drop(plan);
    close_fixture(&f);
    pn_dataset_free(shape);
}

int main(void)
{
    plans_for_parties_elsewhere("squared");
    plans_for_parties_elsewhere("logistic");
    a_run_costs_what_was_asked_for();
    a_budget_of_rho_is_used_up();
    staying_costs_one_score_of_all_parties();
    events_are_counted();
    numbers_of_the_explanation();
    radii_and_clip_are_taken();
    more_records_do_not_cost_traffic();
    the_article_to_the_letter();
    power_iterations_find_the_top();
    a_run_without_privacy();
    return check_summary();
}
