/* federated_plan_risk_test.c -- what a federated run promises: the bound, the parts of its error by hand,
 * and the rounds it favours.
 * Depends on: federated_plan_kit.h.  See distributed-frank-wolfe.md sections 1 and 4. */
#include "runtime/federated/solver/federated_plan_kit.h"

static void the_bound_is_theorem_one(void)
{
    const double of[] = { 0.1, 0.5, 1.0 };
    double worst = 0.0;

    CHECK_CLOSE(fed_bound(2.0, 5.0, 0.5, 100.0, 0.01), 0.481538462, 5e-10);
    for (int i = 0; i < 6; i++) {
        double start = i < 3 ? 2.0 : 0.0, h = start, p = of[i % 3], e = 0.01, C = 5.0;

        for (int t = 0; t < 2000; t++) {
            double gamma = 2.0 / (p * t + 2.0);

            h = (1.0 - gamma * p) * h + gamma * e + gamma * gamma * C / 2.0;
            CHECK(h <= fed_bound(start, C, p, t + 1.0, e));
            worst = fmax(worst, h / fed_bound(start, C, p, t + 1.0, e));
        }
    }
    CHECK(worst > 0.99); /* and the bound is no looser than it has to be */
}

/* Every part of e by hand: one party, no sketch. */
static void parts_of_the_error(void)
{
    fixture f;
    fed_plan *plan;
    double sigma, B, selection, noise;

    open_fixture(&f, "squared", 400, 5, 1, 2.0);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_number(&f, FED_CLIP, 0.0);
    use_rounds(&f, 3);
    plan = plan_of(&f);
    sigma = plan->terms[0].sigma_feature;
    B = 2.0 + 2.0 * sigma * sqrt(2.0 * log(2.0 * 400.0 * 3.0)); /* of three uploads */
    selection = 2.0 * 2.0 * (2.0 * B + 2.0) / 400.0 / plan->terms[0].epsilon0 * log(11.0);
    noise = 4.0 * 20.0 * 2.0 * sigma * sqrt(2.0 * log(2.0 * 5.0 * 3.0)) / 400.0;
    CHECK_CLOSE(line_of(plan, "margin bound B"), B, 1e-9 * B);
    CHECK_CLOSE(line_of(plan, "e of choices"), selection, 1e-9 * selection);
    CHECK_CLOSE(line_of(plan, "e of features"), noise, 1e-9 * noise);
    CHECK_CLOSE(line_of(plan, "error e"), selection + noise, 1e-9 * noise);
    drop(plan);
    close_fixture(&f);
}

/* The best of three parties, with and without the score of staying: shares of the budget, error and traffic. */
static void parts_of_a_ball(bool stay)
{
    double K = 3.0, T = 6.0, rho = 0.5, a, b, z, margin, delta, choice, score, part;
    const pn_terms *terms;
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 400, 10, 3, 2.0);
    f.request = (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = rho };
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_choice(&f, FED_MODE, "ball");
    use_number(&f, FED_CLIP, 0.0);
    use_number(&f, FED_SHARE, 0.4);
    use_rounds(&f, 6);
    if (stay) {
        use_number(&f, FED_STAY, 1.0);
        use_number(&f, FED_SAMPLED, 3.0);
    }
    plan = plan_of(&f);
    terms = &plan->terms[0];
    z = terms->sigma_score;
    a = 2.0 * log(stay ? 6.0 : 8.0) / sqrt(8.0); /* of 2 ln(candidates)/epsilon0 */
    b = stay ? sqrt(2.0 * K * log(2.0 * K)) * sqrt((K + 1.0) / (2.0 * K)) : sqrt(2.0 * log(K)) * sqrt(1.0 / 2.0);
    part = pow(b, 2.0 / 3.0) / (pow(a, 2.0 / 3.0) + pow(b, 2.0 / 3.0)); /* minimises a/sqrt(1 - part) + b/sqrt(part) */
    CHECK_CLOSE((stay ? K + 1.0 : K) * T / (2.0 * z * z), 0.6 * part * rho, 1e-4);
    CHECK_CLOSE(K * T * pow(terms->epsilon0, 2.0) / 8.0, 0.6 * (1.0 - part) * rho, 1e-4);
    CHECK_CLOSE(plan->score->ops->zcdp(plan->score), (stay ? 2.0 : 1.0) / (2.0 * z * z), 1e-7);
    margin = line_of(plan, "margin bound B");
    delta = 2.0 * (2.0 * margin + 2.0) / 400.0;
    choice = 2.0 * delta / terms->epsilon0 * log(stay ? 6.0 : 8.0); /* of one ball, not summed over parties */
    score = z * delta * (stay ? sqrt(6.0 * log(6.0)) : sqrt(2.0 * log(3.0)));
    CHECK_CLOSE(line_of(plan, "e of choices"), choice + score, 1e-9 * choice);
    CHECK(plan->uplink_floats == 400.0 * 6.0 + (stay ? 2.0 : 1.0) * K * T);
    CHECK(plan->downlink_floats == 400.0 * K * T + (1.0 + 2.0 + 3.0 + 4.0 + 5.0 + 6.0));
    drop(plan);
    close_fixture(&f);
}

static const char *rule_of(const fed_plan *plan)
{
    for (size_t i = 0; i < plan->base.lines.count; i++) {
        if (strcmp(plan->base.lines.line[i].name, "rounds T") == 0)
            return plan->base.lines.line[i].formula;
    }
    return "";
}

static double bound_at(fixture *f, size_t rounds)
{
    double bound;
    fed_plan *plan;

    use_rounds(f, rounds);
    plan = plan_of(f);
    bound = plan->base.bound;
    drop(plan);
    return bound;
}

static void rounds_minimise_the_bound(void)
{
    fixture f;
    fed_plan *plan;
    size_t T;
    double bound;

    open_fixture(&f, "squared", 400, 6, 2, 0.5);
    f.request = (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = 3e4 };
    use_choice(&f, FED_SKETCH_KIND, "identity");
    plan = plan_of(&f);
    T = plan->base.iterations;
    bound = plan->base.bound;
    CHECK(bound < line_of(plan, "start gap h0") && T > 3 && T < 100000);
    CHECK(strcmp(rule_of(plan), "minimises the risk bound") == 0);
    drop(plan);
    for (size_t other = T > 40 ? T - 40 : 1; other <= T + 40; other++)
        CHECK(bound_at(&f, other) >= bound * (1.0 - 1e-4)); /* the search knows the noise but for rounding */
    CHECK(bound_at(&f, 4 * T) > bound && bound_at(&f, T / 3 + 1) > bound);
    close_fixture(&f);
}

static void rounds_that_nothing_favours(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "logistic", 400, 6, 2, 0.5);
    use_number(&f, FED_SKETCH_ROWS, 20.0);
    f.request.epsilon = 0.01;
    plan = plan_of(&f);
    CHECK(plan->base.iterations == 20 && isnan(plan->base.bound));
    CHECK(strstr(rule_of(plan), "the default"));
    drop(plan);
    f.request.epsilon = 8.0;
    plan = plan_of(&f);
    CHECK(strstr(rule_of(plan), "the least by default") && plan->base.iterations == 10);
    CHECK(plan->base.predicted < line_of(plan, "start gap h0"));
    CHECK(plan->terms[0].clip == 0.0); /* slopes are bounded as they are */
    drop(plan);
    close_fixture(&f);
}

/* The estimate of T rounds of three parties with radii 1/3, all columns looked at,
 * by hand: sparse columns that are not alike. */
static double estimate_at(const fed_plan *plan, double rounds)
{
    double rho = 0.5 * plan->base.event->ops->zcdp(plan->base.event), sigma, epsilon0, e;

    epsilon0 = sqrt(8.0 * rho / (3.0 * rounds));
    sigma = 2.0 * sqrt(3.0 * fmin(rounds, 4.0) / (2.0 * rho));
    e = 3.0 * (2.0 * (6.0 / 3.0) / 5000.0 / epsilon0) * log(9.0); /* r_k 2 (2 X r + Y)/n */
    e += 2.0 * sigma * sqrt(2.0 * log(2.0 * 12.0 * 3.0 * fmin(rounds, 4.0))) / 5000.0;
    return 2.0 * (2.0 / 3.0) / (rounds + 2.0) + e; /* C' = 2 x 3 x (1/3)^2 */
}

static void margins_are_clipped_where_the_bound_promises_nothing(void)
{
    fixture f;
    fed_plan *plan;
    double T, least;

    open_fixture(&f, "squared", 5000, 12, 3, 1.0);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    plan = plan_of(&f);
    T = (double)plan->base.iterations;
    least = estimate_at(plan, T);
    CHECK(plan->terms[0].clip == 2.0 && plan->terms[2].clip == 2.0 && line_of(plan, "clip") == 2.0); /* 2 X r */
    CHECK(isnan(plan->base.bound) &&
          strcmp(rule_of(plan), "minimises the estimate; the risk bound promises nothing") == 0);
    CHECK_CLOSE(plan->base.predicted, least, 2e-3 * least); /* zCDP of the event is not quite the budget's */
    CHECK(T > 10.0);
    for (double other = 1.0; other <= 3.0 * T; other += 1.0)
        CHECK(estimate_at(plan, other) >= least * (1.0 - 2e-3));
    drop(plan);
    use_number(&f, FED_CLIP, 0.0);
    plan = plan_of(&f);
    CHECK(plan->terms[0].clip == 0.0 && plan->base.bound > line_of(plan, "start gap h0"));
    drop(plan);
    leave(&f, FED_CLIP);
    use_number(&f, FED_CLIP, 2.5);
    plan = plan_of(&f);
    CHECK(plan->terms[0].clip == 2.5);
    drop(plan);
    leave(&f, FED_CLIP);
    f.request.epsilon = 0.42;
    plan = plan_of(&f);
    CHECK(plan->base.iterations == 10 && plan->base.predicted < line_of(plan, "start gap h0"));
    CHECK(strcmp(rule_of(plan), "the least by default; the bound promises nothing, the estimate favours fewer") == 0);
    drop(plan);
    f.request = (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = 3e5 };
    plan = plan_of(&f);
    CHECK(plan->terms[0].clip == 0.0 && plan->base.bound < line_of(plan, "start gap h0"));
    use_rounds(&f, 1); /* of which the bound promises nothing, whatever the budget */
    drop(plan);
    plan = plan_of(&f);
    CHECK(plan->terms[0].clip == 2.0 && isnan(plan->base.bound) && strcmp(rule_of(plan), "as given") == 0);
    drop(plan);
    close_fixture(&f);
}

static void slopes_of_the_logistic_loss_are_bounded(void)
{
    fixture f;
    fed_plan *plan;
    double change;

    open_fixture(&f, "logistic", 400, 6, 2, 3.0);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    use_rounds(&f, 9);
    plan = plan_of(&f);
    terms_are_in_order(plan);
    CHECK_CLOSE(line_of(plan, "sensitivity Delta"), 1.5 * 2.0 / 400.0, 1e-12); /* whatever q */
    CHECK_CLOSE(line_of(plan, "curvature C"), 9.0, 1e-7);                      /* r^2: l'' <= 1/4 */
    CHECK_CLOSE(line_of(plan, "start gap h0"), log(2.0) - log1p(exp(-3.0)), 1e-15);
    CHECK(isfinite(plan->base.bound));
    CHECK_CLOSE(line_of(plan, "e of features"), 6.0, 1e-12); /* slopes change by at most 1: 2 r X */
    drop(plan);
    f.request = (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = 1e4 };
    plan = plan_of(&f);
    change = 3.0 * plan->terms[0].sigma_feature * (sqrt(2.0 / acos(-1.0)) + sqrt(2.0 * log(6.0) / 400.0));
    CHECK_CLOSE(line_of(plan, "e of features"), 6.0 * change / 4.0, 1e-12);
    drop(plan);
    use_choice(&f, FED_SKETCH_KIND, "gaussian");
    use_number(&f, FED_SKETCH_ROWS, 100.0);
    plan = plan_of(&f);
    CHECK(isnan(plan->base.bound)); /* margins are sketched */
    drop(plan);
    close_fixture(&f);
}

static void the_sketch_is_chosen(void)
{
    fixture f;
    fed_plan *plan;
    double norm, margin;

    open_fixture(&f, "squared", 2000, 10, 2, 2.0);
    use_rounds(&f, 5);
    use_number(&f, FED_CLIP, 0.0);
    plan = plan_of(&f); /* ceil(4 ln(4 * 55/0.05)/(1/4 - 1/8)) */
    CHECK(plan->terms[1].sketch.kind == PN_SKETCH_GAUSSIAN && plan->terms[1].sketch.m == 269);
    CHECK(plan->terms[1].sketch.n == 2000 && plan->terms[0].sketch.seed == 1);
    CHECK(line_of(plan, "accuracy iota") <= 0.5 && line_of(plan, "accuracy iota") > 0.49);
    norm =
        line_of(plan, "sensitivity s_J") / 2.0; /* of the largest column of J; x in 2 B_1, ten uploads of X sqrt(n) */
    margin = norm * norm + norm * sqrt(2000.0 / 269.0) * sqrt(2.0 * log(2.0 * 2000.0 * 10.0));
    margin += norm * plan->terms[0].sigma_feature * sqrt(2.0 * log(2.0 * 2000.0 * 10.0));
    CHECK_CLOSE(line_of(plan, "margin bound B"), 2.0 * margin, 1e-6);
    CHECK_CLOSE(line_of(plan, "e of the sketch"), 2.0 * 2.0 * line_of(plan, "accuracy iota") * 2.0, 1e-9);
    drop(plan);
    use_number(&f, FED_SKETCH_ACCURACY, 0.1);
    plan = plan_of(&f); /* would take more rows than there are records */
    CHECK(plan->terms[1].sketch.kind == PN_SKETCH_IDENTITY && plan->terms[1].sketch.m == 2000);
    drop(plan);
    leave(&f, FED_SKETCH_ACCURACY);
    use_number(&f, FED_SKETCH_ROWS, 50.0);
    use_choice(&f, FED_SKETCH_KIND, "sparse");
    plan = plan_of(&f);
    CHECK(plan->terms[1].sketch.kind == PN_SKETCH_SPARSE && plan->terms[1].sketch.m == 50);
    CHECK_CLOSE(line_of(plan, "sensitivity s_J"), 2.0, 1e-9);
    drop(plan);
    close_fixture(&f);
}

int main(void)
{
    the_bound_is_theorem_one();
    parts_of_the_error();
    parts_of_a_ball(false);
    parts_of_a_ball(true);
    the_sketch_is_chosen();
    rounds_minimise_the_bound();
    rounds_that_nothing_favours();
    margins_are_clipped_where_the_bound_promises_nothing();
    slopes_of_the_logistic_loss_are_bounded();
    return check_summary();
}
