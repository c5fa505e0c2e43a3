/* lprint.h -- what printed objects have in common: numbers, small pictures of numbers, lines that end at column 80.
 * Nothing here writes to a stream, and no text has escapes: colour is put on by who shows it.
 * Depends on: pnl.h, core/text.h.  Used by: the __tostring of every class. */
#ifndef PNL_PRINT_H
#define PNL_PRINT_H

#include "bindings/core/pnl.h"

#define PNL_NUMBER_BYTES 32

/** x with so many significant digits: "1.5", "nan", "-inf". */
const char *pnl_number_text(char out[PNL_NUMBER_BYTES], double x, int digits);
/** As luaL_addstring with a format; pieces of at most 400 bytes. */
void pnl_add_format(luaL_Buffer *text, const char *format, ...) PN_PRINTF(2, 3);

/* What the entries of a vector or matrix are like; non-finite ones are counted and left out of the rest. */
typedef struct pnl_range {
    double low, high, mean; /* NaN when no entry is finite */
    size_t zeros, nans, infinities;
} pnl_range;

pnl_range pnl_range_of(const double *numbers, size_t count);
/** Add ", -3.1 to 2.9, mean 0.1, 12 zeros, 3 nan, 1 inf". */
void pnl_add_range(luaL_Buffer *text, const pnl_range *range);

/** Whether the environment's locale has UTF-8: else pictures are made of ASCII. */
bool pnl_has_utf8(void);

#define PNL_PICTURE_COLUMNS 64
#define PNL_PICTURE_BYTES   (3 * PNL_PICTURE_COLUMNS + 1)

/** The course of `count` numbers in at most `columns` (<= 64) blocks, the least lowest; a stretch without finite
 *  numbers is a blank.  Empty when fewer than two are finite. */
void pnl_sparkline(char out[PNL_PICTURE_BYTES], const double *numbers, size_t count, size_t columns);
/** `share` (0 to 1) of a bar of `columns` (<= 64) blocks filled. */
void pnl_share_bar(char out[PNL_PICTURE_BYTES], double share, size_t columns);

/** Preload the module penumbra.cell, for the Lua half: cell(text, columns, right) is pn_text_cell. */
void pnl_open_cell(lua_State *L);

/** The text on the top of the stack, with every line broken to at most 80 columns; what follows a break stands under
 *  the column of a line "name  text", or is indented. */
void pnl_wrap_lines(lua_State *L);

#endif
