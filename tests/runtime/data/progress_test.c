/* progress_test.c -- making and picking records report progress and can be stopped; passes over records can be stopped.
 * Depends on: check.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/stop.h"
#include "data/build.h"

#include "check.h"

#define N 20000
#define P 3

typedef struct heard {
    size_t calls;
    double done, total;
    char label[32];
    pn_status answer;
} heard;

static pn_status listen(void *self, const pn_progress *progress, pn_err *err)
{
    heard *of = self;

    of->calls++;
    of->done = progress->done;
    of->total = progress->total;
    (void)snprintf(of->label, sizeof of->label, "%s", progress->label);
    return of->answer == PN_OK ? PN_OK : pn_fail(err, of->answer, "enough");
}

static pn_status make(pn_dataset **out, pn_task *task, pn_err *err)
{
    pn_synthetic_options how = { .n = N, .p = P, .sparsity = 2, .noise = 0.1, .signal = 1.0, .seed = 3, .task = task };

    return pn_dataset_synthetic_lasso(out, &how, NULL, err);
}

static void synthetic_data(pn_task *task)
{
    heard all = { 0 }, enough = { .answer = PN_ECALLBACK };
    pn_dataset *data = NULL, *plain = NULL;
    pn_err err;

    CHECK(make(&plain, NULL, &err) == PN_OK);
    pn_task_listen(task, listen, &all);
    CHECK(make(&data, task, &err) == PN_OK);
    CHECK(all.calls > 0 && all.done == N && all.total == N && strcmp(all.label, "synthetic.lasso") == 0);
    CHECK(data && plain && memcmp(data->dense, plain->dense, sizeof(double) * N * P) == 0);
    pn_dataset_free(data);
    pn_dataset_free(plain);
    data = NULL;
    pn_task_listen(task, listen, &enough);
    CHECK(make(&data, task, &err) == PN_ECALLBACK && strcmp(err.message, "enough") == 0 && !data);
    pn_task_listen(task, NULL, NULL);
    pn_task_cancel(task);
    CHECK(make(&data, task, &err) == PN_ECANCELLED && !data);
    pn_task_reset(task);
}

static void picked_records(pn_task *task)
{
    static size_t rows[N];
    heard all = { 0 };
    pn_dataset *data = NULL, *part = NULL, *plain = NULL;
    pn_err err;

    for (size_t i = 0; i < N; i++)
        rows[i] = N - 1 - i;
    CHECK(make(&data, NULL, &err) == PN_OK);
    CHECK(pn_dataset_subset(&plain, data, rows, N, &err) == PN_OK);
    pn_task_listen(task, listen, &all);
    CHECK(pn_dataset_pick(&part, data, rows, N, task, &err) == PN_OK);
    CHECK(all.calls > 0 && all.total == N && strcmp(all.label, "subset") == 0);
    CHECK(part && plain && memcmp(part->dense, plain->dense, sizeof(double) * N * P) == 0);
    pn_dataset_free(part);
    part = NULL;
    pn_task_listen(task, NULL, NULL);
    pn_task_cancel(task);
    CHECK(pn_dataset_pick(&part, data, rows, N, task, &err) == PN_ECANCELLED && !part);
    pn_dataset_free(plain);
    pn_dataset_free(data);
}

/* ---- passes that are handed no task ---- */

static pn_status largest(void *self, const double *x, size_t p, double *out, pn_err *err)
{
    (void)self, (void)err;
    *out = 0.0;
    for (size_t j = 0; j < p; j++)
        *out = fmax(*out, fabs(x[j]));
    return PN_OK;
}

typedef pn_status pass(pn_dataset **out, const pn_dataset *data, pn_err *err);

static pn_status clip(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    return pn_dataset_clip_rows(out, data, PN_L2, 0.5, err);
}

static pn_status clip_to(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    const pn_row_gauge gauge = { .value = largest, .radius = { P, 2.0, 1.0 } };

    return pn_dataset_clip_rows_to(out, data, &gauge, 0.5, err);
}

static pn_status rescale(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    static const double low[P] = { -1.0, -1.0, -1.0 }, high[P] = { 1.0, 1.0, 1.0 };

    return pn_dataset_rescale(out, data, low, high, P, err);
}

static pn_status summarise(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    pn_dataset_summary facts;
    pn_status status = pn_dataset_summarise(data, &facts, err);

    return status == PN_OK ? pn_dataset_copy(out, data, err) : status;
}

static void passes(pn_task *task)
{
    static pass *const all[] = { clip, clip_to, rescale, summarise, pn_dataset_add_bias, pn_dataset_to_float32 };
    pn_dataset *data = NULL, *made = NULL;
    const pn_task *before;
    pn_err err;

    pn_task_reset(task);
    CHECK(make(&data, NULL, &err) == PN_OK);
    before = pn_stop_enter(task);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        CHECK(all[k](&made, data, &err) == PN_OK && made);
        pn_dataset_free(made);
        made = NULL;
        pn_task_cancel(task);
        CHECK(all[k](&made, data, &err) == PN_ECANCELLED && !made);
        CHECK(strcmp(err.message, "stopped by the user") == 0);
        pn_task_reset(task);
    }
    (void)pn_stop_enter(before);
    pn_dataset_free(data);
}

int main(void)
{
    pn_task *task = NULL;

    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    synthetic_data(task);
    picked_records(task);
    passes(task);
    pn_task_free(task);
    return check_summary();
}
