/* npy_share_test.c -- a rank reads its rows of a .npy file and no others: C and Fortran order, plain and gzip, also
 * where the rest of the file is no numbers.
 * Depends on: data/dataset.h, numeric/npy.h, fake_ranks.h, zlib. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include <zlib.h>

#include "data/dataset.h"
#include "fake_ranks.h"
#include "numeric/npy.h"

#define N 20000
#define P 3

static char directory[] = "/tmp/pn_npy_share_XXXXXX";

static const char *path_of(const char *name, char *room)
{
    (void)snprintf(room, 128, "%s/%s", directory, name);
    return room;
}

static double entry(size_t i, size_t j)
{
    return (double)i + 0.25 * (double)j;
}

/* Little-endian doubles; the entry of row `bad` in column 1 is no number. */
static void write_matrix(const char *path, bool fortran, bool packed, size_t bad)
{
    char header[128];
    unsigned char start[10] = "\x93NUMPY\x01\x00";
    int length = snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }\n",
                          fortran ? "True" : "False", N, P);
    gzFile file = gzopen(path, packed ? "wb" : "wbT");

    start[8] = (unsigned char)length;
    CHECK(gzwrite(file, start, 10) == 10 && gzwrite(file, header, (unsigned)length) == length);
    for (size_t k = 0; k < (size_t)N * P; k++) {
        size_t i = fortran ? k % N : k / P, j = fortran ? k / N : k % P;
        double x = i == bad && j == 0 ? (double)NAN : entry(i, j);

        (void)gzwrite(file, &x, sizeof x);
    }
    CHECK(gzclose(file) == Z_OK);
}

static void write_labels(const char *path)
{
    double *y = malloc(N * sizeof *y);
    size_t shape[2] = { N, 1 };
    pn_err err;

    for (size_t i = 0; i < N; i++)
        y[i] = i % 3 ? 1.0 : -1.0;
    CHECK(pn_npy_save(path, y, 1, shape, &err) == PN_OK);
    free(y);
}

/* What rank `rank` of two reads. */
static pn_status load(pn_dataset **out, const char *name, size_t rank, pn_err *err)
{
    fake_world world = { .size = 2 };
    fake_rank self = { &world, rank };
    pn_ranks *ranks = NULL;
    char x[128], y[128];
    pn_status status = pn_ranks_new(&ranks, &fake_ops, &self, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_dataset_load_npy_share(out, path_of(name, x), path_of("y.npy", y), ranks, NULL, err);
    pn_ranks_free(ranks);
    return status;
}

static void check_rows(const pn_dataset *data, size_t rank)
{
    size_t wrong = 0;

    /* Half of the records, and 1.5 (20000 / 32 + 4096) = 7082 more after them, and 2. */
    CHECK(data->n == N && data->p == P && data->partial && data->bounds.labels_binary);
    CHECK(data->first == (rank ? 10000 : 0) && data->held == (rank ? 10000 : 10002 + 7082));
    for (size_t i = data->first; i < pn_dataset_held_end(data); i++) {
        for (size_t j = 0; j < P; j++)
            wrong += data->dense[(i - data->first) * P + j] != entry(i, j);
    }
    for (size_t i = 0; i < N; i++)
        wrong += data->y[i] != (i % 3 ? 1.0 : -1.0);
    CHECK(wrong == 0);
}

static void each_rank_reads_its_rows(void)
{
    static const struct {
        const char *name;
        bool fortran, packed;
    } files[] = {
        { "c.npy", false, false }, { "f.npy", true, false }, { "c.npy.gz", false, true }, { "f.gz", true, true }
    };
    pn_dataset *data;
    char path[128];
    pn_err err;

    for (size_t k = 0; k < 4; k++) {
        write_matrix(path_of(files[k].name, path), files[k].fortran, files[k].packed, N);
        for (size_t rank = 0; rank < 2; rank++) {
            if (CHECK(load(&data, files[k].name, rank, &err) == PN_OK))
                check_rows(data, rank);
            pn_dataset_free(data);
        }
        (void)unlink(path);
    }
}

/* Row 19001 is rank 1's alone, row 12001 both have. */
static void what_is_no_number_is_refused_by_who_reads_it(void)
{
    pn_dataset *data;
    char path[128];
    pn_err err;

    for (int fortran = 0; fortran < 2; fortran++) {
        write_matrix(path_of("bad.npy", path), fortran, false, 19000);
        CHECK(load(&data, "bad.npy", 0, &err) == PN_OK);
        pn_dataset_free(data);
        CHECK(load(&data, "bad.npy", 1, &err) == PN_EDOMAIN && strstr(err.message, "entry (19001, 1) is not finite"));
        write_matrix(path, fortran, false, 12000);
        CHECK(load(&data, "bad.npy", 0, &err) == PN_EDOMAIN && strstr(err.message, "entry (12001, 1) is not finite"));
        CHECK(truncate(path, 300000) == 0);
        CHECK(load(&data, "bad.npy", 0, &err) == PN_EPARSE && !data);
    }
    (void)unlink(path);
}

static void without_ranks_all_is_read(void)
{
    pn_dataset *data = NULL;
    char x[128], y[128];
    pn_err err;

    write_matrix(path_of("c.npy", x), false, false, N);
    CHECK(pn_dataset_load_npy_share(&data, x, path_of("y.npy", y), NULL, NULL, &err) == PN_OK);
    CHECK(data && !data->partial && data->held == 0 && data->dense[N * P - 1] == entry(N - 1, P - 1));
    pn_dataset_free(data);
    (void)unlink(x);
}

int main(void)
{
    char y[128];

    if (!CHECK(mkdtemp(directory)))
        return check_summary();
    write_labels(path_of("y.npy", y));
    each_rank_reads_its_rows();
    what_is_no_number_is_refused_by_who_reads_it();
    without_ranks_all_is_read();
    (void)unlink(y);
    (void)rmdir(directory);
    return check_summary();
}
