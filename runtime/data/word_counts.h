/* word_counts.h -- words and how often each came.  Depends on: words.h.  Used by: recipe, objective (levels.c),
 * bindings. */
#ifndef PN_DATA_WORD_COUNTS_H
#define PN_DATA_WORD_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "data/words.h"

/* All zeros: empty. */
typedef struct pn_word_counts {
    pn_words words;
    size_t *times; /* [words.count] */
    size_t room;
} pn_word_counts;

void pn_word_counts_clear(pn_word_counts *counts);
/** Count the word text[length], which holds no zero byte, once more.  False when memory is short. */
bool pn_word_counts_add(pn_word_counts *counts, const char *text, size_t length);

#endif
