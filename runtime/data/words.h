/* words.h -- a set of words, numbered from 0 in the order in which they came.  Depends on: core.
 * Used by: runtime/data. */
#ifndef PN_DATA_WORDS_H
#define PN_DATA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PN_NO_WORD SIZE_MAX

/* All zeros: empty. */
typedef struct pn_words {
    char *text; /* the words, each ended by a zero byte */
    size_t used, room;
    size_t *start; /* [count] where each begins */
    size_t count, capacity;
    uint32_t *slot; /* [slots] a hash table: number of the word + 1, or 0; slots is 0 or a power of two */
    size_t slots;
} pn_words;

void pn_words_clear(pn_words *words);
/** The number of the word text[length], which holds no zero byte, or PN_NO_WORD. */
size_t pn_words_find(const pn_words *words, const char *text, size_t length);
/** The same; adds the word if it is new.  PN_NO_WORD when memory is short. */
size_t pn_words_add(pn_words *words, const char *text, size_t length);
/** Valid until the next one is added. */
const char *pn_words_at(const pn_words *words, size_t number);
/**
 * place[count] = where each word comes in sorted order: numbers by their value and before all else, the rest by their
 * bytes (for UTF-8, in the order of code points).  c_locale as for pn_number_read.  False when memory is short.
 */
bool pn_words_sort(const pn_words *words, size_t *place, void *c_locale);

#endif
