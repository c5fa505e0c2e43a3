/* model_lies_test.c -- model files that were made to do harm behind a right checksum,
 * encodings that other readers would pass over, and
 * noise.  Depends on: model_kit.h, the generated code of model files. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/model/model_kit.h"

typedef void (*change_fn)(Penumbra__Model *m);

static char escape[] = "a\033[2Jb", lines[] = "a\nb", empty[] = "", long_name[200], broken[] = "\xc3(";
static double a_number = 1.0;
static uint64_t a_count = 1;

static void changes_of_texts(Penumbra__Model *m, size_t k)
{
    char *const wrong[] = { escape, empty, long_name, broken };
    char **const texts[] = { &m->version, &m->solver, &m->loss, &m->privacy->accountant };
    char *kept = *texts[k];

    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        *texts[k] = wrong[w];
        CHECK(decode(m) == PN_EPARSE);
    }
    *texts[k] = lines;
    CHECK(decode(m) == PN_EPARSE);
    *texts[k] = kept;
}

static void no_theta(Penumbra__Model *m)
{
    m->n_theta = 0;
}

static void theta_nan(Penumbra__Model *m)
{
    m->theta[3] = NAN;
}

static void theta_infinite(Penumbra__Model *m)
{
    m->theta[0] = -INFINITY;
}

static void odd_margins(Penumbra__Model *m)
{
    m->margins = 4;
}

static void many_margins(Penumbra__Model *m)
{
    m->margins = UINT64_MAX;
}

static void plan_escapes(Penumbra__Model *m)
{
    m->plan = escape;
}

static void unknown_relation(Penumbra__Model *m)
{
    m->privacy->neighbours = 3;
}

static void negative_epsilon(Penumbra__Model *m)
{
    m->privacy->epsilon = -1.0;
}

static void negative_rho(Penumbra__Model *m)
{
    m->privacy->charged_rho = -0.1;
}

static void whole_delta(Penumbra__Model *m)
{
    m->privacy->delta = 1.0;
}

static void short_column(Penumbra__Model *m)
{
    m->trace->n_step_size--;
}

static void no_steps(Penumbra__Model *m)
{
    m->trace->n_step = 0;
}

static void step_zero(Penumbra__Model *m)
{
    m->trace->step[1] = 0;
}

static void unknown_kind(Penumbra__Model *m)
{
    static uint8_t kinds[STEPS] = { 0, 0, 1, 0, 0 };

    m->trace->has_kind = true;
    m->trace->kind = (ProtobufCBinaryData){ STEPS, kinds };
}

static void kinds_of_none(Penumbra__Model *m)
{
    static char *kinds[] = { lines + 2 };

    m->trace->n_kinds = 1;
    m->trace->kinds = kinds;
}

static void broken_recipe(Penumbra__Model *m)
{
    static char recipe[] = "{\"features\": {\"age\": 7}}";

    m->recipe = recipe;
}

static void recipe_of_others(Penumbra__Model *m)
{
    static char recipe[] = "{\"features\": {\"age\": [0, 1]}}"; /* two features, of six */

    m->recipe = recipe;
}

static void few_names(Penumbra__Model *m)
{
    static char *names[] = { lines + 2, lines + 2 };

    m->n_features = 2;
    m->features = names;
}

static void set_escapes(Penumbra__Model *m)
{
    m->set = escape;
}

static void long_parameters(Penumbra__Model *m)
{
    m->parameters = long_name;
}

static void negative_bound(Penumbra__Model *m)
{
    static Penumbra__Bounds bounds = PENUMBRA__BOUNDS__INIT;

    bounds.l2 = -1.0;
    m->bounds = &bounds;
}

static void hidden_time(Penumbra__Model *m)
{
    static Penumbra__Figures figures = PENUMBRA__FIGURES__INIT;

    figures.value = NAN;
    m->figures = &figures;
}

static void figures_without_rows(Penumbra__Model *m)
{
    static Penumbra__Figures figures = PENUMBRA__FIGURES__INIT;

    m->raw = true;
    m->figures = &figures;
    figures.n_row_gradients = 1;
    figures.row_gradients = &a_count;
}

static void values_without_rows(Penumbra__Model *m)
{
    static Penumbra__Figures figures = PENUMBRA__FIGURES__INIT;

    m->raw = true;
    m->figures = &figures;
    figures.n_row_gap = 1;
    figures.row_gap = &a_number;
}

static void impossible_certificate(Penumbra__Model *m)
{
    static Penumbra__Certificate certificate = PENUMBRA__CERTIFICATE__INIT;

    certificate.status = m->solver;
    certificate.failure = 1.5;
    m->certificate = &certificate;
}

/* A copy that a change can be made to, and that borrows from the model. */
typedef struct copy {
    Penumbra__Model model;
    Penumbra__Privacy privacy;
    Penumbra__Trace trace;
    double theta[DIM];
    uint64_t step[STEPS];
} copy;

static void copy_of(copy *out, const Penumbra__Model *m)
{
    out->model = *m;
    out->privacy = *m->privacy;
    out->trace = *m->trace;
    memcpy(out->theta, m->theta, sizeof out->theta);
    memcpy(out->step, m->trace->step, sizeof out->step);
    out->model.privacy = &out->privacy;
    out->model.trace = &out->trace;
    out->model.theta = out->theta;
    out->trace.step = out->step;
}

static void lies_are_refused(void)
{
    static const change_fn changes[] = { no_theta,
                                         theta_nan,
                                         theta_infinite,
                                         odd_margins,
                                         many_margins,
                                         plan_escapes,
                                         unknown_relation,
                                         negative_epsilon,
                                         negative_rho,
                                         whole_delta,
                                         short_column,
                                         no_steps,
                                         step_zero,
                                         unknown_kind,
                                         kinds_of_none,
                                         hidden_time,
                                         figures_without_rows,
                                         values_without_rows,
                                         impossible_certificate,
                                         broken_recipe,
                                         recipe_of_others,
                                         few_names,
                                         set_escapes,
                                         long_parameters,
                                         negative_bound };
    static unsigned char bytes[MOST];
    run of = { 0 };
    Penumbra__Model *m;
    size_t size;
    copy changed;

    memset(long_name, 'x', sizeof long_name - 1);
    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    m = unpack_saved(&size, bytes);
    if (CHECK(m != NULL)) {
        CHECK(decode(m) == PN_OK);
        for (size_t k = 0; k < 4; k++)
            changes_of_texts(m, k);
        for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
            copy_of(&changed, m);
            CHECK(decode(&changed.model) == PN_OK);
            changes[k](&changed.model);
            if (!CHECK(decode(&changed.model) == PN_EPARSE))
                (void)fprintf(stderr, "    change %zu\n", k);
        }
    }
    penumbra__model__free_unpacked(m, NULL);
    clear(&of);
}

/* What other readers of Protocol Buffers would pass over: a field that is not known, and one that is given twice. */
/* rho as it is read from the model, of a file that does not say that it holds wherever the run ended. */
static double rho_without_word(Penumbra__Model *m, uint64_t steps, char *stopped)
{
    static unsigned char bytes[MOST];
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    double rho;

    m->steps = steps;
    m->stopped = stopped;
    CHECK(pn_model_decode(&fit, &about, bytes, penumbra__model__pack(m, bytes), "there", NULL) == PN_OK);
    rho = fit ? fit->rho : NAN;
    CHECK(fit && fit->charged_rho == m->privacy->charged_rho && isnan(fit->epsilon));
    pn_fit_free(fit);
    pn_model_about_free(about);
    return rho;
}

static void prices_of_steps_taken_are_no_bounds(void)
{
    static char interrupted[] = "interrupted", limit[] = "limit", diverged[] = "diverged";
    static unsigned char bytes[MOST];
    Penumbra__Model *m;
    run of = { 0 };
    size_t size;
    double rho;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    m = unpack_saved(&size, bytes);
    if (CHECK(m != NULL && m->privacy->has_anytime && m->privacy->anytime)) {
        rho = m->privacy->rho;
        CHECK(rho_without_word(m, STEPS - 1, interrupted) == rho);
        m->privacy->has_anytime = m->privacy->anytime = false;
        CHECK(rho_without_word(m, STEPS, NULL) == rho && rho_without_word(m, STEPS - 1, diverged) == rho);
        CHECK(isinf(rho_without_word(m, STEPS - 1, interrupted)) && isinf(rho_without_word(m, STEPS - 1, limit)));
        CHECK(isinf(rho_without_word(m, STEPS - 1, NULL)));
        m->stopped = NULL;
        penumbra__model__free_unpacked(m, NULL);
    }
    clear(&of);
}

static void loose_encodings_are_refused(void)
{
    static const unsigned char unknown[] = { 0xf8, 0x01, 0x01 }, twice[] = { 0x68, STEPS }; /* field 31; steps */
    static unsigned char bytes[MOST];
    const unsigned char *more[] = { unknown, twice };
    const size_t length[] = { sizeof unknown, sizeof twice };
    run of = { 0 };
    size_t size;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    size = read_file(bytes) - PN_MODEL_HEAD - PN_MODEL_DIGEST;
    for (size_t k = 0; k < 2; k++) {
        pn_fit *fit = NULL;
        pn_model_about *about = NULL;

        memcpy(bytes + PN_MODEL_HEAD + size, more[k], length[k]);
        CHECK(pn_model_decode(&fit, &about, bytes + PN_MODEL_HEAD, size + length[k], "there", NULL) == PN_EPARSE);
        CHECK(!fit && !about);
    }
    clear(&of);
}

/* Any bytes behind a right checksum: a model or a refusal, and never a crash.
 * What is taken can be written and read again. */
static void noise_is_survived(void)
{
    static unsigned char bytes[MOST], spoiled[MOST];
    uint64_t state = 88172645463325252u;
    run of = { 0 };
    size_t size, taken = 0, refusals = 0;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, &a_number, NULL) == PN_OK);
    size = read_file(bytes) - PN_MODEL_HEAD - PN_MODEL_DIGEST;
    for (size_t round = 0; round < 40000; round++) {
        size_t length = size, spoils = round < size * 8 ? 1 : 1 + round % 4;
        pn_fit *fit = NULL;
        pn_model_about *about = NULL;

        memcpy(spoiled, bytes + PN_MODEL_HEAD, size);
        for (size_t k = 0; k < spoils; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia (2003), xorshift64 */
            if (round < size * 8)
                spoiled[round / 8] ^= (unsigned char)(1u << (round % 8));
            else
                spoiled[state % size] = (unsigned char)(state >> 32);
            if (state % 16 == 0)
                length = (size_t)(state >> 8) % (size + 1);
        }
        if (pn_model_decode(&fit, &about, spoiled, length, "there", NULL) == PN_OK) {
            taken++;
            CHECK(fit->p > 0 && isfinite(fit->theta[fit->p - 1]));
        } else {
            refusals++;
            CHECK(!fit && !about);
        }
        pn_fit_free(fit);
        pn_model_about_free(about);
    }
    CHECK(taken > 1000 && refusals > 1000); /* both paths were walked */
    clear(&of);
}

int main(void)
{
    if (!open_folder("model_lies_test"))
        return check_summary();
    lies_are_refused();
    prices_of_steps_taken_are_no_bounds();
    loose_encodings_are_refused();
    noise_is_survived();
    close_folder();
    return check_summary();
}
