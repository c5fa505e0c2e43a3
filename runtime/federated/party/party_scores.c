/* party_scores.c -- one round before noise: gradient entries at q, candidates' scores, and how far any of it can be
 * off.  With the sketch G_i = <J a_i, q> - a_i^T y; by records G_i = sum_j a_ji w_j, w from margins z = J^T q.  Only
 * the sampled columns and those where x_k is not 0 are looked at.  Depends on: party_impl.h,
 * geometry/kernels/upper.h.  Used by: party.c.
 * See distributed-frank-wolfe.md section 3. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "federated/party/party_impl.h"
#include "federated/wire/release.h"
#include "geometry/kernels/upper.h"

#define LARGEST 1e100 /* entry of q */
#define COLUMNS 16    /* in a block of parallel work */

typedef struct work {
    const pn_party *party;
    const double *q;
    double *margin;  /* [n] J^T q, then weights */
    uint32_t *asked; /* [count] columns, each once */
    size_t count;
    double *gradient; /* [columns] */
} work;

void party_scores_clear(party_scores *scores)
{
    pn_free(scores->columns);
    pn_free(scores->gradient);
    pn_free(scores->score);
    pn_free(scores->vertex);
    memset(scores, 0, sizeof *scores);
}

/* ---- gradients ---- */

/* <a_i, w>, or <J a_i, q> where J is the identity.  In blocks, so that party_dot_error holds for it, too. */
double party_column_dot(const party_data *data, size_t i, const double *w)
{
    long double sum = 0.0L;

    if (!data->is_sparse)
        return party_dot(data->n, data->dense + i * data->n, w);
    for (size_t k = data->sparse.start[i], end = data->sparse.start[i + 1]; k < end;) {
        size_t stop = end - k < 1024 ? end : k + 1024;
        double part = 0.0;

        for (; k < stop; k++)
            part += data->sparse.value[k] * w[data->sparse.column[k]];
        sum += (long double)part;
    }
    return (double)sum;
}

static double entry(const work *job, size_t i)
{
    const pn_party *party = job->party;
    size_t m = party->terms.sketch.m;

    if (party_by_records(&party->terms))
        return party_column_dot(&party->data, i, job->margin);
    if (party->run.sketched)
        return party_dot(m, party->run.sketched + i * m, job->q) - party->run.products[i];
    return party_column_dot(&party->data, i, job->q) - party->run.products[i];
}

static void entries(void *self, size_t block, unsigned worker)
{
    const work *job = self;
    size_t end = (block + 1) * COLUMNS < job->count ? (block + 1) * COLUMNS : job->count;

    (void)worker;
    for (size_t k = block * COLUMNS; k < end; k++)
        job->gradient[job->asked[k]] = entry(job, job->asked[k]);
}

/* ---- margins ---- */

/* Each weight from its own record and public numbers: whatever rounding does to it, it does to no other. */
static void to_weights(const pn_party *party, double *margin)
{
    const pn_terms *terms = &party->terms;
    double slope[PN_LOSS_BLOCK];

    for (size_t j = 0; terms->clip > 0.0 && !PN_MUTANT("party_clips_nothing") && j < party->data.n; j++)
        margin[j] = fmin(fmax(margin[j], -terms->clip), terms->clip);
    if (terms->loss == PN_FEDERATED_SQUARED) {
        for (size_t j = 0; j < party->data.n; j++)
            margin[j] -= party->data.y[j];
        return;
    }
    for (size_t first = 0; first < party->data.n; first += PN_LOSS_BLOCK) {
        size_t count = party->data.n - first < PN_LOSS_BLOCK ? party->data.n - first : PN_LOSS_BLOCK;

        party->run.loss->ops->evaluate(party->run.loss, count, margin + first, party->data.y + first, NULL, slope);
        for (size_t j = 0; j < count; j++)
            margin[first + j] = fmin(fmax(slope[j], -1.0), 1.0);
    }
}

static double largest(size_t n, const double *x)
{
    double most = 0.0;

    for (size_t j = 0; j < n; j++)
        most = fmax(most, fabs(x[j]));
    return most;
}

/* The bound on margins and the error of n times a gradient entry, in this round.  Public: from J and q. */
static void bound_round(const work *job, double *margin_bound, double *error)
{
    const pn_terms *terms = &job->party->terms;
    const pn_sketch *sketch = job->party->run.sketch;
    double n = (double)terms->records, X = terms->feature_bound, m = (double)terms->sketch.m;
    double q2 = pn_norm_upper(PN_L2, job->q, terms->sketch.m), q1 = pn_norm_upper(PN_L1, job->q, terms->sketch.m);
    double margin = largest(terms->records, job->margin), sketched, entry_error;

    if (party_by_records(terms)) {
        *margin_bound = terms->clip > 0.0 ? fmin(margin, terms->clip) : margin;
        *error = party_sum_error(terms, party_pull(terms, *margin_bound));
        return;
    }
    *margin_bound = pn_plus_up(margin, pn_sketch_transpose_error(sketch, q2));
    if (PN_MUTANT("party_forgets_q"))
        *margin_bound = terms->radius;
    entry_error = pn_sketch_error(sketch, X);
    sketched = n * X * pn_sketch_column_norm(sketch) + sqrt(m) * entry_error; /* ||J a_i|| */
    if (terms->sketch.kind == PN_SKETCH_IDENTITY)
        sketched = sqrt(n) * X;
    *error = q1 * entry_error + party_dot_error(terms->sketch.m) * sketched * q2;
    *error += party_dot_error(terms->records) * n * X * terms->label_bound; /* of A^T y */
    *error += 4.0 * 0x1p-53 * n * party_pull(terms, *margin_bound) + n * 0x1p-1060;
    *error *= 1.0 + 0x1p-40;
}

/* ---- candidates ---- */

/* The sampled columns and those of x_k, each once. */
static void ask(work *job, const party_scores *scores, const pn_message *request)
{
    size_t a = 0, b = 0;

    while (a < scores->sampled || b < request->count) {
        uint32_t one = a < scores->sampled ? scores->columns[a] : UINT32_MAX;
        uint32_t two = b < request->count ? request->index[b] : UINT32_MAX;

        job->asked[job->count++] = one < two ? one : two;
        a += one <= two;
        b += two <= one;
    }
}

static void fill_stay(const pn_terms *terms, const pn_message *request, party_scores *out)
{
    double norm = pn_norm_upper(PN_L1, request->value, request->count);
    double shrink = norm > terms->radius ? terms->radius / norm : 1.0; /* x_k was rounded by who sent it */
    long double sum = 0.0L;

    for (size_t k = 0; k < request->count; k++)
        sum += (long double)request->value[k] * (long double)out->gradient[request->index[k]];
    out->stay = shrink * ((double)sum / (double)terms->records);
    out->weight = fmin(norm / terms->radius * (1.0 + 0x1p-50), 1.0);
}

static void fill_scores(const pn_terms *terms, const pn_message *request, party_scores *out)
{
    bool stays = terms->mode == PN_FEDERATED_PRODUCT && terms->stay;
    size_t sides = terms->positive ? 1 : 2;

    out->sides = sides;
    out->candidates = sides * out->sampled + stays;
    for (size_t k = 0; k < out->sampled; k++) {
        double score = terms->radius * (out->gradient[out->columns[k]] / (double)terms->records);

        out->score[sides * k] = -score;
        if (sides == 2)
            out->score[2 * k + 1] = score;
    }
    fill_stay(terms, request, out);
    if (stays)
        out->score[out->candidates - 1] = -out->stay;
}

/* The direction in which a block's choices are made. */
static void fill_direction(const pn_terms *terms, party_scores *out)
{
    for (size_t i = 0; i < out->sampled; i++)
        out->score[i] = -(out->gradient[i] / (double)terms->records);
}

static pn_status room_for(const pn_party *party, const pn_message *request, party_scores *out, work *job, pn_err *err)
{
    out->sampled = (size_t)party->terms.sampled;
    out->columns = pn_alloc(out->sampled, sizeof *out->columns);
    out->gradient = pn_calloc(party->data.columns, sizeof *out->gradient);
    out->score = pn_alloc(2 * out->sampled + 1, sizeof *out->score);
    job->margin = pn_alloc(party->data.n, sizeof *job->margin);
    job->asked = pn_alloc(out->sampled + request->count, sizeof *job->asked);
    job->gradient = out->gradient;
    if (party->run.choices) {
        out->vertex = pn_alloc(out->sampled + pn_choices_room(party->run.choices), sizeof *out->vertex);
        PN_TRY(pn_made(out->vertex, err, "party: out of memory for a vertex of %zu coordinates", out->sampled));
    }
    PN_TRY(pn_made(out->columns && out->gradient && out->score && job->margin && job->asked, err,
                   "party: out of memory for a round over %zu records", party->data.n));
    return PN_OK;
}

static pn_status check_bounds(const party_scores *out, pn_err *err)
{
    if (out->unit <= 0x1p900 && out->bound <= 0x1p900 && out->error <= 0x1p900)
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "party: q is too large: a score may move by %g", out->sensitivity);
}

/* What one record, and rounding, do to scores: of a block in units of its choices (choices.h), which are of l1 norm at
 * most `longest`. */
static void bound_scores(const work *job, size_t entries, party_scores *out)
{
    const pn_terms *terms = &job->party->terms;
    const pn_choices *choices = job->party->run.choices;
    double margin, pull, error;

    bound_round(job, &margin, &error);
    pull = party_pull(terms, margin);
    if (choices) {
        out->sensitivity = pn_release_entry_sensitivity(terms, margin);
        out->bound = choices->longest[PN_L1] * pull * (1.0 + 0x1p-30);
        out->error = party_block_error(terms, choices, pull, error);
    } else {
        out->sensitivity = pn_release_score_sensitivity(terms, margin);
        out->bound = party_score_bound(terms, pull);
        out->error = party_score_error(terms, pull, error, entries);
    }
    out->unit = (out->sensitivity + 2.0 * out->error) * (1.0 + 0x1p-50);
}

static pn_status compute(work *job, const pn_message *request, party_scores *out, pn_task *task, pn_err *err)
{
    const pn_terms *terms = &job->party->terms;
    pn_status status = pn_terms_sample(terms, request->round, out->columns, err);

    if (status == PN_OK)
        status = pn_sketch_transpose(job->party->run.sketch, job->q, job->margin, task, err);
    if (status != PN_OK)
        return status;
    bound_scores(job, request->count, out);
    PN_TRY(check_bounds(out, err));
    if (party_by_records(terms))
        to_weights(job->party, job->margin);
    ask(job, out, request);
    status = pn_parallel(task, (job->count + COLUMNS - 1) / COLUMNS, entries, job, err);
    if (status == PN_OK && terms->block)
        fill_direction(terms, out);
    else if (status == PN_OK)
        fill_scores(terms, request, out);
    return status;
}

pn_status party_scores_of(pn_party *party, const pn_message *request, party_scores *out, pn_task *task, pn_err *err)
{
    work job = { .party = party, .q = request->vector };
    pn_status status = PN_OK;

    memset(out, 0, sizeof *out);
    if (!(largest(request->size, request->vector) <= LARGEST))
        return pn_fail(err, PN_EINVAL, "party: q has an entry beyond %g", LARGEST);
    status = room_for(party, request, out, &job, err);
    if (status == PN_OK)
        status = compute(&job, request, out, task, err);
    pn_free(job.margin);
    pn_free(job.asked);
    if (status != PN_OK)
        party_scores_clear(out);
    return status;
}
