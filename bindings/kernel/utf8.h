/* utf8.h -- text that a program printed, as JSON takes it.  Depends on: libc.  Used by: publish.c, lkernel.c. */
#ifndef PNL_UTF8_H
#define PNL_UTF8_H

#include <stddef.h>

#define PNL_UTF8_GROWTH 3 /* a byte that belongs to no character becomes the three of U+FFFD */

/** How many of the bytes end with a whole character: the last ones may be the beginning of one. */
size_t pnl_utf8_whole(const char *text, size_t size);
/** out[PNL_UTF8_GROWTH * size]: the text, with U+FFFD for each byte that belongs to no character.  Its size. */
size_t pnl_utf8_clean(const char *text, size_t size, char *out);

#endif
