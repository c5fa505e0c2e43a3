/* by_name_test.c -- whatever is made by name takes its options by name, and refuses others in its own words.
 * Depends on: check.h. */
#include <string.h>

#include "core/options.h"
#include "geometry/potentials/potential.h"
#include "geometry/prox/prox.h"
#include "geometry/sets/sets.h"
#include "objective/losses/loss.h"
#include "objective/regularisers/regulariser.h"
#include "privacy/accounting/accountant.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/mechanism/sampler.h"
#include "solvers/catalogue/solvers.h"

#include "check.h"

/* What `call` says of an option that nothing takes begins with the name of what was asked for. */
#define REFUSES(owner, call)                                                                                           \
    do {                                                                                                               \
        CHECK((call) == PN_EINVAL);                                                                                    \
        (void)snprintf(wanted, sizeof wanted, "%s: unknown option \"no such option\"; ", owner);                       \
        if (!CHECK(strncmp(err.message, wanted, strlen(wanted)) == 0))                                                 \
            (void)fprintf(stderr, "    message: %s\n", err.message);                                                   \
    } while (0)

/* Every row of a family: few enough options, and the words of its refusal. */
#define SWEEP(family, table, type, create)                                                                             \
    for (size_t i = 0; (table)[i]; i++) {                                                                              \
        type *out = NULL;                                                                                              \
                                                                                                                       \
        CHECK(pn_param_count((table)[i]->params) <= PN_ARGS_MAX);                                                      \
        (void)snprintf(owner, sizeof owner, "%s.%s", family, (table)[i]->name);                                        \
        REFUSES(owner, create(&out, (table)[i]->name, options, &err));                                                 \
        CHECK(out == NULL);                                                                                            \
    }                                                                                                                  \
    do {                                                                                                               \
        type *out = NULL;                                                                                              \
                                                                                                                       \
        CHECK(create(&out, "no such name", options, &err) == PN_EUNSUPPORTED);                                         \
        CHECK(strstr(err.message, "no such name") != NULL && strstr(err.message, (table)[0]->name) != NULL);           \
    } while (0)

static pn_status make_plan(pn_plan **out, const char *name, const pn_options *options, pn_err *err)
{
    return pn_plan_new(out, name, NULL, NULL, options, NULL, err);
}

static void every_row_knows_its_options(void)
{
    pn_options *options;
    char owner[80], wanted[160];
    pn_err err;

    CHECK(pn_options_new(&options, &err) == PN_OK);
    pn_options_count(options, "no such option", 1);
    SWEEP("set", pn_set_table(), pn_set, pn_set_new);
    SWEEP("norm", pn_norm_table(), pn_norm, pn_norm_new);
    SWEEP("potential", pn_potential_table(), pn_potential, pn_potential_new);
    SWEEP("prox", pn_prox_table(), pn_prox, pn_prox_new);
    SWEEP("loss", pn_loss_table(), pn_loss, pn_loss_new);
    SWEEP("reg", pn_regulariser_table(), pn_regulariser, pn_regulariser_new);
    SWEEP("event", pn_event_table(), pn_event, pn_event_new);
    SWEEP("accountant", pn_accountant_table(), pn_accountant, pn_accountant_new);
    SWEEP("mechanism", pn_mechanism_table(), pn_mechanism, pn_mechanism_new);
    SWEEP("sampler", pn_sampler_table(), pn_sampler, pn_sampler_new);
    SWEEP("solve", pn_solver_table(), pn_plan, make_plan);
    pn_options_free(options);
}

static void events_take_their_relation_by_name(void)
{
    pn_options *options;
    pn_event *event = NULL;
    pn_err err;

    CHECK(pn_options_new(&options, &err) == PN_OK);
    pn_options_set(options, "sigma", "2");
    pn_options_set(options, "sensitivity", "1");
    pn_options_set(options, "neighbours", "add_remove");
    CHECK(pn_event_new(&event, "gaussian", options, &err) == PN_OK && event->neighbours == PN_ADD_REMOVE);
    pn_event_free(event);
    pn_options_free(options);
    CHECK(pn_options_new(&options, &err) == PN_OK);
    pn_options_set(options, "sigma", "2");
    pn_options_set(options, "sensitivity", "1");
    pn_options_set(options, "neighbours", "next door");
    CHECK(pn_event_new(&event, "gaussian", options, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "event.gaussian: neighbours must be \"replace_one\", ") != NULL);
    pn_options_free(options);
}

static void sets_are_as_asked_for(void)
{
    const double center[] = { 1.0, 2.0, 3.0 };
    pn_options *options;
    pn_set *set = NULL;
    double radius = 0.0;
    bool inside = false;
    pn_err err;

    CHECK(pn_options_new(&options, &err) == PN_OK);
    pn_options_count(options, "dim", 3);
    pn_options_real(options, "radius", 2.5);
    CHECK(pn_set_new(&set, "l2_ball", options, &err) == PN_OK && set->dim == 3);
    CHECK(pn_set_is(set, "l2_ball", &radius) && radius == 2.5);
    CHECK(pn_set_dim(set) == 3 && pn_set_radius(set, PN_L2) >= 2.5 && pn_set_diameter(set, PN_L2) >= 5.0);
    CHECK(pn_set_radius(set, PN_LINF) <= 2.5 + 1e-9 && pn_set_diameter(set, PN_L2) <= 5.0 + 1e-9);
    pn_set_free(set);
    pn_options_vector(options, "center", center, 3);
    CHECK(pn_set_new(&set, "l2_ball", options, &err) == PN_OK);
    pn_options_free(options); /* the set has copied what it needs */
    CHECK(pn_set_contains(set, center, 3, 0.0, &inside, &err) == PN_OK && inside);
    pn_set_free(set);
}

static void releases_tell_their_price(void)
{
    pn_options *options;
    pn_mechanism *mechanism = NULL;
    pn_accountant *accountant = NULL;
    pn_event *event;
    double epsilon = 0.0, delta = 0.0;
    char text[80];
    pn_err err;

    CHECK(pn_options_new(&options, &err) == PN_OK);
    pn_options_real(options, "sigma", 4.0);
    pn_options_real(options, "sensitivity", 1.0);
    CHECK(pn_mechanism_new(&mechanism, "gaussian", options, &err) == PN_OK && pn_mechanism_scale(mechanism) == 4.0);
    pn_options_free(options);
    pn_mechanism_describe(mechanism, text, sizeof text);
    if (!CHECK(strstr(text, "gaussian") != NULL))
        (void)fprintf(stderr, "    %s\n", text);
    event = pn_mechanism_event(mechanism);
    CHECK(pn_event_neighbours(event) == PN_REPLACE_ONE && strcmp(pn_neighbours_name(PN_ZERO_OUT), "zero_out") == 0);
    CHECK_CLOSE(pn_event_zcdp(event), 1.0 / 32.0, 1e-6); /* sensitivity^2 / (2 sigma^2) */
    CHECK_CLOSE(pn_event_rdp(event, 3.0), 3.0 / 32.0, 1e-6);
    CHECK(pn_accountant_new(&accountant, "rdp", NULL, &err) == PN_OK);
    CHECK(pn_accountant_add(accountant, event, 4, &err) == PN_OK);
    CHECK(pn_accountant_epsilon(accountant, 1e-6, &epsilon, &err) == PN_OK && epsilon > 2.0 && epsilon < 3.0);
    CHECK(pn_accountant_delta(accountant, epsilon, &delta, &err) == PN_OK && delta <= 1e-6 * (1.0 + 1e-9));
    CHECK(pn_accountant_epsilon(accountant, 1.0, &epsilon, &err) == PN_EINVAL);
    CHECK(pn_accountant_delta(accountant, -1.0, &delta, &err) == PN_EINVAL);
    pn_accountant_free(accountant);
    pn_mechanism_free(mechanism);
}

static void a_sampler_shows_its_batch(void)
{
    pn_options *options;
    pn_sampler *sampler = NULL;
    pn_rng *rng = NULL;
    size_t count = 0;
    pn_err err;

    CHECK(pn_options_new(&options, &err) == PN_OK && pn_rng_seeded(&rng, 1, &err) == PN_OK);
    pn_options_count(options, "n", 20);
    pn_options_count(options, "batch", 5);
    CHECK(pn_sampler_new(&sampler, "fixed", options, &err) == PN_OK);
    pn_options_free(options);
    CHECK(pn_sampler_draw(sampler, rng, &count, &err) == PN_OK && count == 5 && pn_sampler_batch(sampler)[4] < 20);
    pn_sampler_free(sampler);
    CHECK(pn_sampler_new(&sampler, "with_replacement", NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "sampler.with_replacement: there is no such scheme") != NULL);
    pn_rng_free(rng);
}

int main(void)
{
    every_row_knows_its_options();
    events_take_their_relation_by_name();
    sets_are_as_asked_for();
    releases_tell_their_price();
    a_sampler_shows_its_batch();
    return check_summary();
}
