/* progress_test.c -- making and picking records report progress and can be stopped.
 * Depends on: check.h. */
#include <stdio.h>
#include <string.h>

#include "core/task.h"
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

    return pn_synthetic_lasso(out, &how, NULL, err);
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

int main(void)
{
    pn_task *task = NULL;

    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    synthetic_data(task);
    picked_records(task);
    pn_task_free(task);
    return check_summary();
}
