/* words_test.c -- a set of words: every word once, prefixes apart, and their order.  Depends on: check.h. */
#define _GNU_SOURCE /* newlocale */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "data/words.h"

#include "check.h"

/* "aaa...": in a table that is half full many of them meet, and each is the beginning of the longer ones. */
static void prefixes_are_other_words(void)
{
    enum { COUNT = 600 };
    pn_words words = { 0 };
    char text[COUNT];
    bool fresh = true, found = true;

    memset(text, 'a', sizeof text);
    CHECK(pn_words_find(&words, text, 3) == PN_NO_WORD);
    for (size_t k = 0; k < COUNT; k++) { /* the longest first, down to the empty word */
        fresh = fresh && pn_words_find(&words, text, COUNT - 1 - k) == PN_NO_WORD;
        fresh = fresh && pn_words_add(&words, text, COUNT - 1 - k) == k;
    }
    for (size_t k = 0; k < COUNT; k++) {
        found = found && pn_words_find(&words, text, COUNT - 1 - k) == k;
        found = found && pn_words_add(&words, text, COUNT - 1 - k) == k;
        found = found && strlen(pn_words_at(&words, k)) == COUNT - 1 - k;
    }
    CHECK(fresh);
    CHECK(found);
    CHECK(words.count == COUNT);
    pn_words_clear(&words);
    CHECK(words.count == 0 && words.text == NULL);
}

static void numbers_come_first_and_by_value(void)
{
    static const char *const sorted[] = { "-3", "0.5", "2", "2.0", "1e1", "", "10 ", "2b", "B", "a", "\xc3\xa9" };
    enum { COUNT = sizeof sorted / sizeof sorted[0] };
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    pn_words words = { 0 };
    size_t place[COUNT];

    for (size_t k = 0; k < COUNT; k++) {
        const char *word = sorted[(5 * k + 3) % COUNT]; /* 5 and 11 have no common divisor: each once */

        CHECK(pn_words_add(&words, word, strlen(word)) == k);
    }
    CHECK(pn_words_sort(&words, place, (void *)c_locale));
    for (size_t k = 0; k < COUNT; k++)
        CHECK(place[k] == (5 * k + 3) % COUNT);
    pn_words_clear(&words);
    freelocale(c_locale);
}

int main(void)
{
    prefixes_are_other_words();
    numbers_come_first_and_by_value();
    return check_summary();
}
