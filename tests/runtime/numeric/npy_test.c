/* npy_test.c -- .npy files when memory is short, and the bytes that are written.  What is read and refused is in
 * tests/bindings/numeric/npy_spec.lua.  Depends on: check.h, fail_alloc.h, numeric/npy.h. */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/npy.h"

static char path[] = "/tmp/pn_npy_test_XXXXXX";

static pn_status scenario(void *self, pn_err *err)
{
    double x[] = { 1.5, -2.0, 3.0, 4.0, 5.0, 6.0 };
    size_t shape[] = { 2, 3 };
    pn_npy array = { 0 };
    pn_status status = pn_npy_save(path, x, 2, shape, err);

    (void)self;
    if (status == PN_OK)
        status = pn_npy_load(&array, path, NULL, err);
    if (status == PN_OK)
        CHECK(array.dims == 2 && array.shape[0] == 2 && array.shape[1] == 3 && memcmp(array.data, x, sizeof x) == 0);
    pn_free(array.data);
    return status;
}

/* The layout of numpy.lib.format, version 1.0: magic, version, header length, header, newline at a multiple of 64. */
static void test_bytes(void)
{
    static const char header[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
    static const unsigned char third[] = { 0, 0, 0, 0, 0, 0, 0, 0xc0 }; /* -2 in IEEE 754, lowest byte first */
    double x[] = { 0.5, 1.0, -2.0 };
    unsigned char bytes[200];
    size_t shape = 3, length;
    FILE *file;

    CHECK(pn_npy_save(path, x, 1, &shape, NULL) == PN_OK);
    file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file)
        return;
    length = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    CHECK(length == 128 + 24);
    CHECK(memcmp(bytes, header, sizeof header - 1) == 0);
    CHECK(bytes[127] == '\n');
    CHECK(memcmp(bytes + 128 + 16, third, sizeof third) == 0);
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    if (fd < 0)
        return check_summary();
    (void)close(fd);
    test_bytes();
    CHECK(fail_alloc_sweep("npy", scenario, NULL) == 3);
    (void)unlink(path);
    return check_summary();
}
