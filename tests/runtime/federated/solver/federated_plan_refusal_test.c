/* federated_plan_refusal_test.c -- what a federated plan refuses, and that it does so without a leak.
 * Depends on: federated_plan_kit.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "objective/regularisers/regulariser.h"
#include "runtime/federated/solver/federated_plan_kit.h"

/* Exchange a part of the problem. */
static void use_parts(fixture *f, pn_dataset *data, pn_loss *loss, pn_set *set, double clip)
{
    pn_objective_parts parts = { .data = data, .loss = loss, .set = set, .clip = clip };

    pn_objective_free(f->objective);
    CHECK(pn_objective_new(&f->objective, &parts, NULL) == PN_OK);
}

static void losses_that_parties_do_not_know(void)
{
    pn_loss *hinge = NULL;
    fixture f;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    CHECK(pn_loss_from_args(&hinge, "hinge", NULL, NULL) == PN_OK);
    use_parts(&f, f.data, hinge, f.set, 0.0);
    refuses(&f, PN_EUNSUPPORTED, "the losses \"squared\" and \"logistic\" by name, this one is \"hinge\"");
    pn_loss_free(hinge);
    close_fixture(&f);
}

static void sets_that_are_no_l1_ball_about_zero(void)
{
    const double shift[6] = { 0.5, 0.0, 0.0, 0.0, 0.0, 0.0 };
    pn_set *shifted = NULL, *scaled = NULL;
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    use_parts(&f, f.data, f.loss, NULL, 0.0);
    refuses(&f, PN_EINVAL, "no constraint set; give set=pn.set.l1_ball");
    CHECK(pn_set_shift(&shifted, f.set, shift, 6, NULL) == PN_OK);
    use_parts(&f, f.data, f.loss, shifted, 0.0);
    refuses(
        &f, PN_EUNSUPPORTED,
        "a product of one set for each party; of party 1, coordinates 1 to 3 cut through the l1_ball of coordinates "
        "1 to 6");
    CHECK(pn_set_scale(&scaled, f.set, -2.0, NULL) == PN_OK);
    use_parts(&f, f.data, f.loss, scaled, 0.0);
    use_rounds(&f, 3);
    plan = plan_of(&f); /* -2 B is 2 B */
    CHECK(plan->terms[0].radius == 1.0);
    drop(plan);
    use_parts(&f, f.data, f.loss, f.set, 1.0);
    refuses(&f, PN_EUNSUPPORTED, "leave clip out of the objective");
    pn_set_free(shifted);
    pn_set_free(scaled);
    close_fixture(&f);
}

static void records_without_bounds(void)
{
    const double X[] = { 1.0, 2.0, 3.0, 4.0 }, y[] = { 1.0, -1.0 };
    pn_dataset *raw = NULL, *clipped = NULL;
    pn_set *set = ball_of(2, 1.0);
    fixture f;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    CHECK(pn_dataset_from_dense(&raw, X, 2, 2, y, "test", NULL) == PN_OK);
    use_parts(&f, raw, f.loss, set, 0.0);
    refuses(&f, PN_EPRIVACY, "data:clip_rows(\"linf\", 1)");
    CHECK(pn_dataset_clip_rows(&clipped, raw, PN_LINF, 1.0, NULL) == PN_OK);
    use_parts(&f, clipped, f.loss, set, 0.0);
    refuses(&f, PN_EPRIVACY, "data:clip_labels(-1, 1)");
    f.request.kind = PN_NONPRIVATE; /* parties enforce bounds whatever they release */
    refuses(&f, PN_EPRIVACY, "data:clip_labels(-1, 1)");
    use_parts(&f, f.data, f.loss, f.set, 0.0);
    pn_dataset_free(clipped);
    pn_dataset_free(raw);
    pn_set_free(set);
    close_fixture(&f);
}

static void a_regulariser(void)
{
    const char *name = "l2";
    pn_regulariser *reg = NULL;
    pn_objective_parts parts = { 0 };
    pn_arg args[8] = { { .given = true, .real = 0.1 } };
    fixture f;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    CHECK(pn_regulariser_from_args(&reg, name, args, NULL) == PN_OK);
    parts = (pn_objective_parts){ .data = f.data, .loss = f.loss, .set = f.set, .reg = reg };
    pn_objective_free(f.objective);
    CHECK(pn_objective_new(&f.objective, &parts, NULL) == PN_OK);
    refuses(&f, PN_EUNSUPPORTED, "must not have a regulariser");
    pn_regulariser_free(reg);
    close_fixture(&f);
}

static void budgets_and_relations(void)
{
    fixture f;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    f.request.neighbours = PN_ADD_REMOVE;
    refuses(&f, PN_EUNSUPPORTED, "use \"replace_one\" or \"zero_out\"");
    f.request.neighbours = PN_REPLACE_ONE;
    f.request.delta = 0.0;
    refuses(&f, PN_EUNSUPPORTED, "no pure epsilon; give delta, or rho");
    f.request.delta = 1e-6;
    f.common[PN_OPT_CALIBRATION] = (pn_arg){ .given = true, .text = "paper" };
    refuses(&f, PN_EUNSUPPORTED, "use mode=\"paper\"");
    f.common[PN_OPT_CALIBRATION] = (pn_arg){ 0 };
    f.request = (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = 1e-30 };
    use_rounds(&f, 10);
    refuses(&f, PN_EUNSUPPORTED, "solve.federated_frank_wolfe"); /* rounding to the lattice alone costs more */
    f.request.rho = 1.0;
    use_choice(&f, FED_MODE, "paper");
    refuses(&f, PN_EUNSUPPORTED, "stated for epsilon and delta");
    close_fixture(&f);
}

static void starts_elsewhere(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    use_rounds(&f, 2);
    f.common[PN_OPT_START] = (pn_arg){ .given = true, .vector = { .data = f.vector, .n = 6 } };
    plan = plan_of(&f);
    drop(plan);
    f.vector[4] = 0.25;
    refuses(&f, PN_EUNSUPPORTED, "entry 5 of start is 0.25");
    close_fixture(&f);
}

static void parties_that_do_not_fit(void)
{
    fixture f;

    open_fixture(&f, "squared", 40, 6, 3, 1.0);
    f.transport.peers[0].columns = 4;
    f.transport.peers[1].columns = 3;
    f.transport.peers[2].columns = 1;
    refuses(&f, PN_EDIM, "the parties have 8 columns together, the objective has 6");
    f.transport.peers[1].columns = 2;
    f.transport.peers[2].columns = 0;
    refuses(&f, PN_EINVAL, "party 3 has no columns");
    f.transport.peers[2].columns = 1;
    f.transport.peers[1].columns = 1;
    f.transport.gathered = true;
    f.transport.records = 41;
    refuses(&f, PN_EDIM, "the parties have 41 records, the objective has 40");
    close_fixture(&f);
    open_fixture(&f, "squared", 40, 2, 3, 1.0);
    refuses(&f, PN_EINVAL, "2 columns are too few for 3 parties");
    close_fixture(&f);
}

static void samples_and_stay(void)
{
    fixture f;
    fed_plan *plan;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    use_rounds(&f, 2);
    use_number(&f, FED_SAMPLED, 4.0);
    refuses(&f, PN_EINVAL, "sampled is 4, but no party has more than 3 columns");
    use_number(&f, FED_SAMPLED, 2.0);
    use_choice(&f, FED_MODE, "ball");
    refuses(&f, PN_EINVAL, "leave sampled out, or let parties release what staying is worth, stay=true");
    use_number(&f, FED_STAY, 1.0);
    plan = plan_of(&f);
    CHECK(plan->terms[0].stay && plan->terms[1].sampled == 2);
    drop(plan);
    use_number(&f, FED_SAMPLED, 3.0);
    refuses(&f, PN_EINVAL, "staying is never the best");
    use_choice(&f, FED_MODE, "paper");
    refuses(&f, PN_EINVAL, "has no \"stay\"");
    use_choice(&f, FED_MODE, "product");
    use_number(&f, FED_SAMPLED, 1.0);
    use_number(&f, FED_STAY, 0.0);
    plan = plan_of(&f);
    CHECK(!plan->terms[0].stay && isnan(plan->base.bound) && strstr(plan->base.warnings[0], "does not converge"));
    drop(plan);
    close_fixture(&f);
}

static void radii_that_do_not_fit(void)
{
    fixture f;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    f.vector[0] = 0.6;
    f.vector[1] = 0.5;
    f.own[FED_RADII] = (pn_arg){ .given = true, .vector = { .data = f.vector, .n = 2 } };
    refuses(&f, PN_EINVAL, "radii sum to 1.1, which leaves the l1 ball of radius 1");
    f.vector[1] = -0.5;
    refuses(&f, PN_EINVAL, "entry 2 is -0.5");
    f.own[FED_RADII].vector.n = 3;
    refuses(&f, PN_EDIM, "radii has 3 entries, there are 2 parties");
    f.own[FED_RADII].vector.n = 2;
    use_choice(&f, FED_MODE, "ball");
    refuses(&f, PN_EINVAL, "radii are for mode=\"product\"");
    close_fixture(&f);
}

static void clips_and_sketches_that_do_not_fit(void)
{
    fixture f;

    open_fixture(&f, "logistic", 40, 6, 2, 1.0);
    use_number(&f, FED_CLIP, 1.0);
    refuses(&f, PN_EINVAL, "leave clip out");
    leave(&f, FED_CLIP);
    use_choice(&f, FED_MODE, "paper");
    refuses(&f, PN_EUNSUPPORTED, "stated for the squared loss");
    use_choice(&f, FED_MODE, "product");
    use_number(&f, FED_SKETCH_ROWS, 10.0);
    use_number(&f, FED_SKETCH_ACCURACY, 0.5);
    refuses(&f, PN_EINVAL, "either sketch.m or sketch.accuracy");
    leave(&f, FED_SKETCH_ACCURACY);
    use_choice(&f, FED_SKETCH_KIND, "identity");
    refuses(&f, PN_EINVAL, "keeps all 40 numbers of a column");
    use_choice(&f, FED_SKETCH_KIND, "gaussian");
    use_number(&f, FED_SKETCH_ROWS, 1e9);
    refuses(&f, PN_EINVAL, "sketch.m is 1000000000, at most 16777216");
    use_number(&f, FED_SKETCH_ROWS, 1025.0);
    refuses(&f, PN_EINVAL, "sketch.m asks for 1025 rows for 40 records, parties accept 1024 at most");
    leave(&f, FED_TRANSPORT);
    refuses(&f, PN_EINVAL, "transport");
    close_fixture(&f);
}

/* ---- short memory ---- */

static pn_status plan_and_drop(void *self, pn_err *err)
{
    fed_plan *plan = NULL;
    pn_status status = try_plan(self, &plan, err);

    if (status == PN_OK)
        drop(plan);
    return status;
}

static void short_memory_leaks_nothing(void)
{
    const char *const modes[] = { "product", "ball", "paper" };
    fixture f;

    open_fixture(&f, "squared", 40, 6, 2, 1.0);
    use_number(&f, FED_SKETCH_ROWS, 5.0);
    use_rounds(&f, 2);
    for (int i = 0; i < 3; i++) {
        bool reached = true;

        use_choice(&f, FED_MODE, modes[i]);
        for (long k = 1; reached; k++) { /* for good: a sketch can do without one of its blocks */
            fail_alloc count = { .fail_at = k, .for_good = true };
            pn_status status = fail_alloc_run(&count, plan_and_drop, &f);

            reached = atomic_load(&count.calls) >= k;
            CHECK(atomic_load(&count.live) == 0 && f.transport.references == 1);
            CHECK(status == (reached ? PN_ENOMEM : PN_OK));
        }
    }
    close_fixture(&f);
}

int main(void)
{
    losses_that_parties_do_not_know();
    sets_that_are_no_l1_ball_about_zero();
    records_without_bounds();
    a_regulariser();
    budgets_and_relations();
    starts_elsewhere();
    parties_that_do_not_fit();
    samples_and_stay();
    radii_that_do_not_fit();
    clips_and_sketches_that_do_not_fit();
    short_memory_leaks_nothing();
    return check_summary();
}
