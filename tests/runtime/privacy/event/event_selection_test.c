/* event_selection_test.c -- private selection: laws of the number of runs, what the best of them costs, that no law of
 * a winner costs more, and the coin.  Numbers: programs written apart from the runtime, at their printed digits.
 * Depends on: check.h, privacy/, random/. */
#include <string.h>

#include "check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/event_leaf.h"
#include "privacy/text/event_text.h"
#include "privacy/event/stopping.h"

static const double figure_delta = 1e-5; /* of the figures */

/* ---- laws ---- */

static pn_stopping law_of(pn_stopping_kind kind, double mean, double eta)
{
    pn_stopping law;

    CHECK(pn_stopping_make(&law, kind, mean, eta, "test", NULL) == PN_OK);
    return law;
}

static void laws_have_their_figures(void)
{
    static const struct {
        double eta, mean, gamma, median, q99, chance;
    } rows[] = { { 0, 10, .0269182596, 4, 81, .423049 },
                 { 1, 10, .1, 7, 44, .526316 },
                 { -.5, 10, .00277008310, 1, 171, .282376 },
                 { 0, 30, .00659427991, 7, 299, .552941 },
                 { 0, 100, .00154211507, 15, 1166, .646495 } };
    pn_stopping law;

    for (size_t i = 0; i < 5; i++) {
        law = law_of(PN_STOP_NEGATIVE_BINOMIAL, rows[i].mean, rows[i].eta);
        CHECK_CLOSE(law.gamma, rows[i].gamma, 5e-9 * rows[i].gamma);
        CHECK(pn_stopping_quantile(&law, .5) == rows[i].median);
        CHECK(pn_stopping_quantile(&law, .99) == rows[i].q99);
        CHECK_CLOSE(pn_stopping_chance(&law, .1), rows[i].chance, 1e-6);
    }
    law = law_of(PN_STOP_LOGARITHMIC, 10, 0);
    CHECK_CLOSE(pn_stopping_below(&law, 1), .269182596, 1e-9);
    CHECK_CLOSE(pn_stopping_below(&law, 3), .485112860, 1e-9);
    CHECK(pn_stopping_quantile(&law, 1 - 1e-9) == 607);
    law = law_of(PN_STOP_GEOMETRIC, 10, 0);
    CHECK(pn_stopping_quantile(&law, .5) == 7 && pn_stopping_quantile(&law, .99) == 44);
    CHECK(pn_stopping_quantile(&law, 1 - 1e-9) == 197);
    law = law_of(PN_STOP_NEGATIVE_BINOMIAL, 10, -.5);
    CHECK_CLOSE(pn_stopping_below(&law, 1), .526315789, 1e-9);
    CHECK(pn_stopping_quantile(&law, 1 - 1e-9) == 4562);
    law = law_of(PN_STOP_POISSON, 10, 0);
    CHECK_CLOSE(pn_stopping_chance(&law, .1), .632121, 1e-6);
}

/* ---- figures ---- */

static pn_event *gaussian(double mu)
{
    pn_event *event = NULL;

    CHECK(pn_event_gaussian(&event, 1.0 / mu, 1.0, 0, PN_REPLACE_ONE, NULL) == PN_OK);
    return event;
}

/* Takes `inner` over. */
static pn_event *selection(pn_event *inner, pn_stopping_kind kind, double mean, double eta)
{
    pn_arg args[5] = { { .given = true, .object = inner },
                       { .given = true, .text = pn_stopping_names[kind], .count = (size_t)kind },
                       { .given = true, .real = mean },
                       { .given = kind == PN_STOP_NEGATIVE_BINOMIAL, .real = eta } };
    pn_event *event = NULL;

    CHECK(pn_event_from_args(&event, "selection", args, inner->neighbours, NULL) == PN_OK);
    pn_event_free(inner);
    return event;
}

static double profile(pn_event *event, double delta)
{
    pn_accountant *pld = NULL;
    double epsilon = NAN, order;
    pn_arg none[2] = { 0 };

    CHECK(pn_accountant_from_args(&pld, "pld", none, NULL) == PN_OK);
    CHECK(pn_accountant_add(pld, event, 1, NULL) == PN_OK);
    CHECK(pld->ops->epsilon(pld, delta, &epsilon, &order, NULL) == PN_OK);
    pn_accountant_free(pld);
    return epsilon;
}

/* Instance: what the base's own number as its score really costs.  Theorem 2 is that of the source. */
static void costs_its_figures(void)
{
    static const struct {
        double mu, eta, profile, root, theorem_2, instance;
    } rows[] = { { .1, 0, .534924411, .568008502, .693826218, .396565 },
                 { .1, 1, .577074608, .610158700, .849134674, .396711 },
                 { .5, 0, 2.937607653, 3.102616180, 3.638516925, 2.253896 },
                 { .5, -.5, 2.781588336, 2.946596863, 3.214561559, 2.253149 } };

    for (size_t i = 0; i < 4; i++) {
        pn_event *event = selection(gaussian(rows[i].mu), PN_STOP_NEGATIVE_BINOMIAL, 10, rows[i].eta);
        double whole = profile(event, figure_delta), renyi = pn_event_epsilon(event, 1, figure_delta, NULL);

        CHECK_CLOSE(whole, rows[i].profile, 1e-9 * rows[i].profile);
        CHECK_CLOSE(renyi, rows[i].root, 1e-9 * rows[i].root);
        CHECK(rows[i].instance <= whole && whole <= renyi && renyi <= rows[i].theorem_2);
        pn_event_free(event);
    }
    for (int i = 0; i < 2; i++) {
        pn_event *event = selection(gaussian(i ? .5 : .1), PN_STOP_POISSON, 10, 0);

        CHECK_CLOSE(pn_event_epsilon(event, 1, figure_delta, NULL), i ? 3.987861708 : .721555748, i ? 4e-9 : 1e-9);
        pn_event_free(event);
    }
}

/* e = (1 + eta) eps1, read off the curve at an order past its least: less the base's and ln(m)/(alpha - 1). */
static void has_the_root(void)
{
    static const struct {
        double mu, eta, root;
    } rows[] = { { .1, 0, .138067033 }, { .1, 1, .0901086155 }, { .5, 0, .683523003 }, { .5, -.5, 1.055007372 } };

    for (size_t i = 0; i < 4; i++) {
        pn_event *event = selection(gaussian(rows[i].mu), PN_STOP_NEGATIVE_BINOMIAL, 10, rows[i].eta);
        double e = event->ops->rdp(event, 101.0) - 50.5 * rows[i].mu * rows[i].mu - log(10.0) / 100.0;
        double lower = event->ops->rdp(event, 2.0);

        CHECK_CLOSE(e / (1.0 + rows[i].eta), rows[i].root, 1e-9);
        CHECK(lower <= event->ops->rdp(event, 20.0) && lower < rows[i].mu * rows[i].mu + e + log(10.0));
        pn_event_free(event);
    }
}

/* The largest mu of a run for a whole price, and that one step more is too much. */
static void allows_its_mu(void)
{
    static const struct {
        pn_stopping_kind kind;
        double mean, eta, mu[2]; /* at epsilon 1 and 4 */
    } rows[] = { { PN_STOP_LOGARITHMIC, 10, 0, { .181180917, .666387169 } },
                 { PN_STOP_GEOMETRIC, 10, 0, { .168932297, .626137348 } },
                 { PN_STOP_NEGATIVE_BINOMIAL, 10, -.5, { .191520910, .699679873 } },
                 { PN_STOP_LOGARITHMIC, 30, 0, { .161253502, .601152193 } },
                 { PN_STOP_KNOWN_TARGET, 10, 0, { .197376663, .718303631 } } };

    for (size_t i = 0; i < 10; i++) {
        double mu = rows[i / 2].mu[i % 2], epsilon = i % 2 ? 4.0 : 1.0;

        for (int side = -1; side <= 1; side += 2) {
            pn_event *event =
                selection(gaussian(mu * (1.0 + side * 6e-9)), rows[i / 2].kind, rows[i / 2].mean, rows[i / 2].eta);

            CHECK((profile(event, figure_delta) <= epsilon) == (side < 0));
            pn_event_free(event);
        }
    }
}

static void prices_pure_bases(void)
{
    pn_arg args[2] = { { .given = true, .real = .1 } };
    pn_event *pure = NULL, *event;

    CHECK(pn_event_from_args(&pure, "pure", args, PN_REPLACE_ONE, NULL) == PN_OK);
    event = selection(pure, PN_STOP_LOGARITHMIC, 10, 0);
    CHECK(event->ops->rdp(event, INFINITY) >= .142142 && event->ops->rdp(event, INFINITY) <= .2);
    CHECK(isfinite(event->ops->zcdp(event)) && pn_event_epsilon(event, 1, 0.0, NULL) <= .2);
    pn_event_free(event);
}

/* ---- every law of a winner, on four outcomes ---- */

#define OUTCOMES 4

static void draw_law(pn_rng *rng, double *law)
{
    double sum = 0.0, spread = 3.0 * pn_rng_uniform(rng);

    for (int y = 0; y < OUTCOMES; y++)
        sum += law[y] = exp(spread * (2.0 * pn_rng_uniform(rng) - 1.0));
    for (int y = 0; y < OUTCOMES; y++)
        law[y] /= sum;
}

/* Generating function of K at q. */
static double generating(const pn_stopping *law, double q)
{
    double u = 1.0 - (1.0 - law->gamma) * q;

    if (law->kind == PN_STOP_POISSON)
        return exp(law->mean * (q - 1.0));
    return law->eta == 0.0 ? log(u) / log(law->gamma) : (pow(u, -law->eta) - 1.0) / (pow(law->gamma, -law->eta) - 1.0);
}

static void winner(const pn_stopping *law, const double *base, double *out)
{
    double below = 0.0;

    for (int y = 0; y < OUTCOMES; y++) {
        out[y] = generating(law, below + base[y]) - generating(law, below);
        below += base[y];
    }
}

static double hockey(const double *a, const double *b, double epsilon)
{
    double sum = 0.0;

    for (int y = 0; y < OUTCOMES; y++)
        sum += fmax(0.0, a[y] - exp(epsilon) * b[y]);
    return sum;
}

static double renyi(const double *a, const double *b, double none, double alpha)
{
    double sum = none; /* of the outcome "no run" */

    for (int y = 0; y < OUTCOMES; y++)
        sum += pow(a[y], alpha) * pow(b[y], 1.0 - alpha);
    return log(sum) / (alpha - 1.0);
}

static double worst(const double *a, const double *b, double epsilon)
{
    return fmax(hockey(a, b, epsilon), hockey(b, a, epsilon));
}

static pn_event *of_laws(const double *p, const double *q)
{
    pn_arg args[6] = { { .given = true, .vector = { (double *)(size_t)p, OUTCOMES } },
                       { .given = true, .vector = { (double *)(size_t)q, OUTCOMES } } };
    pn_event *event = NULL;

    CHECK(pn_event_from_args(&event, "loss_distribution", args, PN_REPLACE_ONE, NULL) == PN_OK);
    return event;
}

static void check_winner(const pn_stopping *law, const double *p, const double *q)
{
    static const double orders[] = { 1.3, 2.0, 5.0, 20.0 };
    pn_event *event = selection(of_laws(p, q), law->kind, law->mean, law->eta), *base = of_laws(p, q);
    double a[OUTCOMES], b[OUTCOMES], none = law->kind == PN_STOP_POISSON ? exp(-law->mean) : 0.0;
    double e = event->ops->rdp(event, INFINITY) - base->ops->rdp(base, INFINITY);

    winner(law, p, a);
    winner(law, q, b);
    for (size_t i = 0; i < 4; i++) {
        double bound = event->ops->rdp(event, orders[i]);

        CHECK(renyi(a, b, none, orders[i]) <= bound + 1e-12 && renyi(b, a, none, orders[i]) <= bound + 1e-12);
    }
    for (double epsilon = 0.0; epsilon < 3.0 && none == 0.0; epsilon += 0.5) {
        double over = epsilon - e,
               delta = over >= 0.0 ? worst(p, q, over) : 1.0 - exp(over) * (1.0 - worst(p, q, -over));

        CHECK(worst(a, b, epsilon) <= law->mean * delta + 1e-12);
    }
    pn_event_free(base);
    pn_event_free(event);
}

static void no_winner_costs_more(void)
{
    static const double etas[] = { -.5, 0.0, 1.0 };
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 7, NULL) == PN_OK);
    for (long i = 0; i < check_times(200, 2000); i++) {
        double p[OUTCOMES], q[OUTCOMES], gamma = exp(-.1 - 5.9 * pn_rng_uniform(rng)), eta = etas[i % 3];
        pn_stopping law;

        draw_law(rng, p);
        draw_law(rng, q);
        law = law_of(PN_STOP_NEGATIVE_BINOMIAL,
                     eta == 0.0 ? (1 / gamma - 1) / -log(gamma) : eta * (1 - gamma) / (gamma * (1 - pow(gamma, eta))),
                     eta);
        CHECK_CLOSE(law.gamma, gamma, 1e-10);
        check_winner(&law, p, q);
        law = law_of(PN_STOP_POISSON, fmin(1 / gamma, 20.0), 0); /* masses of more runs are next to no numbers */
        check_winner(&law, p, q);
    }
    pn_rng_free(rng);
}

/* ---- the coin ---- */

/* Chi-square of K in 30 cells and what is above them against its masses: 30 degrees of freedom, whose 1 - 5e-7 quantile
 * is below 86. */
static void tosses_its_law(void)
{
    enum { CELLS = 31, RUNS = 100000 };
    pn_stopping law = law_of(PN_STOP_GEOMETRIC, 10, 0);
    long seen[CELLS] = { 0 };
    double chi = 0.0;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    for (int i = 0; i < RUNS; i++) {
        int k = 1;

        while (!pn_stopping_toss(&law, rng))
            k++;
        seen[k < CELLS ? k - 1 : CELLS - 1]++;
    }
    for (int k = 1; k <= CELLS; k++) {
        double mass = (k < CELLS ? pn_stopping_below(&law, k) : 1.0) - pn_stopping_below(&law, k - 1);
        double want = RUNS * mass;

        chi += ((double)seen[k - 1] - want) * ((double)seen[k - 1] - want) / want;
    }
    CHECK(chi < 86.0);
    pn_rng_free(rng);
}

/* ---- the rest ---- */

static void pays_for_noise_as_drawn(void)
{
    pn_event *one = NULL, *event;
    pn_slack inner, all;

    CHECK(pn_event_gaussian(&one, 5.0, 1.0, 1000, PN_REPLACE_ONE, NULL) == PN_OK);
    inner = pn_event_slack(one, 1);
    event = selection(one, PN_STOP_GEOMETRIC, 10, 0);
    all = pn_event_slack(event, 1);
    CHECK(all.epsilon >= 3.0 * inner.epsilon && all.epsilon < 3.1 * inner.epsilon);
    CHECK_CLOSE(all.tail, 10.0 * inner.tail, 1e-12 * all.tail);
    CHECK_CLOSE(all.window, 10.0 * inner.window, 1e-12 * all.window);
    pn_event_free(event);
}

/* Laws of equal numbers are different events, so that a ledger does not add them up as one. */
static void tells_laws_apart(void)
{
    pn_event *a = selection(gaussian(.1), PN_STOP_GEOMETRIC, 10, 0),
             *b = selection(gaussian(.1), PN_STOP_LOGARITHMIC, 10, 0);

    CHECK(!pn_event_same(a, b) && pn_event_same(a, a));
    CHECK(pn_event_epsilon(a, 2, figure_delta, NULL) > pn_event_epsilon(a, 1, figure_delta, NULL));
    pn_event_free(a);
    pn_event_free(b);
}

/* As a ledger's file keeps it. */
static void reads_back(void)
{
    static const pn_stopping_kind kinds[] = { PN_STOP_GEOMETRIC, PN_STOP_NEGATIVE_BINOMIAL, PN_STOP_KNOWN_TARGET };

    for (size_t i = 0; i < 3; i++) {
        pn_event *event = selection(gaussian(.3), kinds[i], 12.5, -.25), *copy = NULL;
        pn_text text = { 0 };
        const char *cursor;

        CHECK(pn_event_write(&text, event, PN_REPLACE_ONE, NULL) == PN_OK);
        cursor = text.data;
        CHECK(pn_event_read(&copy, &cursor, PN_REPLACE_ONE, NULL) == PN_OK && pn_event_same(event, copy));
        CHECK(copy && pn_event_epsilon(copy, 1, figure_delta, NULL) == pn_event_epsilon(event, 1, figure_delta, NULL));
        pn_text_clear(&text);
        pn_event_free(copy);
        pn_event_free(event);
    }
}

static void refuses(pn_event *inner, size_t law, double mean, double eta, pn_neighbours neighbours, const char *why)
{
    pn_arg args[5] = { { .given = true, .object = inner },
                       { .given = true, .text = pn_stopping_names[law], .count = law },
                       { .given = true, .real = mean },
                       { .given = !isnan(eta), .real = eta } };
    pn_event *event = NULL;
    pn_err err = { 0 };

    CHECK(pn_event_from_args(&event, "selection", args, neighbours, &err) != PN_OK && !event);
    if (!CHECK(strstr(err.message, why)))
        (void)fprintf(stderr, "%s\n", err.message);
}

static void refuses_what_has_no_proof(void)
{
    pn_event *one = gaussian(.1), *approximate = NULL;

    CHECK(pn_event_approximate(&approximate, 1.0, 1e-6, PN_REPLACE_ONE, NULL) == PN_OK);
    refuses(one, PN_STOP_GEOMETRIC, 1.0, NAN, PN_REPLACE_ONE, "mean must be above 1");
    refuses(one, PN_STOP_GEOMETRIC, 1e9, NAN, PN_REPLACE_ONE, "at most 100000 runs");
    refuses(one, PN_STOP_GEOMETRIC, 10, 1.0, PN_REPLACE_ONE, "eta belongs to the law negative_binomial");
    refuses(one, PN_STOP_NEGATIVE_BINOMIAL, 10, NAN, PN_REPLACE_ONE, "needs eta");
    refuses(one, PN_STOP_NEGATIVE_BINOMIAL, 10, -1.0, PN_REPLACE_ONE, "eta must be above -1");
    refuses(one, PN_STOP_NEGATIVE_BINOMIAL, 10, -.9999, PN_REPLACE_ONE, "too near -1");
    refuses(one, PN_STOP_GEOMETRIC, 10, NAN, PN_ZERO_OUT, "make both for the same relation");
    refuses(approximate, PN_STOP_GEOMETRIC, 10, NAN, PN_REPLACE_ONE, "delta of its own");
    pn_event_free(approximate);
    pn_event_free(one);
}

int main(void)
{
    laws_have_their_figures();
    costs_its_figures();
    has_the_root();
    allows_its_mu();
    prices_pure_bases();
    no_winner_costs_more();
    tosses_its_law();
    pays_for_noise_as_drawn();
    tells_laws_apart();
    reads_back();
    refuses_what_has_no_proof();
    return check_summary();
}
