/* keystream.c -- ChaCha20 from libsodium, or faster from libcrypto.
 *
 * libcrypto's code for AVX-512 and AVX2 makes three times the bytes a second of libsodium's, and the same bytes: with
 * nonce 0 the counter of the first 2^32 blocks is the same 32 bits in both layouts of the state.  What it cannot
 * do, for want of memory say, libsodium does.  Short fills are libsodium's: setting up a context costs more there than
 * the stream.
 * Depends on: keystream.h, libsodium, libcrypto if PN_KEYSTREAM_OPENSSL.  Used by: rng.c. */
#include <sodium.h>
#ifdef PN_KEYSTREAM_OPENSSL
#include <openssl/evp.h>
#endif

#include "random/keystream.h"

_Static_assert(PN_KEYSTREAM_KEY == crypto_stream_chacha20_KEYBYTES, "a key of ChaCha20");

static const unsigned char nonce[16] = { 0 }; /* a key is used once */

#ifdef PN_KEYSTREAM_OPENSSL

#define SHORTEST ((size_t)1024)
#define LONGEST  ((size_t)1 << 30) /* of one call, which counts in int */

static EVP_CIPHER *cipher; /* of the process, never freed; NULL: not started, or there is none */

/* Zeros, encrypted in place. */
static bool fill(unsigned char *bytes, size_t n, const unsigned char *key)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int done = 0;
    bool filled;

    sodium_memzero(bytes, n);
    filled = context && EVP_EncryptInit_ex2(context, cipher, key, nonce, NULL) == 1 &&
             EVP_EncryptUpdate(context, bytes, &done, bytes, (int)n) == 1 && (size_t)done == n;
    EVP_CIPHER_CTX_free(context); /* which overwrites the key */
    return filled;
}

static bool start_faster(void)
{
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1)
        cipher = EVP_CIPHER_fetch(NULL, "ChaCha20", NULL);
    return true;
}

static bool filled_faster(unsigned char *bytes, size_t n, const unsigned char *key)
{
    return cipher && n >= SHORTEST && n <= LONGEST && fill(bytes, n, key);
}

#else

static bool start_faster(void)
{
    return true;
}

static bool filled_faster(unsigned char *bytes, size_t n, const unsigned char *key)
{
    (void)bytes, (void)n, (void)key;
    return false;
}

#endif

bool pn_keystream_start(void)
{
    return sodium_init() >= 0 && start_faster();
}

void pn_keystream(unsigned char *bytes, size_t n, const unsigned char key[PN_KEYSTREAM_KEY])
{
    if (!filled_faster(bytes, n, key))
        crypto_stream_chacha20(bytes, n, nonce, key);
}
