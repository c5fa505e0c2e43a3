/* words.c -- a set of words: an open hash table over one block of text.  Depends on: words.h, number.h, core.
 * Used by: csv_text.c, csv.c. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/number.h"
#include "data/words.h"

void pn_words_clear(pn_words *words)
{
    pn_free(words->text);
    pn_free(words->start);
    pn_free(words->slot);
    memset(words, 0, sizeof *words);
}

const char *pn_words_at(const pn_words *words, size_t number)
{
    return words->text + words->start[number];
}

/* FNV-1a */
static size_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t k = 0; k < length; k++)
        hash = (hash ^ (unsigned char)text[k]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32);
}

/* The slot that holds the word, or the free one where it would go.  slots > count, so there is one. */
static size_t slot_of(const pn_words *words, const char *text, size_t length)
{
    size_t at = hash_of(text, length) & (words->slots - 1);

    for (; words->slot[at]; at = (at + 1) & (words->slots - 1)) {
        const char *word = pn_words_at(words, words->slot[at] - 1);

        if (strncmp(word, text, length) == 0 && word[length] == '\0')
            break;
    }
    return at;
}

size_t pn_words_find(const pn_words *words, const char *text, size_t length)
{
    size_t slot = words->slots > 0 ? slot_of(words, text, length) : 0;

    return words->slots > 0 && words->slot[slot] ? words->slot[slot] - 1 : PN_NO_WORD;
}

static bool grow_slots(pn_words *words)
{
    pn_words larger = *words;

    larger.slots = words->slots > 0 ? 2 * words->slots : 16;
    larger.slot = pn_calloc(larger.slots, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t k = 0; k < words->count; k++) {
        const char *word = pn_words_at(words, k);

        larger.slot[slot_of(&larger, word, strlen(word))] = (uint32_t)(k + 1);
    }
    pn_free(words->slot);
    *words = larger;
    return true;
}

/* Room for one more word of `length` bytes. */
static bool make_room(pn_words *words, size_t length)
{
    if (words->count == words->capacity) {
        size_t capacity = words->capacity > 0 ? 2 * words->capacity : 8;
        size_t *start = pn_resize(words->start, capacity, sizeof *start);

        if (!start)
            return false;
        words->start = start;
        words->capacity = capacity;
    }
    if (words->room - words->used < length + 1) {
        size_t room = 2 * words->room + length + 1;
        char *text = pn_resize(words->text, room, 1);

        if (!text)
            return false;
        words->text = text;
        words->room = room;
    }
    return 2 * (words->count + 1) <= words->slots || grow_slots(words);
}

size_t pn_words_add(pn_words *words, const char *text, size_t length)
{
    size_t number = pn_words_find(words, text, length);

    if (number != PN_NO_WORD)
        return number;
    if (words->count == UINT32_MAX - 1 || !make_room(words, length))
        return PN_NO_WORD;
    number = words->count;
    words->slot[slot_of(words, text, length)] = (uint32_t)(number + 1);
    words->start[number] = words->used;
    memcpy(words->text + words->used, text, length);
    words->text[words->used + length] = '\0';
    words->used += length + 1;
    words->count++;
    return number;
}

/* ---- order ---- */

typedef struct entry {
    const char *word;
    double value;
    bool is_number;
    size_t number;
} entry;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;

    if (a->is_number != b->is_number)
        return a->is_number ? -1 : 1;
    if (a->is_number && a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return strcmp(a->word, b->word); /* as unsigned bytes */
}

bool pn_words_sort(const pn_words *words, size_t *place, void *c_locale)
{
    entry *entries = pn_alloc(words->count, sizeof *entries);

    if (!entries)
        return false;
    for (size_t k = 0; k < words->count; k++) {
        const char *word = pn_words_at(words, k), *end;
        double value = 0.0;

        end = pn_number_read(word, &value, c_locale); /* stops at the zero byte at the latest */
        entries[k] = (entry){ word, value, end && *end == '\0', k };
    }
    qsort(entries, words->count, sizeof *entries, compare);
    for (size_t k = 0; k < words->count; k++)
        place[entries[k].number] = k;
    pn_free(entries);
    return true;
}
