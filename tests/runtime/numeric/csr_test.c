/* csr_test.c -- compressed rows: from triplets, transposed, times a vector, out of memory.
 * Depends on: check.h, fail_alloc.h, numeric/csr.h. */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/csr.h"

/*  [ 3 0 7 ]
 *  [ 0 0 0 ]     with (1,1) given as 1 + 2, in any order
 *  [ 0 5 0 ]  */
static const size_t example_row[] = { 2, 0, 0, 0 };
static const size_t example_column[] = { 1, 2, 0, 0 };
static const double example_value[] = { 5.0, 7.0, 1.0, 2.0 };

static pn_status make_example(pn_csr *out, pn_err *err)
{
    return pn_csr_from_triplets(out, 3, 3, 4, example_row, example_column, example_value, err);
}

static void test_triplets(void)
{
    static const size_t start[] = { 0, 2, 2, 3 };
    static const uint32_t column[] = { 0, 2, 1 };
    static const double value[] = { 3.0, 7.0, 5.0 };
    pn_csr matrix;

    CHECK(make_example(&matrix, NULL) == PN_OK);
    CHECK(matrix.rows == 3 && matrix.cols == 3);
    CHECK(memcmp(matrix.start, start, sizeof start) == 0);
    CHECK(memcmp(matrix.column, column, sizeof column) == 0);
    CHECK(memcmp(matrix.value, value, sizeof value) == 0);
    pn_csr_clear(&matrix);
    CHECK(matrix.start == NULL);
    pn_csr_clear(&matrix);
    pn_csr_clear(NULL);
}

static void test_operations(void)
{
    static const double x[] = { 1.0, 10.0, 100.0 };
    double y[3];
    pn_csr matrix, transpose;

    CHECK(make_example(&matrix, NULL) == PN_OK);
    CHECK(pn_csr_transpose(&transpose, &matrix, NULL) == PN_OK);
    pn_csr_times(&matrix, x, y);
    CHECK(y[0] == 703.0 && y[1] == 0.0 && y[2] == 50.0);
    pn_csr_times(&transpose, x, y);
    CHECK(y[0] == 3.0 && y[1] == 500.0 && y[2] == 7.0);
    CHECK(transpose.start[0] == 0 && transpose.start[3] == 3);
    pn_csr_clear(&transpose);
    pn_csr_clear(&matrix);
}

/* A scrambled full matrix: columns must rise strictly in each row and hold the right entry. */
static void test_order(void)
{
    enum { ROWS = 17, COLS = 23 };
    size_t row[ROWS * COLS], column[ROWS * COLS];
    double value[ROWS * COLS];
    bool right = true;
    pn_csr matrix;

    for (size_t k = 0; k < ROWS * COLS; k++) {
        size_t place = k * 100 % (ROWS * COLS); /* 100 and 391 = 17 * 23 are coprime */

        row[k] = place / COLS;
        column[k] = place % COLS;
        value[k] = (double)place;
    }
    CHECK(pn_csr_from_triplets(&matrix, ROWS, COLS, ROWS * COLS, row, column, value, NULL) == PN_OK);
    for (size_t k = 0; k < ROWS * COLS; k++)
        right = right && matrix.column[k] == k % COLS && matrix.value[k] == (double)k;
    CHECK(right);
    pn_csr_clear(&matrix);
}

static void test_refusals(void)
{
    size_t zero = 0, two = 2, pair[] = { 0, 0 };
    double one = 1.0, bad = NAN, large[] = { DBL_MAX, DBL_MAX };
    pn_csr matrix;
    pn_err err;

    CHECK(pn_csr_from_triplets(&matrix, 2, 3, 1, &two, &zero, &one, &err) == PN_EDIM);
    CHECK(strstr(err.message, "row 3 of 2") != NULL);
    CHECK(pn_csr_from_triplets(&matrix, 3, 2, 1, &zero, &two, &one, &err) == PN_EDIM);
    CHECK(strstr(err.message, "column 3 of 2") != NULL);
    CHECK(pn_csr_from_triplets(&matrix, 1, 1, 1, &zero, &zero, &bad, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "entry 1 is NaN") != NULL);
    CHECK(pn_csr_from_triplets(&matrix, 1, 1, 2, pair, pair, large, &err) == PN_EDOMAIN);
    CHECK(pn_csr_init(&matrix, 1, (size_t)UINT32_MAX + 1, 1, &err) == PN_EDIM);
    CHECK(pn_csr_init(&matrix, 1, 1, SIZE_MAX, &err) == PN_EINVAL);
    CHECK(pn_csr_init(&matrix, SIZE_MAX, 1, 1, &err) == PN_EINVAL);
    CHECK(matrix.start == NULL && matrix.column == NULL && matrix.value == NULL);
    CHECK(pn_csr_from_triplets(&matrix, 2, 2, 0, NULL, NULL, NULL, &err) == PN_OK);
    CHECK(matrix.start[2] == 0);
    pn_csr_clear(&matrix);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_csr matrix = { 0 }, transpose = { 0 };
    pn_status status = make_example(&matrix, err);

    (void)self;
    if (status == PN_OK)
        status = pn_csr_transpose(&transpose, &matrix, err);
    pn_csr_clear(&matrix);
    pn_csr_clear(&transpose);
    return status;
}

int main(void)
{
    test_triplets();
    test_operations();
    test_order();
    test_refusals();
    CHECK(fail_alloc_sweep("csr", scenario, NULL) >= 7);
    return check_summary();
}
