/* accountant_pld.c -- adds up privacy loss distributions; every answer is a certified interval,
 * its upper end what is charged.
 * Depends on: accountant.h, accountant_terms.h, pair_event.h, pld.h.  Used by: the table in accountant.c.
 *
 * All Gaussians are one record: their composition is the Gaussian with mu^2 = sum mu_i^2, exactly.  The upper end is
 * never above the Renyi one, which is the better one for many selections by the exponential mechanism. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/accounting/accountant_ops.h"
#include "privacy/accounting/accountant_terms.h"
#include "privacy/accounting/pld.h"
#include "privacy/event/pair_event.h"

#define MODERATE 8.0 /* mu^2 */

/* The last answer of each kind, for `terms` as they were then. */
typedef struct cache {
    bool has_interval, has_delta;
    double delta, low, high, order;
    const char *wide;
    double epsilon, delta_high;
    bool delta_by_renyi;
} cache;

typedef struct pld_accountant {
    pn_accountant base;
    pn_terms terms;
    double step;
    pn_pld_record *records;
    size_t count, room;
    double gaussian; /* sum of mu^2 */
    cache *cache;
} pld_accountant;

static const pld_accountant *pld_of(const pn_accountant *base)
{
    return (const pld_accountant *)base;
}

static void destroy(pn_accountant *base)
{
    pld_accountant *self = (pld_accountant *)base;

    pn_terms_clear(&self->terms);
    pn_free(self->records);
    pn_free(self->cache);
    pn_free(self);
}

static pn_status create(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    pld_accountant *self;

    if (args[0].given && !(args[0].real >= 1e-8 && args[0].real <= 0.1))
        return pn_fail(err, PN_EINVAL, "accountant.pld: discretization must be between 1e-8 and 0.1, got %g",
                       args[0].real);
    self = pn_calloc(1, sizeof *self);
    if (self)
        self->cache = pn_calloc(1, sizeof *self->cache);
    if (!self || !self->cache) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory");
    }
    self->base.ops = &pn_accountant_pld_ops;
    self->step = args[0].given ? args[0].real : 0.0;
    *out = &self->base;
    return PN_OK;
}

/* ---- records ---- */

static bool same_pair(const pn_pair *a, const pn_pair *b)
{
    return a->tails == b->tails && a->law == b->law && memcmp(a->parameters, b->parameters, sizeof a->parameters) == 0;
}

static pn_status push(pld_accountant *self, const pn_pld_record *record, pn_err *err)
{
    for (size_t r = 0; r < self->count; r++) {
        pn_pld_record *old = &self->records[r];

        if (same_pair(&old->dominating, &record->dominating) && same_pair(&old->attained, &record->attained)) {
            old->count += record->count;
            return PN_OK;
        }
    }
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 4;
        pn_pld_record *records = pn_resize(self->records, room, sizeof *records);

        PN_TRY(pn_made(records, err, "accountant.pld: out of memory for %zu events", room));
        self->records = records;
        self->room = room;
    }
    self->records[self->count++] = *record;
    return PN_OK;
}

static pn_status add_event(void *visitor, const pn_event *event, double count, pn_err *err)
{
    pld_accountant *self = visitor;
    pn_pld_record record = { .same = true };
    pn_pair pairs[2];
    size_t directions = event->ops->pairs(event, false, pairs);
    double mu = directions == 1 ? pn_pair_gaussian_mu(&pairs[0]) : 0.0;

    if (directions == 0)
        return PN_OK;
    if (mu > 0.0) {
        self->gaussian += count * mu * mu;
        return PN_OK;
    }
    record.count = (size_t)count;
    record.two_directions = directions == 2;
    record.dominating = pairs[0];
    (void)event->ops->pairs(event, true, pairs);
    record.attained = pairs[0];
    record.same = same_pair(&record.dominating, &record.attained);
    return push(self, &record, err);
}

static pn_status refuse_unknown(void *visitor, const pn_event *event, double count, pn_err *err)
{
    (void)visitor;
    if (!event->ops->pairs)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "accountant.pld: no privacy loss distribution belongs to an event.%s, which is only a bound on "
                       "Renyi divergences; use accountant.rdp",
                       event->ops->name);
    if (!(count <= 0x1p53))
        return pn_fail(err, PN_EINVAL, "accountant.pld: an event is repeated %g times, at most 2^53 are counted",
                       count);
    return PN_OK;
}

static pn_status add(pn_accountant *base, pn_event *event, size_t count, pn_err *err)
{
    pld_accountant *self = (pld_accountant *)base;
    pn_term one = { event, count };
    pn_terms list = { &one, 1, 1 };
    pn_status status = pn_terms_walk(&list, refuse_unknown, self, err);

    if (status == PN_OK)
        status = pn_terms_add(&self->terms, event, count, "pld", err);
    *self->cache = (cache){ 0 };
    return status;
}

/* The records of all terms, with the Gaussians as the last one. */
static pn_status collect(pld_accountant *self, pn_err *err)
{
    pn_pld_record record = { .same = true, .count = 1 };
    pn_status status;

    self->count = 0;
    self->gaussian = 0.0;
    status = pn_terms_walk(&self->terms, add_event, self, err);
    if (status != PN_OK || self->gaussian == 0.0)
        return status;
    if (self->count > 0) /* beside others: equal ones of moderate losses, which are the same */
        record.count = (size_t)fmax(1.0, fmin(ceil(self->gaussian / MODERATE), 0x1p53));
    pn_pair_gaussian(&record.dominating, sqrt(self->gaussian / (double)record.count));
    record.attained = record.dominating;
    return push(self, &record, err);
}

/* ---- questions ---- */

static pld_accountant *mutable_of(const pn_accountant *base)
{
    return (pld_accountant *)(size_t)base;
}

/* delta = 0: the largest loss that can happen. */
static double greatest_loss(const pld_accountant *self)
{
    double sum = 0.0;

    for (size_t r = 0; r < self->count; r++)
        sum += (double)self->records[r].count * self->records[r].attained.high;
    return sum * (1.0 - 0x1p-40);
}

static pn_status ask(pld_accountant *self, double delta, pn_err *err)
{
    cache *c = self->cache;
    pn_pld_bounds ideal = { .high = INFINITY };
    pn_slack slack = pn_terms_slack(&self->terms);
    pn_status status = collect(self, err);

    if (status != PN_OK)
        return status;
    c->high = pn_terms_epsilon(&self->terms, delta, &c->order);
    if (delta > 0.0)
        status = pn_pld_epsilon(&ideal, self->records, self->count, pn_ideal_delta(delta), self->step, err);
    else
        ideal.low = self->count ? greatest_loss(self) : 0.0;
    if (status != PN_OK)
        return status;
    ideal.high = pn_slack_epsilon(ideal.high, delta, slack);
    if (ideal.high < c->high) {
        c->high = ideal.high;
        c->order = 0.0;
    }
    c->wide = ideal.wide;
    c->low = fmax(0.0, ideal.low - slack.epsilon);
    if (c->low <= c->high * (1.0 + 1e-9))
        c->low = fmin(c->low, c->high); /* more than rounding apart would be a wrong curve, and has to show */
    c->delta = delta;
    c->has_interval = true;
    return PN_OK;
}

static pn_status interval(const pn_accountant *base, double delta, double *low, double *high, pn_err *err)
{
    const cache *c = pld_of(base)->cache;
    pn_status status = PN_OK;

    if (!c->has_interval || c->delta != delta)
        status = ask(mutable_of(base), delta, err);
    if (status == PN_OK) {
        *low = c->low;
        *high = c->high;
    }
    return status;
}

static pn_status epsilon(const pn_accountant *base, double delta, double *out, double *order, pn_err *err)
{
    double low;
    pn_status status = interval(base, delta, &low, out, err);

    if (status == PN_OK && order)
        *order = pld_of(base)->cache->order;
    return status;
}

static pn_status delta(const pn_accountant *base, double at_epsilon, double *out, pn_err *err)
{
    pld_accountant *self = mutable_of(base);
    pn_slack slack = pn_terms_slack(&self->terms);
    pn_pld_bounds ideal;
    pn_status status = PN_OK;

    if (!self->cache->has_delta || self->cache->epsilon != at_epsilon) {
        double by_rdp = pn_terms_delta(&self->terms, at_epsilon);

        status = collect(self, err);
        if (status == PN_OK)
            status = pn_pld_delta(&ideal, self->records, self->count, fmax(0.0, at_epsilon - slack.epsilon), self->step,
                                  err);
        if (status != PN_OK)
            return status;
        self->cache->delta_high = fmin(by_rdp, pn_slack_delta(ideal.high, at_epsilon, slack));
        self->cache->delta_by_renyi = by_rdp <= self->cache->delta_high && by_rdp < 1.0;
        self->cache->epsilon = at_epsilon;
        self->cache->has_delta = true;
    }
    *out = self->cache->delta_high;
    return PN_OK;
}

/* Of one record of one release there is nothing to compose. */
static bool is_exact(const pld_accountant *self)
{
    return self->count == 1 && self->records[0].count == 1;
}

/* The answer to epsilon rather than that to delta, where both were asked for. */
static bool method(const pn_accountant *base, char *text, size_t size)
{
    const pld_accountant *self = pld_of(base);
    const cache *c = self->cache;
    bool renyi = c->has_interval ? c->order > 0.0 : c->delta_by_renyi;

    if (!c->has_interval && !c->has_delta)
        return false;
    if (renyi && c->has_interval)
        (void)snprintf(text, size, "Renyi order %.4g", c->order);
    else
        (void)snprintf(text, size, "%s",
                       renyi ? "Renyi orders" : (is_exact(self) ? "exact loss distribution" : "loss distributions"));
    return true;
}

static bool width(const pn_accountant *base, char *text, size_t size)
{
    const cache *c = pld_of(base)->cache;
    double wide = c->high - c->low;

    if (!c->has_interval)
        return false;
    (void)snprintf(text, size, "epsilon from %.6g to %.6g at delta %g", c->low, c->high, c->delta);
    if (wide > 1e-4 && wide > 1e-2 * c->high && size > strlen(text))
        (void)snprintf(text + strlen(text), size - strlen(text), "; %.2g %% wide: %s", 100.0 * wide / c->high,
                       c->wide ? c->wide : "no loss distribution bounds it from above");
    return true;
}

static double rdp(const pn_accountant *base, double alpha)
{
    return pn_terms_rdp(&pld_of(base)->terms, alpha);
}

static double zcdp(const pn_accountant *base)
{
    return pn_terms_zcdp(&pld_of(base)->terms);
}

static const pn_param params[] = {
    { "discretization", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "losses closer than this, from 1e-8 to 0.1, are not told apart in the sum; when absent it is made smaller until "
      "the two bounds meet; not used where the law is exact (a single release, Gaussians alone)" },
    PN_PARAM_END,
};

const pn_accountant_ops pn_accountant_pld_ops = {
    .name = "pld",
    .doc =
        "Composes privacy loss distributions: the tightest answer there is, as a certified interval whose upper end is "
        "what counts. For releases that are fixed in advance; budgets that react to outputs use Renyi curves.",
    .source = "Koskela, Jalko, Honkela (2020); Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (2022); Zhu, Dong, Wang "
              "(2022)",
    .params = params,
    .create = create,
    .destroy = destroy,
    .add = add,
    .epsilon = epsilon,
    .delta = delta,
    .interval = interval,
    .method = method,
    .width = width,
    .rdp = rdp,
    .zcdp = zcdp,
};
