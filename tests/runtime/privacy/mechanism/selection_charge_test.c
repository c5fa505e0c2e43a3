/* selection_charge_test.c -- what the three laws of selection cost, by enumeration: exact probabilities of every
 * candidate on all neighbours of small score vectors, against the Renyi curve and the privacy loss distribution that
 * are charged.  No sampling: selection_law_test.c shows that the draws have these laws. */
#include "runtime/privacy/mechanism/selection_mechanism.c"

#include <stdlib.h>

#include "check.h"
#include "privacy/accounting/accountant_ops.h"
#include "privacy/event/event_curve.h"

#define MOST 3

static const double orders[] = { 1.01, 1.2, 1.5, 2.0, 3.0, 8.0, 30.0, INFINITY };
static const double losses[] = { 0.0, 0.1, 0.5, 0.9, 1.0 }; /* in units of epsilon */
#define ORDERS (sizeof orders / sizeof orders[0])
#define LOSSES (sizeof losses / sizeof losses[0])

/* ---- the laws: g_i = rate (max - score_i), rate = epsilon / (2 D) ---- */

static void exponential_law(const int64_t *score, size_t n, double rate, double *p)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += exp(rate * (double)(score[i] - score[0]));
    for (size_t i = 0; i < n; i++)
        p[i] = exp(rate * (double)(score[i] - score[0])) / sum;
}

/* i is met at a uniform time u: a_i int_0^1 prod_{j != i} (1 - u a_j) du, a = exp(-g). */
static void flip_law(const int64_t *score, size_t n, double rate, double *p)
{
    int64_t best = score[0];

    for (size_t i = 1; i < n; i++)
        best = score[i] > best ? score[i] : best;
    for (size_t i = 0; i < n; i++) {
        double one = 0.0, two = n > 2 ? 1.0 : 0.0;

        for (size_t j = 0; j < n; j++) {
            one += j != i ? exp(-rate * (double)(best - score[j])) : 0.0;
            two *= j != i ? exp(-rate * (double)(best - score[j])) : 1.0;
        }
        p[i] = exp(-rate * (double)(best - score[i])) * (1.0 - one / 2.0 + two / 3.0);
    }
}

/* P(K <= k) and P(K = k) for P(K = k) proportional to exp(-rate |k|). */
static double at_most(int64_t k, double rate)
{
    double q = exp(-rate);

    return k < 0 ? exp(rate * (double)k) / (1.0 + q) : 1.0 - exp(-rate * (double)(k + 1)) / (1.0 + q);
}

static double exactly(int64_t k, double rate)
{
    return tanh(rate / 2.0) * exp(-rate * fabs((double)k));
}

/* Ties go to the lowest index. */
static void noisy_max_law(const int64_t *score, size_t n, double rate, double *p)
{
    int64_t reach = (int64_t)(60.0 / rate) + 2, spread = 0;

    for (size_t i = 0; i < n; i++)
        spread = llabs(score[i] - score[0]) > spread ? llabs(score[i] - score[0]) : spread;
    for (size_t i = 0; i < n; i++) {
        p[i] = 0.0;
        for (int64_t k = -reach - 2 * spread; k <= reach + 2 * spread; k++) {
            double term = exactly(k, rate);

            for (size_t j = 0; j < n; j++)
                if (j != i)
                    term *= at_most(score[i] + k - score[j] - (j < i ? 1 : 0), rate);
            p[i] += term;
        }
    }
}

typedef void (*law_fn)(const int64_t *score, size_t n, double rate, double *p);
static const law_fn laws[] = { exponential_law, flip_law, noisy_max_law };

/* ---- what two neighbours tell ---- */

typedef struct worst {
    double renyi[ORDERS], delta[LOSSES];
} worst;

static double renyi(const double *p, const double *q, size_t n, double alpha)
{
    double sum = 0.0, top = 0.0;

    for (size_t i = 0; i < n; i++) {
        double loss = log(p[i] / q[i]);

        top = fmax(top, loss);
        if (isfinite(alpha))
            sum += q[i] * pn_above_tangent(alpha, loss);
    }
    return isfinite(alpha) ? log1p(sum) / (alpha - 1.0) : top;
}

static void look(worst *most, const double *p, const double *q, size_t n, double epsilon)
{
    for (size_t a = 0; a < ORDERS; a++)
        most->renyi[a] = fmax(most->renyi[a], renyi(p, q, n, orders[a]));
    for (size_t e = 0; e < LOSSES; e++) {
        double delta = 0.0;

        for (size_t i = 0; i < n; i++)
            delta += fmax(0.0, p[i] - exp(losses[e] * epsilon) * q[i]);
        most->delta[e] = fmax(most->delta[e], delta);
    }
}

/* All vectors of n scores up to 2 D apart, in half shifts of D (whole ones when D is odd), and all neighbours that move
 * every score by -D, 0 or D; both directions come up, since the neighbour is among the vectors too. */
static void enumerate(worst *most, law_fn law, size_t n, int64_t shift, double epsilon)
{
    const int64_t grain = shift % 2 == 0 ? shift / 2 : shift, levels = 2 * shift / grain + 1;
    size_t vectors = 1, moves = 1;

    *most = (worst){ { 0.0 }, { 0.0 } };
    for (size_t i = 0; i < n; i++) {
        vectors *= (size_t)levels;
        moves *= 3;
    }
    for (size_t v = 0; v < vectors; v++)
        for (size_t m = 0; m < moves; m++) {
            int64_t one[MOST], two[MOST];
            double p[MOST], q[MOST];
            size_t left = v, turn = m;

            for (size_t i = 0; i < n; i++, left /= (size_t)levels, turn /= 3) {
                one[i] = (int64_t)(left % (size_t)levels) * grain;
                two[i] = one[i] + ((int64_t)(turn % 3) - 1) * shift;
            }
            law(one, n, epsilon / (2.0 * (double)shift), p);
            law(two, n, epsilon / (2.0 * (double)shift), q);
            look(most, p, q, n, epsilon);
            look(most, q, p, n, epsilon);
        }
}

/* ---- what is charged ---- */

static pn_event *event_of(pn_selection law, double epsilon, int64_t shift, pn_neighbours neighbours)
{
    pn_arg args[4] = { { .given = true, .real = 2.0 },
                       { .given = true, .real = epsilon },
                       { .given = law == PN_SELECT_LAPLACE, .count = (size_t)shift },
                       { 0 } };
    pn_event *event = NULL;

    if (law == PN_SELECT_EXPONENTIAL)
        CHECK(pn_event_exponential(&event, epsilon, neighbours, NULL) == PN_OK);
    else
        CHECK(pn_event_from_args(&event, "report_noisy_max", args, neighbours, NULL) == PN_OK);
    return event;
}

/* The curve, the smallest epsilon of all, zCDP, and the loss distribution. */
static void covers(pn_event *event, const worst *most, double epsilon)
{
    pn_arg args[2] = { { 0 }, { 0 } };
    pn_accountant *pld = NULL;

    CHECK(pn_accountant_from_args(&pld, "pld", args, NULL) == PN_OK);
    CHECK(pn_accountant_add(pld, event, 1, NULL) == PN_OK);
    for (size_t a = 0; a < ORDERS; a++) {
        CHECK(most->renyi[a] <= event->ops->rdp(event, orders[a]) * (1.0 + 1e-12) + 1e-13);
        CHECK(isinf(orders[a]) || most->renyi[a] <= event->ops->zcdp(event) * orders[a] * (1.0 + 1e-12));
    }
    CHECK(event->ops->rdp(event, INFINITY) <= epsilon * (1.0 + 1e-15)); /* and the pure one is not dearer */
    for (size_t e = 0; e < LOSSES; e++) {
        double delta = NAN;

        CHECK(pld->ops->delta(pld, losses[e] * epsilon, &delta, NULL) == PN_OK);
        CHECK(most->delta[e] <= delta + 1e-12);
    }
    pn_accountant_free(pld);
}

static void charges_cover_the_exact_laws(void)
{
    static const double epsilons[] = { 0.25, 2.0, 8.0, 16.0 };
    static const int64_t shifts[] = { 1, 2, 3, 6 };

    for (pn_selection law = PN_SELECT_EXPONENTIAL; law <= PN_SELECT_LAPLACE; law++)
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
            for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s += (size_t)check_times(3, 1))
                for (size_t n = 2; n <= MOST; n++) {
                    worst most;

                    enumerate(&most, laws[law], n, shifts[s], epsilons[e]);
                    for (pn_neighbours relation = PN_REPLACE_ONE; relation <= PN_ZERO_OUT; relation++) {
                        pn_event *event = event_of(law, epsilons[e], shifts[s], relation);

                        covers(event, &most, epsilons[e]);
                        pn_event_free(event);
                    }
                }
}

/* Noise in few steps costs more than the continuous curve: the numbers that were found for D = 2, equal scores of which
 * the first falls and the others rise. */
static void few_steps_cost_more_than_continuous_noise(void)
{
    static const double found[][4] = { { 8.0, 3.0, 7.7579, 4.0 },
                                       { 12.0, 1.5, 11.671, 3.0 },
                                       { 16.0, 1.2, 15.720, 3.0 } };

    for (size_t i = 0; i < 3; i++) {
        const int64_t one[4] = { 0, 0, 0, 0 }, two[4] = { -2, 2, 2, 2 };
        double epsilon = found[i][0], alpha = found[i][1], p[4], q[4], exact;
        pn_event *event = event_of(PN_SELECT_LAPLACE, epsilon, 2, PN_REPLACE_ONE);
        size_t n = (size_t)found[i][3];

        noisy_max_law(one, n, epsilon / 4.0, p);
        noisy_max_law(two, n, epsilon / 4.0, q);
        exact = renyi(p, q, n, alpha);
        CHECK_CLOSE(exact, found[i][2], 1e-3);
        CHECK(exact > pn_curve_laplace(epsilon, alpha) + 0.01);
        CHECK(exact <= event->ops->rdp(event, alpha));
        pn_event_free(event);
    }
}

/* The mechanism as it is made: its D is large, its event knows it, and the exact law of its integers is covered. */
static void what_is_made_is_covered(void)
{
    static const double errors[] = { 0.0, 0x1p-20, 0.5, 3.0 };

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        pn_selection_options options = { PN_SELECT_LAPLACE, 8.0, 1.0, errors[i], 100.0, PN_ADD_REMOVE, 0.0 };
        pn_mechanism *mechanism = NULL;
        selection_mechanism *self;
        int64_t one[2] = { 0, 0 }, two[2];
        double p[2], q[2];
        worst most = { { 0.0 }, { 0.0 } };

        CHECK(pn_mechanism_selection(&mechanism, &options, NULL) == PN_OK);
        self = (selection_mechanism *)mechanism;
        CHECK(self->shift >= 4096);
        self->shift = self->shift < 65536 ? self->shift : 65536; /* the curve of more steps is lower */
        two[0] = -(int64_t)self->shift;
        two[1] = (int64_t)self->shift;
        noisy_max_law(one, 2, 8.0 / (2.0 * (double)self->shift), p);
        noisy_max_law(two, 2, 8.0 / (2.0 * (double)self->shift), q);
        look(&most, p, q, 2, 8.0);
        look(&most, q, p, 2, 8.0);
        covers(mechanism->event, &most, 8.0);
        pn_mechanism_free(mechanism);
    }
}

int main(void)
{
    charges_cover_the_exact_laws();
    few_steps_cost_more_than_continuous_noise();
    what_is_made_is_covered();
    return check_summary();
}
