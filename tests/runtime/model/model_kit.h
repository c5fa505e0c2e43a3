/* model_kit.h -- a folder for a model file, a small run to be saved, the bytes of a file, and the message in them.
 * Depends on: model/model.h, the generated code of model files, check.h.  Used by: model_test.c, model_lies_test.c,
 * model_curvature_test.c. */
#ifndef PN_TESTS_MODEL_KIT_H
#define PN_TESTS_MODEL_KIT_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "geometry/sets/sets.h"
#include "solvers/catalogue/solvers.h"
#include "model/model.pb-c.h"
#include "model/model_file.h"

enum { DIM = 6, STEPS = 5, OWN_MAX = 16, MOST = 16384 };

static char folder[64], path[96];

/* Make the folder, and name the file in it. */
static inline bool open_folder(const char *test)
{
    (void)snprintf(folder, sizeof folder, "/tmp/%s.%ld", test, (long)getpid());
    (void)snprintf(path, sizeof path, "%s/fit.model", folder);
    return CHECK(mkdir(folder, 0700) == 0);
}

static inline void close_folder(void)
{
    (void)unlink(path);
    CHECK(rmdir(folder) == 0);
}

/* ---- a run ---- */

typedef struct run {
    pn_dataset *data;
    pn_objective *objective;
    pn_plan *plan;
    pn_fit *fit;
} run;

static inline pn_status make_objective(run *out, pn_err *err)
{
    pn_synthetic_options how = { .n = 200, .p = DIM, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_objective_parts parts = { .clip = 0.0 };
    pn_arg none[4] = { { 0 } };
    pn_arg ball[4] = { { .given = true, .count = DIM }, { .given = true, .real = 1.0 }, { 0 } };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_synthetic_logistic(&raw, &how, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(&out->data, raw, PN_L2, 1.0, err);
    pn_dataset_free(raw);
    parts.data = out->data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK)
        status = pn_set_from_args(&parts.set, "l1_ball", ball, err);
    if (status == PN_OK)
        status = pn_objective_new(&out->objective, &parts, err);
    pn_loss_free(parts.loss);
    pn_set_free(parts.set);
    return status;
}

static inline pn_status make(run *out, bool private, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN_MAX] = { { 0 } };
    pn_status status = make_objective(out, err);

    if (private)
        common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    else
        common[PN_OPT_PRIVACY] = (pn_arg){ .given = true, .flag = false };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = STEPS };
    if (status == PN_OK)
        status = pn_plan_from_args(&out->plan, "frank_wolfe", out->objective, NULL, common, own, NULL, err);
    if (status == PN_OK)
        status = pn_plan_run(&out->fit, out->plan, &(pn_run_options){ 0 }, err);
    return status;
}

static inline void clear(run *of)
{
    pn_fit_free(of->fit);
    pn_plan_free(of->plan);
    pn_objective_free(of->objective);
    pn_dataset_free(of->data);
}

/* ---- files ---- */

static inline size_t read_file(unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, MOST, file) : 0;

    if (file)
        (void)fclose(file);
    return size;
}

/* ---- messages ---- */

static inline pn_status decode(const Penumbra__Model *m)
{
    static unsigned char bytes[MOST];
    size_t size = penumbra__model__pack(m, bytes);
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_status status = pn_model_decode(&fit, &about, bytes, size, "there", NULL);

    CHECK((status == PN_OK) == (fit != NULL && about != NULL));
    pn_fit_free(fit);
    pn_model_about_free(about);
    return status;
}

/* What the file holds; the caller frees it. */
static inline Penumbra__Model *unpack_saved(size_t *size, unsigned char *bytes)
{
    *size = read_file(bytes) - PN_MODEL_HEAD - PN_MODEL_DIGEST;
    return penumbra__model__unpack(NULL, *size, bytes + PN_MODEL_HEAD);
}

#endif
