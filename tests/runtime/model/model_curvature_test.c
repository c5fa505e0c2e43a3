/* model_curvature_test.c -- second derivatives in model files, damaged behind a right checksum: refused, never a crash.
 * Depends on: model_kit.h, the generated code of model files. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/model/model_kit.h"

enum { PACKED = DIM * (DIM + 1) / 2 };

/* A curvature, with a number more behind each list than it has. */
typedef struct curved {
    Penumbra__Curvature of;
    double packed[PACKED + 1], diagonal[DIM + 1], slope[DIM + 1], pull[DIM + 1];
} curved;

static void curve(curved *out, Penumbra__Model *m)
{
    out->of = (Penumbra__Curvature)PENUMBRA__CURVATURE__INIT;
    out->of.deviation = 0.5;
    out->of.gradient = 0.25;
    for (size_t k = 0; k <= PACKED; k++)
        out->packed[k] = 1.0 + (double)k;
    for (size_t k = 0; k <= DIM; k++)
        out->diagonal[k] = out->slope[k] = out->pull[k] = -(double)k;
    out->of.n_packed = PACKED;
    out->of.n_diagonal = out->of.n_slope = out->of.n_pull = DIM;
    out->of.packed = out->packed;
    out->of.diagonal = out->diagonal;
    out->of.slope = out->slope;
    out->of.pull = out->pull;
    m->curvature = &out->of;
}

static void damaged_numbers(Penumbra__Model *m)
{
    static const double wrong[] = { NAN, INFINITY, -INFINITY, -1.0, 0.0 };
    curved with;

    for (size_t field = 0; field < 4; field++)
        for (size_t w = 0; w < (field < 2 ? 5 : 4); w++) { /* damping and clip may be 0 */
            double *const numbers[] = { &with.of.deviation, &with.of.gradient, &with.of.damping, &with.of.clip };

            curve(&with, m);
            *numbers[field] = wrong[w];
            CHECK(decode(m) == PN_EPARSE);
        }
}

static void damaged_lists(Penumbra__Model *m)
{
    curved with;

    for (size_t list = 0; list < 4; list++) {
        double *const numbers[] = { with.packed, with.diagonal, with.slope, with.pull };
        size_t *const lengths[] = { &with.of.n_packed, &with.of.n_diagonal, &with.of.n_slope, &with.of.n_pull };
        size_t whole;

        curve(&with, m);
        whole = *lengths[list];
        for (size_t length = 0; length <= whole + 1; length++) {
            *lengths[list] = length;
            CHECK(decode(m) == (length == whole ? PN_OK : PN_EPARSE));
        }
        *lengths[list] = whole;
        for (size_t k = 0; k < whole; k++) {
            double kept = numbers[list][k];

            numbers[list][k] = k % 2 ? NAN : INFINITY;
            CHECK(decode(m) == PN_EPARSE);
            numbers[list][k] = kept;
        }
        CHECK(decode(m) == PN_OK);
    }
}

/* Bytes of a model, which ends with its curvature: cut short anywhere in it, and with any bit of it turned. */
static void damaged_bytes(Penumbra__Model *m)
{
    static unsigned char bytes[MOST];
    size_t before, size, taken = 0;
    pn_model_about *about;
    curved with;
    pn_fit *fit;

    m->curvature = NULL;
    before = penumbra__model__get_packed_size(m);
    curve(&with, m);
    size = penumbra__model__pack(m, bytes);
    for (size_t length = before + 1; length < size; length++) {
        fit = NULL, about = NULL;
        CHECK(pn_model_decode(&fit, &about, bytes, length, "there", NULL) == PN_EPARSE && !fit && !about);
    }
    for (size_t bit = 8 * before; bit < 8 * size; bit++) {
        fit = NULL, about = NULL;
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (pn_model_decode(&fit, &about, bytes, size, "there", NULL) == PN_OK) {
            taken++;
            CHECK(fit->curvature && fit->curvature->p == DIM && isfinite(fit->curvature->packed[PACKED - 1]) &&
                  isfinite(fit->curvature->pull[DIM - 1]) && fit->curvature->gradient > 0.0);
        } else {
            CHECK(!fit && !about);
        }
        pn_fit_free(fit);
        pn_model_about_free(about);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    CHECK(taken > 0 && taken < 8 * (size - before)); /* another number is a number */
}

static void damaged_curvature_is_refused(void)
{
    static unsigned char bytes[MOST];
    Penumbra__Privacy *privacy;
    Penumbra__Model *m;
    run of = { 0 };
    uint64_t records;
    curved with;
    size_t size;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    m = unpack_saved(&size, bytes);
    if (CHECK(m != NULL && !m->curvature)) {
        curve(&with, m);
        CHECK(decode(m) == PN_OK);
        privacy = m->privacy, m->privacy = NULL; /* then it is of the records themselves */
        CHECK(decode(m) == PN_EPARSE);
        m->privacy = privacy;
        records = m->records, m->records = 0;
        CHECK(decode(m) == PN_EPARSE);
        m->records = records;
        damaged_numbers(m);
        damaged_lists(m);
        damaged_bytes(m);
        m->curvature = NULL;
    }
    penumbra__model__free_unpacked(m, NULL);
    clear(&of);
}

int main(void)
{
    if (!open_folder("model_curvature_test"))
        return check_summary();
    damaged_curvature_is_refused();
    close_folder();
    return check_summary();
}
