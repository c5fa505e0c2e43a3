/* perturbation_test.c -- two draws that are paid for once.  Depends on: check.h, privacy/, random/. */
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/perturbed_objective.h"
#include "privacy/mechanism/perturbation.h"

#define DIM 4

static const pn_perturbation_options usual = { .dim = DIM,
                                               .sigma = 20.0,
                                               .sensitivity = 2.0,
                                               .jacobian = 0.01,
                                               .strong_convexity = 3.0,
                                               .offset = 1e-9,
                                               .sigma_out = 1e-5,
                                               .bound = 2.0,
                                               .neighbours = PN_REPLACE_ONE };

static pn_ledger *ledger_of(double epsilon, bool teaching)
{
    pn_budget budget = { .epsilon = epsilon, .delta = 1e-6, .rho = NAN, .teaching = teaching };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static double cost(void)
{
    pn_event *event = NULL;
    double epsilon;

    CHECK(pn_perturbation_event(&event, &usual, NULL) == PN_OK);
    epsilon = pn_event_epsilon(event, 1, 1e-6, NULL);
    pn_event_free(event);
    return epsilon;
}

/* a = offset + sqrt(p) step_b/(2 Lam), charged 2a and the rounding to the answer's own lattice. */
static void test_masked_sensitivity(void)
{
    double lattice = sqrt(4.0) * ldexp(20.0, -40) / (2.0 * 3.0);
    double rounding = sqrt(4.0) * ldexp(1e-5, -40) * (1.0 + 2.0 / 1e-5 * 0x1p-12);

    CHECK_CLOSE(pn_perturbation_masked(&usual) / (2.0 * (1e-9 + lattice) + rounding), 1.0, 1e-9);
    CHECK(pn_perturbation_masked(&usual) > 2.0 * (1e-9 + lattice) + rounding);
}

/* The numbers of perturbation.md section 5: tau = 1e-10, Lam = 1, p = 100, sigma = 12. */
static void test_masked_sensitivity_of_the_specification(void)
{
    pn_perturbation_options o = { .dim = 100,
                                  .sigma = 12.0,
                                  .sensitivity = 2.0,
                                  .strong_convexity = 1.0,
                                  .offset = sqrt(2e-10),
                                  .sigma_out = 1.0,
                                  .bound = 1.0 };

    CHECK_CLOSE(o.offset, 1.414e-5, 1e-8);
    CHECK_CLOSE(pn_perturbation_masked(&o) - 2.0 * o.offset - 10.0 * ldexp(1.0, -40), 2.0 * 5.5e-11, 2e-12);
}

static void test_charged_once_for_both_draws(void)
{
    pn_ledger *ledger = ledger_of(cost() * (1.0 + 1e-12), false);
    pn_perturbation *release = NULL, *second = NULL;
    double linear[DIM] = { 9.0, 9.0, 9.0, 9.0 }, out[DIM], point[DIM] = { 1.0, -1.0, 0.5, 0.0 };
    pn_rng *rng = NULL;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    CHECK(pn_perturbation_open(&release, &usual, ledger, "x", rng, linear, NULL) == PN_OK);
    CHECK(pn_ledger_entries(ledger) == 1 && pn_ledger_entry(ledger, 0).count == 1);
    CHECK(linear[0] != 9.0 && linear[0] != linear[1]);
    CHECK(pn_perturbation_release(release, point, out, NULL) == PN_OK);
    CHECK(pn_ledger_entries(ledger) == 1 && pn_ledger_entry(ledger, 0).count == 1);
    for (int j = 0; j < DIM; j++)
        CHECK(out[j] != point[j] && fabs(out[j] - point[j]) < 13.1e-5);
    CHECK(pn_perturbation_release(release, point, out, NULL) == PN_EBUDGET);
    memcpy(linear, point, sizeof linear);
    CHECK(pn_perturbation_open(&second, &usual, ledger, "x", rng, linear, NULL) == PN_EBUDGET);
    CHECK(second == NULL && memcmp(linear, point, sizeof linear) == 0);
    pn_perturbation_free(release);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
}

/* rho = J + s^2/2 + s sqrt(pi/2) of the objective and mu_o^2/2 of the answer, here of one size;
 * the curve is a sum, too. */
static void test_the_event_is_both_draws(void)
{
    pn_perturbation_options loud = usual;
    pn_event *event = NULL;
    double s = loud.sensitivity / loud.sigma, mu;

    loud.sigma_out = 2.0 * loud.offset; /* mu_o is about 1 */
    loud.bound = loud.sigma_out;
    mu = pn_perturbation_masked(&loud) / loud.sigma_out;
    CHECK(mu >= 1.0 && mu < 1.1);
    CHECK(pn_perturbation_event(&event, &loud, NULL) == PN_OK);
    CHECK_CLOSE(event->ops->zcdp(event), loud.jacobian + 0.5 * s * s + s * 1.25331413731550025 + 0.5 * mu * mu, 1e-9);
    CHECK_CLOSE(event->ops->rdp(event, 3.0), pn_perturbed_rdp(s, loud.jacobian, 2, 3.0) + 1.5 * mu * mu, 1e-9);
    pn_event_free(event);
}

/* At once and whole: one event of the budget's delta, at the upper end of the loss distribution of both. */
static void test_priced_by_the_loss_distribution(void)
{
    pn_perturbation_options whole = usual;
    pn_event *event = NULL;
    pn_accountant *accountant = NULL;
    pn_arg none[2] = { { 0 } }, values[3];
    pn_ledger *ledger;
    pn_perturbation *release = NULL;
    double linear[DIM], epsilon = NAN, price;
    pn_rng *rng = NULL;

    CHECK(pn_accountant_from_args(&accountant, "pld", none, NULL) == PN_OK);
    CHECK(pn_perturbation_event(&event, &usual, NULL) == PN_OK);
    CHECK(pn_accountant_add(accountant, event, 1, NULL) == PN_OK);
    CHECK(accountant->ops->epsilon(accountant, 1e-6, &epsilon, NULL, NULL) == PN_OK);
    pn_event_free(event);
    pn_accountant_free(accountant);
    whole.delta = 1e-6;
    CHECK(pn_perturbation_event(&event, &whole, NULL) == PN_OK);
    event->ops->args(event, values);
    CHECK(strcmp(event->ops->name, "approximate") == 0 && values[0].real == epsilon && values[1].real == 1e-6);
    price = pn_event_epsilon(event, 1, 1e-6, NULL);
    CHECK(price >= epsilon && price < cost() * 0.97);
    pn_event_free(event);

    ledger = ledger_of(price * (1.0 + 1e-12), false);
    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    CHECK(pn_perturbation_open(&release, &usual, ledger, NULL, rng, linear, NULL) == PN_EBUDGET);
    CHECK(pn_perturbation_open(&release, &whole, ledger, NULL, rng, linear, NULL) == PN_OK);
    pn_perturbation_free(release);
    CHECK(pn_perturbation_open(&release, &whole, ledger, NULL, rng, linear, NULL) == PN_EBUDGET);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
}

static void test_refusals_charge_nothing(void)
{
    pn_ledger *real = ledger_of(10.0, false), *teaching = ledger_of(10.0, true);
    pn_perturbation *release = NULL;
    pn_perturbation_options o = usual;
    double linear[DIM], far[DIM] = { 0.0, 0.0, 2.1, 0.0 }, none[DIM] = { 0.0, NAN, 0.0, 0.0 }, out[DIM] = { 0 };
    pn_rng *seeded = NULL, *secure = NULL;

    CHECK(pn_rng_seeded(&seeded, 1, NULL) == PN_OK && pn_rng_secure(&secure, NULL) == PN_OK);
    CHECK(pn_perturbation_open(&release, &usual, real, NULL, seeded, linear, NULL) == PN_EPRIVACY);
    CHECK(pn_perturbation_open(&release, &usual, NULL, NULL, secure, linear, NULL) == PN_EINVAL);
    o.sigma_out = 0.0;
    CHECK(pn_perturbation_open(&release, &o, real, NULL, secure, linear, NULL) == PN_EPRIVACY);
    CHECK(pn_perturbation_open(&release, &o, teaching, NULL, secure, linear, NULL) == PN_EPRIVACY);
    o.sigma_out = 2.0 * 0x1p-22;
    CHECK(pn_perturbation_open(&release, &o, real, NULL, secure, linear, NULL) == PN_EINVAL);
    o = usual;
    o.sigma = NAN;
    CHECK(pn_perturbation_open(&release, &o, real, NULL, secure, linear, NULL) == PN_EINVAL);
    o = usual;
    o.neighbours = PN_ADD_REMOVE;
    CHECK(pn_perturbation_open(&release, &o, real, NULL, secure, linear, NULL) == PN_EUNSUPPORTED);
    CHECK(release == NULL && pn_ledger_entries(real) == 0 && pn_ledger_entries(teaching) == 0);
    CHECK(pn_perturbation_open(&release, &usual, real, NULL, secure, linear, NULL) == PN_OK);
    CHECK(pn_perturbation_release(release, far, out, NULL) == PN_EDOMAIN);
    CHECK(pn_perturbation_release(release, none, out, NULL) == PN_EDOMAIN);
    CHECK(out[0] == 0.0 && out[2] == 0.0);
    pn_perturbation_free(release);
    pn_rng_free(seeded);
    pn_rng_free(secure);
    pn_ledger_free(real);
    pn_ledger_free(teaching);
}

/* 40,000 draws: the sample deviation is within 5 of its own deviations, sigma/sqrt(80,000), but for 6e-7. */
static void test_laws_of_the_two_draws(void)
{
    pn_perturbation_options o = usual;
    pn_ledger *ledger = ledger_of(1e6, true);
    pn_perturbation *release = NULL;
    static double linear[40000], point[40000], out[40000];
    double first = 0.0, second = 0.0, both = 0.0;
    pn_rng *rng = NULL;

    o.dim = 40000;
    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    CHECK(pn_perturbation_open(&release, &o, ledger, NULL, rng, linear, NULL) == PN_OK);
    CHECK(pn_perturbation_release(release, point, out, NULL) == PN_OK);
    for (size_t j = 0; j < o.dim; j++) {
        first += linear[j] * linear[j] / (o.sigma * o.sigma);
        second += out[j] * out[j] / (o.sigma_out * o.sigma_out);
        both += linear[j] / o.sigma * out[j] / o.sigma_out;
    }
    CHECK_CLOSE(sqrt(first / 40000.0), 1.0, 5.0 / sqrt(80000.0));
    CHECK_CLOSE(sqrt(second / 40000.0), 1.0, 5.0 / sqrt(80000.0));
    CHECK_CLOSE(both / 40000.0, 0.0, 5.0 / sqrt(40000.0));
    CHECK(linear[0] == round(linear[0] / ldexp(20.0, -40)) * ldexp(20.0, -40));
    pn_perturbation_free(release);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
}

static void test_a_child_does_not_release(void)
{
    pn_ledger *ledger = ledger_of(10.0, false);
    pn_perturbation *release = NULL;
    double linear[DIM], point[DIM] = { 0 }, out[DIM];
    pn_rng *rng = NULL;
    int state = 0;
    pid_t child;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    CHECK(pn_perturbation_open(&release, &usual, ledger, NULL, rng, linear, NULL) == PN_OK);
    child = fork();
    if (child == 0)
        _exit(pn_perturbation_release(release, point, out, NULL) == PN_EPRIVACY ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &state, 0) == child && state == 0);
    CHECK(pn_perturbation_release(release, point, out, NULL) == PN_OK);
    pn_perturbation_free(release);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
}

int main(void)
{
    test_masked_sensitivity();
    test_masked_sensitivity_of_the_specification();
    test_charged_once_for_both_draws();
    test_the_event_is_both_draws();
    test_priced_by_the_loss_distribution();
    test_refusals_charge_nothing();
    test_laws_of_the_two_draws();
    test_a_child_does_not_release();
    return check_summary();
}
