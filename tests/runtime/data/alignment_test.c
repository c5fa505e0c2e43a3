/* alignment_test.c -- rows in the order of their identifiers' hashes, the digest of that order, key files,
 * identifiers from CSV files.
 * Depends on: check.h, fail_alloc.h, data/alignment.h. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "data/alignment.h"

#include "check.h"
#include "fail_alloc.h"

enum { N = 4, P = 2 };

typedef struct people {
    const char *ids[N];
    size_t sizes[N];
    double X[N * P], y[N];
    unsigned char key[PN_ALIGNMENT_KEY];
} people;

/* Key 0, 1, ..., 31; an identifier may hold any byte. */
static people some(void)
{
    people all = {
        { "ann", "bob", "cy", "d\0e" }, { 3, 3, 2, 3 }, { 1, 2, 3, 4, 5, 6, 7, 8 }, { 1.0, -1.0, 0.5, -0.0 }, { 0 }
    };

    for (size_t i = 0; i < sizeof all.key; i++)
        all.key[i] = (unsigned char)i;
    return all;
}

static pn_status align(const people *all, double *X, double *y, char *hex, pn_err *err)
{
    unsigned char digest[PN_ALIGNMENT_DIGEST];
    pn_dataset *data = NULL, *aligned = NULL;
    pn_status status = pn_dataset_from_dense(&data, all->X, N, P, all->y, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_align(&aligned, data, all->ids, all->sizes, all->key, digest, err);
    if (status == PN_OK) {
        memcpy(X, aligned->dense, N * P * sizeof *X);
        memcpy(y, aligned->y, N * sizeof *y);
        (void)sodium_bin2hex(hex, 2 * PN_ALIGNMENT_DIGEST + 1, digest, sizeof digest);
    }
    pn_dataset_free(data);
    pn_dataset_free(aligned);
    return status;
}

typedef struct result {
    double X[N * P], y[N];
    char hex[2 * PN_ALIGNMENT_DIGEST + 1];
} result;

static result of(people all)
{
    result got = { { 0 }, { 0 }, "" };
    pn_err err = { PN_OK, "" };

    if (!CHECK(align(&all, got.X, got.y, got.hex, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return got;
}

static bool same_digest(people all)
{
    return strcmp(of(all).hex, of(some()).hex) == 0;
}

/* From Python's hashlib.blake2b with the same key and personal strings. */
static void gives_the_order_and_the_digest_that_another_program_gives(void)
{
    static const double X[N * P] = { 7, 8, 5, 6, 1, 2, 3, 4 }, y[N] = { 0.0, 0.5, 1.0, -1.0 };
    result got = of(some());

    CHECK(memcmp(got.X, X, sizeof X) == 0);
    for (size_t i = 0; i < N; i++)
        CHECK(got.y[i] == y[i]);
    CHECK(strcmp(got.hex, "f34be2ed13e509ce4a67b75cfbf50a73f3c7edf69008d47445c3fc5012a09805") == 0);
}

static void agrees_with_a_party_that_has_other_columns_in_another_order(void)
{
    static const size_t order[N] = { 2, 0, 3, 1 };
    static const double X[N * P] = { 70, 80, 50, 60, 10, 20, 30, 40 };
    people here = some(), there = some();
    result got;

    for (size_t i = 0; i < N; i++) {
        there.ids[i] = here.ids[order[i]];
        there.sizes[i] = here.sizes[order[i]];
        there.y[i] = here.y[order[i]];
        there.X[2 * i] = 10 * here.X[2 * order[i]];
        there.X[2 * i + 1] = 10 * here.X[2 * order[i] + 1];
    }
    got = of(there);
    CHECK(strcmp(got.hex, of(here).hex) == 0);
    CHECK(memcmp(got.X, X, sizeof X) == 0);
}

static void tells_other_people_labels_and_keys_apart(void)
{
    people other = some();

    other.X[0] = 99.0; /* its own columns are nobody's business */
    other.y[3] = 0.0;  /* for -0 */
    CHECK(same_digest(other));
    other.y[2] = 0.25;
    CHECK(!same_digest(other));
    other = some();
    other.ids[1] = "bop";
    CHECK(!same_digest(other));
    other = some();
    other.sizes[3] = 1;
    CHECK(!same_digest(other));
    other = some();
    other.key[31] ^= 1;
    CHECK(!same_digest(other));
    other = some();
    other.y[0] = -1.0;
    other.y[1] = 1.0; /* the same labels of other people */
    CHECK(!same_digest(other));
}

static void keeps_the_bounds_that_are_enforced(void)
{
    people all = some();
    unsigned char digest[PN_ALIGNMENT_DIGEST];
    pn_dataset *data = NULL, *clipped = NULL, *aligned = NULL;

    CHECK(pn_dataset_from_dense(&data, all.X, N, P, all.y, NULL, NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&clipped, data, PN_LINF, 1.0, NULL) == PN_OK);
    CHECK(pn_dataset_align(&aligned, clipped, all.ids, all.sizes, all.key, digest, NULL) == PN_OK);
    CHECK(aligned->bounds.norm[PN_LINF] == 1.0);
    pn_dataset_free(data);
    pn_dataset_free(clipped);
    pn_dataset_free(aligned);
}

static void refuse(people all, const char *message)
{
    result got;
    pn_err err = { PN_OK, "" };

    CHECK(align(&all, got.X, got.y, got.hex, &err) == PN_EINVAL);
    if (!CHECK(strcmp(err.message, message) == 0))
        (void)fprintf(stderr, "    %s\n", err.message);
}

static void refuses_identifiers_that_tell_nobody_apart(void)
{
    people all = some();

    all.sizes[2] = 0;
    refuse(all, "federated.align: the identifier of row 3 is empty");
    all = some();
    all.ids[3] = "ann";
    refuse(all, "federated.align: rows 1 and 4 have the same identifier; each must belong to one row");
}

/* ---- files ---- */

static char folder[] = "/tmp/penumbra_align_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *file_of(const char *text)
{
    const char *path = path_of("file");
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(text, 1, strlen(text), file) == strlen(text));
    CHECK(file && fclose(file) == 0 && chmod(path, 0600) == 0);
    return path;
}

static void makes_a_key_once_and_reads_it_again(void)
{
    unsigned char key[PN_ALIGNMENT_KEY], again[PN_ALIGNMENT_KEY], other[PN_ALIGNMENT_KEY];
    const char *path = path_of("key");
    struct stat facts;
    pn_err err;

    CHECK(pn_alignment_key(path, false, key, &err) == PN_EIO && strstr(err.message, "No such file"));
    CHECK(pn_alignment_key(path, true, key, NULL) == PN_OK);
    CHECK(stat(path, &facts) == 0 && (facts.st_mode & 0777) == 0600 && facts.st_size == 65);
    CHECK(pn_alignment_key(path, true, again, NULL) == PN_OK && memcmp(key, again, sizeof key) == 0);
    CHECK(pn_alignment_key(path, false, again, NULL) == PN_OK && memcmp(key, again, sizeof key) == 0);
    CHECK(unlink(path) == 0);
    CHECK(pn_alignment_key(path, true, other, NULL) == PN_OK && memcmp(key, other, sizeof key) != 0);
    CHECK(unlink(path) == 0);
    CHECK(pn_alignment_key(path_of("none/key"), true, other, &err) == PN_EIO);
}

static void refuses_a_file_that_holds_no_key(void)
{
    static const char digits[] = "000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    unsigned char key[PN_ALIGNMENT_KEY];
    people all = some();
    char text[100];
    pn_err err;

    (void)snprintf(text, sizeof text, "%s\r\n", digits);
    CHECK(pn_alignment_key(file_of(text), false, key, NULL) == PN_OK && memcmp(key, all.key, sizeof key) == 0);
    CHECK(pn_alignment_key(file_of(digits), false, key, NULL) == PN_OK);
    CHECK(chmod(path_of("file"), 0640) == 0);
    CHECK(pn_alignment_key(path_of("file"), false, key, &err) == PN_EIO && strstr(err.message, "chmod 600") != NULL);
    CHECK(pn_alignment_key(file_of(""), true, key, NULL) == PN_EPARSE);
    CHECK(pn_alignment_key(file_of("\n"), false, key, NULL) == PN_EPARSE);
    CHECK(pn_alignment_key(file_of(digits + 1), false, key, NULL) == PN_EPARSE);
    (void)snprintf(text, sizeof text, "%s0", digits);
    CHECK(pn_alignment_key(file_of(text), false, key, NULL) == PN_EPARSE);
    (void)snprintf(text, sizeof text, "%s\n%s\n", digits, "00");
    CHECK(pn_alignment_key(file_of(text), false, key, NULL) == PN_EPARSE);
    (void)snprintf(text, sizeof text, "g%s", digits + 1);
    CHECK(pn_alignment_key(file_of(text), false, key, NULL) == PN_EPARSE);
}

/* The identifiers of a file, joined by bars. */
static pn_status column_of(const char *text, const char *name, size_t column, size_t records, char *joined, pn_err *err)
{
    pn_csv_column_options options = { name, column, records };
    pn_identifiers list = { 0 };
    pn_status status = pn_csv_column(&list, file_of(text), &options, NULL, err);

    *joined = '\0';
    for (size_t i = 0; i < list.count; i++) {
        (void)strncat(joined, list.ids[i], list.sizes[i]);
        (void)strcat(joined, "|");
    }
    pn_identifiers_clear(&list);
    return status;
}

static void gives(const char *text, const char *name, size_t column, size_t records, const char *want)
{
    char joined[200];
    pn_err err = { PN_OK, "" };

    if (!CHECK(column_of(text, name, column, records, joined, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    if (!CHECK(strcmp(joined, want) == 0))
        (void)fprintf(stderr, "    %s\n", joined);
}

static void refuse_file(const char *text, const char *name, size_t column, size_t records, pn_status want,
                        const char *message)
{
    char joined[200];
    pn_err err = { PN_OK, "" };

    CHECK(column_of(text, name, column, records, joined, &err) == want);
    if (!CHECK(strstr(err.message, message) != NULL))
        (void)fprintf(stderr, "    %s\n", err.message);
}

static void reads_a_column_as_text(void)
{
    gives("name,id,age\nann,007,3\nbob, 7 ,4\n", "id", 0, 2, "007|7|");
    gives("name,id\nann,\"a,\"\"1\"\"\"\n", "id", 0, 1, "a,\"1\"|");
    gives("id;x\r\np1;2\r\n\r\np2;3", "id", 0, 2, "p1|p2|");
    gives("id\tx\n\t1\nb\t2\n", "id", 0, 2, "|b|");
    gives("id\na\nb\n", "id", 0, 2, "a|b|"); /* a file of identifiers alone */
    gives("a,1\nb,2\n", NULL, 1, 2, "a|b|");
    gives("who,x\na,1\nb,2\n", NULL, 1, 2, "a|b|"); /* one line too many is the header */
    gives("1,a\n2,b\n3,c\n", NULL, 1, 3, "1|2|3|");
}

static void refuses_a_file_that_does_not_fit(void)
{
    refuse_file("id,x\na,1\nb,2\n", "id", 0, 3, PN_EDIM, "2 identifiers in it, the data set has 3 records");
    refuse_file("id,x\na,1\nb,2\n", "id", 0, 1, PN_EDIM, "2 identifiers in it, the data set has 1 records");
    refuse_file("a,1\nb,2\n", NULL, 2, 5, PN_EDIM, "2 identifiers in it, the data set has 5 records");
    refuse_file("", "id", 0, 1, PN_EDIM, "0 identifiers");
    refuse_file("id,x\na,1\n", "who", 0, 1, PN_EINVAL, "no column is named 'who'; the header is id,x");
    refuse_file("id,x\na,1\n", NULL, 3, 1, PN_EINVAL, "column 3 asked for, the file has columns 1 to 2");
    refuse_file("id,x\na,1,2\n", "id", 0, 1, PN_EPARSE, ":2:1: expected 2 fields as in line 1, found 3");
    refuse_file("id,x\n\"a,1\n", "id", 0, 1, PN_EPARSE, ":2:1: expected 2 fields");
}

typedef struct column_scenario {
    const char *path;
    size_t records;
} column_scenario;

static pn_status read_column(void *self, pn_err *err)
{
    const column_scenario *ask = self;
    pn_csv_column_options options = { NULL, 1, ask->records };
    pn_identifiers list = { 0 };
    pn_status status = pn_csv_column(&list, ask->path, &options, NULL, err);

    if (status == PN_OK)
        CHECK(list.count == ask->records && list.sizes[3000] == 4 && memcmp(list.ids[3000], "3000", 4) == 0);
    pn_identifiers_clear(&list);
    return status;
}

static pn_status align_all(void *self, pn_err *err)
{
    result got;

    return align(self, got.X, got.y, got.hex, err);
}

static void fails_cleanly_without_memory(void)
{
    people all = some();
    column_scenario ask = { path_of("long"), 4000 };
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s", ask.path);
    ask.path = path;
    file = fopen(path, "wb");
    for (int i = 0; file && i < 4000; i++)
        (void)fprintf(file, "\"%d\",1\n", i);
    CHECK(file && fclose(file) == 0);
    CHECK(fail_alloc_sweep("column", read_column, &ask) > 3);
    CHECK(fail_alloc_sweep("align", align_all, &all) > 3);
    CHECK(unlink(path) == 0);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_summary();
    gives_the_order_and_the_digest_that_another_program_gives();
    agrees_with_a_party_that_has_other_columns_in_another_order();
    tells_other_people_labels_and_keys_apart();
    keeps_the_bounds_that_are_enforced();
    refuses_identifiers_that_tell_nobody_apart();
    makes_a_key_once_and_reads_it_again();
    refuses_a_file_that_holds_no_key();
    reads_a_column_as_text();
    refuses_a_file_that_does_not_fit();
    fails_cleanly_without_memory();
    (void)unlink(path_of("file"));
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
