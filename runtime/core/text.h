/* text.h -- text that people read: how wide it is on a screen, where a line of it ends, what can be shown.
 * Depends on: nothing.  Used by: plans, bindings, readers. */
#ifndef PN_CORE_TEXT_H
#define PN_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PN_TEXT_WIDTH 80 /* of all that is printed */

/** Characters of `length` bytes of UTF-8; a byte that belongs to none counts as one. */
size_t pn_text_columns(const char *text, size_t length);

/**
 * How many bytes of text[length] one line of `columns` takes: all of it, or up to a space
 * (which is dropped: *skip is 1), or, where no space is near enough, as many characters as fit.
 *   skip  out: bytes to pass over before the next line.
 */
size_t pn_text_line(const char *text, size_t length, size_t columns, size_t *skip);

/** Bytes of the character of UTF-8 at text[0 .. size - 1], size > 0; 0 when none is there, or one that a terminal would
 *  obey instead of showing it. */
size_t pn_text_printable(const char *text, size_t size);

/** Whether text[length] is UTF-8 throughout, of whatever characters.  Jansson refuses what is not as it refuses all
 *  when memory is short: which of the two it was. */
bool pn_text_is_utf8(const char *text, size_t length);

/** Bytes of a cell of so many columns: UTF-8 has at most four for a character. */
#define PN_TEXT_CELL_BYTES(columns) (4 * (columns) + 1)

/** What snprintf or the like left in text[size]: where that is full, and so may have been cut, it ends in "..." now. */
static inline void pn_text_say_cut(char *text, size_t size)
{
    if (size > 3 && strlen(text) == size - 1)
        memcpy(text + size - 4, "...", 3);
}

/**
 * `text` as a cell of a table, exactly `columns` (from 3) characters wide: "..." ends what was cut, a blank stands for
 * what a terminal would not show, and blanks fill the rest, in front of the text where `right`.
 *   out  [PN_TEXT_CELL_BYTES(columns)].
 * Returns out.
 */
const char *pn_text_cell(char *out, const char *text, size_t columns, bool right);

#endif
