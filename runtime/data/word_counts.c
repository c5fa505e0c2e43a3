/* word_counts.c -- words and how often each came.  Depends on: word_counts.h, core.  Used by: recipe_value.c. */
#include <string.h>

#include "core/alloc.h"
#include "data/word_counts.h"

void pn_word_counts_clear(pn_word_counts *counts)
{
    pn_words_clear(&counts->words);
    pn_free(counts->times);
    memset(counts, 0, sizeof *counts);
}

/* Room comes first: a word that is there has its count. */
static bool make_room(pn_word_counts *counts)
{
    size_t room = 2 * counts->room + 16;
    size_t *larger;

    if (counts->words.count < counts->room)
        return true;
    larger = pn_resize(counts->times, room, sizeof *larger);
    if (!larger)
        return false;
    memset(larger + counts->room, 0, (room - counts->room) * sizeof *larger);
    counts->times = larger;
    counts->room = room;
    return true;
}

bool pn_word_counts_add(pn_word_counts *counts, const char *text, size_t length)
{
    size_t number = make_room(counts) ? pn_words_add(&counts->words, text, length) : PN_NO_WORD;

    if (number == PN_NO_WORD)
        return false;
    counts->times[number]++;
    return true;
}
