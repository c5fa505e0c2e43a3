/* keystream_test.c -- libcrypto's ChaCha20 makes the bytes of libsodium's, and fills what it says it fills.
 * The file under test is compiled in, with libcrypto whatever the build takes. */
#include <string.h>

#define PN_KEYSTREAM_OPENSSL
#include "random/keystream.c"

#include "check.h"

static unsigned char ours[1 << 18], theirs[1 << 18];

static void same_bytes(size_t n, unsigned char first)
{
    unsigned char key[PN_KEYSTREAM_KEY];

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)(first + 7 * i);
    memset(ours, 0x5a, sizeof ours);
    crypto_stream_chacha20(theirs, n, nonce, key);
    CHECK(fill(ours, n, key));
    CHECK(memcmp(ours, theirs, n) == 0);
    CHECK(n == sizeof ours || ours[n] == 0x5a);
    pn_keystream(ours, n, key);
    CHECK(memcmp(ours, theirs, n) == 0);
}

/* The first block of RFC 8439, A.1, test vector 1: key and nonce are zeros. */
static void known_block(void)
{
    static const unsigned char want[] = { 0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                          0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28 };
    unsigned char key[PN_KEYSTREAM_KEY] = { 0 };

    CHECK(fill(ours, 64, key) && memcmp(ours, want, sizeof want) == 0);
    pn_keystream(theirs, 64, key);
    CHECK(memcmp(theirs, want, sizeof want) == 0);
}

int main(void)
{
    static const size_t sizes[] = { 1, 63, 64, 65, 255, 1023, 1024, 1025, 4096, 65536, 65537, sizeof ours };

    CHECK(pn_keystream_start());
    CHECK(cipher != NULL);
    known_block();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        same_bytes(sizes[k], (unsigned char)k);
    EVP_CIPHER_free(cipher);
    cipher = NULL; /* without one, libsodium's */
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        unsigned char key[PN_KEYSTREAM_KEY] = { 1 };

        crypto_stream_chacha20(theirs, sizes[k], nonce, key);
        pn_keystream(ours, sizes[k], key);
        CHECK(memcmp(ours, theirs, sizes[k]) == 0);
    }
    return check_summary();
}
