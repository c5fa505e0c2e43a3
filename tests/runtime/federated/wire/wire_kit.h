/* wire_kit.h -- one message of each kind, with numbers that are easy to get wrong,
 * and whether two messages are the same to the last bit.
 * Used by: wire_test.c, wire_memory_test.c. */
#ifndef PN_TESTS_WIRE_KIT_H
#define PN_TESTS_WIRE_KIT_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/wire/wire.h"

#define KIT_ENTRIES 3
#define KIT_NUMBERS 6

static const double kit_numbers[KIT_NUMBERS] = {
    -0.0, 4.9406564584124654e-324, -2.2250738585072009e-308, DBL_MAX, -DBL_MAX, 0.1
};

static inline void kit_block(pn_message *m)
{
    static const uint32_t index[KIT_ENTRIES] = { 0, 300, UINT32_MAX };
    static const double value[KIT_ENTRIES] = { -0.25, 1.48219693752374e-323, 3.0 };

    memcpy(m->index, index, sizeof index);
    memcpy(m->value, value, sizeof value);
}

static inline void kit_hello(pn_message *m)
{
    (void)strcpy(m->name, "Z\xc3\xbcrich");
    m->records = UINT64_MAX;
    m->columns = UINT32_MAX;
    memset(m->alignment, 0xa5, sizeof m->alignment);
    memset(m->session, 0xff, sizeof m->session);
    m->feature_bound = DBL_MIN;
    m->label_bound = 1.0;
}

static inline pn_status kit_terms(pn_message *m)
{
    static const double block[3] = { 5.0, 77.0, 0.1 };
    pn_terms *t = &m->terms;

    memcpy(t->run, m->run, sizeof t->run);
    t->party = m->party;
    t->mode = PN_FEDERATED_PAPER;
    t->loss = PN_FEDERATED_LOGISTIC;
    t->neighbours = PN_ZERO_OUT;
    t->is_private = true;
    t->simulated = true;
    t->records = UINT64_MAX;
    t->parties = PN_PARTIES_MAX;
    t->iterations = UINT64_MAX - 1;
    t->feature_bound = 1.0;
    t->label_bound = 0.1;
    t->sketch = (pn_sketch_shape){ PN_SKETCH_SPARSE, 64, SIZE_MAX, UINT64_MAX };
    t->columns = 77;
    t->sampled = 1;
    t->radius = DBL_MAX;
    t->epsilon0 = 4.9406564584124654e-324;
    t->laplace_scale = -0.0;
    t->sigma_feature = 1.0 / 3.0;
    t->sigma_score = 2.0;
    t->clip = 1e300;
    t->stay = true;
    t->positive = true;
    t->features = 12;
    t->block = pn_alloc(3, sizeof *t->block);
    if (!t->block)
        return PN_ENOMEM;
    t->block_size = 3;
    memcpy(t->block, block, sizeof block);
    return PN_OK;
}

/* *m must be zeroed or cleared before. */
static inline pn_status kit_message(pn_message *m, pn_message_kind kind)
{
    bool block = kind == PN_MESSAGE_ROUND || kind == PN_MESSAGE_DONE;
    bool vector = kind == PN_MESSAGE_ROUND || kind == PN_MESSAGE_FEATURE;
    pn_status status = pn_message_reserve(m, block ? KIT_ENTRIES : 0, vector ? KIT_NUMBERS : 0, NULL);

    if (status != PN_OK)
        return status;
    m->kind = kind;
    m->count = block ? KIT_ENTRIES : 0;
    m->size = vector ? KIT_NUMBERS : 0;
    if (kind != PN_MESSAGE_HELLO) {
        for (int i = 0; i < PN_RUN_ID; i++)
            m->run[i] = (unsigned char)(17 * i);
        m->party = 3;
    }
    if (kind >= PN_MESSAGE_ROUND && kind <= PN_MESSAGE_FEATURE)
        m->round = 7;
    if (kind == PN_MESSAGE_HELLO)
        kit_hello(m);
    if (kind == PN_MESSAGE_TERMS)
        PN_TRY(kit_terms(m));
    if (block)
        kit_block(m);
    if (vector)
        memcpy(m->vector, kit_numbers, sizeof kit_numbers);
    if (kind == PN_MESSAGE_CHOICE) {
        m->code = -6;
        m->score = -0.0;
        m->stay_score = NAN;
    }
    if (kind == PN_MESSAGE_FETCH || kind == PN_MESSAGE_FEATURE)
        m->column = 5;
    if (kind == PN_MESSAGE_REFUSED) {
        m->status = PN_EBUDGET;
        (void)strcpy(m->reason, "party: the ledger does not cover it");
    }
    return PN_OK;
}

static inline bool kit_bits(const void *a, const void *b, size_t count, size_t size)
{
    return count == 0 || memcmp(a, b, count * size) == 0;
}

static inline bool kit_same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* Structs are cleared to zero bytes before they are filled, so terms may be compared as bytes but for padding: field by
 * field it is. */
static inline bool kit_same_terms(const pn_terms *a, const pn_terms *b)
{
    return memcmp(a->run, b->run, sizeof a->run) == 0 && a->mode == b->mode && a->loss == b->loss &&
           a->neighbours == b->neighbours && a->is_private == b->is_private && a->simulated == b->simulated &&
           a->records == b->records && a->parties == b->parties && a->iterations == b->iterations &&
           kit_same_number(a->feature_bound, b->feature_bound) && kit_same_number(a->label_bound, b->label_bound) &&
           a->sketch.kind == b->sketch.kind && a->sketch.m == b->sketch.m && a->sketch.n == b->sketch.n &&
           a->sketch.seed == b->sketch.seed && a->party == b->party && a->columns == b->columns &&
           a->sampled == b->sampled && kit_same_number(a->radius, b->radius) &&
           kit_same_number(a->epsilon0, b->epsilon0) && kit_same_number(a->laplace_scale, b->laplace_scale) &&
           kit_same_number(a->sigma_feature, b->sigma_feature) && kit_same_number(a->sigma_score, b->sigma_score) &&
           kit_same_number(a->clip, b->clip) && a->stay == b->stay && a->positive == b->positive &&
           a->features == b->features && a->block_size == b->block_size &&
           kit_bits(a->block, b->block, a->block_size, sizeof *a->block);
}

static inline bool kit_same(const pn_message *a, const pn_message *b)
{
    return a->kind == b->kind && memcmp(a->run, b->run, sizeof a->run) == 0 && a->party == b->party &&
           a->round == b->round && strcmp(a->name, b->name) == 0 && a->records == b->records &&
           a->columns == b->columns && memcmp(a->alignment, b->alignment, sizeof a->alignment) == 0 &&
           memcmp(a->session, b->session, sizeof a->session) == 0 &&
           kit_same_number(a->feature_bound, b->feature_bound) && kit_same_number(a->label_bound, b->label_bound) &&
           kit_same_terms(&a->terms, &b->terms) && a->count == b->count &&
           kit_bits(a->index, b->index, a->count, sizeof *a->index) &&
           kit_bits(a->value, b->value, a->count, sizeof *a->value) && a->size == b->size &&
           kit_bits(a->vector, b->vector, a->size, sizeof *a->vector) && a->code == b->code && a->picks == b->picks &&
           kit_bits(a->pick, b->pick, a->picks, sizeof *a->pick) && kit_same_number(a->score, b->score) &&
           kit_same_number(a->stay_score, b->stay_score) && a->column == b->column && a->status == b->status &&
           strcmp(a->reason, b->reason) == 0;
}

#endif
