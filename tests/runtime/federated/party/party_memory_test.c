/* party_memory_test.c -- parties when memory runs out: whatever fails, the same question is answered once there is some
 * again, also by a party that was closed in between, and each release is paid for once.
 * Depends on: check.h, fail_alloc.h, party_kit.h, geometry, POSIX. */
#define _GNU_SOURCE
#include <unistd.h>

#include "fail_alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"
#include "runtime/federated/party/party_kit.h"

enum { N = 20, C = 4 };

static char folder[64], ledger_path[96], checkpoint[96];

/* The terms of a run, and whether its party keeps a checkpoint. */
typedef struct setting {
    const pn_dataset *data;
    pn_terms terms;
    bool kept;
} setting;

static pn_status open_party(pn_party **out, const setting *s, pn_ledger *ledger, pn_err *err)
{
    pn_party_options options = { .data = s->data, .ledger = ledger, .checkpoint = s->kept ? checkpoint : NULL };
    pn_status status = PN_OK;

    *out = NULL;
    if (s->terms.simulated)
        PN_TRY(pn_rng_seeded(&options.rng, 1, err));
    status = pn_party_new(out, &options, err);
    pn_rng_free(options.rng);
    return status;
}

static void remove_files(void)
{
    static const char *const names[] = { "ledger", "ledger.head", "ledger.key", "party" };
    char path[96];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
}

static pn_status open_ledger(pn_ledger **out, const setting *s, pn_err *err)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 1e6, .teaching = s->terms.simulated };

    return s->kept ? pn_ledger_open(out, ledger_path, NULL, &budget, err) : pn_ledger_new(out, &budget, err);
}

/* Whether it failed, and is to be tried again; *fell becomes PN_ENOMEM then, once in a run. */
static bool failed(pn_status status, pn_status *fell)
{
    if (status == PN_OK)
        return false;
    CHECK(status == PN_ENOMEM && *fell == PN_OK);
    *fell = status;
    return true;
}

static void exchange(pn_party *party, pn_message request, pn_message *reply, pn_status *fell, pn_err *err)
{
    if (!failed(pn_party_answer(party, &request, reply, NULL, err), fell))
        return;
    CHECK(reply->kind == PN_MESSAGE_NONE);
    CHECK(pn_party_answer(party, &request, reply, NULL, NULL) == PN_OK);
}

/* A round, and the upload of a column that it moves. */
static void play_round(pn_party *party, const setting *s, uint64_t round, pn_message *reply, pn_status *fell,
                       pn_err *err)
{
    double nothing[N] = { 0.0 };
    pn_message request = request_of(PN_MESSAGE_ROUND, &s->terms, round), fetch;

    request.vector = nothing;
    request.size = s->terms.sketch.m;
    exchange(party, request, reply, fell, err);
    if (!CHECK(reply->kind == PN_MESSAGE_CHOICE))
        return;
    fetch = request_of(PN_MESSAGE_FETCH, &s->terms, round);
    fetch.column = s->terms.block ? C - 1 : (uint32_t)llabs(reply->code) - 1;
    exchange(party, fetch, reply, fell, err);
    CHECK(reply->kind == PN_MESSAGE_FEATURE && reply->size == s->terms.sketch.m);
}

/* Two rounds; a party that is kept is another one in the second. */
static void play(pn_party *party, const setting *s, pn_ledger *ledger, pn_status *fell, pn_err *err)
{
    pn_message terms = request_of(PN_MESSAGE_ROUND, &s->terms, 0), reply = { 0 };
    pn_party_report report;

    terms.kind = PN_MESSAGE_TERMS;
    terms.terms = s->terms;
    exchange(party, terms, &reply, fell, err);
    CHECK(reply.kind == PN_MESSAGE_READY);
    play_round(party, s, 1, &reply, fell, err);
    if (s->kept) {
        pn_party_free(party);
        if (failed(open_party(&party, s, ledger, err), fell))
            CHECK(open_party(&party, s, ledger, NULL) == PN_OK);
    }
    play_round(party, s, 2, &reply, fell, err);
    exchange(party, request_of(PN_MESSAGE_DONE, &s->terms, 2), &reply, fell, err);
    if (failed(pn_party_report_of(party, &report, err), fell))
        CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(report.phase == PN_PARTY_DONE && report.selections == 2);
    CHECK(isnan(report.person_epsilon) == (s->terms.mode == PN_FEDERATED_PAPER));
    CHECK(charged(ledger, ": selection") == 2 && charged(ledger, ": feature") == report.features);
    pn_message_clear(&reply);
    pn_party_free(party);
}

static pn_status run(void *self, pn_err *err)
{
    const setting *s = self;
    pn_ledger *ledger = NULL;
    pn_party *party = NULL;
    pn_status status;

    remove_files();
    status = open_ledger(&ledger, s, err);
    if (status == PN_OK)
        status = open_party(&party, s, ledger, err);
    if (status == PN_OK)
        play(party, s, ledger, &status, err);
    pn_ledger_free(ledger);
    return status;
}

/* Of two coordinates of three, and an interval. */
static void make_block(pn_terms *terms)
{
    const pn_param *params = pn_set_find("hypersimplex")->params;
    pn_arg hyper[8] = { { 0 } }, interval[8] = { { 0 } };
    pn_set *parts[2] = { NULL, NULL }, *set = NULL;

    hyper[pn_param_find(params, "dim")] = (pn_arg){ .given = true, .count = C - 1 };
    hyper[pn_param_find(params, "k")] = (pn_arg){ .given = true, .count = 2 };
    hyper[pn_param_find(params, "radius")] = (pn_arg){ .given = true, .real = 0.5 };
    params = pn_set_find("linf_ball")->params;
    interval[pn_param_find(params, "dim")] = (pn_arg){ .given = true, .count = 1 };
    interval[pn_param_find(params, "radius")] = (pn_arg){ .given = true, .real = 1.0 };
    CHECK(pn_set_from_args(&parts[0], "hypersimplex", hyper, NULL) == PN_OK);
    CHECK(pn_set_from_args(&parts[1], "linf_ball", interval, NULL) == PN_OK);
    CHECK(pn_set_product(&set, parts[0], parts[1], NULL) == PN_OK);
    CHECK(pn_block_write(&terms->block, &terms->block_size, set, NULL) == PN_OK);
    terms->radius = set->ops->radius(set, PN_L1);
    terms->features = C;
    pn_set_free(parts[0]);
    pn_set_free(parts[1]);
    pn_set_free(set);
}

/* In memory, where that is a place for files: a round may sync a dozen times. */
static bool make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "%s/penumbra-party-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!CHECK(mkdtemp(folder) != NULL))
        return false;
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/ledger", folder);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/party", folder);
    return true;
}

int main(void)
{
    records r = records_new(N, C, 0.5, false, 9);
    pn_dataset *data = dataset_of(&r, false);
    setting product = { .data = data, .terms = sketched(terms_of(N, C, 2), PN_SKETCH_GAUSSIAN, 6) }, article, kept;

    if (!make_folder())
        return check_summary();
    product.terms.stay = false;
    article = kept = product;
    article.terms.mode = PN_FEDERATED_PAPER;
    article.terms.epsilon0 = 0.0;
    article.terms.laplace_scale = 0.5;
    kept.kept = true;
    kept.terms.simulated = false;
    make_block(&kept.terms);
    fail_alloc_sweep("party", run, &product);
    fail_alloc_sweep("party of the article", run, &article);
    fail_alloc_sweep("party that is kept", run, &kept);
    pn_terms_drop(&kept.terms);
    pn_dataset_free(data);
    records_free(&r);
    remove_files();
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
