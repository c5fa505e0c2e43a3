/* origin_test.c -- hashes that do not depend on where pieces end, and origins that are shared.
 * Depends on: check.h, core/origin.h.  The number of no bytes is XXH3's, from its description. */
#include <string.h>

#include "check.h"
#include "core/origin.h"

static pn_content content_of(const char *bytes, size_t count, size_t piece)
{
    pn_digest *digest = pn_digest_new();
    pn_content content;

    for (size_t at = 0; at < count; at += piece)
        pn_digest_add(digest, bytes + at, count - at < piece ? count - at : piece);
    content = pn_digest_content(digest);
    pn_digest_free(digest);
    return content;
}

static bool same(pn_content a, pn_content b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

static void test_pieces_do_not_matter(void)
{
    enum { COUNT = 5000 };
    char bytes[COUNT];
    pn_content whole;

    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (char)(i * i % 251);
    for (size_t piece = 1; piece < COUNT; piece = 3 * piece + 1)
        CHECK(same(content_of(bytes, COUNT, COUNT), content_of(bytes, COUNT, piece)));
    CHECK(!same(content_of(bytes, COUNT, COUNT), content_of(bytes, COUNT - 1, COUNT)));
    CHECK(content_of(bytes, 0, 1).word[0] == 0x6001c324468d497fu);
    CHECK(content_of(bytes, 0, 1).word[1] == 0x99aa06d3014798d8u);
    whole = content_of(bytes, COUNT, COUNT);
    bytes[4321] ^= 1;
    CHECK(!same(content_of(bytes, COUNT, COUNT), whole));
}

static void test_origins_are_told_by_content(void)
{
    pn_origin *a = NULL, *b = NULL, *c = NULL;
    pn_err err;

    CHECK(pn_origin_new(&a, (pn_content){ { 1, 2 } }, 10, "a.csv", &err) == PN_OK);
    CHECK(pn_origin_new(&b, (pn_content){ { 1, 2 } }, 10, "b.csv", &err) == PN_OK);
    CHECK(pn_origin_new(&c, (pn_content){ { 1, 3 } }, 10, NULL, &err) == PN_OK);
    CHECK(pn_origin_same(a, b) && !pn_origin_same(a, c));
    CHECK(strcmp(pn_origin_name(a), "a.csv") == 0 && pn_origin_records(c) == 10);
    CHECK(pn_origin_keep(a) == a && pn_origin_keep(NULL) == NULL);
    pn_origin_free(a);
    CHECK(strcmp(pn_origin_name(a), "a.csv") == 0);
    pn_origin_free(a);
    pn_origin_free(b);
    pn_origin_free(c);
    pn_origin_free(NULL);
}

int main(void)
{
    test_pieces_do_not_matter();
    test_origins_are_told_by_content();
    return check_summary();
}
