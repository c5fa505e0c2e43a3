/* load_failure_test.c -- damaged files, refused memory and cancelled loads: an error or a data set,
 * never anything left.
 * Depends on: check.h, zlib. */
#define _GNU_SOURCE /* mkstemp */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "core/alloc.h"
#include "data/dataset.h"
#include "data/files/ahead.h"

#include "check.h"
#include "fail_alloc.h"

/* ---- an allocator that counts ---- */

static long live;

static void *test_allocate(void *self, size_t bytes)
{
    void *block = malloc(bytes);

    (void)self;
    live += block != NULL;
    return block;
}

static void *test_resize(void *self, void *block, size_t bytes)
{
    void *larger = realloc(block, bytes);

    (void)self;
    live += larger != NULL && block == NULL;
    return larger;
}

static void test_release(void *self, void *block)
{
    (void)self;
    live--;
    free(block);
}

static const pn_allocator test_allocator = { test_allocate, test_resize, test_release, NULL };

/* ---- files ---- */

static char path[] = "/tmp/penumbra_load_XXXXXX";

static bool write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, count, file) == count;

    return (file == NULL || fclose(file) == 0) && written;
}

static bool append_member(const char *text, size_t count, const char *mode)
{
    gzFile file = gzopen(path, mode);
    bool written = file && gzwrite(file, text, (unsigned)count) == (int)count;

    return (file == NULL || gzclose(file) == Z_OK) && written;
}

static size_t read_back(unsigned char *bytes, size_t most)
{
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(bytes, 1, most, file) : 0;

    if (file)
        (void)fclose(file);
    return count;
}

typedef pn_status (*loader)(pn_dataset **out, pn_task *task, pn_err *err);

static pn_status load_libsvm(pn_dataset **out, pn_task *task, pn_err *err)
{
    return pn_dataset_load_libsvm(out, path, NULL, task, err);
}

static pn_status load_csv(pn_dataset **out, pn_task *task, pn_err *err)
{
    return pn_dataset_load_csv(out, path, NULL, task, err);
}

/* Text found and declared, binary labels of text. */
static pn_status load_coded(pn_dataset **out, pn_task *task, pn_err *err)
{
    static const char *const declared[] = { "z", "x, 1" };
    static const pn_csv_one_hot one_hot[] = {
        { .name = "b \"x\"" }, { .column = 3, .categories = declared, .count = 2, .unknown_zeros = true }
    };
    static const pn_csv_options options = { .one_hot = one_hot, .one_hot_count = 2, .labels = { .binary = true } };

    return pn_dataset_load_csv(out, path, &options, task, err);
}

/* Text columns that show themselves, mapped labels. */
static pn_status load_guessed(pn_dataset **out, pn_task *task, pn_err *err)
{
    static const char *const text[] = { "yes", "no", NULL };
    static const double from[] = { 0.0, 0.0, 7.0 }, to[] = { 1.0, 0.0, 2.0 };
    static const pn_csv_options options = { .one_hot_text = true,
                                            .labels = { .from = from, .to = to, .text = text, .count = 3 } };

    return pn_dataset_load_csv(out, path, &options, task, err);
}

/* One file for both: a column of features, which may be labels as well. */
static pn_status load_npy(pn_dataset **out, pn_task *task, pn_err *err)
{
    return pn_dataset_load_npy(out, path, path, task, err);
}

static const char coded_text[] = "a,\"b \"\"x\"\"\",c,y\n1,red,\"x, 1\",no\n\"4\",blue,z,yes\r\n\n7, red ,other,no\n";
static const char npy_text[] = "\x93NUMPY\1\0\x40\0{'descr': '<i2', 'fortran_order': False, 'shape': (3, 1), }    \n"
                               "\1\0\2\0\3";
static const char libsvm_text[] = "# three records\n1 1:0.5 3:-2e-3 7:1\r\n-1 2:123456789 4:0.1234567890123456789\n\n"
                                  "+1 1:1 2:2 3:3 4:4 5:5 6:6 7:7 # all\n";
static const char csv_text[] = "a,\"b \"\"x\"\"\",c\n1,2.5,-3\n\"4\",5e1,6\r\n\n7,8,9\n";

/* A data set that came out must hold together; an error must say something. */
static bool is_sound(pn_status status, pn_dataset *data, const pn_err *err)
{
    double sum = 0.0;
    pn_dataset_summary facts;

    if (status != PN_OK)
        return data == NULL && err->message[0] != '\0';
    if (pn_dataset_summarise(data, &facts, NULL) != PN_OK)
        return false;
    for (size_t i = 0; i < data->n; i++)
        sum += data->y[i];
    return data->n > 0 && data->p > 0 && isfinite(sum) && facts.nonzeros <= data->n * data->p;
}

static bool survives(const void *bytes, size_t count, loader load)
{
    pn_dataset *data = NULL;
    pn_status status;
    pn_err err;
    bool sound;

    err.message[0] = '\0';
    if (!write_file(bytes, count))
        return false;
    status = load(&data, NULL, &err);
    sound = is_sound(status, data, &err) && (status == PN_OK || status == PN_EPARSE || status == PN_EIO ||
                                             /* names that are gone, labels or sizes that do not fit any more */
                                             (load != load_libsvm && load != load_csv && status != PN_ENOMEM));
    pn_dataset_free(data);
    if (!sound || live != 0)
        (void)fprintf(stderr, "    %zu bytes: %s, %ld blocks left: %s\n", count, pn_status_name(status), live,
                      err.message);
    return sound && live == 0;
}

static uint64_t state = 99;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

static void every_prefix(const void *bytes, size_t count, loader load)
{
    bool all = true;

    for (size_t cut = 0; cut <= count; cut++)
        all = all && survives(bytes, cut, load);
    CHECK(all);
}

/* One to three bytes replaced, mostly by bytes that mean something. */
static void mutations(const void *bytes, size_t count, int trials, loader load)
{
    static const char meaningful[] = "0123456789:.-+eE#,;\"\n\r\t x\0\xff";
    unsigned char changed[1024];
    bool all = true;

    for (int trial = 0; trial < trials; trial++) {
        memcpy(changed, bytes, count);
        for (size_t k = below(3) + 1; k > 0; k--)
            changed[below(count)] =
                below(4) ? (unsigned char)meaningful[below(sizeof meaningful)] : (unsigned char)below(256);
        all = all && survives(changed, count, load);
    }
    CHECK(all);
}

static void damaged_files(void)
{
    unsigned char packed[1024];
    int trials = (int)check_times(1000, 4000);
    size_t count;

    every_prefix(libsvm_text, sizeof libsvm_text - 1, load_libsvm);
    every_prefix(csv_text, sizeof csv_text - 1, load_csv);
    mutations(libsvm_text, sizeof libsvm_text - 1, trials, load_libsvm);
    mutations(csv_text, sizeof csv_text - 1, trials, load_csv);
    every_prefix(coded_text, sizeof coded_text - 1, load_coded);
    every_prefix(coded_text, sizeof coded_text - 1, load_guessed);
    mutations(coded_text, sizeof coded_text - 1, trials, load_coded);
    mutations(coded_text, sizeof coded_text - 1, trials, load_guessed);
    every_prefix(npy_text, sizeof npy_text, load_npy);
    mutations(npy_text, sizeof npy_text, trials / 2, load_npy);
    CHECK(append_member(libsvm_text, sizeof libsvm_text - 1, "wb"));
    count = read_back(packed, sizeof packed);
    every_prefix(packed, count, load_libsvm);
    mutations(packed, count, trials, load_libsvm);
}

/* ---- gzip ---- */

static pn_status load_and_drop(loader load, size_t *records, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_status status = load(&data, NULL, err);

    *records = data ? data->n : 0;
    pn_dataset_free(data);
    return status;
}

static void gzip_files(void)
{
    unsigned char packed[1024];
    size_t count, records;
    pn_err err;

    CHECK(append_member(libsvm_text, sizeof libsvm_text - 1, "wb"));
    CHECK(load_and_drop(load_libsvm, &records, &err) == PN_OK && records == 3);
    CHECK(append_member("1 2:5\n", 6, "ab")); /* a second member */
    CHECK(load_and_drop(load_libsvm, &records, &err) == PN_OK && records == 4);

    CHECK(append_member(libsvm_text, sizeof libsvm_text - 1, "wb"));
    count = read_back(packed, sizeof packed);
    CHECK(write_file(packed, count - 9)); /* within the compressed text: its end and check sum are missing */
    CHECK(load_and_drop(load_libsvm, &records, &err) == PN_EIO && strstr(err.message, "cut short"));
    CHECK(write_file(packed, count - 2)); /* within the trailer */
    CHECK(load_and_drop(load_libsvm, &records, &err) == PN_EIO && strstr(err.message, "cut short"));
    packed[count - 6] ^= 1; /* in the check sum */
    CHECK(write_file(packed, count));
    CHECK(load_and_drop(load_libsvm, &records, &err) == PN_EIO && strstr(err.message, "damaged"));
}

/* ---- lines longer than the reading buffer, and text that crosses it at every offset ---- */

static void long_lines(void)
{
    size_t p = 200000, length = 0, records;
    char *text = malloc(p * 12 + 64);
    pn_dataset *data = NULL;
    pn_err err;

    CHECK(text != NULL);
    if (!text)
        return;
    for (int line = 0; line < 2; line++) {
        length += (size_t)sprintf(text + length, "%d", line);
        for (size_t j = 1; j <= p / 2; j++)
            length += (size_t)sprintf(text + length, " %zu:%zu", 2 * j, j % 100);
        text[length++] = '\n';
    }
    length--; /* the last line has no newline */
    CHECK(write_file(text, length));
    if (CHECK(load_libsvm(&data, NULL, &err) == PN_OK)) {
        CHECK(data->n == 2 && data->p == p && !data->sparse);
        CHECK(data->dense[p - 1] == 0.0 && data->dense[p - 3] == 99.0 && data->dense[p + 1] == 1.0);
    }
    pn_dataset_free(data);
    memset(text, '\n', (1 << 18) + 64);
    for (size_t shift = 0; shift < 12; shift++) { /* 256 KiB is the reader's block */
        memcpy(text + (1 << 18) - 12 + shift, "-1 1:25\n", 8);
        CHECK(write_file(text, (1 << 18) + 8));
        CHECK(load_and_drop(load_libsvm, &records, &err) == PN_OK && records == 1);
        memset(text, '\n', (1 << 18) + 64);
    }
    free(text);
}

/* ---- memory and cancelling ---- */

static pn_status load_once(void *self, pn_err *err)
{
    size_t records;

    return load_and_drop(*(loader *)self, &records, err);
}

/* Each call of `sweep` fails. */
static void refused_memory(loader load, long (*sweep)(const char *, fail_alloc_fn, void *))
{
    CHECK(sweep("load", load_once, &load) > 5);
    pn_allocator_set(&test_allocator);
}

/* Every transformation of a small data set, each allocation refused in turn. */
static pn_status transform(pn_dataset **out, const pn_dataset *data, int which, pn_err *err)
{
    size_t rows[] = { 1, 0, 1 };
    pn_synthetic_options options = { .n = 5, .p = 4, .sparsity = 2, .noise = 0.1, .signal = 1.0, .seed = 3 };

    switch (which) {
    case 0:
        return pn_dataset_clip_rows(out, data, PN_L2, 1.0, err);
    case 1:
        return pn_dataset_clip_labels(out, data, -0.5, 0.5, err);
    case 2:
        return pn_dataset_add_bias(out, data, err);
    case 3:
        return pn_dataset_subset(out, data, rows, 3, err);
    case 4:
        return pn_dataset_with_labels(out, data, data->y, data->n, err);
    case 5:
        return pn_dataset_synthetic_lasso(out, &options, NULL, err);
    default:
        return pn_dataset_synthetic_logistic(out, &options, NULL, err);
    }
}

typedef struct transformation {
    const pn_dataset *data;
    int which;
} transformation;

static pn_status transform_once(void *self, pn_err *err)
{
    const transformation *how = self;
    pn_dataset *made = NULL;
    pn_status status = transform(&made, how->data, how->which, err);

    CHECK((made != NULL) == (status == PN_OK));
    pn_dataset_free(made);
    return status;
}

static void refused_transformations(const pn_dataset *data)
{
    for (int which = 0; which < 7; which++)
        CHECK(fail_alloc_sweep("transform", transform_once, &(transformation){ data, which }) > 0);
    pn_allocator_set(&test_allocator);
}

static void memory_failures(void)
{
    pn_dataset *data = NULL;
    pn_libsvm_options dense = { .storage = PN_STORAGE_DENSE }, sparse = { .storage = PN_STORAGE_SPARSE };
    pn_err err;

    CHECK(write_file(csv_text, sizeof csv_text - 1));
    refused_memory(load_csv, fail_alloc_sweep_all);
    CHECK(write_file(coded_text, sizeof coded_text - 1));
    refused_memory(load_coded, fail_alloc_sweep_all);
    refused_memory(load_guessed, fail_alloc_sweep_all);
    CHECK(write_file(npy_text, sizeof npy_text));
    refused_memory(load_npy, fail_alloc_sweep_all);
    CHECK(write_file(libsvm_text, sizeof libsvm_text - 1));
    refused_memory(load_libsvm, fail_alloc_sweep_all);
    CHECK(pn_dataset_load_libsvm(&data, path, &dense, NULL, &err) == PN_OK);
    refused_transformations(data);
    pn_dataset_free(data);
    CHECK(pn_dataset_load_libsvm(&data, path, &sparse, NULL, &err) == PN_OK);
    refused_transformations(data);
    pn_dataset_free(data);
    CHECK(live == 0);
}

/* One line that is longer than a piece. */
static void memory_for_a_long_line(void)
{
    size_t length = PN_PIECE_BYTES + 64;
    char *text = malloc(length);

    if (!CHECK(text != NULL))
        return;
    memset(text, ' ', length);
    memcpy(text, "1 1:2", 5);
    memcpy(text + length - 4, "3:4", 3);
    text[length - 1] = '\n';
    CHECK(write_file(text, length));
    refused_memory(load_libsvm, fail_alloc_sweep_all);
    free(text);
}

typedef struct hearing {
    int reports;
    double done, total;
    bool stop;
} hearing;

static pn_status listen(void *self, const pn_progress *progress, pn_err *err)
{
    hearing *heard = self;

    heard->reports++;
    heard->done = progress->done;
    heard->total = progress->total;
    CHECK(strncmp(progress->label, "reading penumbra_load_", 22) == 0);
    return heard->stop ? pn_fail(err, PN_ECALLBACK, "enough") : PN_OK;
}

static void progress_and_cancelling(void)
{
    hearing heard = { 0, 0.0, 0.0, false };
    pn_dataset *data = NULL;
    pn_task *task = NULL;
    pn_err err;

    CHECK(write_file(libsvm_text, sizeof libsvm_text - 1));
    if (!CHECK(pn_task_new(&task, 1, &err) == PN_OK))
        return;
    pn_task_listen(task, listen, &heard);
    CHECK(load_libsvm(&data, task, &err) == PN_OK);
    CHECK(heard.reports >= 1 && heard.done == heard.total && heard.total == (double)(sizeof libsvm_text - 1));
    pn_dataset_free(data);
    data = NULL;

    heard.stop = true;
    CHECK(load_libsvm(&data, task, &err) == PN_ECALLBACK && !data);
    pn_task_listen(task, NULL, NULL);
    pn_task_cancel(task);
    CHECK(load_libsvm(&data, task, &err) == PN_ECANCELLED && !data);
    CHECK(load_csv(&data, task, &err) == PN_ECANCELLED && !data);
    CHECK(write_file(npy_text, sizeof npy_text));
    CHECK(load_npy(&data, task, &err) == PN_ECANCELLED && !data);
    pn_task_free(task);
    CHECK(live == 0);
}

/* Files above a mebibyte are read by a thread of their own, which must go in every way that a load can end. */
static void large_files(void)
{
    enum { RECORDS = 150000 };
    size_t room = RECORDS * 40, length = 0, records, size;
    char *text = malloc(room);
    unsigned char *packed = malloc(room);
    hearing heard = { 0, 0.0, 0.0, false };
    pn_dataset *data = NULL;
    pn_task *task = NULL;
    pn_err err;

    if (text && packed && CHECK(pn_task_new(&task, 1, &err) == PN_OK)) {
        for (int i = 0; i < RECORDS; i++)
            length += (size_t)sprintf(text + length, "%d 1:%zu 2:%zu\n", i, below(1000000000), below(1000000000));
        CHECK(append_member(text, length, "wb"));
        size = read_back(packed, room);
        CHECK(size > 1 << 20);
        pn_task_listen(task, listen, &heard);
        if (CHECK(load_libsvm(&data, task, &err) == PN_OK))
            CHECK(data->n == RECORDS && data->y[RECORDS - 1] == RECORDS - 1 && heard.done == (double)size);
        pn_dataset_free(data);
        data = NULL;
        heard.stop = true;
        CHECK(load_libsvm(&data, task, &err) == PN_ECALLBACK && !data && live == 2);
        CHECK(write_file(packed, size / 2 + 77));
        CHECK(load_and_drop(load_libsvm, &records, &err) == PN_EIO && strstr(err.message, "cut short"));
        packed[size / 2] ^= 0x55;
        CHECK(write_file(packed, size));
        CHECK(load_and_drop(load_libsvm, &records, &err) != PN_OK);
        CHECK(append_member(text, length, "wb"));
        refused_memory(load_libsvm, fail_alloc_sweep); /* a thread that does not start is done without */
        text[0] = 'x';
        CHECK(append_member(text, length, "wb"));
        CHECK(load_and_drop(load_libsvm, &records, &err) == PN_EPARSE && strstr(err.message, ":1:1: "));
    }
    pn_task_free(task);
    free(text);
    free(packed);
    CHECK(live == 0);
}

int main(void)
{
    int file = mkstemp(path);

    CHECK(file >= 0);
    if (file < 0)
        return check_summary();
    (void)close(file);
    pn_allocator_set(&test_allocator);
    damaged_files();
    gzip_files();
    long_lines();
    memory_failures();
    memory_for_a_long_line();
    progress_and_cancelling();
    large_files();
    (void)unlink(path);
    return check_summary();
}
