/* party_price.c -- how far computed numbers are from exact ones, and what releases cost: from public numbers.
 *
 * n times a gradient entry is G_i = sum_j a_ji w_j.  With the sketch w_j = (J^T q)_j - y_j, and by records w_j =
 * clip((J^T q)_j) - y_j or the loss's slope: either way |a_ji w_j| <= X (B + Y) or X, which release.h makes the
 * sensitivity of scores from.  A combination by x_k with ||x_k||_1 <= r_k moves by no more than a candidate.
 * By records the computed weights are the definition: each depends on its own record and public numbers only,
 * so just the sum rounds.
 * Depends on: party_impl.h, release.h.  Used by: party*.c.  See distributed-frank-wolfe.md section 3,
 * noise.md section 3. */
#include <float.h>
#include <math.h>

#include "federated/party/party_impl.h"
#include "federated/wire/release.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "privacy/accounting/accountant.h"

#define BLOCK  1024
#define UNIT   0x1p-53
#define UPWARD (1.0 + 0x1p-44) /* more than the roundings of any formula here */

/* ---- sums ---- */

double party_dot(size_t n, const double *x, const double *y)
{
    long double sum = 0.0L;

    for (size_t first = 0; first < n; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;

        sum += (long double)pn_dot(count, x + first, y + first);
    }
    return (double)sum;
}

/* Inside a block any order of its products and sums; blocks in long double; one rounding at the end. */
double party_dot_error(size_t n)
{
    double inside = (double)(n < BLOCK ? n : BLOCK) + 8.0;

    return (inside * UNIT + (double)(n / BLOCK + 2) * (double)LDBL_EPSILON) * 1.01;
}

/* ---- scores ---- */

bool party_by_records(const pn_terms *terms)
{
    return terms->loss == PN_FEDERATED_LOGISTIC || terms->clip > 0.0;
}

double party_pull(const pn_terms *terms, double margin)
{
    double weight = terms->loss == PN_FEDERATED_LOGISTIC ? 1.0 : pn_plus_up(margin, terms->label_bound) * UPWARD;

    return terms->feature_bound * weight * UPWARD;
}

double party_score_bound(const pn_terms *terms, double pull)
{
    return terms->radius * pull * UPWARD;
}

double party_score_error(const pn_terms *terms, double pull, double gradient_error, size_t count)
{
    double from_gradient = terms->radius * gradient_error / (double)terms->records;

    return (from_gradient + ((double)count + 16.0) * UNIT * party_score_bound(terms, pull)) * UPWARD;
}

double party_block_error(const pn_terms *terms, const pn_choices *choices, double pull, double gradient_error)
{
    double product = ((double)choices->terms + 16.0) * UNIT * pull;

    return choices->longest[PN_L1] * (gradient_error / (double)terms->records + product) * UPWARD;
}

double party_sum_error(const pn_terms *terms, double pull)
{
    double n = (double)terms->records;

    return (party_dot_error(terms->records) * n * pull + n * 0x1p-1060) * UPWARD;
}

/* ---- prices ---- */

pn_status party_price(party_run *run, const pn_terms *terms, pn_err *err)
{
    run->feature_sensitivity = pn_release_feature_sensitivity(terms, run->sketch);
    if (!terms->is_private)
        return PN_OK;
    PN_TRY(pn_release_selection(&run->price[PARTY_SELECTION], terms, err));
    PN_TRY(pn_release_feature_event(&run->price[PARTY_FEATURE], terms, run->feature_sensitivity, err));
    if (terms->mode != PN_FEDERATED_BALL)
        return PN_OK;
    return pn_release_score_event(&run->price[PARTY_SCORE], terms, 1.0, err);
}

pn_status party_price_all(pn_event **out, const party_run *run, const uint64_t counts[PARTY_KINDS], pn_err *err)
{
    pn_event *parts[PARTY_KINDS];
    size_t found = 0;
    pn_status status = PN_OK;

    *out = NULL;
    for (int kind = 0; kind < PARTY_KINDS && status == PN_OK; kind++) {
        if (run->price[kind] && counts[kind] > 0) {
            status = pn_event_repeated(&parts[found], run->price[kind], (size_t)counts[kind], err);
            found += status == PN_OK;
        }
    }
    if (status == PN_OK && found > 0)
        status = pn_event_compose(out, parts, found, err);
    while (found > 0)
        pn_event_free(parts[--found]);
    return status;
}

/* ---- what terms allow ---- */

void party_most(const pn_party *party, uint64_t counts[PARTY_KINDS])
{
    counts[PARTY_SELECTION] = counts[PARTY_SCORE] = party->terms.iterations;
    counts[PARTY_FEATURE] = pn_release_features(&party->terms, party->run.width);
}

void party_most_of_all(const pn_party *party, uint64_t counts[PARTY_KINDS])
{
    const pn_terms *terms = &party->terms;
    uint64_t others = (uint64_t)terms->parties - 1;

    party_most(party, counts);
    for (int kind = 0; kind < PARTY_KINDS; kind++)
        counts[kind] += others * (terms->block && kind == PARTY_FEATURE ? terms->features : terms->iterations);
}

double party_delta(const pn_party *party)
{
    const pn_ledger *ledger = party->accounts[0].ledger;
    const pn_budget *budget = pn_ledger_budget(ledger);

    return budget->delta > 0.0 ? budget->delta : pn_ledger_odometer_default(ledger).delta;
}

pn_status party_person_epsilon(double *out, const pn_party *party, pn_err *err)
{
    uint64_t counts[PARTY_KINDS];
    pn_event *event = NULL;
    pn_status status;

    *out = INFINITY;
    if (!party->terms.is_private || party->terms.mode == PN_FEDERATED_PAPER || !party->accounts[0].ledger)
        return PN_OK;
    party_most_of_all(party, counts);
    status = party_price_all(&event, &party->run, counts, err);
    if (status == PN_OK)
        *out = event ? pn_event_epsilon(event, 1, party_delta(party), NULL) : 0.0;
    pn_event_free(event);
    return status;
}
