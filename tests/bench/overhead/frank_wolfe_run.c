/* frank_wolfe_run.c -- private Frank-Wolfe on a LIBSVM file through the C API alone: the yardstick of lua_overhead.sh.
 * usage: frank_wolfe_run FILE STEPS RECORDS (the first so many); one thread.  The twin is frank_wolfe_run.lua. */
#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "data/dataset.h"
#include "geometry/sets/sets.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

static pn_err err;

static void must(pn_status status)
{
    if (status != PN_OK) {
        fprintf(stderr, "frank_wolfe_run: %s\n", err.message);
        exit(1);
    }
}

static pn_dataset *load(const char *path, size_t records)
{
    pn_libsvm_options options = { .storage = PN_STORAGE_DENSE, .labels = { .binary = true } };
    pn_dataset *all = NULL, *some = NULL, *clipped = NULL;
    size_t *rows = pn_alloc(records, sizeof *rows);

    must(pn_dataset_load_libsvm(&all, path, &options, NULL, &err));
    for (size_t i = 0; i < records; i++)
        rows[i] = i;
    must(pn_dataset_subset(&some, all, rows, records, &err));
    must(pn_dataset_clip_rows(&clipped, some, PN_L2, 1.0, &err));
    pn_dataset_free(all);
    pn_dataset_free(some);
    pn_free(rows);
    return clipped;
}

int main(int argc, char **argv)
{
    pn_arg common[PN_OPT_COUNT] = { 0 }, own[8] = { 0 };
    pn_arg set_args[3] = { 0 };
    pn_objective *objective = NULL;
    pn_run_options run = { 0 };
    pn_dataset *data;
    pn_loss *loss = NULL;
    pn_set *set = NULL;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;

    if (argc != 4)
        return 2;
    data = load(argv[1], strtoul(argv[3], NULL, 10));
    set_args[0] = (pn_arg){ .given = true, .count = data->p };
    set_args[1] = (pn_arg){ .given = true, .real = 16.0 };
    must(pn_loss_from_args(&loss, "logistic", NULL, &err));
    must(pn_set_from_args(&set, "l1_ball", set_args, &err));
    must(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss, .set = set }, &err));
    common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = 1.0 };
    common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 1e-10 };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = strtoul(argv[2], NULL, 10) };
    must(pn_plan_from_args(&plan, "frank_wolfe", objective, NULL, common, own, NULL, &err));
    must(pn_plan_run(&fit, plan, &run, &err));
    printf("%zu steps\n", fit->steps);
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_set_free(set);
    pn_loss_free(loss);
    pn_dataset_free(data);
    return 0;
}
