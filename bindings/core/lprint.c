/* lprint.c -- numbers, ranges, sparklines, bars and line breaks of printed objects.
 * Depends on: lprint.h, core/text.h.  Used by: pnl.c and the bindings that print. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bindings/core/lprint.h"
#include "core/text.h"

#define LABEL_COLUMNS 24 /* what begins further right is no column of a table */

/* ---- numbers ---- */

const char *pnl_number_text(char out[PNL_NUMBER_BYTES], double x, int digits)
{
    if (isnan(x))
        return strcpy(out, "nan"); /* printf shows its sign, which says nothing */
    (void)snprintf(out, PNL_NUMBER_BYTES, "%.*g", digits, x);
    return out;
}

void pnl_add_format(luaL_Buffer *text, const char *format, ...)
{
    char piece[400];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    luaL_addstring(text, piece);
}

pnl_range pnl_range_of(const double *numbers, size_t count)
{
    pnl_range range = { .low = INFINITY, .high = -INFINITY };
    long double sum = 0.0L; /* has room for the sum of large numbers */
    size_t finite;

    for (size_t i = 0; i < count; i++) {
        double x = numbers[i];

        range.nans += isnan(x) ? 1u : 0u;
        range.infinities += isinf(x) ? 1u : 0u;
        if (!isfinite(x))
            continue;
        range.zeros += x == 0.0;
        range.low = x < range.low ? x : range.low;
        range.high = x > range.high ? x : range.high;
        sum += x;
    }
    finite = count - range.nans - range.infinities;
    range.mean = finite ? (double)(sum / (long double)finite) : NAN;
    if (finite == 0)
        range.low = range.high = NAN;
    return range;
}

static void add_count(luaL_Buffer *text, size_t count, const char *what, const char *plural)
{
    if (count > 0)
        pnl_add_format(text, ", %zu %s%s", count, what, count == 1 ? "" : plural);
}

void pnl_add_range(luaL_Buffer *text, const pnl_range *range)
{
    if (!isnan(range->mean))
        pnl_add_format(text, ", %.6g to %.6g, mean %.4g", range->low, range->high, range->mean);
    add_count(text, range->zeros, "zero", "s");
    add_count(text, range->nans, "nan", "");
    add_count(text, range->infinities, "inf", "");
}

/* ---- pictures ---- */

/* The first that is set decides, as in setlocale. */
bool pnl_has_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]), *codeset;

        if (!value || !*value)
            continue;
        codeset = strchr(value, '.');
        return codeset && (strncasecmp(codeset, ".utf-8", 6) == 0 || strncasecmp(codeset, ".utf8", 5) == 0);
    }
    return false;
}

#define LEVELS 8

static const char *const blocks[LEVELS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii_blocks[LEVELS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

/* The mean of the finite numbers from `first` on, short of `end`; NaN when there is none. */
static double mean_of(const double *numbers, size_t first, size_t end)
{
    return pnl_range_of(numbers + first, end - first).mean;
}

void pnl_sparkline(char out[PNL_PICTURE_BYTES], const double *numbers, size_t count, size_t columns)
{
    const char *const *levels = pnl_has_utf8() ? blocks : ascii_blocks;
    pnl_range range;
    double heights[PNL_PICTURE_COLUMNS];

    out[0] = '\0';
    columns = columns < PNL_PICTURE_COLUMNS ? columns : PNL_PICTURE_COLUMNS;
    columns = columns < count ? columns : count;
    range = pnl_range_of(numbers, count);
    if (columns == 0 || count - range.nans - range.infinities < 2)
        return;
    for (size_t i = 0; i < columns; i++)
        heights[i] = mean_of(numbers, count * i / columns, count * (i + 1) / columns);
    range = pnl_range_of(heights, columns);
    for (size_t i = 0; i < columns; i++) {
        double share = range.high > range.low ? (heights[i] - range.low) / (range.high - range.low) : 0.0;

        (void)strcat(out, isnan(heights[i]) ? " " : levels[(size_t)fmin(LEVELS * share, LEVELS - 1)]);
    }
}

/* Something spent shows, and so does something left. */
void pnl_share_bar(char out[PNL_PICTURE_BYTES], double share, size_t columns)
{
    bool utf8 = pnl_has_utf8();
    size_t filled;

    columns = columns < PNL_PICTURE_COLUMNS ? columns : PNL_PICTURE_COLUMNS;
    filled = share >= 1.0 ? columns : share > 0.0 ? (size_t)(share * (double)columns) : 0;
    if (share > 0.0 && filled == 0)
        filled = 1;
    out[0] = '\0';
    for (size_t i = 0; i < columns; i++)
        (void)strcat(out, i < filled ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
}

/* ---- line breaks ---- */

static size_t blanks_at(const char *text, size_t length, size_t from)
{
    size_t end = from;

    while (end < length && text[end] == ' ')
        end++;
    return end - from;
}

/* Where what follows a break of this line stands. */
static size_t indent_of(const char *line, size_t length)
{
    size_t lead = blanks_at(line, length, 0);

    for (size_t i = lead; i < length && i < LABEL_COLUMNS; i++) {
        size_t blanks = blanks_at(line, length, i);

        if (blanks >= 2 && i + blanks < length && i + blanks <= LABEL_COLUMNS)
            return pn_text_columns(line, i + blanks);
        i += blanks;
    }
    return lead + (lead < 4 ? 4 - lead : 2);
}

static void add_wrapped(luaL_Buffer *out, const char *line, size_t length)
{
    size_t indent = indent_of(line, length), lead = blanks_at(line, length, 0), room, skip;

    if (lead >= PN_TEXT_WIDTH / 2) /* a picture: its blanks are no indentation */
        lead = 0;
    luaL_addlstring(out, line, lead);
    line += lead;
    length -= lead;
    room = PN_TEXT_WIDTH - lead;
    for (;;) {
        size_t piece = pn_text_line(line, length, room, &skip);

        luaL_addlstring(out, line, piece);
        line += piece + skip;
        length -= piece + skip;
        if (length == 0)
            return;
        luaL_addchar(out, '\n');
        for (size_t i = 0; i < indent; i++)
            luaL_addchar(out, ' ');
        room = PN_TEXT_WIDTH - indent;
    }
}

static bool fits(const char *text, size_t length)
{
    for (const char *end = text + length; text < end;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((stop ? stop : end) - text);

        if (pn_text_columns(text, line) > PN_TEXT_WIDTH)
            return false;
        text += line + 1;
    }
    return true;
}

void pnl_wrap_lines(lua_State *L)
{
    size_t length;
    const char *text = lua_tolstring(L, -1, &length), *end = text + length;
    luaL_Buffer out;

    if (fits(text, length))
        return;
    luaL_buffinit(L, &out);
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((stop ? stop : end) - text);

        add_wrapped(&out, text, line);
        text += line;
        if (text < end) {
            luaL_addchar(&out, '\n');
            text++;
        }
    }
    luaL_pushresult(&out);
    lua_remove(L, -2);
}

/* ---- cells, for the Lua half ---- */

#define CELL_COLUMNS 80

static int cell(lua_State *L)
{
    char out[PN_TEXT_CELL_BYTES(CELL_COLUMNS)];
    lua_Integer columns = luaL_checkinteger(L, 2);

    luaL_argcheck(L, columns >= 3 && columns <= CELL_COLUMNS, 2, "a cell must have 3 to 80 columns");
    lua_pushstring(L, pn_text_cell(out, luaL_checkstring(L, 1), (size_t)columns, lua_toboolean(L, 3)));
    return 1;
}

static int open_cell(lua_State *L)
{
    lua_pushcfunction(L, cell);
    return 1;
}

void pnl_open_cell(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_cell);
    lua_setfield(L, -2, "penumbra.cell");
    lua_pop(L, 1);
}
