/* lnumbers_print.c -- vectors and matrices as text: short ones whole, of long ones the range and the ends, in columns.
 * Depends on: lnumbers.h, lprint.h.  Used by: lvec.c, lmat.c, lsparse.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/numeric/lnumbers.h"
#include "core/text.h"

#define VEC_WHOLE   10 /* entries of a vector that is printed whole, and more when they fit into one line */
#define VEC_ENDS    3  /* of a longer one, so many at its end */
#define MAT_ROWS    10 /* rows of a matrix that has all of them printed */
#define MAT_FIRST   6
#define MAT_LAST    3
#define MAT_COLUMNS 40 /* no more fit into a line */
#define ENTRIES     24 /* of a sparse matrix: candidates, of which a line takes what fits */
#define DIGITS      6

/* ---- vectors ---- */

/* "  a b c ... y z", in one line. */
static void add_ends(luaL_Buffer *text, const double *numbers, size_t n)
{
    char last[VEC_ENDS * (PNL_NUMBER_BYTES + 1) + 8] = " ...", digits[PNL_NUMBER_BYTES];
    size_t room;

    for (size_t i = n - VEC_ENDS; i < n; i++) {
        (void)strcat(last, " ");
        (void)strcat(last, pnl_number_text(digits, numbers[i], DIGITS));
    }
    luaL_addstring(text, "\n ");
    room = PN_TEXT_WIDTH - 1 - strlen(last);
    for (size_t i = 0; i < n - VEC_ENDS; i++) {
        size_t width = 1 + strlen(pnl_number_text(digits, numbers[i], DIGITS));

        if (width > room)
            break;
        luaL_addchar(text, ' ');
        luaL_addstring(text, digits);
        room -= width;
    }
    luaL_addstring(text, last);
}

/* "vec(3): 1 2 3.5": as it was typed. */
static void add_whole(luaL_Buffer *text, const double *numbers, size_t n)
{
    char digits[PNL_NUMBER_BYTES];

    pnl_add_format(text, "vec(%zu):", n);
    for (size_t i = 0; i < n; i++) {
        luaL_addchar(text, ' ');
        luaL_addstring(text, pnl_number_text(digits, numbers[i], DIGITS));
    }
}

static bool fits_in_a_line(const double *numbers, size_t n)
{
    size_t width = strlen("vec(10):");
    char digits[PNL_NUMBER_BYTES];

    for (size_t i = 0; i < n && width <= PN_TEXT_WIDTH; i++)
        width += 1 + strlen(pnl_number_text(digits, numbers[i], DIGITS));
    return width <= PN_TEXT_WIDTH;
}

int pnl_vec_tostring(lua_State *L)
{
    pnl_vec *self = pnl_check(L, 1, &pnl_vec_class);
    pnl_range range;
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    if (self->n <= VEC_WHOLE || fits_in_a_line(self->data, self->n)) {
        add_whole(&text, self->data, self->n);
    } else {
        range = pnl_range_of(self->data, self->n);
        pnl_add_format(&text, "vec of %zu", self->n);
        pnl_add_range(&text, &range);
        luaL_addchar(&text, ':');
        add_ends(&text, self->data, self->n);
    }
    luaL_pushresult(&text);
    return 1;
}

/* ---- matrices ---- */

/* Which rows are printed: all, or the first and the last with a gap. */
typedef struct shown_rows {
    size_t index[MAT_ROWS], count;
    bool cut;
} shown_rows;

static shown_rows rows_to_show(size_t rows)
{
    shown_rows shown = { .cut = rows > MAT_ROWS };

    shown.count = shown.cut ? MAT_FIRST + MAT_LAST : rows;
    for (size_t i = 0; i < shown.count; i++)
        shown.index[i] = shown.cut && i >= MAT_FIRST ? rows - shown.count + i : i;
    return shown;
}

/* How wide a column is left and right of its decimal points. */
typedef struct column {
    size_t index, left, right;
} column;

static size_t before_point(const char *digits)
{
    return strcspn(digits, ".e");
}

static column measure(const pnl_mat *self, const shown_rows *rows, size_t j)
{
    column c = { j, 0, 0 };
    char digits[PNL_NUMBER_BYTES];

    for (size_t i = 0; i < rows->count; i++) {
        size_t left, right;

        (void)pnl_number_text(digits, self->data[rows->index[i] * self->cols + j], DIGITS);
        left = before_point(digits);
        right = strlen(digits) - left;
        c.left = left > c.left ? left : c.left;
        c.right = right > c.right ? right : c.right;
    }
    return c;
}

static size_t width_of(const column *c)
{
    return 1 + c->left + c->right;
}

typedef struct shown_columns {
    column of[MAT_COLUMNS + 1];
    size_t count, gap; /* "..." stands before number gap; count without */
} shown_columns;

/* All columns when they fit, else the first ones that do, and the last. */
static shown_columns columns_to_show(const pnl_mat *self, const shown_rows *rows)
{
    shown_columns shown = { .count = 0 };
    size_t room = PN_TEXT_WIDTH - 1, used = 0, kept = 0;
    column last;

    if (self->cols == 0)
        return shown;
    last = measure(self, rows, self->cols - 1);
    while (shown.count < self->cols && shown.count < MAT_COLUMNS) {
        column next = measure(self, rows, shown.count);

        if (used + width_of(&next) > room)
            break;
        used += width_of(&next);
        shown.of[shown.count++] = next;
        if (used + strlen(" ...") + width_of(&last) <= room)
            kept = shown.count;
    }
    shown.gap = shown.count;
    if (shown.count < self->cols) {
        shown.gap = shown.count = kept;
        shown.of[shown.count++] = last;
    }
    return shown;
}

static void add_blanks(luaL_Buffer *text, size_t count)
{
    for (; count > 0; count--)
        luaL_addchar(text, ' ');
}

static void add_row(luaL_Buffer *text, const pnl_mat *self, const shown_columns *columns, size_t row)
{
    size_t owed = 0; /* blanks that are written only when something follows */

    luaL_addstring(text, "\n ");
    for (size_t k = 0; k < columns->count; k++) {
        const column *c = &columns->of[k];
        char digits[PNL_NUMBER_BYTES];
        size_t left;

        (void)pnl_number_text(digits, self->data[row * self->cols + c->index], DIGITS);
        left = before_point(digits);
        add_blanks(text, owed);
        if (k == columns->gap)
            luaL_addstring(text, " ...");
        add_blanks(text, 1 + c->left - left);
        luaL_addstring(text, digits);
        owed = c->left + c->right - (c->left - left) - strlen(digits);
    }
}

int pnl_mat_tostring(lua_State *L)
{
    pnl_mat *self = pnl_check(L, 1, &pnl_mat_class);
    shown_rows rows = rows_to_show(self->rows);
    shown_columns columns = columns_to_show(self, &rows);
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    if (rows.cut || columns.count < self->cols) {
        pnl_range range = pnl_range_of(self->data, self->rows * self->cols);

        pnl_add_format(&text, "mat of %zu x %zu", self->rows, self->cols);
        pnl_add_range(&text, &range);
        luaL_addchar(&text, ':');
    } else {
        pnl_add_format(&text, "mat(%zu x %zu):", self->rows, self->cols);
    }
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.cut && i == MAT_FIRST)
            luaL_addstring(&text, "\n  ...");
        add_row(&text, self, &columns, rows.index[i]);
    }
    luaL_pushresult(&text);
    return 1;
}

/* ---- sparse matrices ---- */

/* "(1, 3) 2.5", as many as a line takes. */
static void add_entries(luaL_Buffer *text, const pn_csr *csr, size_t nnz)
{
    size_t room = PN_TEXT_WIDTH - 1 - strlen("  ..."), row = 0;
    char entry[100], digits[PNL_NUMBER_BYTES];

    luaL_addstring(text, "\n ");
    for (size_t k = 0; k < nnz && k < ENTRIES; k++) {
        size_t width;

        while (csr->start[row + 1] <= k)
            row++;
        (void)snprintf(entry, sizeof entry, "%s(%zu, %zu) %s", k ? "  " : " ", row + 1, (size_t)csr->column[k] + 1,
                       pnl_number_text(digits, csr->value[k], DIGITS));
        width = strlen(entry);
        if (width > room) {
            luaL_addstring(text, "  ...");
            return;
        }
        luaL_addstring(text, entry);
        room -= width;
    }
    if (nnz > ENTRIES)
        luaL_addstring(text, "  ...");
}

int pnl_sparse_tostring(lua_State *L)
{
    const pn_csr *csr = &((pnl_sparse *)pnl_check(L, 1, &pnl_sparse_class))->csr;
    size_t nnz = csr->start[csr->rows];
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    pnl_add_format(&text, "sparse(%zu x %zu): %zu entr%s (%.3g%%)", csr->rows, csr->cols, nnz, nnz == 1 ? "y" : "ies",
                   100.0 * (double)nnz / ((double)csr->rows * (double)csr->cols));
    if (nnz > 0) {
        pnl_range range = pnl_range_of(csr->value, nnz);

        pnl_add_format(&text, ", %.6g to %.6g", range.low, range.high);
        add_entries(&text, csr, nnz);
    }
    luaL_pushresult(&text);
    return 1;
}
