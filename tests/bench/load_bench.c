/* load_bench.c -- loading a large LIBSVM file against `zcat FILE | wc -l`, and the peak memory against the matrix made;
 * before that, the gradient of a stored data set against reading its file, which memory does not hold, once.
 * Each load runs in a process of its own, so that every page is new and VmHWM is its own; a second load in that
 * process, untimed, shows whether the memory of the first is used again.  Targets: at most 3 times the
 * time, at most 1.3 times the memory.  The file is covtype.libsvm.binary.gz in the folder PENUMBRA_DATA.
 * Depends on: bench.h, Linux /proc. */
#define _GNU_SOURCE /* fork, pipe, popen, madvise */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/dataset.h"
#include "data/mapped.h"
#include "objective/losses/loss.h"
#include "objective/passes/objective.h"

#include "bench/bench.h"

#define RUNS 7

typedef struct measurement {
    double seconds, peak_bytes, matrix_bytes; /* peak: above what the process held before */
} measurement;

/* The line "FIELD:  N kB" of /proc/self/status, in bytes. */
static double status_bytes(const char *field)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0.0;

    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, field, strlen(field)) == 0)
            kilobytes = strtod(line + strlen(field) + 1, NULL);
    }
    if (file)
        (void)fclose(file);
    return kilobytes * 1024.0;
}

static measurement load_here(const char *path, pn_storage storage)
{
    pn_libsvm_options options = { .storage = storage };
    measurement result = { 0.0, 0.0, 0.0 };
    pn_dataset *data = NULL;
    double start, before = status_bytes("VmRSS");
    pn_err err;

    start = bench_now();
    if (pn_dataset_load_libsvm(&data, path, &options, NULL, &err) != PN_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    result.seconds = bench_now() - start;
    result.matrix_bytes = (double)data->n * sizeof(double);
    if (data->sparse)
        result.matrix_bytes +=
            (double)data->csr.start[data->n] * (sizeof(double) + sizeof(uint32_t)) + (double)data->n * sizeof(size_t);
    else
        result.matrix_bytes += (double)data->n * (double)data->p * sizeof(double);
    pn_dataset_free(data);
    if (pn_dataset_load_libsvm(&data, path, &options, NULL, &err) != PN_OK)
        exit(1);
    result.peak_bytes = status_bytes("VmHWM") - before;
    pn_dataset_free(data);
    return result;
}

static measurement load_in_child(const char *path, pn_storage storage)
{
    measurement result = { -1.0, 0.0, 0.0 };
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        exit(1);
    if (child == 0) {
        result = load_here(path, storage);
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    (void)close(ends[1]);
    if (read(ends[0], &result, sizeof result) != (ssize_t)sizeof result)
        exit(1);
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
    return result;
}

static double count_lines(const char *path)
{
    char command[1200], line[64];
    double start = bench_now();
    FILE *pipe_end;

    (void)snprintf(command, sizeof command, "zcat '%s' | wc -l", path);
    pipe_end = popen(command, "r");
    if (!pipe_end || !fgets(line, sizeof line, pipe_end) || pclose(pipe_end) != 0)
        exit(1);
    return bench_now() - start;
}

static void bench_file(const char *folder, const char *name, pn_storage storage)
{
    double times[RUNS], counts[RUNS], ratios[RUNS];
    measurement last = { 0 };
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)count_lines(path); /* the file comes into the page cache */
    for (int i = 0; i < RUNS; i++) {
        counts[i] = count_lines(path);
        last = load_in_child(path, storage);
        times[i] = last.seconds;
        ratios[i] = times[i] / counts[i];
    }
    qsort(times, RUNS, sizeof *times, bench_compare);
    qsort(counts, RUNS, sizeof *counts, bench_compare);
    qsort(ratios, RUNS, sizeof *ratios, bench_compare);
    (void)printf("%-26s load %.3f s, zcat | wc -l %.3f s, ratio %.2f (best %.2f); peak %.1f MiB, matrix %.1f MiB, "
                 "ratio %.2f\n",
                 name, times[RUNS / 2], counts[RUNS / 2], ratios[RUNS / 2], ratios[0], last.peak_bytes / 1048576.0,
                 last.matrix_bytes / 1048576.0, last.peak_bytes / last.matrix_bytes);
}

/* ---- stored ---- */

typedef struct stored {
    const char *path;
    pn_dataset *data;
    pn_objective *objective;
    double *theta, *gradient;
    void *room;
} stored;

#define PIECE ((size_t)1 << 20)

/* Nothing of the file is in memory after this. */
static void forget(const stored *self)
{
    const pn_mapped *file = self->data->file;

    if (madvise(file->base, file->bytes, MADV_DONTNEED) != 0 || posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        exit(1);
}

static void read_file(void *of)
{
    stored *self = of;
    int fd;

    forget(self);
    fd = open(self->path, O_RDONLY);
    while (fd >= 0 && read(fd, self->room, PIECE) > 0)
        continue;
    (void)close(fd);
}

static void take_gradient(void *of)
{
    stored *self = of;
    pn_err err;

    forget(self);
    if (pn_objective_evaluate(self->objective, self->theta, NULL, self->gradient, NULL, &err) != PN_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

static int bench_stored(size_t n, size_t p)
{
    pn_synthetic_options options = { .n = n, .p = p, .sparsity = 3, .noise = 0.1, .signal = 1.0, .seed = 1 };
    stored self = { .path = "store_bench.pnd" };
    double gradient, reading, ratio;
    pn_loss *loss = NULL;
    pn_err err;
    int over;

    if (pn_dataset_synthetic_logistic(&self.data, &options, NULL, &err) != PN_OK ||
        pn_dataset_store(self.data, self.path, NULL, &err) != PN_OK)
        exit(1);
    pn_dataset_free(self.data);
    self.theta = calloc(p, sizeof(double));
    self.gradient = calloc(p, sizeof(double));
    self.room = malloc(PIECE);
    if (pn_dataset_open(&self.data, self.path, NULL, &err) != PN_OK ||
        pn_loss_new(&loss, "logistic", NULL, &err) != PN_OK ||
        pn_objective_new(&self.objective, &(pn_objective_parts){ .loss = loss, .data = self.data }, &err) != PN_OK)
        exit(1);
    bench_pair(take_gradient, &self, read_file, &self, 9, &gradient, &reading, &ratio);
    over = bench_print("gradient of a stored set / reading its file", gradient, reading, ratio, 1.3);
    pn_objective_free(self.objective);
    pn_loss_free(loss);
    pn_dataset_free(self.data);
    free(self.theta);
    free(self.gradient);
    free(self.room);
    (void)unlink(self.path);
    return over;
}

int main(void)
{
    const char *folder = getenv("PENUMBRA_DATA");
    int over = bench_stored(500000, 100);

    if (!folder || !*folder) {
        (void)printf("skipped: PENUMBRA_DATA is not set\n");
        return over;
    }
    bench_file(folder, "covtype.libsvm.binary.gz", PN_STORAGE_AUTO);
    bench_file(folder, "covtype.libsvm.binary.gz", PN_STORAGE_SPARSE);
    bench_file(folder, "usps.train.libsvm.gz", PN_STORAGE_AUTO);
    bench_file(folder, "news20.libsvm.gz", PN_STORAGE_AUTO);
    return over;
}
