/* party_open.c -- a party is opened: its columns are copied, its key is drawn or read; and what it says of itself.
 * Depends on: party_impl.h, data/rows.h, libsodium.  Used by: transports, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/process.h"
#include "core/size.h"
#include "data/rows.h"
#include "federated/party/party_impl.h"
#include "privacy/accounting/accountant.h"

/* ---- columns ---- */

static void data_clear(party_data *data)
{
    pn_free(data->dense);
    pn_free(data->y);
    pn_csr_clear(&data->sparse);
    memset(data, 0, sizeof *data);
}

static void copy_dense(party_data *to, const pn_rows *rows, size_t first)
{
    for (size_t j = 0; j < to->n; j++) {
        size_t count;
        const double *x = pn_rows_get(rows, j, &count);

        for (size_t i = 0; i < to->columns; i++)
            to->dense[i * to->n + j] = x[first + i];
    }
}

/* start[i + 1] counts column i, then becomes its end. */
static pn_status copy_sparse(party_data *to, const pn_rows *rows, size_t first, pn_err *err)
{
    const pn_csr *from = &rows->data->csr;
    size_t nnz = 0, count;

    for (size_t k = 0; k < from->start[to->n]; k++)
        nnz += from->column[k] >= first && from->column[k] - first < to->columns;
    PN_TRY(pn_csr_init(&to->sparse, to->columns, to->n, nnz, err));
    for (size_t k = 0; k < from->start[to->n]; k++) {
        if (from->column[k] >= first && from->column[k] - first < to->columns)
            to->sparse.start[from->column[k] - first + 1]++;
    }
    for (size_t i = 0; i < to->columns; i++)
        to->sparse.start[i + 1] += to->sparse.start[i];
    for (size_t j = 0; j < to->n; j++) {
        const double *x = pn_rows_get(rows, j, &count);

        for (size_t k = 0; k < count; k++) {
            size_t column = from->column[from->start[j] + k];

            if (column >= first && column - first < to->columns) {
                size_t at = to->sparse.start[column - first]++;

                to->sparse.column[at] = (uint32_t)j;
                to->sparse.value[at] = x[k];
            }
        }
    }
    memmove(to->sparse.start + 1, to->sparse.start, to->columns * sizeof *to->sparse.start);
    to->sparse.start[0] = 0;
    return PN_OK;
}

static pn_status copy_data(party_data *to, const pn_dataset *from, size_t first, size_t columns, pn_err *err)
{
    pn_rows rows;
    size_t numbers;
    pn_status status = pn_rows_open(&rows, from, err);

    if (status != PN_OK)
        return status;
    to->n = from->n;
    to->columns = columns;
    to->is_sparse = from->sparse;
    to->y = pn_alloc(to->n, sizeof *to->y);
    if (!from->sparse && pn_size_multiply(&numbers, columns, from->n))
        to->dense = pn_alloc_large(numbers, sizeof *to->dense);
    if (!to->y || (!from->sparse && !to->dense))
        status = pn_fail(err, PN_ENOMEM, "party: out of memory for %zu columns of %zu records", columns, from->n);
    if (status == PN_OK && from->sparse)
        status = copy_sparse(to, &rows, first, err);
    else if (status == PN_OK)
        copy_dense(to, &rows, first);
    if (status == PN_OK)
        memcpy(to->y, from->y, to->n * sizeof *to->y);
    pn_rows_close(&rows);
    return status;
}

/* ---- options ---- */

/* |x|_inf is at most any of the three norms. */
static double enforced_feature(const pn_record_bounds *bounds)
{
    double least = INFINITY;

    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        least = bounds->norm[norm] < least ? bounds->norm[norm] : least;
    return isinf(least) ? 0.0 : least;
}

static double enforced_label(const pn_record_bounds *bounds)
{
    double most = fmax(fabs(bounds->label_low), fabs(bounds->label_high));

    return isfinite(bounds->label_low) && isfinite(bounds->label_high) ? most : 0.0;
}

static pn_status check_options(const pn_party_options *options, size_t *columns, pn_err *err)
{
    const pn_dataset *data = options->data;
    size_t rest;

    if (!data)
        return pn_fail(err, PN_EINVAL, "party: data is missing; give the party's records");
    rest = options->first < data->p ? data->p - options->first : 0;
    *columns = options->columns ? options->columns : rest;
    if (rest == 0 || *columns > rest || *columns >= UINT32_MAX || data->n >= UINT32_MAX)
        return pn_fail(err, PN_EINVAL,
                       "party: columns %zu to %zu are asked for; the data have %zu columns and %zu records",
                       options->first + 1, options->first + *columns, data->p, data->n);
    if (!(options->person_epsilon >= 0.0))
        return pn_fail(err, PN_EINVAL, "party: person_epsilon must be positive, or 0 for none, got %g",
                       options->person_epsilon);
    if (options->person_epsilon > 0.0 && !options->ledger)
        return pn_fail(err, PN_EINVAL, "party: person_epsilon is a cap at the delta of a ledger; give a ledger");
    if (!options->ledger && !options->nonprivate)
        return pn_fail(err, PN_EINVAL,
                       "party: ledger is missing; give one, or nonprivate = true to agree to runs "
                       "without noise");
    if (options->checkpoint && options->ledger && !pn_ledger_path(options->ledger))
        return pn_fail(err, PN_EINVAL,
                       "party: a checkpoint needs a ledger that has a file: after a restart it has to know what was "
                       "paid for");
    if (options->nonprivate)
        return PN_OK;
    if (!(enforced_feature(&data->bounds) > 0.0))
        return pn_fail(err, PN_EPRIVACY,
                       "party: its data enforce no bound on every feature: " PN_HOW_TO_BOUND_ROWS_IN("linf"));
    if (!(enforced_label(&data->bounds) > 0.0))
        return pn_fail(err, PN_EPRIVACY, "party: its data enforce no bound on labels; clip labels");
    return PN_OK;
}

static pn_status draw_key(pn_party *party, pn_rng *rng, pn_err *err)
{
    pn_rng *secure = NULL;
    pn_status status = pn_rng_secure(&party->rng, err); /* any stream will do: it goes from address to address */

    if (status == PN_OK && !rng)
        status = pn_rng_secure(&secure, err);
    if (status == PN_OK) {
        pn_address_key_draw(&party->key, rng ? rng : secure);
        randombytes_buf(party->session, sizeof party->session);
    }
    pn_rng_free(secure);
    return status;
}

static pn_status open_party(pn_party *party, const pn_party_options *options, size_t columns, pn_err *err)
{
    const pn_record_bounds *bounds = &options->data->bounds;
    pn_status status = copy_data(&party->data, options->data, options->first, columns, err);

    (void)snprintf(party->name, sizeof party->name, "%s", options->name ? options->name : "party");
    party->owner = pn_process();
    party->feature_bound = enforced_feature(bounds);
    party->label_bound = enforced_label(bounds);
    party->labels_binary = bounds->labels_binary;
    party->nonprivate = options->nonprivate;
    party->person_epsilon = options->person_epsilon;
    if (options->alignment)
        memcpy(party->alignment, options->alignment, sizeof party->alignment);
    party->accounts[0].ledger = options->ledger ? pn_ledger_keep(options->ledger) : NULL;
    party->accounts[1].ledger = options->overall ? pn_ledger_keep(options->overall) : NULL;
    party->state = pn_calloc(columns, 1);
    party->model = pn_calloc(columns, sizeof *party->model);
    if (status == PN_OK && (!party->state || !party->model))
        status = pn_fail(err, PN_ENOMEM, "party: out of memory for %zu columns", columns);
    if (status == PN_OK)
        status = draw_key(party, options->rng, err);
    if (status == PN_OK && options->checkpoint)
        status = party_checkpoint_open(party, options->checkpoint, err);
    return status;
}

pn_status pn_party_new(pn_party **out, const pn_party_options *options, pn_err *err)
{
    pn_party *party;
    size_t columns = 0;
    pn_status status = check_options(options, &columns, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&party, 1, err, "party: out of memory"));
    status = open_party(party, options, columns, err);
    if (status != PN_OK) {
        pn_party_free(party);
        return status;
    }
    *out = party;
    return PN_OK;
}

void pn_party_free(pn_party *party)
{
    if (!party)
        return;
    party_run_clear(&party->run);
    pn_message_clear(&party->last);
    pn_checkpoint_close(party->file);
    data_clear(&party->data);
    pn_ledger_free(party->accounts[0].ledger);
    pn_ledger_free(party->accounts[1].ledger);
    pn_rng_free(party->rng);
    pn_address_key_erase(&party->key);
    pn_free(party->replies);
    pn_free(party->picks);
    pn_terms_drop(&party->terms);
    pn_free(party->state);
    pn_free(party->model);
    pn_free(party);
}

/* ---- what it says of itself ---- */

void pn_party_hello(const pn_party *party, pn_message *hello)
{
    pn_message_clear(hello);
    hello->kind = PN_MESSAGE_HELLO;
    hello->score = hello->stay_score = NAN;
    memcpy(hello->name, party->name, sizeof hello->name);
    hello->records = party->data.n;
    hello->columns = party->data.columns;
    memcpy(hello->alignment, party->alignment, sizeof hello->alignment);
    memcpy(hello->session, party->session, sizeof hello->session);
    hello->feature_bound = party->feature_bound;
    hello->label_bound = party->label_bound;
}

size_t pn_party_columns(const pn_party *party)
{
    return party->data.columns;
}

void pn_party_model(const pn_party *party, double *x)
{
    memcpy(x, party->model, party->data.columns * sizeof *x);
}

typedef struct cost {
    double epsilon, rho; /* 0 for nothing */
} cost;

static pn_status cost_of(cost *out, const pn_party *party, const uint64_t counts[PARTY_KINDS], double delta,
                         pn_err *err)
{
    pn_event *event = NULL;
    pn_status status = party_price_all(&event, &party->run, counts, err);

    if (status == PN_OK)
        *out = event ? (cost){ pn_event_epsilon(event, 1, delta, NULL), event->ops->zcdp(event) } : (cost){ 0.0, 0.0 };
    pn_event_free(event);
    return status;
}

/* Nothing released costs nothing; nothing is proven of mode "paper". */
static pn_status report_cost(const pn_party *party, pn_party_report *out, pn_err *err)
{
    const uint64_t *made = party->count;
    uint64_t most[PARTY_KINDS];
    double delta, person;
    cost whole, charged;

    out->epsilon = out->delta = out->rho = out->charged_epsilon = out->charged_rho = out->person_epsilon = NAN;
    if (!party->terms.is_private || !party->accounts[0].ledger || party->phase == PN_PARTY_NEW ||
        party->terms.mode == PN_FEDERATED_PAPER || !party->run.products)
        return PN_OK;
    party_most(party, most);
    delta = party_delta(party);
    PN_TRY(cost_of(&charged, party, made, delta, err));
    PN_TRY(cost_of(&whole, party, most, delta, err));
    PN_TRY(party_person_epsilon(&person, party, err));
    if (made[PARTY_SELECTION] == 0)
        whole = charged;
    out->delta = delta;
    out->person_epsilon = person;
    out->epsilon = whole.epsilon;
    out->rho = whole.rho;
    out->charged_epsilon = charged.epsilon;
    out->charged_rho = charged.rho;
    return PN_OK;
}

pn_party_phase pn_party_phase_of(const pn_party *party)
{
    return party->phase;
}

pn_status pn_party_report_of(const pn_party *party, pn_party_report *out, pn_err *err)
{
    memset(out, 0, sizeof *out);
    out->phase = party->phase;
    out->parties = party->phase == PN_PARTY_NEW ? 0 : party->terms.parties;
    out->person_cap = party->person_epsilon;
    out->round = party->rounds;
    out->selections = party->count[PARTY_SELECTION];
    out->features = party->count[PARTY_FEATURE];
    out->scores = party->count[PARTY_SCORE];
    out->simulated = party->key.simulated;
    out->last = party->last.kind == PN_MESSAGE_NONE ? NULL : &party->last;
    return report_cost(party, out, err);
}
