/* set_test.c -- what Lua cannot ask of sets: every allocation may fail, references are counted, atoms add up.
 * Depends on: geometry/convex/set.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"

#define DIM 40

/* Arguments for a set of the table, by the names of its options; storage is static. */
static void example_args(const pn_param *params, pn_arg *args)
{
    static double low[DIM], high[DIM], rows[(DIM + 2) * DIM];

    for (size_t j = 0; j < DIM; j++) {
        low[j] = -1.0 - (double)j;
        high[j] = 2.0;
        rows[j * DIM + j] = -3.0;
        rows[DIM * DIM + j] = 1.0;
        rows[(DIM + 1) * DIM + j] = 1.0;
    }
    for (size_t i = 0; i < pn_param_count(params); i++) {
        args[i] = (pn_arg){ .given = true, .real = 1.5, .count = DIM };
        args[i].vector =
            (pn_vec){ strcmp(params[i].name, "upper") == 0 || strcmp(params[i].name, "weights") == 0 ? high : low,
                      DIM };
        args[i].matrix = (pn_mat){ rows, DIM + 2, DIM };
        if (params[i].range == PN_FRACTION || params[i].range == PN_UNIT_INTERVAL)
            args[i].real = 0.5;
        if (strcmp(params[i].name, "rows") == 0 || strcmp(params[i].name, "cols") == 0)
            args[i].count = params[i].name[0] == 'r' ? DIM / 5 : 5; /* matrices of DIM entries */
        if (strcmp(params[i].name, "n") == 0)
            args[i].count = 6;                /* square matrices of 36 */
        if (strcmp(params[i].name, "A") == 0) /* as many equations as b has entries */
            args[i].matrix.rows = DIM;
        if (strcmp(params[i].name, "axes") == 0 || strcmp(params[i].name, "vector") == 0) /* others stand for them */
            args[i].given = false;
        if (strcmp(params[i].name, "matrix") == 0)
            args[i].matrix.rows = DIM;
    }
}

/* Create, scale, shift and project, with every option given.  contains and the rest have no status to give. */
static pn_status use_set(void *self, pn_err *err)
{
    const pn_set_ops *ops = self;
    pn_arg args[16];
    pn_set *set = NULL, *scaled = NULL, *shifted = NULL;
    double x[DIM], shift[DIM] = { 1.0, -2.0 };
    pn_status status;

    example_args(ops->params, args);
    status = pn_set_from_args(&set, ops->name, args, err);
    if (status == PN_OK)
        status = pn_set_scale(&scaled, set, 2.0, err);
    if (status == PN_OK)
        status = pn_set_shift(&shifted, scaled, shift, scaled->dim, err);
    for (size_t j = 0; j < DIM; j++)
        x[j] = 10.0 * (double)(j + 1);
    if (status == PN_OK && shifted->ops->project) {
        status = pn_set_project(shifted, x, shifted->dim, err);
        if (status != PN_OK)
            CHECK(x[0] == 10.0 && x[DIM - 1] == 10.0 * DIM); /* untouched on failure */
    }
    CHECK(status == PN_OK || err->status == status);
    pn_set_free(set);
    pn_set_free(scaled);
    pn_set_free(shifted);
    return status;
}

/* Without memory a membership test fails, and never says yes. */
static pn_status ask_inside(void *self, pn_err *err)
{
    const pn_set_ops *ops = self;
    pn_arg args[16];
    pn_set *set = NULL, *scaled = NULL;
    double far[DIM];
    bool inside = true;
    pn_status status;

    example_args(ops->params, args);
    for (size_t j = 0; j < DIM; j++)
        far[j] = -1e6; /* outside of every unbounded set but one */
    status = pn_set_from_args(&set, ops->name, args, err);
    if (status == PN_OK)
        status = pn_set_scale(&scaled, set, 2.0, err);
    if (status == PN_OK) {
        status = pn_set_contains(scaled, far, scaled->dim, 1e-9, &inside, err);
        CHECK(status == PN_ENOMEM || (status == PN_OK && inside == (strcmp(ops->name, "free") == 0)));
    }
    pn_set_free(set);
    pn_set_free(scaled);
    return status;
}

static void sweep_inside(const pn_set_ops *ops)
{
    for (long k = 1; k < 60; k++) {
        fail_alloc count = { .fail_at = k };

        (void)fail_alloc_run(&count, ask_inside, (void *)(size_t)ops);
        CHECK(atomic_load(&count.live) == 0);
    }
}

static void test_unknown_name(void)
{
    pn_set *set = (pn_set *)1;
    pn_err err;

    CHECK(pn_set_from_args(&set, "sphere", NULL, &err) == PN_EUNSUPPORTED);
    CHECK(set == NULL);
    CHECK(strstr(err.message, "pn_set_from_args: there is no set \"sphere\"; known are l1_ball, ") != NULL);
    for (size_t i = 0; pn_set_table()[i]; i++)
        CHECK(strstr(err.message, pn_set_table()[i]->name) != NULL);
}

static void test_atoms(void)
{
    pn_arg args[3] = { { .given = true, .count = 3 }, { .given = true, .real = 2.0 }, { .given = false } };
    double x[3] = { 1.0, 1.0, 1.0 }, shift[3] = { 10.0, 20.0, 30.0 }, scratch[3], value;
    pn_set *ball = NULL, *shifted = NULL, *twice = NULL;
    pn_atom atom;
    pn_err err;

    CHECK(pn_set_from_args(&ball, "l1_ball", args, &err) == PN_OK);
    CHECK(pn_set_scale(&twice, ball, 2.0, &err) == PN_OK);
    CHECK(pn_set_shift(&shifted, ball, shift, 3, &err) == PN_OK);
    ball->ops->atom(ball, 3, &atom, scratch); /* -2 e_2 */
    CHECK(atom.count == 1 && atom.index && atom.index[0] == 1 && atom.value[0] == -2.0);
    pn_atom_add(&atom, 0.5, x);
    CHECK(x[0] == 1.0 && x[1] == 0.0 && x[2] == 1.0);
    twice->ops->atom(twice, 4, &atom, scratch); /* stays sparse: 4 e_3 */
    CHECK(atom.count == 1 && atom.index && atom.index[0] == 2 && atom.value[0] == 4.0);
    shifted->ops->atom(shifted, 0, &atom, scratch);
    CHECK(atom.count == 3 && !atom.index && atom.value[0] == 12.0 && atom.value[2] == 30.0);
    pn_atom_add(&atom, -1.0, x);
    CHECK(x[0] == -11.0 && x[1] == -20.0 && x[2] == -29.0);
    pn_set_free(ball); /* the two others keep it */
    CHECK(pn_set_support(twice, shift, twice->dim, &value, NULL, NULL) == PN_OK && value == 120.0);
    pn_set_free(twice);
    pn_set_free(shifted);
}

static void test_describe_truncates(void)
{
    pn_arg args[2] = { { .given = true, .count = 7 }, { .given = false } };
    char text[10];
    pn_set *set = NULL;
    pn_err err;

    CHECK(pn_set_from_args(&set, "simplex", args, &err) == PN_OK);
    pn_set_describe(set, text, sizeof text);
    CHECK(strcmp(text, "simplex(d") == 0);
    pn_set_free(set);
    pn_set_free(NULL);
}

int main(void)
{
    for (size_t i = 0; pn_set_table()[i]; i++) {
        const pn_set_ops *ops = pn_set_table()[i];

        CHECK(fail_alloc_sweep(ops->name, use_set, (void *)(size_t)ops) > 0);
        sweep_inside(ops);
    }
    test_unknown_name();
    test_atoms();
    test_describe_truncates();
    return check_summary();
}
