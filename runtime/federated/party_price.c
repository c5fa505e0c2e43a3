/* party_price.c -- what one record can move, how far computed numbers are from exact ones, and what releases cost: from public numbers.
 *
 * n times a gradient entry is G_i = sum_j a_ji w_j.  With the sketch w_j = (J^T q)_j - y_j, and by records w_j = clip((J^T q)_j) - y_j or
 * the loss's slope: either way |a_ji w_j| <= X (B + Y) or X, so that a record moves r_k G_i / n by at most c_nb r_k X (B + Y) / n, with
 * c_nb = 2 when it is replaced and 1 when it is made null.  A combination by x_k with ||x_k||_1 <= r_k moves by no more.
 * By records the computed weights are the definition: each depends on its own record and public numbers only, so just the sum rounds.
 * Depends on: party_impl.h, geometry/upper.h.  Used by: party*.c, plans.  Spec: distributed-frank-wolfe.md section 3, noise.md section 3. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/mutant.h"
#include "federated/party_impl.h"
#include "geometry/upper.h"
#include "numeric/blas.h"
#include "random/noise.h"

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

static double changes(const pn_terms *terms)
{
    return terms->neighbours == PN_ZERO_OUT || PN_MUTANT("party_half_sensitivity") ? 1.0 : 2.0;
}

double party_sensitivity(const pn_terms *terms, double pull)
{
    return changes(terms) * terms->radius * pull / (double)terms->records * UPWARD;
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

double party_sum_error(const pn_terms *terms, double pull)
{
    double n = (double)terms->records;

    return (party_dot_error(terms->records) * n * pull + n * 0x1p-1060) * UPWARD;
}

/* ---- mechanisms ---- */

static pn_status gaussian(pn_mechanism **out, double sigma, double sensitivity, size_t dim, double bound,
                          pn_neighbours neighbours, pn_err *err)
{
    pn_arg args[] = { { .given = true, .real = sigma },
                      { .given = true, .real = sensitivity },
                      { .given = true, .count = dim },
                      { .given = true, .real = bound },
                      { .given = false } };

    return pn_mechanism_new(out, "gaussian", args, neighbours, err);
}

static bool releases_scores(const pn_terms *terms)
{
    return terms->mode == PN_FEDERATED_BALL;
}

/* Of one released number that moves by `share` of a candidate's sensitivity; the error counts at both neighbours. */
static double score_moves(const pn_terms *terms, double share)
{
    double pull = party_pull(terms, terms->clip);
    double error = party_score_error(terms, pull, party_sum_error(terms, pull), (size_t)terms->columns);

    return (share * party_sensitivity(terms, pull) + 2.0 * error) * UPWARD;
}

static double released_score_bound(const pn_terms *terms)
{
    double pull = party_pull(terms, terms->clip);
    double error = party_score_error(terms, pull, party_sum_error(terms, pull), (size_t)terms->columns);

    return (party_score_bound(terms, pull) + error) * UPWARD;
}

pn_status party_score_mechanism(pn_mechanism **out, const pn_terms *terms, double share, pn_err *err)
{
    double one = score_moves(terms, 1.0), stay = share < 0.0 ? 0.0 : score_moves(terms, share);

    return gaussian(out, terms->sigma_score, hypot(one, stay) * UPWARD, share < 0.0 ? 1 : 2,
                    released_score_bound(terms), terms->neighbours, err);
}

/* A record changes entry j of the column by at most c_nb X, and J e_j is what becomes of that. */
static double feature_sensitivity(const pn_terms *terms, const pn_sketch *sketch)
{
    double rounding = 2.0 * sqrt((double)terms->sketch.m) * pn_sketch_error(sketch, terms->feature_bound);

    return (changes(terms) * terms->feature_bound * pn_sketch_column_norm(sketch) + rounding) * UPWARD;
}

static double feature_bound(const pn_terms *terms, const pn_sketch *sketch)
{
    double X = terms->feature_bound;

    if (terms->sketch.kind == PN_SKETCH_IDENTITY)
        return X;
    return ((double)terms->records * X * pn_sketch_column_norm(sketch) + pn_sketch_error(sketch, X)) * UPWARD;
}

pn_status party_feature_mechanism(pn_mechanism **out, const pn_terms *terms, const pn_sketch *sketch, pn_err *err)
{
    return gaussian(out, terms->sigma_feature, feature_sensitivity(terms, sketch), terms->sketch.m,
                    feature_bound(terms, sketch), terms->neighbours, err);
}

/* ---- prices ---- */

void pn_party_price_clear(pn_party_price *price)
{
    pn_event_free(price->selection);
    pn_event_free(price->feature);
    pn_event_free(price->score);
    memset(price, 0, sizeof *price);
}

/* The event of a mechanism that is made for it only. */
static pn_status event_of(pn_event **out, pn_status status, pn_mechanism *mechanism)
{
    if (status == PN_OK)
        *out = pn_event_keep(mechanism->event);
    pn_mechanism_free(mechanism);
    return status;
}

static pn_status selection_event(pn_event **out, const pn_terms *terms, pn_err *err)
{
    pn_selection_options options = { .law = PN_SELECT_EXPONENTIAL,
                                     .epsilon = terms->epsilon0,
                                     .sensitivity = 1.0, /* the event does not depend on it */
                                     .score_bound = 1.0,
                                     .neighbours = terms->neighbours };
    pn_mechanism *mechanism = NULL;
    pn_status status = pn_mechanism_selection(&mechanism, &options, err);

    return event_of(out, status, mechanism);
}

static pn_status price_score(pn_party_price *out, const pn_terms *terms, pn_err *err)
{
    pn_mechanism *mechanism = NULL;
    pn_status status;

    if (!party_by_records(terms))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "federated: mode \"ball\" with the squared loss needs clip > 0: the noise of a released score is "
                       "fixed beforehand, and its sensitivity has to be, too");
    out->score_sensitivity = score_moves(terms, 1.0);
    out->score_bound = released_score_bound(terms);
    if (!(terms->sigma_score > 0.0))
        return PN_OK;
    status = party_score_mechanism(&mechanism, terms, terms->stay ? 1.0 : -1.0, err);
    out->scores = terms->iterations;
    return event_of(&out->score, status, mechanism);
}

static pn_status price_feature(pn_party_price *out, const pn_terms *terms, const pn_sketch *sketch, pn_err *err)
{
    pn_mechanism *mechanism = NULL;
    pn_status status;

    out->feature_sensitivity = feature_sensitivity(terms, sketch);
    out->feature_bound = feature_bound(terms, sketch);
    if (!(terms->sigma_feature > 0.0))
        return PN_OK;
    status = party_feature_mechanism(&mechanism, terms, sketch, err);
    out->features = terms->columns < terms->iterations ? terms->columns : terms->iterations;
    return event_of(&out->feature, status, mechanism);
}

pn_status pn_party_price_of(pn_party_price *out, const pn_terms *terms, const pn_sketch *sketch, pn_err *err)
{
    pn_status status = PN_OK;

    memset(out, 0, sizeof *out);
    if (!terms->is_private || terms->mode == PN_FEDERATED_PAPER)
        return PN_OK;
    status = price_feature(out, terms, sketch, err);
    if (status == PN_OK && releases_scores(terms))
        status = price_score(out, terms, err);
    if (status == PN_OK && terms->epsilon0 > 0.0) {
        status = selection_event(&out->selection, terms, err);
        out->selections = terms->iterations;
    }
    if (status != PN_OK)
        pn_party_price_clear(out);
    return status;
}

pn_status pn_party_price_run(pn_event **out, const pn_party_price *price, pn_err *err)
{
    pn_event *const one[] = { price->selection, price->feature, price->score };
    const uint64_t count[] = { price->selections, price->features, price->scores };
    pn_event *parts[3];
    size_t found = 0;
    pn_status status = PN_OK;

    *out = NULL;
    for (size_t i = 0; i < 3 && status == PN_OK; i++) {
        if (one[i] && count[i] > 0) {
            status = pn_event_repeated(&parts[found], one[i], (size_t)count[i], err);
            found += status == PN_OK;
        }
    }
    if (status == PN_OK && found > 0)
        status = pn_event_compose(out, parts, found, err);
    while (found > 0)
        pn_event_free(parts[--found]);
    return status;
}
