/* perturbed_objective_test.c -- the privacy of a perturbed minimiser.  Numbers: perturbation.md section 5; elsewhere
 * quadrature of the definition and of output densities, written here.  Depends on: check.h, privacy/. */
#include <stddef.h>

#include "check.h"
#include "numeric/root.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/gaussian.h"
#include "privacy/event/perturbed_objective.h"

/* E g(chi) by Simpson's rule on `cells` parts of [0, 40], chi of 1 or 2 dimensions. */
static double mean_over_cells(double (*g)(double r, const double *with), const double *with, int rank, int cells)
{
    double width = 40.0 / cells, sum = 0.0;

    for (int i = 0; i <= cells; i++) {
        double r = width * i, weight = i == 0 || i == cells ? 1.0 : i % 2 ? 4.0 : 2.0;
        double density = rank == 1 ? 0.79788456080286535588 * exp(-0.5 * r * r) : r * exp(-0.5 * r * r);

        sum += weight * density * g(r, with);
    }
    return sum * width / 3.0;
}

static double mean_over_chi(double (*g)(double r, const double *with), const double *with, int rank)
{
    return mean_over_cells(g, with, rank, 400000);
}

static double loss_at(double r, const double *with) /* epsilon, s, jacobian */
{
    return with[2] + 0.5 * with[1] * with[1] + with[1] * r;
}

static double beyond(double r, const double *with)
{
    double over = loss_at(r, with) - with[0];

    return over > 0.0 ? -expm1(-over) : 0.0;
}

static double beyond_loss(double r, const double *with)
{
    return loss_at(r, with) > with[0] ? 1.0 : 0.0;
}

static double other_beyond_loss(double r, const double *with)
{
    return loss_at(r, with) > with[0] ? exp(-loss_at(r, with)) : 0.0;
}

static double power(double r, const double *with)
{
    return exp(with[3] * loss_at(r, with));
}

/* A smaller s in closed form, by P(chi > r) <= exp(-r^2/2): -t + sqrt(t^2 + 2 (epsilon - jacobian)),
 * t = sqrt(2 ln(1/delta)). */
static double closed_form(double epsilon, double delta, double jacobian)
{
    double t = sqrt(-2.0 * log(delta)), e = epsilon - jacobian;

    return e > 0.0 ? 2.0 * e / (t + sqrt(t * t + 2.0 * e)) : 0.0;
}

static void test_s_of_the_specification(void)
{
    static const double row[][3] = { { 0.0, 0.229086943, 0.211813548 },
                                     { 0.1, 0.207650557, 0.191843884 },
                                     { 0.5, 0.119784574, 0.110208619 } };

    for (size_t i = 0; i < 3; i++) {
        CHECK_CLOSE(pn_perturbed_s(1.0, 1e-6, row[i][0], 1) / row[i][1], 1.0, 5e-9);
        CHECK_CLOSE(pn_perturbed_s(1.0, 1e-6, row[i][0], 2) / row[i][2], 1.0, 5e-9);
    }
    CHECK_CLOSE(closed_form(1.0, 1e-6, 0.0), 0.186916584, 5e-10);
    /* L = 1, beta = 1/4, Lam = 1, n = 1000: noise of 2L/(s n) in mean form. */
    CHECK_CLOSE(2.0 / (pn_perturbed_s(1.0, 1e-6, log(1.25), 2) * 1000.0), 0.0119736997, 5e-11);
}

static void test_s_lies_between_its_closed_form_and_gaussian_noise(void)
{
    for (double epsilon = 0.01; epsilon < 20.0; epsilon *= 1.7) {
        for (double delta = 1e-30; delta < 0.1; delta *= 40.0) {
            double mu = pn_gaussian_mu(epsilon, delta);

            for (double share = 0.0; share < 1.0; share += 0.24) {
                double two = pn_perturbed_s(epsilon, delta, share * epsilon, 2);
                double one = pn_perturbed_s(epsilon, delta, share * epsilon, 1);

                CHECK(two < one && one < mu);
                CHECK(closed_form(epsilon, delta, share * epsilon) < two);
                CHECK(pn_perturbed_delta(epsilon, two, share * epsilon, 2) <= delta);
                CHECK(pn_perturbed_delta(epsilon, two * (1.0 + 1e-9), share * epsilon, 2) > delta);
            }
        }
    }
    CHECK(pn_perturbed_s(1.0, 1e-6, 1.0, 2) == 0.0);
    CHECK(pn_perturbed_s(1.0, 1e-6, 1.5, 2) == 0.0);
}

static void test_delta_is_the_integral(void)
{
    static const double row[][3] = { { 1.0, 0.2, 0.1 }, { 0.1, 0.02, 0.03 }, { 0.5, 2.0, 0.0 },   { 0.01, 0.5, 0.2 },
                                     { 3.0, 0.7, 1.0 }, { 0.0, 1e-3, 0.0 },  { 0.0, 0.01, 0.02 }, { 6.0, 1.5, 0.3 } };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (int rank = 1; rank <= 2; rank++) {
            double got = pn_perturbed_delta(row[i][0], row[i][1], row[i][2], rank);
            double expected = mean_over_chi(beyond, row[i], rank);

            CHECK_CLOSE(got / expected, 1.0, 1e-7);
        }
    }
    CHECK(pn_perturbed_delta(1.0, INFINITY, 0.0, 2) == 1.0);
    CHECK(isnan(pn_perturbed_delta(1.0, 0.0, 0.0, 2)));
    CHECK(isnan(pn_perturbed_delta(1.0, 1.0, -0.1, 2)));
    CHECK(isnan(pn_perturbed_delta(-1.0, 1.0, 0.0, 2)));
    CHECK(isnan(pn_perturbed_delta(1.0, 1.0, 0.0, 3)));
}

/* Half a cell of 1e-4 is what the jump in the integrand costs: 1e-4 (density),
 * and where the loss starts nothing is cut. */
static void test_tails_are_the_integrals(void)
{
    static const double row[][3] = { { 1.0, 0.2, 0.1 },  { 0.1, 0.02, 0.03 }, { 0.5, 2.0, 0.0 },  { 40.0, 8.0, 0.2 },
                                     { -1.0, 0.7, 1.0 }, { -1.0, 5.0, 0.0 },  { -1.0, 12.0, 0.3 } };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (int rank = 1; rank <= 2; rank++) {
            double p = mean_over_chi(beyond_loss, row[i], rank), q = mean_over_chi(other_beyond_loss, row[i], rank);
            double near = row[i][0] < 0.0 ? 1e-7 : 1e-3;
            pn_pair pair;
            pn_tails t;

            pn_pair_perturbed(&pair, row[i][1], row[i][2], rank);
            pair.tails(&pair, row[i][0], &t);
            CHECK_CLOSE(t.p_above / p, 1.0, near);
            CHECK_CLOSE(t.q_above / q, 1.0, near);
            CHECK_CLOSE(t.p_above + t.p_below, 1.0, 1e-15);
            CHECK_CLOSE(t.q_above + t.q_below, 1.0, 1e-15);
        }
    }
}

/* H(e^epsilon) = P(X > epsilon) - e^epsilon E (exp(-X); X > epsilon), two closed forms that do not share a line. */
static void test_the_pair_has_the_hockey_stick(void)
{
    for (double s = 1e-3; s < 20.0; s *= 2.3) {
        for (double jacobian = 0.0; jacobian < 2.0; jacobian = jacobian * 6.0 + 0.01) {
            for (double epsilon = 0.0; epsilon < 30.0; epsilon = epsilon * 1.8 + 0.01) {
                for (int rank = 1; rank <= 2; rank++) {
                    double delta = pn_perturbed_delta(epsilon, s, jacobian, rank);
                    pn_pair pair;
                    pn_tails t;

                    pn_pair_perturbed(&pair, s, jacobian, rank);
                    pair.tails(&pair, epsilon, &t);
                    CHECK_CLOSE(t.p_above - exp(epsilon) * t.q_above, delta, 1.1e-12 * delta + 1e-14);
                }
            }
        }
    }
}

/* ---- with the answer's noise ---- */

static double with_answer(double r, const double *with) /* epsilon, s, jacobian, mu */
{
    double left = with[0] - loss_at(r, with);

    return left >= 0.0 ? pn_gaussian_delta(with[3], left)
                       : -expm1(left) + exp(left) * pn_gaussian_delta(with[3], -left);
}

/* The accountant's epsilon of objective and answer at delta, against E H(exp(epsilon - X)) by Simpson's rule, H the
 * hockey stick of the answer's Gaussian noise; below 1 it is 1 - e^l + e^l H(e^-l). */
static void test_loss_distributions_compose(void)
{
    static const double row[][4] = { { 1.0, 0.19, 0.1, 0.02 },
                                     { 0.1, 0.02, 0.01, 0.006 },
                                     { 4.0, 0.6, 0.3, 0.2 },
                                     { 9.0, 1.2, 1.0, 0.04 },
                                     { 1.0, 0.2, 0.0, 0.1 } };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (int rank = 1; rank <= 2; rank++) {
            double delta = mean_over_cells(with_answer, row[i], rank, 20000), epsilon = NAN;
            pn_neighbours relation = rank == 1 ? PN_ZERO_OUT : PN_REPLACE_ONE;
            pn_event *parts[2] = { NULL, NULL };
            pn_accountant *accountant = NULL;
            pn_arg none[2] = { { 0 } };

            CHECK(pn_event_objective_perturbation(&parts[0], 1.0, row[i][1], row[i][2], 2, relation, NULL) == PN_OK);
            CHECK(pn_event_gaussian(&parts[1], 1.0, row[i][3], 2, relation, NULL) == PN_OK);
            CHECK(pn_accountant_from_args(&accountant, "pld", none, NULL) == PN_OK);
            for (int part = 0; part < 2; part++)
                CHECK(pn_accountant_add(accountant, parts[part], 1, NULL) == PN_OK);
            CHECK(accountant->ops->epsilon(accountant, delta, &epsilon, NULL, NULL) == PN_OK);
            CHECK(epsilon >= row[i][0] * (1.0 - 1e-7) && epsilon < row[i][0] * (1.0 + 5e-4));
            pn_accountant_free(accountant);
            pn_event_free(parts[0]);
            pn_event_free(parts[1]);
        }
    }
}

static void test_renyi_divergence_is_the_integral(void)
{
    for (double alpha = 1.01; alpha < 30.0; alpha *= 1.8) {
        for (double s = 0.01; s < 1.0; s *= 3.3) {
            double with[] = { 0.0, s, 0.07, alpha - 1.0 };

            for (int rank = 1; rank <= 2; rank++) {
                double got = pn_perturbed_rdp(s, 0.07, rank, alpha);

                CHECK_CLOSE(got / (log(mean_over_chi(power, with, rank)) / (alpha - 1.0)), 1.0, 1e-7);
            }
        }
    }
    CHECK(isinf(pn_perturbed_rdp(0.1, 0.1, 2, INFINITY)));
}

static void test_renyi_divergence_grows_and_stays_below_zcdp(void)
{
    for (double s = 1e-9; s < 1e6; s *= 21.0) {
        for (double jacobian = 0.0; jacobian < 3.0; jacobian = jacobian * 20.0 + 1e-3) {
            for (int rank = 1; rank <= 2; rank++) {
                double before = 0.0, rho = pn_perturbed_zcdp(s, jacobian, rank);

                for (double a = 1e-9; a < 1e7; a *= 3.7) {
                    double now = pn_perturbed_rdp(s, jacobian, rank, 1.0 + a);

                    CHECK(isfinite(now) && now >= before * (1.0 - 1e-12) && now <= rho * (1.0 + a) * (1.0 + 1e-12));
                    CHECK(now >= s * s / 2.0 * (1.0 + a));
                    before = now;
                }
                CHECK_CLOSE(pn_perturbed_rdp(s, jacobian, rank, 1.0 + 1e-12) / rho, 1.0, 1e-5 + 1e-9 * s);
            }
        }
    }
}

/* With l = L x theta, x in {-1, 1} and a quadratic term the minimiser is Gaussian noise with mu = s: half of the
 * claim. */
static void test_linear_losses_are_a_gaussian_mechanism(void)
{
    CHECK_CLOSE(pn_gaussian_delta(pn_perturbed_s(1.0, 1e-6, 0.0, 1), 1.0), 5.00e-7, 1e-15);
}

/* ---- the exact law in one dimension ---- */

/* Sum of the slopes of logistic losses ln(1 + exp(-y x t)) of `n` records z = y x, |z| <= 1; and its derivative. */
static double slope_of(const double *z, size_t n, double t, double *bend)
{
    double slope = 0.0;

    *bend = 0.0;
    for (size_t i = 0; i < n; i++) {
        double p = 1.0 / (1.0 + exp(z[i] * t));

        slope -= z[i] * p;
        *bend += z[i] * z[i] * p * (1.0 - p);
    }
    return slope;
}

/* Density of the minimiser at t: b = -(slope + Lam t), times |db/dt|. */
static double density(const double *z, size_t n, double lam, double sigma, double t)
{
    double bend, b = slope_of(z, n, t, &bend) + lam * t;

    return 0.39894228040143267794 / sigma * exp(-0.5 * b * b / (sigma * sigma)) * (bend + lam);
}

static void test_logistic_loss_keeps_delta_exactly(void)
{
    static const double common[] = { 0.3, -0.8, 1.0, 0.05, -1.0 };
    static const double pair[][2] = { { 1.0, -1.0 }, { 1.0, 0.0 }, { -1.0, 0.0 }, { 1.0, 0.4 }, { -0.7, 1.0 } };
    static const double lams[] = { 0.3, 1.0, 8.0 };
    const int cells = 200000;

    for (size_t c = 0; c < sizeof pair / sizeof pair[0] * 3; c++) {
        double epsilon = 1.0, delta = 1e-3, lam = lams[c % 3], jacobian = log1p(0.25 / lam);
        /* In one dimension the slopes -z p of two records differ by at most 1, not 2. */
        double sigma = 1.0 / pn_perturbed_s(epsilon, delta, jacobian, 1), z[6], other[6];
        double reach = (6.0 + 9.0 * sigma) / lam, width = 2.0 * reach / cells, mass = 0.0, stick = 0.0, back = 0.0;

        for (size_t i = 0; i < 5; i++)
            z[i] = other[i] = common[i];
        z[5] = pair[c / 3][0];
        other[5] = pair[c / 3][1];
        for (int i = 0; i < cells; i++) {
            double t = -reach + width * (i + 0.5);
            double p = density(z, 6, lam, sigma, t), q = density(other, 6, lam, sigma, t);

            mass += p * width;
            stick += fmax(0.0, p - exp(epsilon) * q) * width;
            back += fmax(0.0, q - exp(epsilon) * p) * width;
        }
        CHECK_CLOSE(mass, 1.0, 1e-9);
        CHECK(stick <= delta && back <= delta);
        if (c == 2) /* not idle: opposite records and a small Jacobian come near */
            CHECK(fmax(stick, back) > delta * 0.1);
    }
}

static void test_event(void)
{
    pn_event *event = NULL, *dropped = NULL;

    CHECK(pn_event_objective_perturbation(&event, 10.0, 2.0, 0.1, 7, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(event->ops->rdp(event, 3.0) == pn_perturbed_rdp(2.0 / 10.0, 0.1, 2, 3.0));
    CHECK(event->ops->zcdp(event) == pn_perturbed_zcdp(2.0 / 10.0, 0.1, 2));
    CHECK(event->ops->slack(event).epsilon == pn_gaussian_slack(7, 2.0 / 10.0).epsilon);
    CHECK(pn_event_objective_perturbation(&dropped, 10.0, 2.0, 0.1, 7, PN_ZERO_OUT, NULL) == PN_OK);
    CHECK(dropped->ops->rdp(dropped, 3.0) == pn_perturbed_rdp(2.0 / 10.0, 0.1, 1, 3.0));
    pn_event_free(dropped);
    CHECK(pn_event_objective_perturbation(&dropped, 10.0, 2.0, 0.1, 1, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(dropped->ops->rdp(dropped, 3.0) == pn_perturbed_rdp(2.0 / 10.0, 0.1, 1, 3.0));
    pn_event_free(dropped);
    CHECK(pn_event_objective_perturbation(&dropped, 10.0, 2.0, 0.1, 7, PN_ADD_REMOVE, NULL) == PN_EUNSUPPORTED);
    CHECK(pn_event_objective_perturbation(&dropped, 10.0, 2.0, -0.1, 7, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    pn_event_free(event);
}

/* ---- both releases by one curve ---- */

typedef struct together {
    double epsilon, delta, jacobian;
} together;

/* The objective at s and the answer's noise at mu_o = s/10, as a ledger prices them. */
static bool costs_more(void *self, double s)
{
    const together *at = self;
    pn_event *parts[2] = { NULL, NULL }, *both = NULL;
    double cost;

    CHECK(pn_event_objective_perturbation(&parts[0], 1.0, s, at->jacobian, 2, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_event_gaussian(&parts[1], 10.0, s, 2, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_event_compose(&both, parts, 2, NULL) == PN_OK);
    cost = pn_event_epsilon(both, 1, at->delta, NULL);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    pn_event_free(both);
    return cost > at->epsilon;
}

/* One Renyi curve allows a larger s than the exact integral of nine tenths of epsilon and delta, and at most 9 per cent
 * less than the exact integral of all of both, which no filter can add up. */
static void test_one_curve_beats_a_split(void)
{
    static const double deltas[] = { 1e-6, 1.0 / (32561.0 * 32561.0) };

    for (double epsilon = 0.1; epsilon < 2.0; epsilon *= 10.0) {
        for (size_t i = 0; i < 2; i++) {
            for (double share = 0.02; share < 0.31; share += 0.07) {
                together at = { epsilon, deltas[i], share * epsilon };
                double split = pn_perturbed_s(0.9 * epsilon, 0.9 * deltas[i], at.jacobian, 2);
                double all = pn_perturbed_s(epsilon, deltas[i], at.jacobian, 2);
                double joint = pn_bisect(costs_more, &at, split / 2.0, all);

                CHECK(joint > split * 1.03 && joint > all * 0.91 && joint < all);
            }
        }
    }
}

int main(void)
{
    test_s_of_the_specification();
    test_s_lies_between_its_closed_form_and_gaussian_noise();
    test_delta_is_the_integral();
    test_tails_are_the_integrals();
    test_the_pair_has_the_hockey_stick();
    test_loss_distributions_compose();
    test_renyi_divergence_is_the_integral();
    test_renyi_divergence_grows_and_stays_below_zcdp();
    test_linear_losses_are_a_gaussian_mechanism();
    test_logistic_loss_keeps_delta_exactly();
    test_event();
    test_one_curve_beats_a_split();
    return check_summary();
}
