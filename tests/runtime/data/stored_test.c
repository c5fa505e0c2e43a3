/* stored_test.c -- what a stored data set's file must not get away with: bounds that its records break, numbers out of
 * order, a change under an open one.  The forger here knows how to make check sums. */
#define _DEFAULT_SOURCE /* mkstemp, pread */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "core/vault.h"
#include "data/build.h"
#include "data/files/stored.h"
#include "penumbra/dataset.h"

static char path[] = "/tmp/penumbra-stored-XXXXXX";

/* ---- the file as bytes ---- */

typedef struct image {
    unsigned char *bytes;
    size_t size;
    pn_stored_header header;
    pn_layout layout;
} image;

static void read_image(image *out)
{
    FILE *file = fopen(path, "rb");
    struct stat at;

    CHECK(file && stat(path, &at) == 0);
    out->size = (size_t)at.st_size;
    out->bytes = malloc(out->size);
    CHECK(out->bytes && fread(out->bytes, 1, out->size, file) == out->size);
    (void)fclose(file);
    memcpy(&out->header, out->bytes, sizeof out->header);
    CHECK(pn_layout_find(&out->layout, &out->header.sizes));
}

/* Every check sum made anew, as who wrote these bytes would have. */
static void write_image(image *from)
{
    pn_content *sums = (pn_content *)(void *)(from->bytes + from->layout.end), *next = sums;
    FILE *file = fopen(path, "wb");

    for (int i = 0; i < PN_ARRAYS; i++) {
        for (size_t at = 0; at < from->layout.bytes[i]; at += PN_STORED_BLOCK) {
            size_t left = from->layout.bytes[i] - at;

            left = left < PN_STORED_BLOCK ? left : PN_STORED_BLOCK;
            CHECK(pn_stored_sum(next++, from->bytes + from->layout.offset[i] + at, left, NULL) == PN_OK);
        }
    }
    CHECK(pn_stored_sum(&from->header.checks, sums, (size_t)(next - sums) * sizeof *sums, NULL) == PN_OK);
    CHECK(pn_stored_header_sum(&from->header.self, &from->header, NULL) == PN_OK);
    memcpy(from->bytes, &from->header, sizeof from->header);
    CHECK(file && fwrite(from->bytes, 1, from->size, file) == from->size);
    (void)fclose(file);
    free(from->bytes);
}

static pn_status open_status(pn_err *err)
{
    pn_dataset *data = NULL;
    pn_status status = pn_dataset_open(&data, path, NULL, err);

    CHECK((status == PN_OK) == (data != NULL));
    pn_dataset_free(data);
    return status;
}

/* ---- records: 3 features, the last of them 1 ---- */

static pn_dataset *records(bool sparse)
{
    static const double X[] = { .5, .25, -.5, 0.0, .125, .5, .25, -.125 }, y[] = { -1.0, 1.0, 1.0, -1.0 };
    size_t start[] = { 0, 2, 3, 5, 7 };
    uint32_t column[] = { 0, 1, 0, 0, 1, 0, 1 };
    double value[] = { .5, .25, -.5, .125, .5, .25, -.125 };
    pn_csr csr = { 4, 2, start, column, value };
    pn_dataset *plain = NULL, *clipped = NULL, *made = NULL;

    CHECK((sparse ? pn_dataset_from_csr(&plain, &csr, y, "records", NULL)
                  : pn_dataset_from_dense(&plain, X, 4, 2, y, "records", NULL)) == PN_OK);
    CHECK(pn_dataset_clip_rows(&clipped, plain, PN_L2, 1.0, NULL) == PN_OK);
    CHECK(pn_dataset_add_bias(&made, clipped, NULL) == PN_OK);
    pn_dataset_free(plain);
    pn_dataset_free(clipped);
    return made;
}

static void write_records(bool sparse)
{
    pn_dataset *data = records(sparse);

    CHECK(pn_dataset_store(data, path, NULL, NULL) == PN_OK);
    CHECK(open_status(NULL) == PN_OK); /* the control of all that follows */
    pn_dataset_free(data);
}

/* ---- forgeries ---- */

static void lower_norms(image *at, int norm)
{
    at->header.norm[norm] = 1.0; /* each record has more, in every norm but linf */
}

static void forge_bounds(bool sparse)
{
    for (int k = 0; k < 6; k++) {
        image at;
        pn_err err;

        write_records(sparse);
        read_image(&at);
        if (k < 2)
            lower_norms(&at, k == 0 ? PN_L1 : PN_L2);
        if (k == 2)
            at.header.norm[PN_LINF] = .75;
        if (k == 3) {
            at.header.label_low = -1.0;
            at.header.label_high = .5;
        }
        if (k == 4) /* a label that is neither -1 nor 1 */
            memcpy(at.bytes + at.layout.offset[PN_ARRAY_LABELS] + 8, &(double){ .5 }, sizeof(double));
        if (k == 5) { /* no 1 at the end of the last record */
            size_t last = at.layout.offset[sparse ? PN_ARRAY_VALUE : PN_ARRAY_DENSE] +
                          at.layout.bytes[sparse ? PN_ARRAY_VALUE : PN_ARRAY_DENSE] - sizeof(double);

            memcpy(at.bytes + last, &(double){ .5 }, sizeof(double));
        }
        write_image(&at);
        CHECK(open_status(&err) == PN_EDOMAIN);
        CHECK(strstr(err.message, "record ") != NULL && strstr(err.message, "0.5") == NULL);
    }
}

static void forge_numbers(bool sparse)
{
    image at;
    size_t first;

    write_records(sparse);
    read_image(&at);
    first = at.layout.offset[sparse ? PN_ARRAY_VALUE : PN_ARRAY_DENSE];
    memcpy(at.bytes + first, &(double){ NAN }, sizeof(double));
    write_image(&at);
    CHECK(open_status(NULL) == PN_EDOMAIN);

    write_records(sparse);
    read_image(&at);
    memcpy(at.bytes + at.layout.offset[PN_ARRAY_LABELS], &(double){ INFINITY }, sizeof(double));
    write_image(&at);
    CHECK(open_status(NULL) == PN_EDOMAIN);
}

static void forge_rows(void)
{
    static const size_t starts[][2] = {
        { 0, 1 }, { 1, 100 }, { 2, 0 }, { 4, 10 }
    }; /* which start, and what it becomes */
    image at;

    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        write_records(true);
        read_image(&at);
        memcpy(at.bytes + at.layout.offset[PN_ARRAY_START] + starts[k][0] * sizeof(size_t), &starts[k][1],
               sizeof(size_t));
        write_image(&at);
        CHECK(open_status(NULL) == PN_EDOMAIN);
    }
    for (uint32_t column = 0; column < 4; column++) { /* as it was; twice the second; behind it; none that there is */
        write_records(true);
        read_image(&at);
        memcpy(at.bytes + at.layout.offset[PN_ARRAY_COLUMN], &column, sizeof column);
        write_image(&at);
        CHECK(open_status(NULL) == (column == 0 ? PN_OK : PN_EDOMAIN));
    }
}

/* Numbers that bound nothing, where a bound should be. */
static void forge_nonsense(void)
{
    for (int k = 0; k < 6; k++) {
        image at;

        write_records(false);
        read_image(&at);
        if (k < 2)
            at.header.norm[PN_L2] = k == 0 ? INFINITY : -1.0;
        if (k == 2)
            at.header.label_low = -1.0; /* and no upper end */
        if (k == 3)
            at.header.label_high = INFINITY;
        if (k > 3)
            at.header.usual = k == 4 ? NAN : -1.0;
        write_image(&at);
        CHECK(open_status(NULL) == PN_EPARSE);
    }
}

/* Sizes that would lead out of the file, each with sums that fit. */
static void forge_sizes(void)
{
    for (int k = 0; k < 10; k++) {
        image at;
        pn_stored_header kept;
        pn_status status;

        write_records(false);
        read_image(&at);
        kept = at.header;
        at.header.sizes.n = k == 0 ? 5 : k == 1 ? (uint64_t)1 << 47 : at.header.sizes.n;
        at.header.sizes.p = k == 2 ? 0 : k == 3 ? (uint64_t)1 << 47 : at.header.sizes.p;
        at.header.sizes.sparse = k == 4 ? 1 : at.header.sizes.sparse;
        at.header.sizes.entries = k == 5 ? 4 : at.header.sizes.entries;
        at.header.sizes.held = k == 6 ? 2 : k == 7 ? 4 : k == 8 ? UINT64_MAX : at.header.sizes.held;
        at.header.sizes.first = k == 8 ? 2 : k == 9 ? 1 : at.header.sizes.first;
        CHECK(memcmp(&kept, &at.header, sizeof kept) != 0);
        write_image(&at);
        status = open_status(NULL);
        CHECK(status == PN_EIO || status == PN_EPARSE);
    }
}

/* ---- a rank's share ---- */

static void write_share(bool sparse, size_t first, size_t end)
{
    pn_dataset *data = records(sparse), *share = NULL;

    CHECK(pn_dataset_hold(&share, data, first, end, NULL) == PN_OK);
    CHECK(pn_dataset_store(share, path, NULL, NULL) == PN_OK);
    pn_dataset_free(share);
    pn_dataset_free(data);
}

static void a_share_is_what_it_was(void)
{
    pn_dataset *data = NULL;
    pn_rows rows;
    size_t count;
    image at;

    write_share(false, 1, 3);
    CHECK(pn_dataset_open(&data, path, NULL, NULL) == PN_OK);
    CHECK(data && data->partial && data->first == 1 && data->held == 2 && data->n == 4 && data->p == 3);
    CHECK(data->y[0] == -1.0 && data->y[3] == -1.0 && data->bounds.labels_binary);
    CHECK(pn_rows_open_held(&rows, data, NULL) == PN_OK);
    CHECK(pn_rows_get(&rows, 1, &count)[0] == -.5 && pn_rows_get(&rows, 2, &count)[1] == .5 && count == 3);
    pn_rows_close(&rows);
    CHECK(pn_dataset_need_records(data, "solve.sgd", NULL) == PN_EUNSUPPORTED);
    pn_dataset_free(data);
    for (int k = 0; k < 3; k++) { /* a held row, a label of a row that is not held, and where the share begins */
        write_share(false, 1, 3);
        read_image(&at);
        if (k == 0)
            memcpy(at.bytes + at.layout.offset[PN_ARRAY_DENSE] + 24, &(double){ 3.0 }, sizeof(double));
        if (k == 1)
            memcpy(at.bytes + at.layout.offset[PN_ARRAY_LABELS] + 24, &(double){ .5 }, sizeof(double));
        if (k == 2)
            at.header.sizes.first = 3;
        write_image(&at);
        CHECK(open_status(NULL) == (k == 2 ? PN_EPARSE : PN_EDOMAIN));
    }
}

/* Its entries are those of records 2 and 3, its starts those of all four. */
static void a_sparse_share_is_what_it_was(void)
{
    pn_dataset *data = NULL;
    pn_rows rows;
    size_t count;
    image at;

    write_share(true, 1, 3);
    CHECK(pn_dataset_open(&data, path, NULL, NULL) == PN_OK);
    CHECK(data && data->sparse && data->partial && data->first == 1 && data->held == 2 && data->n == 4 && data->p == 3);
    CHECK(data->csr.start[4] == 11 && pn_dataset_stored(data) == 5 && data->csr.column[pn_csr_place(data, 2) + 1] == 1);
    CHECK(pn_rows_open_held(&rows, data, NULL) == PN_OK);
    CHECK(pn_rows_get(&rows, 1, &count)[0] == -.5 && count == 2 && pn_rows_get(&rows, 2, &count)[1] == .5 &&
          count == 3);
    pn_rows_close(&rows);
    pn_dataset_free(data);
    for (int k = 0; k < 4; k++) { /* a column, a value; where the share ends, where the last record does */
        write_share(true, 1, 3);
        read_image(&at);
        if (k == 0)
            memcpy(at.bytes + at.layout.offset[PN_ARRAY_COLUMN], &(uint32_t){ 3 }, sizeof(uint32_t));
        if (k == 1)
            memcpy(at.bytes + at.layout.offset[PN_ARRAY_VALUE], &(double){ 3.0 }, sizeof(double));
        if (k >= 2)
            memcpy(at.bytes + at.layout.offset[PN_ARRAY_START] + (k == 2 ? 3 : 4) * sizeof(size_t),
                   &(size_t){ k == 2 ? 9 : 7 }, sizeof(size_t));
        write_image(&at);
        CHECK(open_status(NULL) == PN_EDOMAIN);
    }
}

/* ---- damage, by who makes no sums ---- */

static void damage(bool sparse)
{
    image at;

    write_records(sparse);
    read_image(&at);
    free(at.bytes);
    for (int i = 0; i < PN_ARRAYS; i++) {
        int fd;
        unsigned char byte;
        off_t place = (off_t)(at.layout.offset[i] + at.layout.bytes[i] / 2);

        if (at.layout.bytes[i] == 0)
            continue;
        write_records(sparse);
        fd = open(path, O_RDWR);
        CHECK(fd >= 0 && pread(fd, &byte, 1, place) == 1);
        byte ^= 1;
        CHECK(pwrite(fd, &byte, 1, place) == 1);
        (void)close(fd);
        CHECK(open_status(NULL) == PN_EIO);
    }
    for (size_t cut = 1; cut < at.size; cut = 3 * cut + 1) {
        write_records(sparse);
        CHECK(truncate(path, (off_t)(at.size - cut)) == 0);
        CHECK(open_status(NULL) != PN_OK);
    }
}

static void change_under_an_open_one(void)
{
    pn_dataset *data = NULL, *copy = NULL;
    pn_err err;
    double x[3];
    int fd;

    write_records(false);
    CHECK(pn_dataset_open(&data, path, NULL, NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&copy, data, PN_L2, .5, NULL) == PN_OK);
    CHECK(pn_dataset_record(data, 0, x, NULL) == PN_OK && x[2] == 1.0);
    fd = open(path, O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && write(fd, "", 1) == 1 && close(fd) == 0);
    CHECK(pn_dataset_need_records(data, "solve.newton", &err) == PN_EIO);
    CHECK(strstr(err.message, "solve.newton: ") == err.message && strstr(err.message, path) != NULL);
    CHECK(pn_dataset_need_records(copy, "solve.newton", NULL) == PN_OK); /* has pages of its own */
    pn_dataset_free(copy);
    pn_dataset_free(data);
}

static void places_of_blocks(void)
{
    const char *before = pn_vault_place("/tmp");
    double *on_disk = pn_vault_alloc(1000, sizeof *on_disk), *in_memory;

    CHECK(before == NULL && pn_vault_placed());
    CHECK(on_disk && (size_t)on_disk % 4096 == 0);
    on_disk[999] = 1.0;
    CHECK(pn_vault_place("/nowhere/at/all") != NULL);
    CHECK(pn_vault_alloc(1000, sizeof *on_disk) == NULL && strstr(pn_vault_lack(), "/nowhere/at/all") != NULL);
    (void)pn_vault_place(NULL);
    in_memory = pn_vault_alloc(10, sizeof *in_memory);
    CHECK(in_memory && !pn_vault_placed() && strcmp(pn_vault_lack(), "out of memory") == 0);
    pn_vault_free(in_memory);
    pn_vault_free(on_disk);
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    (void)close(fd);
    for (int sparse = 0; sparse < 2; sparse++) {
        forge_bounds(sparse);
        forge_numbers(sparse);
        damage(sparse);
    }
    forge_rows();
    forge_nonsense();
    forge_sizes();
    a_share_is_what_it_was();
    a_sparse_share_is_what_it_was();
    change_under_an_open_one();
    places_of_blocks();
    (void)unlink(path);
    return check_summary();
}
