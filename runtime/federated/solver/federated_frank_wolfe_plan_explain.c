/* federated_frank_wolfe_plan_explain.c -- the lines of a federated plan: every number and where it comes from,
 * and the traffic.
 * Depends on: federated_frank_wolfe_plan.h.  Used by: federated_frank_wolfe_plan.c. */
#include <math.h>
#include <stdio.h>

#include "federated/solver/federated_frank_wolfe_plan.h"

/* ---- traffic ---- */

/* sum over t = 1 .. T of min(t - 1, c): entries of x_k before each round. */
static double entries_sent(double rounds, double columns)
{
    double rising = fmin(rounds, columns + 1.0);

    return rising * (rising - 1.0) / 2.0 + (rounds - rising) * columns;
}

/* Of the code, or the choices, that party k sends in a round. */
static double bits_of(const fed_plan *plan, size_t k)
{
    const pn_choices *choices = plan->choices ? plan->choices[k] : NULL;

    if (!choices)
        return ceil(log2(2.0 * (double)plan->terms[k].columns + 1.0));
    return (double)choices->picks * ceil(log2((double)choices->most));
}

/* Codes, or choices, of all parties in a round. */
static double codes_of(const fed_plan *plan)
{
    double sum = plan->choices ? 0.0 : (double)plan->parties;

    for (size_t k = 0; plan->choices && k < plan->parties; k++)
        sum += (double)plan->choices[k]->picks;
    return sum;
}

void fed_predict_traffic(fed_work *at)
{
    fed_plan *plan = at->plan;
    double T = (double)plan->base.iterations, m = (double)at->shape.m;
    double scores = at->mode == PN_FEDERATED_BALL ? (plan->terms[0].stay ? 2.0 : 1.0) : 0.0;
    bool one = at->mode == PN_FEDERATED_BALL; /* one party moves in a round */

    plan->uplink_bits = 0.0;
    plan->uplink_floats = m * (double)plan->features + scores * at->parties * T;
    plan->downlink_floats = m * at->parties * T + (one ? entries_sent(T + 1.0, at->d) : 0.0);
    for (size_t k = 0; k < plan->parties; k++) {
        double columns = (double)plan->terms[k].columns;

        plan->uplink_bits += T * bits_of(plan, k);
        if (plan->choices)
            plan->downlink_floats += T * columns; /* at most */
        else if (!one)
            plan->downlink_floats += entries_sent(T + 1.0, columns); /* x_k after the last round, too */
    }
}

static void explain_traffic(fed_work *at)
{
    fed_plan *plan = at->plan;
    double rounds = at->parties * (double)plan->base.iterations, m = (double)at->shape.m;
    double codes = codes_of(plan) * (double)plan->base.iterations;

    pn_plan_add(&plan->base, "uplink codes", codes, "%s, %.6g bits: ceil(log2(%s)) each",
                plan->choices ? "choices of T vertices" : "K T", plan->uplink_bits,
                plan->choices ? "candidates" : "2 c + 1");
    pn_plan_add(&plan->base, "uplink floats", plan->uplink_floats, "at most m F%s; %.9g numbers in all",
                at->mode == PN_FEDERATED_BALL ? (plan->terms[0].stay ? " + 2 K T scores" : " + K T scores") : "",
                plan->uplink_floats + codes);
    pn_plan_add(
        &plan->base, "downlink floats", plan->downlink_floats,
        "at most: q to every party in every round, m K T, and entries of x; %.9g numbers in all, with their indices",
        plan->downlink_floats + (plan->downlink_floats - m * rounds) + (double)plan->features);
    pn_plan_add(&plan->base, "sketch upload", m * at->d,
                "floats m d of sketching every column at once, for comparison");
    pn_plan_add(&plan->base, "raw upload", at->n * at->d, "floats n d of sending the columns themselves");
}

/* ---- the problem ---- */

/* "3", or "3 to 4". */
static void range(char text[48], double low, double high)
{
    if (low == high)
        (void)snprintf(text, 48, "%.6g", low);
    else
        (void)snprintf(text, 48, "%.6g to %.6g", low, high);
}

static void explain_parties(fed_work *at)
{
    fed_plan *plan = at->plan;
    const pn_terms *first = &plan->terms[0];
    double columns[2] = { INFINITY, 0.0 }, sampled[2] = { INFINITY, 0.0 }, radii[2] = { INFINITY, 0.0 };
    char text[48];

    for (size_t k = 0; k < plan->parties; k++) {
        const pn_terms *terms = &plan->terms[k];

        columns[0] = fmin(columns[0], (double)terms->columns);
        columns[1] = fmax(columns[1], (double)terms->columns);
        sampled[0] = fmin(sampled[0], (double)terms->sampled);
        sampled[1] = fmax(sampled[1], (double)terms->sampled);
        radii[0] = fmin(radii[0], terms->radius);
        radii[1] = fmax(radii[1], terms->radius);
    }
    pn_plan_add(&plan->base, "parties K", at->parties, "over %s", plan->transport->ops->name);
    range(text, columns[0], columns[1]);
    pn_plan_add_text(&plan->base, "columns c", text, "of a party, d = %.6g together", at->d);
    range(text, sampled[0], sampled[1]);
    pn_plan_add_text(&plan->base, "sampled tau", text, "that a party looks at in a round%s",
                     first->stay ? "; it may also stay where it is" : "");
    pn_plan_add(&plan->base, "progress p", plan->p, "least tau/c; steps are 2/(p t + 2)");
    range(text, radii[0], radii[1]);
    pn_plan_add_text(&plan->base, "radius", text,
                     plan->choices                      ? "largest l1 norm in a party's own set; ||x||_1 <= %.6g"
                     : at->mode == PN_FEDERATED_PRODUCT ? "of a party's own l1 ball; ||x||_1 <= %.6g"
                     : at->positive                     ? "of the simplex, in which one party moves: ||x||_1 <= %.6g"
                     : at->mode == PN_FEDERATED_BALL    ? "of the l1 ball, in which one party moves: ||x||_1 <= %.6g"
                                                        : "of each party's vertex: ||x||_1 may be K times %.6g",
                     at->reach);
}

static void explain_sketch(fed_work *at)
{
    pn_plan *plan = &at->plan->base;
    double contributions = pn_release_contributions(plan->request.neighbours);

    pn_plan_add_text(plan, "sketch J", pn_sketch_names[at->shape.kind], "%zu x %zu, public seed %llu", at->shape.m,
                     at->shape.n, (unsigned long long)at->shape.seed);
    if (at->identity)
        pn_plan_add(plan, "accuracy iota", 0.0, "columns are not shortened");
    else if (!(at->accuracy < 1.0))
        pn_plan_add_text(plan, "accuracy iota", "none", "below 1 for all pairs of columns with probability 1 - %.3g",
                         at->failure);
    else
        pn_plan_add(plan, "accuracy iota", at->accuracy,
                    "|<Ja, Jb> - <a, b>| <= iota |a| |b| for all pairs of columns, probability 1 - %.3g%s", at->failure,
                    at->shape.kind == PN_SKETCH_SPARSE ? ", as of a gaussian one" : "");
    pn_plan_add(plan, "sensitivity s_J", at->feature_sensitivity,
                "%.0f X max |J e_j| = %.0f x %.4g x %.6g: what a record moves a feature by in l2", contributions,
                contributions, at->X, at->column_norm);
}

static void explain_problem(fed_work *at)
{
    pn_plan *plan = &at->plan->base;

    pn_plan_add_text(plan, "mode", pn_federated_mode_names[at->mode], "%s",
                     at->plan->choices                  ? "every party moves within a set of its own"
                     : at->mode == PN_FEDERATED_PRODUCT ? "every party moves within an l1 ball of its own"
                     : at->positive                     ? "the best party moves, within the simplex"
                     : at->mode == PN_FEDERATED_BALL    ? "the best party moves, within the l1 ball"
                                                        : "the article to the letter");
    pn_plan_add(plan, "records n", at->n, "public");
    explain_parties(at);
    pn_plan_add(plan, "entry bound X", at->X, "|a_ij| <= X, and |y_j| <= %.6g: enforced", at->Y);
    if (at->blocks)
        pn_plan_add(plan, "curvature C", at->curvature, "of the product of the sets, worst case");
    else
        pn_plan_add(plan, "curvature C", at->curvature, "max l'' (2 x %.4g X)^2, worst case", at->reach);
    pn_plan_add(plan, "start gap h0", at->start_gap, "bounds f(0) - f*: %s",
                at->loss == PN_FEDERATED_LOGISTIC ? "ln 2 - l(X r)" : "min(Y^2/2, X Y r)");
    explain_sketch(at);
    pn_plan_add(plan, "rounds T", (double)plan->iterations, "%s", at->rule);
}

/* ---- the noise ---- */

/* Without noise and sketch margins are within X r. */
static double quiet_margin(const fed_work *at)
{
    double clip = at->plan->terms[0].clip;

    return clip > 0.0 ? clip : at->X * at->reach;
}

/* Every entry of the gradient moves by at most Delta, and choice r of a party by Delta rho_r: sqrt(S_k) is the l2 norm
 * of its rho_r. */
static void explain_choices(fed_work *at, double delta, bool fixed)
{
    fed_plan *plan = at->plan;
    const pn_terms *terms = &plan->terms[at->largest];
    double root = 0.0;
    size_t worst = 0;

    for (size_t k = 0; k < plan->parties; k++) {
        double one = sqrt(plan->choices[k]->squares[PN_L1]);

        worst = one > root ? k : worst;
        root = fmax(root, one);
    }
    pn_plan_add(&plan->base, "choices a round", codes_of(plan), "that make the vertices of all parties");
    pn_plan_add(&plan->base, "rho a vertex", pn_release_round_rho(terms),
                "of %.6g, K T: all parties see the same records; a party's choices share one scale",
                at->parties * (double)plan->base.iterations);
    pn_plan_add(&plan->base, "Gumbel scale", delta * root / sqrt(2.0 * pn_release_round_rho(terms)),
                "Delta sqrt(S/(2 rho))%s, S = %.6g the squares of its choices: party %zu, the largest",
                fixed ? "" : " at B = X r", root * root, worst + 1);
}

static void explain_selection(fed_work *at, const fed_risk *dense)
{
    pn_plan *plan = &at->plan->base;
    const pn_terms *terms = &at->plan->terms[at->largest];
    bool fixed = terms->clip > 0.0 || at->loss == PN_FEDERATED_LOGISTIC, blocks = at->plan->choices != NULL;
    double delta = blocks ? pn_release_entry_sensitivity(terms, quiet_margin(at))
                          : pn_release_score_sensitivity(terms, quiet_margin(at));
    const char *radius = blocks ? "" : "r_k ", *what = blocks ? "entry of the gradient" : "score";

    if (!blocks)
        pn_plan_add(plan, "epsilon a choice", terms->epsilon0,
                    "of %.6g, K T: all parties see the same records; bounded range",
                    at->parties * (double)plan->iterations);
    pn_plan_add(plan, "sensitivity Delta", delta,
                at->loss == PN_FEDERATED_LOGISTIC ? "%.0f %sX/n of every %s: slopes are at most 1"
                : terms->clip > 0.0               ? "%.0f %sX (clip + Y)/n of every %s"
                                                  : "%.0f %sX (B + Y)/n of every %s at B = X r; anew in every round",
                pn_release_contributions(plan->request.neighbours), radius, what);
    if (blocks)
        explain_choices(at, delta, fixed);
    else
        pn_plan_add(plan, "Gumbel scale", 2.0 * delta / terms->epsilon0, "2 Delta/epsilon%s",
                    fixed ? "" : " at B = X r");
    if (terms->clip > 0.0)
        pn_plan_add(plan, "clip", terms->clip, "of the margins (J^T q)_j%s",
                    at->clips ? ", at 2 X r: unclipped the risk bound promises nothing; clip=0 leaves it out" : "");
    if (!fixed)
        pn_plan_add(plan, "margin bound B", dense->margin,
                    "expected at the end, for dense columns: X r, sketch and feature noise; scales grow with B + Y");
}

static void explain_noise(fed_work *at, const fed_risk *dense)
{
    fed_plan *plan = at->plan;
    const pn_terms *terms = &plan->terms[at->largest];

    pn_plan_add(&plan->base, "features F", (double)plan->features, "uploads at most: %s, each column once",
                at->mode == PN_FEDERATED_BALL ? "min(d, T)"
                : plan->choices               ? "sum of min(c_k, T entries of a vertex)"
                                              : "sum of min(c_k, T)");
    if (at->mode == PN_FEDERATED_PAPER) {
        pn_plan_add(&plan->base, "Laplace scale", terms->laplace_scale,
                    "2 G r/(K n) sqrt(%s T ln(2/delta))/%s: the article's",
                    at->own[FED_PAPER_SCALE].count == FED_PAPER_TABLE ? "32" : "2",
                    at->own[FED_PAPER_SCALE].count == FED_PAPER_TABLE ? "epsilon, Table 2" : "(epsilon/2), text");
        pn_plan_add(&plan->base, "sigma(J)", at->top, "largest singular value, where s_J would do");
        pn_plan_add(&plan->base, "sigma_feature", terms->sigma_feature,
                    "sigma(J) sqrt(K T) sqrt(2 (ln(1/delta) + epsilon/2))/(epsilon/2): the article's");
        return;
    }
    explain_selection(at, dense);
    pn_plan_add(&plan->base, "sigma_feature", terms->sigma_feature, "s_J sqrt(F/(2 rho)), %.3g of the budget",
                at->share);
    if (at->mode == PN_FEDERATED_BALL)
        pn_plan_add(&plan->base, "sigma_score", terms->sigma_score,
                    "in units of Delta, on the K best scores of a round%s; %.3g of the budget",
                    terms->stay ? " and what staying is worth" : "", at->score_share);
}

static void explain_party(fed_work *at)
{
    fed_plan *plan = at->plan;
    const pn_request *request = &plan->base.request;
    double T = (double)plan->base.iterations;

    pn_plan_add(&plan->base, "a party's rho", plan->party_rho, "zCDP of %.6g %s and %.6g features at most%s", T,
                plan->choices ? "vertices" : "choices", fed_most_features_of_one(at, T),
                plan->score ? ", and scores" : "");
    if (request->kind == PN_EPSILON_DELTA)
        pn_plan_add(&plan->base, "a party's epsilon", plan->party_epsilon,
                    "at delta %.3g: of the party with most %s by itself; the plan's is of all together", request->delta,
                    plan->choices ? "features" : "columns");
}

/* ---- the risk ---- */

static void explain_parts(fed_work *at, const fed_risk *dense, const fed_risk *sparse)
{
    pn_plan *plan = &at->plan->base;

    if (at->is_private)
        pn_plan_add(plan, "e of choices", dense->selection + dense->score, "Gumbel scale %s%s, summed%s",
                    at->plan->choices ? "x sum of W((K - 1)/e), K candidates of a choice" : "ln(candidates)",
                    at->mode == PN_FEDERATED_BALL ? " + score noise" : "",
                    at->mode == PN_FEDERATED_PRODUCT ? " over parties" : "");
    if (at->is_private && at->loss == PN_FEDERATED_SQUARED)
        pn_plan_add(plan, "e of features", dense->noise,
                    "2 r |a| sigma |x| sqrt(2 ln(2 d F))/n with |a| <= X sqrt(n); |a| = X, sparse: %.4g",
                    sparse->noise);
    else if (at->is_private)
        pn_plan_add(plan, "e of features", dense->noise, "slopes by a quarter of the noise in margins; sparse: %.4g",
                    sparse->noise);
    if (!at->identity)
        pn_plan_add(plan, "e of the sketch", dense->sketch, "of dense columns; of sparse ones %.4g", sparse->sketch);
    pn_plan_add(plan, "error e", dense->e, "expected, of a round's direction; sum of these");
}

static void explain_risk(fed_work *at, const fed_risk *dense, const fed_risk *sparse)
{
    pn_plan *plan = &at->plan->base;
    const char *none = fed_no_bound(at);

    plan->bound = none ? NAN : dense->bound;
    if (at->mode == PN_FEDERATED_PAPER) {
        pn_plan_add_text(plan, "excess risk bound", "none", "%s", none);
        return;
    }
    explain_parts(at, dense, sparse);
    if (none)
        pn_plan_add_text(plan, "excess risk bound", "none", "%s", none);
    else
        pn_plan_add(plan, "excess risk bound", dense->bound, "2 (h0 + C/p)/(p T + 2) + e/p, expected%s%s",
                    at->identity ? "" : " where iota holds",
                    at->mode == PN_FEDERATED_PRODUCT && at->parties > 1.0 && !at->blocks
                        ? "; over the product of the balls, whose minimum may be above that of the l1 ball"
                        : "");
    if (!isfinite(at->curvature))
        return;
    plan->predicted = sparse->estimate;
    pn_plan_add(plan, "estimate", sparse->estimate,
                "no bound: 2 ((1 - p) h0 + C'/p)/(p T + 2) + e'/p, columns sparse and not alike: C' = %.4g, e' = %.4g",
                at->unlike, sparse->e);
}

static void explain_notes(fed_work *at)
{
    pn_plan *plan = &at->plan->base;

    if (at->loss == PN_FEDERATED_LOGISTIC)
        pn_plan_add_text(
            plan, "logistic loss", "same privacy",
            "slopes are at most 1 whatever q; but it is not linear in margins, which the sketch and the noise of "
            "features change%s",
            at->identity ? "" : ": utility is not bounded");
    else if (at->is_private && at->mode != PN_FEDERATED_PAPER)
        pn_plan_add_text(
            plan, "rate", "not n^(-2/3)", "%s",
            at->plan->terms[0].clip > 0.0
                ? "margins are clipped, of which no rate is established"
                : "B grows with the noise of features, so the article's rate is not established: sparse columns about "
                  "sqrt(K/(rho n)), dense ones slower");
}

static void warn(fed_work *at)
{
    fed_plan *plan = at->plan;

    if (at->mode == PN_FEDERATED_PAPER && at->is_private) {
        pn_plan_warn(
            &plan->base,
            "mode=\"paper\" proves no privacy: its Laplace noise counts T selections of K T and takes |a_j x - y_j| <= "
            "X r + Y, which noisy features break; for simulated runs only");
        pn_plan_warn(
            &plan->base,
            "mode=\"paper\" proves no utility: vertices of K parties sum to up to K r, outside of the l1 ball, and "
            "minimising over sampled columns only does not converge");
    }
    if (at->mode == PN_FEDERATED_PRODUCT && plan->p < 1.0 && !plan->terms[0].stay)
        pn_plan_warn(&plan->base,
                     "stay=false with sampled columns does not converge to the minimum; for comparison only");
}

void fed_explain(fed_work *at)
{
    fed_plan *plan = at->plan;
    const pn_terms *terms = &plan->terms[at->largest];
    fed_noise noise = { .epsilon0 = terms->epsilon0,
                        .sigma_feature = terms->sigma_feature,
                        .sigma_score = terms->sigma_score };
    fed_risk dense, sparse;

    fed_risk_at(at, &noise, (double)plan->base.iterations, fed_dense_column(at), &dense);
    fed_risk_at(at, &noise, (double)plan->base.iterations, fed_sparse_column(at), &sparse);
    explain_problem(at);
    if (at->is_private)
        explain_noise(at, &dense);
    explain_risk(at, &dense, &sparse);
    if (at->is_private && at->mode != PN_FEDERATED_PAPER)
        explain_party(at);
    explain_traffic(at);
    explain_notes(at);
    pn_plan_set(&plan->base, "iterations", (double)plan->base.iterations, true);
    pn_plan_set(&plan->base, "share", at->share, false);
    pn_plan_set(&plan->base, "sampled", (double)terms->sampled, true);
    warn(at);
}
