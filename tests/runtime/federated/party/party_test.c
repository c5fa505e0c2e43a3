/* party_test.c -- what a party answers, what it refuses, and what it pays: over replies that a server could send.
 * Depends on: check.h, party_kit.h. */
#include "runtime/federated/party/party_kit.h"

/* ---- gradients ---- */

/* (1/n) sum_j a_ji (<a_j, x> - y_j) in long double. */
static double exact_gradient(const records *r, const double *x, size_t i)
{
    long double sum = 0.0L;

    for (size_t j = 0; j < r->n; j++) {
        long double margin = 0.0L;

        for (size_t k = 0; k < r->p; k++)
            margin += (long double)r->x[j * r->p + k] * (long double)x[k];
        sum += (long double)r->x[j * r->p + i] * (margin - (long double)r->y[j]);
    }
    return (double)(sum / (long double)r->n);
}

/* J = I, xi = 0: with clipping and without, of dense and of sparse data. */
static void gradients_are_exact_without_sketch_and_noise(void)
{
    enum { N = 3000, C = 5 };

    for (int way = 0; way < 4; way++) {
        bool sparse = way % 2 == 1;
        records r = records_new(N, C, sparse ? 0.1 : 1.0, false, 3);
        pn_dataset *data = dataset_of(&r, sparse);
        pn_party *party = party_of(data, NULL, 1);
        pn_terms terms = terms_of(N, C, 30);
        pn_message choice = { 0 }, request;
        party_scores scores;
        host h;

        terms.is_private = terms.simulated = false;
        terms.epsilon0 = terms.sigma_feature = 0.0;
        terms.clip = way / 2 ? 1.0 : 0.0; /* = r >= |<a_j, x>| */
        h = host_new(party, &terms);
        for (int t = 0; t < 20; t++)
            host_step(&h, &choice);
        for (size_t j = 0; j < N; j++) {
            long double margin = 0.0L;

            for (size_t k = 0; k < C; k++)
                margin += (long double)r.x[j * C + k] * (long double)h.x[k];
            if (fabs(h.q[j] - (double)margin) > 1e-12)
                CHECK_CLOSE(h.q[j], (double)margin, 1e-12); /* q = J A x */
        }
        request = round_of(&terms, 21, h.x, h.q);
        CHECK(party_scores_of(party, &request, &scores, NULL, NULL) == PN_OK);
        for (size_t i = 0; i < C; i++)
            CHECK_CLOSE(scores.gradient[i] / N, exact_gradient(&r, h.x, i), 1e-14);
        CHECK(scores.candidates == 2 * C + 1);
        party_scores_clear(&scores);
        pn_message_clear(&request);
        pn_message_clear(&choice);
        host_free(&h);
        pn_party_free(party);
        pn_dataset_free(data);
        records_free(&r);
    }
}

/* Frank-Wolfe of its own: noise-free choices are those of the gradient,
 * and the gap of the block goes to 0 with tau < c and "stay". */
static void a_party_without_noise_reaches_the_optimum_from_samples(void)
{
    enum { N = 60, C = 6 };
    records r = records_new(N, C, 1.0, false, 5);
    pn_dataset *data = dataset_of(&r, false);
    double gap[2];

    for (int stay = 0; stay < 2; stay++) {
        pn_party *party = party_of(data, NULL, 1);
        pn_terms terms = terms_of(N, C, 4000);
        pn_message choice = { 0 };
        double top = 0.0, inner = 0.0;
        host h;

        terms.is_private = terms.simulated = false;
        terms.epsilon0 = terms.sigma_feature = 0.0;
        terms.sampled = 2;
        terms.radius = 0.2;
        terms.stay = stay;
        h = host_new(party, &terms);
        for (int t = 0; t < 4000; t++)
            host_step(&h, &choice);
        for (size_t i = 0; i < C; i++) {
            double g = exact_gradient(&r, h.x, i);

            top = fmax(top, fabs(g));
            inner += g * h.x[i];
        }
        gap[stay] = inner + terms.radius * top;
        pn_message_clear(&choice);
        host_free(&h);
        pn_party_free(party);
    }
    CHECK(gap[1] >= -1e-15 && gap[1] < 1e-3);
    CHECK(gap[0] > 10.0 * gap[1]);
    pn_dataset_free(data);
    records_free(&r);
}

/* ---- a run ---- */

typedef struct setting {
    records r;
    pn_dataset *data;
    pn_ledger *ledger;
    pn_party *party;
    pn_terms terms;
} setting;

static setting set_up(pn_terms terms, double rho, bool binary)
{
    setting s = { .terms = terms };

    s.r = records_new(terms.records, terms.columns, 1.0, binary, 11);
    s.data = dataset_of(&s.r, false);
    s.ledger = ledger_of(rho, terms.neighbours);
    s.party = party_of(s.data, s.ledger, 2);
    return s;
}

static void tear_down(setting *s)
{
    pn_party_free(s->party);
    pn_ledger_free(s->ledger);
    pn_dataset_free(s->data);
    records_free(&s->r);
}

static void the_ledger_counts_what_was_released(void)
{
    enum { N = 200, C = 7, T = 40 };
    setting s = set_up(sketched(terms_of(N, C, T), PN_SKETCH_GAUSSIAN, 20), 1e6, false);
    pn_message choice = { 0 };
    pn_party_report report;
    host h = host_new(s.party, &s.terms);
    double rho, moved = 0.0;

    CHECK(pn_ledger_entries(s.ledger) == 0);
    for (int t = 0; t < T; t++)
        host_step(&h, &choice);
    CHECK(pn_party_report_of(s.party, &report, NULL) == PN_OK);
    CHECK(charged(s.ledger, ": selection") == T && charged(s.ledger, ": feature") == h.uploads);
    CHECK(charged(s.ledger, "federated 3031323334353637, party 1: selection") == T);
    CHECK(report.selections == T && report.features == h.uploads && report.scores == 0 && report.round == T);
    CHECK(report.phase == PN_PARTY_RUNNING && report.simulated && report.last == NULL);
    rho = T * 0.5 * 0.5 / 8.0 + (double)h.uploads * pow(s.party->run.feature_sensitivity / 2.0, 2) / 2.0;
    CHECK_CLOSE(report.charged_rho / rho, 1.0, 1e-6);
    CHECK(report.delta == 1e-6 && report.charged_epsilon > rho &&
          report.charged_epsilon < rho + 2.0 * sqrt(rho * log(1e6)));
    CHECK(report.rho >= report.charged_rho && report.epsilon >= report.charged_epsilon);
    CHECK_CLOSE(pn_ledger_spent(s.ledger) / rho, 1.0, 1e-6);
    for (size_t i = 0; i < C; i++)
        moved += fabs(h.x[i]);
    CHECK(h.uploads > 1 && moved > 0.1 && moved <= 1.0 + 1e-12);
    CHECK(ask(s.party, round_of(&s.terms, T + 1, h.x, h.q), &choice) == PN_MESSAGE_REFUSED);
    pn_message_clear(&choice);
    host_free(&h);
    tear_down(&s);
}

static void a_repeated_request_gives_the_same_bytes_and_costs_nothing(void)
{
    enum { N = 50, C = 4, T = 10 };
    setting s = set_up(terms_of(N, C, T), 1e6, false);
    pn_party *twin = party_of(s.data, s.ledger, 2); /* the same key */
    pn_message choice = { 0 }, again = { 0 }, other = { 0 };
    host h = host_new(s.party, &s.terms);
    double spent, *x = pn_calloc(C, sizeof *x), *q = pn_calloc(N, sizeof *q);

    host_step(&h, &choice);
    while (choice.code == 0 && h.rounds < T)
        host_step(&h, &choice);
    CHECK(choice.code != 0);
    spent = pn_ledger_spent(s.ledger);
    CHECK(ask(s.party, round_of(&s.terms, 1, x, q), &again) == PN_MESSAGE_CHOICE && again.round == 1);
    CHECK(ask_feature(s.party, &s.terms, 9, (uint32_t)llabs(choice.code) - 1, &again) == PN_MESSAGE_FEATURE);
    CHECK(again.round == 9 && again.size == N);
    CHECK(memcmp(again.vector, h.features + (size_t)(llabs(choice.code) - 1) * N, N * sizeof(double)) == 0);
    CHECK(ask_terms(s.party, &s.terms, &again) == PN_MESSAGE_READY);
    CHECK(pn_ledger_spent(s.ledger) == spent);
    q[3] = 1e-300;
    CHECK(ask(s.party, round_of(&s.terms, 1, x, q), &again) == PN_MESSAGE_REFUSED && refused(&again, "another x or q"));
    CHECK(pn_ledger_spent(s.ledger) == spent);

    q[3] = 0.0;
    CHECK(ask_terms(twin, &s.terms, &other) == PN_MESSAGE_READY);
    CHECK(ask(s.party, round_of(&s.terms, 1, x, q), &again) == PN_MESSAGE_CHOICE);
    CHECK(ask(twin, round_of(&s.terms, 1, x, q), &other) == PN_MESSAGE_CHOICE && other.code == again.code);
    pn_free(x);
    pn_free(q);
    pn_message_clear(&choice);
    pn_message_clear(&again);
    pn_message_clear(&other);
    pn_party_free(twin);
    host_free(&h);
    tear_down(&s);
}

/* ---- refusals ---- */

static void requests_that_make_no_sense_are_refused_for_nothing(void)
{
    enum { N = 50, C = 4, T = 10 };
    setting s = set_up(terms_of(N, C, T), 1e6, false);
    pn_message reply = { 0 }, bad;
    double x[C] = { 0.5, 0.0, -0.5, 0.0 }, q[N] = { 0.0 }, spent;
    pn_terms other = s.terms;
    host h;

    CHECK(ask(s.party, round_of(&s.terms, 1, x, q), &reply) == PN_MESSAGE_REFUSED && refused(&reply, "before terms"));
    h = host_new(s.party, &s.terms);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, q), &reply) == PN_MESSAGE_CHOICE);
    spent = pn_ledger_spent(s.ledger);

    CHECK(ask(s.party, round_of(&s.terms, 3, x, q), &reply) == PN_MESSAGE_REFUSED &&
          refused(&reply, "the next one is 2"));
    CHECK(ask(s.party, round_of(&s.terms, 0, x, q), &reply) == PN_MESSAGE_REFUSED);
    CHECK(ask(s.party, round_of(&s.terms, UINT64_MAX, x, q), &reply) == PN_MESSAGE_REFUSED);
    other.run[5] ^= 1;
    CHECK(ask(s.party, round_of(&other, 2, x, q), &reply) == PN_MESSAGE_REFUSED && refused(&reply, "another run"));
    CHECK(ask_terms(s.party, &other, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "in the middle"));
    other = s.terms;
    other.party = 1;
    CHECK(ask(s.party, round_of(&other, 2, x, q), &reply) == PN_MESSAGE_REFUSED);
    other = s.terms;
    other.sigma_feature *= 0.5;
    CHECK(ask_terms(s.party, &other, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "the terms differ"));

    q[7] = NAN;
    CHECK(ask(s.party, round_of(&s.terms, 2, x, q), &reply) == PN_MESSAGE_REFUSED && refused(&reply, "entry 8 of q"));
    q[7] = INFINITY;
    CHECK(ask(s.party, round_of(&s.terms, 2, x, q), &reply) == PN_MESSAGE_REFUSED);
    q[7] = -1e300;
    CHECK(ask(s.party, round_of(&s.terms, 2, x, q), &reply) == PN_MESSAGE_REFUSED && refused(&reply, "beyond 1e+100"));
    q[7] = 0.0;
    bad = round_of(&s.terms, 2, x, q);
    bad.size--;
    CHECK(ask(s.party, bad, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "q has 49 entries"));
    bad = round_of(&s.terms, 2, x, q);
    bad.index[1] = 0;
    CHECK(ask(s.party, bad, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "index 2 of x"));
    bad = round_of(&s.terms, 2, x, q);
    bad.index[1] = C;
    CHECK(ask(s.party, bad, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "index 2 of x"));
    bad = round_of(&s.terms, 2, x, q);
    bad.value[0] = NAN;
    CHECK(ask(s.party, bad, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "entry 1 of x"));
    x[0] = 0.5 + 1e-6;
    CHECK(ask(s.party, round_of(&s.terms, 2, x, q), &reply) == PN_MESSAGE_REFUSED &&
          refused(&reply, "beyond the radius"));
    x[0] = 0.5;

    for (uint32_t i = 0; i < C; i++) {
        if (!(s.party->state[i] & PARTY_CHOSEN))
            CHECK(ask_feature(s.party, &s.terms, 1, i, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "has chosen"));
    }
    CHECK(ask_feature(s.party, &s.terms, 1, C, &reply) == PN_MESSAGE_REFUSED);
    CHECK(ask_feature(s.party, &s.terms, 1, UINT32_MAX, &reply) == PN_MESSAGE_REFUSED);
    CHECK(ask(s.party, request_of(PN_MESSAGE_CHOICE, &s.terms, 1), &reply) == PN_MESSAGE_REFUSED);
    CHECK(ask(s.party, request_of((pn_message_kind)77, &s.terms, 1), &reply) == PN_MESSAGE_REFUSED);

    CHECK(pn_ledger_spent(s.ledger) == spent && charged(s.ledger, ": selection") == 1);
    CHECK(ask(s.party, round_of(&s.terms, 2, x, q), &reply) == PN_MESSAGE_CHOICE); /* it goes on */
    pn_message_clear(&reply);
    host_free(&h);
    tear_down(&s);
}

static void refuses_terms(setting *s, pn_terms terms, const char *part)
{
    pn_message reply = { 0 };

    CHECK(ask_terms(s->party, &terms, &reply) == PN_MESSAGE_REFUSED && refused(&reply, part));
    CHECK(pn_ledger_entries(s->ledger) == 0);
    pn_message_clear(&reply);
}

static void terms_that_it_cannot_keep_are_refused(void)
{
    enum { N = 50, C = 4, T = 10 };
    /* 10 selections at 0.5^2/8 and 4 features at (2/2)^2/2, a little more by rounding */
    setting s = set_up(terms_of(N, C, T), 10 * 0.25 / 8.0 + 4 * 0.5 + 1e-6, false);
    pn_terms t = s.terms;
    pn_message reply = { 0 };

    t.records = t.sketch.m = t.sketch.n = N + 1;
    refuses_terms(&s, t, "51 records");
    t = s.terms;
    t.columns = t.sampled = C + 1;
    refuses_terms(&s, t, "5 columns");
    t = s.terms;
    t.feature_bound = 0.999;
    refuses_terms(&s, t, "every |feature|");
    t = s.terms;
    t.label_bound = 0.5;
    refuses_terms(&s, t, "every |label|");
    t = s.terms;
    t.simulated = false;
    refuses_terms(&s, t, "this party's is seeded");
    t = s.terms;
    t.is_private = false;
    t.epsilon0 = t.sigma_feature = 0.0;
    refuses_terms(&s, t, "without noise");
    t = s.terms;
    t.loss = PN_FEDERATED_LOGISTIC;
    refuses_terms(&s, t, "labels -1 and 1");
    t = s.terms;
    t.neighbours = PN_ZERO_OUT;
    refuses_terms(&s, t, "zero_out");
    t = s.terms;
    t.iterations = T + 1;
    refuses_terms(&s, t, "Remaining");
    t = s.terms;
    t.sigma_feature = 1.99;
    refuses_terms(&s, t, "Remaining");
    t = s.terms;
    t.epsilon0 = NAN;
    refuses_terms(&s, t, "epsilon0");
    refuses_terms(&s, sketched(s.terms, PN_SKETCH_GAUSSIAN, 1u << 20), "rows");
    CHECK(ask_terms(s.party, &s.terms, &reply) == PN_MESSAGE_READY);
    pn_message_clear(&reply);
    tear_down(&s);
}

static void parties_that_cannot_protect_are_not_opened(void)
{
    enum { N = 20, C = 3 };
    records r = records_new(N, C, 1.0, false, 1);
    pn_ledger *ledger = ledger_of(1.0, PN_REPLACE_ONE);
    pn_dataset *raw = NULL, *rows = NULL, *data = dataset_of(&r, false);
    pn_party_options options = { .ledger = ledger };
    pn_party *party = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&raw, r.x, N, C, r.y, "raw", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&rows, raw, PN_LINF, 1.0, NULL) == PN_OK);
    CHECK(pn_party_new(&party, &options, &err) == PN_EINVAL);
    options.data = raw;
    CHECK(pn_party_new(&party, &options, &err) == PN_EPRIVACY && strstr(err.message, "feature"));
    options.data = rows;
    CHECK(pn_party_new(&party, &options, &err) == PN_EPRIVACY && strstr(err.message, "labels"));
    options.data = data;
    options.columns = C + 1;
    CHECK(pn_party_new(&party, &options, &err) == PN_EINVAL);
    options.columns = 1;
    options.first = C;
    CHECK(pn_party_new(&party, &options, &err) == PN_EINVAL);
    options.first = 1;
    options.checkpoint = "somewhere";
    CHECK(pn_party_new(&party, &options, &err) == PN_EINVAL && strstr(err.message, "file"));
    options.checkpoint = NULL;
    options.ledger = NULL;
    CHECK(pn_party_new(&party, &options, &err) == PN_EINVAL && strstr(err.message, "ledger"));
    options.ledger = ledger;
    CHECK(pn_party_new(&party, &options, &err) == PN_OK && pn_party_columns(party) == 1);
    CHECK(party->data.dense[3] == r.x[3 * C + 1]);
    pn_party_free(party);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
    records_free(&r);
}

static void spoil(pn_message *request, pn_rng *rng)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY, 1e308, 1e99, -1e99, 5e-324, 0.0, 1.0, -3.0 };
    double value = odd[pn_rng_below(rng, sizeof odd / sizeof *odd)];

    switch (pn_rng_below(rng, 12)) {
    case 0:
        request->kind = (pn_message_kind)pn_rng_below(rng, 14);
        break;
    case 1:
        request->round = pn_rng_below(rng, 2) ? pn_rng_u64(rng) : pn_rng_below(rng, 40);
        break;
    case 2:
        request->run[pn_rng_below(rng, PN_RUN_ID)] ^= 1;
        break;
    case 3:
        request->party = (uint32_t)pn_rng_below(rng, 3);
        break;
    case 4:
        request->count = pn_rng_below(rng, request->count + 1);
        break;
    case 5:
        request->size = pn_rng_below(rng, request->size + 1);
        break;
    case 6:
        if (request->count)
            request->index[pn_rng_below(rng, request->count)] = (uint32_t)pn_rng_u64(rng);
        break;
    case 7:
        if (request->count)
            request->value[pn_rng_below(rng, request->count)] = value;
        break;
    case 8:
        if (request->size)
            request->vector[pn_rng_below(rng, request->size)] = value;
        break;
    case 9:
        request->column = (uint32_t)pn_rng_below(rng, 6);
        break;
    default: /* as it is */
        break;
    }
}

/* Rounds, fetches and terms with something wrong, in any order: all are answered,
 * and no more is paid for than a run has. */
static void no_request_makes_it_crash_or_overspend(void)
{
    enum { N = 30, C = 4, T = 30, TRIES = 20000 };
    setting s = set_up(sketched(terms_of(N, C, T), PN_SKETCH_SPARSE, 9), 1e6, false);
    pn_message reply = { 0 }, request;
    double x[C] = { 0.2, -0.3, 0.1, 0.0 }, q[9] = { 0.5, -0.25, 1.0 };
    size_t kinds_seen[PN_MESSAGE_REFUSED + 1] = { 0 };
    pn_party_report report;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 31, NULL) == PN_OK);
    for (int i = 0; i < TRIES; i++) {
        uint64_t what = pn_rng_below(rng, 8);

        request = round_of(&s.terms, s.party->rounds + pn_rng_below(rng, 2), x, q);
        request.kind = what < 2 ? PN_MESSAGE_TERMS : what < 4 ? PN_MESSAGE_FETCH : PN_MESSAGE_ROUND;
        request.column = (uint32_t)pn_rng_below(rng, C);
        CHECK(pn_terms_copy(&request.terms, &s.terms, NULL) == PN_OK);
        for (uint64_t faults = pn_rng_below(rng, 3); faults > 0; faults--)
            spoil(&request, rng);
        if (memcmp(request.run, s.terms.run, PN_RUN_ID) == 0 && pn_rng_below(rng, 2))
            memcpy(request.terms.run, request.run, PN_RUN_ID);
        kinds_seen[ask(s.party, request, &reply)]++;
    }
    CHECK(pn_party_report_of(s.party, &report, NULL) == PN_OK);
    CHECK(report.selections <= T && report.features <= C);
    CHECK(charged(s.ledger, ": selection") == report.selections && charged(s.ledger, ": feature") == report.features);
    CHECK(kinds_seen[PN_MESSAGE_CHOICE] > 100 && kinds_seen[PN_MESSAGE_FEATURE] > 100);
    CHECK(kinds_seen[PN_MESSAGE_READY] > 100 && kinds_seen[PN_MESSAGE_REFUSED] > 1000);
    CHECK(report.selections > 10);
    pn_rng_free(rng);
    pn_message_clear(&reply);
    tear_down(&s);
}

/* ---- ends and other modes ---- */

static void a_new_run_has_new_noise(void)
{
    enum { N = 40, C = 1 };
    setting s = set_up(terms_of(N, C, 5), 1e6, false);
    pn_message reply = { 0 }, done;
    pn_party_report report;
    double first[N], model[C];
    pn_terms next = s.terms;

    s.terms.stay = next.stay = false; /* one column: it is always chosen */
    next.run[0] = 'x';
    CHECK(ask_terms(s.party, &s.terms, &reply) == PN_MESSAGE_READY);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE && llabs(reply.code) == 1);
    CHECK(ask_feature(s.party, &s.terms, 1, 0, &reply) == PN_MESSAGE_FEATURE);
    memcpy(first, reply.vector, sizeof first);
    done = round_of(&s.terms, 0, (double[]){ 0.25 }, NULL);
    done.kind = PN_MESSAGE_DONE;
    CHECK(ask(s.party, done, &reply) == PN_MESSAGE_NONE);
    CHECK(pn_party_report_of(s.party, &report, NULL) == PN_OK);
    pn_party_model(s.party, model);
    CHECK(report.phase == PN_PARTY_DONE && report.last && report.last->kind == PN_MESSAGE_DONE && model[0] == 0.25);
    CHECK(ask(s.party, round_of(&s.terms, 2, NULL, NULL), &reply) == PN_MESSAGE_REFUSED);
    done = round_of(&s.terms, 0, (double[]){ -0.5 }, NULL); /* of a server that came back */
    done.kind = PN_MESSAGE_DONE;
    CHECK(ask(s.party, done, &reply) == PN_MESSAGE_NONE);
    pn_party_model(s.party, model);
    CHECK(model[0] == -0.5);
    done = round_of(&s.terms, 0, (double[]){ 7.0 }, NULL);
    done.kind = PN_MESSAGE_DONE;
    CHECK(ask(s.party, done, &reply) == PN_MESSAGE_REFUSED);

    for (int again = 0; again < 2; again++) { /* another run, and then the first one's name again */
        CHECK(ask_terms(s.party, again ? &s.terms : &next, &reply) == PN_MESSAGE_READY);
        CHECK(ask(s.party, round_of(again ? &s.terms : &next, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
        CHECK(ask_feature(s.party, again ? &s.terms : &next, 1, 0, &reply) == PN_MESSAGE_FEATURE);
        for (size_t j = 0; j < N; j++)
            CHECK(reply.vector[j] != first[j]);
        CHECK(ask(s.party, request_of(PN_MESSAGE_REFUSED, again ? &s.terms : &next, 0), &reply) == PN_MESSAGE_NONE);
    }
    CHECK(charged(s.ledger, ": selection") == 3 && charged(s.ledger, ": feature") == 3);
    CHECK(pn_party_report_of(s.party, &report, NULL) == PN_OK);
    CHECK(report.phase == PN_PARTY_REFUSED && report.last && report.last->kind == PN_MESSAGE_REFUSED);
    pn_message_clear(&reply);
    tear_down(&s);
}

/* The sketch is given back when a run ends; when it goes on the party makes it again and hands out what it handed out
 * before. */
static void a_run_that_was_stopped_goes_on(void)
{
    enum { N = 60, C = 2, M = 16 };
    setting s = set_up(sketched(terms_of(N, C, 5), PN_SKETCH_GAUSSIAN, M), 1e6, false);
    const double q[M] = { 0.1, -0.2, 0.3 };
    pn_message reply = { 0 };
    pn_party_report before, after;
    double first[M];
    uint32_t column = 0;

    s.terms.stay = false;
    CHECK(ask_terms(s.party, &s.terms, &reply) == PN_MESSAGE_READY);
    if (CHECK(ask(s.party, round_of(&s.terms, 1, NULL, q), &reply) == PN_MESSAGE_CHOICE && reply.code != 0))
        column = (uint32_t)llabs(reply.code) - 1;
    CHECK(ask_feature(s.party, &s.terms, 1, column, &reply) == PN_MESSAGE_FEATURE && reply.size == M);
    memcpy(first, reply.vector, sizeof first);
    CHECK(pn_party_report_of(s.party, &before, NULL) == PN_OK);
    CHECK(ask(s.party, request_of(PN_MESSAGE_REFUSED, &s.terms, 0), &reply) == PN_MESSAGE_NONE);
    CHECK(pn_party_report_of(s.party, &after, NULL) == PN_OK);
    CHECK(after.phase == PN_PARTY_REFUSED);
    CHECK(before.rho > 0.0 && after.rho == before.rho && after.epsilon == before.epsilon);
    CHECK(ask_terms(s.party, &s.terms, &reply) == PN_MESSAGE_READY);
    CHECK(ask_feature(s.party, &s.terms, 1, column, &reply) == PN_MESSAGE_FEATURE);
    CHECK(reply.vector && memcmp(first, reply.vector, sizeof first) == 0);
    CHECK(charged(s.ledger, ": selection") == 1 && charged(s.ledger, ": feature") == 1);
    pn_message_clear(&reply);
    tear_down(&s);
}

static void ball_mode_releases_scores_in_units_of_their_sensitivity(void)
{
    enum { N = 400, C = 3, T = 30 };

    for (int stay = 0; stay < 2; stay++) {
        pn_terms terms = terms_of(N, C, T);
        pn_message choice = { 0 }, request;
        party_scores scores;
        setting s;
        host h;

        terms.mode = PN_FEDERATED_BALL;
        terms.stay = stay;
        terms.sampled = stay ? 2 : 3;
        terms.sigma_score = 1e-3;
        terms.epsilon0 = 100.0;
        s = set_up(terms, 1e9, false);
        h = host_new(s.party, &terms);
        for (int t = 0; t < T; t++) {
            size_t best = 0;

            request = round_of(&terms, h.rounds + 1, h.x, h.q);
            CHECK(party_scores_of(s.party, &request, &scores, NULL, NULL) == PN_OK);
            CHECK(scores.candidates == 2 * terms.sampled); /* "stay" is not among them */
            host_step(&h, &choice);
            while (scores.columns[best / 2] + 1 != (uint32_t)llabs(choice.code) || (best % 2 == 0) != (choice.code > 0))
                best++;
            CHECK_CLOSE(choice.score, -scores.score[best] / scores.unit, 8e-3); /* 8 sigma */
            CHECK(choice.score < 0.0);
            if (stay)
                CHECK_CLOSE(choice.stay_score, scores.stay / scores.unit, 8e-3);
            else
                CHECK(isnan(choice.stay_score));
            party_scores_clear(&scores);
            pn_message_clear(&request);
        }
        CHECK(charged(s.ledger, ": score") == T && charged(s.ledger, ": selection") == T);
        pn_message_clear(&choice);
        host_free(&h);
        tear_down(&s);
    }
}

static void paper_mode_takes_the_largest_noisy_entry(void)
{
    enum { N = 100, C = 4 };
    pn_terms terms = terms_of(N, C, 3);
    pn_message reply = { 0 }, request;
    party_scores scores;
    setting s;
    size_t best = 0;

    terms.mode = PN_FEDERATED_PAPER;
    terms.epsilon0 = 0.0;
    terms.laplace_scale = 1e-6;
    terms.stay = false;
    s = set_up(terms, 1e18, false);
    CHECK(ask_terms(s.party, &terms, &reply) == PN_MESSAGE_READY);
    request = round_of(&terms, 1, NULL, NULL);
    CHECK(party_scores_of(s.party, &request, &scores, NULL, NULL) == PN_OK);
    for (size_t i = 1; i < C; i++)
        best = fabs(scores.gradient[i]) > fabs(scores.gradient[best]) ? i : best;
    CHECK(ask(s.party, request, &reply) == PN_MESSAGE_CHOICE);
    CHECK(reply.code == (scores.gradient[best] > 0.0 ? -1 : 1) * (int64_t)(best + 1) && isnan(reply.score));
    CHECK(charged(s.ledger, ": selection") == 1);
    party_scores_clear(&scores);
    pn_message_clear(&reply);
    tear_down(&s);
}

static void both_ledgers_pay_or_neither(void)
{
    enum { N = 40, C = 2, T = 4 };
    records r = records_new(N, C, 1.0, false, 1);
    pn_dataset *data = dataset_of(&r, false);
    /* room for the run, all of it at once; then somebody else spends */
    pn_ledger *own = ledger_of(1e3, PN_REPLACE_ONE), *overall = ledger_of(10.0, PN_REPLACE_ONE);
    pn_party_options options = { .data = data, .ledger = own, .overall = overall };
    pn_terms terms = terms_of(N, C, T);
    pn_message reply = { 0 };
    pn_party *party = NULL;
    pn_event *event = NULL;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    options.rng = rng;
    CHECK(pn_party_new(&party, &options, NULL) == PN_OK);
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    CHECK(ask(party, round_of(&terms, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
    CHECK(charged(own, ": selection") == 1 && charged(overall, ": selection") == 1);
    CHECK(pn_event_gaussian(&event, 1.0, sqrt(2.0 * 9.96), 0, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_ledger_spend(overall, event, 1, "else", NULL) == PN_OK);
    CHECK(ask(party, round_of(&terms, 2, NULL, NULL), &reply) == PN_MESSAGE_REFUSED && refused(&reply, "Remaining"));
    CHECK(charged(own, ": selection") == 1 && charged(overall, ": selection") == 1);
    pn_event_free(event);
    pn_message_clear(&reply);
    pn_rng_free(rng);
    pn_party_free(party);
    pn_ledger_free(own);
    pn_ledger_free(overall);
    pn_dataset_free(data);
    records_free(&r);
}

int main(void)
{
    gradients_are_exact_without_sketch_and_noise();
    a_party_without_noise_reaches_the_optimum_from_samples();
    the_ledger_counts_what_was_released();
    a_repeated_request_gives_the_same_bytes_and_costs_nothing();
    requests_that_make_no_sense_are_refused_for_nothing();
    terms_that_it_cannot_keep_are_refused();
    parties_that_cannot_protect_are_not_opened();
    no_request_makes_it_crash_or_overspend();
    a_new_run_has_new_noise();
    a_run_that_was_stopped_goes_on();
    ball_mode_releases_scores_in_units_of_their_sensitivity();
    paper_mode_takes_the_largest_noisy_entry();
    both_ledgers_pay_or_neither();
    return check_summary();
}
