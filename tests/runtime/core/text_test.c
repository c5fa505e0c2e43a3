/* text_test.c -- cells of tables: as wide as asked for whatever the text, cut between characters, no control
 * characters.  Depends on: check.h. */
#include <string.h>

#include "core/text.h"
#include "check.h"

#define COLUMNS 8

static const char *cell(const char *text, bool right)
{
    static char out[PN_TEXT_CELL_BYTES(COLUMNS)];

    return pn_text_cell(out, text, COLUMNS, right);
}

static void check_fills(void)
{
    CHECK(strcmp(cell("age", false), "age     ") == 0);
    CHECK(strcmp(cell("age", true), "     age") == 0);
    CHECK(strcmp(cell("", false), "        ") == 0);
    CHECK(strcmp(cell("exactly8", true), "exactly8") == 0);
}

static void check_characters(void)
{
    CHECK(strcmp(cell("Gr\xc3\xb6\xc3\x9f"
                      "e",
                      false),
                 "Gr\xc3\xb6\xc3\x9f"
                 "e   ") == 0);
    CHECK(strcmp(cell("\xe2\x82\xac\xe2\x82\xac", true), "      \xe2\x82\xac\xe2\x82\xac") == 0);
    CHECK(strlen(cell("\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
                      "\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
                      false)) == 4 * COLUMNS);
}

static void check_cuts(void)
{
    CHECK(strcmp(cell("a long name", false), "a lon...") == 0);
    CHECK(strcmp(cell("a long name", true), "a lon...") == 0);
    CHECK(strcmp(cell("\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6", false),
                 "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6...") == 0);
}

static void check_controls(void)
{
    CHECK(strcmp(cell("\x1b[1m\n\xffx", false), " [1m  x ") == 0);
    CHECK(strcmp(cell("half \xc3", false), "half    ") == 0);
}

static bool is_utf8(const char *text)
{
    return pn_text_is_utf8(text, strlen(text));
}

/* The Unicode Standard, table 3-7: the first and last of each row, and what lies beside them. */
static void check_utf8(void)
{
    CHECK(is_utf8("") && is_utf8("\x01 ~\x7f") && is_utf8("\xc2\x80\xdf\xbf") && is_utf8("\xe0\xa0\x80\xef\xbf\xbf"));
    CHECK(is_utf8("\xed\x9f\xbf") && is_utf8("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
    CHECK(!is_utf8("\x80") && !is_utf8("\xc1\xbf") && !is_utf8("\xc2") && !is_utf8("\xc2\x7f"));
    CHECK(!is_utf8("\xe0\x9f\xbf") && !is_utf8("\xed\xa0\x80") && !is_utf8("\xe2\x82"));
    CHECK(!is_utf8("\xf0\x8f\xbf\xbf") && !is_utf8("\xf4\x90\x80\x80") && !is_utf8("\xf5\x80\x80\x80"));
    CHECK(pn_text_is_utf8("a\xc3", 1) && !pn_text_is_utf8("a\xc3\xb6", 2));
}

int main(void)
{
    check_fills();
    check_characters();
    check_cuts();
    check_controls();
    check_utf8();
    return check_summary();
}
