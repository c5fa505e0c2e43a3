/* wire_check.c -- the rules of penumbra.proto that its grammar does not express, kind by kind.
 * Depends on: wire_check.h.
 * Used by: wire.c, which checks what it writes by the same rules as what it read. */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "federated/wire/block.h"
#include "federated/wire/wire_check.h"

#define DEFAULT_BYTES   ((size_t)256 << 20)
#define DEFAULT_ENTRIES ((size_t)1 << 24)

/* What is being checked, and how its failures are reported. */
typedef struct inspection {
    const pn_message *message;
    const pn_wire_limits *limits;
    pn_status failure;
    pn_err *err;
} inspection;

#define REFUSE(i, ...) pn_fail((i)->err, (i)->failure, __VA_ARGS__)

pn_wire_limits pn_wire_limits_of(const pn_wire_limits *limits)
{
    pn_wire_limits filled = { .bytes = DEFAULT_BYTES, .vector = DEFAULT_ENTRIES, .block = DEFAULT_ENTRIES };

    if (limits && limits->bytes > 0)
        filled.bytes = limits->bytes;
    if (limits && limits->vector > 0)
        filled.vector = limits->vector;
    if (limits && limits->block > 0)
        filled.block = limits->block;
    return filled;
}

/* ---- texts ---- */

bool pn_wire_printable(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);
    size_t step;

    if (!end)
        return false;
    for (; text < end; text += step) {
        step = pn_text_printable(text, (size_t)(end - text));
        if (step == 0)
            return false;
    }
    return true;
}

void pn_wire_clean(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t step = pn_text_printable(text, left);

        if (step == 0) {
            *text = '?';
            step = 1;
        }
        text += step;
        left -= step;
    }
}

/* ---- parts ---- */

static bool all_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static pn_status check_numbers(const inspection *i, const char *what, const double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(x[k]))
            return REFUSE(i, "wire: %s[%zu] is %g, must be a finite number", what, k, x[k]);
    }
    return PN_OK;
}

static pn_status check_block(const inspection *i)
{
    const pn_message *m = i->message;

    if (m->count > i->limits->block)
        return REFUSE(i, "wire: x has %zu entries, at most %zu are accepted", m->count, i->limits->block);
    if (m->count > 0 && (!m->index || !m->value))
        return REFUSE(i, "wire: x has %zu entries and no room for them", m->count);
    for (size_t k = 1; k < m->count; k++) {
        if (m->index[k] <= m->index[k - 1])
            return REFUSE(i, "wire: indices of x must rise, got %lu after %lu", (unsigned long)m->index[k],
                          (unsigned long)m->index[k - 1]);
    }
    return check_numbers(i, "x", m->value, m->count);
}

static pn_status check_vector(const inspection *i, const char *what)
{
    const pn_message *m = i->message;

    if (m->size < 1 || m->size > i->limits->vector)
        return REFUSE(i, "wire: %s has %zu numbers, must have 1 to %zu", what, m->size, i->limits->vector);
    if (!m->vector)
        return REFUSE(i, "wire: %s has %zu numbers and no room for them", what, m->size);
    return check_numbers(i, what, m->vector, m->size);
}

/* ---- kinds ---- */

static pn_status check_hello(const inspection *i)
{
    const pn_message *m = i->message;

    if (!all_zero(m->run, sizeof m->run) || m->round != 0)
        return REFUSE(i, "wire: hello: belongs to no run and no round");
    if (m->name[0] == '\0' || !pn_wire_printable(m->name, sizeof m->name))
        return REFUSE(i, "wire: hello: name must have 1 to %d bytes of printable text", PN_NAME_BYTES - 1);
    if (m->records < 1)
        return REFUSE(i, "wire: hello: records must be at least 1, got 0");
    if (m->columns < 1 || m->columns > UINT32_MAX)
        return REFUSE(i, "wire: hello: columns must be 1 to %lu, got %llu", (unsigned long)UINT32_MAX,
                      (unsigned long long)m->columns);
    if (!(m->feature_bound > 0.0) || !isfinite(m->feature_bound))
        return REFUSE(i, "wire: hello: feature_bound must be a positive number, got %g", m->feature_bound);
    if (!(m->label_bound > 0.0) || !isfinite(m->label_bound))
        return REFUSE(i, "wire: hello: label_bound must be a positive number, got %g", m->label_bound);
    return PN_OK;
}

static pn_status check_choice_of(const inspection *i, const char *what, int value, int last)
{
    if (value < 0 || value > last)
        return REFUSE(i, "wire: terms: %s must be 0 to %d, got %d", what, last, value);
    return PN_OK;
}

static pn_status check_enums(const inspection *i, const pn_terms *t)
{
    pn_status status = check_choice_of(i, "mode", (int)t->mode, PN_FEDERATED_PAPER);

    if (status == PN_OK)
        status = check_choice_of(i, "loss", (int)t->loss, PN_FEDERATED_LOGISTIC);
    if (status == PN_OK)
        status = check_choice_of(i, "neighbours", (int)t->neighbours, PN_ZERO_OUT);
    if (status == PN_OK)
        status = check_choice_of(i, "sketch_kind", (int)t->sketch.kind, PN_SKETCH_SPARSE);
    return status;
}

/* What they mean is pn_terms_check's to judge; here: that they can be held. */
static pn_status check_terms(const inspection *i)
{
    const pn_message *m = i->message;
    const pn_terms *t = &m->terms;
    const double numbers[] = { t->feature_bound, t->label_bound,   t->radius,      t->epsilon0,
                               t->laplace_scale, t->sigma_feature, t->sigma_score, t->clip };

    if (memcmp(t->run, m->run, sizeof t->run) != 0 || t->party != m->party)
        return REFUSE(i, "wire: terms: are of another run or party than the message");
    if (t->parties < 1 || t->parties > PN_PARTIES_MAX || t->party >= t->parties)
        return REFUSE(i, "wire: terms: party %lu of %lu; there are 1 to %d", (unsigned long)t->party,
                      (unsigned long)t->parties, PN_PARTIES_MAX);
    if (t->sketch.m < 1 || t->sketch.m > i->limits->vector)
        return REFUSE(i, "wire: terms: sketch_rows must be 1 to %zu, got %zu", i->limits->vector, t->sketch.m);
    if (check_enums(i, t) != PN_OK)
        return i->failure;
    if ((t->block != NULL) != (t->block_size > 0) || t->block_size > PN_BLOCK_NUMBERS_MAX)
        return REFUSE(i, "wire: terms: a set of %zu numbers, must have 1 to %zu", t->block_size, PN_BLOCK_NUMBERS_MAX);
    if (check_numbers(i, "block", t->block, t->block_size) != PN_OK)
        return i->failure;
    return check_numbers(i, "terms", numbers, sizeof numbers / sizeof *numbers);
}

static pn_status check_choice(const inspection *i)
{
    const pn_message *m = i->message;
    int64_t most = (int64_t)UINT32_MAX + 1;

    if (m->code < -most || m->code > most)
        return REFUSE(i, "wire: choice: code must be -%lld to %lld, got %lld", (long long)most, (long long)most,
                      (long long)m->code);
    if (m->picks > i->limits->block || (m->picks > 0 && !m->pick))
        return REFUSE(i, "wire: choice: a vertex of %zu choices, at most %zu are accepted", m->picks, i->limits->block);
    if (m->picks > 0 && (m->code != 0 || !isnan(m->score)))
        return REFUSE(i, "wire: choice: a vertex of %zu choices has no code and no score", m->picks);
    if (isinf(m->score) || isinf(m->stay_score))
        return REFUSE(i, "wire: choice: a score is infinite");
    if (isnan(m->score) && !isnan(m->stay_score))
        return REFUSE(i, "wire: choice: stay_score without a score");
    return PN_OK;
}

static pn_status check_round(const inspection *i)
{
    pn_status status = check_block(i);

    return status == PN_OK ? check_vector(i, "q") : status;
}

static pn_status check_feature(const inspection *i)
{
    return check_vector(i, "feature");
}

static pn_status check_refused(const inspection *i)
{
    const pn_message *m = i->message;

    if ((int)m->status <= PN_OK || (int)m->status > PN_ENUMERIC)
        return REFUSE(i, "wire: refused: status must be 1 to %d, got %d", PN_ENUMERIC, (int)m->status);
    return PN_OK;
}

static pn_status nothing_more(const inspection *i)
{
    (void)i;
    return PN_OK;
}

enum { NO_ROUND, SOME_ROUND, ANY_ROUND };

static const struct rule {
    pn_status (*check)(const inspection *i);
    int round;
} rules[] = {
    [PN_MESSAGE_HELLO] = { check_hello, NO_ROUND },       [PN_MESSAGE_TERMS] = { check_terms, NO_ROUND },
    [PN_MESSAGE_READY] = { nothing_more, NO_ROUND },      [PN_MESSAGE_ROUND] = { check_round, SOME_ROUND },
    [PN_MESSAGE_CHOICE] = { check_choice, SOME_ROUND },   [PN_MESSAGE_FETCH] = { nothing_more, SOME_ROUND },
    [PN_MESSAGE_FEATURE] = { check_feature, SOME_ROUND }, [PN_MESSAGE_DONE] = { check_block, ANY_ROUND },
    [PN_MESSAGE_REFUSED] = { check_refused, ANY_ROUND },
};

pn_status pn_wire_check(const pn_message *message, const pn_wire_limits *limits, pn_status failure, pn_err *err)
{
    const inspection i = { message, limits, failure, err };
    int kind = (int)message->kind;

    if (kind <= PN_MESSAGE_NONE || kind > PN_MESSAGE_REFUSED)
        return REFUSE(&i, "wire: there is no message of kind %d", kind);
    if (message->kind != PN_MESSAGE_HELLO && message->party >= PN_PARTIES_MAX)
        return REFUSE(&i, "wire: %s: party must be below %d, got %lu", pn_message_names[kind], PN_PARTIES_MAX,
                      (unsigned long)message->party);
    if (rules[kind].round == NO_ROUND && message->round != 0)
        return REFUSE(&i, "wire: %s: belongs to no round, got %llu", pn_message_names[kind],
                      (unsigned long long)message->round);
    if (rules[kind].round == SOME_ROUND && message->round == 0)
        return REFUSE(&i, "wire: %s: rounds begin at 1, got 0", pn_message_names[kind]);
    return rules[kind].check(&i);
}
