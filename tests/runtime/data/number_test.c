/* number_test.c -- reading decimal numbers, against the C library's correctly rounded strtod.  Depends on: check.h. */
#define _GNU_SOURCE /* newlocale */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"

#include "check.h"

static void *c_locale;
static uint64_t state = 88172645463325252u;

/* xorshift64: texts to try, nothing random is claimed of them. */
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static bool agrees(const char *number)
{
    char text[400];
    const char *end, *quick_end;
    double got = 0.5, quick = 0.5, want = strtod(number, NULL);

    (void)snprintf(text, sizeof text, "%s\n", number);
    end = pn_number_read(text, &got, c_locale);
    quick_end = pn_number_next(text, &quick, c_locale);
    if (end == text + strlen(number) && memcmp(&got, &want, sizeof got) == 0 && quick_end == end &&
        memcmp(&quick, &want, sizeof quick) == 0)
        return true;
    (void)fprintf(stderr, "    '%s': got %.17g, want %.17g\n", number, got, want);
    return false;
}

static void known_texts(void)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0",
        "1",
        "-1",
        "+7",
        "007",
        "1.",
        ".5",
        "-.5",
        "0.1",
        "1e0",
        "1E+2",
        "1e-2",
        "1e22",
        "1e23",
        "123e-25",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993e1",
        "0.30000000000000004",
        "2.2250738585072011e-308",
        "4.9e-324",
        "1e-400",
        "1e400",
        "-1e400",
        "0e999999999999",
        "179769313486231570000000000000000000000e270",
        "12345678901234567890",
        "1.0000000000000002220446049250313080847263336181640625",
        "1.00000000000000011102230246251565404236316680908203125",
        "0.000000000000000000000000000001234567890123",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(agrees(texts[i]));
}

static void random_texts(void)
{
    char text[80];
    bool all = true;

    for (int trial = 0; trial < 200000 && all; trial++) {
        int64_t digits = (int64_t)(next() >> (next() % 64));
        int kind = (int)(next() % 4), places = (int)(next() % 20);
        double bits;

        if (kind == 0) {
            (void)snprintf(text, sizeof text, "%" PRId64 "e%d", digits, (int)(next() % 60) - 30);
        } else if (kind == 1) {
            (void)snprintf(text, sizeof text, "%d.%0*" PRIu64, (int)(next() % 2000) - 1000, places, next() % 100000);
        } else {
            uint64_t raw = next();

            memcpy(&bits, &raw, sizeof bits);
            if (!isfinite(bits))
                continue;
            (void)snprintf(text, sizeof text, kind == 2 ? "%.17g" : "%.6g", bits);
        }
        all = agrees(text);
    }
    CHECK(all);
}

/* How many bytes of the text are taken; -1 when it begins with no number. */
static long taken(const char *text)
{
    double value;
    const char *end = pn_number_read(text, &value, c_locale);

    CHECK(pn_number_next(text, &value, c_locale) == end);
    return end ? (long)(end - text) : -1;
}

static void what_is_no_number(void)
{
    static const char *const refused[] = { "\n",    "-\n",   "+\n",    ".\n", "-.\n",  "e5\n",  ".e5\n",
                                           "nan\n", "inf\n", "-inf\n", "x\n", "--1\n", "+-1\n", " 1\n" };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK(taken(refused[i]) == -1);
    CHECK(taken("1e\n") == 1); /* an exponent needs a digit */
    CHECK(taken("1e+\n") == 1);
    CHECK(taken("0x10\n") == 1); /* no hexadecimal */
    CHECK(taken("1.2.3\n") == 3);
    CHECK(taken("1,5\n") == 1); /* no decimal comma */
    CHECK(taken("12345678901234567890123x1p3\n") == 23);
}

int main(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    known_texts();
    random_texts();
    what_is_no_number();
    freelocale((locale_t)c_locale);
    return check_summary();
}
