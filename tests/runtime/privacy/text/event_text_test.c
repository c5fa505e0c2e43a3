/* event_text_test.c -- events as text: the same doubles come back, what is no event is refused,
 * and nothing crashes on noise.
 * Depends on: check.h, fail_alloc.h, privacy/. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/event/event_leaf.h"
#include "privacy/text/event_text.h"

static pn_status read_text(pn_event **out, const char *text, pn_err *err)
{
    const char *cursor = text;
    pn_status status = pn_event_read(out, &cursor, PN_REPLACE_ONE, err);

    if (status == PN_OK && *cursor) {
        pn_event_free(*out);
        *out = NULL;
        return pn_text_malformed(err, "the end", cursor);
    }
    return status;
}

/* The text of the event that `text` says is `want`. */
static void check_round(const char *text, const char *want)
{
    pn_event *event = NULL;
    pn_text again = { 0 };
    pn_err err;

    if (CHECK(read_text(&event, text, &err) == PN_OK)) {
        CHECK(pn_event_write(&again, event, PN_REPLACE_ONE, &err) == PN_OK);
        if (!CHECK(strcmp(again.data, want) == 0))
            (void)fprintf(stderr, "    got %s\n", again.data);
    } else {
        (void)fprintf(stderr, "    %s: %s\n", text, err.message);
    }
    pn_text_clear(&again);
    pn_event_free(event);
}

static const char *const canonical[] = {
    "pure(epsilon=0.1)",
    "gaussian(sigma=0.3333333333333333,sensitivity=2)",
    "gaussian(sigma=50,sensitivity=1,draws=1000)",
    "laplace(scale=1e-10,sensitivity=1e+20)@zero_out",
    "rdp(alpha=16.5,epsilon=4.940656458412465e-100)",
    "curve(orders=(1.5,2,8.25),divergences=(0,0.1,0.3333333333333333))",
    "curve(orders=(4),divergences=(1e-10))@zero_out",
    "loss_distribution(p=(0.5,0.3,0.2),q=(0.25,0.25,0.5))@add_remove",
    "loss_distribution(losses=(0.25,-0.25),probabilities=(0.5,0.375),delta=0.125)",
    "repeated(compose(curve(orders=(2,3),divergences=(1,2)),pure(epsilon=0.1)),7)",
    "compose(pure(epsilon=0.1),repeated(zcdp(rho=0.25),7),pure(epsilon=0.1))",
    "repeated(exponential(epsilon=0.01),1000000)@add_remove",
    "repeated(compose(pure(epsilon=0.1),repeated(zcdp(rho=0.25),3)),1000)",
};

static void test_rounds(void)
{
    for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; i++)
        check_round(canonical[i], canonical[i]);
    check_round("pure(epsilon=1e-1)", "pure(epsilon=0.1)");
    check_round("gaussian(sensitivity=2,sigma=8)", "gaussian(sigma=8,sensitivity=2)");
    check_round("repeated(repeated(pure(epsilon=1),2),3)", "repeated(pure(epsilon=1),6)");
}

/* Parameters beyond any size are numbers, not counts; counts beyond any size are refused
 * (-fsanitize=float-cast-overflow watches). */
static void test_extreme_numbers(void)
{
    static const char *const fine[] = { "gaussian(sigma=1e+30,sensitivity=1)",
                                        "gaussian(sigma=1,sensitivity=1,draws=281474976710656)",
                                        "repeated(pure(epsilon=1e-20),281474976710656)" };
    static const char *const refused[] = {
        "gaussian(sigma=1,sensitivity=1,draws=281474976710657)",
        "gaussian(sigma=1,sensitivity=1,draws=1e300)",
        "gaussian(sigma=1,sensitivity=1,draws=-1)",
        "gaussian(sigma=1,sensitivity=1,draws=18446744073709551615)",
        "gaussian(sigma=1,sensitivity=1,draws=99999999999999999999999999)",
        "fixed_sampled(batch=1e300,n=1e300,event=gaussian(sigma=1,sensitivity=1))",
        "fixed_sampled(batch=9223372036854775808,n=9223372036854775808,event=gaussian(sigma=1,sensitivity=1))",
        "repeated(pure(epsilon=1),281474976710657)",
        "repeated(repeated(pure(epsilon=1),16777216),16777217)",
        "repeated(pure(epsilon=1), 2)",
        "pure(epsilon=1e+300)",
    };

    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        check_round(fine[i], fine[i]);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        pn_event *event = NULL;

        CHECK(read_text(&event, refused[i], NULL) != PN_OK && !event);
    }
}

static void test_same_numbers(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 2000; i++) {
        pn_event *event = NULL, *back = NULL;
        pn_text text = { 0 };
        double epsilon;

        state = state * 6364136223846793005u + 1442695040888963407u;
        epsilon = ldexp((double)(state >> 11), (int)(state % 400) - 250);
        CHECK(pn_event_exponential(&event, epsilon, PN_ADD_REMOVE, NULL) == PN_OK);
        CHECK(pn_event_write(&text, event, PN_REPLACE_ONE, NULL) == PN_OK);
        CHECK(read_text(&back, text.data, NULL) == PN_OK);
        CHECK(back && ((const pn_leaf *)back)->values[0] == epsilon && back->neighbours == PN_ADD_REMOVE);
        pn_text_clear(&text);
        pn_event_free(event);
        pn_event_free(back);
    }
}

static void test_what_is_no_event(void)
{
    static const char *const bad[] = {
        "",
        "pure",
        "pure(",
        "pure()",
        "pure(epsilon)",
        "pure(epsilon=)",
        "pure(epsilon=x)",
        "pure(epsilon=1",
        "pure(epsilon=1))",
        "pure(epsilon=-1)",
        "pure(epsilon=nan)",
        "pure(epsilon=1)@",
        "pure(epsilon=1)@nobody",
        "pure(epsilon=1,epsilon=1)",
        "pure(epsilon=1;rho=2)",
        "pure(rho=1)",
        "magic(epsilon=1)",
        "compose()",
        "compose",
        "compose(pure(epsilon=1)",
        "repeated(pure(epsilon=1))",
        "repeated(pure(epsilon=1),0)",
        "repeated(pure(epsilon=1),-3)",
        "repeated(pure(epsilon=1),99999999999999999999999)",
        "repeated(pure(epsilon=1),2,3)",
        "gaussian(sigma=1,sensitivity=1,draws=1.5)",
        "curve()",
        "curve(orders=2,divergences=(1))",
        "curve(orders=(),divergences=())",
        "curve(orders=(2,),divergences=(1))",
        "curve(orders=(2,3),divergences=(1))",
        "curve(orders=(2;3),divergences=(1,2))",
        "curve(orders=(2,3,divergences=(1,2))",
        "curve(orders=(nan(1),1,1,1,1,1,1,1,1,1,1,1,1),divergences=(1))",
        "curve(orders=(inf),divergences=(1))",
        "curve(orders=(3,2),divergences=(1,2))",
        "curve(orders=(2),divergences=(nan))",
        "curve(orders=(2),divergence=pure(epsilon=1))",
        "loss_distribution(p=(0.5,0.5))",
        "loss_distribution(p=(0.5,0.5),q=(0.5,0.25))",
        "compose(pure(epsilon=1),pure(epsilon=1)@zero_out)",
        " pure(epsilon=1)",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pn_event *event = NULL;

        if (!CHECK(read_text(&event, bad[i], NULL) != PN_OK && !event))
            (void)fprintf(stderr, "    %s\n", bad[i]);
    }
}

/* Texts with a byte changed, dropped or doubled: an event or a refusal, and no trouble. */
static void test_noise(void)
{
    char text[200]; /* longer than any of them */
    int events = 0;

    for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; i++) {
        size_t length = strlen(canonical[i]);

        for (size_t at = 0; at < length; at++) {
            for (int c = '!'; c < 127; c++) {
                pn_event *event = NULL;

                memcpy(text, canonical[i], length + 1);
                text[at] = (char)c;
                if (c == '!')
                    memmove(text + at, text + at + 1, length - at);
                events += read_text(&event, text, NULL) == PN_OK;
                pn_event_free(event);
            }
        }
    }
    CHECK(events > 1000);
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(read_text(&(pn_event *){ NULL }, text, NULL) != PN_OK);
    for (size_t i = 0; i + 8 < sizeof text; i += 8)
        memcpy(text + i, "compose(", 8);
    CHECK(read_text(&(pn_event *){ NULL }, text, NULL) != PN_OK);
}

static void test_quotes(void)
{
    static const char *const plain[] = { "", "a mean", "\"\\\n\t\x01\x7f", "Gr\303\266\303\237e", "\\n \\x41 \\\\" };

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        pn_text text = { 0 };
        const char *cursor;
        char *back = NULL;

        pn_text_quote(&text, plain[i]);
        cursor = text.data;
        CHECK(!strchr(text.data, '\n') && pn_text_unquote(&back, &cursor, NULL) == PN_OK && !*cursor);
        CHECK(back && strcmp(back, plain[i]) == 0);
        pn_free(back);
        for (size_t length = 0; length < text.used; length++) {
            text.data[length] = '\0';
            cursor = text.data;
            if (length > 0)
                text.data[length - 1] = plain[i][0] == '\0' ? '"' : text.data[length - 1];
            back = NULL;
            if (pn_text_unquote(&back, &cursor, NULL) != PN_OK)
                CHECK(!back);
            pn_free(back);
            text.data[length] = 'x';
        }
        pn_text_clear(&text);
    }
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_event *event = NULL;
    pn_text text = { 0 };
    pn_status status = read_text(&event, self, err);

    if (status == PN_OK)
        status = pn_event_write(&text, event, PN_REPLACE_ONE, err);
    pn_text_clear(&text);
    pn_event_free(event);
    return status;
}

int main(void)
{
    char text[] = "repeated(compose(pure(epsilon=0.1),repeated(zcdp(rho=0.25),3),curve(orders=(2,3),divergences=(1,2)),"
                  "loss_distribution(p=(0.5,0.5),q=(0.25,0.75))),1000)";

    test_rounds();
    test_extreme_numbers();
    test_same_numbers();
    test_what_is_no_event();
    test_noise();
    test_quotes();
    fail_alloc_sweep("event text", scenario, text);
    return check_summary();
}
